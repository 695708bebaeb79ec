"""Finds the engine that a name stands for. Every engine does the same unit of work and yields its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from autograder.errors import UserError
from autograder.grading.task import Assignment, Task
from autograder.results import SubmissionResult

#: (tasks, assignment, number of workers) -> the results as they come, in any order.
Engine = Callable[[Iterable[Task], Assignment, int], Iterator[SubmissionResult]]


def engine_named(name: str) -> Engine:
    """``local``, ``dask`` (a cluster on this machine) or ``dask:ADDRESS``. ``UserError`` for another name."""
    if name == "local":
        from autograder.run.local_engine import LocalEngine

        return LocalEngine()
    if name == "dask" or name.startswith("dask:"):
        try:
            from autograder.run.dask_engine import grade_all as grade_on_dask
        except ImportError:
            raise UserError(
                "The Dask engine needs the package distributed: pip install 'bigrams-to-translators[dask]'."
            ) from None
        return partial(grade_on_dask, address=name.removeprefix("dask").removeprefix(":"))
    raise UserError(f"There is no engine “{name}”: use local, dask or dask:tcp://HOST:PORT.")
