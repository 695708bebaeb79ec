"""Every attack that is a file, sent through the live class: it gains nothing, and harms nobody who hands in beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solved
from autograder.course.policy_file import spec
from autograder.results import SubmissionResult
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


class Room:
    """A lab's attacks, each handed in by a student of its own, and what came of them."""

    def __init__(self, lab: str, cases: Sequence[Case], folder: Path, course: Path):
        self.lab, self.cases = lab, cases
        self.refused: dict[str, int] = {}
        self.cards: dict[str, str] = {}
        self.results: dict[str, SubmissionResult] = {}
        bodies = {f"case_{number}": (case, _file(case, folder)) for number, case in enumerate(cases)}
        service = Served(course, folder / "out", lab, jobs=2, COURSE_FILE=str(course / "course.toml"))
        tokens = service.invite(*bodies, "honest")
        service.start()
        try:
            receipts: dict[str, str] = {}
            for student, (case, body) in bodies.items():
                if body is not None:
                    self._send(service, lab, student, case.name, body, tokens[student], receipts)
            honest = nbformat.writes(answered(lab, solved(lab))).encode()
            self._send(service, lab, "honest", "honest", honest, tokens["honest"], receipts)
            until = time.monotonic() + PATIENCE
            for student, receipt in receipts.items():
                name = bodies[student][0].name if student in bodies else student
                card = {"state": "waiting"}
                while card["state"] == "waiting" and time.monotonic() < until:
                    answer = service.ask(f"/receipts/{receipt}?wait=20", token=tokens[student])
                    card, self.cards[name] = answer.json, answer.body.decode()
        finally:
            service.stop()
        journal = Journal(folder / "out" / "live")
        names = {student: case.name for student, (case, _) in bodies.items()} | {"honest": "honest"}
        results = {names[attempt.student]: journal.result(attempt) for attempt in journal.attempts(lab)}
        self.results = {name: result for name, result in results.items() if result is not None}
        journal.close()

    def _send(
        self,
        service: Served,
        lab: str,
        student: str,
        name: str,
        body: bytes,
        token: str,
        receipts: dict[str, str],
    ) -> None:
        try:
            answer = service.ask(f"/labs/{lab}/hand-in", body, token)
        except OSError:  # it was cut off
            self.refused[name] = 413
            return
        if answer.status == 201:
            receipts[student] = answer.json["receipt"]
        else:
            self.refused[name] = answer.status


def _file(case: Case, folder: Path) -> bytes | None:
    """The file that a case hands in; None where it hands in none, or something that cannot be sent."""
    place = folder / "files" / case.name
    case.hand_in(place)
    path = place / case.student / case.lab / f"{case.lab}.ipynb"
    if (
        path.is_symlink()
        or not path.is_file()
        or any(p.is_symlink() for p in path.relative_to(place).parents)
    ):
        return None
    return path.read_bytes() if path.stat().st_size <= 2 * MAX_BYTES else None


@pytest.fixture(
    scope="module",
    params=[
        "of each kind",
        *(pytest.param(lab, marks=pytest.mark.proof) for lab in sorted({case.lab for case in CASES})),
    ],
)
def room(request, tmp_path_factory: pytest.TempPathFactory, course: Path) -> Room:
    """A live class to which attacks were sent, and honest work behind them."""
    whole = request.param != "of each kind"
    lab = request.param if whole else lab_name("01")
    cases = [case for case in CASES if (case.lab == lab if whole else case.name in OF_EACH_KIND.split())]
    return Room(lab, cases, tmp_path_factory.mktemp("room"), course)


def test_a_case_gets_through_the_service_what_it_gets_in_a_class(room):
    faults = []
    for case in room.cases:
        of_a_folder = case.is_written_otherwise
        if case.name in room.refused:
            if case.statuses != ["unreadable"] and room.refused[case.name] != 413:
                faults.append(f"{case.name}: refused with {room.refused[case.name]}")
        elif case.name in room.results:
            faults += case.faults(room.results[case.name], ends_otherwise=of_a_folder)
            faults += case.said_of_hidden(room.cards[case.name])
        elif not of_a_folder:  # what it does needs a folder
            faults.append(f"{case.name}: no result")
    assert faults == []


def test_the_honest_student_behind_all_attacks_has_all_points(room):
    assert json.loads(room.cards["honest"])["score"] == spec(room.lab).max_score
