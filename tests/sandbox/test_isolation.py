"""What a submission can see and touch: its own small world, and nothing else."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox.host.session import Zygote
from autograder.sandbox.host.transport import _process_tree
from autograder.sandbox.jail import visible
from tests.fixtures.waiting import until

from .conftest import CELLS, runs

pytestmark = pytest.mark.xdist_group("sandbox")

REPOSITORY = Path(__file__).resolve().parents[2]


def test_there_is_no_way_to_the_hosts_sockets(say, tmp_path):
    with contextlib.ExitStack() as stack:
        names = [f"\0harness-{os.getpid()}", str(tmp_path / "socket")]
        for name in names:
            listener = stack.enter_context(contextlib.closing(socket.socket(socket.AF_UNIX)))
            listener.bind(name)
            listener.listen()
        connect = (
            "    try:\n        socket.socket(socket.AF_UNIX).connect(name)\n        print('connected')\n"
        )
        assert say(f"import socket\nfor name in {names!r}:\n{connect}    except OSError:\n        pass") == ""


def test_only_the_scratch_space_can_be_written_few_descriptors_are_open_and_there_are_no_privileges(say):
    kinds = say(
        "import os\n"
        "for fd in os.listdir('/proc/self/fd'):\n"
        "    try:\n        print(fd, os.readlink('/proc/self/fd/' + fd).split(':')[0])\n    except OSError:\n        pass"
    ).splitlines()  # fmt: skip
    assert len([kind for kind in kinds if "socket" in kind]) == 1 and kinds[0] == "0 /dev/null"
    assert all("/tmp" in kind or "socket" in kind or "/dev/null" in kind or ".tmp" in kind for kind in kinds)
    said = say("print(open('/proc/self/mountinfo').read(), '---', open('/proc/self/status').read())")
    mounts, _, status = said.partition("---")
    fields = [line.split() for line in mounts.strip().splitlines()]
    writable = {each[4] for each in fields if "ro" not in each[5].split(",")}
    devices = {f"/dev/{name}" for name in visible.DEVICES}
    assert writable == {"/proc", "/tmp", visible.HOME} | devices
    assert all("nosuid" in each[5] for each in fields if each[4] not in devices)
    for field in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb"):
        assert f"{field}:\t{'0' * 16}\n" in status
    assert "NoNewPrivs:\t1\n" in status and "Seccomp:\t2\n" in status


def test_daemons_die_with_the_session_or_the_first_process_which_is_started_again(folder):
    with Zygote(folder / "coursekit", modules=()) as zygote:
        for first_process_dies in (False, True):
            with zygote.session() as session:
                assert session.run_cells([("daemons", CELLS["daemons"])])[0].error == ""
                processes = _process_tree(session._transport.child.pid)
                assert len(processes) >= 4
                if first_process_dies:
                    os.killpg(zygote._process.pid, signal.SIGKILL)
                    zygote._process.wait()
                    until(lambda: not any(map(runs, processes)))  # noqa: B023
            until(lambda: not any(map(runs, processes)))  # noqa: B023
        with zygote.session() as session:
            assert session.run_cells([("a", "1 + 1")])[0].status == "ok"


def test_a_kit_that_is_installed_beside_python_is_hidden_whole(monkeypatch, tmp_path):
    """It holds what later labs provide: the answers of this one."""
    installed = tmp_path / "site-packages" / "coursekit"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(installed.parent))
    monkeypatch.delitem(sys.modules, "coursekit", raising=False)
    assert str(installed) in visible.hidden_folders()


def test_copies_of_a_zygote_do_not_meet(folder):
    with Zygote(folder / "coursekit", modules=()) as zygote:
        one, other = zygote.clone(), zygote.clone()
        with one.session() as hostile, other.session() as honest:
            honest.run_cells([("a", "import os\ndef here():\n    return os.getpgid(0), os.getsid(0)")])
            hostile.run_cells([("b", "import os, signal\nfor number in (15, 9):\n    os.kill(0, number)")])
            assert honest.student("here")() == (1, 1)
            assert honest.status is None
        users = []
        for copy in (one, other):
            with copy.session() as session:
                session.run_cells([("a", "x = 1")])
                users.append(os.stat(f"/proc/{session._transport.child.pid}").st_uid)
        assert len(set(users)) == 2 and 0 not in users


def test_without_privileges_the_same_jail_is_built_and_where_it_is_forbidden_a_sentence_says_why(folder):
    program = """
import sys
from pathlib import Path
from autograder.sandbox.jail import namespaces as ns
ns.unshare(ns.CLONE_NEWUSER)
ns.map_user(0, 0, 0)
from autograder.sandbox.host.launcher import outer_uid
from autograder.sandbox.host.session import SandboxUnavailable, Zygote
assert outer_uid() == 0
with Zygote(Path(sys.argv[1]), modules=()) as zygote, zygote.session() as session:
    cells = [("a", "import os\\ndef look(): return os.getuid(), os.listdir('/proc')"), ("b", "open('/course/x', 'w')"), ("c", "!ls /")]
    print(*(outcome.status for outcome in session.run_cells(cells)), end=" ")
    print(session.student("look")()[0], session.student("look")()[1].count("2"))
for limit in ("net", "user"):
    Path(f"/proc/sys/user/max_{limit}_namespaces").write_text("0")
    try:
        with Zygote(Path(sys.argv[1]), modules=()) as zygote, zygote.session() as session:
            session.run_cells([("a", "1")])
        print("it ran")
    except SandboxUnavailable as error:
        print(error)
    Path(f"/proc/sys/user/max_{limit}_namespaces").write_text("1000")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder / "coursekit")],
        capture_output=True, text=True, cwd=REPOSITORY, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ran, net, user = done.stdout.splitlines()
    assert ran == "ok error ok 1000 0"
    assert net.startswith("too many namespaces are in use")
    assert user.startswith("user namespaces are switched off: `sudo sysctl")
