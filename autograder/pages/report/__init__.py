"""The class report: one self-contained HTML file about how a class did in one lab.

``build_report(results, spec, out)`` is all that other modules need.
"""

from autograder.pages.report.page import build_report

__all__ = ["build_report"]
