"""The course's policy as data: ``course.toml``, validated before anything runs."""

from __future__ import annotations

import os
import secrets
import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from autograder.errors import UserError
from autograder.masters import course_root


class Settings(BaseModel):
    """The course's settings. ``salt`` seeds the hidden tests' inputs and is a secret of the teaching team."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "From Bigrams to Translators"
    salt: str = ""


@cache
def settings() -> Settings:
    """The settings of this course; the salt is made once, on first use, and kept beside the course."""
    path = course_root() / "course.toml"
    values = {}
    if path.exists():
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"{path} is not valid TOML: {error}.") from None
    try:
        read = Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{path}: “{'.'.join(map(str, first['loc']))}” is wrong: {first['msg']}.") from None
    return read if read.salt else read.model_copy(update={"salt": _own_salt()})


def _own_salt() -> str:
    """``COURSE_SALT``, or a random one in ``.course-salt``, which git ignores and only its owner may read."""
    if os.environ.get("COURSE_SALT"):
        return os.environ["COURSE_SALT"]
    path = course_root() / ".course-salt"
    try:
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(16))
        return Path(path).read_text().strip()
    except OSError as error:
        raise UserError(f"The course's salt {path} cannot be read or made: {error.strerror}.") from None
