"""The translator on real sentences: ``python -m coursekit.translator --help``."""
