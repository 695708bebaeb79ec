"""A student's bundle holds what a student needs, and no answer to this lab or a later one."""

from __future__ import annotations

import ast
import os
import shutil
import stat
import subprocess
import sys
import tempfile

import nbformat
import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement

from autograder.course import visible_files
from autograder.course.build import check
from autograder.course.masters import all_labs, course_root, lab_name, solution_source
from autograder.course.policy_file import spec
from autograder.course.release import release
from autograder.course.visible_files import data_files, files_below
from autograder.grading.repair import Template
from autograder.testing import run


@pytest.fixture(scope="module", params=all_labs())
def bundle(request, tmp_path_factory):
    """The lab and its bundle's folder."""
    out = tmp_path_factory.mktemp("bundle")
    release(request.param, out)
    return request.param, out


def test_a_bundle_holds_no_hidden_test_no_misconception_and_no_solution_region(bundle):
    _lab, out = bundle
    assert not list(out.rglob("test_*.py")) and not list(out.rglob("m[0-9][0-9]_*.py"))
    for file in [*out.rglob("*.py"), *out.rglob("*.ipynb")]:
        text = file.read_text(encoding="utf-8")
        for mark in (
            "BEGIN SOLUTION",
            "BEGIN HIDDEN TESTS",
            "autograder.nbgrader_plugin.score_in_kernel",
            "hidden_test(",
        ):
            assert mark not in text, f"{file.relative_to(out)} holds {mark}"


def test_a_bundle_provides_only_what_earlier_labs_taught(bundle):
    lab, out = bundle
    provided = [path.stem[1:3] for path in out.rglob("provided/p*.py")]
    assert all(number < lab[:2] for number in provided)
    checks = [path.stem[1:3] for path in out.rglob("checks/c*.py")]
    assert lab[:2] in checks and all(number <= lab[:2] for number in checks)


def test_no_line_of_an_answer_longer_than_forty_characters_stands_in_the_bundle(bundle):
    lab, out = bundle
    # What earlier labs taught may be provided; that nothing of this lab is, another test says.
    kit = "\n".join(p.read_text(encoding="utf-8") for p in out.rglob("*.py") if p.parent.name != "provided")
    notebook = "\n".join(
        cell.source
        for cell in nbformat.read(out / lab / f"{lab}.ipynb", as_version=4).cells
        if cell.cell_type == "code"
    )
    for question, _ in spec(lab).questions:
        source = solution_source(lab, question)
        inside = source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
        for line in (line.split("#")[0].strip() for line in inside.splitlines()):
            if len(line) > 40:
                assert line not in kit and line not in notebook, f"{question}: {line}"


def test_every_question_of_the_released_notebook_is_a_stub_that_parses(bundle):
    lab, _ = bundle
    template = Template.of(lab)
    for question, _points in spec(lab).questions:
        source = template.named[question].source
        assert "NotImplementedError" in source
        ast.parse(source)


def test_the_points_of_the_functions_add_up_to_twenty_and_each_has_hidden_tests(bundle):
    lab, _ = bundle
    assert sum(points for _, points in spec(lab).questions) == 20
    assert set(run.tests_of(lab)) == {question for question, _ in spec(lab).questions}


def _first_cells(folder, count, *, has_kit):
    """Run the first code cells of a bundle's notebook in a new folder; the last one's error, in words."""
    lab = folder.name
    cells = nbformat.read(folder / f"{lab}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"][:count]
    with tempfile.TemporaryDirectory() as alone:
        if has_kit:
            shutil.copy(folder / "kit.zip", alone)
        program = "import sys\nsys.path.insert(0, '')\n" + "\n".join(sources)
        done = subprocess.run(
            [sys.executable, "-I", "-c", _WITHOUT_THE_COURSE + program],
            cwd=alone,
            capture_output=True,
            text=True,
        )
    return done.stderr


#: A Python that has the packages and not the course, as on Colab.
_WITHOUT_THE_COURSE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
sys.path[:] = [path for path in sys.path if "notebooks" not in path and "editable" not in path]
"""


def test_a_notebook_alone_says_in_one_sentence_how_to_get_the_kit(bundle):
    lab, out = bundle
    *_, last = _first_cells(out / lab, 1, has_kit=False).splitlines()
    assert last.startswith("ModuleNotFoundError: This notebook came without the course's kit: upload kit.zip")


def test_beside_the_kits_zip_a_notebook_alone_begins(tmp_path):
    release("01_markov_bigram", tmp_path)
    assert _first_cells(tmp_path / "01_markov_bigram", 2, has_kit=True) == ""


@pytest.mark.parametrize("how", ["unpacked", "from kit.zip alone"])
def test_all_data_that_the_master_names_are_found_where_the_course_is_not(bundle, tmp_path, how):
    lab, out = bundle
    folder = out / lab
    if how == "from kit.zip alone":
        folder = tmp_path
        shutil.unpack_archive(out / lab / "kit.zip", folder)
    names = [
        file.relative_to(course_root() / "data").as_posix()
        for source in data_files(lab)
        for file in files_below(source)
    ]
    program = f"import coursekit.data\nfor name in {names}: print(coursekit.data.path(name))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", _WITHOUT_THE_COURSE + "sys.path.insert(0, '')\n" + program],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(folder / "data" / name) for name in names]


@pytest.mark.parametrize("lab", all_labs())
def test_a_master_names_all_data_that_its_own_code_reads(lab):
    """By the texts of the notebook that are files in ``data/``."""
    texts = {
        node.value
        for cell in Template.of(lab).cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    data = course_root() / "data"
    named = {file.relative_to(data).as_posix() for source in data_files(lab) for file in files_below(source)}
    assert {text for text in texts if "." in text and len(text) < 100 and (data / text).is_file()} <= named


def test_the_requirements_beside_several_labs_are_those_of_the_latest(tmp_path):
    release("08_multi_head", tmp_path)
    release("01_markov_bigram", tmp_path)
    assert "\ntorch>=" in (tmp_path / "requirements.txt").read_text()


@pytest.mark.parametrize(
    ("number", "policy", "pip", "conda"),
    [
        ("07", "", "`pip install -r requirements.txt`", None),
        ("08", "", "`pip install uv`, then `python -m uv pip install --torch-backend cpu -r", "pytorch-cpu"),
        ("08", 'torch_index = "https://mirror.example/cpu"', "`pip install -r requirements.txt`", None),
    ],
    ids=["without PyTorch", "with it", "with an index"],
)
def test_a_bundle_installs_pytorchs_small_build_unless_told_where_it_is(
    tmp_path, course_at, number, policy, pip, conda
):
    course_at(policy)
    release(lab_name(number), tmp_path)
    assert f"alone: {pip}" in (tmp_path / "README.md").read_text()
    environment = yaml.safe_load((tmp_path / "environment.yml").read_text())
    *packages, pip_itself = environment["dependencies"]
    assert pip_itself == {"pip": ["-r requirements.txt"]}
    ours = [
        Requirement(line)
        for line in (tmp_path / "requirements.txt").read_text().splitlines()
        if "torch>" in line
    ]
    theirs = [Requirement(line) for line in packages if line.startswith("pytorch")]
    assert [one.name for one in theirs] == ([conda] if conda else [])
    assert all(one.specifier == ours[0].specifier for one in theirs)


@pytest.mark.parametrize(
    "left_over",
    [".p07_self_attention.py.swp", "#p07_self_attention.py#", "._p07_self_attention.py", "p07_self_attention.py~",
     "p07_self_attention.py.orig", "P07_self_attention.py.bak", "Copy of p07_self_attention.py", ".history/p07_self_attention.py"],
)  # fmt: skip
def test_what_an_editor_left_beside_an_answer_is_in_nobodys_bundle(tmp_path, monkeypatch, left_over):
    """Their names say of no lab that the answer is its, and so they went to everybody."""
    kit = tmp_path / "coursekit"
    shutil.copytree(visible_files.kit_folder(), kit)
    (kit / "provided" / left_over).parent.mkdir(exist_ok=True)
    (kit / "provided" / left_over).write_text("def attention(): ...\n")
    monkeypatch.setattr(visible_files, "kit_folder", lambda: kit)
    for number in ("00", "07", "08"):
        visible_files.write_kit(lab_name(number), tmp_path / number)
        assert not (tmp_path / number / "provided" / left_over).exists(), number
    assert (tmp_path / "08" / "provided" / "p07_self_attention.py").exists()


def test_whatever_the_umask_everybody_may_read_a_bundle(tmp_path):
    before = os.umask(0o077)
    try:
        release("04_tokenizer", tmp_path)
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "04_tokenizer").rglob("*")}
    assert set(modes.values()) == {0o644, 0o755} and any("data" in path.parts for path in modes)
    assert stat.S_IMODE((tmp_path / "04_tokenizer").stat().st_mode) == 0o755


@pytest.mark.parametrize("lab", all_labs())
def test_the_built_notebooks_are_what_the_master_says(lab):
    assert check(lab).drift == ""
