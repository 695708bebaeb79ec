"""Every attack in one class with honest work: nobody gets a point unearned, nobody honest loses one."""

from __future__ import annotations

import json

import pytest

from autograder.course.masters import lab_name
from autograder.course.policy_file import spec
from autograder.files import feedback_page
from autograder.sandbox.jail.namespaces import probe

from .conftest import HONEST
from .loader import all_cases

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

CASES = all_cases()
#: What a case may take at most, cells run again and all: its own limit is 25 seconds, and the machine may be busy.
SECONDS = 120
named = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_there_are_cases_under_every_heading():
    headings = {"forge", "read", "leak", "write", "kill", "wire", "notebook", "cheat", "unlucky"}
    assert {case.name.partition("_")[0] for case in CASES} == headings
    assert len(CASES) >= 150


@named
def test_a_case_gets_its_status_and_exactly_what_it_earned(classes, case):
    """``score`` says how many points the work is worth."""
    result, expected = classes(case.lab).results[case.student], case.expected
    lost = {
        question.name: question.points
        for question in result.questions
        if question.points < question.max_points
    }
    assert not result.fault
    assert result.status in case.statuses, (result.notes, lost)
    if expected["score"] == "less":
        assert lost.keys() == {expected["question"]}
    elif result.status != case.statuses[0]:
        assert result.score <= expected["score"]
    else:
        assert result.score == pytest.approx(expected["score"]), (lost, result.notes)
    flagged = [question.name for question in result.questions if question.forbidden]
    assert flagged == ([expected["forbidden"]] if "forbidden" in expected else [])
    assert expected.get("note", "") in " ".join(result.notes)
    assert result.seconds < expected.get("seconds", SECONDS)
    assert [(q.name, q.max_points) for q in result.questions] == list(spec(case.lab).questions)


@pytest.mark.parametrize("lab", ["01", "07"])
@pytest.mark.parametrize("kind", HONEST)
def test_honest_work_gets_the_same_points_beside_attacks_as_alone(classes, lab, kind):
    graded = classes(lab)
    beside, alone = graded.results[f"honest {kind}"], graded.alone[f"honest {kind}"]
    assert (beside.status, beside.score) == (alone.status, alone.score)
    assert beside.questions == alone.questions


@pytest.mark.parametrize("lab", ["01", "07"])
def test_the_honest_classmates_are_worth_what_they_should_be(classes, lab):
    scores = {kind: classes(lab).results[f"honest {kind}"].score for kind in HONEST}
    assert scores["honest"] == scores["another style"] == spec(lab_name(lab)).max_score
    assert scores["untouched"] == 0 < scores["half done"] < 20
    assert scores["one misconception"] < 20 and scores["two misconceptions"] < 20


hiding = [case for case in CASES if "never" in case.expected or "never_on_the_page" in case.expected]


@pytest.mark.parametrize("case", hiding, ids=[case.name for case in hiding])
def test_what_must_stay_hidden_stands_nowhere(classes, case):
    """Neither in the results, nor on the feedback page, nor in the outputs of the executed notebook."""
    graded = classes(case.lab)
    result = graded.results[case.student]
    page = feedback_page(graded.out, case.student, case.lab).read_text(encoding="utf-8")
    executed = graded.out / "autograded" / case.student / case.lab / f"{case.lab}.ipynb"
    outputs = [cell.get("outputs") for cell in json.loads(executed.read_text(encoding="utf-8"))["cells"]]
    said = {"results": json.dumps(result.as_dict()), "page": page, "outputs": json.dumps(outputs)}
    for text in case.expected.get("never", ()):
        assert [place for place, words in said.items() if text in words] == [], result.questions
    assert [text for text in case.expected.get("never_on_the_page", ()) if text in page] == []


def test_no_attack_leaves_a_huge_result_behind(classes):
    graded = classes("01")
    sizes = {path: path.stat().st_size for path in (graded.out / "autograded").rglob("*.ipynb")}
    assert max(sizes.values()) < 24 << 20, max(sizes, key=lambda path: sizes[path])
