"""Runs generic mutants of the masters' solutions and writes the survivors to docs/mutants.md.

    python -m docs.make_mutants           # every lab
    python -m docs.make_mutants 07 09     # these; the other labs' sections stay

A lab's section is written as soon as it is measured.
"""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.audit.mutants import MutantAudit, audit_mutants, mutant_pool
from autograder.course.masters import all_labs, lab_name
from autograder.files import write_atomically

TABLE = Path(__file__).parent / "mutants.md"

_BAR = "\\|"

_HEAD = """# Mutants that survive

Each mutant changes one operator, number, condition or loop of a master's solution (`autograder/audit/mutants.py`). The
hidden tests should notice. One that keeps full points is equivalent, and then the lab's test file says why in
`EQUIVALENT_MUTANTS`; or it **survives**: a test that is still to be written, or a reason that is. `make mutants` measures
anew and writes this page; `make mutants LABS="07 09"` does so for these labs.
"""


def section(audit: MutantAudit) -> str:
    """A lab's part of the page: how many of its mutants are killed, and a row for each that is not."""
    lines = [
        f"## {audit.lab}",
        "",
        f"{audit.total} mutants: {audit.killed} killed, {len(audit.equivalent)} equivalent, "
        f"{len(audit.unexplained)} survive.",
    ]
    rows = [(mutant, f"equivalent: {reason}") for mutant, reason in audit.equivalent]
    rows += [(mutant, f"**survives** ({mutant.operator})") for mutant in audit.unexplained]
    if rows:
        lines += ["", "| question | changed line | why |", "|---|---|---|"]
        lines += [_row(f"`{mutant.question}`", f"`{mutant.line}`", why) for mutant, why in rows]
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    """A row of a table, in which a bar would end a cell."""
    return f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |"


def sections(page: str) -> dict[str, str]:
    """The page's sections by lab."""
    parts = page.split("\n## ")[1:]
    return {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in parts}


def main() -> None:
    known = sections(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    labs = [lab_name(lab) for lab in sys.argv[1:]] or all_labs()
    with mutant_pool() as pool:
        for lab in labs:
            audit = audit_mutants(lab, pool)
            known[lab] = section(audit)
            print(
                f"{lab}: {audit.killed} of {audit.counted} killed, {len(audit.unexplained)} survive",
                flush=True,
            )
            page = [known[name] for name in all_labs() if name in known]
            write_atomically(TABLE, "\n".join([_HEAD, *page]))


if __name__ == "__main__":
    main()
