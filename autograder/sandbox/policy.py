"""The sandbox's policy as data: what a submission may use and what it can see."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are wall-clock time unless the name says otherwise."""

    #: One cell of the notebook.
    cell_seconds: float = 60.0
    #: One call of a hidden test, callbacks included.
    call_seconds: float = 20.0
    #: The whole submission: every run of its cells and every call.
    total_seconds: float = 300.0
    #: CPU time of each process.
    cpu_seconds: int = 300
    #: Memory above what the preloaded libraries take: of one process by RLIMIT_DATA, of all together by
    #: the watchdog.
    memory_bytes: int = 2048 * MEBIBYTE
    #: Processes and threads.
    processes: int = 64
    #: More than these step back behind every other process of the machine.
    crowd: int = 4
    open_files: int = 256
    #: The largest file, and all of /tmp and the working directory together.
    file_bytes: int = 64 * MEBIBYTE
    scratch_bytes: int = 128 * MEBIBYTE
    #: Text, and pictures, that one cell may put out; what is over is dropped.
    output_bytes: int = 200_000
    picture_bytes: int = 2 * MEBIBYTE
    #: Separate outputs of one cell.
    outputs: int = 100

    def as_dict(self) -> dict[str, Any]:
        """For the zygote's configuration."""
        return asdict(self)


#: System folders that a child sees, read-only: shared libraries, and the commands behind ``!ls``.
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

#: Files of /etc that a child sees: what the dynamic linker, clocks and fonts need.
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/fonts", "/etc/mime.types")

DEVICES = ("null", "zero", "full", "random", "urandom")

#: Where the kit and the data lie inside, and where the student's code runs.
COURSE = "/course"
HOME = "/home/student"
WORKING_FOLDER = f"{HOME}/lab"

#: The first of the outer user ids that children get when the harness runs as root: high above the ids
#: that systems and containers hand out. Each zygote takes its own.
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
    # There is no network: an installation at the top of a notebook says so at once, and does not try for half a minute.
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


def python_folders() -> list[str]:
    """The folders that make up this Python: the environment, and what it was made from."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    return sorted({str(Path(prefix).resolve()) for prefix in prefixes} | prefixes)


def hidden_folders() -> list[str]:
    """The harness's own folders, which must stay out of sight even when a visible folder contains them."""
    package = Path(__file__).resolve().parents[1]
    course = package.parent
    installed = importlib.util.find_spec("coursekit")  # whole, with what later labs provide
    kits = list(installed.submodule_search_locations or ()) if installed is not None else []
    return [str(package), *kits, *([str(course)] if (course / "solutions").is_dir() else [])]
