"""Finds the engine that a name stands for. Every engine does the same unit of work and yields its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial

from autograder.errors import UserError
from autograder.grading.task import Assignment, Task
from autograder.grading.zygotes import Zygotes
from autograder.results import SubmissionResult

#: (tasks, assignment, number of workers) -> the results as they come, in any order; what grades them ends with the block.
Engine = Callable[[Iterable[Task], Assignment, int], AbstractContextManager[Iterator[SubmissionResult]]]


def engine_named(name: str, zygotes: Zygotes) -> Engine:
    """``local``, ``dask`` (a cluster on this machine) or ``dask:ADDRESS``. ``UserError`` for another name.

    ``zygotes`` are this machine's, for the local engine.
    """
    if name == "local":
        from autograder.run.local_engine import grade_all as grade_here

        return partial(grade_here, zygotes=zygotes)
    if name == "dask" or name.startswith("dask:"):
        try:
            from autograder.run.dask_engine import grade_all as grade_on_dask
        except ImportError:
            raise UserError(
                "The Dask engine needs the package distributed: pip install 'bigrams-to-translators[dask]'."
            ) from None
        return partial(grade_on_dask, address=name.removeprefix("dask").removeprefix(":"))
    raise UserError(f"There is no engine “{name}”: use local, dask or dask:tls://HOST:PORT.")
