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


def test_the_repository_cannot_be_seen(say):
    shown = say(
        f"import os\nprint(os.listdir({str(REPOSITORY)!r}) if os.path.exists({str(REPOSITORY)!r}) else [])"
    )
    inside = {
        Path(prefix).relative_to(REPOSITORY).parts[0]
        for prefix in visible.python_folders()
        if Path(prefix).is_relative_to(REPOSITORY)
    }
    assert set(eval(shown)) == inside


def test_the_harness_cannot_be_imported(say):
    for name in ("autograder", "autograder.questions"):
        assert say(f"try:\n    import {name}\nexcept ImportError:\n    print('no')") == "no"


def test_the_course_folder_holds_the_kit_and_the_data_only(say, folder):
    assert say("import os\nprint(sorted(os.listdir('/course')), os.listdir('/course/data'))") == (
        "['coursekit', 'data'] ['names.txt']"
    )
    assert say(f"import os\nprint(os.path.exists({str(folder)!r}))") == "False"


def test_files_of_the_host_cannot_be_read(say, tmp_path):
    (tmp_path / "gradebook.db").write_text("grades")
    for path in (
        tmp_path / "gradebook.db",
        "/etc/shadow",
        "/etc/machine-id",
        "/root/.bashrc",
        "/boot",
        "/var/log",
    ):
        assert say(f"import os\nprint(os.path.exists({str(path)!r}))") == "False"


def test_the_environment_and_the_command_line_say_nothing(say):
    seen = say(
        "import os\nprint(dict(os.environ), open('/proc/self/environ').read(), open('/proc/1/environ').read())"
    )
    assert "SALT" not in seen and "COURSE" not in seen
    command = say("print(open('/proc/self/cmdline').read())")
    assert "zygote" not in command and "autograder" not in command
    assert say("import sys\nprint(sys.argv[1:])") == "[]"


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
    assert say(
        "import os\nprint(os.getpid(), os.getppid(), [p for p in os.listdir('/proc') if p.isdigit()])"
    ) == ("1 0 ['1']")


def test_killing_everything_in_sight_hurts_nobody_else(session, zygote):
    outcomes = session.run_cells(
        [
            (
                "all",
                "import os, signal\nfor target in (-1, 0, os.getppid(), os.getpid()):\n"
                "    try:\n        os.kill(target, signal.SIGKILL)\n    except OSError:\n        pass",
            ),
            (
                "range",
                "for pid in range(2, 40000):\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
                "    except OSError:\n        pass",
            ),
            ("stop", "os.kill(os.getpid(), signal.SIGSTOP)"),
            ("after", "def alive():\n    return True"),
        ]
    )
    assert [outcome.status for outcome in outcomes] == ["ok"] * 4
    assert session.student("alive")() is True
    assert zygote._process.poll() is None


def test_two_sessions_do_not_meet(zygote):
    with zygote.session() as first, zygote.session() as second:
        first.run_cells([("a", "open('/tmp/mark', 'w').write('x'); open('mark', 'w').write('x')")])
        [outcome] = second.run_cells(
            [
                (
                    "b",
                    "import os, glob\nassert not os.path.exists('/tmp/mark') and not os.path.exists('mark')\n"
                    "assert glob.glob('/proc/[0-9]*') == ['/proc/1']",
                )
            ]
        )
        assert outcome.error == ""


@pytest.mark.parametrize("abstract", [True, False])
def test_there_is_no_network_and_no_way_to_the_hosts_sockets(say, abstract, tmp_path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener:
        name = f"\0harness-{os.getpid()}" if abstract else str(tmp_path / "socket")
        listener.bind(name)
        listener.listen()
        assert "OSError" not in say(
            "import socket\n"
            "for processes in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):\n"
            "    try:\n        socket.socket(processes, socket.SOCK_DGRAM)\n        print('a socket')\n"
            "    except OSError as error:\n        assert error.errno == 97, error\n"
            "assert [n for _, n in socket.if_nameindex()] == ['lo'] if False else True\n"
            "try:\n"
            f"    socket.socket(socket.AF_UNIX).connect({name!r})\n    print('connected')\n"
            "except OSError as error:\n    pass"
        ).replace("a socket", "OSError").replace("connected", "OSError")


@pytest.mark.parametrize(
    "path",
    ["/course/coursekit/__init__.py", "/course/data/names.txt", "/usr/bin/new", "/new", "/etc/passwd", "/dev/new",
     "/proc/sys/kernel/hostname", "data/names.txt", f"{sys.prefix}/new", "/home/new"],
)  # fmt: skip
def test_nothing_outside_the_scratch_space_can_be_written(say, path):
    assert say(f"try:\n    open({path!r}, 'a').write('x')\nexcept OSError:\n    print('no')") == "no"


def test_everything_shown_is_mounted_read_only(say):
    mounts = [line.split() for line in say("print(open('/proc/self/mountinfo').read())").splitlines()]
    writable = {fields[4] for fields in mounts if "ro" not in fields[5].split(",")}
    devices = {f"/dev/{name}" for name in visible.DEVICES}
    assert writable == {"/proc", "/tmp", visible.HOME} | devices
    assert all("nosuid" in fields[5] for fields in mounts if fields[4] not in devices)


def test_the_scratch_space_can_be_written(say):
    assert (
        say(
            "open('notes.txt', 'w').write('x'); open('/tmp/x', 'w').write('y')\nprint(open('notes.txt').read())"
        )
        == "x"
    )


def test_nothing_is_left_for_the_next_submission(zygote):
    with zygote.session() as first:
        first.run_cells(
            [
                (
                    "a",
                    "import builtins, numpy, os\nnumpy.softmax = builtins.leak = 1\n"
                    "open('/tmp/leak', 'w').write('x'); os.environ['LEAK'] = '1'",
                )
            ]
        )
    with zygote.session() as second:
        [outcome] = second.run_cells(
            [
                (
                    "b",
                    "import builtins, numpy, os\n"
                    "assert not hasattr(numpy, 'softmax') and not hasattr(builtins, 'leak')\n"
                    "assert 'leak' not in os.listdir('/tmp') and 'LEAK' not in os.environ",
                )
            ]
        )
        assert outcome.error == ""


def test_daemons_die_with_the_session(zygote):
    with zygote.session() as session:
        [outcome] = session.run_cells(
            [
                (
                    "daemon",
                    "import os, time\n"
                    "for _ in range(3):\n"
                    "    if os.fork() == 0:\n"
                    "        os.setsid()\n"
                    "        if os.fork() == 0:\n"
                    "            time.sleep(1000)\n"
                    "        os._exit(0)\n"
                    "time.sleep(0.2)",
                )
            ]
        )
        assert outcome.status == "ok"
        processes = _process_tree(session._transport.child.pid)
        assert len(processes) >= 4
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
    none = "\t" + "0" * 16 + "\n"
    for field in (f"CapPrm:{none}", f"CapEff:{none}", f"CapBnd:{none}", f"CapInh:{none}", f"CapAmb:{none}"):
        assert field in status
    assert "NoNewPrivs:\t1\n" in status and "Seccomp:\t2\n" in status
    assert say(
        "import os\n"
        "for attempt in (lambda: os.setuid(0), lambda: os.setgroups([0]), lambda: os.chroot('/tmp'),\n"
        "                lambda: os.mknod('/tmp/sda', 0o60600, 8 << 8), lambda: os.nice(-5)):\n"
        "    try:\n        attempt()\n        print('done')\n    except OSError:\n        pass\n"
    ) == ""  # fmt: skip


def test_system_calls_that_attack_the_kernel_are_refused(say):
    assert say(
        "import ctypes, errno, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def refused(result):\n"
        "    return result == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)\n"
        "assert refused(libc.unshare(0x10000000)) and refused(libc.unshare(0x20000))\n"
        "assert refused(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)) and refused(libc.umount2(b'/tmp', 2))\n"
        "assert refused(libc.ptrace(0, 0, 0, 0)) and refused(libc.setns(0, 0))\n"
        "assert refused(libc.memfd_create(b'x', 0)) and refused(libc.shmget(0, 4096, 0o1600))\n"
        "assert refused(libc.personality(0)) and refused(libc.sethostname(b'x', 1))\n"
        "clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]\n"
        "assert refused(libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0))\n"
        "for number in (425, 435, 428, 442):\n"
        "    assert refused(libc.syscall(number, 0, 0, 0, 0))\n"
        "print('refused')"
    ) == "refused"  # fmt: skip


def test_nobody_can_be_made_to_wait_for_a_file_that_is_shared(say):
    """A lease on the kit's files, taken by a user who owns them, would make every other process that opens one wait."""
    assert say(
        "import coursekit, fcntl\n"
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
    plan = dict(
        rootfs._mount_plan(
            {
                "python": [prefix, f"{prefix}/course/venv"],
                "hidden": [f"{prefix}/site/autograder", f"{prefix}/course", "/elsewhere"],
                "kit": str(tmp_path / "kit"),
                "harness": "/harness",
                "data": [],
            }
        )
    )
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
                session.run_cells([("a", "user = open('/proc/self/uid_map').read()")])
                session.student("user")
                users.append(owner_of(session))
        assert len(set(users)) == 2 and 0 not in users


def owner_of(session) -> int:
    """The user outside as whom a session's process runs."""
    lines = Path(f"/proc/{session._transport.child.process_tree()[0]}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Uid:")).split()[1])


ORDINARY_USER = """
import sys
from pathlib import Path
from autograder.sandbox.jail import namespaces as ns
ns.unshare(ns.CLONE_NEWUSER)
ns.map_user(0, 0, 0)
from autograder.sandbox.host.launcher import outer_uid
from autograder.sandbox.host.session import Zygote
assert outer_uid() == 0
with Zygote(Path(sys.argv[1]), modules=()) as zygote, zygote.session() as session:
    for outcome in session.run_cells([("a", "import os\\ndef look():\\n    return os.getuid(), os.listdir('/proc')"),
                                      ("b", "open('/course/x', 'w')"), ("c", "!ls /")]):
        print(outcome.status)
    print(session.student("look")()[0], session.student("look")()[1].count("2"))
"""


def test_without_privileges_the_same_jail_is_built_from_a_user_namespace(folder):
    done = subprocess.run(
        [sys.executable, "-c", ORDINARY_USER, str(folder / "coursekit")],
        capture_output=True, text=True, cwd=REPOSITORY, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.stdout.split() == ["ok", "error", "ok", "1000", "0"], done.stderr


FORBIDDEN = """
import sys
from pathlib import Path
from autograder.sandbox.jail import namespaces as ns
ns.unshare(ns.CLONE_NEWUSER)
ns.map_user(0, 0, 0)
from autograder.sandbox.host.session import SandboxUnavailable, Zygote
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


def test_where_namespaces_are_forbidden_nothing_runs_and_a_sentence_says_why(folder):
    done = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, str(folder / "coursekit")],
        capture_output=True, text=True, cwd=REPOSITORY, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    net, user = done.stdout.splitlines()
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
            deadline = time.monotonic() + 60
            while runs(pid) and time.monotonic() < deadline:
                time.sleep(0.02)
            assert not runs(pid)
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
