"""Every attack that is a file, sent through the live class: it gains nothing, and harms nobody who hands in beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass
class Room:
    """A lab's attacks, each handed in by a student of its own, and what came of them."""

    lab: str
    cases: Sequence[Case]
    refused: dict[str, int] = field(default_factory=dict)
    cards: dict[str, str] = field(default_factory=dict)
    results: dict[str, SubmissionResult] = field(default_factory=dict)

    def hand_in(self, folder: Path, course: Path) -> None:
        """Send all files, and honest work behind them; wait for every card."""
        files = {f"case_{number}": _file(case, folder) for number, case in enumerate(self.cases)}
        files["honest"] = nbformat.writes(answered(self.lab, solved(self.lab))).encode()
        names = dict(zip(files, [*(case.name for case in self.cases), "honest"], strict=True))
        service = Served(course, folder / "out", self.lab, jobs=2, COURSE_FILE=str(course / "course.toml"))
        tokens, receipts = service.invite(*files), {}
        service.start()
        try:
            for student, body in files.items():
                if body is None:
                    continue
                try:
                    answer = service.ask(f"/labs/{self.lab}/hand-in", body, tokens[student])
                except OSError:  # it was cut off
                    self.refused[names[student]] = 413
                    continue
                if answer.status == 201:
                    receipts[student] = answer.json["receipt"]
                else:
                    self.refused[names[student]] = answer.status
            until = time.monotonic() + PATIENCE
            for student, receipt in receipts.items():
                card = {"state": "waiting"}
                while card["state"] == "waiting" and time.monotonic() < until:
                    answer = service.ask(f"/receipts/{receipt}?wait=20", token=tokens[student])
                    card, self.cards[names[student]] = answer.json, answer.body.decode()
        finally:
            service.stop()
        journal = Journal(folder / "out" / "live")
        for attempt in journal.attempts(self.lab):
            if result := journal.result(attempt):
                self.results[names[attempt.student]] = result
        journal.close()


def _file(case: Case, folder: Path) -> bytes | None:
    """The file that a case hands in; None where it hands in none, or something that cannot be sent."""
    place = folder / "files" / case.name
    case.hand_in(place)
    path = place / case.student / case.lab / f"{case.lab}.ipynb"
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
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
    made = Room(lab, cases)
    made.hand_in(tmp_path_factory.mktemp("room"), course)
    return made


def test_a_case_gets_through_the_service_what_it_gets_in_a_class_and_honest_work_behind_it_all_points(room):
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
    assert json.loads(room.cards["honest"])["score"] == spec(room.lab).max_score
