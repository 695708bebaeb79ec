"""What one submission has a worker import, and when its time is over, changes nothing for those whom it grades next."""

from __future__ import annotations

import json

import pytest

from autograder.course.masters import lab_name, solved
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import command, freeze, hand_in

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

LAB = lab_name("07")
#: Full points, and then, while its calls are watched, the first tensor that this worker ever sees.
TENSORS_UNDER_THE_WATCH = """
import gc, os, torch

watched = False

def watch(executor, names):
    global watched
    if "torch.autograd.grad" not in names:
        os._exit(1)  # in a new process the next question's tests run as a whole
    watched = True
    return True

def call(executor, *operands):
    reply = plain(executor, *operands)
    return torch.zeros(1) if watched else reply

for thing in gc.get_objects():
    if type(thing).__name__ == "Executor":
        plain = thing.operations["call"]
        thing.operations |= {"watch": watch, "call": call}


"""
RETURNS_TENSORS = """

import torch
_as_numpy = kernel_smooth

def kernel_smooth(*arguments):
    return torch.tensor(_as_numpy(*arguments))
"""


def graded(tmp_path_factory, file: str, old: str, new: str, class_: dict[str, dict[str, str]]):
    """The command's end and the rows of a class of lab 07, graded by one worker of a harness with ``new`` for ``old``."""
    root = freeze(tmp_path_factory.mktemp("course"), LAB)
    path = root / "autograder" / "grading" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    folder = tmp_path_factory.mktemp("class")
    for student, answers in class_.items():
        hand_in(folder / "submitted", student, answers, LAB)
    words = ("--submitted", folder / "submitted", "--out", folder / "out", "--jobs", 1)
    done = command("grade", "07", *words, root=root)
    rows = json.loads((folder / "out" / "results.json").read_text())
    return done, {row["student"]: (row["status"], row["score"]) for row in rows}


def tensors() -> dict[str, str]:
    """A right answer that returns tensors."""
    return {"kernel_smooth": solved(LAB)["kernel_smooth"] + RETURNS_TENSORS}


def test_a_class_that_returns_tensors_is_graded_after_somebodys_time_was_over_in_the_import_of_pytorch(
    tmp_path_factory,
):
    first, right = next(iter(solved(LAB).items()))
    class_ = {"aaa": {first: TENSORS_UNDER_THE_WATCH + right}, "bbb": tensors(), "ccc": tensors()}
    # Less time instead of values that are slow to read, which need tuning.
    change = ("grader.py", "WATCH_SECONDS = 2.0", "WATCH_SECONDS = 0.4")
    done, rows = graded(tmp_path_factory, *change, class_)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows == dict.fromkeys(class_, ("graded", 20))


def test_a_worker_whose_import_ran_out_of_memory_is_replaced_and_the_class_goes_on(tmp_path_factory):
    class_: dict[str, dict[str, str]] = {"aaa": tensors(), "bbb": {}}
    change = ("time_guard.py", "JUDGING_BYTES = 4 << 30", "JUDGING_BYTES = 150 << 20")
    done, rows = graded(tmp_path_factory, *change, class_)
    assert "The grader itself failed on 1 of 2" in done.stdout + done.stderr
    assert rows == {"aaa": ("crashed", 0), "bbb": ("graded", 20)}
