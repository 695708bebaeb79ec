"""A progress bar's last word is where the loop stood, also when it was left early."""

from __future__ import annotations

import pytest
from coursekit.notebook import progress


@pytest.fixture
def drawn(monkeypatch):
    """What was drawn last: (done, finished). Every look at the clock finds a second gone."""
    last = {}
    clock = iter(range(1000))

    def draw(handle, what, done, total, seconds, finished=False):
        last["bar"] = (done, finished)
        return True

    monkeypatch.setattr(progress, "draw_bar", draw)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    return last


def test_a_bar_ends_at_its_total_or_where_the_loop_was_left(drawn):
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert drawn["bar"] == (5, True)
    for item in progress.track(range(100), "counting"):
        if item == 6:
            break
    assert drawn["bar"] == (7, True)
