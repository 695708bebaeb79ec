"""Every attack in one class with honest work: nobody gets a point unearned, nobody honest loses one."""

import json
from collections.abc import Callable
from functools import cache

import nbformat
import pytest

from autograder.course.masters import lab_name
from autograder.course.policy_file import spec
from autograder.files import feedback_page
from autograder.grading.off_limits import forbidden_used
from autograder.grading.repair import Template, repair
from autograder.sandbox.jail.namespaces import probe

from .conftest import HONEST, GradedClass
from .loader import all_cases

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("attacks"),
]

CASES = all_cases()
#: What reading does not find: it is seen when the answer is called.
FOUND_WHEN_CALLED = (
    "cheat_beside_a_shell_line",
    "cheat_by_a_check_of_the_kit_found_at_run_time",
    "cheat_in_a_module_written_to_disk",
    "cheat_name_made_at_run_time",
)


@pytest.fixture(scope="session")
def graded(grade) -> Callable[[str], GradedClass]:
    """``graded("01")``: the cases of a lab that nothing else holds, in one class; "01 whole": all, "01 alone": none."""

    @cache
    def graded(which: str) -> GradedClass:
        number, _, how = which.partition(" ")
        own = [case for case in CASES if case.lab == lab_name(number) and how != "alone"]
        return grade(lab_name(number), [case for case in own if how or "held_by" not in case.expected])

    return graded


@pytest.fixture(
    scope="module",
    params=["01", "07", *(pytest.param(f"{lab} whole", marks=pytest.mark.proof) for lab in ("01", "07"))],
)
def together(request, graded) -> GradedClass:
    """A class of attacks and honest work."""
    return graded(request.param)


def test_a_case_gets_its_status_and_exactly_what_it_earned(together):
    assert together.cases
    assert [fault for case in together.cases for fault in case.faults(together.results[case.student])] == []


def test_what_is_forbidden_is_found_by_reading():
    """In the labs that forbid something; whoever is honest is not accused."""
    templates = cache(Template.of)
    faults = []
    for case in CASES:
        if case.lab == lab_name("01") or case.is_written_otherwise:
            continue
        raw = nbformat.writes(case.notebook()).encode()
        cells = repair(raw, templates(case.lab)).executed_source()
        found = [name for name, _ in spec(case.lab).questions if forbidden_used(case.lab, name, cells)]
        expected = case.expected.get("forbidden") if case.name not in FOUND_WHEN_CALLED else None
        faults += [(case.name, found)] if found != ([expected] if expected else []) else []
    assert faults == []


def test_honest_work_gets_the_same_beside_attacks_as_alone(graded):
    beside, alone = graded("01").results, graded("01 alone").results
    assert len(alone) == len(HONEST) < len(beside)
    for name, result in alone.items():
        assert (beside[name].status, beside[name].score) == (result.status, result.score)
        assert beside[name].questions == result.questions
    scores = [alone[f"honest {kind}"].score for kind in HONEST]
    assert scores[0] == scores[1] == spec(lab_name("01")).max_score > max(scores[2:]) and min(scores) > 0


def test_what_must_stay_hidden_stands_neither_on_the_page_nor_in_the_outputs(together):
    faults = []
    for case in together.cases:
        if "never" not in case.expected and "never_on_the_page" not in case.expected:
            continue
        page = feedback_page(together.out, case.student, case.lab).read_text(encoding="utf-8")
        executed = together.out / "autograded" / case.student / case.lab / f"{case.lab}.ipynb"
        outputs = [cell.get("outputs") for cell in json.loads(executed.read_text(encoding="utf-8"))["cells"]]
        said = case.said_of_hidden(page + json.dumps(outputs))
        said += [text for text in case.expected.get("never_on_the_page", ()) if text in page]
        faults += [(case.name, said)] if said else []
    assert faults == []


def test_no_attack_leaves_a_huge_result_behind(together):
    sizes = {path: path.stat().st_size for path in (together.out / "autograded").rglob("*.ipynb")}
    assert max(sizes.values()) < 24 << 20, max(sizes, key=lambda path: sizes[path])
