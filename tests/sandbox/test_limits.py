"""What happens when a submission takes too much, ends itself, or attacks the line to the harness."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace

import pytest

from autograder.results import STATUSES
from autograder.sandbox.host import transport
from autograder.sandbox.host.launcher import SandboxUnavailable
from autograder.sandbox.host.session import Cell, Zygote
from autograder.sandbox.host.student import StudentGone
from autograder.sandbox.limits import MEBIBYTE
from tests.fixtures.waiting import until

from .conftest import CELLS, LIMITS, runs

pytestmark = pytest.mark.xdist_group("sandbox")

GOOD = ("good", "def good():\n    return 1")


@pytest.mark.parametrize("status", CELLS["bad"])
def test_bad_cells_are_stopped_or_an_error_and_what_stands_between_and_behind_them_counts(zygote, status):
    sources, seconds = CELLS["bad"][status], 1.0 if status == "timed-out" else LIMITS.cell_seconds
    cells = [GOOD]
    for number, source in enumerate(sources):
        cells += [(f"bad {number}", source), (f"behind {number}", f"def behind_{number}(): return {number}")]
    with zygote.session(replace(LIMITS, cell_seconds=seconds, total_seconds=300.0)) as session:
        outcomes = session.run_cells(cells)
        assert [outcome.status for outcome in outcomes] == ["ok", *["error", "ok"] * len(sources)]
        assert session.status == (None if status == "none" else status)
        if status != "none":
            stopped = f"This cell was stopped: {STATUSES[status].event}."
            assert [outcome.error for outcome in outcomes[1::2]] == [stopped] * len(sources)
        assert session.student("good")() == 1
        assert [session.student(f"behind_{n}")() for n in range(len(sources))] == [*range(len(sources))]


def test_a_call_without_end_is_ended_and_the_next_question_can_go_on(hasty):
    source = "def loop():\n    while True: pass\ndef ask(step):\n    while True: step()"
    hasty.run_cells([GOOD, ("loop", source)])
    for call in (lambda: hasty.student("loop")(), lambda: hasty.student("ask")(lambda: 1)):
        with pytest.raises(StudentGone, match="timed-out"):
            call()
        with pytest.raises(StudentGone, match="timed-out"):
            hasty.student("good")()
        assert hasty.revive()
        assert hasty.student("good")() == 1
    assert hasty.status == "timed-out"


def test_the_time_for_the_whole_submission_is_limited(zygote):
    with zygote.session(replace(LIMITS, total_seconds=0.6)) as session:
        start = time.monotonic()
        outcomes = session.run_cells([(str(i), "import time\ntime.sleep(0.25)") for i in range(160)])
        assert time.monotonic() - start < 30
        assert session.status == "timed-out" and session.is_over
        assert outcomes[-1].status == "not-run" and outcomes[0].status == "ok"


def test_time_in_which_a_busy_machine_keeps_a_submission_waiting_does_not_count(zygote):
    """Other programs keep the processor from a session's child three quarters of the time."""
    endless = [sys.executable, "-c", "while True: pass"]
    with (
        zygote.session(replace(LIMITS, call_seconds=0.5, total_seconds=24.0)) as session,
        ExitStack() as ends,
    ):
        session.run_cells([("burn", CELLS["burn"])])
        others = [ends.enter_context(subprocess.Popen(endless, start_new_session=True)) for _ in range(3)]
        for other in others:
            ends.callback(other.kill)
        for pid in (session._transport.child.pid, *(other.pid for other in others)):
            os.sched_setaffinity(pid, {0})
        began = time.monotonic()
        assert session.student("burn")(0.3) == "done"
        assert time.monotonic() - began > session.limits.call_seconds
        with pytest.raises(StudentGone, match="timed-out"):
            session.student("burn")(60)


def test_a_submission_that_keeps_itself_waiting_is_given_nothing_back(zygote):
    spin = "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        while True: pass\nwhile True: pass"
    with zygote.session(replace(LIMITS, cell_seconds=1.0, total_seconds=10.0)) as session:
        session.run_cells([("spin", spin)])
        assert session.status == "timed-out" and session._budget.given_back == 5.0


def test_cpu_time_is_limited_by_the_kernel_too(zygote):
    with zygote.session(replace(LIMITS, cpu_seconds=1)) as session:
        session.run_cells([GOOD, ("bad", "while True: pass")])
        assert session.status == "timed-out"
        assert session.student("good")() == 1


def test_page_tables_and_the_buffers_of_sockets_are_bounded(session):
    option = "import socket\na, b = socket.socketpair()\na.setsockopt(1, {}, 1 << 24)"
    larger = [(name, option.format(f"socket.{name}")) for name in ("SO_SNDBUF", "SO_RCVBUF")]
    pages, sends, receives = session.run_cells([("pages", CELLS["page_tables"]), *larger])
    assert "Cannot allocate memory" in pages.error
    assert "PermissionError" in sends.error and receives.error == "", "other options can be set"
    [outcome] = session.run_cells([("sockets", CELLS["socket_buffers"])])
    assert "too much memory" in outcome.error


def test_a_child_is_watched_while_the_test_looks_at_what_came_back(session):
    source = """
import os, threading, time
def grow():
    def later():
        time.sleep(0.3)
        for _ in range(2):
            if os.fork() == 0:
                held = bytearray(b"x") * (200 << 20)
                time.sleep(60)
                os._exit(0)
    threading.Thread(target=later).start()
    return 1
"""
    session.run_cells([("grow", source)])
    grow = session.student("grow")
    assert grow() == 1
    pid = session._transport.child.pid
    until(lambda: not runs(pid))  # nothing is asked of the child meanwhile
    with pytest.raises(StudentGone, match="memory"):
        grow()
    assert session.status == "out-of-memory"


def test_memory_that_processes_share_counts_once(zygote):
    with zygote.session(replace(LIMITS, memory_bytes=500 * MEBIBYTE)) as session:
        session.run_cells(
            [("share", "import os, time\nb = b'x' * (150 << 20)\nfor _ in range(5):\n    if os.fork() == 0:\n"
                       "        time.sleep(0.6); os._exit(0)\ntime.sleep(0.6)")]
        )  # fmt: skip
        assert session.status is None


def test_the_watchdog_counts_processes_where_the_kernel_does_not_those_that_a_thread_started_too(session):
    started = "threading.Thread(target=subprocess.run, args=(['sleep', '60'],)).start()"
    session.run_cells([("one", f"import subprocess, threading, time\n{started}")])
    child = session._transport.child
    assert child.pid in child.process_tree()
    until(lambda: len(child.process_tree()) == 2)
    session._transport.limits = replace(LIMITS, processes=5)  # the kernel keeps to what it was told
    many = f"for _ in range(9): {started}\ntime.sleep(9)"
    *_, gone = session._run_cell(Cell(1, "many", many))
    assert "too many processes" in str(gone)
    assert session.status == "crashed"


def test_many_processes_get_the_lowest_priority_and_a_few_do_not(session):
    session.run_cells([("two", "import os, time\nif os.fork() == 0:\n    time.sleep(60)\ntime.sleep(0.5)")])
    child, usual = session._transport.child, os.getpriority(os.PRIO_PROCESS, 0)
    assert {os.getpriority(os.PRIO_PROCESS, pid) for pid in child.process_tree()} == {usual}
    session._run_cell(Cell(1, "many", CELLS["many_tasks"]))
    first, *others = sorted(child.process_tree(), key=lambda pid: pid != child.pid)
    assert first == child.pid and os.getpriority(os.PRIO_PROCESS, first) == usual
    assert len(others) >= 8 and {os.getpriority(os.PRIO_PROCESS, pid) for pid in others} == {19}
    threads = [int(task) for task in os.listdir(f"/proc/{first}/task") if int(task) != first]
    assert threads and {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads} == {19}


CRASHES = (
    "os.write(line, b'garbage' * 100)",
    "os.write(line, b'CKW1' + struct.pack('<IQ', 2, 1 << 60))",
    "os.write(line, b'CKW1' + struct.pack('<IQ', 6, 0) + b'[[[[[[')",
    "socket.socket(fileno=line).shutdown(socket.SHUT_RDWR)",
    "os.close(line)",
)


def test_bytes_straight_to_the_harness_end_the_call(hasty):
    drip = "for byte in b'CKW1' + struct.pack('<IQ', 4000, 0) + b'[' * 4000: os.write(line, bytes([byte])); time.sleep(0.02)"
    attacks = [*((attack, "crashed") for attack in CRASHES), (drip, "timed-out")]
    functions = "\n".join(f"def attack_{n}():\n    {attack}\n" for n, (attack, _) in enumerate(attacks))
    hasty.run_cells([GOOD, ("attack", functions), ("line", CELLS["line"])])
    for number, (_, status) in enumerate(attacks):
        with pytest.raises(StudentGone, match=status):
            hasty.student(f"attack_{number}")()
        assert hasty.revive() and hasty.student("good")() == 1
    assert hasty.status == "crashed"


def test_a_line_that_is_not_read_does_not_hold_the_harness_up(hasty):
    stall = "import time\ndef stall(x, step):\n    step()\n    return 1\n"
    deaf = "import sys\nsys.modules['socket'].SocketIO.readinto = lambda *a: time.sleep(99)"
    hasty.run_cells([("stall", stall), ("deaf", deaf)])
    with pytest.raises(StudentGone):
        hasty.student("stall")(bytes(10 << 20), lambda: bytes(10 << 20))


def test_when_the_sandbox_itself_goes_no_later_request_says_that_it_was_the_student(folder):
    with Zygote(folder / "coursekit", [], LIMITS, modules=()) as zygote:
        with zygote.session() as session:
            session.run_cells([("wait", "def wait(call):\n    call()\n    while True: pass")])
            wait = session.student("wait")
            with pytest.raises(SandboxUnavailable, match="grade again"):
                try:
                    wait(lambda: os.kill(zygote._process.pid, signal.SIGKILL))
                finally:  # as a hidden test that puts something back
                    wait(lambda: None)
            with pytest.raises(SandboxUnavailable):
                session.revive()
            assert session.status is None
        with zygote.session() as session:
            session.run_cells([GOOD])
            assert session.student("good")() == 1


def test_all_that_a_submission_sends_is_counted_over_its_children(session, monkeypatch):
    monkeypatch.setattr(transport, "MAX_RECEIVED", 1 << 20)
    session.run_cells([("f", "def f(): return 'a' * 700_000")])
    assert len(session.student("f")()) == 700_000
    with pytest.raises(StudentGone):
        session.student("f")()
    assert not session.revive()
