"""What a submission can see and touch: its own small world, and nothing else."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.sandbox.host.session import Zygote
from autograder.sandbox.host.transport import _process_tree
from autograder.sandbox.jail import rootfs, visible

REPOSITORY = Path(__file__).resolve().parents[2]

#: In the memory of this process, and nowhere in what it gives to the sandbox.
SECRET = b"SALT-" + secrets.token_hex(16).encode()


def test_of_the_repository_only_pythons_folder_is_seen(say):
    shown = say(
        f"import os\nhere = {str(REPOSITORY)!r}\nprint(os.listdir(here) if os.path.exists(here) else [])"
    )
    prefixes = [Path(prefix) for prefix in visible.python_folders()]
    inside = {p.relative_to(REPOSITORY).parts[0] for p in prefixes if p.is_relative_to(REPOSITORY)}
    assert set(eval(shown)) == inside


def test_neither_harness_nor_course_nor_files_of_the_host_are_there(say, folder, tmp_path):
    (tmp_path / "gradebook.db").write_text("grades")
    hidden = (
        folder,
        tmp_path / "gradebook.db",
        "/etc/shadow",
        "/etc/machine-id",
        "/root/.bashrc",
        "/boot",
        "/var/log",
    )
    assert say(
        f"import importlib.util, os\nprint([path for path in {list(map(str, hidden))} if os.path.exists(path)])\n"
        "print(importlib.util.find_spec('autograder'), sorted(os.listdir('/course')), os.listdir('/course/data'))"
    ).split("\n") == ["[]", "None ['coursekit', 'data'] ['names.txt']"]  # fmt: skip


def test_the_environment_and_the_command_line_say_nothing(say):
    seen = say(
        "import os, sys\nprint(dict(os.environ), open('/proc/self/environ').read(), open('/proc/1/environ').read())\n"
        "print(open('/proc/self/cmdline').read(), sys.argv[1:])"
    )
    assert not [word for word in ("SALT", "COURSE", "zygote", "autograder") if word in seen]
    assert seen.endswith("[]")


def test_no_memory_of_the_harness_is_inherited(say):
    assert SECRET.startswith(b"SALT-")
    found = say(
        "import re\n"
        "found = 0\n"
        "memory = open('/proc/self/mem', 'rb', 0)\n"
        "for line in open('/proc/self/maps'):\n"
        "    first, last = (int(a, 16) for a in line.split()[0].split('-'))\n"
        "    if line.split()[1].startswith('r') and '[v' not in line and last - first < 1 << 28:\n"
        "        memory.seek(first)\n"
        "        found += len(re.findall(b'SAL[T]-[0-9a-f]{32}', memory.read(last - first)))\n"
        "canary = b'SAL' + b'T-' + b'0' * 32\n"
        "print(found)"
    )
    assert found == "0"


def test_only_the_submissions_own_processes_exist(say):
    source = "import os\nprint(os.getpid(), os.getppid(), [p for p in os.listdir('/proc') if p.isdigit()])"
    assert say(source) == "1 0 ['1']"


def test_killing_everything_in_sight_hurts_nobody_else(session, zygote):
    kill = "try:\n        os.kill(pid, signal.SIGKILL)\n    except OSError:\n        pass"
    targets = (
        f"import os, signal\nfor pid in (-1, 0, os.getppid(), os.getpid(), *range(2, 40000)):\n    {kill}"
    )
    cells = [
        ("all", targets),
        ("stop", "os.kill(os.getpid(), signal.SIGSTOP)"),
        ("after", "def alive():\n    return True"),
    ]
    assert [outcome.status for outcome in session.run_cells(cells)] == ["ok"] * 3
    assert session.student("alive")() is True
    assert zygote._process.poll() is None


#: Leaves a mark wherever a submission can, and looks for marks.
MARK = "import builtins, numpy, os\nnumpy.softmax = builtins.leak = 1\nos.environ['LEAK'] = '1'\n" + "".join(
    f"open({place!r}, 'w').write('x')\n" for place in ("/tmp/mark", "mark")
)
LOOK = """
import builtins, glob, numpy, os
assert not os.path.exists('/tmp/mark') and not os.path.exists('mark') and 'LEAK' not in os.environ
assert not hasattr(numpy, 'softmax') and not hasattr(builtins, 'leak')
assert glob.glob('/proc/[0-9]*') == ['/proc/1']
"""


def test_submissions_do_not_meet_and_nothing_is_left_for_the_next(zygote):
    with zygote.session() as first, zygote.session() as second:
        assert first.run_cells([("mark", MARK)])[0].error == ""
        assert second.run_cells([("look", LOOK)])[0].error == ""
    with zygote.session() as third:
        assert third.run_cells([("look", LOOK)])[0].error == ""


@pytest.mark.parametrize("abstract", [True, False])
def test_there_is_no_network_and_no_way_to_the_hosts_sockets(say, abstract, tmp_path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener:
        name = f"\0harness-{os.getpid()}" if abstract else str(tmp_path / "socket")
        listener.bind(name)
        listener.listen()
        assert say(
            "import socket\n"
            "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):\n"
            "    try:\n        socket.socket(family, socket.SOCK_DGRAM)\n        print('a socket')\n"
            "    except OSError as error:\n        assert error.errno == 97, error\n"
            f"try:\n    socket.socket(socket.AF_UNIX).connect({name!r})\n    print('connected')\n"
            "except OSError as error:\n    pass"
        ) == ""  # fmt: skip


def test_nothing_but_the_scratch_space_can_be_written(say):
    closed = (
        *(
            "/course/coursekit/__init__.py",
            "/course/data/names.txt",
            "/usr/bin/new",
            "/new",
            "/etc/passwd",
            "/dev/new",
        ),
        *("/proc/sys/kernel/hostname", "data/names.txt", f"{sys.prefix}/new", "/home/new"),
    )
    for path in (*closed, "notes.txt", "/tmp/x"):
        said = say(f"try:\n    open({path!r}, 'a').write('x')\nexcept OSError:\n    print('no')")
        assert said == ("no" if path in closed else ""), path
    mounts = [line.split() for line in say("print(open('/proc/self/mountinfo').read())").splitlines()]
    writable = {fields[4] for fields in mounts if "ro" not in fields[5].split(",")}
    devices = {f"/dev/{name}" for name in visible.DEVICES}
    assert writable == {"/proc", "/tmp", visible.HOME} | devices
    assert all("nosuid" in fields[5] for fields in mounts if fields[4] not in devices)


DAEMONS = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
time.sleep(0.2)
"""


def test_daemons_die_with_the_session(zygote):
    with zygote.session() as session:
        assert session.run_cells([("daemons", DAEMONS)])[0].error == ""
        processes = _process_tree(session._transport.child.pid)
        assert len(processes) >= 4
    assert_ended(*processes)


def assert_ended(*processes):
    deadline = time.monotonic() + 60
    while any(map(runs, processes)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(runs, processes))


def runs(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_there_are_no_privileges_and_no_way_to_get_them(say):
    status = say("print(open('/proc/self/status').read())")
    for field in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb"):
        assert f"{field}:\t{'0' * 16}\n" in status
    assert "NoNewPrivs:\t1\n" in status and "Seccomp:\t2\n" in status
    assert say(
        "import os\n"
        "for attempt in (lambda: os.setuid(0), lambda: os.setgroups([0]), lambda: os.chroot('/tmp'),\n"
        "                lambda: os.mknod('/tmp/sda', 0o60600, 8 << 8), lambda: os.nice(-5)):\n"
        "    try:\n        attempt()\n        print('done')\n    except OSError:\n        pass\n"
    ) == ""  # fmt: skip


def test_system_calls_that_attack_the_kernel_or_make_others_wait_are_refused(say):
    assert say(
        "import coursekit, ctypes, errno, fcntl, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def refused(result):\n"
        "    return result == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)\n"
        "assert refused(libc.unshare(0x10000000)) and refused(libc.unshare(0x20000))\n"
        "clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]\n"
        "assert refused(libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0))\n"
        "file = open(coursekit.__file__)\n"
        "for lease in (fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK):\n"
        "    try:\n        fcntl.fcntl(file, fcntl.F_SETLEASE, lease)\n        print('taken')\n"
        "    except PermissionError:\n        pass\n"
        "print(fcntl.fcntl(file, fcntl.F_GETFD))"
    ) == "1"  # fmt: skip


def test_few_descriptors_are_open(say):
    kinds = say(
        "import os\n"
        "for fd in os.listdir('/proc/self/fd'):\n"
        "    try:\n        print(fd, os.readlink('/proc/self/fd/' + fd).split(':')[0])\n    except OSError:\n        pass"
    ).splitlines()  # fmt: skip
    assert len([kind for kind in kinds if "socket" in kind]) == 1
    assert kinds[0] == "0 /dev/null"
    assert all("/tmp" in kind or "socket" in kind or "/dev/null" in kind or ".tmp" in kind for kind in kinds)


def test_a_hidden_folder_inside_a_visible_one_is_covered_and_what_it_contains_may_show_again(tmp_path):
    for name in ("prefix/site/autograder", "prefix/course/venv", "kit"):
        (tmp_path / name).mkdir(parents=True)
    prefix = str(tmp_path / "prefix")
    hidden = [f"{prefix}/site/autograder", f"{prefix}/course", "/elsewhere"]
    config = {"python": [prefix, f"{prefix}/course/venv"], "hidden": hidden, "kit": str(tmp_path / "kit")}
    plan = dict(rootfs._mount_plan({**config, "harness": "/harness", "data": []}))
    assert plan[f"{prefix}/site/autograder"] is None and plan[f"{prefix}/course"] is None
    assert plan[f"{prefix}/course/venv"] == f"{prefix}/course/venv"
    assert "/elsewhere" not in plan
    assert list(plan).index(f"{prefix}/course") < list(plan).index(f"{prefix}/course/venv")


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


def in_a_user_namespace(program, folder):
    """What the program prints as the only user of a user namespace."""
    start = (
        "import sys\nfrom pathlib import Path\nfrom autograder.sandbox.jail import namespaces as ns\n"
        "ns.unshare(ns.CLONE_NEWUSER)\nns.map_user(0, 0, 0)\n"
        "from autograder.sandbox.host.launcher import outer_uid\n"
        "from autograder.sandbox.host.session import SandboxUnavailable, Zygote\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start + program, str(folder / "coursekit")],
        capture_output=True, text=True, cwd=REPOSITORY, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_privileges_the_same_jail_is_built_from_a_user_namespace(folder):
    program = """
assert outer_uid() == 0
with Zygote(Path(sys.argv[1]), modules=()) as zygote, zygote.session() as session:
    for outcome in session.run_cells([("a", "import os\\ndef look():\\n    return os.getuid(), os.listdir('/proc')"),
                                      ("b", "open('/course/x', 'w')"), ("c", "!ls /")]):
        print(outcome.status)
    print(session.student("look")()[0], session.student("look")()[1].count("2"))
"""
    assert in_a_user_namespace(program, folder).split() == ["ok", "error", "ok", "1000", "0"]


def test_where_namespaces_are_forbidden_nothing_runs_and_a_sentence_says_why(folder):
    program = """
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
    net, user = in_a_user_namespace(program, folder).splitlines()
    assert net.startswith("too many namespaces are in use")
    assert user.startswith("user namespaces are switched off: `sudo sysctl")


def test_a_zygote_that_died_takes_its_children_along_and_is_started_again(folder):
    with Zygote(folder / "coursekit", modules=()) as zygote:
        with zygote.session() as session:
            session.run_cells([("a", "1")])
            pid = session._transport.child.pid
            assert runs(pid)
            os.killpg(zygote._process.pid, signal.SIGKILL)
            zygote._process.wait()
            assert_ended(pid)
        with zygote.session() as session:
            assert session.run_cells([("a", "1 + 1")])[0].status == "ok"


def test_an_environment_in_the_temporary_folder_is_seen_but_the_rest_of_it_is_not(
    folder, tmp_path, monkeypatch
):
    assert str(tmp_path).startswith("/tmp/")
    for name in ("env/lib/tool", "env/lib/autograder", "grades"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.py").write_text("x = 1\n")
    shown = [*visible.python_folders(), str(tmp_path / "env")]
    monkeypatch.setattr(visible, "python_folders", lambda: shown)
    monkeypatch.setattr(visible, "hidden_folders", lambda: [str(tmp_path / "env/lib/autograder")])
    with Zygote(folder / "coursekit", modules=()) as zygote, zygote.session() as session:
        source = (
            f"import os\nroot = {str(tmp_path)!r}\n"
            "assert os.listdir(root) == ['env'] and os.listdir(root + '/env/lib/tool') == ['x.py']\n"
            "assert os.listdir(root + '/env/lib/autograder') == []\n"
            "open('/tmp/free', 'w').write('x')\n"
            "try:\n    open(root + '/env/lib/tool/y', 'w')\n"
            "except OSError:\n    pass\nelse:\n    raise AssertionError\n"
        )
        [outcome] = session.run_cells([("a", source)])
        assert outcome.error == ""
