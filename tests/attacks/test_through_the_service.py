"""Every attack that is a file, sent through the live class: it gains nothing, and harms nobody who hands in beside it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solution_sources
from autograder.course.policy_file import spec
from autograder.sandbox.jail.namespaces import probe
from autograder.serve.hand_in import MAX_BYTES
from autograder.serve.journal import Journal
from tests.fixtures.live_class import Served

from .loader import Case, all_cases

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("live_attacks"),
]

CASES = all_cases()
#: What differs in kind where a file comes by the network and a card goes back. The class's command grades with the same workers.
OF_EACH_KIND = """
    forge_check_record forge_one_reply_ahead kill_an_endless_loop kill_one_endless_line kill_os_exit
    leak_a_key_and_a_message leak_by_a_later_run leak_output_of_the_call notebook_a_link_to_a_classmate
    notebook_cut_off notebook_deep_json notebook_doubled_keys_and_ids notebook_surrogates
    notebook_too_large read_other_processes wire_script write_a_daemon
    write_for_whoever_comes_first write_for_whoever_comes_second
"""
#: Seconds that a lab's attacks may take together.
PATIENCE = 3600


def _file(case: Case, folder: Path) -> bytes | None:
    """The file that a case hands in; None where it hands in none, or something that cannot be sent."""
    place = folder / "files" / case.name
    case.hand_in(place)
    path = place / case.student / case.lab / f"{case.lab}.ipynb"
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes() if path.stat().st_size <= 2 * MAX_BYTES else None


@pytest.mark.parametrize(
    "which",
    [
        "of each kind",
        *(pytest.param(lab, marks=pytest.mark.proof) for lab in sorted({case.lab for case in CASES})),
    ],
)
def test_a_case_gets_through_the_service_what_it_gets_in_a_class_and_honest_work_behind_it_all_points(
    which: str, tmp_path: Path, course: Path
) -> None:
    lab = lab_name("01") if which == "of each kind" else which
    cases = {
        case.name: case
        for case in CASES
        if case.lab == lab and (which == lab or case.name in OF_EACH_KIND.split())
    }
    files = {name: body for name, case in cases.items() if (body := _file(case, tmp_path)) is not None}
    files["honest"] = nbformat.writes(answered(lab, solution_sources(lab))).encode()
    # Students' names are the service's to choose: a case's own might be one that it refuses.
    students = {name: f"case_{number}" for number, name in enumerate(files)}
    service = Served(course, tmp_path / "out", lab, COURSE_FILE=str(course / "course.toml"))
    tokens = service.invite(*students.values())
    refused: dict[str, int] = {}
    receipts: dict[str, str] = {}
    cards: dict[str, str] = {}
    service.start()
    try:
        for name, body in files.items():
            try:
                answer = service.ask(f"/labs/{lab}/hand-in", body, tokens[students[name]])
            except OSError:  # it was cut off
                refused[name] = 413
                continue
            if answer.status == 201:
                receipts[name] = answer.json["receipt"]
            else:
                refused[name] = answer.status
        until = time.monotonic() + PATIENCE
        for name, receipt in receipts.items():
            card = {"state": "waiting"}
            while card["state"] == "waiting" and time.monotonic() < until:
                answer = service.ask(f"/receipts/{receipt}?wait=20", token=tokens[students[name]])
                card, cards[name] = answer.json, answer.body.decode()
    finally:
        service.stop()
    journal = Journal(tmp_path / "out" / "live")
    results = {attempt.student: journal.result(attempt) for attempt in journal.attempts(lab)}
    journal.close()
    faults = []
    for name, case in cases.items():
        of_a_folder = case.is_written_otherwise
        if name in refused:
            if case.statuses != ["unreadable"] and refused[name] != 413:
                faults.append(f"{name}: refused with {refused[name]}")
        elif result := results.get(students.get(name, "")):
            faults += case.faults(result, ends_otherwise=of_a_folder)
            faults += case.said_of_hidden(cards[name])
        elif not of_a_folder:  # what it does needs a folder
            faults.append(f"{name}: no result")
    assert faults == []
    assert json.loads(cards["honest"])["score"] == spec(lab).max_score
