"""The course's page, built once for those who look at the site and at its slides."""

from __future__ import annotations

from pathlib import Path

import pytest
from coursekit.demos import site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, two below its host's root."""
    folder = tmp_path_factory.mktemp("host") / "deep" / "course"
    site.write(folder)
    return folder
