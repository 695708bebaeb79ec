"""Runs notebook cells in the child with IPython, and collects their outputs as nbformat output dicts.

No history database, no threads, no terminal: the shell is made once in the zygote and forked.
"""

# IPython has no annotations.
# mypy: disallow-untyped-calls=False

from __future__ import annotations

import ast
import base64
import builtins
import io
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from typing import Any

import IPython.core.pylabtools
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.backends.backend_agg import FigureCanvasAgg
from traitlets import Instance
from traitlets.config import Config

from .executor import MAX_MESSAGE, message_of, student_frames

_PICTURES = ("image/png", "image/jpeg", "image/svg+xml", "application/pdf")
#: How the line begins that keeps an answer as it is at its check cell (``grading.repair.kept_name``).
KEEPS = "__graded_"
_DROPPED = "\n[more output was dropped]\n"


class OutputCollector:
    """Collects the outputs of the cell that runs, up to the limits on their number and size."""

    def __init__(self) -> None:
        #: Bytes of text, bytes of pictures, number of outputs.
        self.limits = {"text": 10_000, "pictures": 0, "outputs": 100}
        self.reset()

    def reset(self) -> None:
        """Forget the outputs of the cell before, and allow as much again."""
        self.left = dict(self.limits)
        self.outputs: list[dict[str, Any]] = []

    def _spend(self, what: str, size: int) -> bool:
        """Count what fits into the limit. Returns whether it does."""
        fits = size <= self.left[what]
        self.left[what] -= size if fits else 0
        return fits

    def stream(self, name: str, text: str) -> None:
        """Add text to ``stdout`` or ``stderr``; text over the limit is dropped, with a note."""
        if self.left["text"] <= 0 or not text:
            return
        if len(text) > self.left["text"]:
            text = text[: self.left["text"]] + _DROPPED
        self.left["text"] -= len(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self.add({"output_type": "stream", "name": name, "text": [text]})

    def display(self, kind: str, data: dict[str, Any], count: int | None = None) -> None:
        """Add a ``display_data`` or ``execute_result``, without the MIME types that are too large."""
        kept: dict[str, Any] = {}
        for mime, value in data.items():
            value = _plain(value)
            size = len(value) if isinstance(value, str) else len(json.dumps(value))
            if self._spend("pictures" if str(mime) in _PICTURES else "text", size):
                kept[str(mime)] = value
        output: dict[str, Any] = {"output_type": kind, "data": kept, "metadata": {}}
        if kind == "execute_result":
            output["execution_count"] = count
        self.add(output)

    def add(self, output: dict[str, Any]) -> None:
        """Add an output unless there are too many."""
        if self._spend("outputs", 1):
            self.outputs.append(output)

    def take(self) -> list[dict[str, Any]]:
        """The outputs, with the pieces of each stream joined. What comes later is none of this cell's."""
        taken = self.outputs
        self.reset()
        for output in taken:
            if output["output_type"] == "stream":
                output["text"] = "".join(output["text"])
        return taken


def _plain(value: Any) -> Any:
    """A MIME type's value as JSON has it: binary data in base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, str):
        return str.__str__(value)
    return json.loads(json.dumps(value, default=str))


class CapturedStream(io.TextIOBase):
    """Replaces ``sys.stdout`` or ``sys.stderr``."""

    encoding = "utf-8"

    def __init__(self, collector: OutputCollector, name: str, descriptor: int):
        self.collector = collector
        self.name = name
        self.descriptor = descriptor

    def write(self, text: str) -> int:
        """Collect the text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.collector.stream(self.name, str.__str__(text))
        return len(text)

    def fileno(self) -> int:
        """The descriptor that a subprocess writes to."""
        return self.descriptor

    def writable(self) -> bool:
        """Always true."""
        return True


class _Compiler(CachingCompiler):
    """Names the code of a cell after the cell."""

    cell = "<cell>"

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.cell


class _DisplayHook(DisplayHook):
    shell: Any

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        self.shell.collector.display("execute_result", format_dict, self.shell.execution_count)


class _DisplayPublisher(DisplayPublisher):
    def publish(self, data: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        self.shell.collector.display("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.collector.outputs.clear()


#: RLIMIT_DATA counts a thread's whole stack from its start: with the usual 8 MiB each, sixty idle threads would leave
#: no memory to the code that is graded.
THREAD_STACK = 2 << 20


class _Transformers(TransformerManager):
    """IPython's transformation of cells, without its slow tokenizer where a cell is plain Python."""

    def transform_cell(self, cell: str) -> str:
        own = len(self.cleanup_transforms) + len(self.line_transforms) + len(self.token_transformers)
        if own == _TRANSFORMERS and is_plain_python(cell):  # a notebook may add transformers
            return cell if cell.endswith("\n") else cell + "\n"
        return str(super().transform_cell(cell))


_usual = TransformerManager()
_TRANSFORMERS = len(_usual.cleanup_transforms) + len(_usual.line_transforms) + len(_usual.token_transformers)
#: What IPython may take away although Python could read it: indents and empty lines before all else, prompts.
_CLEANED = re.compile(r"\s|(?:.*\n)?(?:\[|In |\s*\.\.\.)")
#: Python's prompt anywhere; what ends a line for a string's ``splitlines`` and not for Python; lines of nothing but blanks
#: or a backslash.
_ODD = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]|>>>|^[ \t]+$|^[ \t]*\\\\$", re.MULTILINE)


def is_plain_python(source: str) -> bool:
    """Whether IPython certainly leaves a cell as it is: it is Python, and nothing in it looks like a prompt."""
    if _CLEANED.match(source) or _ODD.search(source):
        return False
    try:
        compile(
            source, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class LabShell(InteractiveShell):
    """IPython as in a notebook, with its outputs going to an ``OutputCollector``."""

    input_transformer_manager = Instance(_Transformers, ())
    displayhook_class = _DisplayHook
    display_pub_class = _DisplayPublisher
    compiler_class = _Compiler
    collector: OutputCollector

    def should_run_async(self, raw_cell: str, **more: Any) -> bool:
        """Whether a cell awaits something outside all functions. IPython would compile each one to know."""
        return ("await" in raw_cell or "async" in raw_cell) and bool(
            super().should_run_async(raw_cell, **more)
        )

    def showtraceback(
        self, exc_tuple: Any = None, filename: Any = None, tb_offset: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Collect the error with the student's frames only."""
        _, error, trace = exc_tuple if exc_tuple is not None else sys.exc_info()
        if error is not None:
            self.collector.add(error_output(error, trace))

    def showsyntaxerror(self, filename: Any = None, running_compiled_code: bool = False) -> None:
        """Collect a syntax error."""
        self.showtraceback()

    def _format_exception_for_storage(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """IPython would format every error once more for its history, slowly."""
        return {}

    def system_piped(self, cmd: str) -> None:
        """``!command``: its output is the cell's."""
        command = self.var_expand(cmd, depth=1)
        done = subprocess.run(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        sys.stdout.write(done.stdout.decode("utf-8", "replace"))
        self.user_ns["_exit_code"] = done.returncode

    system = system_piped

    def enable_gui(self, gui: Any = None) -> None:
        """Do nothing: there are no windows here."""

    def enable_matplotlib(self, gui: Any = None) -> tuple[str, str]:
        """``%matplotlib`` of any kind keeps the inline backend, which is there from the start."""
        return "inline", "module://matplotlib_inline.backend_inline"


def error_output(error: BaseException, trace: Any) -> dict[str, Any]:
    """The output for an error, with the student's frames only."""
    name, message = type(error).__name__[:80], message_of(error)
    lines = []
    for cell, number, source in student_frames(trace, cell_label):
        lines += [f"{cell}, line {number}:", f"    {source.strip()}"]
    if isinstance(error, SyntaxError):
        lines += [line[:MAX_MESSAGE].rstrip() for line in traceback.format_exception_only(error)]
    else:
        lines.append(f"{name}: {message}" if message else name)
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": lines}


def cell_label(filename: str) -> str | None:
    """The cell that a code object comes from, or ``None`` when it is not the student's."""
    if filename.startswith("<cell "):
        return filename[len("<cell ") : -1].split(" #")[0]
    return "a timed cell" if filename == "<timed exec>" else None


#: Magics of Jupyter's kernel that only a notebook's window heeds: an error would take the rest of their cell with it.
_OF_A_KERNEL = ("autosave", "clear", "connect_info", "qtconsole")


def make_shell() -> LabShell:
    """Make the shell. Call this before pyplot is imported, so that the inline backend finds it."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.ast_node_interactivity = "last_expr"
    IPython.core.pylabtools.select_figure_formats = lambda *args, **kwargs: None  # nobody sees pictures
    LabShell.collector = OutputCollector()
    shell = LabShell.instance(config=config)
    magics: Any = shell.magics_manager
    for name in _OF_A_KERNEL:
        magics.register_function(lambda line: None, magic_name=name)
    builtins.input = _no_input
    threading.stack_size(THREAD_STACK)
    return shell


#: Each does something that is slow the first time: figures, output formats, warnings, errors, magics, sources.
_WARM_UP_CELLS = (
    "import matplotlib.pyplot as plt, numpy\nfig, ax = plt.subplots(); ax.plot([1, 2]); ax.set_title('x')",
    "numpy.zeros((2, 2))",
    "print('x')\nimport warnings\nwarnings.warn('x')",
    "1 / 0",
    "%matplotlib inline",
    "%%time\n1 + 1",
    "display({'x': [1.0, 'y']})",
    "import inspect\n\n\ndef f():\n    return 1\n\n\ninspect.getsource(f)",
)


def warm_up(shell: LabShell) -> None:
    """Do once what many notebooks do, and leave no state behind."""
    FigureCanvasAgg.draw_idle = lambda *args, **kwargs: None  # type: ignore[method-assign]
    saved = sys.stdout, sys.stderr
    sys.stdout = CapturedStream(shell.collector, "stdout", 1)
    sys.stderr = CapturedStream(shell.collector, "stderr", 2)
    for source in _WARM_UP_CELLS:
        shell.run_cell(source, store_history=False)
    sys.modules["matplotlib.pyplot"].close("all")
    shell.collector.reset()
    shell.reset(new_session=True)
    shell.execution_count = 1
    linecache.clearcache()
    sys.stdout, sys.stderr = saved


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot be answered when a notebook is graded: put the value into the cell")


class CellRunner:
    """Runs cells one at a time, and collects their outputs."""

    def __init__(self, shell: LabShell, limits: dict[str, Any]):
        self.shell = shell
        self.compiler: Any = shell.compile
        self.collector = shell.collector
        sys.path.insert(0, "")  # a notebook imports from its folder
        self.collector.limits = {
            "text": limits["output_bytes"],
            "pictures": limits["picture_bytes"],
            "outputs": limits["outputs"],
        }
        self.capture = tempfile.TemporaryFile("ab+", buffering=0)  # noqa: SIM115
        for descriptor in (1, 2):
            os.dup2(self.capture.fileno(), descriptor)
        sys.stdout = CapturedStream(self.collector, "stdout", 1)
        sys.stderr = CapturedStream(self.collector, "stderr", 2)

    def run(self, index: int, label: str, source: str) -> dict[str, Any]:
        """Run a cell: ``{"status", "outputs", "error", "line"}``.

        The error is one line of text; the line is the one of the cell at which it was raised, 0 if there is none. An interrupt
        is heard while the cell runs.
        """
        if source.startswith(KEEPS):  # the harness's own line, for which IPython would take ten times as long
            exec(source, self.shell.user_ns)
            return {"status": "ok", "outputs": [], "error": "", "line": 0}
        self.collector.reset()
        self.compiler.cell = f"<cell {label} #{index}>"
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            result = self.shell.run_cell(source, store_history=True)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        if helpers is not None and helpers.Gcf.figs:
            sys.modules["matplotlib.pyplot"].close("all")
        self._collect_descriptor_output()
        error = result.error_before_exec or result.error_in_exec
        return {
            "status": "ok" if error is None else "error",
            "outputs": self.collector.take(),
            "error": "" if error is None else _one_line(error),
            "line": 0 if error is None else self._line_of(error),
        }

    def _line_of(self, error: BaseException) -> int:
        """The line of the cell that was running when ``error`` came, whatever it called."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != self.compiler.cell:
            trace = trace.tb_next
        return trace.tb_lineno if trace is not None else 0

    def _collect_descriptor_output(self) -> None:
        """Collect what subprocesses and C code wrote to descriptors 1 and 2."""
        try:
            descriptor = self.capture.fileno()
            if os.fstat(descriptor).st_size:
                text = os.pread(descriptor, self.collector.limits["text"] + 1, 0)
                os.ftruncate(descriptor, 0)
                self.collector.stream("stdout", text.decode("utf-8", "replace"))
        except OSError:
            pass  # the student's code closed it


def _one_line(error: BaseException) -> str:
    name, message = type(error).__name__[:80], message_of(error)
    frames = student_frames(error.__traceback__, cell_label)
    place = f" (line {frames[-1][1]}: {frames[-1][2].strip()})" if frames else ""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        line = linecache.getline(error.filename or "", error.lineno).strip() or (error.text or "").strip()
        place, message = f" (line {error.lineno}: {line[:200]})", str(error.msg)
    return " ".join(f"{name}: {message}{place}".split())[:MAX_MESSAGE]
