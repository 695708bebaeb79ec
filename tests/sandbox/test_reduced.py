"""What is left without namespaces: which parts are had where, what they keep, and where that is not enough."""

import json
import os
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from coursekit import notebook

from autograder.sandbox.host import launcher
from autograder.sandbox.host.launcher import unused_uid
from autograder.sandbox.host.session import SandboxUnavailable, Zygote
from autograder.sandbox.jail import landlock, namespaces
from autograder.sandbox.jail.visible import OUTER_UID

from .conftest import CELLS

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or namespaces.probe() is not None,
        reason="making a container that forbids namespaces needs Linux and root",
    ),
    pytest.mark.xdist_group("reduced"),
]
needs_signals = pytest.mark.skipif(
    landlock.version() < landlock.SIGNALS_SINCE, reason="this kernel's Landlock keeps no signals inside"
)

#: Runs in the container: grades the submissions of one cell in each line, and prints the isolation and what the last of
#: them said.
PROGRAM = """
import json, sys
from pathlib import Path
from autograder.sandbox.host.session import SandboxUnavailable, Zygote
from autograder.sandbox.limits import Limits
kit, *private = map(Path, sys.argv[1:])
limits = Limits(cell_seconds=20, scratch_bytes=4 << 20, file_bytes=2 << 20)
try:
    with Zygote(kit, [kit.parent / "data" / "names.txt"], limits, ("coursekit",), "reduced", private) as zygote:
        for line in sys.stdin:
            for submission in json.loads(line).split("# the next submission"):
                with zygote.session() as session:
                    [outcome] = session.run_cells([("cell", submission)])
            text = "".join(o["text"] for o in outcome.outputs if o["output_type"] == "stream")
            print(json.dumps([zygote.isolation, outcome.status, text, outcome.error, session.status]), flush=True)
except SandboxUnavailable as reason:
    print(json.dumps(["unavailable", "", "", str(reason), None]))
"""
PLAIN = ()
ORDINARY_USER = ("--user", "1234")
WITHOUT_LANDLOCK = ("--no-landlock",)


@pytest.fixture(scope="module")
def containers():
    """The programs that wait for a cell, by what they were started with: libraries take seconds to import."""
    running = {}
    yield running
    for program in running.values():
        program.communicate(timeout=120)


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A copy of the harness that other users cannot enter."""
    home = tmp_path_factory.mktemp("closed")
    unwanted = shutil.ignore_patterns("__pycache__")
    kit = Path(notebook.__file__).parents[1]
    for source in (Path(launcher.__file__).parents[2], kit):
        shutil.copytree(source, home / source.name, ignore=unwanted)
    home.chmod(0o700)
    return home


@pytest.fixture
def inside(folder, closed, tmp_path_factory, containers):
    """Run a cell in a container: (isolation, the cell's status, what it printed, its error, the session's status)."""
    base = tmp_path_factory.getbasetemp()
    for path in (folder, *folder.parents):
        if path.is_relative_to(base.parent.parent) and not path.stat().st_mode & stat.S_ISVTX:
            path.chmod(0o755)

    def inside(source, *container, harness=closed, private=(), last=False):
        """``last``: the program ends before the result is looked at, and starts with the environment as it is."""
        words = [sys.executable, "-m", "tests.fixtures.plain_container", *container, "--"]
        if (
            "--no-landlock" in container
        ):  # permissions alone keep files: only a copy that others cannot enter will do
            words += ["env", f"PYTHONPATH={harness}"]
        words += [sys.executable, "-P", "-c", PROGRAM, str(folder / "coursekit"), *private]
        key = tuple(words)
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


@needs_signals
def test_a_container_gives_all_that_it_can_and_each_result_lists_it(inside):
    parts = {PLAIN: "Landlock, own user id, ", WITHOUT_LANDLOCK: "own user id, ", ORDINARY_USER: "Landlock, "}
    for container, kept in parts.items():
        said = inside("print(1 + 1)", *container)
        assert said[:3] == [f"reduced ({kept}system call filter, limits)", "ok", "2\n"]


def test_where_files_cannot_be_kept_nothing_runs_and_a_sentence_says_what_to_do(inside, tmp_path):
    def refused(*container, **more):
        isolation, _, _, reason, _ = inside("", *container, **more)
        assert isolation == "unavailable" and "forbids what the sandbox needs" in reason
        return reason

    assert "needs root, or Landlock" in refused(*WITHOUT_LANDLOCK, *ORDINARY_USER)
    open_to_all = Path(launcher.__file__).parents[3]
    assert f"`chmod o-rwx {open_to_all}` keeps them out" in refused(*WITHOUT_LANDLOCK, harness=open_to_all)
    tmp_path.chmod(0o755)
    assert f"submissions can read {tmp_path}" in refused(*WITHOUT_LANDLOCK, private=[str(tmp_path)])


def test_namespaces_are_taken_wherever_they_can_be_had_and_the_course_may_ask_for_them(folder, monkeypatch):
    with Zygote(folder / "coursekit", [], modules=(), least="reduced") as zygote, zygote.session() as session:
        [outcome] = session.run_cells([("cell", "import os; assert os.listdir('/course') == ['coursekit']")])
        assert (zygote.isolation, outcome.error) == ("namespaces", "")
    monkeypatch.setattr(namespaces, "probe", lambda: "here they are forbidden")
    with pytest.raises(SandboxUnavailable, match="here they are forbidden"):
        Zygote(folder / "coursekit", [], modules=(), least="namespaces").wait_ready()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable, match="needs Linux"):
        Zygote(folder / "coursekit", [], modules=(), least="reduced").wait_ready()


def test_submissions_graded_side_by_side_have_users_of_their_own():
    for ids in (65_536, 4_294_967_295):
        users = [unused_uid(f"0 100000 {ids}\n") for _ in range(50)]
        assert len(set(users)) == 50
        assert all(30_000 <= user < 60_000 or user >= OUTER_UID for user in users)


#: Of another user of root's, ``tests/attacks/test_without_namespaces`` shows it.
@needs_signals
def test_landlock_keeps_files_signals_and_the_network(inside):
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
        print(open("data/names.txt").read().strip(), open("mine", "w").write("x"), *sorted(os.listdir(".")))
        """,
        *ORDINARY_USER,
    )
    assert (status, error) == ("ok", "")
    assert said.split() == ["True"] * 10 + ["emma", "1", "data", "mine"]


#: The same filter holds in every container; that an ordinary user and another one read the libraries, every test here shows.
def test_libraries_work_behind_the_filter(inside):
    _, status, said, error, _ = inside(CELLS["libraries"])
    assert (status, error, said.split()) == ("ok", "", ["a.npy", "True"])


def test_another_user_reads_no_folder_that_is_closed_to_others(inside, folder, closed):
    (folder / "solutions").chmod(0o700)
    for path in (folder / "solutions" / "00.py", closed / "autograder" / "results.py"):
        assert inside(f"open({str(path)!r})", *WITHOUT_LANDLOCK)[1] == "error"


def test_what_a_submission_leaves_running_ends_with_it(inside):
    marker = f"{os.getpid()}.5"
    many = """
        import os, time
        for _ in range(50):
            if os.fork() == 0:
                time.sleep(60)
        """
    _, status, _, error, _ = inside(
        f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "333{marker}"])
            os._exit(0)
        time.sleep(0.3)
        # the next submission{many}# the next submission{many}"""
    )
    assert (status, error) == ("ok", ""), "processes of the submission before count as this one's"
    commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"333{marker}" not in commands


FILL = """
import os, time
{}
for number in range(100):
    open(f"{{number}}", "wb").write(bytes(1 << 20))
    time.sleep(0.02)
time.sleep(60)
"""
SHARED = f"/dev/shm/of-a-submission-{os.getpid()}"  # other workers of pytest run these tests beside this one
TOO_DEEP = "for _ in range(2200):\n    os.mkdir('d'); os.chdir('d')"


@pytest.mark.parametrize(
    ("container", "where"),
    [
        pytest.param(ORDINARY_USER, "os.mkdir('blind', 0o300); os.chdir('blind')", marks=needs_signals, id="unlisted"),
        pytest.param(PLAIN, TOO_DEEP, id="deep"),
        pytest.param(WITHOUT_LANDLOCK, f"os.mkdir('{SHARED}'); os.chdir('{SHARED}')", id="a folder that all share"),
    ],
)  # fmt: skip
def test_a_submission_that_fills_the_disk_is_ended_and_its_files_are_removed(
    inside, container, where, tmp_path, monkeypatch
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    tmp_path.chmod(0o777)
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as others:
        os.chown(others.name, 1234, 1234)
        *_, ended = inside(FILL.format(where), *container, last=True)
        assert os.path.exists(others.name), "what is another user's stays"
    assert ended == "out-of-memory"
    assert list(tmp_path.iterdir()) == []
    assert not os.path.exists(SHARED)


def test_only_names_are_seen_of_what_is_hidden_inside_a_visible_folder(tmp_path):
    hidden = tmp_path / "lib" / "package" / "secret"
    hidden.mkdir(parents=True)
    (tmp_path / "lib" / "other").mkdir()
    rules = dict(landlock.rules_except(str(tmp_path), [str(hidden)]))
    assert rules[str(tmp_path / "lib" / "other")] == landlock.READ
    assert rules[str(tmp_path / "lib")] == rules[str(tmp_path / "lib" / "package")] == landlock.LOOK
    assert str(hidden) not in rules
