"""Finds where a question is explained: its section in the lab, and its lecture demo."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass

from coursekit.demos import bundle

from autograder.course.lab import LabSpec
from autograder.course.masters import course_root
from autograder.course.policy_file import settings

_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
#: The parts of a heading that are not its title: a question's name, formulas, a duration.
_ABOUT = re.compile(r"\s*· `.*|\s*\([^()]*\)\s*$|\$[^$]*\$\S?")


@dataclass(frozen=True)
class Place:
    """The place where a question is explained: in words, and as addresses ("" if the course has no site)."""

    section: str = ""
    section_address: str = ""
    demo: str = ""
    demo_address: str = ""


def demo_names(lab: str) -> dict[str, str]:
    """Question or "all" -> the lecture demo that addresses it; see ``notebooks/demos/questions.toml``."""
    folder = course_root() / "notebooks" / "demos"
    try:
        named = tomllib.loads((folder / "questions.toml").read_text(encoding="utf-8")).get(lab[:2], {})
    except (OSError, tomllib.TOMLDecodeError):  # a page without links is better than no page
        return {}
    return {question: demo for question, demo in named.items() if demo in bundle.names()}


def demo_of(demos: dict[str, str], question: str) -> str:
    """The demo for a question, among its lab's ``demos``; "" if there is none."""
    return demos.get(question, demos.get("all", ""))


def places_of(spec: LabSpec, demos_at: str = "") -> dict[str, Place]:
    """Question or written answer -> its place. ``demos_at``: the address of the demos, if not the site's."""
    site, demos = settings().site.rstrip("/"), demo_names(spec.name)
    demos_at = demos_at or (f"{site}/demos/" if site else "")
    graded = {name for name, _ in (*spec.questions, *spec.written)}
    places, headings = {}, dict[int, str]()
    for cell in spec.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if cell.cell_type == "markdown" and name not in graded:
            for marks, title in _HEADING.findall(cell.source):
                headings = {depth: text for depth, text in headings.items() if depth < len(marks)}
                headings[len(marks)] = title.strip()
        if name in graded and name not in places:
            below = [title for depth, title in sorted(headings.items()) if depth > 1]
            titles = [_ABOUT.sub("", title).strip() for title in below]
            anchor = f"{site}/labs/{spec.name}.html#{anchor_of(below[-1])}" if site and below else ""
            demo = demo_of(demos, name)
            places[name] = Place(
                ", ".join(f"Question {words}" if words.isdigit() else words for words in titles),
                anchor,
                bundle.meta(demo)["title"] if demo else "",
                f"{demos_at}{demo}.html" if demo and demos_at else "",
            )
    return places


def anchor_of(heading: str) -> str:
    """The anchor of a heading on the site's page."""
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))
