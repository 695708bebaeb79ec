"""Few notebooks that name PyTorch go to one worker, for importing it takes as long as grading them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from autograder.run.local_engine import FEW, _WorkerPool


class _Worker:
    """A worker that is only asked who it is."""


@pytest.fixture(autouse=True)
def modules(monkeypatch) -> dict[str, int]:
    """The modules that this process seems to have imported: none."""
    seen: dict[str, int] = {}
    monkeypatch.setattr("autograder.run.local_engine.sys", SimpleNamespace(modules=seen))
    return seen


def pool(plain: int, with_torch: int) -> Any:
    named = enumerate([False] * plain + [True] * with_torch)
    tasks = (SimpleNamespace(notebook=SimpleNamespace(names_torch=torch), number=n) for n, torch in named)
    return _WorkerPool(tasks, None, [_Worker(), _Worker()])


def shares(made: Any) -> list[list[int]]:
    """The tasks that each of two workers gets when they ask in turn."""
    got: list[list[int]] = [[], []]
    idle: set[int] = set()
    while len(idle) < 2:
        for n, worker in enumerate(made.workers):
            task = made.next_task(worker)
            idle |= {n} if task is None else set()
            got[n] += [task.number] if task is not None else []
    assert sorted(got[0] + got[1]) == list(range(len(got[0] + got[1]))), "nothing is left or done twice"
    return got


def test_one_worker_takes_the_few_and_many_are_shared_until_few_are_left(modules):
    first, second = shares(pool(plain=5, with_torch=4))
    assert len(first + second) == 9 and (not {5, 6, 7, 8} & set(first) or not {5, 6, 7, 8} & set(second))
    first, second = shares(pool(plain=0, with_torch=FEW + 10))
    assert len(first + second) == FEW + 10 and len(first) > 5 and len(second) > 5
    modules["torch"] = 1  # where the lab itself needs it everybody has it
    assert [len(share) for share in shares(pool(plain=0, with_torch=6))] == [3, 3]


def test_when_the_worker_that_had_them_has_died_another_takes_over():
    made = pool(plain=0, with_torch=3)
    first, second = made.workers
    assert made.next_task(first).number == 0 and made.next_task(second) is None
    made.workers.remove(first)
    assert made.next_task(second).number == 1
