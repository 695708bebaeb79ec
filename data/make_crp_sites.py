"""Freezes ``02_dirichlet_map/crp_sites.tsv`` from the binding sites that the wheel logomaker 0.8.7 carries.

    python data/make_crp_sites.py

Each line: the promoter, the site's centre relative to the start of transcription, the site (26 letters).
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

TARGET = Path(__file__).resolve().parent / "02_dirichlet_map" / "crp_sites.tsv"


def main() -> None:
    """Read the FASTA file of the installed package and write one line a site."""
    fasta = (
        resources.files("logomaker").joinpath("examples/datafiles/crp_sites.fa").read_text(encoding="utf-8")
    )
    lines = [line.strip() for line in fasta.splitlines() if line and not line.startswith("#")]
    rows = []
    for header, site in zip(lines[::2], lines[1::2], strict=True):
        _, promoter, centre = header.split("\t")
        rows.append(f"{promoter}\t{centre}\t{site}\n")
    TARGET.write_text("".join(rows), encoding="ascii")
    print(f"{len(rows)} sites written to {TARGET.name}")


if __name__ == "__main__":
    main()
