"""The command ``autograder``: one function for each subcommand. A ``UserError`` gives one sentence and exit status 2."""

from __future__ import annotations

import autograder.startup.lean_imports  # noqa: F401 (before the imports that it makes faster)

# isort: split
import errno
import io
import json
import os
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperArgument, TyperOption

from autograder.errors import UserError, require_assertions

#: The panels of ``--help``, by role. They appear in the order of the commands below.
GRADE, LIVE = "The teaching team grades a class", "The lecturer runs a live class"
PREPARE, WRITE = "Before the term", "Authors write labs"


# In --help a type is shown only where an option names it: no "<bool>" behind a flag, no "<str>" behind an argument.
TyperArgument.display_type_rich = lambda self, ctx: None  # type: ignore[method-assign]
TyperOption.display_type_rich = lambda self, ctx: self.metavar  # type: ignore[method-assign]
app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    add_completion=False,
)
# A pipe or log file has no width: rich's default of 80 columns would break paths.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)


_OPTIONS = tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))


def _full_name(lab: str) -> str:
    from autograder.course.masters import lab_name

    return lab_name(lab)


def _given(name: str, **more: Any) -> Any:
    """The argument or option of ``options.toml`` with this name. Where it says LAB, a lab's number will do."""
    typed, help_, *limits = _OPTIONS[name.strip("_")]
    more |= {"help": help_, **({"parser": _full_name} if "LAB" in typed else {}), **dict(*limits)}
    if not typed.startswith("-"):
        return typer.Argument(metavar=typed, **more)
    option, _, metavar = typed.partition(" ")
    return typer.Option(option, metavar=metavar or None, **more)


def _command(panel: str, under: typer.Typer = app) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function a command, whose parameters have the names of ``options.toml``."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function)
        function.__annotations__ = {
            name: hint if name == "return" else Annotated[hint, _given(name)] for name, hint in hints.items()
        }
        name = function.__name__.strip("_").replace("_", "-")
        return under.command(name, rich_help_panel=panel)(function)

    return add


def _show_version(wanted: bool) -> None:
    if wanted:
        from autograder import __version__

        console.print(f"autograder {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, _given("version", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Grade notebooks safely, and say what each student misunderstood.

    To grade lab 07 of everybody in the folder “submitted”:

    [bold]autograder grade 07 --submitted submitted --out graded[/]
    """


def _labs(labs: list[str] | None) -> list[str]:
    from autograder.course.masters import all_labs

    return labs or all_labs()


def _write_json(path: Path | None, data: object) -> None:
    if path is not None:
        from autograder.course.student_files import refuse_world_readable
        from autograder.files import write_atomically

        refuse_world_readable(path)
        write_atomically(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


@_command(GRADE)
def grade(
    lab: str,
    submitted: Path,
    out: Path,
    jobs: int | None = None,
    engine: str = "local",
    json_file: Path | None = None,
) -> None:
    """Grade a class; what is already graded and unchanged is kept."""
    from autograder.cli.grade import grade_and_show

    grade_and_show(console, lab, submitted, out, json_file, say_why=False, jobs=jobs, engine=engine)


@_command(GRADE)
def regrade(
    lab: str,
    submitted: Path,
    out: Path,
    jobs: int | None = None,
    engine: str = "local",
    all_: bool = False,
    json_file: Path | None = None,
) -> None:
    """Grade again what changed, and say what was redone and why."""
    from autograder.cli.grade import grade_and_show

    grade_and_show(
        console, lab, submitted, out, json_file, say_why=True, jobs=jobs, engine=engine, force=all_
    )


@_command(GRADE)
def report(graded: Path, lab_or_term: str | None = None) -> None:
    """Write the class report of a lab again, or the whole term's: with the points that people entered in Formgrader.

    The term's says what each student has over the labs, and who is falling behind on which idea.
    """
    from autograder.cli.rewrite import rewrite, write_term

    paths = [rewrite(lab_or_term, graded)[0]] if lab_or_term else write_term(graded, console)[1]
    for path in paths:
        console.print(f"✓ {path}", markup=False)


@_command(GRADE)
def feedback(lab: str, graded: Path) -> None:
    """Write every feedback page again, with the scores and comments that people entered in Formgrader."""
    from autograder.cli.rewrite import rewrite

    console.print(f"✓ {rewrite(lab, graded)[1]} pages in {graded / 'feedback'}")


@_command(GRADE)
def export(
    form: str, lab: str, graded: Path, export_to: Path | None = None, roster: Path | None = None
) -> None:
    """Write the results, with what people entered in Formgrader, for another system."""
    from autograder.cli.rewrite import export_results
    from autograder.cli.say import say
    from autograder.course.student_files import refuse_world_readable

    refuse_world_readable(*filter(None, [export_to]))
    made = export_results(form, lab, graded, export_to, roster=roster)
    folder = os.path.commonpath(made.paths) if made.paths else ""
    say(console, "export", paths=made.paths, folder=folder, notes=made.notes)


@_command(GRADE)
def collect(source: Path, lab: str, collected: Path, kind: str = "auto", times: Path | None = None) -> None:
    """Put the notebooks of a bulk download (Canvas, Moodle, or a folder a student) where grading looks for them."""
    from autograder.cli.say import say
    from autograder.collect import collect as gather

    done = gather(source, collected, lab, kind=kind, times=times)
    say(console, "collect", done=done, submitted=collected)


@_command(GRADE)
def formgrader(graded: Path, lab_port: int = 8888, browser: bool = True) -> None:
    """Open nbgrader's Formgrader on a graded class."""
    from autograder.nbgrader_plugin.formgrader import serve

    raise typer.Exit(serve(graded, lab_port, browser))


@_command(LIVE)
def serve(
    labs_taken: list[str],
    live: Path,
    port: int = 8787,
    address: str = "127.0.0.1",
    url: str | None = None,
    jobs: int | None = None,
    hub: bool = False,
    lti: bool = False,
) -> None:
    """Run a live class: students get verdicts at once, the lecturer sees the room's misconceptions."""
    from autograder.cli.serve import serve as run

    if hub and lti:
        raise UserError("Give --hub or --lti: only one of them can identify people.")
    run(console, labs_taken, live, address, port, url, jobs, hub=hub, lti=lti)


@_command(LIVE)
def invite(
    live: Path,
    names: list[str] | None = None,
    team: list[str] | None = None,
    served_at: str = "http://localhost:8787/",
    links_to: Path | None = None,
) -> None:
    """Make invitation links to a live class for the class list's students, without a hub."""
    from autograder.cli.serve import invite as make

    make(console, live, names or [], team or [], served_at, links_to or live / "invitations.csv")


@_command(PREPARE)
def release(lab: str, bundle: Path) -> None:
    """Write a student's bundle: the notebook, the kit, the data; no solution, no hidden test."""
    from autograder.cli.say import say
    from autograder.course.packages import fetches_cuda
    from autograder.course.release import release as write
    from autograder.course.soundness import require_sound

    require_sound([lab])
    say(console, "release", notebook=write(lab, bundle), fetches_cuda=fetches_cuda(lab))


@_command(PREPARE)
def simulate(lab: str, class_: Path, students: int = 30, hostile: bool = True) -> None:
    """Make a class of submissions: honest, wrong in named ways, unlucky, broken, hostile."""
    from collections import Counter

    from autograder.audit.simulate import simulate as write
    from autograder.course.soundness import require_sound

    require_sound([lab])
    kinds = Counter(write(lab, students, class_, hostile=hostile).values())
    console.print(
        f"✓ {students} submissions in {class_}: "
        + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    )


@_command(PREPARE)
def check_course() -> None:
    """Check the course's policy (course.toml) and class list, and show what follows for each lab."""
    from autograder.cli.check_course import show

    show(console)


@_command(WRITE)
def build(labs: list[str] | None = None, check: bool = False, force: bool = False) -> None:
    """Write the instructor's and students' notebooks from the masters, and the cards' data from the questions' files."""
    from autograder.course import build as building
    from autograder.course.soundness import require_sound
    from autograder.questions.engine.card import card_drift, write_card

    names = _labs(labs)
    for note in require_sound(names, unfinished=not check):
        console.print(f"! {note}", markup=False)
    drifted = False
    for lab in names:
        if check:
            done, drift = "", building.drift_of(lab) or card_drift(lab)
        else:
            with console.status(f"building {lab} …"):
                write_card(lab)
                executed, drift = building.build(lab, force=force)
            done = "executed" if executed else "unchanged"
        drifted |= bool(drift)
        console.print(f"{'✗' if drift else '✓'} {lab}  {drift or done}")
    if drifted:
        console.print(
            "Run `autograder build` and commit the changed files."
            if check
            else "Correct the master and build again."
        )
        raise typer.Exit(1)


@_command(WRITE)
def new_lab(new_name: str, questions: str) -> None:
    """Write the files of a new lab: the first question worked out in full, stubs for the others. Overwrites nothing."""
    from autograder.cli.say import say
    from autograder.course.new_lab import new_lab as write
    from autograder.course.new_lab import parse_questions

    points = parse_questions(questions)
    say(console, "new_lab", paths=write(new_name, points), stubs=list(points)[1:], number=new_name[:2])


@_command(WRITE)
def import_(notebook: Path, import_name: str | None = None, json_file: Path | None = None) -> None:
    """Make a lab of an nbgrader notebook, so that its class can be graded here. Overwrites nothing."""
    from autograder.cli.imported import show
    from autograder.importing.bring_in import import_notebook

    with console.status(f"trying {notebook.name} on its own answers …"):
        imported = import_notebook(notebook, import_name)
    _write_json(json_file, show(console, imported))


@_command(WRITE)
def audit(labs: list[str] | None = None, json_file: Path | None = None) -> None:
    """Prove that the hidden tests catch every misconception and accept every correct answer."""
    from autograder.cli.audit import run_and_show
    from autograder.course.soundness import require_sound

    names = _labs(labs)
    require_sound(names)
    report, good = run_and_show(console, names)
    _write_json(json_file, report)
    if not good:
        raise typer.Exit(1)


def _add_system(name: str, *, takes_grades: bool) -> None:
    """Add a learning system's commands: ``pull`` and, if it takes grades, ``push``."""
    what = ", and bring grades back" if takes_grades else ""
    commands = typer.Typer(
        no_args_is_help=True, help=f"Fetch submissions from {name}{what}, by its own interface."
    )
    app.add_typer(commands, name=name.lower(), rich_help_panel=GRADE)

    @_command("Commands", commands)
    def pull(lab: str, collected: Path) -> None:
        """Fetch the class, its submissions with their times, and extensions; unchanged files are not fetched again."""
        from autograder.cli import systems

        systems.pull(console, name, lab, collected)

    if not takes_grades:
        return

    @_command("Commands", commands)
    def push(
        lab: str,
        submitted: Path,
        graded: Path,
        send: bool | None = None,
        replace: list[str] | None = None,
        state: str = "",
    ) -> None:
        """Send each student's grade, comment and feedback page, read them again, and list what did not arrive.

        Entries that a person made or changed there stay, and are listed.
        """
        from autograder.cli import systems

        if not systems.push(console, name, lab, submitted, graded, send, replace or [], state):
            raise typer.Exit(1)


_add_system("Moodle", takes_grades=True)
_add_system("Canvas", takes_grades=True)
_add_system("GitHub", takes_grades=False)


def main() -> None:
    """Run the command. A ``UserError`` gives one sentence and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what the terminal's encoding lacks must not end a command
    try:
        require_assertions()
        app(prog_name="autograder")
    except UserError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]✗[/] {escape(str(error))}")
        sys.exit(2)
    except (OSError, RuntimeError, MemoryError) as error:
        if (sentence := _resource_error(error)) is None:
            raise
        print(f"✗ {sentence}", file=sys.stderr)
        sys.exit(2)


def _resource_error(error: BaseException) -> str | None:
    """A sentence for an error about files, processes, memory or disk; None for any other error."""
    number = getattr(error, "errno", None)
    if number in (errno.EMFILE, errno.ENFILE):
        return "No more files can be opened here: raise the limit (ulimit -n 1024), or use fewer --jobs."
    if number == errno.EAGAIN or "can't start new thread" in str(error):
        return "No more processes can be started here: raise the limit (ulimit -u), or use fewer --jobs."
    if number == errno.ENOMEM or isinstance(error, MemoryError):
        return "There is no memory left here: use fewer --jobs, or a larger machine."
    if number in _OF_THE_DISK and isinstance(error, OSError):
        where = f"of {error.filename}" if error.filename else "without the name of a file"
        return f"The disk answers “{error.strerror}”, {where}: what was done before is kept."
    return None


#: Errors of a disk: no room, no permission, a name that is too long, a fault.
_OF_THE_DISK = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EIO, errno.ENOTDIR,
)  # fmt: skip
