"""Wherever course and environment lie, a submission sees what Python needs and nothing of the course."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.errors import UserError
from autograder.run.world_readable import refuse_world_readable
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


def _made(root: Path, course: str, prefix: str) -> tuple[Path, Path]:
    for name in ("bin/python3", "lib/python3/site-packages/numpy.py", "share/fonts/a.ttf", "pyvenv.cfg"):
        (root / prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (root / prefix / name).write_text("x = 1\n")
    for name in SECRETS:
        (root / course / name).parent.mkdir(parents=True, exist_ok=True)
        (root / course / name).write_text("secret\n")
    (root / prefix / "lib64").symlink_to("lib")
    return root / course, root / prefix


def _use(monkeypatch: pytest.MonkeyPatch, course: Path, *prefixes: Path) -> None:
    places = ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix")
    for place, prefix in zip(places, (prefixes * 4)[:4], strict=True):
        monkeypatch.setattr(sys, place, str(prefix))
    monkeypatch.setattr(visible.sysconfig, "get_path", lambda kind: str(prefixes[0] / "lib"))
    hidden = [str(course / "autograder"), str(course)]
    monkeypatch.setattr(visible, "hidden_folders", lambda: hidden)


def _shown(plan: list[tuple[str, str | None]], path: Path) -> bool:
    """Whether the innermost mount above the path shows it."""
    above = [(target, source) for target, source in plan if path.is_relative_to(target)]
    return bool(above) and max(above, key=lambda entry: len(entry[0]))[1] is not None


@pytest.mark.parametrize(("course", "prefix", "linked"), LAYOUTS.values(), ids=LAYOUTS)
def test_no_layout_shows_the_course_under_any_name_that_links_give_it(
    course, prefix, linked, tmp_path, monkeypatch
):
    course, prefix = _made(tmp_path, course, prefix)
    prefixes = [prefix]
    if linked:
        (tmp_path / "link").symlink_to(tmp_path / linked)
        prefixes.append(tmp_path / "link" / prefix.relative_to(tmp_path / linked))
    _use(monkeypatch, course, *prefixes)
    config = {"python": visible.python_folders(), "hidden": visible.hidden_folders(), "data": []}
    plan = rootfs._mount_plan({**config, "harness": "/harness", "kit": str(tmp_path / "kit")})
    courses = {course, *(each / course.relative_to(prefix) for each in prefixes if linked)}
    assert [f"{at}/{name}" for at in courses for name in SECRETS if _shown(plan, at / name)] == []
    for each in prefixes if course != prefix / "lib" else ():
        assert _shown(plan, each / "lib/python3/site-packages/numpy.py") and _shown(
            plan, each / "bin/python3"
        )


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
@pytest.mark.parametrize(
    ("places", "linked"),
    [
        (("course", "course"), "course"),
        (("real/env/lib/course", "real/env"), "link/env"),
    ],
)
def test_a_notebook_in_such_a_layout_in_tmp_finds_no_secret_and_can_write_nothing(
    places, linked, tmp_path, monkeypatch, folder
):
    course, prefix = _made(tmp_path, *places)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "grades").write_text("beside it\n")
    real = visible.python_folders()
    _use(monkeypatch, course, prefix, tmp_path / linked)
    ours = visible.python_folders()
    monkeypatch.setattr(visible, "python_folders", lambda: [*real, *ours])
    source = (
        f"import os\nassert not os.path.exists({str(tmp_path / 'grades')!r})\n"
        f"for top in ({str(prefix)!r}, {str(tmp_path / linked)!r}):\n"
        "    found = [os.path.join(at, name) for at, _, names in os.walk(top) for name in names]\n"
        "    assert any(name.endswith('numpy.py') for name in found), found\n"
        "    assert not [name for name in found if open(name).read() == 'secret\\n'], found\n"
        "    try:\n        open(f'{top}/lib/new', 'w')\n        raise AssertionError(top)\n    except OSError:\n        pass\n"
    )
    with Zygote(folder / "coursekit", modules=()) as zygote, zygote.session() as session:
        [outcome] = session.run_cells([("a", source)])
    assert outcome.error == ""
