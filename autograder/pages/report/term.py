"""What a term's results say: each student over the labs, who is falling behind and on which idea, what is misunderstood.

Plain values and the rules that judge them; ``term_page`` draws them, ``run/term`` gathers them.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

#: Falling behind: less than this share of the points over the last so many labs ...
LOW_SHARE = 0.5
RECENT = 2
#: ... or so much less than the student's own share in the labs before them.
FALL = 0.25
#: Ideas that are named for a student who is falling behind.
IDEAS = 3


@dataclass(frozen=True)
class Idea:
    """A question that cost points, and what is behind it: a misconception's title, or another cause in words."""

    lab: str
    question: str
    title: str
    lost: float
    misconception: bool = False


@dataclass(frozen=True)
class Entry:
    """One student's one lab. ``points`` are final (people's points in, lateness off); ``most`` can be reached."""

    status: str
    points: float
    most: float
    #: Points of written answers that nobody has read yet: they are in ``most``, and count neither way until then.
    waiting: float = 0.0
    late_penalty: float = 0.0
    seconds_late: float = 0.0
    #: Whether an extension was given, and whether the submission came in on it.
    extension: bool = False
    extension_used: bool = False
    #: A due date, and no time to hold against it.
    undated: bool = False
    #: The grader itself failed: there is no grade.
    fault: bool = False
    #: The grader itself failed on what came since: the points are of an earlier time.
    earlier: bool = False
    #: The folder that it was handed in under.
    folder: str = ""
    ideas: tuple[Idea, ...] = ()

    @property
    def missing(self) -> bool:
        """Whether nothing was handed in."""
        return self.status == "missing"

    @property
    def open(self) -> bool:
        """Whether the points are not final."""
        return bool(self.waiting or self.undated or self.fault or self.earlier)

    @property
    def settled(self) -> float:
        """The points that are decided, one way or the other."""
        return 0.0 if self.fault else max(0.0, self.most - self.waiting)


@dataclass(frozen=True)
class Student:
    """A student over the term. ``entries``: lab -> what became of it, for every graded lab."""

    student: str
    name: str = ""
    section: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """All points so far."""
        return sum(entry.points for entry in self.entries.values())

    @property
    def share(self) -> float | None:
        """The share of the decided points, between 0 and 1 (more with extra credit); None when none are decided."""
        return share_of(self.entries.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """The labs of which nothing was handed in."""
        return tuple(lab for lab, entry in self.entries.items() if entry.missing)

    @property
    def open(self) -> tuple[str, ...]:
        """The labs whose points are not final: an answer waits for a person, a time is not known, the grader failed."""
        return tuple(lab for lab, entry in self.entries.items() if entry.open)

    @property
    def late(self) -> tuple[str, ...]:
        """The labs that came in late."""
        return tuple(lab for lab, entry in self.entries.items() if entry.seconds_late > 0)

    @property
    def extensions(self) -> tuple[int, int]:
        """How many extensions were given, and how many labs came in on one."""
        entries = self.entries.values()
        return sum(e.extension for e in entries), sum(e.extension_used for e in entries)

    @property
    def behind(self) -> tuple[str, ...]:
        """Why the student counts as falling behind, a phrase each; nothing for who does not."""
        labs = list(self.entries)
        recent, earlier = labs[-RECENT:], labs[:-RECENT]
        why = []
        if self.missing and self.missing[-1] == labs[-1]:
            why.append("nothing handed in for the latest lab")
        if len(self.missing) > 1:
            why.append(f"{len(self.missing)} of {len(labs)} labs missing")
        now = share_of(self.entries[lab] for lab in recent)
        before = share_of(self.entries[lab] for lab in earlier)
        over = "the last two labs" if len(recent) == RECENT else "the lab"
        if now is not None and now < LOW_SHARE:
            why.append(f"{100 * now:.0f}% of the points over {over}")
        elif now is not None and before is not None and before - now >= FALL:
            why.append(f"{100 * now:.0f}% over {over} after {100 * before:.0f}% before")
        return tuple(why)

    @property
    def ideas(self) -> tuple[Idea, ...]:
        """What the lost points of the last labs were about, the costliest first; named misconceptions before others."""
        recent = list(self.entries)[-RECENT:]
        ideas = [idea for lab in recent for idea in self.entries[lab].ideas]
        return tuple(sorted(ideas, key=lambda idea: (not idea.misconception, -idea.lost))[:IDEAS])


def share_of(entries: Iterable[Entry]) -> float | None:
    """The share of the decided points that some labs' entries have; None when no point is decided."""
    several = list(entries)
    most = sum(entry.settled for entry in several)
    return sum(entry.points for entry in several if not entry.fault) / most if most > 0 else None


@dataclass(frozen=True)
class Lab:
    """A graded lab: its full name, its title, when it was due (local, in words; "" without a date), what to hear about it."""

    name: str
    title: str
    most: float
    due: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabSummary:
    """How a lab went."""

    lab: Lab
    handed_in: int
    missing: int
    late: int
    extensions: int
    open: int
    median: float | None


@dataclass(frozen=True)
class Misconception:
    """A misconception over the term: for each lab and question where it was seen, who held it, of how many submissions."""

    title: str
    hint: str
    #: (lab, question, students, submissions of that lab that could be read)
    places: tuple[tuple[str, str, tuple[str, ...], int], ...]

    @property
    def students(self) -> int:
        """How many students held it at least once."""
        return len({student for _, _, students, _ in self.places for student in students})

    @property
    def share(self) -> float:
        """The share of the submissions of the labs where it was seen."""
        read = {lab: submissions for lab, _, _, submissions in self.places}
        holders = {(lab, student) for lab, _, students, _ in self.places for student in students}
        return len(holders) / max(1, sum(read.values()))


@dataclass(frozen=True)
class Term:
    """The whole course so far."""

    name: str
    labs: tuple[Lab, ...]
    students: tuple[Student, ...]
    hints: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def most(self) -> float:
        """The points of all graded labs, written answers in."""
        return sum(lab.most for lab in self.labs)

    @property
    def behind(self) -> tuple[Student, ...]:
        """Who is falling behind, the smallest share first."""
        low = [student for student in self.students if student.behind]
        return tuple(sorted(low, key=lambda student: (student.share or 0.0, student.student.casefold())))

    @property
    def summaries(self) -> tuple[LabSummary, ...]:
        """How each lab went."""
        return tuple(self._summary(lab) for lab in self.labs)

    def _summary(self, lab: Lab) -> LabSummary:
        entries = [student.entries[lab.name] for student in self.students]
        there = [entry for entry in entries if not entry.missing]
        shares = [share for entry in there if (share := share_of([entry])) is not None]
        return LabSummary(
            lab,
            len(there),
            len(entries) - len(there),
            sum(entry.seconds_late > 0 for entry in entries),
            sum(entry.extension_used for entry in entries),
            sum(entry.open for entry in entries),
            statistics.median(shares) if shares else None,
        )

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """What was misunderstood, the widest spread first."""
        read: dict[str, int] = defaultdict(int)
        holders: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
        for student in self.students:
            for lab, entry in student.entries.items():
                read[lab] += entry.status not in ("missing", "unreadable") and not entry.fault
                for idea in entry.ideas:
                    if idea.misconception:
                        holders[idea.title][lab, idea.question].append(student.student)
        found = [
            Misconception(
                title,
                self.hints.get(title, ""),
                tuple(
                    (*place, tuple(students), read[place[0]]) for place, students in sorted(places.items())
                ),
            )
            for title, places in holders.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.share, one.title)))

    def as_json(self) -> dict[str, Any]:
        """The term for ``report --json``: labs, students with every lab's entry, misconceptions with their shares."""
        return {
            "course": self.name,
            "labs": [asdict(lab) for lab in self.labs],
            "students": [
                {
                    **asdict(student),
                    "points": student.points,
                    "share": student.share,
                    "missing": student.missing,
                    "behind": student.behind,
                    "ideas": [asdict(idea) for idea in student.ideas],
                }
                for student in self.students
            ],
            "misconceptions": [
                {**asdict(found), "students": found.students, "share": found.share}
                for found in self.misconceptions
            ],
            "remarks": list(self.remarks),
        }
