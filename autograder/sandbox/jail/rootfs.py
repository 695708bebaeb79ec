"""Builds the read-only root filesystem in which submissions run, and the private scratch space of each.

The zygote builds the root once, in its own mount namespace, and moves into it. A child mounts a new scratch
space and a new /proc over it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import namespaces as ns
from .visible import COURSE, DEVICES, HOME, INNER_UID, SYSTEM_FILES, SYSTEM_FOLDERS, WORKING_FOLDER

READ_ONLY = ns.MS_RDONLY | ns.MS_NOSUID | ns.MS_NODEV
#: Where the sandbox's modules are mounted until they are imported.
HARNESS = f"{COURSE}/.harness"
#: The mount point on which the new root is built: it exists, and nothing is mounted from it.
_STAGING = "/sys"

_ETC = {
    "passwd": f"student:x:{INNER_UID}:{INNER_UID}::{HOME}:/bin/sh\nroot:x:0:0::/:/bin/sh\n",
    "group": f"student:x:{INNER_UID}:\nroot:x:0:\n",
    "hosts": "127.0.0.1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "hostname": "course\n",
}


def build(config: dict[str, Any]) -> None:
    """Build the root from the configuration's paths and move into it. Then ``kit``, ``data`` and ``harness`` are paths inside.

    ``python``, ``hidden``: folders; ``kit``: the kit's folder; ``data``: files and folders; ``harness``: the
    folder of the package ``autograder.sandbox``. ``shadowed`` becomes the paths that each child's scratch space would hide.
    """
    ns.mount("none", "/", None, ns.MS_REC | ns.MS_PRIVATE)
    ns.mount("tmpfs", _STAGING, "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=755,size=4m")
    root = Path(_STAGING)
    for folder in ("proc", "tmp", HOME.lstrip("/")):
        (root / folder).mkdir(parents=True)
    ns.mount("tmpfs", str(root / "tmp"), "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=777,size=64m")
    plan = _mount_plan(config)
    for target, source in plan:
        _mount_at(root, target, source)
    for target, source in plan:
        if source is None:
            ns.mount("none", str(root / target.lstrip("/")), None, ns.MS_REMOUNT | ns.MS_BIND | READ_ONLY)
    _make_dev(root)
    (root / "etc").mkdir(exist_ok=True)
    for name, text in _ETC.items():
        (root / "etc" / name).write_text(text)
    ns.mount("proc", str(root / "proc"), "proc", ns.MS_NOSUID | ns.MS_NODEV | ns.MS_NOEXEC)
    ns.enter_root(_STAGING)
    config["shadowed"] = _shadowed_by_scratch([target for target, source in plan if source])
    config["kit"], config["harness"] = f"{COURSE}/coursekit", HARNESS
    config["data"] = [_place_of_data(path) for path in config["data"]]


def seal() -> None:
    """Unmount the sandbox's modules and make the root read-only."""
    ns.unmount(HARNESS)
    os.rmdir(HARNESS)
    ns.mount("none", "/", None, ns.MS_REMOUNT | ns.MS_BIND | ns.MS_RDONLY | ns.MS_NOSUID | ns.MS_NODEV)


def _mount_plan(config: dict[str, Any]) -> list[tuple[str, str | None]]:
    """(target, source) of every mount, outer folders before inner ones. The source ``None`` means an empty folder.

    A hidden folder that is visible, or lies in a visible one, is covered by an empty mount. A visible folder inside a hidden
    one, such as an environment in the repository, is mounted again.
    """
    visible = [*SYSTEM_FOLDERS, *SYSTEM_FILES, *config["python"]]
    plan: dict[str, str | None] = {path: path for path in visible if os.path.lexists(path)}
    for path in _names_of_hidden(config["hidden"], list(plan)):
        plan[path] = None
    plan[f"{COURSE}/coursekit"] = config["kit"]
    plan[HARNESS] = config["harness"]
    for path in config["data"]:
        plan[_place_of_data(path)] = path
    return sorted(plan.items(), key=lambda item: item[0].count("/"))


def _place_of_data(path: str) -> str:
    return f"{COURSE}/data/{os.path.basename(path)}"


def _names_of_hidden(hidden: list[str], visible: list[str]) -> Iterator[str]:
    """Every path under which a hidden folder would be visible; a link above it gives it a second path."""
    places = {os.path.realpath(path) for path in hidden}
    for place in places:
        if any(place.startswith(f"{outer}/") for outer in places):
            continue  # its outer folder is hidden
        for path in visible:
            real = os.path.realpath(path)
            if not os.path.islink(path) and (place == real or place.startswith(f"{real}/")):
                yield path + place.removeprefix(real)


def _mount_at(root: Path, target: str, source: str | None) -> None:
    path = root / target.lstrip("/")
    if source is None:
        ns.mount("tmpfs", str(path), "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=755,size=64k")
    elif os.path.islink(source) and not target.startswith(COURSE):
        if not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(os.readlink(source))
    elif source != target or not path.exists() or not path.samefile(source):  # else a folder above shows it
        _make_place(path, os.path.isdir(source))
        ns.bind(source, str(path), READ_ONLY)


def _make_place(path: Path, is_folder: bool) -> None:
    """Make the folder or file on which something is mounted."""
    (path if is_folder else path.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        path.touch()


def _make_dev(root: Path) -> None:
    dev = root / "dev"
    dev.mkdir()
    for name in DEVICES:
        (dev / name).touch()
        ns.mount(f"/dev/{name}", str(dev / name), None, ns.MS_BIND)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        (dev / name).symlink_to(f"/proc/self/fd/{number}")
    (dev / "fd").symlink_to("/proc/self/fd")
    (dev / "shm").symlink_to("/tmp")


def _shadowed_by_scratch(visible: list[str]) -> list[str]:
    """The visible folders that each child's scratch space would hide, such as an environment in /tmp."""
    inside = [path for path in visible if path.startswith(("/tmp/", f"{HOME}/"))]
    return [path for path in inside if not any(path.startswith(f"{other}/") for other in inside)]


def mount_scratch(scratch_bytes: int, shadowed: list[str]) -> None:
    """In a child's own mount namespace: mount a new /proc, and one small scratch space for home and /tmp.

    The ``shadowed`` folders are mounted again on top of it.
    """
    folders = [os.open(path, os.O_PATH) for path in shadowed]
    flags = ns.MS_NOSUID | ns.MS_NODEV
    ns.mount("proc", "/proc", "proc", flags | ns.MS_NOEXEC)
    ns.mount("tmpfs", HOME, "tmpfs", flags, f"mode=777,size={scratch_bytes},nr_inodes=20000")
    os.mkdir(f"{HOME}/.tmp")
    os.chmod(f"{HOME}/.tmp", 0o1777)
    ns.mount(f"{HOME}/.tmp", "/tmp", None, ns.MS_BIND)
    for path, folder in zip(shadowed, folders, strict=True):
        _make_place(Path(path), os.path.isdir(f"/proc/self/fd/{folder}"))
        ns.mount(f"/proc/self/fd/{folder}", path, None, ns.MS_BIND | ns.MS_REC)
        os.close(folder)
    os.mkdir(WORKING_FOLDER)
    os.chmod(WORKING_FOLDER, 0o777)
    if os.path.isdir(f"{COURSE}/data"):
        os.symlink(f"{COURSE}/data", f"{WORKING_FOLDER}/data")
    os.chdir(WORKING_FOLDER)
