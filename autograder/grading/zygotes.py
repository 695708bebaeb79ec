"""The zygotes of a lab: one for most submissions and, in a NumPy lab, one with PyTorch for submissions that use it.

Importing PyTorch takes longer than all other imports together and makes a process slower to copy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from autograder.course.masters import master_path
from autograder.course.policy_file import settings
from autograder.grading.submissions import Notebook
from autograder.sandbox.host.session import Zygote
from autograder.sandbox.limits import Limits

_IMPORTS_TORCH = re.compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)
#: A master's cell that runs in grading and mentions optimizers.
_OPTIMIZERS = re.compile(
    r"^# %%(?! \[markdown\])(?!.*skip-grading).*\n(?:(?!# %%).*\n)*?.*\boptimizer", re.MULTILINE
)


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Zygotes:
    """Gives each submission the zygote that has imported the libraries it imports."""

    def __init__(self, plain: Zygote, with_torch: Zygote | None = None):
        self.plain = plain
        self.with_torch = with_torch

    @classmethod
    def of(
        cls, lab: str, kit: Path, data: Sequence[Path], limits: Limits, private: Sequence[Path] = ()
    ) -> Zygotes:
        """The zygotes of a lab (full name), not launched yet. ``private`` are folders that submissions must not read."""
        master = master_path(lab).read_text(encoding="utf-8")
        torch = ["torch"] if _IMPORTS_TORCH.search(master) else []
        torch += ["torch.optim"] if torch and _OPTIMIZERS.search(master) else []
        used = [name for name in ("data", "figures") if (kit / name).is_dir()]
        modules = [*torch, "coursekit", *(f"coursekit.{name}" for name in used)]
        if (kit / "checks" / "data" / f"q{lab}.json").is_file():
            modules.append(f"coursekit.checks.questions:{lab}")
        return cls(Zygote(kit, data, limits, tuple(modules), settings().isolation, private))

    def use(self, limits: Limits) -> None:
        """Use these limits for every session."""
        for zygote in self._all():
            zygote.limits = limits

    def launch(self, notebooks: Sequence[Notebook]) -> None:
        """Start the zygotes that these notebooks need, without waiting for them."""
        if notebooks:
            self.plain.launch()
        torch = "torch" not in self.plain.modules and any(notebook.names_torch for notebook in notebooks)
        if torch and self.with_torch is None:
            self.with_torch = self.plain.clone(("torch",))

    def zygote_for(self, notebook: Notebook) -> Zygote:
        """The zygote for a notebook."""
        self.launch([notebook])
        return self.with_torch if self.with_torch is not None and notebook.names_torch else self.plain

    def clone(self) -> Zygotes:
        """Copies of all zygotes, for another process to use."""
        return Zygotes(self.plain.clone(), self.with_torch.clone() if self.with_torch else None)

    def descriptors(self) -> list[int]:
        """The zygotes' open file descriptors."""
        return [number for zygote in self._all() for number in zygote.descriptors()]

    def __enter__(self) -> Zygotes:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the zygotes, or release them if another process has taken them over."""
        for zygote in reversed(self._all()):
            zygote.close()

    def _all(self) -> list[Zygote]:
        return [self.plain, *([self.with_torch] if self.with_torch else [])]
