"""What ``course.toml`` may say: the course's policy as validated values."""

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


def _no_switch(value: Any) -> Any:
    """``true`` would pass for 1."""
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


Number = Annotated[float, BeforeValidator(_no_switch)]
Whole = Annotated[int, BeforeValidator(_no_switch)]
Percent = Annotated[Number, Field(ge=0, le=100)]
Days = Annotated[Number, Field(gt=0, le=366)]


def _end_of_day(value: Any) -> Any:
    """A date without a time, in quotes or not, means its last second: nobody is late on the day itself. A number is no date."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value.strip())
        except ValueError:
            value = datetime.fromisoformat(value.strip())
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time(23, 59, 59))
    if not isinstance(value, datetime):
        raise ValueError("a date is written 2026-10-15 or 2026-10-15T18:00:00")
    return value


def _of_our_time(value: datetime) -> datetime:
    """A year that no course is given in is a slip, and some of them cannot be brought into UTC."""
    if not 1970 < value.year < 2200:
        raise ValueError("a date lies between the years 1971 and 2199")
    return value


DueDate = Annotated[datetime, BeforeValidator(_end_of_day), AfterValidator(_of_our_time)]
#: A new due date, or a number of days on top of the lab's.
Extension = DueDate | Days
#: One name, or several.
Names = tuple[Annotated[str, Field(min_length=1)], ...]

_STRICT = ConfigDict(extra="forbid", frozen=True)


class _Strict(BaseModel):
    model_config = _STRICT


#: A limit's unit -> the most that it may be: more is a slip, and some of it no machine can count.
_MOST_OF = {"_seconds": 604_800, "_bytes": 1 << 50, "": 1_000_000}


def _limit(name: str, kind: Any) -> Any:
    most = next(most for unit, most in _MOST_OF.items() if name.endswith(unit))
    return Annotated[kind, Field(gt=0, le=most)]


#: Any of the sandbox's limits; what is not said stays as it is.
LimitsPolicy: Any = create_model(
    "LimitsPolicy",
    __config__=_STRICT,
    **{
        field.name: (_limit(field.name, Whole if field.type == "int" else Number) | None, None)
        for field in fields(Limits)
    },
)  # type: ignore[call-overload]


class LatePolicy(_Strict):
    """The cost of lateness: a share of the points for each day begun, after a time of grace."""

    percent_per_day: Percent
    at_most_percent: Percent = 100.0
    grace_minutes: Annotated[Number, Field(ge=0, allow_inf_nan=False)] = 0.0


class LivePolicy(_Strict):
    """How the live class (``autograder serve``) takes what students hand in, and what it answers."""

    #: When students see verdicts: all at once, at once but only which questions are right, or once the lab has closed.
    verdicts: Literal["at once", "pass or fail", "after closing"] = "at once"
    #: Attempts of each student for a lab; None: any number.
    attempts: Annotated[Whole, Field(gt=0)] | None = None
    #: The time between two attempts of a student.
    pause_minutes: Annotated[Number, Field(ge=0, le=10_080)] = 0.0
    #: Which attempt is graded for good.
    counts: Literal["best", "last"] = "best"


class LabPolicy(_Strict):
    """The policy of one lab."""

    due: DueDate | None = None
    #: The hard end: what comes in later gets no points, since later labs' bundles hold this one's answers.
    closes: DueDate | None = None
    late: LatePolicy | None = None
    limits: LimitsPolicy = LimitsPolicy()
    #: Points of a question or of a written answer, where they are not to be the master's.
    points: dict[str, Annotated[Number, Field(ge=0, le=1_000_000)]] = {}
    #: Library functions that a question forbids on top of what its public check says.
    forbid: dict[str, Names] = {}
    #: Costs of misconceptions, by question and title, in place of those in the question's file.
    rubric: dict[str, dict[str, Annotated[Number, Field(ge=0, le=1_000_000)]]] = {}
    extensions: dict[str, Extension] = {}
    #: These settings replace those of the course's ``[live]``, one by one.
    live: LivePolicy = LivePolicy()


class _Site(_Strict):
    """From where submissions come."""

    #: The address of its front page.
    site: str
    #: Each lab's assignment, by its name there or the number in the address of its page.
    assignments: dict[str, Whole | Annotated[str, Field(min_length=1)]] = {}

    @field_validator("site")
    @classmethod
    def _safe(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or "@" in parts.netloc:
            raise ValueError("it is no address of a site's front page, such as https://moodle.uni.edu")
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("the token would travel in the clear: write https")
        return value.rstrip("/")

    def assignment(self, lab: str) -> int | str | None:
        """The assignment of a lab (full name), as the file names it."""
        return next((one for key, one in self.assignments.items() if _means(key, lab)), None)


class SystemPolicy(_Site):
    """A learning system that is asked by its own interface: ``autograder moodle``, ``autograder canvas``."""

    #: The course's short name (Canvas: course code), or its number in the address of the course's page.
    course: Whole | Annotated[str, Field(min_length=1)]


class GitHubPolicy(_Site):
    """``autograder github``: the site is the organization's page, an assignment what stands before each login."""

    #: GitHub Classroom's roster (CSV); its path counts from the folder of course.toml.
    roster: str


def _as_word(value: Any) -> Any:
    """A number that a system gives may stand without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _https(value: str) -> str:
    parts = urlsplit(value)
    if (parts.scheme == "https" and parts.hostname) or parts.hostname in ("localhost", "127.0.0.1", "::1"):
        return value
    raise ValueError("it is no address that begins with https://")


Word = Annotated[str, BeforeValidator(_as_word), Field(min_length=1)]
Address = Annotated[str, AfterValidator(_https)]


class LtiPolicy(_Strict):
    """The learning system that launches the live class (``autograder serve --lti``), as it describes our tool."""

    #: How it calls itself, and us.
    issuer: Word
    client_id: Word
    #: Where it signs people in, gives access tokens, and publishes its keys.
    login: Address
    token: Address
    keyset: Address
    deployments: Annotated[tuple[Word, ...], Field(min_length=1)]
    #: The course's number there.
    course: Word
    #: Each lab's resource link, by its number there.
    links: dict[str, Word] = {}

    def lab_of(self, link: str, labs: Iterable[str]) -> str | None:
        """Which of the labs (full names) a resource link is."""
        keys = [key for key, one in self.links.items() if one == link]
        return next((lab for lab in labs if any(_means(key, lab) for key in keys)), None)


def _means(key: str, lab: str) -> bool:
    """Whether a key of the file is the lab's full name or its number."""
    return key == lab or (key.isdigit() and int(key) == int(lab[:2]))


class Settings(_Strict):
    """The whole of ``course.toml``. ``salt`` seeds the hidden tests' inputs and is a secret of the teaching team."""

    name: str = "From Bigrams to Translators"
    salt: str = ""
    #: Whether an answer that uses a forbidden function waits for a person, or gets no points at once.
    forbidden: Literal["ask", "zero"] = "ask"
    #: The least isolation that a class is graded with; Gradescope's containers hold one submission each and take ``reduced``.
    isolation: Literal["namespaces", "reduced"] = "reduced"
    #: The time zone of due dates that name none.
    timezone: str = "UTC"
    #: The class list, a CSV file; its path counts from the folder of course.toml.
    roster: str = ""
    #: The address of an index of packages that has PyTorch's build for processors alone: bundles ask there too.
    torch_index: str = ""
    #: Where the course's pages (``make site``) are published: feedback pages link to its labs and demos.
    site: str = ""
    late: LatePolicy | None = None
    limits: LimitsPolicy = LimitsPolicy()
    #: Students who get so many days more for every lab.
    extensions: dict[str, Days] = {}
    live: LivePolicy = LivePolicy()
    #: Who sees the lecturer's and the teaching team's screens, by their names on the hub.
    team: tuple[str, ...] = ()
    labs: dict[str, LabPolicy] = {}
    moodle: SystemPolicy | None = None
    canvas: SystemPolicy | None = None
    github: GitHubPolicy | None = None
    lti: LtiPolicy | None = None

    @field_validator("site")
    @classmethod
    def _site(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s\"'<>]+", value):
            raise ValueError("it is no address of a site, such as https://example.org/course/")
        return value

    @field_validator("torch_index")
    @classmethod
    def _address(cls, value: str) -> str:
        if value and not re.fullmatch(r"(https?|file)://\S+", value):
            raise ValueError("it is no address of an index, such as https://…/whl/cpu")
        if "@" in urlsplit(value).netloc:
            raise ValueError(
                "every student's bundle holds this address, so no name and no password may stand in it"
            )
        return value

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"there is no time zone “{value}”, try one like Europe/Berlin") from None
        return value

    def lab(self, name: str) -> LabPolicy:
        """The policy of a lab (full name), which the file may call by its number."""
        for key, policy in self.labs.items():
            if _means(key, name):
                return policy
        return LabPolicy()

    def of_one_lab(self, name: str) -> Settings:
        """The policy for grading one lab (full name) elsewhere, without salt, other labs, and students' names."""
        kept = {"name", "forbidden", "isolation", "timezone", "site", "late", "limits", "live"}
        own = self.lab(name).model_copy(update={"extensions": {}})
        return Settings(**self.model_dump(include=kept, exclude_unset=True), labs={name: own})

    def live_of(self, lab: str) -> LivePolicy:
        """The live class's policy for a lab."""
        return self.live.model_copy(update=self.lab(lab).live.model_dump(exclude_unset=True))

    def due(self, lab: str) -> datetime | None:
        """When the lab is due (or closes, if that is all that is said), in UTC without a zone, as nbgrader stores it."""
        due = self.lab(lab).due or self.lab(lab).closes
        return self._utc(due) if due is not None else None

    def closes(self, lab: str, longer: timedelta | None = None) -> datetime | None:
        """When the lab closes for good, in UTC without a zone; None when it does not.

        An extension (``longer``) moves the closing as far on the course's clock as it moves the due date.
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
        """A time in UTC without a zone, as the course's clock shows it."""
        return when.replace(tzinfo=UTC).astimezone(ZoneInfo(self.timezone))

    def extended(self, lab: str) -> Mapping[str, datetime | float]:
        """The extensions for a lab, by the names in the file; the lab's own come before those for all labs."""
        return {**self.extensions, **self.lab(lab).extensions}

    def extension(self, lab: str, student: str) -> timedelta | None:
        """The extension of somebody with this name in the file; None without one."""
        own = self.extended(lab).get(student)
        if isinstance(own, datetime):
            due = self.due(lab)
            return self._utc(own) - due if due is not None else None
        return self.longer(lab, own) if own is not None else None

    def longer(self, lab: str, days: float) -> timedelta:
        """The length of so many days on the course's clock: the due hour stays the same when summer time begins or ends."""
        due = self.due(lab)
        if due is None:
            return timedelta(days=days)
        return self._later(due, int(days)) + timedelta(days=days % 1) - due

    def days_of(self, lab: str, longer: timedelta) -> float:
        """The days of an extension on the course's clock: the inverse of ``longer``."""
        due = self.due(lab)
        # Python subtracts times of one zone as their clocks show them.
        shown = longer if due is None else self.local(due + longer) - self.local(due)
        return shown / timedelta(days=1)

    def days_begun(self, due: datetime, received: datetime) -> int:
        """The days begun from ``due`` to ``received`` (UTC, without a zone). Each ends at the due date's hour on the course's clock."""
        surely_over = max(0, (received - due).days - 1)
        return next(days for days in count(surely_over) if received <= self._later(due, days))

    def penalty(
        self, lab: str, score: float, seconds_late: float, due: datetime | None = None
    ) -> float | None:
        """The points that lateness takes off, all of them once the lab has closed; None for nothing.

        ``due``: when it was due, the student's extension included (UTC, without a zone); None for the lab's own due date.
        """
        if self.is_closed(lab, seconds_late, due):
            return score
        rule, due = self.lab(lab).late or self.late, due or self.due(lab)
        if rule is None or due is None or seconds_late <= 60 * rule.grace_minutes:
            return None
        days = self.days_begun(due, due + timedelta(seconds=seconds_late))
        return round(score * min(rule.percent_per_day * days, rule.at_most_percent) / 100, 2)

    def has_late_rule(self, lab: str) -> bool:
        """Whether the course says anything about lateness; if not, the gradebook's penalties stay."""
        own = self.lab(lab)
        return (own.late or self.late) is not None or own.closes is not None

    def _later(self, when: datetime, days: float) -> datetime:
        """``days`` after ``when`` on the course's clock; both in UTC without a zone."""
        local = self.local(when)
        return self._utc((local + timedelta(days=days)).replace(fold=local.fold))

    def _utc(self, when: datetime) -> datetime:
        if when.tzinfo is None:
            when = when.replace(tzinfo=ZoneInfo(self.timezone))
        return when.astimezone(UTC).replace(tzinfo=None)
