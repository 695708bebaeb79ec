"""Generate Feedback writes this harness's pages, with the secrets that nbgrader's exchange wants beside them."""

from __future__ import annotations

import os
import re
from types import SimpleNamespace

import pytest

from autograder.errors import UserError
from autograder.nbgrader_plugin.exporter import FeedbackExporter
from autograder.run.exchange_files import SECRET, secret_of
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB

pytestmark = pytest.mark.xdist_group("grading")


@pytest.mark.skipif(probe() is not None, reason=str(probe()))
def test_the_page_says_what_grading_said_and_its_secret_lies_beside_it(graded):
    out, autograded = graded / "out", graded / "out" / "autograded" / "bo" / LAB
    page = out / "feedback" / "bo" / LAB / f"{LAB}.html"
    (autograded / SECRET).write_text("a1b2")
    converter = SimpleNamespace(
        coursedir=SimpleNamespace(root=str(out)),
        _format_dest=lambda lab, student: str(page.parent),
        _format_source=lambda lab, student: str(autograded),
    )
    exporter = FeedbackExporter()
    total = re.compile(r'<div class="total">.*?</div>')
    made, wrote = exporter.content(converter, LAB, "bo"), page.read_text(encoding="utf-8")
    assert "Feedback for <bdi>bo</bdi>" in made and total.search(made)[0] == total.search(wrote)[0]
    assert page.with_name(SECRET).read_text() == "a1b2"
    with pytest.raises(UserError, match="run Autograde first"):
        exporter.content(converter, LAB, "nobody")


def test_a_secret_is_read_as_it_stands_and_made_where_there_is_none(tmp_path):
    (tmp_path / SECRET).write_text("a1b2")
    assert secret_of(LAB, "ada", tmp_path) == "a1b2"
    made = secret_of(LAB, "ada", None)
    assert len(made) == 64 and made == secret_of(LAB, "ada", tmp_path / "nowhere")
    assert made != secret_of(LAB, "bo", None)


@pytest.mark.parametrize("hostile", ["link", "empty", "long", "fifo"])
def test_a_secret_that_is_none_is_replaced(tmp_path, hostile):
    place = tmp_path / SECRET
    if hostile == "link":
        (tmp_path / "other").write_text("a classmate's")
        place.symlink_to(tmp_path / "other")
    elif hostile == "fifo":
        os.mkfifo(place)
    else:
        place.write_text("" if hostile == "empty" else "x" * 5000)
    assert secret_of(LAB, "ada", tmp_path) == secret_of(LAB, "ada", None)
