"""The zygote: imports the libraries once and forks a jailed child for each submission.

It is started as a fresh interpreter (``python zygote.py DESCRIPTOR``) that never held a secret, reads its
configuration from the control socket, and never runs a student's code or reads anything from a student.

Control messages are JSON lines. In: the configuration, then ``{"spawn": limits}`` with the descriptor of
the session's socket, or ``{"reap": pid}``, or ``{"clone": modules, "outer_id": uid}`` with the descriptor of a
control socket: a copy of this process imports those modules too and serves there. Out: ``{"ready": true}`` or
``{"error": sentence}``; ``{"pid": pid}`` with the child's pidfd; ``{"status": wait status, "cpu": seconds,
"peak": bytes above birth}``.
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
from pathlib import Path
from typing import Any

MAX_LINE = 1 << 20


def load_package(folder: str) -> None:
    """Import this package from ``folder`` under the name ``sandbox``, whatever is on the path."""
    spec = importlib.util.spec_from_file_location(
        "sandbox", f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["sandbox"] = package
    spec.loader.exec_module(package)


def move_package(old: str, new: str) -> None:
    """Find what is still to be imported of this package in the folder ``new``, where the root has it now."""
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
        """The next message, or ``None`` when the harness has gone."""
        while b"\n" not in self.buffer:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.socket, MAX_LINE, 4)
            except ConnectionResetError:  # the harness went without reading an answer
                return None
            self.descriptors += descriptors
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def send(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        """Send a message, with descriptors."""
        line = json.dumps(message).encode() + b"\n"
        if descriptors:
            socket.send_fds(self.socket, [line], list(descriptors))
        else:
            self.socket.sendall(line)


def enter_own_world(config: dict[str, Any]) -> None:
    """Leave the host: own mount and process namespaces (and, for an ordinary user, an own user namespace).

    Returns in the first process of the new process namespace; the process that was started waits for it
    and ends as it ends.
    """
    from sandbox.jail import namespaces as ns
    from sandbox.jail import rootfs

    uid, gid = os.getuid(), os.getgid()
    if not config["outer_id"]:
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


def import_libraries(config: dict[str, Any]) -> Any:
    """Import what submissions use, and return the shell that every child inherits."""
    fonts = Path(os.environ["MPLCONFIGDIR"])
    fonts.mkdir(exist_ok=True)
    for name, text in config["fonts"].items():
        (fonts / name).write_text(text)
    from sandbox.child import executor, shell  # noqa: F401 (children need them when the folder is gone)
    from sandbox.jail import seccomp  # noqa: F401

    lab_shell = shell.make_shell(config["render_figures"])
    import matplotlib.pyplot  # noqa: F401
    import numpy

    import_modules(config["modules"])
    shell.warm_up(lab_shell, config["render_figures"])
    numpy.random.seed(0)
    return lab_shell


def import_modules(names: list[str]) -> None:
    """Import what was asked for; no thread may be left of it."""
    had_torch = "torch" in sys.modules
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise RuntimeError(f"the module {name} cannot be imported: {error}") from None
    if "torch" in sys.modules and not had_torch:
        warm_up_torch(sys.modules["torch"])
    if "torch.optim" in names:
        warm_up_optimizers(sys.modules["torch"])
    if threads() != 1:
        raise RuntimeError(f"a library started threads ({threads()} run): a safe fork needs one")


def warm_up_torch(torch: Any) -> None:
    """Have PyTorch load what it loads at the first gradient."""
    torch.set_num_threads(1)
    torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    str(torch.zeros(2, 2))
    torch.manual_seed(0)


def warm_up_optimizers(torch: Any) -> None:
    """Have PyTorch load its compiler, as it does at the first optimizer: it takes longer than all the rest of it."""
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        optimizer(layer.parameters(), lr=0.1).step()
    torch.manual_seed(0)


def threads() -> int:
    """How many threads this process has, when those that are about to end have ended."""
    if not os.path.isdir("/proc/self/task"):
        return 1
    deadline = time.monotonic() + 2.0
    while (count := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    return count


class Jail:
    """Turns a forked child into a jailed one."""

    def __init__(self, config: dict[str, Any]):
        self.limits: dict[str, Any] = config["limits"]
        self.sandboxed = config["sandbox"]
        self.outer_id = config["outer_id"]
        self.workplace = config["workplace"]
        if self.sandboxed:
            self.own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            self.measure()
            from sandbox.jail import rootfs

            self.covered = rootfs.covered_by_scratch(config)

    def measure(self) -> None:
        """Take note of what the libraries take: a child's limit counts from there."""
        if self.sandboxed:
            self.data_size = data_size()

    def before_clone(self) -> None:
        """Let the next child be a process of this namespace."""
        if self.sandboxed:
            from sandbox.jail import namespaces as ns

            ns.setns(self.own_processes, ns.CLONE_NEWPID)

    def before_fork(self) -> None:
        """Let the next child be the first process of a fresh process namespace."""
        if self.sandboxed:
            from sandbox.jail import namespaces as ns

            ns.setns(self.own_processes, ns.CLONE_NEWPID)
            ns.unshare(ns.CLONE_NEWPID)

    def enter(self) -> None:
        """In the child: give up everything that a submission does not need."""
        os.setsid()  # a signal to the process group reaches across process namespaces
        if not self.sandboxed:
            os.chdir(self.workplace)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            return
        from sandbox.jail import namespaces as ns
        from sandbox.jail import rootfs, seccomp, visible

        ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWNET | ns.CLONE_NEWIPC | ns.CLONE_NEWUTS | ns.CLONE_NEWCGROUP)
        rootfs.mount_scratch(self.limits["scratch_bytes"], self.covered)
        socket.sethostname("course")
        uid, gid = os.getuid(), os.getgid()
        if self.outer_id:
            uid = gid = self.outer_id
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

    def set_limits(self) -> None:
        """The kernel's own limits on each process."""
        limits = self.limits
        for kind, value in (
            (resource.RLIMIT_CPU, int(limits["cpu_seconds"])),
            (resource.RLIMIT_DATA, self.data_size + int(limits["memory_bytes"])),
            (resource.RLIMIT_NPROC, int(limits["processes"])),
            (resource.RLIMIT_NOFILE, int(limits["open_files"])),
            (resource.RLIMIT_FSIZE, int(limits["file_bytes"])),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_MEMLOCK, 1 << 16),
        ):
            resource.setrlimit(kind, (value, value))


def data_size() -> int:
    """What RLIMIT_DATA counts, now, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmData")


def be_child(descriptor: int, jail: Jail, lab_shell: Any) -> None:
    """The child's life: enter the jail, say so, and serve requests until the socket closes."""
    from sandbox import wire
    from sandbox.child.executor import Executor
    from sandbox.child.shell import Runner, label_of
    from sandbox.jail import namespaces

    link = socket.socket(fileno=descriptor)
    try:
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.closerange(3, descriptor)
        os.closerange(descriptor + 1, 1024)
        jail.enter()
        runner = Runner(lab_shell, jail.limits)
    except BaseException as error:
        why = namespaces.explain(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        link.sendall(wire.encode(("failed", why)))
        os._exit(70)
    random.seed(0)
    executor = Executor(lab_shell.user_ns, label_of)
    executor.operations["cell"] = lambda executor, *cell: runner.run(*cell)
    link.sendall(wire.encode(("ready",)))

    def round_trip(frame: bytes) -> bytes:
        link.sendall(frame)
        return receive(link, wire)

    while True:
        link.sendall(executor.handle(receive(link, wire), round_trip))


def receive(link: socket.socket, wire: types.ModuleType) -> bytes:
    """The next frame; the process ends when there is none."""
    data = b""
    parts: list[bytes] = []
    missing = wire.PREFIX.size
    while missing:
        data = link.recv(min(missing, 1 << 20))
        if not data:
            os._exit(0)
        parts.append(data)
        missing -= len(data)
        if not missing and sum(map(len, parts)) == wire.PREFIX.size:
            missing = sum(wire.frame_lengths(b"".join(parts)))
    return b"".join(parts)


def serve(control: Control, jail: Jail, lab_shell: Any) -> None:
    """Fork a child for each ``spawn`` until the harness goes."""
    while (message := control.receive()) is not None:
        if "clone" in message:
            descriptor = control.descriptors.pop(0)
            jail.before_clone()
            if os.fork() == 0:
                control.socket.close()
                control = Control(descriptor)
                if not become_clone(control, jail, message):
                    return
            else:
                os.close(descriptor)
            continue
        if "reap" in message:
            control.send(reap(message["reap"]))
            continue
        collect_dead()
        descriptor = control.descriptors.pop(0)
        jail.limits = message["spawn"]
        jail.before_fork()
        child = os.fork()
        if child == 0:
            control.socket.close()
            be_child(descriptor, jail, lab_shell)
            os._exit(0)
        os.close(descriptor)
        if hasattr(os, "pidfd_open"):
            pidfd = os.pidfd_open(child)
            control.send({"pid": child}, (pidfd,))
            os.close(pidfd)
        else:
            control.send({"pid": child})


def become_clone(control: Control, jail: Jail, message: dict[str, Any]) -> bool:
    """In the copy: import the modules and say that it is ready; False when that cannot be.

    Its submissions run under a user id of their own: what counts by user, and who may signal whom, stays apart.
    """
    _ended.clear()
    modules, jail.outer_id = message["clone"], message["outer_id"]
    try:
        import_modules(modules)
        jail.measure()
    except Exception as error:
        control.send({"error": f"the sandbox could not be prepared: {error}"})
        return False
    if modules:
        gc.collect()
        gc.freeze()
    control.send({"ready": True})
    return True


def refuse(control: Control, error: str) -> None:
    """Tell the harness, and every copy that it asks for, why there is no sandbox."""
    control.send({"error": error})
    while (message := control.receive()) is not None:
        if "clone" in message:
            Control(control.descriptors.pop(0)).send({"error": error})


#: Wait statuses of children that ended before anybody asked, the latest only.
_ended: dict[int, dict[str, Any]] = {}


def collect_dead() -> None:
    """Take note of the children that have ended."""
    try:
        while (found := os.wait4(-1, os.WNOHANG))[0]:
            _note(*found)
    except ChildProcessError:
        pass


def reap(child: int) -> dict[str, Any]:
    """How a child that was killed or has gone ended."""
    while child not in _ended:
        try:
            _note(*os.wait4(-1, 0))
        except ChildProcessError:
            return {"status": 0, "cpu": 0.0, "peak": 0}
    return _ended[child]


def _note(child: int, status: int, usage: resource.struct_rusage) -> None:
    cpu = usage.ru_utime + usage.ru_stime
    born = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = max(0, usage.ru_maxrss - born) * 1024
    _ended[child] = {"status": status, "cpu": cpu, "peak": peak}
    for old in list(_ended)[:-64]:
        del _ended[old]


def main() -> None:
    """Set up, report, serve."""
    control = Control(int(sys.argv[1]))
    config = control.receive()
    if config is None:
        return
    sys.argv[1:] = []
    load_package(config["harness"])
    from sandbox.jail import namespaces, rootfs, visible

    try:
        if config["sandbox"]:
            enter_own_world(config)
            load_from = rootfs.HARNESS
            sys.path.insert(0, visible.COURSE)
        else:
            load_from = config["harness"]
            sys.path.insert(0, os.path.dirname(config["kit"]))
        move_package(config["harness"], load_from)
        lab_shell = import_libraries(config)
        if config["sandbox"]:
            rootfs.seal()
        if threads() != 1:
            raise RuntimeError(f"a library started threads ({threads()} run): a safe fork needs one")
        jail = Jail(config)
    except OSError as error:
        refuse(control, namespaces.explain(error))
        return
    except Exception as error:
        refuse(control, f"the sandbox could not be prepared: {type(error).__name__}: {error}")
        return
    gc.collect()
    gc.freeze()
    control.send({"ready": True})
    serve(control, jail, lab_shell)


if __name__ == "__main__":
    main()
