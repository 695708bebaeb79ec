"""Writes results in the formats that other systems import.

``export("canvas", results, spec, out)`` writes the files and says where they are and what it noticed.
"""

from autograder.exports.formats import FORMATS, export
from autograder.exports.rows import Exported

__all__ = ["FORMATS", "Exported", "export"]
