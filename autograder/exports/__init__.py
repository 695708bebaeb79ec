"""Writes results in the formats that other systems import.

``export("canvas", results, spec, out)`` writes the files and says where they are and what it noticed.
"""

from autograder.exports.formats import FORMATS, Exported, export

__all__ = ["FORMATS", "Exported", "export"]
