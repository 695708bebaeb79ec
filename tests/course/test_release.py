"""A student's bundle holds what a student needs, and no answer to this lab or a later one."""

from __future__ import annotations

import ast
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

import nbformat
import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement

from autograder.course import student_files
from autograder.course.masters import all_labs, course_root, lab_name, solution_source
from autograder.course.policy_file import spec
from autograder.course.release import release
from autograder.course.student_files import data_files, files_below
from autograder.grading.repair import Template

#: Labs that differ in kind: NumPy with data of its own, and the translator, which needs PyTorch.
KINDS = ("02_dirichlet_map", "12_translator")
#: What only masters hold.
ANSWERS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "autograder.nbgrader_plugin.score_in_kernel")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """The folder of each lab's bundle, alone in its own, with the kit unpacked beside ``kit.zip``."""
    folders = {lab: tmp_path_factory.mktemp("bundle") for lab in all_labs()}
    for lab, folder in folders.items():
        release(lab, folder)
        assert {file.name for file in (folder / lab).iterdir()} == {"kit.zip", f"{lab}.ipynb"}
        with zipfile.ZipFile(folder / lab / "kit.zip") as archive:
            archive.extractall(folder / lab)
    return folders


def _long_lines(lab):
    """The lines of a lab's answers that are longer than forty characters."""
    for question, _ in spec(lab).questions:
        inside = solution_source(lab, question).split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
        lines = (line.split("#")[0].strip() for line in inside.splitlines())
        yield from (line for line in lines if len(line) > 40)


def _leaks(lab, out):
    """What a lab's bundle shows and must not."""
    for file in [*out.rglob("*.py"), *out.rglob("*.ipynb")]:
        if re.fullmatch(r"test_.*\.py|m\d\d_.*\.py", file.name):
            yield f"{file} is there"
        text = file.read_text(encoding="utf-8")
        yield from (f"{file} holds {mark}" for mark in ANSWERS if mark in text)
        # What earlier labs taught may be provided; that nothing of this lab is, its name says.
        if file.parent.name == "provided":
            if re.match(r"p\d\d", file.name) and file.name[1:3] >= lab[:2]:
                yield f"{file} is provided"
        elif file.suffix == ".py":
            yield from (f"{file}: {line}" for line in _long_lines(lab) if line in text)
    cells = nbformat.read(out / lab / f"{lab}.ipynb", as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    yield from (f"the notebook: {line}" for line in _long_lines(lab) if line in code)
    files = (*out.rglob("checks/c[0-9]*.py"), *out.rglob("checks/data/q*.json"))
    checks = [path.stem[1:3] for path in files]
    if max(checks) != lab[:2]:
        yield f"{lab} has checks of {max(checks)}"


def test_no_bundle_holds_an_answer_or_a_hidden_test(bundles):
    assert [leak for lab, out in bundles.items() for leak in _leaks(lab, out)] == []
    for lab, out in bundles.items():
        packed = {file.relative_to(out / lab / "data").as_posix() for file in files_below(out / lab / "data")}
        assert packed == _data_of(lab)


def _data_of(lab):
    """The data files that a master names, below ``data/``."""
    data = course_root() / "data"
    return {file.relative_to(data).as_posix() for source in data_files(lab) for file in files_below(source)}


def _first_cells(folder, count, *, has_kit, then=""):
    """Run the first code cells of a bundle's notebook in a new folder; the last one's error, in words."""
    lab = folder.name
    cells = nbformat.read(folder / f"{lab}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"][:count]
    with tempfile.TemporaryDirectory() as alone:
        if has_kit:
            shutil.copy(folder / "kit.zip", alone)
        program = "import os, sys\nsys.path.insert(0, '')\n" + "\n".join([*sources, then])
        command = [sys.executable, "-I", "-c", _WITHOUT_THE_COURSE + program]
        return subprocess.run(command, cwd=alone, capture_output=True, text=True).stderr


#: A Python that has the packages and not the course, as on Colab.
_WITHOUT_THE_COURSE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
sys.path[:] = [path for path in sys.path if "notebooks" not in path and "editable" not in path]
"""


def test_a_notebook_alone_says_in_one_sentence_how_to_get_the_kit(bundles):
    lab, *_ = KINDS
    *_, last = _first_cells(bundles[lab] / lab, 1, has_kit=False).splitlines()
    assert last.startswith("ModuleNotFoundError") and "put kit.zip" in last


@pytest.mark.parametrize("lab", KINDS)
def test_the_first_cell_unpacks_the_kit_once_and_the_notebook_finds_its_data(bundles, lab):
    look = f"assert not os.path.exists('kit.zip')\nimport coursekit.data\nfor name in {sorted(_data_of(lab))}: assert coursekit.data.path(name).is_relative_to(os.getcwd())"
    cells = 2 if lab == KINDS[0] else 1  # PyTorch takes its time
    assert _first_cells(bundles[lab] / lab, cells, has_kit=True, then=look) == ""


def test_a_master_names_all_data_that_its_own_code_reads():
    """By the texts of the notebook that are files in ``data/``."""
    data = course_root() / "data"
    for lab in all_labs():
        texts = {
            node.value
            for cell in Template.of(lab).cells
            if cell.cell_type == "code"
            for node in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source)))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        read = {text for text in texts if "." in text and len(text) < 100 and (data / text).is_file()}
        assert read <= _data_of(lab), lab


PIP = "pip install -r requirements.txt\n"
UV = "pip install uv && python -m uv pip install --torch-backend cpu -r requirements.txt\n"


def test_a_bundle_installs_pytorchs_small_build_unless_told_where_it_is(tmp_path, course_at):
    index = 'torch_index = "https://mirror.example/cpu"'
    for number, policy, pip, conda in (
        ("07", "", PIP, []), ("08", "", UV, ["pytorch-cpu"]), ("08", index, PIP, [])
    ):  # fmt: skip
        out = tmp_path / f"{number}{len(policy)}"
        course_at(policy)
        release(lab_name(number), out)
        release("01_markov_bigram", out)  # beside a later lab: what that needs stays
        assert f"source .venv/bin/activate\n       {pip}" in (out / "README.md").read_text()
        environment = yaml.safe_load((out / "environment.yml").read_text())
        *packages, pip_itself = environment["dependencies"]
        assert pip_itself == {"pip": ["-r requirements.txt"]}
        lines = (out / "requirements.txt").read_text().splitlines()
        ours = [Requirement(line) for line in lines if "torch>" in line]
        theirs = [Requirement(line) for line in packages if line.startswith("pytorch")]
        assert [one.name for one in theirs] == conda
        assert all(one.specifier == ours[0].specifier for one in theirs)


def test_what_an_editor_left_beside_an_answer_is_in_nobodys_bundle(tmp_path, monkeypatch):
    """Their names say of no lab that the answer is its, and so they went to everybody."""
    left_over = (
        ".p07_self_attention.py.swp", "#p07_self_attention.py#", "._p07_self_attention.py", "p07_self_attention.py~",
        "p07_self_attention.py.orig", "P07_self_attention.py.bak", "Copy of p07_self_attention.py", ".history/p07_self_attention.py",
    )  # fmt: skip
    kit = tmp_path / "coursekit"
    shutil.copytree(student_files.kit_folder(), kit)
    for name in left_over:
        (kit / "provided" / name).parent.mkdir(exist_ok=True)
        (kit / "provided" / name).write_text("def attention(): ...\n")
    monkeypatch.setattr(student_files, "kit_folder", lambda: kit)
    for number in ("00", "07", "08"):
        provided = tmp_path / number / "provided"
        student_files.write_kit(lab_name(number), tmp_path / number)
        assert [name for name in left_over if (provided / name).exists()] == [], number
    assert (provided / "p07_self_attention.py").exists()


def test_whatever_the_umask_everybody_may_read_a_bundle(tmp_path):
    before = os.umask(0o077)
    try:
        release("04_tokenizer", tmp_path)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "04_tokenizer").iterdir()} == {0o644}
    assert stat.S_IMODE((tmp_path / "04_tokenizer").stat().st_mode) == 0o755
