"""The known answers of a lab's questions: misconceptions with their hints, alternatives, and the source of each."""

from __future__ import annotations

import ast
import pickle
from functools import cache

from autograder.course.masters import source_of_import
from autograder.course.names import names_used
from autograder.questions.engine.card_code import definitions_in, reached
from autograder.questions.engine.question import Answer, Question, questions_of


@cache
def answers_of(lab: str) -> dict[str, dict[str, tuple[Answer, ...]]]:
    """``{"misconception" | "alternative": {question: answers}}`` of a lab (full name), in file order."""
    questions = {} if source_of_import(lab) else questions_of(lab)
    found = {name: _answers(question) for name, question in questions.items()}
    return {
        kind: {name: by_kind[kind] for name, by_kind in found.items()}
        for kind in ("misconception", "alternative")
    }


def fresh_answers(lab: str, question: str) -> dict[str, tuple[Answer, ...]]:
    """The answers of a question by kind, from a new copy of its file, without the state of earlier calls."""
    return _answers(questions_of(lab)[question].anew())


def _answers(question: Question) -> dict[str, tuple[Answer, ...]]:
    return {
        "misconception": tuple(question.misconceptions),
        "alternative": tuple(
            Answer(question.name, one.__name__, one.__name__.replace("_", " "), one)
            for one in question.alternatives
        ),
    }


def source_of(answer: Answer) -> str | None:
    """The source of a known answer as a student would write it; None if it uses the harness."""
    module = answer.function.__module__
    definition = _as_answer(definitions_in(module).get(answer.function.__name__), answer)
    if definition is None:
        return None
    text = ast.unparse(definition)
    found = reached([(module, name) for name in names_used(text)])
    # Helpers shared by several questions come first, as in a notebook.
    places = {key: (not key[0].endswith(".common"), key[0], node.lineno) for key, node in found.items()}
    parts = [ast.unparse(found[key]) for key in sorted(found, key=places.__getitem__)]
    parts = [*dict.fromkeys(parts), text]
    return None if any("autograder" in part or "master(" in part for part in parts) else "\n\n".join(parts)


def _as_answer(node: ast.stmt | None, answer: Answer) -> ast.stmt | None:
    """The definition under the question's name, without decorator and hint."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return None
    copied: ast.FunctionDef | ast.ClassDef = pickle.loads(pickle.dumps(node))  # faster than deepcopy
    copied.name, copied.decorator_list = answer.question, []
    if isinstance(copied, ast.FunctionDef):
        fixed = _fixed_arguments(node, answer.title)
        names = [argument.arg for argument in copied.args.kwonlyargs]
        given = zip(names, copied.args.kw_defaults, strict=True)
        copied.args.kw_defaults = [fixed.get(name, default) for name, default in given]
    copied.body = (copied.body[1:] if ast.get_docstring(node) else copied.body) or [ast.Pass()]
    for part in ast.walk(copied):
        if isinstance(part, ast.Name) and part.id == answer.function.__name__:  # it calls itself
            part.id = answer.question
    return copied


def _fixed_arguments(node: ast.FunctionDef | ast.ClassDef, title: str) -> dict[str | None, ast.expr]:
    """Keyword-only parameter -> value set by the decorator with this title."""
    calls = [mark for mark in node.decorator_list if isinstance(mark, ast.Call) and mark.args]
    return {
        keyword.arg: keyword.value
        for call in calls
        if isinstance(call.args[0], ast.Constant) and call.args[0].value == title
        for keyword in call.keywords
        if keyword.arg not in ("costs", "hint", "because", "card")
    }
