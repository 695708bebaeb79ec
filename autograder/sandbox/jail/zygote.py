"""The zygote: imports the libraries once and forks a jailed child for each submission.

It is launched as a new interpreter (``python zygote.py DESCRIPTOR``), so that its memory never holds a secret. It reads its
configuration from the control socket. It neither runs a student's code nor reads data from a student.

Control messages are JSON lines. In: the configuration, then ``{"spawn": limits}`` with the descriptor of the session's
socket, ``{"reap": pid}``, or ``{"clone": uid}`` with the descriptor of a control socket, on which a copy of this process
serves. Out: ``{"ready": isolation}`` or ``{"error": sentence}``;
``{"pid": pid}`` with the child's pidfd, and without namespaces ``"scratch"`` and ``"elsewhere"``, its folders;
``{"status": wait status, "cpu": seconds, "peak": bytes more than at the fork}``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

MAX_LINE = 1 << 20


class Control:
    """One end of the control socket: sends and receives JSON lines, with descriptors."""

    def __init__(self, connection: socket.socket):
        self.socket = connection
        self.buffer = b""
        self.descriptors: list[int] = []

    def receive(self, seconds: float | None = None) -> dict[str, Any] | None:
        """The next message, or ``None`` if the other end is closed. Raises ``TimeoutError`` after ``seconds``."""
        self.socket.settimeout(seconds)
        while b"\n" not in self.buffer:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.socket, MAX_LINE, 4)
            except ConnectionResetError:  # the other end closed with an unread answer
                return None
            self.descriptors += descriptors
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def send(self, message: dict[str, Any], *descriptors: int) -> None:
        """Send a message, with descriptors. Raises ``OSError`` if the other end is closed."""
        line = json.dumps(message).encode() + b"\n"
        if descriptors:
            socket.send_fds(self.socket, [line], descriptors)
        else:
            self.socket.sendall(line)


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


def choose_jail(config: dict[str, Any]) -> Any:
    """Enter namespaces, or prepare a jail without them if that fails and the configuration allows it. Returns the jail.

    Returns in the process that goes on. Raises ``NoIsolation`` if the isolation is not sufficient.
    """
    from sandbox.jail import jail as jails

    def try_namespaces() -> str:
        inside = dict(config)
        enter_namespaces(inside)
        return trouble_in_child(str, jails.NamespaceJail(inside))

    if config["closed"]:
        jails.copy_course(config)
    trouble = config["lacking"] or (config["least"] != "namespaces" and trouble_in_child(try_namespaces))
    if not trouble:
        enter_namespaces(config)
        return jails.NamespaceJail(config)
    jails.lay_out(config)
    reasons = []
    for uid in dict.fromkeys((config["outer_uid"], 0)):
        config["outer_uid"] = uid
        jail = jails.ReducedJail(config)
        why = jails.why_no_reduced_jail(uid) or trouble_in_child(partial(access_trouble, config, jail), jail)
        if not why:
            return jail
        reasons.append(why)
    raise NoIsolation(f"{trouble}; {reasons[0]}")


class NoIsolation(RuntimeError):
    """The isolation is not sufficient. The text says why, in one sentence."""


def in_words(error: BaseException) -> str:
    """The reason why there is no sandbox, in one sentence."""
    from sandbox.jail import namespaces

    if isinstance(error, OSError):
        return str(namespaces.explain(error))
    if isinstance(error, NoIsolation):
        return str(error)
    return f"the sandbox could not be prepared: {type(error).__name__}: {error}"


def trouble_in_child(look: Callable[[], str], jail: Any = None) -> str:
    """Call ``look`` in a forked child, in the jail if one is given. Returns a sentence about what is wrong, or ""."""
    reader, writer = os.pipe()
    child = jail.fork()[0] if jail is not None else os.fork()
    if child == 0:
        try:
            if jail is not None:
                jail.enter()
            os.write(writer, look().encode())
        except BaseException as error:
            os.write(writer, in_words(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        trouble = answer.read()
    os.waitpid(child, 0)
    if jail is not None:
        jail.ended(child)
        jail.clear()
    return trouble


def access_trouble(config: dict[str, Any], jail: Any) -> str:
    """In a child's jail: a sentence about a file that it can read but must not, or must read but cannot; "" for none."""
    from sandbox.jail import visible

    for path in jail.secret:
        if os.access(path, os.R_OK) or os.access(path, os.X_OK):
            return f"without Landlock submissions can read {path}: `chmod o-rwx {path}` keeps them out"
    closed = visible.unreadable([config["kit"], *config["data"]]) or (
        config["outer_uid"] and visible.unreadable_packages(config["hidden"])
    )
    lacking = f"submissions must read all of {closed} and cannot: `chmod -R a+rX {closed}` lets them"
    return lacking if closed else ""


def import_libraries(config: dict[str, Any]) -> Any:
    """Import the libraries that submissions use. Returns the shell that every child inherits.

    For an entry ``module:what``, also call the module's ``prepare(what)``. No module may leave a thread running.
    """
    fonts = Path(os.environ["MPLCONFIGDIR"])
    fonts.mkdir(exist_ok=True)
    for name, text in config["fonts"].items():
        (fonts / name).write_text(text)
    from sandbox.child import executor, shell  # noqa: F401 (children need them after the folder is unmounted)

    lab_shell = shell.make_shell()
    import matplotlib.pyplot  # noqa: F401
    import numpy

    for name in config["modules"]:
        try:
            module, _, what = name.partition(":")
            imported = importlib.import_module(module)
            if what:
                imported.prepare(what)
        except ImportError as error:
            raise RuntimeError(f"the module {name} cannot be imported: {error}") from None
    if "torch" in sys.modules:
        warm_up_torch(sys.modules["torch"], "torch.optim" in config["modules"])
    shell.warm_up(lab_shell)
    numpy.random.seed(0)
    return lab_shell


def warm_up_torch(torch: Any, optimizers: bool) -> None:
    """Compute a gradient, so that PyTorch loads that code now; with ``optimizers``, also take a step with each.

    Loading this code takes longer than all of PyTorch's other imports.
    """
    torch.set_num_threads(1)
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    str(torch.zeros(2, 2))
    for optimizer in (torch.optim.SGD, torch.optim.Adam) if optimizers else ():
        optimizer(layer.parameters(), lr=0.1).step()
    torch.manual_seed(0)


def require_one_thread() -> None:
    """Wait shortly for ending threads. Raises ``RuntimeError`` if this process still has several."""
    deadline = time.monotonic() + 2.0
    while (count := len(os.listdir("/proc/self/task"))) > 1:
        if time.monotonic() > deadline:
            raise RuntimeError(f"a library started threads ({count} run): a safe fork needs one")
        time.sleep(0.01)


def run_child(descriptor: int, jail: Any, lab_shell: Any) -> None:
    """In the child: enter the jail, report, and serve requests until the socket closes."""
    from sandbox import wire
    from sandbox.child.executor import Executor, Settings
    from sandbox.child.shell import CellRunner, cell_label

    connection = socket.socket(fileno=descriptor)
    try:
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.closerange(3, descriptor)
        os.closerange(descriptor + 1, 1024)
        jail.enter()
        runner = CellRunner(lab_shell, jail.limits)
    except BaseException as error:
        connection.sendall(wire.encode(("failed", in_words(error))))
        os._exit(70)
    random.seed(0)
    executor = Executor(lab_shell.user_ns, cell_label, settings=Settings())
    executor.operations["cell"] = lambda executor, *cell: runner.run(*cell)
    connection.sendall(wire.encode(("ready",)))

    requests = connection.makefile("rb")

    def receive() -> bytes:
        prefix = requests.read(wire.PREFIX.size)
        length = sum(wire.frame_lengths(prefix)) if prefix else 0
        rest = requests.read(length)
        if not prefix or len(rest) < length:
            os._exit(0)
        return prefix + rest

    def round_trip(frame: bytes) -> bytes:
        connection.sendall(frame)
        return receive()

    while True:
        connection.sendall(executor.handle(receive(), round_trip))


def serve(control: Control, jail: Any, lab_shell: Any) -> None:
    """Report, and serve control messages until the harness closes the socket."""
    control.send({"ready": jail.isolation})
    while (message := control.receive()) is not None:
        if "reap" in message:
            answer = reap(message["reap"], jail)
            jail.clear()
            control.send(answer)
            continue
        descriptor = control.descriptors.pop(0)
        if "clone" in message:
            if (copy := os.fork()) == 0:
                control.socket.close()
                jail.become_clone(message["clone"])
                return serve(Control(socket.socket(fileno=descriptor)), jail, lab_shell)
            jail.clones.add(copy)
        else:
            with contextlib.suppress(ChildProcessError):  # reap the children that no message asked about
                while ended := os.waitpid(-1, os.WNOHANG)[0]:
                    jail.ended(ended)
            jail.limits = message["spawn"]
            child, facts = jail.fork()
            if child == 0:
                control.socket.close()
                run_child(descriptor, jail, lab_shell)
            pidfd = os.pidfd_open(child)
            control.send({"pid": child, **facts}, pidfd)
            os.close(pidfd)
        os.close(descriptor)
    jail.close()


def reap(child: int, jail: Any) -> dict[str, Any]:
    """Wait for a child that was killed or has exited, and return how it ended; zeros if it was reaped before."""
    try:
        _, status, usage = os.wait4(child, 0)
    except ChildProcessError:
        return {"status": 0, "cpu": 0.0, "peak": 0}
    jail.ended(child)
    baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = max(0, usage.ru_maxrss - baseline) * 1024
    return {"status": status, "cpu": usage.ru_utime + usage.ru_stime, "peak": peak}


def main() -> None:
    """Read the configuration, prepare the jail and the libraries, and serve."""
    os.umask(0o022)  # another user must read the files made here
    control = Control(socket.socket(fileno=int(sys.argv[1])))
    config = control.receive()
    if config is None:
        return
    sys.argv[1:] = []
    gc.disable()  # until the imports are over: they make many objects and no garbage
    sys.path.insert(0, os.path.dirname(config["harness"]))
    import sandbox  # ``autograder.sandbox`` under this name: the rest of the harness cannot be imported

    del sys.path[0]
    try:
        jail = choose_jail(config)
        sys.path.insert(0, os.path.dirname(config["kit"]))
        sandbox.__path__[:] = [config["harness"]]  # its place in the new root
        lab_shell = import_libraries(config)
        require_one_thread()
        jail.seal()
        jail.measure_baseline()
        if trouble := trouble_in_child(partial(access_trouble, config, jail), jail):
            raise NoIsolation(trouble)
    except Exception as error:
        failure = {"error": in_words(error)}
        control.send(failure)
        while (message := control.receive()) is not None:
            if "clone" in message:
                Control(socket.socket(fileno=control.descriptors.pop(0))).send(failure)
        return
    gc.freeze()
    gc.enable()
    serve(control, jail, lab_shell)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the harness has ended
        main()
    os._exit(0)  # Python would write to the pages that the copies of this process share, to free each object
