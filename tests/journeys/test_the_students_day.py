"""A student's day in Chromium: unpack, run, err, read the hint, mend, validate, save, hand in."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from autograder.course.masters import lab_name
from autograder.course.policy_file import spec
from autograder.course.release import release
from tests.fixtures.lab_page import card, cell, menu, output_of, right, validated, write, write_in_words

pytestmark = pytest.mark.xdist_group("students_day")

LAB = lab_name("00")
QUESTIONS = [name for name, _ in spec(LAB).questions]

SWAPPED = "def one_hot(ids, V):\n    return np.eye(V)[:, np.asarray(ids)]"
SUMMED = (
    "def cross_entropy(logits, ids):\n    return sum(logsumexp(row) - row[i] for row, i in zip(logits, ids))"
)


def source_on_disk(saved: Path, question: str) -> str:
    cells = json.loads(saved.read_text(encoding="utf-8"))["cells"]
    mine = next(c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == question)
    return "".join(mine["source"])


def test_a_lab_is_answered_validated_and_packed_as_it_was_saved(
    tmp_path: Path, serve: Callable[..., Any], visit: Callable[..., Page]
) -> None:
    release(LAB, tmp_path / "unpacked")
    saved = tmp_path / "unpacked" / LAB / f"{LAB}.ipynb"
    page = visit(serve(tmp_path / "unpacked"), f"lab/tree/{LAB}/{LAB}.ipynb")
    expect(page.get_by_text("| Idle")).to_be_visible()
    progress, one_hot = output_of(page, "progress()"), card(page, "one_hot")

    # An empty lab runs from top to bottom, and every card says what is to do.
    menu(page, "Kernel", "Restart Kernel and Run All Cells…")
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(progress).to_contain_text("of 5 questions")
    for question in QUESTIONS:
        expect(card(page, question)).to_contain_text(f"{question} is still to do")
        expect(card(page, question)).to_contain_text("NotImplementedError")
        expect(progress).to_contain_text(f"{question} — not written yet")
    expect(page.get_by_text(re.compile("^Figure: .*price")).first).to_be_attached()
    traces = page.locator('[data-mime-type="application/vnd.jupyter.error"]')
    assert traces.all_inner_texts() == []
    expect(page.get_by_text("This cell waits for one_hot").first).to_be_visible()

    # A wrong answer gets a hint in words, and a right one a green card.
    write(page, "one_hot", SWAPPED)
    expect(one_hot).to_contain_text("Rows and columns are swapped")
    expect(one_hot).to_have_class("ck bad")
    write(page, "one_hot", right(LAB, "one_hot"))
    expect(one_hot).to_have_class("ck good")
    expect(one_hot).to_contain_text("8 of 8")
    cell(page, "progress()").locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(progress).to_contain_text("1 of 5 questions")
    expect(progress).to_contain_text("one_hot — public checks pass")

    # Validate says in words what is missing.
    said = validated(page)
    expect(said).to_contain_text("lookup: not written yet")
    expect(said).to_contain_text("YOUR ANSWER HERE")
    expect(said).not_to_contain_text("one_hot: ")
    expect(said).not_to_contain_text("Traceback")
    page.keyboard.press("Escape")

    # Nothing is packed before it is saved.
    for question in QUESTIONS[1:]:
        write(page, question, right(LAB, question))
        expect(card(page, question)).to_have_class("ck good")
    cell(page, "progress()").locator(".jp-InputPrompt").click()
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("from coursekit import hand_in; hand_in()")
    page.keyboard.press("Control+Enter")
    packing = output_of(page, "hand_in()")
    expect(packing).to_contain_text("Nothing was packed to hand in")
    expect(packing).to_contain_text("Save the notebook (Ctrl+S)")
    assert "NotImplementedError" in source_on_disk(saved, "softmax")
    assert not saved.with_suffix(".zip").exists()

    # Validate saves, and is content when everything is answered.
    write_in_words(page, "Ids are names. One-hot rows claim no order and no likeness.")
    expect(validated(page)).to_contain_text("Success!")
    page.keyboard.press("Escape")
    assert source_on_disk(saved, "softmax") == right(LAB, "softmax")

    # What is packed is what was saved.
    write(page, "cross_entropy", SUMMED)
    expect(card(page, "cross_entropy")).to_have_class("ck bad")
    page.keyboard.press("Control+s")
    cell(page, "hand_in()").locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(packing).to_contain_text(f"{LAB}.zip is ready to hand in")
    expect(packing).to_contain_text("softmax — written")
    expect(packing).to_contain_text("why_one_hot — answered in words")
    with page.expect_download() as download:
        packing.get_by_role("link", name=f"Download {LAB}.zip").click()
    download.value.save_as(tmp_path / f"{LAB}.zip")
    assert zipfile.ZipFile(tmp_path / f"{LAB}.zip").read(f"{LAB}.ipynb") == saved.read_bytes()
    assert source_on_disk(saved, "cross_entropy") == SUMMED
