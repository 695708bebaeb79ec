"""Wherever course and environment lie, a submission sees what Python needs and nothing of the course."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course.student_files import refuse_world_readable
from autograder.errors import UserError
from autograder.sandbox.host.session import Zygote
from autograder.sandbox.jail import namespaces, rootfs, visible

#: Folder of the course, prefix of the environment, and what a link leads to through which the environment is used, too.
LAYOUTS = {
    "the environment is the course's folder": ("course", "course", ""),
    "the environment lies in the course's folder": ("course", "course/.venv", ""),
    "the course lies in the environment's share": ("env/share/course", "env", ""),
    "the course lies beside the packages": ("env/lib/python3/site-packages/course", "env", ""),
    "the environment is the folder above": ("home/course", "home", ""),
    "a conda-like prefix": ("home/course", "home/miniconda3/envs/course", ""),
    "the course lies in the environment's lib": ("env/lib", "env", ""),
    "a link leads to a folder above": ("data/env/lib/course", "data/env", "data"),
    "a link leads to the environment": ("data/env/lib/course", "data/env", "data/env"),
}
SECRETS = (".course-salt", "solutions/01.py", "autograder/questions/m01/surprise.py")


@pytest.fixture
def laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Path, list[Path]]]:
    """Make a layout of this name, and use it. Returns the course's folder and the environment's prefixes."""

    def laid_out(name: str) -> tuple[Path, list[Path]]:
        course, prefix, linked = (tmp_path / place for place in LAYOUTS[name])
        files = ("bin/python3", "lib/python3/site-packages/numpy.py", "share/fonts/a.ttf", "pyvenv.cfg")
        texts = {prefix / file: "x = 1\n" for file in files} | {course / file: "secret\n" for file in SECRETS}
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (prefix / "lib64").symlink_to("lib")
        prefixes = [prefix]
        if linked != tmp_path:
            (tmp_path / "link").symlink_to(linked)
            prefixes.append(tmp_path / "link" / prefix.relative_to(linked))
        places = ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix")
        for place, path in zip(places, (prefixes * 4)[:4], strict=True):
            monkeypatch.setattr(sys, place, str(path))
        monkeypatch.setattr(visible.sysconfig, "get_path", lambda kind: str(prefix / "lib"))
        monkeypatch.setattr(visible, "hidden_folders", lambda: [str(course / "autograder"), str(course)])
        return course, prefixes

    return laid_out


def _shown(plan: list[tuple[str, str | None]], path: Path) -> bool:
    """Whether the innermost mount above the path shows it."""
    above = [(target, source) for target, source in plan if path.is_relative_to(target)]
    return bool(above) and max(above, key=lambda entry: len(entry[0]))[1] is not None


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_layout_shows_the_course_under_any_name_that_links_give_it(name, laid_out):
    course, prefixes = laid_out(name)
    config = {"python": visible.python_folders(), "hidden": visible.hidden_folders(), "data": []}
    plan = rootfs._mount_plan({**config, "harness": "/harness", "kit": "/kit"})
    inside = course.is_relative_to(prefixes[0])
    courses = {course, *(each / course.relative_to(prefixes[0]) for each in prefixes if inside)}
    assert [f"{at}/{name}" for at in courses for name in SECRETS if _shown(plan, at / name)] == []
    for each in prefixes if course != prefixes[0] / "lib" else ():
        for name in ("lib/python3/site-packages/numpy.py", "bin/python3"):
            assert _shown(plan, each / name)


def test_a_class_in_a_visible_folder_is_refused_in_a_sentence_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(visible, "SYSTEM_FOLDERS", (str(tmp_path / "usr"),))
    refuse_world_readable(tmp_path / "srv/class")
    with pytest.raises(UserError, match=r"usr/src/app/out lies in .*usr, which submissions can read"):
        refuse_world_readable(tmp_path / "srv/class", tmp_path / "usr/src/app/out")
    for variable in ("COURSE_FILE", "COURSE_SALT_FILE"):
        with monkeypatch.context() as elsewhere, pytest.raises(UserError, match="secret lies in"):
            elsewhere.setenv(variable, str(tmp_path / "usr/share/course/secret"))
            refuse_world_readable()
    monkeypatch.setattr(visible, "hidden_folders", lambda: [str(tmp_path / "usr/src/app")])
    refuse_world_readable(tmp_path / "usr/src/app/out")


@pytest.mark.skipif(namespaces.probe() is not None, reason=str(namespaces.probe()))
@pytest.mark.parametrize("name", ["the environment is the course's folder", "a link leads to a folder above"])
def test_a_notebook_in_such_a_layout_in_tmp_finds_no_secret_and_can_write_nothing(
    name, tmp_path, monkeypatch, folder, laid_out
):
    (tmp_path / "grades").write_text("beside it\n")
    real = visible.python_folders()
    _, prefixes = laid_out(name)
    ours = visible.python_folders()
    monkeypatch.setattr(visible, "python_folders", lambda: [*real, *ours])
    source = (
        f"import os\nassert not os.path.exists({str(tmp_path / 'grades')!r})\n"
        f"for top in {[*map(str, prefixes)]!r}:\n"
        "    found = [os.path.join(at, name) for at, _, names in os.walk(top) for name in names]\n"
        "    assert any(name.endswith('numpy.py') for name in found), found\n"
        "    assert not [name for name in found if open(name).read() == 'secret\\n'], found\n"
        "    try:\n        open(f'{top}/lib/new', 'w')\n        raise AssertionError(top)\n    except OSError:\n        pass\n"
    )
    with Zygote(folder / "coursekit", modules=()) as zygote, zygote.session() as session:
        [outcome] = session.run_cells([("a", source)])
    assert outcome.error == ""
