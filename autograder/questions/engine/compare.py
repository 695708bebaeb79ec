"""The kit's rule for comparing outcomes, so that grading compares as the cards do."""

from coursekit.checks.compare import Outcome, alike, difference, value_difference

__all__ = ["Outcome", "alike", "difference", "value_difference"]
