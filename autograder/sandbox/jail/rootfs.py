"""Builds the small read-only world in which submissions run, and the private part that each one gets.

The zygote builds the world once, in its own mount namespace, and moves into it. A child mounts a fresh
scratch space and a fresh /proc over it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import namespaces as ns
from .visible import COURSE, DEVICES, HOME, INNER_UID, SYSTEM_FILES, SYSTEM_FOLDERS, WORKING_FOLDER

READ_ONLY = ns.MS_RDONLY | ns.MS_NOSUID | ns.MS_NODEV
#: Where the harness's own modules are until they are imported.
HARNESS = f"{COURSE}/.harness"
#: An existing folder that holds none of the sources; the new root is put together on top of it.
_WORKSHOP = "/sys"

_ETC = {
    "passwd": f"student:x:{INNER_UID}:{INNER_UID}::{HOME}:/bin/sh\nroot:x:0:0::/:/bin/sh\n",
    "group": f"student:x:{INNER_UID}:\nroot:x:0:\n",
    "hosts": "127.0.0.1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "hostname": "course\n",
}


def build(config: dict[str, Any]) -> None:
    """Put the root together from the configuration's paths and move into it.

    ``python``, ``hidden``: folders; ``kit``: the kit's folder; ``data``: files and folders; ``harness``:
    this package's folder.
    """
    ns.mount("none", "/", None, ns.MS_REC | ns.MS_PRIVATE)
    ns.mount("tmpfs", _WORKSHOP, "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=755,size=4m")
    root = Path(_WORKSHOP)
    for folder in ("proc", "tmp", HOME.lstrip("/")):
        (root / folder).mkdir(parents=True)
    ns.mount("tmpfs", str(root / "tmp"), "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=777,size=64m")
    plan = _plan(config)
    for target, source in plan:
        _place(root, target, source)
    for target, source in plan:
        if source is None:
            ns.mount("none", str(root / target.lstrip("/")), None, ns.MS_REMOUNT | ns.MS_BIND | READ_ONLY)
    _make_dev(root)
    (root / "etc").mkdir(exist_ok=True)
    for name, text in _ETC.items():
        (root / "etc" / name).write_text(text)
    ns.mount("proc", str(root / "proc"), "proc", ns.MS_NOSUID | ns.MS_NODEV | ns.MS_NOEXEC)
    ns.enter_root(_WORKSHOP)


def seal() -> None:
    """Take the harness's modules out of sight and make the root read-only."""
    ns.unmount(HARNESS)
    os.rmdir(HARNESS)
    ns.mount("none", "/", None, ns.MS_REMOUNT | ns.MS_BIND | ns.MS_RDONLY | ns.MS_NOSUID | ns.MS_NODEV)


def _plan(config: dict[str, Any]) -> list[tuple[str, str | None]]:
    """What is put where, outer folders before inner ones; ``None`` puts an empty folder there.

    A hidden folder inside a visible one is covered, and a visible one inside a hidden one shows again (an
    environment in the repository's own folder).
    """
    visible = [*SYSTEM_FOLDERS, *SYSTEM_FILES, *config["python"]]
    plan: dict[str, str | None] = {path: path for path in visible if os.path.lexists(path)}
    for path in config["hidden"]:
        if any(path != other and path.startswith(f"{other}/") for other in plan):
            plan[path] = None
    plan[f"{COURSE}/coursekit"] = config["kit"]
    plan[HARNESS] = config["harness"]
    for path in config["data"]:
        plan[f"{COURSE}/data/{os.path.basename(path)}"] = path
    return sorted(plan.items(), key=lambda item: item[0].count("/"))


def _place(root: Path, target: str, source: str | None) -> None:
    place = root / target.lstrip("/")
    if source is None:
        ns.mount("tmpfs", str(place), "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=755,size=64k")
    elif os.path.islink(source) and not target.startswith(COURSE):
        if not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.readlink(source))
    elif not (source == target and _covered(source, place)):
        if os.path.isdir(source):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        ns.bind(source, str(place), READ_ONLY)


def _covered(source: str, place: Path) -> bool:
    """Whether the place already shows the source, because a folder above it is there."""
    return place.exists() and os.path.samefile(source, place)


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


def covered_by_scratch(config: dict[str, Any]) -> list[str]:
    """The visible folders that lie where each child gets its scratch space: an environment in /tmp."""
    inside = [path for path, source in _plan(config) if source and path.startswith(("/tmp/", f"{HOME}/"))]
    return [path for path in inside if not any(path.startswith(f"{other}/") for other in inside)]


def mount_scratch(scratch_bytes: int, covered: list[str]) -> None:
    """In a child's own mount namespace: a fresh /proc, and one small scratch space for home and /tmp.

    The ``covered`` folders are shown again on top of it.
    """
    folders = [os.open(path, os.O_PATH) for path in covered]
    flags = ns.MS_NOSUID | ns.MS_NODEV
    ns.mount("proc", "/proc", "proc", flags | ns.MS_NOEXEC)
    ns.mount("tmpfs", HOME, "tmpfs", flags, f"mode=777,size={scratch_bytes},nr_inodes=20000")
    os.mkdir(f"{HOME}/.tmp")
    os.chmod(f"{HOME}/.tmp", 0o1777)
    ns.mount(f"{HOME}/.tmp", "/tmp", None, ns.MS_BIND)
    for path, folder in zip(covered, folders, strict=True):
        os.makedirs(path)
        ns.mount(f"/proc/self/fd/{folder}", path, None, ns.MS_BIND | ns.MS_REC)
        os.close(folder)
    os.mkdir(WORKING_FOLDER)
    os.chmod(WORKING_FOLDER, 0o777)
    if os.path.isdir(f"{COURSE}/data"):
        os.symlink(f"{COURSE}/data", f"{WORKING_FOLDER}/data")
    os.chdir(WORKING_FOLDER)
