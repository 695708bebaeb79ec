"""A zip may hold two files of one name, of one time too: the last counts, as it does where the zip is unpacked."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

from autograder.collect import collect, collect_folder

LAB = "07_self_attention"


def twice(file: Path | io.BytesIO, *names: str) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")  # Python's own word about two of one name
        for number, name in enumerate(names):
            archive.writestr(zipfile.ZipInfo(name), f"{{{' ' * number}}}")


def test_the_last_of_two_notebooks_of_one_name_is_collected_and_it_is_said(tmp_path):
    packed = io.BytesIO()
    twice(packed, f"{LAB}.ipynb", f"{LAB}.ipynb")
    twice(tmp_path / "class.zip", f"ada/{LAB}.ipynb", f"ada//{LAB}.ipynb", f"cy/{LAB}.ipynb")
    with zipfile.ZipFile(tmp_path / "class.zip", "a") as archive:
        archive.writestr("bo/hand_in.zip", packed.getvalue())
    done = collect(tmp_path / "class.zip", tmp_path / "submitted", LAB)
    assert set(done.students) == {"ada", "bo", "cy"}
    got = {p.parent.parent.name: p.read_text() for p in (tmp_path / "submitted").glob("*/*/*.ipynb")}
    assert got == {"ada": "{ }", "bo": "{ }", "cy": "{  }"}
    said = [note for note in done.notes if "more than once: the last was taken" in note]
    assert any(f"ada//{LAB}" in note for note in said) and any("bo/hand_in.zip" in note for note in said)
    assert len(said) == 2

    one = tmp_path / "one"
    one.mkdir()
    (one / "hand_in.zip").write_bytes(packed.getvalue())
    assert collect_folder(one, tmp_path / "alone", LAB, student="dora").students == ("dora",)
