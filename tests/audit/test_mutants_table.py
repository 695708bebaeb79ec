"""docs/mutants.md against the course: every lab was measured, and mutants die of what they change, not of being run."""

from __future__ import annotations

import re

from autograder.course.masters import all_labs, course_root
from autograder.course.policy_file import spec
from docs.make_mutants import mutants_of, survives

LAB, QUESTION = "01_markov_bigram", "normalise_rows"


def test_every_lab_has_its_section_and_every_row_names_a_question_of_its_lab():
    page = (course_root() / "docs" / "mutants.md").read_text(encoding="utf-8")
    sections = dict(section.split("\n", 1) for section in page.split("\n## ")[1:])
    assert list(sections) == all_labs()
    for lab, text in sections.items():
        assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) <= {
            name for name, _ in spec(lab).questions
        }


def test_a_mutant_that_changes_the_answer_dies():
    mutant = next(m for m in mutants_of(LAB, QUESTION) if m.operator == "NumberReplacer")
    assert not survives(LAB, mutant)
