"""Feedback goes back to Canvas and Moodle under names that they read as the right student, and to nobody else."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.collect import canvas_names
from autograder.errors import UserError
from autograder.exports import export
from autograder.results import SubmissionResult
from tests.collect.test_collect import zip_of
from tests.exports.test_matching import put

Make = Callable[..., SubmissionResult]


def pages(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def moodles_reader(name: str) -> tuple[str, str, str, str]:
    """What importziplib.php makes of a file's name: the participant, the plugin, the file."""
    _, participant, kind, plugin, file = name.split("_", 4)
    return participant, kind, plugin, file


def canvass_reader(name: str) -> list[str]:
    """User and attachment as Canvas reads them: the first two parts that are numbers."""
    return [part for part in name.split("_") if part.isdigit()][:2]


def test_moodle_reads_each_page_as_its_own_participants(tmp_path, spec, make_result):
    rows = [["Participant 12", "Ada_Ann O'Hara", "", "10"], ["Participant 34", "Bo Diaz", "", "10"]]
    roster = put(tmp_path / "w.csv", [["Identifier", "Full name", "Grade", "Maximum Grade"], *rows])
    results = [make_result("Ada_Ann O'Hara_12"), make_result("Bo Diaz_34")]
    made = export("moodle-feedback", results, spec, tmp_path, roster=roster)
    read = {moodles_reader(name): page for name, page in pages(made.paths[0]).items()}
    assert {key[0] for key in read} == {"12", "34"}
    for (number, *rest), page in read.items():
        assert rest == ["assignfeedback", "file", f"{spec.name}.html"]
        assert ("Bo Diaz_34" in page) == (number == "34")


def test_canvas_reads_user_and_last_attachment_of_its_own_download(tmp_path, spec, make_result):
    uploads = (
        "hara_ada_7001_91_old",
        "hara_ada_7001_95_00_warm_up",
        "diazbo_LATE_7002_93_x",
        "anon_ab12c_99_x",
    )
    source = zip_of(tmp_path / "d.zip", {f"{name}.ipynb": "{}" for name in uploads})
    names = canvas_names(source, spec.name)
    results = [make_result("hara_ada_7001"), make_result("diazbo_7002"), make_result("by mail")]
    made = export("canvas-feedback", results, spec, tmp_path, download=names)
    read = {tuple(canvass_reader(name)): page for name, page in pages(made.paths[0]).items()}
    assert read.keys() == {("7001", "95"), ("7002", "93")}
    assert "diazbo_7002" in read["7002", "93"] and "hara_ada_7001" in read["7001", "95"]
    for given, said in (((), "its own download"), (names, "another assignment's")):
        with pytest.raises(UserError, match=said):
            export("canvas-feedback", [make_result("diazbo_7009")], spec, tmp_path, download=given)
    assert made.notes == (
        f"Not in the download, or not under a name that can be theirs only, and so not in canvas-feedback-{spec.name}.zip: by mail.",
    )
