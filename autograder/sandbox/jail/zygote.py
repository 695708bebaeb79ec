"""The zygote: imports the libraries once and forks a jailed child for each submission.

It is launched as a new interpreter (``python zygote.py DESCRIPTOR``) that never held a secret, reads its
configuration from the control socket, and neither runs a student's code nor reads anything from a student.

Control messages are JSON lines. In: the configuration, then ``{"spawn": limits}`` with the descriptor of
the session's socket, or ``{"reap": pid}``, or ``{"clone": modules, "outer_uid": uid}`` with the descriptor of a
control socket: a copy of this process imports those modules too and serves there. Out: ``{"ready": level of isolation}`` or
``{"error": sentence}``; ``{"pid": pid, "scratch": folder, "elsewhere": folders}`` with the child's pidfd; ``{"status": wait status, "cpu": seconds,
"peak": bytes more than at the fork}``.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import random
import resource
import signal
import socket
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_LINE = 1 << 20
#: Addresses beyond the memory limit, for the arenas of threads and mapped files: their page tables take 32 MiB.
ADDRESS_ROOM = 16 << 30
#: Seconds for removing the files of dead submissions between two requests.
SECONDS_TO_REMOVE = 5.0


def load_package(folder: str) -> None:
    """Import the package ``autograder.sandbox`` from ``folder`` under the name ``sandbox``, whatever is on the path."""
    spec = importlib.util.spec_from_file_location(
        "sandbox", f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["sandbox"] = package
    spec.loader.exec_module(package)


def relocate_package(old: str, new: str) -> None:
    """Have the modules of the package that are not imported yet found in ``new``, where the new root has it."""
    for name, module in list(sys.modules.items()):
        if name == "sandbox" or name.startswith("sandbox."):
            for path in getattr(module, "__path__", []):
                module.__path__[:] = [new + path.removeprefix(old)]


class Control:
    """The zygote's end of the control socket."""

    def __init__(self, descriptor: int):
        self.socket = socket.socket(fileno=descriptor)
        self.buffer = b""
        self.descriptors: list[int] = []

    def receive(self) -> dict[str, Any] | None:
        """The next message, or ``None`` when the harness has closed the socket."""
        while b"\n" not in self.buffer:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.socket, MAX_LINE, 4)
            except ConnectionResetError:  # it was closed with an answer unread
                return None
            self.descriptors += descriptors
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def send(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        """Send a message, with descriptors. Where nobody listens any more, this process ends."""
        line = json.dumps(message).encode() + b"\n"
        try:
            if descriptors:
                socket.send_fds(self.socket, [line], list(descriptors))
            else:
                self.socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(0)


def enter_namespaces(config: dict[str, Any]) -> None:
    """Enter new mount and PID namespaces (and, for an ordinary user, a user namespace), and build the root.

    Returns in the first process of the new PID namespace; the process that was launched waits for it and exits
    with its status.
    """
    from sandbox.jail import namespaces as ns
    from sandbox.jail import rootfs

    uid, gid = os.getuid(), os.getgid()
    if not config["outer_uid"]:
        ns.unshare(ns.CLONE_NEWUSER)
        ns.map_user(uid, uid, gid)
    ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWPID)
    child = os.fork()
    if child:
        os.closerange(3, 1024)
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    ns.prctl(ns.PR_SET_PDEATHSIG, signal.SIGKILL)
    rootfs.build(config)


def settle(config: dict[str, Any]) -> str:
    """Enter the strongest level of isolation that the configuration accepts and this system gives; its name.

    ``OSError`` when there is none. Returns in the process that goes on.
    """
    from sandbox.jail import confine, folders, seccomp  # noqa: F401 (before the files are somewhere else)

    accepted, lacking = config["levels"], str(config["lacking"])
    if accepted == ["none"]:
        return "none"
    if config["closed"]:
        confine.copy_course(config)
    if "namespaces" in accepted:
        if len(accepted) == 1:
            enter_namespaces(config)
            return "namespaces"
        if not (lacking := try_namespaces(config)):
            return "namespaces"
    confine.lay_out(config)
    left = []
    own: int = config["outer_uid"]
    for uid in dict.fromkeys((own, 0)):
        level: str = confine.level_of(bool(uid))
        if trouble := trial(Jail({**config, "outer_uid": uid}, level)):
            left.append(trouble)
        elif level in accepted:
            config["outer_uid"] = uid
            return level
        else:
            left.append(
                f'the isolation that is left is “{level}”: to grade with that, say isolation = "{level}" in course.toml'
            )
    if "none" in accepted:
        return "none"
    raise NoLevel("; ".join(filter(None, (lacking, left[0]))))


class NoLevel(RuntimeError):
    """There is no level of isolation that is accepted. The text says why, in one sentence."""


def try_namespaces(config: dict[str, Any]) -> str:
    """Enter the namespaces in a copy of this process, and return "" there. Where they cannot be had, return why, here."""
    from sandbox.jail import namespaces as ns

    reader, writer = os.pipe()
    copy = os.fork()
    if copy == 0:
        os.close(reader)
        try:
            ns.prctl(ns.PR_SET_PDEATHSIG, signal.SIGKILL)
            enter_namespaces(config)
            trouble = trial(Jail(config, "namespaces"))
        except OSError as error:
            trouble = ns.explain(error)
        if trouble:
            os.write(writer, trouble.encode())
            os._exit(71)
        os.close(writer)
        return ""
    os.close(writer)
    with os.fdopen(reader) as answer:
        trouble = answer.read()
    if not trouble:
        os.closerange(3, 1024)
    _, status = os.waitpid(copy, 0)
    if not trouble:  # it served in this process's place
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    return trouble


def trial(jail: Jail, look: Callable[[], str] = str) -> str:
    """Whether a child can enter the jail, and what it then says of a ``look`` around: "", or what is wrong, in words."""
    from sandbox.jail import namespaces as ns

    reader, writer = os.pipe()
    jail.before_fork()
    child = os.fork()
    jail.scratch[child] = jail.next_scratch
    if child == 0:
        try:
            jail.enter()
            os.write(writer, look().encode())
        except BaseException as error:
            os.write(writer, (ns.explain(error) if isinstance(error, OSError) else repr(error)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        trouble = answer.read()
    os.waitpid(child, 0)
    jail.clear(child)
    return trouble


def what_is_closed(config: dict[str, Any], level: str) -> str:
    """In a child's jail: what it cannot read of what its imports need, in a sentence; "" for nothing."""
    from sandbox.jail import visible

    inside = level == "namespaces"
    kit = f"{visible.COURSE}/coursekit" if inside else config["kit"]
    data = [f"{visible.COURSE}/data/{os.path.basename(path)}" if inside else path for path in config["data"]]
    closed = visible.closed([kit, *data]) or (
        config["outer_uid"] and visible.closed_packages(config["hidden"])
    )
    return (
        f"submissions need all in {closed} and may not read it: `chmod -R a+rX {closed}` lets them"
        if closed
        else ""
    )


def import_libraries(config: dict[str, Any]) -> Any:
    """Import what submissions use; return the shell that every child inherits."""
    fonts = Path(os.environ["MPLCONFIGDIR"])
    fonts.mkdir(exist_ok=True)
    for name, text in config["fonts"].items():
        (fonts / name).write_text(text)
    from sandbox.child import executor, shell  # noqa: F401 (children need them when the folder is unmounted)
    from sandbox.jail import seccomp  # noqa: F401

    lab_shell = shell.make_shell(config["render_figures"])
    import matplotlib.pyplot  # noqa: F401
    import numpy

    import_modules(config["modules"])
    shell.warm_up(lab_shell, config["render_figures"])
    numpy.random.seed(0)
    return lab_shell


def import_modules(names: list[str]) -> None:
    """Import the modules, and call ``prepare(what)`` of one that is named ``module:what``; none may leave a thread behind."""
    had_torch = "torch" in sys.modules
    for name in names:
        try:
            module, _, what = name.partition(":")
            imported = importlib.import_module(module)
            if what:
                imported.prepare(what)
        except ImportError as error:
            raise RuntimeError(f"the module {name} cannot be imported: {error}") from None
    if "torch" in sys.modules and not had_torch:
        warm_up_torch(sys.modules["torch"])
    if "torch.optim" in names:
        warm_up_optimizers(sys.modules["torch"])
    if thread_count() != 1:
        raise RuntimeError(f"a library started threads ({thread_count()} run): a safe fork needs one")


def warm_up_torch(torch: Any) -> None:
    """Do what makes PyTorch load the code of the first gradient."""
    torch.set_num_threads(1)
    torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    str(torch.zeros(2, 2))
    torch.manual_seed(0)


def warm_up_optimizers(torch: Any) -> None:
    """Make PyTorch load its compiler, as the first optimizer does: that takes longer than all its other imports."""
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        optimizer(layer.parameters(), lr=0.1).step()
    torch.manual_seed(0)


def thread_count() -> int:
    """The number of this process's threads, after a moment for those that are about to end."""
    if not os.path.isdir("/proc/self/task"):
        return 1
    deadline = time.monotonic() + 2.0
    while (count := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    return count


class Jail:
    """Jails a forked child."""

    def __init__(self, config: dict[str, Any], level: str):
        from sandbox.jail import confine, namespaces, rootfs

        self.limits: dict[str, Any] = config["limits"]
        self.level = level
        self.outer_uid = config["outer_uid"]
        self.work_folder = config["work_folder"]
        #: The children by pid, each with its folder (where it does not go with the process), and the copies of this process.
        self.scratch: dict[int, str] = {}
        self.next_scratch = ""
        #: The folders of dead submissions.
        self.left: list[str] = []
        self.clones: set[int] = set()
        self.confinement: confine.Confinement | None = None
        if level == "namespaces":
            self.pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            self.shadowed = rootfs.shadowed_by_scratch(config)
        elif level != "none":
            self.confinement = confine.Confinement(config, self.outer_uid)
            namespaces.prctl(confine.PR_SET_CHILD_SUBREAPER, 1)
        self.measure_baseline()

    def measure_baseline(self) -> None:
        """Record how much memory the libraries take: a child's limit counts from there."""
        if self.level != "none":
            self.data_size, self.address_space = size_of("VmData:"), size_of("VmSize:")

    def before_clone(self) -> None:
        """Make the next fork a process of this PID namespace."""
        if self.level == "namespaces":
            from sandbox.jail import namespaces as ns

            ns.setns(self.pid_namespace, ns.CLONE_NEWPID)

    def become_clone(self, outer_uid: int) -> None:
        """In a copy of the process: its submissions get another user, where there is one to give."""
        self.clones, self.scratch, self.left = set(), {}, []
        if self.confinement is not None:
            from sandbox.jail import confine, namespaces

            namespaces.prctl(confine.PR_SET_CHILD_SUBREAPER, 1)
            outer_uid = outer_uid if self.outer_uid else 0
            self.confinement.outer_uid = outer_uid
        self.outer_uid = outer_uid

    def before_fork(self) -> None:
        """Make the next fork the first process of a new PID namespace, or clear up behind the one before."""
        if self.level == "namespaces":
            from sandbox.jail import namespaces as ns

            ns.setns(self.pid_namespace, ns.CLONE_NEWPID)
            ns.unshare(ns.CLONE_NEWPID)
        elif self.confinement is not None:
            self.clear()
            self.next_scratch = self.confinement.new_scratch()

    def clear(self, *ended: int) -> None:
        """End what dead submissions left running, and remove the folders of those that have ended.

        What takes longer is gone on with the next time: meanwhile nobody else is served.
        """
        self.left += [self.scratch.pop(pid) for pid in list(self.scratch) if pid in _exits or pid in ended]
        if self.confinement is not None and self.left:
            from sandbox.jail import confine

            confine.end_strays(self.clones | set(self.scratch))
            if not self.scratch:  # else it may be of one that still runs
                self.left += set(self.confinement.left_elsewhere()) - set(self.left)
            self._remove_left(SECONDS_TO_REMOVE)

    def close(self) -> None:
        """End everything that this process has started."""
        if self.confinement is not None:
            from sandbox.jail import confine

            confine.end_strays(self.clones)
            self.left += {*self.scratch.values(), *self.confinement.left_elsewhere()} - set(self.left)
            self._remove_left(float("inf"))  # or until the harness does it

    def _remove_left(self, seconds: float) -> None:
        from sandbox.jail import folders

        until = time.monotonic() + seconds
        self.left = [path for path in self.left if not folders.remove(path, until - time.monotonic())]

    def enter(self) -> None:
        """In the child: give up every privilege and resource that a submission does not need."""
        os.setsid()  # a signal to the process group crosses PID namespaces
        if self.level == "none":
            os.chdir(self.work_folder)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        elif self.confinement is not None:
            beside = 0 if self.outer_uid else self._tasks_beside()
            self.confinement.enter(self.next_scratch)
            self.set_limits(beside)
            self.confinement.lock(self.next_scratch)
        else:
            self._enter_namespaces()

    def _tasks_beside(self) -> int:
        from sandbox.jail import confine

        tasks: int = confine.tasks_of(os.getuid())
        return tasks

    def _enter_namespaces(self) -> None:
        from sandbox.jail import namespaces as ns
        from sandbox.jail import rootfs, seccomp, visible

        ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWNET | ns.CLONE_NEWIPC | ns.CLONE_NEWUTS | ns.CLONE_NEWCGROUP)
        rootfs.mount_scratch(self.limits["scratch_bytes"], self.shadowed)
        socket.sethostname("course")
        uid, gid = os.getuid(), os.getgid()
        if self.outer_uid:
            uid = gid = self.outer_uid
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        ns.prctl(ns.PR_SET_DUMPABLE, 1)
        ns.unshare(ns.CLONE_NEWUSER)
        ns.map_user(visible.INNER_UID, uid, gid)
        self.set_limits()
        ns.drop_capabilities()
        ns.prctl(ns.PR_SET_DUMPABLE, 1)
        seccomp.install()

    def set_limits(self, tasks_beside: int = 0) -> None:
        """Set the kernel's limits on each process. ``tasks_beside``: those of the same user that are not the submission's."""
        limits = self.limits
        for kind, value in (
            (resource.RLIMIT_CPU, int(limits["cpu_seconds"])),
            (resource.RLIMIT_DATA, self.data_size + int(limits["memory_bytes"])),
            (resource.RLIMIT_AS, self.address_space + int(limits["memory_bytes"]) + ADDRESS_ROOM),
            (resource.RLIMIT_NPROC, int(limits["processes"]) + tasks_beside),
            (resource.RLIMIT_NOFILE, int(limits["open_files"])),
            (resource.RLIMIT_FSIZE, int(limits["file_bytes"])),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_SIGPENDING, 1024),  # timers, of which a user has a number in all
            (resource.RLIMIT_MEMLOCK, 1 << 16),
        ):
            hardest = resource.getrlimit(kind)[1]
            value = value if hardest == resource.RLIM_INFINITY else min(value, hardest)
            resource.setrlimit(kind, (value, value))


def size_of(field: str) -> int:
    """The bytes that this process takes now, by a field of /proc/self/status: what RLIMIT_DATA or RLIMIT_AS counts."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


def run_child(descriptor: int, jail: Jail, lab_shell: Any) -> None:
    """In the child: enter the jail, report, and serve requests until the socket closes."""
    from sandbox import wire
    from sandbox.child.executor import Executor, Settings
    from sandbox.child.shell import CellRunner, cell_label
    from sandbox.jail import namespaces

    connection = socket.socket(fileno=descriptor)
    try:
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.closerange(3, descriptor)
        os.closerange(descriptor + 1, 1024)
        jail.enter()
        runner = CellRunner(lab_shell, jail.limits)
    except BaseException as error:
        reason = (
            namespaces.explain(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        )
        connection.sendall(wire.encode(("failed", reason)))
        os._exit(70)
    random.seed(0)
    executor = Executor(lab_shell.user_ns, cell_label, settings=Settings())
    executor.operations["cell"] = lambda executor, *cell: runner.run(*cell)
    connection.sendall(wire.encode(("ready",)))

    def round_trip(frame: bytes) -> bytes:
        connection.sendall(frame)
        return receive(connection, wire)

    while True:
        connection.sendall(executor.handle(receive(connection, wire), round_trip))


def receive(connection: socket.socket, wire: types.ModuleType) -> bytes:
    """The next frame; the process exits when there is none."""
    data = b""
    parts: list[bytes] = []
    remaining = wire.PREFIX.size
    while remaining:
        data = connection.recv(min(remaining, 1 << 20))
        if not data:
            os._exit(0)
        parts.append(data)
        remaining -= len(data)
        if not remaining and sum(map(len, parts)) == wire.PREFIX.size:
            remaining = sum(wire.frame_lengths(b"".join(parts)))
    return b"".join(parts)


def serve(control: Control, jail: Jail, lab_shell: Any) -> None:
    """Serve control messages until the harness closes the socket."""
    while (message := control.receive()) is not None:
        if "clone" in message:
            descriptor = control.descriptors.pop(0)
            jail.before_clone()
            if (copy := os.fork()) == 0:
                control.socket.close()
                control = Control(descriptor)
                if not prepare_clone(control, jail, message):
                    return
            else:
                jail.clones.add(copy)
                os.close(descriptor)
            continue
        if "reap" in message:
            answer = reap(message["reap"])
            jail.clear()
            control.send(answer)
            continue
        reap_exited()
        descriptor = control.descriptors.pop(0)
        jail.limits = message["spawn"]
        jail.before_fork()
        child = os.fork()
        if child == 0:
            control.socket.close()
            run_child(descriptor, jail, lab_shell)
            os._exit(0)
        _exits.pop(child, None)  # an earlier process of that number
        jail.scratch[child] = jail.next_scratch
        os.close(descriptor)
        elsewhere = jail.confinement.elsewhere if jail.confinement else []
        answer = {"pid": child, "scratch": jail.next_scratch, "elsewhere": elsewhere}
        if hasattr(os, "pidfd_open"):
            pidfd = os.pidfd_open(child)
            control.send(answer, (pidfd,))
            os.close(pidfd)
        else:
            control.send(answer)
    jail.close()


def prepare_clone(control: Control, jail: Jail, message: dict[str, Any]) -> bool:
    """In the copy: import the modules and report; False when they cannot be imported.

    Its submissions run under another host user id, so that limits that count by user, and the right to send signals,
    stay apart.
    """
    _exits.clear()
    modules = message["clone"]
    jail.become_clone(message["outer_uid"])
    gc.disable()
    try:
        import_modules(modules)
        jail.measure_baseline()
    except Exception as error:
        control.send({"error": f"the sandbox could not be prepared: {error}"})
        return False
    if modules:
        gc.collect()
        gc.freeze()
    gc.enable()
    control.send({"ready": jail.level})
    return True


def report_failure(control: Control, error: str) -> None:
    """Tell the harness why there is no sandbox, also in reply to every clone that it asks for."""
    control.send({"error": error})
    while (message := control.receive()) is not None:
        if "clone" in message:
            Control(control.descriptors.pop(0)).send({"error": error})


#: How the latest children ended, by pid, until the harness asks.
_exits: dict[int, dict[str, Any]] = {}


def reap_exited() -> None:
    """Reap and record the children that have ended."""
    try:
        while (exited := os.wait4(-1, os.WNOHANG))[0]:
            _record_exit(*exited)
    except ChildProcessError:
        pass


def reap(child: int) -> dict[str, Any]:
    """How a child ended that was killed or has exited; waits for it."""
    while child not in _exits:
        try:
            _record_exit(*os.wait4(-1, 0))
        except ChildProcessError:
            return {"status": 0, "cpu": 0.0, "peak": 0}
    return _exits[child]


def _record_exit(child: int, status: int, usage: resource.struct_rusage) -> None:
    cpu = usage.ru_utime + usage.ru_stime
    baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = max(0, usage.ru_maxrss - baseline) * 1024
    _exits[child] = {"status": status, "cpu": cpu, "peak": peak}
    for old in list(_exits)[:-64]:
        del _exits[old]


def main() -> None:
    """Set up, report and serve."""
    os.umask(0o022)  # what is made here is for another user to read
    control = Control(int(sys.argv[1]))
    config = control.receive()
    if config is None:
        return
    sys.argv[1:] = []
    gc.disable()  # until the imports are over: they make much, and no garbage
    load_package(config["harness"])
    from sandbox.jail import namespaces, rootfs, visible

    try:
        level = settle(config)
        if level == "namespaces":
            load_from = rootfs.HARNESS
            sys.path.insert(0, visible.COURSE)
        else:
            load_from = config["harness"]
            sys.path.insert(0, os.path.dirname(config["kit"]))
        relocate_package(config["harness"], load_from)
        lab_shell = import_libraries(config)
        if level == "namespaces":
            rootfs.seal()
        if thread_count() != 1:
            raise RuntimeError(f"a library started threads ({thread_count()} run): a safe fork needs one")
        jail = Jail(config, level)
        if level != "none" and (trouble := trial(jail, lambda: what_is_closed(config, level))):
            raise NoLevel(trouble)
    except OSError as error:
        report_failure(control, namespaces.explain(error))
        return
    except NoLevel as reason:
        report_failure(control, str(reason))
        return
    except Exception as error:
        report_failure(control, f"the sandbox could not be prepared: {type(error).__name__}: {error}")
        return
    gc.collect()
    gc.freeze()
    gc.enable()
    control.send({"ready": level})
    serve(control, jail, lab_shell)


if __name__ == "__main__":
    main()
