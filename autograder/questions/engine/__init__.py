"""The imports for an author of questions. One file describes a question: ``autograder/questions/mNN_topic/<question>.py``.

``docs/write_a_lab.md`` has complete examples. ``question.Question`` describes each part, ``rubric`` the points, and
``draw`` how inputs are drawn.
"""

from coursekit.checks.compare import Observed

from autograder.questions.engine.question import Case, Question

__all__ = ["Case", "Observed", "Question"]
