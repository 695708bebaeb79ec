"""Scores a question inside the running kernel with the same hidden tests, for stock ``nbgrader autograde``.

It has no isolation and is for teams that must use unchanged nbgrader. ``autograder grade`` never runs it.
"""

from __future__ import annotations

from typing import Any


def score(lab: str, question: str, namespace: dict[str, Any]) -> float:
    """Run the hidden tests of ``question`` on the live namespace and print the failures. Returns the points."""
    from coursekit.checks import api
    from coursekit.notebook.verdict import last_verdicts
    from IPython.utils.capture import capture_output

    from autograder.course.masters import solution
    from autograder.course.policy_file import settings, spec
    from autograder.judging.run import run_question, set_salt
    from autograder.questions.engine.diagnosis import diagnose
    from autograder.questions.engine.rubric import points_earned
    from autograder.sandbox.host.student import Student

    set_salt(settings().salt)
    points = dict(spec(lab).questions)[question]
    api.show_last_card()
    verdicts = dict(last_verdicts)
    with capture_output():  # the master begins the lab again, which forgets the verdicts and says so
        solution(lab)
    last_verdicts.update(verdicts)
    student = Student.local_namespace(namespace, question)
    runs = run_question(lab, question, student)
    for run in runs:
        if not run.result.passed:
            print(f"{run.result.name} — {run.result.message}")
    return points_earned(lab, question, points, runs, diagnose(lab, question, runs))
