"""The lab's assignment in a fake learning system, ``site``, which each file of tests chooses."""

from __future__ import annotations

import pytest
from requests.adapters import HTTPAdapter

from autograder.cli.systems import SYSTEMS
from tests.systems.fake_site import TOKEN


@pytest.fixture
def system(site, course_at, monkeypatch):
    """``system(assignment, policy, state)`` asks the site; ``policy`` is the rest of course.toml."""
    monkeypatch.setattr(HTTPAdapter, "send", site.send)
    monkeypatch.setenv(f"{site.name.upper()}_TOKEN", TOKEN)

    def ask(assignment="2", policy="", state=""):
        table = site.name.lower()
        course = f'[{table}]\nsite = "{site.site}"\ncourse = "NLP-2026"\n[{table}.assignments]\n00 = {assignment}\n'
        course_at(f"{policy}\n{course}")
        return SYSTEMS[site.name]("00_warm_up", state)

    return ask
