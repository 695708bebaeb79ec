"""A course in a fake learning system, ``site``, which each file of tests chooses."""

from __future__ import annotations

import pytest
from requests.adapters import HTTPAdapter

from tests.systems.fake_site import TOKEN, Course


@pytest.fixture
def course(site, tmp_path, course_at, spec, make_result, monkeypatch):
    monkeypatch.setattr(HTTPAdapter, "send", site.send)
    monkeypatch.setenv(f"{site.name.upper()}_TOKEN", TOKEN)
    monkeypatch.setattr("autograder.cli.systems.refuse_world_readable", lambda *_: None)  # tmp_path may be
    made = Course(site, tmp_path / "submitted", course_at, spec, make_result)
    made.write(*site.course_toml)
    return made
