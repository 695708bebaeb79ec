"""The course's data: files that come with it (``path``, ``lines``), and corpora fetched by name (``load``)."""

from coursekit.data.corpora import CORPORA, load
from coursekit.data.files import lines, path

__all__ = ["CORPORA", "lines", "load", "path"]
