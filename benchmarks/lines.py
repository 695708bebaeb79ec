"""Prints the lines of Python by folder beside their budget: ``make lines``."""

from __future__ import annotations

import subprocess

#: What is counted → the folders in it, those that are counted elsewhere, and the budget.
PARTS = {
    "questions and cards": (("autograder/questions", "notebooks/coursekit/checks"), (), 21_000),
    "harness": (("autograder",), ("autograder/questions", "autograder/systems"), 21_000),
    "learning systems": (("autograder/systems",), (), 2_500),
    "kit": (("notebooks/coursekit",), ("notebooks/coursekit/checks",), 7_000),
    "labs": (("solutions",), (), 10_600),
    "tests": (("tests",), (), 18_500),
    "rest": (("benchmarks", "data", "docs"), (), 2_400),
}


def counted() -> dict[str, int]:
    """The lines of each tracked Python file."""
    listed = subprocess.run(["git", "ls-files", "*.py"], capture_output=True, text=True, check=True).stdout
    lines = {}
    for name in listed.splitlines():
        with open(name, encoding="utf-8") as file:
            lines[name] = sum(1 for _ in file)
    return lines


def main() -> None:
    """Print a row for each part, and the sum."""
    lines = counted()
    print(f"{'':<20}{'lines':>9}{'budget':>9}")
    for part, (inside, elsewhere, budget) in PARTS.items():
        count = sum(
            number
            for name, number in lines.items()
            if _lies_in(name, inside) and not _lies_in(name, elsewhere)
        )
        print(f"{part:<20}{count:>9,}{budget:>9,}")
    print(f"{'all':<20}{sum(lines.values()):>9,}{sum(budget for *_, budget in PARTS.values()):>9,}")


def _lies_in(name: str, folders: tuple[str, ...]) -> bool:
    return any(name.startswith(f"{folder}/") for folder in folders)


if __name__ == "__main__":
    main()
