"""The command ``autograder``: one function for each subcommand. A ``UserError`` gives one sentence and exit status 2."""

from __future__ import annotations

import autograder.startup.lean_imports  # noqa: F401 (before the imports that it makes faster)

# isort: split
import errno
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from autograder.errors import UserError, require_assertions

#: The panels of ``--help``, by role, in this order.
GRADE, LIVE = "The teaching team grades a class", "The lecturer runs a live class"
PREPARE, WRITE = "Before the term", "Authors write labs"


class _ByRole(TyperGroup):
    """A group that lists its commands by panel."""

    def list_commands(self, ctx: Any) -> list[str]:
        panel = {name: getattr(command, "rich_help_panel", GRADE) for name, command in self.commands.items()}
        return sorted(panel, key=lambda name: (GRADE, LIVE, PREPARE, WRITE).index(panel[name]))

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None:
            option.metavar = ""  # else it is shown as --help <bool>
        return option


app = typer.Typer(
    cls=_ByRole,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    add_completion=False,
)
# A pipe or log file has no width: rich's default of 80 columns would break paths.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def _option(default: Any, name: str, help: str, **more: Any) -> Any:
    """An option, such as ``--out DIR``, with its help. The default ``...`` makes it required."""
    option, _, metavar = name.partition(" ")
    shown = metavar or ("" if isinstance(default, bool) else None)
    return typer.Option(default, option, metavar=shown, help=help, **more)


def _argument(default: Any, metavar: str, help: str, **more: Any) -> Any:
    """An argument, such as ``LAB``, with its help."""
    return typer.Argument(default, metavar=metavar, help=help, **more)


def _full_name(lab: str) -> str:
    from autograder.course.masters import lab_name

    return lab_name(lab)


LAB = _argument(..., "LAB", "A lab's number (07) or full name.", parser=_full_name)
LABS = _argument(None, "[LAB]...", "Labs by number or name; all when none is given.", parser=_full_name)
JSON = _option(None, "--json FILE", "Also write the results as JSON.")


def _show_version(wanted: bool) -> None:
    if wanted:
        from autograder import __version__

        console.print(f"autograder {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = _option(
        False, "--version", "Show the version and exit.", callback=_show_version, is_eager=True
    ),
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
        from autograder.files import write_atomically
        from autograder.run.world_readable import refuse_world_readable

        refuse_world_readable(path)
        write_atomically(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


@app.command(rich_help_panel=WRITE)
def build(
    labs: list[str] | None = LABS,
    check: bool = _option(
        False,
        "--check",
        "Write nothing; exit status 1 when a built notebook differs from its master, or a card from its question.",
    ),
    force: bool = _option(False, "--force", "Execute again even when nothing changed."),
) -> None:
    """Make the instructor's and the students' notebooks from the masters, and the cards' data from the questions' files."""
    from autograder.course import build as building
    from autograder.course.soundness import require_sound
    from autograder.questions.engine.card import card_drift, write_card

    names = _labs(labs)
    for note in require_sound(names, unfinished=not check):
        console.print(f"! {note}", markup=False)
    drifted = False
    for lab in names:
        if check:
            drift = building.check(lab).drift or card_drift(lab)
            drifted |= bool(drift)
            console.print(f"{'✗' if drift else '✓'} {lab}  {drift}")
            continue
        with console.status(f"building {lab} …"):
            write_card(lab)
            result = building.build(lab, force=force)
        drifted |= bool(result.drift)
        done = "executed" if result.executed else "unchanged"
        console.print(f"{'✗' if result.drift else '✓'} {lab}  {result.drift or done}")
    if drifted:
        console.print(
            "Run `autograder build` and commit the changed files."
            if check
            else "Correct the master and build again."
        )
        raise typer.Exit(1)


@app.command("new-lab", rich_help_panel=WRITE)
def new_lab(
    lab: str = _argument(..., "NAME", "Its full name: a free number and a topic (14_topic)."),
    questions: str = _option(
        ..., "--questions", "The graded functions and their points, 20 in all: entropy:8,other:12."
    ),
) -> None:
    """Write the files of a new lab: the first question worked out in full, stubs for the others. Overwrites nothing."""
    from autograder.course.new_lab import new_lab as write
    from autograder.course.new_lab import parse_questions

    made = write(lab, parse_questions(questions))
    for path in made.files:
        console.print(f"✓ {path}", markup=False)
    if made.unfinished:
        console.print(
            f"To write: {', '.join(made.unfinished)}. Until that is done, only `build` takes the lab.",
            markup=False,
        )
    number = lab[:2]
    console.print(
        "Next:", f"  autograder build {number}", f"  autograder audit {number}",
        f"  autograder release {number} --out build/release",
        f"  autograder simulate {number} --out build/class/submitted",
        f"  autograder grade {number} --submitted build/class/submitted --out build/class", sep="\n", markup=False,
    )  # fmt: skip


@app.command("import", rich_help_panel=WRITE)
def import_(
    notebook: Path = _argument(
        ..., "ASSIGNMENT.ipynb", "An nbgrader source notebook: source/ps1/problem1.ipynb."
    ),
    name: str | None = _option(
        None, "--name", "The lab's full name (20_problem1); else the next free number from 20."
    ),
    json_file: Path | None = JSON,
) -> None:
    """Make a lab of an nbgrader notebook, so that its class can be graded here. Overwrites nothing."""
    from autograder.cli.imported import show
    from autograder.importing.bring_in import import_notebook

    with console.status(f"trying {notebook.name} on its own answers …"):
        imported = import_notebook(notebook, name)
    _write_json(json_file, show(console, imported))


@app.command(rich_help_panel=WRITE)
def audit(
    labs: list[str] | None = LABS,
    json_file: Path | None = JSON,
) -> None:
    """Prove that the hidden tests catch every misconception and accept every correct answer."""
    from autograder.cli.audit import run_and_show
    from autograder.course.soundness import require_sound

    names = _labs(labs)
    require_sound(names)
    report, good = run_and_show(names, console=console)
    _write_json(json_file, report)
    if not good:
        raise typer.Exit(1)


@app.command(rich_help_panel=PREPARE)
def release(
    lab: str = LAB,
    out: Path = _option(..., "--out DIR", "Where the bundle goes: DIR/<lab> must be empty or absent."),
) -> None:
    """Write a student's bundle: the notebook, the kit, the data; no solution, no hidden test."""
    from autograder.course.release import download_note
    from autograder.course.release import release as write
    from autograder.course.soundness import require_sound

    require_sound([lab])
    console.print(f"✓ {write(lab, out)}")
    if note := download_note(lab):
        console.print(f"[yellow]![/] {note}")


@app.command(rich_help_panel=PREPARE)
def simulate(
    lab: str = LAB,
    out: Path = _option(..., "--out DIR", "Where the class goes: empty or absent."),
    students: int = _option(30, "--students N", "The size of the class."),
    hostile: bool = typer.Option(True, metavar="", help="Include submissions that break or attack a grader."),
) -> None:
    """Make a class of submissions: honest, wrong in named ways, unlucky, broken, hostile."""
    from collections import Counter

    from autograder.audit.simulate import simulate as write
    from autograder.course.soundness import require_sound

    require_sound([lab])
    kinds = Counter(write(lab, students, out, hostile=hostile).values())
    console.print(
        f"✓ {students} submissions in {out}: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    )


SUBMITTED = _option(..., "--submitted DIR", "One folder a student: DIR/<student>/<lab>/<lab>.ipynb.")
COLLECTED = _option(..., "--submitted DIR", "Where the notebooks go: DIR/<student>/<lab>/<lab>.ipynb.")
OUT = _option(..., "--out DIR", "Gradebook, feedback and results go here.")
JOBS = _option(None, "--jobs N", "Worker processes (default: one a core).", min=1)
ENGINE = _option(
    "local",
    "--engine E",
    "local, dask (a cluster on this machine) or dask:tls://HOST:PORT (a running one; without TLS, as "
    "dask:tcp://, it carries hidden tests and salt in the clear).",
)


@app.command(rich_help_panel=GRADE)
def grade(
    lab: str = LAB,
    submitted: Path = SUBMITTED,
    out: Path = OUT,
    jobs: int | None = JOBS,
    engine: str = ENGINE,
    json_file: Path | None = JSON,
) -> None:
    """Grade a class; what is already graded and unchanged is kept."""
    from autograder.cli.grade import grade_and_show

    grade_and_show(lab, submitted, out, jobs=jobs, engine=engine, json_file=json_file, console=console)


@app.command(rich_help_panel=GRADE)
def regrade(
    lab: str = LAB,
    submitted: Path = SUBMITTED,
    out: Path = OUT,
    jobs: int | None = JOBS,
    engine: str = ENGINE,
    all_again: bool = _option(False, "--all", "Grade everything again, changed or not."),
    json_file: Path | None = JSON,
) -> None:
    """Grade again what changed, and say what was redone and why."""
    from autograder.cli.grade import grade_and_show

    grade_and_show(
        lab, submitted, out, jobs=jobs, engine=engine, json_file=json_file, console=console,
        force=all_again, say_why=True,
    )  # fmt: skip


GRADED = _option(..., "--out DIR", "The folder that a class was graded into.")


@app.command(rich_help_panel=GRADE)
def report(
    out: Path = GRADED,
    lab: str | None = _argument(
        None,
        "[LAB]",
        "A lab's number (07) or full name; the whole term when none is given.",
        parser=_full_name,
    ),
) -> None:
    """Write the class report of a lab again, or the whole term's: with the points that people entered in Formgrader.

    The term's says what each student has over the labs, and who is falling behind on which idea.
    """
    from autograder.cli.rewrite import rewrite, write_term

    if lab is not None:
        console.print(f"✓ {rewrite(lab, out)[0]}", markup=False)
        return
    _, paths = write_term(out, console)
    for path in paths:
        console.print(f"✓ {path}", markup=False)


@app.command(rich_help_panel=GRADE)
def feedback(lab: str = LAB, out: Path = GRADED) -> None:
    """Write every feedback page again, with the scores and comments that people entered in Formgrader."""
    from autograder.cli.rewrite import rewrite

    console.print(f"✓ {rewrite(lab, out)[1]} pages in {out / 'feedback'}")


@app.command(rich_help_panel=GRADE)
def export(
    form: str = _argument(
        ...,
        "FORMAT",
        "canvas, moodle, moodle-worksheet, moodle-feedback, gradescope, gradescope-zip or github.",
    ),
    lab: str = LAB,
    out: Path = GRADED,
    to: Path | None = _option(None, "--to DIR", "Where the export goes (default: OUT/exports)."),
    roster: Path | None = _option(
        None, "--roster CSV", "A CSV that the learning system exported: its students and columns are kept."
    ),
) -> None:
    """Write the results, with what people entered in Formgrader, for another system."""
    from autograder.cli.rewrite import export_results
    from autograder.pages.render import plain
    from autograder.run.world_readable import refuse_world_readable

    refuse_world_readable(*filter(None, [to]))
    made = export_results(form, lab, out, to, roster=roster)
    if len(made.paths) == 1:
        console.print(f"✓ {made.paths[0]}", markup=False)
    elif made.paths:
        console.print(f"✓ {len(made.paths)} files in {os.path.commonpath(made.paths)}", markup=False)
    for note in made.notes:
        console.print(f"  {plain(note)}", markup=False)


@app.command(rich_help_panel=GRADE)
def collect(
    source: Path = _argument(..., "SOURCE", "The bulk download: a zip or a folder."),
    lab: str = LAB,
    submitted: Path = COLLECTED,
    kind: str = _option(
        "auto",
        "--kind",
        "canvas, moodle, plain (a folder a student), or auto to tell from the names.",
    ),
    times: Path | None = _option(
        None,
        "--times CSV",
        "When each student handed in: Canvas's report or API list, Moodle's worksheet, GitHub Classroom's grades, or student,time.",
    ),
) -> None:
    """Put the notebooks of a bulk download (Canvas, Moodle, or a folder a student) where grading looks for them."""
    from autograder.collect import collect as gather
    from autograder.pages.render import plain  # a file's name may contain terminal codes

    done = gather(source, submitted, lab, kind=kind, times=times)
    for note in done.notes:
        console.print(f"  {plain(note)}", markup=False)
    console.print(
        f"✓ {len(done.students)} submissions ({done.kind}: {done.why}) in {submitted}", markup=False
    )


LIVE_OUT = _option(
    ...,
    "--out DIR",
    "The class's folder: notebooks, receipts and verdicts in DIR/live, what counts in DIR/submitted.",
)


@app.command(rich_help_panel=LIVE)
def serve(
    labs: list[str] = _argument(..., "LAB...", "The labs that can be handed in.", parser=_full_name),
    out: Path = LIVE_OUT,
    port: int = _option(8787, "--port", "The port to listen on.", min=1, max=65535),
    address: str = _option(
        "127.0.0.1", "--address", "The address to listen on; 0.0.0.0 for every one of this machine."
    ),
    url: str | None = _option(
        None, "--url", "The address that people open, where it is not http://localhost:PORT/."
    ),
    jobs: int | None = JOBS,
    hub: bool = _option(False, "--hub", "Run as a service of a JupyterHub, which identifies people."),
    lti: bool = _option(
        False, "--lti", "Inside the learning system that [lti] of course.toml names, by LTI 1.3."
    ),
) -> None:
    """Run a live class: students get verdicts at once, the lecturer sees the room's misconceptions."""
    from autograder.cli.serve import serve as run

    if hub and lti:
        raise UserError("Give --hub or --lti: only one of them can identify people.")
    run(
        labs, out, address=address, port=port, url=url, jobs=jobs, hub=hub, lti=lti,
        console=console,
    )  # fmt: skip


@app.command(rich_help_panel=LIVE)
def invite(
    out: Path = LIVE_OUT,
    names: list[str] | None = _argument(
        None, "[NAME]...", "People who get a new link; their older link ends."
    ),
    team: list[str] | None = _option(None, "--team NAME", "Somebody of the teaching team; may be repeated."),
    url: str = _option(
        "http://localhost:8787/", "--url", "The address at which `autograder serve` is reached."
    ),
    to: Path | None = _option(None, "--to CSV", "Where the links go (default: OUT/invitations.csv)."),
) -> None:
    """Make invitation links to a live class for the class list's students, without a hub."""
    from autograder.cli.serve import invite as make

    make(out, url=url, team=team or [], again=names or [], to=to or out / "invitations.csv", console=console)


SEND = _option(
    None,
    "--send/--dry-run",
    "Send, or only show what would be sent (default: show the first time, send from then on).",
)
REPLACE = _option(
    None, "--replace STUDENT", "Replace what a person entered for this student; may be repeated."
)


def _add_system(name: str, *, takes_grades: bool) -> None:
    """Add a learning system's commands: ``pull`` and, if it takes grades, ``push``."""
    what = ", and bring grades back" if takes_grades else ""
    commands = typer.Typer(
        no_args_is_help=True, help=f"Fetch submissions from {name}{what}, by its own interface."
    )
    app.add_typer(commands, name=name.lower(), rich_help_panel=GRADE)

    @commands.command("pull")
    def pull(lab: str = LAB, submitted: Path = COLLECTED) -> None:
        """Fetch the class, its submissions with their times, and extensions; unchanged files are not fetched again."""
        from autograder.cli import systems

        systems.pull(name, lab, submitted, console)

    if not takes_grades:
        return

    @commands.command("push")
    def push(
        lab: str = LAB,
        submitted: Path = SUBMITTED,
        out: Path = GRADED,
        send: bool | None = SEND,
        replace: list[str] | None = REPLACE,
        state: str = _option(
            "", "--state", "In Moodle's marking workflow: what the grades are, such as released."
        ),
    ) -> None:
        """Send each student's grade, comment and feedback page, read them again, and list what did not arrive.

        Entries that a person made or changed there stay, and are listed.
        """
        from autograder.cli import systems

        if not systems.push(
            name, lab, submitted, out, console, send=send, replace=replace or [], state=state
        ):
            raise typer.Exit(1)


_add_system("Moodle", takes_grades=True)
_add_system("Canvas", takes_grades=True)
_add_system("GitHub", takes_grades=False)


@app.command("check-course", rich_help_panel=PREPARE)
def check_course() -> None:
    """Check the course's policy (course.toml) and class list, and show what follows for each lab."""
    from autograder.cli.check_course import show

    show(console)


@app.command(rich_help_panel=GRADE)
def formgrader(
    out: Path = GRADED,
    port: int = _option(8888, "--port", "The port that JupyterLab listens on."),
    browser: bool = typer.Option(True, metavar="", help="Open a browser window."),
) -> None:
    """Open nbgrader's Formgrader on a graded class."""
    from autograder.nbgrader_plugin.formgrader import serve

    raise typer.Exit(serve(out, port, browser))


def main() -> None:
    """Run the command. A ``UserError`` gives one sentence and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # characters that the terminal's encoding lacks must not end a command
            stream.reconfigure(errors="replace")
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


if __name__ == "__main__":
    main()
