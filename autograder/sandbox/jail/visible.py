"""The folders, files and environment variables that a submission can see, as data."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

#: System folders that a child sees, read-only: shared libraries, and the commands behind ``!ls``.
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

#: Files of /etc that a child sees: those that the dynamic linker, clocks and fonts need.
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/fonts", "/etc/mime.types")

DEVICES = ("null", "zero", "full", "random", "urandom")

#: Inside the jail: the folder of kit and data, the home folder, and the folder in which the student's code runs.
COURSE = "/course"
HOME = "/home/student"
WORKING_FOLDER = f"{HOME}/lab"

#: The first of the host's user ids that children get when the harness runs as root: high above the ids
#: that systems and containers assign. Each zygote takes its own.
OUTER_UID = 1_900_000_000
INNER_UID = 1000

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": HOME,
    "TMPDIR": "/tmp",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": "/tmp/.matplotlib",
    "IPYTHONDIR": "/tmp/.ipython",
    # There is no network: ``pip install`` in a notebook must fail at once, without half a minute of retries.
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


#: The entries of an environment's folder that Python needs. The rest stays hidden: it may be the course's own.
_OF_A_PREFIX = ("bin", "lib", "lib32", "lib64", "share", "pyvenv.cfg")


def python_folders() -> list[str]:
    """The paths that this Python needs in its environment and in the installation behind it.

    The environment's folder itself is not one of them: after ``python -m venv .`` it also holds the salt, the solutions
    and the gradebook.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    prefixes |= {str(Path(prefix).resolve()) for prefix in prefixes}
    needed = {f"{prefix.rstrip('/')}/{part}" for prefix in prefixes for part in _OF_A_PREFIX}
    needed |= {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    return sorted(path for path in needed if os.path.lexists(path))


def shown_through(path: Path) -> str | None:
    """The visible folder in which ``path`` lies, so that submissions can read it; None if there is none or it is hidden."""
    real = path.resolve()
    if any(real.is_relative_to(hidden) for hidden in hidden_folders()):
        return None
    for folder in (*SYSTEM_FOLDERS, *python_folders()):
        if real.is_relative_to(Path(folder).resolve()):
            return folder
    return None


def open_to_all(path: str) -> bool:
    """Whether any user who can reach this file or folder may read it and everything below."""
    needed = {True: 0o005, False: 0o004}
    return all(
        os.stat(place).st_mode & (bits := needed[os.path.isdir(place)]) == bits for place in _all_below(path)
    )


def unreadable(paths: Iterable[str]) -> str | None:
    """The outermost folder that keeps this process from reading one of these paths, or anything below it."""
    place = next((place for path in paths for place in _all_below(path) if not _opens(place)), None)
    while place is not None and not _opens(os.path.dirname(place)):
        place = os.path.dirname(place)
    return place


def unreadable_packages(hidden: Iterable[str]) -> str | None:
    """The folder of Python modules that this process cannot read, or that holds a package it cannot read."""
    away = {os.path.realpath(path) for path in hidden}
    for path in sorted({sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}):
        if not _opens(path):
            return unreadable([path])
        for entry in os.scandir(path):
            package = entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir()
            if package and not _opens(entry.path) and os.path.realpath(entry.path) not in away:
                return path
    return None


def _opens(path: str) -> bool:
    try:
        if os.path.isdir(path):
            os.stat(f"{path}/.")
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _all_below(path: str) -> Iterator[str]:
    """The path and everything below it except links, whose targets may be missing."""
    yield path
    for folder, folders, files in os.walk(path):
        below = (f"{folder}/{name}" for name in (*folders, *files))
        yield from (place for place in below if not os.path.islink(place))


def hidden_folders() -> list[str]:
    """The harness's folders, which stay hidden even when a visible folder contains them."""
    package = Path(__file__).resolve().parents[2]
    course = package.parent
    installed = importlib.util.find_spec("coursekit")  # hidden: it holds later labs' parts
    kits = list(installed.submodule_search_locations or ()) if installed is not None else []
    return [str(package), *kits, *([str(course)] if (course / "solutions").is_dir() else [])]
