"""The grading harness of From Bigrams to Translators."""

from __future__ import annotations


def __getattr__(name: str) -> str:
    """``__version__``, read from the installed package on first use: every sandbox imports this module."""
    if name == "__version__":
        from importlib.metadata import version

        return version("bigrams-to-translators")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
