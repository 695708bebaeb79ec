"""Every attack that is a file, sent through the live class: it gains nothing, and harms nobody who hands in beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import solved
from autograder.course.policy_file import spec
from autograder.results import SubmissionResult
from autograder.sandbox.jail.namespaces import probe
from autograder.serve.hand_in import MAX_BYTES
from autograder.serve.journal import Journal
from tests.fixtures.frozen_course import freeze
from tests.fixtures.live_class import Served

from .conftest import POLICY
from .loader import Case, all_cases

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("live_attacks"),
]

CASES = all_cases()
#: Seconds that a lab's attacks may take together.
PATIENCE = 3600


class Room:
    """A lab's attacks, each handed in by a student of its own, and what came of them."""

    def __init__(self, lab: str, folder: Path, course: Path):
        self.refused: dict[str, int] = {}
        self.cards: dict[str, str] = {}
        self.results: dict[str, SubmissionResult] = {}
        bodies = {
            f"case_{number}": (case, _file(case, folder))
            for number, case in enumerate(CASES)
            if case.lab == lab
        }
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


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Room]]:
    course = freeze(tmp_path_factory.mktemp("course"), *{case.lab for case in CASES})
    (course / "course.toml").write_text(POLICY)
    made: dict[str, Room] = {}

    def of(lab: str) -> Room:
        if lab not in made:
            made[lab] = Room(lab, tmp_path_factory.mktemp("room"), course)
        return made[lab]

    yield of


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_case_gets_through_the_service_what_it_gets_in_a_class(rooms, case):
    room, expected = rooms(case.lab), case.expected
    if case.name in room.refused:
        assert case.statuses == ["unreadable"] or room.refused[case.name] == 413, room.refused[case.name]
        return
    result = room.results.get(case.name)
    if result is None:
        assert (case.folder / "hand_in.py").exists()  # what it does needs a folder
        return
    assert not result.fault
    if not (case.folder / "hand_in.py").exists():
        assert result.status in case.statuses, result.notes
    if expected["score"] == "less":
        assert result.score < result.max_score
    elif result.status != case.statuses[0]:
        assert result.score <= expected["score"]
    elif not (case.folder / "hand_in.py").exists():
        assert result.score == pytest.approx(expected["score"]), result.notes
    for text in expected.get("never", []):
        assert text not in room.cards[case.name]


@pytest.mark.parametrize("lab", sorted({case.lab for case in CASES}))
def test_the_honest_student_behind_all_attacks_has_all_points(rooms, lab):
    assert json.loads(rooms(lab).cards["honest"])["score"] == spec(lab).max_score
