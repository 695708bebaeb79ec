"""Every attack that is a file, sent through the live class: it gains nothing, and harms nobody who hands in beside it."""

import json
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solution_sources
from autograder.course.policy_file import spec
from autograder.sandbox.jail.namespaces import probe
from autograder.serve.hand_in import MAX_BYTES
from autograder.serve.journal import Journal
from tests.fixtures.live_class import Answer, Served

from .loader import Case, all_cases

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("live_attacks"),
]

CASES = all_cases()
LABS = sorted({case.lab for case in CASES})
#: What differs in kind where a file comes by the network and a card goes back. The class's command grades with the same workers.
OF_EACH_KIND = """
    forge_check_record forge_one_reply_ahead kill_an_endless_loop kill_one_endless_line kill_os_exit
    leak_a_key_and_a_message leak_by_a_later_run leak_output_of_the_call notebook_a_link_to_a_classmate
    notebook_cut_off notebook_deep_json notebook_doubled_keys_and_ids notebook_surrogates
    notebook_too_large read_other_processes wire_script write_a_daemon
    write_for_whoever_comes_first write_for_whoever_comes_second
"""


def _file(case: Case, folder: Path) -> bytes | None:
    """The file that a case hands in; None where it hands in none, or something that cannot be sent."""
    place = folder / "files" / case.name
    case.hand_in(place)
    path = place / case.student / case.lab / f"{case.lab}.ipynb"
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes() if path.stat().st_size <= 2 * MAX_BYTES else None


@pytest.mark.parametrize(
    "which", ["of each kind", *(pytest.param(lab, marks=pytest.mark.proof) for lab in LABS)]
)
def test_a_case_gets_through_the_service_what_it_gets_in_a_class_and_honest_work_behind_it_all_points(
    which: str, tmp_path: Path, course: Path
) -> None:
    of_each_kind = which == "of each kind"
    lab = lab_name("01") if of_each_kind else which
    wanted = {case.name: case for case in CASES if case.lab == lab}
    cases = {name: wanted[name] for name in OF_EACH_KIND.split()} if of_each_kind else wanted
    files = {name: body for name, case in cases.items() if (body := _file(case, tmp_path)) is not None}
    files["honest"] = nbformat.writes(answered(lab, solution_sources(lab))).encode()
    # Students' names are the service's to choose: a case's own might be one that it refuses.
    students = {name: f"case_{number}" for number, name in enumerate(files)}
    service = Served(course, tmp_path / "out", lab, COURSE_FILE=str(course / "course.toml"))
    tokens = service.invite(*students.values())
    answers: dict[str, Answer] = {}
    cards: dict[str, str] = {}
    service.start()
    try:
        for name, body in files.items():
            with suppress(OSError):  # it was cut off
                answers[name] = service.ask(f"/labs/{lab}/hand-in", body, tokens[students[name]])
        for name, answer in answers.items():
            card = {"state": "waiting"}
            while answer.status == 201 and card["state"] == "waiting":
                address = f"/receipts/{answer.json['receipt']}?wait=20"
                told = service.ask(address, token=tokens[students[name]])
                card, cards[name] = told.json, told.body.decode()
    finally:
        service.stop()
    journal = Journal(tmp_path / "out" / "live")
    results = {attempt.student: journal.result(attempt) for attempt in journal.attempts(lab)}
    journal.close()
    faults = []
    for name, case in cases.items():
        of_a_folder = case.is_written_otherwise
        if name in files and name not in cards:
            if case.statuses != ["unreadable"] and name in answers and answers[name].status != 413:
                faults.append(f"{name}: refused with {answers[name].status}")
        elif result := results.get(students.get(name, "")):
            faults += case.faults(result, ends_otherwise=of_a_folder)
            faults += case.said_of_hidden(cards[name])
        elif not of_a_folder:  # what it does needs a folder
            faults.append(f"{name}: no result")
    assert faults == []
    assert json.loads(cards["honest"])["score"] == spec(lab).max_score
