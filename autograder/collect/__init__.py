"""Brings downloads from learning systems into nbgrader's ``submitted`` layout.

``collect(source, submitted, lab)`` takes a Canvas or Moodle download, or any folder or
zip of notebooks, and says in ``Collected.notes`` what it refused or had to choose.
"""

from autograder.collect.collect import Collected, collect, collect_folder

__all__ = ["Collected", "collect", "collect_folder"]
