"""The rule for right and alike, which is the kit's: a card compares as grading does."""

from coursekit.checks.compare import Outcome, alike, difference, value_difference

__all__ = ["Outcome", "alike", "difference", "value_difference"]
