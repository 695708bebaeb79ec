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
from pathlib import Path
from typing import Annotated, Any

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


def _given(name: str, **more: Any) -> Any:
    """An argument or option of ``options.toml``."""
    typed, help_ = _OPTIONS[name]
    if not typed.startswith("-"):
        return typer.Argument(metavar=typed, help=help_, **more)
    option, _, metavar = typed.partition(" ")
    return typer.Option(option, metavar=metavar or None, help=help_, **more)


def _full_name(lab: str) -> str:
    from autograder.course.masters import lab_name

    return lab_name(lab)


Lab = Annotated[str, _given("LAB", parser=_full_name)]
Labs = Annotated[list[str] | None, _given("LABS", parser=_full_name)]
Json = Annotated[Path | None, _given("json")]
Submitted = Annotated[Path, _given("submitted")]
Collected = Annotated[Path, _given("collected")]
Out = Annotated[Path, _given("out")]
Graded = Annotated[Path, _given("graded")]
Live = Annotated[Path, _given("live")]
Jobs = Annotated[int | None, _given("jobs", min=1)]
Engine = Annotated[str, _given("engine")]


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
        from autograder.files import write_atomically
        from autograder.run.world_readable import refuse_world_readable

        refuse_world_readable(path)
        write_atomically(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


@app.command(rich_help_panel=GRADE)
def grade(
    lab: Lab, submitted: Submitted, out: Out, jobs: Jobs = None, engine: Engine = "local", file: Json = None
) -> None:
    """Grade a class; what is already graded and unchanged is kept."""
    from autograder.cli.grade import grade_and_show

    grade_and_show(lab, submitted, out, jobs=jobs, engine=engine, json_file=file, console=console)


@app.command(rich_help_panel=GRADE)
def regrade(
    lab: Lab,
    submitted: Submitted,
    out: Out,
    jobs: Jobs = None,
    engine: Engine = "local",
    all_again: Annotated[bool, _given("all")] = False,
    json_file: Json = None,
) -> None:
    """Grade again what changed, and say what was redone and why."""
    from autograder.cli.grade import grade_and_show

    grade_and_show(
        lab, submitted, out, jobs=jobs, engine=engine, json_file=json_file, console=console,
        force=all_again, say_why=True,
    )  # fmt: skip


@app.command(rich_help_panel=GRADE)
def report(out: Graded, lab: Annotated[str | None, _given("lab_or_term", parser=_full_name)] = None) -> None:
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
def feedback(lab: Lab, out: Graded) -> None:
    """Write every feedback page again, with the scores and comments that people entered in Formgrader."""
    from autograder.cli.rewrite import rewrite

    console.print(f"✓ {rewrite(lab, out)[1]} pages in {out / 'feedback'}")


@app.command(rich_help_panel=GRADE)
def export(
    form: Annotated[str, _given("form")],
    lab: Lab,
    out: Graded,
    to: Annotated[Path | None, _given("export_to")] = None,
    roster: Annotated[Path | None, _given("roster")] = None,
) -> None:
    """Write the results, with what people entered in Formgrader, for another system."""
    from autograder.cli.rewrite import export_results
    from autograder.cli.say import say
    from autograder.run.world_readable import refuse_world_readable

    refuse_world_readable(*filter(None, [to]))
    made = export_results(form, lab, out, to, roster=roster)
    folder = os.path.commonpath(made.paths) if made.paths else ""
    say(console, "export", paths=made.paths, folder=folder, notes=made.notes)


@app.command(rich_help_panel=GRADE)
def collect(
    source: Annotated[Path, _given("source")],
    lab: Lab,
    submitted: Collected,
    kind: Annotated[str, _given("kind")] = "auto",
    times: Annotated[Path | None, _given("times")] = None,
) -> None:
    """Put the notebooks of a bulk download (Canvas, Moodle, or a folder a student) where grading looks for them."""
    from autograder.cli.say import say
    from autograder.collect import collect as gather

    say(console, "collect", done=gather(source, submitted, lab, kind=kind, times=times), submitted=submitted)


@app.command(rich_help_panel=GRADE)
def formgrader(
    out: Graded,
    port: Annotated[int, _given("lab_port")] = 8888,
    browser: Annotated[bool, _given("browser")] = True,
) -> None:
    """Open nbgrader's Formgrader on a graded class."""
    from autograder.nbgrader_plugin.formgrader import serve

    raise typer.Exit(serve(out, port, browser))


@app.command(rich_help_panel=LIVE)
def serve(
    labs: Annotated[list[str], _given("labs_taken", parser=_full_name)],
    out: Live,
    port: Annotated[int, _given("port", min=1, max=65535)] = 8787,
    address: Annotated[str, _given("address")] = "127.0.0.1",
    url: Annotated[str | None, _given("url")] = None,
    jobs: Jobs = None,
    hub: Annotated[bool, _given("hub")] = False,
    lti: Annotated[bool, _given("lti")] = False,
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
    out: Live,
    names: Annotated[list[str] | None, _given("names")] = None,
    team: Annotated[list[str] | None, _given("team")] = None,
    url: Annotated[str, _given("served_at")] = "http://localhost:8787/",
    to: Annotated[Path | None, _given("links_to")] = None,
) -> None:
    """Make invitation links to a live class for the class list's students, without a hub."""
    from autograder.cli.serve import invite as make

    make(out, url=url, team=team or [], again=names or [], to=to or out / "invitations.csv", console=console)


@app.command(rich_help_panel=PREPARE)
def release(lab: Lab, out: Annotated[Path, _given("bundle")]) -> None:
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
    lab: Lab,
    out: Annotated[Path, _given("class")],
    students: Annotated[int, _given("students")] = 30,
    hostile: Annotated[bool, _given("hostile")] = True,
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


@app.command("check-course", rich_help_panel=PREPARE)
def check_course() -> None:
    """Check the course's policy (course.toml) and class list, and show what follows for each lab."""
    from autograder.cli.check_course import show

    show(console)


@app.command(rich_help_panel=WRITE)
def build(
    labs: Labs = None,
    check: Annotated[bool, _given("check")] = False,
    force: Annotated[bool, _given("force")] = False,
) -> None:
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


@app.command("new-lab", rich_help_panel=WRITE)
def new_lab(lab: Annotated[str, _given("new_name")], questions: Annotated[str, _given("questions")]) -> None:
    """Write the files of a new lab: the first question worked out in full, stubs for the others. Overwrites nothing."""
    from autograder.cli.say import say
    from autograder.course.new_lab import new_lab as write
    from autograder.course.new_lab import parse_questions

    points = parse_questions(questions)
    say(console, "new_lab", paths=write(lab, points), stubs=list(points)[1:], number=lab[:2])


@app.command("import", rich_help_panel=WRITE)
def import_(
    notebook: Annotated[Path, _given("notebook")],
    name: Annotated[str | None, _given("import_name")] = None,
    json_file: Json = None,
) -> None:
    """Make a lab of an nbgrader notebook, so that its class can be graded here. Overwrites nothing."""
    from autograder.cli.imported import show
    from autograder.importing.bring_in import import_notebook

    with console.status(f"trying {notebook.name} on its own answers …"):
        imported = import_notebook(notebook, name)
    _write_json(json_file, show(console, imported))


@app.command(rich_help_panel=WRITE)
def audit(labs: Labs = None, json_file: Json = None) -> None:
    """Prove that the hidden tests catch every misconception and accept every correct answer."""
    from autograder.cli.audit import run_and_show
    from autograder.course.soundness import require_sound

    names = _labs(labs)
    require_sound(names)
    report, good = run_and_show(names, console=console)
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

    @commands.command("pull")
    def pull(lab: Lab, submitted: Collected) -> None:
        """Fetch the class, its submissions with their times, and extensions; unchanged files are not fetched again."""
        from autograder.cli import systems

        systems.pull(name, lab, submitted, console)

    if not takes_grades:
        return

    @commands.command("push")
    def push(
        lab: Lab,
        submitted: Submitted,
        out: Graded,
        send: Annotated[bool | None, _given("send")] = None,
        replace: Annotated[list[str] | None, _given("replace")] = None,
        state: Annotated[str, _given("state")] = "",
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
