"""The settings of ``course.toml``: the course's policy, with validation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    field_validator,
)

from autograder.sandbox.limits import Limits


def _refuse_boolean(value: Any) -> Any:
    """Refuse ``true``, which Python takes for 1."""
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


Number = Annotated[float, BeforeValidator(_refuse_boolean)]
Whole = Annotated[int, BeforeValidator(_refuse_boolean)]
Percent = Annotated[Number, Field(ge=0, le=100)]
Days = Annotated[Number, Field(gt=0, le=366)]


def _end_of_day(value: Any) -> Any:
    """Turn a date without a time into its last second, so that nobody is late on the day itself. Refuse numbers."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value.strip())
        except ValueError:
            value = datetime.fromisoformat(value.strip())
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(23, 59, 59))
    if not isinstance(value, datetime):
        raise ValueError("a date is written 2026-10-15 or 2026-10-15T18:00:00")
    if not 1970 < value.year < 2200:  # a typing mistake, and perhaps nothing that can be converted to UTC
        raise ValueError("a date lies between the years 1971 and 2199")
    return value


DueDate = Annotated[datetime, BeforeValidator(_end_of_day)]
#: A new due date, or a number of days after the lab's.
Extension = DueDate | Days
#: One name, or several.
Names = tuple[Annotated[str, Field(min_length=1)], ...]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


#: A limit's unit -> its largest value: more is a typing mistake or too large for the machine.
_MOST_OF = {"seconds": 604_800, "bytes": 1 << 50}


def _limit(name: str, kind: Any) -> Any:
    most = _MOST_OF.get(name.rpartition("_")[2], 1_000_000)
    return Annotated[Whole if kind == "int" else Number, Field(gt=0, le=most)] | None, None


#: Any of the sandbox's limits; others keep their defaults.
LimitsPolicy: Any = create_model(
    "LimitsPolicy",
    __base__=_Strict,
    **{field.name: _limit(field.name, field.type) for field in fields(Limits)},
)


class LatePolicy(_Strict):
    """The penalty for lateness: a share of the points for each started day, after a time of grace."""

    percent_per_day: Percent
    at_most_percent: Percent = 100.0
    grace_minutes: Annotated[Number, Field(ge=0, allow_inf_nan=False)] = 0.0


class LivePolicy(_Strict):
    """The rules of the live class (``autograder serve``) for attempts and verdicts."""

    #: When students see verdicts: everything at once; at once, but only which questions are right; after the lab closed.
    verdicts: Literal["at once", "pass or fail", "after closing"] = "at once"
    #: The most attempts of a student at a lab; None: any number.
    attempts: Annotated[Whole, Field(gt=0)] | None = None
    #: The shortest time between two attempts of a student.
    pause_minutes: Annotated[Number, Field(ge=0, le=10_080)] = 0.0
    #: The attempt that counts for the grade.
    counts: Literal["best", "last"] = "best"


class LabPolicy(_Strict):
    """The policy of one lab."""

    due: DueDate | None = None
    #: Submissions after this time get no points, because later labs' bundles hold this lab's answers.
    closes: DueDate | None = None
    late: LatePolicy | None = None
    limits: LimitsPolicy = LimitsPolicy()
    #: Points of questions and written answers that replace the master's.
    points: dict[str, Annotated[Number, Field(ge=0, le=1_000_000)]] = {}
    #: Library functions that a question forbids in addition to those of its public check.
    forbid: dict[str, Names] = {}
    #: Costs of misconceptions, by question and title, that replace those in the question's file.
    rubric: dict[str, dict[str, Annotated[Number, Field(ge=0, le=1_000_000)]]] = {}
    extensions: dict[str, Extension] = {}
    #: These settings replace those of the course's ``[live]``, one by one.
    live: LivePolicy = LivePolicy()


def _address(what: str, form: str, *, is_secret: bool = False) -> AfterValidator:
    """Check an address of ``what``: no password; if secrets travel to it, https or this machine."""

    def checked(value: str) -> str:
        parts = urlsplit(value)
        if not re.fullmatch(form, value):
            raise ValueError(f"it is no address of {what}")
        if "@" in parts.netloc:
            raise ValueError(f"it is no address of {what}: no name and no password may stand in it")
        if is_secret and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("the token would travel in the clear: write https")
        return value

    return AfterValidator(checked)


FrontPage = Annotated[
    str,
    _address("a site's front page, such as https://moodle.uni.edu", r"https?://[^\s?]+", is_secret=True),
    AfterValidator(lambda value: value.rstrip("/")),
]
Endpoint = Annotated[str, _address("a page that begins with https://", r"https?://\S+", is_secret=True)]
Index = Annotated[str, _address("an index, such as https://…/whl/cpu", r"((https?|file)://\S+)?")]
Site = Annotated[str, _address("a site, such as https://example.org/course/", r"(https?://[^\s\"'<>]+)?")]


class _Site(_Strict):
    """A site from which submissions come."""

    #: The address of its front page.
    site: FrontPage
    #: Lab -> its assignment's name on the site, or the number in the address of its page.
    assignments: dict[str, Whole | Annotated[str, Field(min_length=1)]] = {}

    def assignment(self, lab: str) -> int | str | None:
        """The assignment of a lab (full name): its name or number."""
        return next((one for key, one in self.assignments.items() if is_key_of(key, lab)), None)


class SystemPolicy(_Site):
    """A learning system with an API: ``autograder moodle``, ``autograder canvas``."""

    #: The course's short name (Canvas: course code), or its number in the address of the course's page.
    course: Whole | Annotated[str, Field(min_length=1)]


class GitHubPolicy(_Site):
    """``autograder github``: the site is the organization's page; an assignment is the repository's name before the login."""

    #: The path of GitHub Classroom's roster (CSV), relative to the folder of course.toml.
    roster: str


#: A name; a number may be written without quotes.
Word = Annotated[str, Field(min_length=1, coerce_numbers_to_str=True)]


class LtiPolicy(_Strict):
    """The learning system that launches the live class (``autograder serve --lti``): the values that it shows for the tool."""

    #: The names that it gives to itself and to this tool.
    issuer: Word
    client_id: Word
    #: Its addresses for sign-in, access tokens and public keys.
    login: Endpoint
    token: Endpoint
    keyset: Endpoint
    deployments: Annotated[tuple[Word, ...], Field(min_length=1)]
    #: The course's number in the system.
    course: Word
    #: Lab -> the number of its resource link in the system.
    links: dict[str, Word] = {}

    def lab_of(self, link: str, labs: Iterable[str]) -> str | None:
        """The lab, among ``labs`` (full names), of a resource link; None for an unknown link."""
        keys = [key for key, one in self.links.items() if one == link]
        return next((lab for lab in labs if any(is_key_of(key, lab) for key in keys)), None)


def is_key_of(key: str, lab: str) -> bool:
    """Whether a key of the file is the lab's full name or its number."""
    return key == lab or (key.isdigit() and int(key) == int(lab[:2]))


class Settings(_Strict):
    """All settings of ``course.toml``. ``salt``, a secret of the team, seeds the hidden tests' inputs."""

    name: str = "From Bigrams to Translators"
    salt: str = ""
    #: Whether an answer that uses a forbidden function waits for a person, or gets no points at once.
    forbidden: Literal["ask", "zero"] = "ask"
    #: The least isolation for grading a class. Gradescope's containers hold one submission each and use ``reduced``.
    isolation: Literal["namespaces", "reduced"] = "reduced"
    #: The time zone of due dates without one.
    timezone: str = "UTC"
    #: The path of the class list (CSV), relative to the folder of course.toml.
    roster: str = ""
    #: The address of a package index with PyTorch's CPU build, which bundles use in addition.
    torch_index: Index = ""
    #: The address of the course's published pages (``make site``): feedback pages link to their labs and demos.
    site: Site = ""
    late: LatePolicy | None = None
    limits: LimitsPolicy = LimitsPolicy()
    #: Student -> additional days for every lab.
    extensions: dict[str, Days] = {}
    live: LivePolicy = LivePolicy()
    #: The people who see the lecturer's and the team's screens, by their names on the hub.
    team: tuple[str, ...] = ()
    labs: dict[str, LabPolicy] = {}
    moodle: SystemPolicy | None = None
    canvas: SystemPolicy | None = None
    github: GitHubPolicy | None = None
    lti: LtiPolicy | None = None

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"there is no time zone “{value}”, try one like Europe/Berlin") from None
        return value

    def lab(self, name: str) -> LabPolicy:
        """The policy of a lab (full name), which the file may name by its number."""
        return next((policy for key, policy in self.labs.items() if is_key_of(key, name)), LabPolicy())

    def of_one_lab(self, name: str) -> Settings:
        """The policy for grading one lab (full name) on another machine: without salt, other labs and students' names."""
        kept = {"name", "forbidden", "isolation", "timezone", "site", "late", "limits", "live"}
        own = self.lab(name).model_copy(update={"extensions": {}})
        return Settings(**self.model_dump(include=kept, exclude_unset=True), labs={name: own})

    def live_of(self, lab: str) -> LivePolicy:
        """The live class's policy for a lab."""
        return self.live.model_copy(update=self.lab(lab).live.model_dump(exclude_unset=True))

    def due(self, lab: str) -> datetime | None:
        """When the lab is due (or else closes), in UTC without a zone, as nbgrader stores it; None if neither is set."""
        due = self.lab(lab).due or self.lab(lab).closes
        return self._utc(due) if due is not None else None

    def closes(self, lab: str, longer: timedelta | None = None) -> datetime | None:
        """When the lab closes for good, in UTC without a zone; None if it does not.

        An extension (``longer``) moves the closing time as far as the due date, in the course's local time.
        """
        due, closes = self.due(lab), self.lab(lab).closes
        if due is None or closes is None:
            return None
        closes = self._utc(closes)
        return max(due + longer, self._later(closes, self.days_of(lab, longer))) if longer else closes

    def is_closed(self, lab: str, seconds_late: float, due: datetime | None = None) -> bool:
        """Whether a submission came in after the lab had closed. ``due``: see ``penalty``."""
        lab_due = self.due(lab)
        if lab_due is None:
            return False
        own = due or lab_due
        closes = self.closes(lab, own - lab_due)
        return closes is not None and own + timedelta(seconds=seconds_late) > closes

    def local(self, when: datetime) -> datetime:
        """Convert a time in UTC without a zone to the course's local time."""
        return when.replace(tzinfo=UTC).astimezone(ZoneInfo(self.timezone))

    def extended(self, lab: str) -> Mapping[str, datetime | float]:
        """Name in the file -> extension for a lab. The lab's own extensions come before those for all labs."""
        return {**self.extensions, **self.lab(lab).extensions}

    def length_of(self, lab: str, longer: datetime | float) -> timedelta | None:
        """The length of an extension to a date (None: the lab has no due date), or by days of local time.

        The due hour stays the same across summer time changes.
        """
        due = self.due(lab)
        if isinstance(longer, datetime):
            return self._utc(longer) - due if due is not None else None
        if due is None:
            return timedelta(days=longer)
        return self._later(due, int(longer)) + timedelta(days=longer % 1) - due

    def days_of(self, lab: str, longer: timedelta) -> float:
        """The days of local time of an extension: the inverse of ``length_of``."""
        due = self.due(lab)
        # Python subtracts times of the same zone as local times.
        shown = longer if due is None else self.local(due + longer) - self.local(due)
        return shown / timedelta(days=1)

    def days_begun(self, due: datetime, received: datetime) -> int:
        """The started days from ``due`` to ``received`` (UTC, without a zone). A day ends at the due hour in local time."""
        surely_over = max(0, (received - due).days - 1)
        return next(days for days in count(surely_over) if received <= self._later(due, days))

    def penalty(
        self, lab: str, score: float, seconds_late: float, due: datetime | None = None
    ) -> float | None:
        """The points that a late submission loses, all of them after the lab has closed; None for nothing.

        ``due``: the due date with the student's extension (UTC, without a zone); None for the lab's own due date.
        """
        if self.is_closed(lab, seconds_late, due):
            return score
        rule, due = self.lab(lab).late or self.late, due or self.due(lab)
        if rule is None or due is None or seconds_late <= 60 * rule.grace_minutes:
            return None
        days = self.days_begun(due, due + timedelta(seconds=seconds_late))
        return round(score * min(rule.percent_per_day * days, rule.at_most_percent) / 100, 2)

    def has_late_rule(self, lab: str) -> bool:
        """Whether the policy has a rule about lateness. If not, the gradebook's penalties stay."""
        own = self.lab(lab)
        return (own.late or self.late) is not None or own.closes is not None

    def _later(self, when: datetime, days: float) -> datetime:
        """The time ``days`` of local time after ``when``; both in UTC without a zone."""
        local = self.local(when)
        return self._utc((local + timedelta(days=days)).replace(fold=local.fold))

    def _utc(self, when: datetime) -> datetime:
        if when.tzinfo is None:
            when = when.replace(tzinfo=ZoneInfo(self.timezone))
        return when.astimezone(UTC).replace(tzinfo=None)
