"""Makes a lab's zygote, the process that imports what the lab's submissions import."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from autograder.course.masters import master_path
from autograder.course.packages import IMPORTS_TORCH
from autograder.course.policy_file import settings
from autograder.sandbox.host.session import Zygote
from autograder.sandbox.limits import Limits

#: A master's cell that runs in grading and mentions optimizers.
_OPTIMIZERS = re.compile(
    r"^# %%(?! \[markdown\])(?!.*skip-grading).*\n(?:(?!# %%).*\n)*?.*\boptimizer", re.MULTILINE
)


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def zygote_of(
    lab: str, kit: Path, data: Sequence[Path], limits: Limits, private: Sequence[Path] = ()
) -> Zygote:
    """The zygote of a lab (full name), not launched yet. ``private`` are folders that submissions must not read."""
    master = master_path(lab).read_text(encoding="utf-8")
    torch = ["torch"] if IMPORTS_TORCH.search(master) else []
    torch += ["torch.optim"] if torch and _OPTIMIZERS.search(master) else []
    used = [name for name in ("data", "figures") if (kit / name).is_dir()]
    modules = [*torch, "coursekit", *(f"coursekit.{name}" for name in used)]
    if (kit / "checks" / "data" / f"q{lab}.json").is_file():
        modules.append(f"coursekit.checks.questions:{lab}")
    return Zygote(kit, data, limits, tuple(modules), settings().isolation, private)
