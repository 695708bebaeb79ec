"""What is left without namespaces: which level is had where, what each keeps, and that none grades without its name."""

import json
import os
import select
import stat
import subprocess
import sys
import tempfile
import textwrap

import pytest

from autograder.sandbox.host.launcher import unused_uid
from autograder.sandbox.host.session import SandboxUnavailable, Zygote
from autograder.sandbox.jail import landlock, namespaces
from autograder.sandbox.jail.visible import OUTER_UID

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or namespaces.probe() is not None,
    reason="making a container that forbids namespaces needs Linux and root",
)
needs_signals = pytest.mark.skipif(
    landlock.version() < landlock.SIGNALS_SINCE, reason="this kernel's Landlock keeps no signals inside"
)

#: Runs in the container: grades the submissions of one cell in each line at the best accepted level, and prints the level and
#: what the last of them said.
PROGRAM = """
import json, sys
from pathlib import Path
from autograder.sandbox.host.session import SandboxUnavailable, Zygote
from autograder.sandbox.limits import Limits
from autograder.results import accepted_levels
kit, least = sys.argv[1:]
limits = Limits(cell_seconds=20, scratch_bytes=4 << 20, file_bytes=2 << 20)
try:
    with Zygote(Path(kit), [Path(kit).parent / "data" / "names.txt"], limits, ("coursekit",), accepted_levels(least)) as zygote:
        for line in sys.stdin:
            for submission in json.loads(line).split("# the next submission"):
                with zygote.session() as session:
                    [outcome] = session.run_cells([("cell", submission)])
            text = "".join(o["text"] for o in outcome.outputs if o["output_type"] == "stream")
            print(json.dumps([zygote.level, outcome.status, text, outcome.error, session.status]), flush=True)
except SandboxUnavailable as reason:
    print(json.dumps(["unavailable", "", "", str(reason), None]))
"""
PLAIN = ()
WITHOUT_LANDLOCK = ("--no-landlock",)
ORDINARY_USER = ("--user", "1234")
NEITHER = ("--no-landlock", "--user", "1234")


@pytest.fixture(scope="module")
def containers():
    """The programs that wait for a cell, by what they were started with: libraries take seconds to import."""
    running = {}
    yield running
    for program in running.values():
        program.communicate(timeout=120)


@pytest.fixture
def inside(folder, tmp_path_factory, containers):
    """Run a cell in a container: (level, the cell's status, what it printed, its error, the session's status)."""
    base = tmp_path_factory.getbasetemp()
    for path in (folder, *folder.parents):
        if path.is_relative_to(base.parent.parent) and not path.stat().st_mode & stat.S_ISVTX:
            path.chmod(0o755)

    def inside(source, *container, least="limits", last=False):
        """``last``: the program ends before the result is looked at, and starts with the environment as it is."""
        words = [sys.executable, "-m", "tests.fixtures.plain_container", *container, "--"]
        words += [sys.executable, "-c", PROGRAM, str(folder / "coursekit"), least]
        key = (container, least)
        program = None if last else containers.pop(key, None)
        if program is None:
            program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(json.dumps(textwrap.dedent(source)), file=program.stdin, flush=True)
        assert select.select([program.stdout], [], [], 120)[0]
        said = json.loads(program.stdout.readline())
        if last or said[0] == "unavailable":
            program.communicate(timeout=120)
        else:
            containers[key] = program
        return said

    return inside


@pytest.mark.parametrize(
    ("container", "level"),
    [
        (PLAIN, "landlock"),
        (WITHOUT_LANDLOCK, "user"),
        pytest.param(ORDINARY_USER, "landlock", marks=needs_signals),
        (NEITHER, "limits"),
    ],
)
def test_a_container_gives_the_strongest_level_that_it_can(inside, container, level):
    assert inside("print(1 + 1)", *container)[:3] == [level, "ok", "2\n"]


def test_a_level_below_what_is_accepted_stops_with_a_sentence_that_says_how_to_accept_it(inside):
    level, _, _, reason, _ = inside("", *WITHOUT_LANDLOCK, least="landlock")
    assert (level == "unavailable" and "this container forbids" in reason) or "this system forbids" in reason
    assert 'isolation = "user" in course.toml' in reason


def test_namespaces_are_taken_wherever_they_can_be_had(folder):
    with Zygote(folder / "coursekit", [], modules=(), levels=["namespaces", "landlock", "none"]) as zygote:
        assert zygote.level == "namespaces"
        with zygote.session() as session:
            assert (
                session.run_cells([("cell", "import os; assert os.listdir('/course') == ['coursekit']")])[
                    0
                ].status
                == "ok"
            )


@pytest.mark.parametrize("ids", [65_536, 4_294_967_295])
def test_submissions_graded_side_by_side_have_users_of_their_own(ids):
    users = [unused_uid(f"0 100000 {ids}\n") for _ in range(50)]
    assert len(set(users)) == 50
    assert all(30_000 <= user < 60_000 or user >= OUTER_UID for user in users)


@pytest.mark.parametrize("container", [PLAIN, pytest.param(ORDINARY_USER, marks=needs_signals)])
def test_landlock_keeps_files_signals_and_the_network(inside, container):
    _, status, said, error, _ = inside(
        """
        import os, signal, socket
        def refused(do, *arguments):
            try:
                do(*arguments)
            except OSError:
                return True
            return False
        print(refused(open, "/etc/shadow"), refused(open, "/etc/passwd"), refused(os.listdir, "/proc"))
        print(refused(open, "/tmp/mine", "w"), refused(open, "data/names.txt", "w"))
        print(refused(os.kill, os.getppid(), 0), refused(os.kill, 1, 0))
        print(refused(socket.socket), refused(socket.socket, socket.AF_UNIX))
        print(refused(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM))
        print(open("data/names.txt").read().strip(), open("mine", "w").write("x"), os.listdir("."))
        """,
        *container,
    )
    assert (status, error) == ("ok", "")
    assert said.replace("\n", " ").split("emma")[0].split() == ["True"] * 10
    assert "emma 1 ['data', 'mine']" in said or "emma 1 ['mine', 'data']" in said


#: What labs do, and what libraries try newer system calls for.
LIBRARIES = """
import os, shutil, subprocess, tempfile
import matplotlib.pyplot as plt
import numpy as np
import torch
a = np.linalg.svd(np.random.default_rng(0).normal(size=(50, 50)))[1]
np.save("a.npy", a)
assert np.array_equal(np.load("a.npy", mmap_mode="r"), a)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(4, 3)).sum().backward()
optimizer.step()
torch.save(model.state_dict(), "model.pt")
model.load_state_dict(torch.load("model.pt"))
list(torch.utils.data.DataLoader(torch.arange(8), batch_size=4))
plt.plot(a)
plt.savefig("a.png")
with tempfile.TemporaryDirectory() as folder:
    shutil.copy2("a.png", folder)
    assert os.access(f"{folder}/a.png", os.R_OK, effective_ids=True)
print(subprocess.run(["ls", "a.npy"], capture_output=True, text=True).stdout, os.path.getsize("a.png") > 1000)
"""


#: The same filter holds at every level; that an ordinary user and a user of its own read the libraries, every test here shows.
@pytest.mark.parametrize(
    "container",
    [
        None,
        PLAIN,
        pytest.param(ORDINARY_USER, marks=[needs_signals, pytest.mark.proof]),
        pytest.param(WITHOUT_LANDLOCK, marks=pytest.mark.proof),
        NEITHER,
    ],
)
def test_libraries_work_behind_the_filter(inside, folder, container):
    if container is not None:
        _, status, said, error, _ = inside(LIBRARIES, *container)
    else:
        with Zygote(folder / "coursekit", [], modules=()) as zygote, zygote.session() as session:
            [outcome] = session.run_cells([("cell", LIBRARIES)])
            said = "".join(o["text"] for o in outcome.outputs if o["output_type"] == "stream")
            status, error = outcome.status, outcome.error
    assert (status, error, said.split()) == ("ok", "", ["a.npy", "True"])


@needs_signals
def test_nothing_tells_a_submission_which_files_others_make(inside):
    _, status, said, error, _ = inside(
        """
        import ctypes, fcntl, os
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.inotify_init1(0), libc.inotify_init())
        try:
            fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)
        except PermissionError:
            print("refused")
        """,
        *ORDINARY_USER,
    )
    assert (status, error, said.split()) == ("ok", "", ["-1", "-1", "refused"])


@needs_signals
def test_files_of_the_same_user_keep_their_attributes_whatever_the_kernel_calls_the_change(inside, folder):
    mine = folder / "data" / "names.txt"
    os.chown(mine, 1234, 1234)
    try:
        os.setxattr(mine, "user.old", b"1")
    except OSError:
        pytest.skip("this disk keeps no attributes")
    inside(
        f"""
        import ctypes, os, struct
        libc = ctypes.CDLL(None, use_errno=True)
        file = {os.fsencode(mine)!r}
        value = ctypes.create_string_buffer(b"evil")
        arguments = struct.pack("QII", ctypes.addressof(value), 4, 0)
        libc.syscall(463, -100, file, 0, b"user.new", arguments, len(arguments))
        libc.syscall(466, -100, file, 0, b"user.old")
        libc.syscall(469, -100, file, struct.pack("QIIII", 0x40, 0, 0, 0, 0), 24, 0)
        """,
        *ORDINARY_USER,
    )
    assert os.listxattr(mine) == ["user.old"]
    attributes = subprocess.run(["lsattr", str(mine)], capture_output=True, text=True, check=False).stdout
    assert "d" not in attributes.split(" ")[0]


@needs_signals
def test_files_of_the_same_user_keep_their_modes_and_times(inside, folder, tmp_path):
    mine = folder / "data" / "names.txt"
    os.chown(mine, 1234, 1234)
    before = mine.stat()
    inside(
        f"import os\nos.chmod({str(mine)!r}, 0)\nos.utime({str(mine)!r}, (0, 0))\n"
        "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
        *ORDINARY_USER,
    )
    after = mine.stat()
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)


@needs_signals
def test_files_of_the_same_user_keep_their_flags_and_nobody_waits_for_them(inside):
    _, status, said, error, _ = inside(
        """
        import fcntl
        file = open("data/names.txt")
        for ask in (lambda: fcntl.ioctl(file, 0x40086602, bytes(8)), lambda: fcntl.ioctl(file, 0x40087602, bytes(8)),
                    lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)):
            try:
                ask()
            except PermissionError:
                print("refused")
        """,
        *ORDINARY_USER,
    )
    assert (status, error, said.split()) == ("ok", "", ["refused"] * 3)


def test_another_user_reads_no_folder_that_is_closed_to_others(inside, folder):
    (folder / "solutions").chmod(0o700)
    path = folder / "solutions" / "00.py"
    level, status, *_ = inside(f"open({str(path)!r})", *WITHOUT_LANDLOCK)
    assert (level, status) == ("user", "error")


@pytest.mark.parametrize("container", [PLAIN, WITHOUT_LANDLOCK, NEITHER])
def test_what_a_submission_leaves_running_ends_with_it(inside, container):
    marker = f"{os.getpid()}.{len(container)}"
    inside(
        f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "333{marker}"])
            os._exit(0)
        time.sleep(0.3)
        """,
        *container,
    )
    commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"333{marker}" not in commands


def test_what_a_submission_leaves_running_takes_no_process_from_the_next_one(inside):
    many = """
        import os, time
        for _ in range(55):
            if os.fork() == 0:
                time.sleep(60)
        """
    _, status, _, error, _ = inside(f"{many}# the next submission\n{many}")
    assert (status, error) == ("ok", "")


@pytest.mark.parametrize("container", [PLAIN, NEITHER])
def test_a_submission_that_fills_its_folder_is_ended(inside, container):
    *_, ended = inside(
        """
        import time
        for number in range(100):
            open(str(number), "wb").write(bytes(1 << 20))
            time.sleep(0.02)
        time.sleep(5)
        """,
        *container,
    )
    assert ended == "out-of-memory"


@pytest.mark.parametrize("container", [PLAIN, WITHOUT_LANDLOCK, NEITHER])
def test_a_submission_that_fills_a_folder_too_deep_for_a_path_is_ended_and_its_files_are_removed(
    inside, container, tmp_path, monkeypatch
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    tmp_path.chmod(0o777)
    *_, ended = inside(
        """
        import os, time
        for _ in range(2200):
            os.mkdir("d")
            os.chdir("d")
        for number in range(100):
            open(str(number), "wb").write(bytes(1 << 20))
            time.sleep(0.02)
        time.sleep(5)
        """,
        *container,
        last=True,
    )
    assert ended == "out-of-memory"
    assert list(tmp_path.iterdir()) == []


@needs_signals
def test_a_folder_that_its_owner_may_not_list_does_not_hide_files(inside):
    *_, ended = inside(
        """
        import os, time
        os.mkdir("blind", 0o300)
        for number in range(100):
            open(f"blind/{number}", "wb").write(bytes(1 << 20))
            time.sleep(0.02)
        time.sleep(5)
        """,
        *ORDINARY_USER,
    )
    assert ended == "out-of-memory"


def test_nothing_of_a_submission_stays_on_the_disk(inside, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    tmp_path.chmod(0o777)
    inside("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nos.mkdir('closed', 0)", last=True)
    assert list(tmp_path.iterdir()) == []


def test_only_names_are_seen_of_what_is_hidden_inside_a_visible_folder(tmp_path):
    hidden = tmp_path / "lib" / "package" / "secret"
    hidden.mkdir(parents=True)
    (tmp_path / "lib" / "other").mkdir()
    rules = dict(landlock.around(str(tmp_path), [str(hidden)]))
    assert rules[str(tmp_path / "lib" / "other")] == landlock.READ
    assert rules[str(tmp_path / "lib")] == rules[str(tmp_path / "lib" / "package")] == landlock.LOOK
    assert str(hidden) not in rules


def test_without_any_level_there_is_no_grading(folder, monkeypatch):
    monkeypatch.setattr(namespaces, "probe", lambda: "this is no Linux")
    monkeypatch.setattr(namespaces, "is_known", lambda: False)
    zygote = Zygote(folder / "coursekit", [], modules=(), levels=["namespaces", "landlock"])
    with pytest.raises(SandboxUnavailable, match="this is no Linux"):
        zygote.wait_ready()


@pytest.mark.parametrize("shared", ["/tmp", "/var/tmp", "/dev/shm"])
def test_what_a_submission_makes_where_all_users_may_counts_and_is_removed(inside, shared):
    name = f"{shared}/of-a-submission-{os.getpid()}"
    *_, ended = inside(
        f"""
        import os, time
        os.mkdir({name!r})
        open({name + ".txt"!r}, "w").write("x")
        for number in range(100):
            open(f"{name}/{{number}}", "wb").write(bytes(1 << 20))
            time.sleep(0.02)
        time.sleep(5)
        """,
        *WITHOUT_LANDLOCK,
    )
    assert ended == "out-of-memory"
    assert not os.path.lexists(name) and not os.path.lexists(f"{name}.txt")


def test_what_others_have_where_all_users_may_is_left_alone(inside):
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        os.chown(file.name, 1234, 1234)
        said = inside("print(1)", *WITHOUT_LANDLOCK)
        assert said[0] == "user" and os.path.exists(file.name)
