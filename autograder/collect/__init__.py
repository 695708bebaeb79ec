"""Copies downloads from learning systems to nbgrader's ``submitted`` layout.

``collect(source, submitted, lab)`` reads a Canvas or Moodle download, or any folder or zip of notebooks. ``Collected.notes``
lists refused files and choices.
"""

from autograder.collect.collect import Collected, collect, collect_folder

__all__ = ["Collected", "collect", "collect_folder"]
