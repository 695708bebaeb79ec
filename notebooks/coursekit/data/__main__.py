"""Fetches corpora ahead (``python -m coursekit.data``). It uses argparse, because student bundles do not install Typer."""

from __future__ import annotations

import argparse
import sys

from coursekit.data.corpora import CORPORA, corpus_named, files_of
from coursekit.errors import UserError


def main(arguments: list[str] | None = None) -> int:
    """Fetch corpora ahead; without a name, list them. An error gives one sentence and exit status 2."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.data", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CORPORA))
    names = parser.parse_args(arguments).names
    if not names:
        for name, corpus in CORPORA.items():
            size = sum(remote.size for remote in corpus.files) / 1e6
            print(f"{name:<9} {size:4.1f} MB  {corpus.about}. Licence: {corpus.licence}.")
        return 0
    try:
        asked = {
            name: corpus_named(name) for name in names
        }  # an unknown name is an error before anything is fetched
        for name, corpus in asked.items():
            paths = files_of(name)
            print(f"{corpus.title}: {len(paths)} files in {next(iter(paths.values())).parent}")
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; the same command goes on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
