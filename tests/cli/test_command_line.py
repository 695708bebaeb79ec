"""The command itself: its version, its completion, and a line of help for everything that can be said to it."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from autograder import __version__
from autograder.cli.app import app


def test_the_version_is_shown():
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"autograder {__version__}"


def test_a_shell_completes_the_commands():
    words = {"_AUTOGRADER_COMPLETE": "complete_bash", "COMP_WORDS": "autograder re", "COMP_CWORD": "1"}
    done = CliRunner().invoke(app, [], env=words, prog_name="autograder")
    assert set(done.output.split()) == {"release", "regrade", "report"}


def test_every_command_argument_and_option_has_a_help_text():
    for name, command in typer.main.get_command(app).commands.items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(24, "Too many open files"), "ulimit -n"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "ulimit -u"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (MemoryError(), "no memory left"),
    ],
)
def test_what_the_machine_refuses_is_one_sentence(monkeypatch, capsys, error, words):
    from autograder.cli import app as module

    def refused(**_):
        raise error

    monkeypatch.setattr(module, "app", refused)
    with pytest.raises(SystemExit) as exit_:
        module.main()
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_an_error_of_ours_is_still_a_traceback(monkeypatch):
    from autograder.cli import app as module

    def broken(**_):
        raise RuntimeError("ours")

    monkeypatch.setattr(module, "app", broken)
    with pytest.raises(RuntimeError, match="ours"):
        module.main()
