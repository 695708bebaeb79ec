"""The command itself: a line of help for everything that can be said to it, a sentence for what the machine refuses."""

import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from autograder.cli import app as module
from autograder.cli.app import app
from autograder.errors import UserError
from autograder.sandbox.jail import visible


def test_every_command_argument_and_option_has_a_help_text():
    commands = list(typer.main.get_command(app).commands.items())
    for name, command in commands:
        commands += getattr(command, "commands", {}).items()
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)


def test_what_the_machine_refuses_is_one_sentence_and_an_error_of_ours_is_still_a_traceback(
    monkeypatch, capsys
):
    refusals: dict[str, Exception] = {
        "raise the limit (ulimit -n": OSError(24, "Too many open files"),
        "raise the limit (ulimit -u": BlockingIOError(11, "Resource temporarily unavailable"),
        "(ulimit -u), or": RuntimeError("can't start new thread"),
        "no memory left": MemoryError(),
        "of feedback": NotADirectoryError(20, "Not a directory", "feedback"),
    }
    coming = [*refusals.values(), RuntimeError("ours")]

    def refused(**_):
        raise coming.pop(0)

    monkeypatch.setattr(module, "app", refused)
    for words in refusals:
        with pytest.raises(SystemExit) as exit_:
            module.main()
        said = capsys.readouterr().err
        assert exit_.value.code == 2 and words in said and said.count("\n") == 1
    with pytest.raises(RuntimeError, match="ours"):
        module.main()


def test_a_log_in_an_old_alphabet_ends_no_command_and_a_python_that_leaves_out_assertions_is_refused():
    """Windows writes a redirected output so, and one name of a student's would do."""
    words = ["-m", "autograder.cli", "check-course"]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, *words], env=ascii_only, capture_output=True)
    assert done.returncode == 0 and done.stderr == b"" and b"Isolation" in done.stdout
    done = subprocess.run([sys.executable, "-O", *words], capture_output=True, text=True)
    assert done.returncode == 2 and "PYTHONOPTIMIZE" in done.stderr and "Traceback" not in done.stderr


def test_results_are_not_written_where_submissions_read(tmp_path, monkeypatch):
    monkeypatch.setattr(visible, "SYSTEM_FOLDERS", (str(tmp_path / "usr"),))
    out = ["--out", tmp_path / "out"]
    for words in (
        ["grade", "01", "--submitted", tmp_path, *out, "--json", tmp_path / "usr/r.json"],
        ["export", "canvas", "01", *out, "--to", tmp_path / "usr"],
    ):
        done = CliRunner().invoke(app, list(map(str, words)))
        assert isinstance(done.exception, UserError) and "which submissions can read" in str(done.exception)
    assert not (tmp_path / "usr").exists()
