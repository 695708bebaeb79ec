"""The imports for an author of questions. One file describes a question: ``autograder/questions/mNN_topic/<question>.py``.

A complete example::

    '''Lab 99, double: x (n,) → twice each number.'''

    from autograder.questions.engine import Case, Question

    def by_adding(x):
        return [number + number for number in x]

    question = Question(by_adding)

    @question.family("Some numbers, the text's among them.", weight=2)
    def some_numbers(rng):
        yield Case([1.0, 2.5], gives=[2.0, 5.0])
        yield rng.normal(size=5)

    @question.misconception("squared", costs=1.5)
    def squared(x):
        '''Your numbers are squared. Twice a number is the number plus itself.'''
        return x * x

    @question.alternative
    def with_numpy(x):
        return 2 * x

``question.Question`` describes each part, ``grading.rubric`` the points, and ``draw`` how inputs are drawn.
"""

from coursekit.checks.compare import Observed

from autograder.questions.engine.question import Case, Question

__all__ = ["Case", "Observed", "Question"]
