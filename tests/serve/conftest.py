"""A live class of lab 00 with nobody who grades."""

from collections.abc import Iterator

import pytest

from tests.fixtures.live_class import LiveClass, addresses

LAB = "00_warm_up"


@pytest.fixture
def live(tmp_path, course_at) -> Iterator[LiveClass]:
    course_at("")
    with addresses(tmp_path / "out", LAB) as running:
        yield running
