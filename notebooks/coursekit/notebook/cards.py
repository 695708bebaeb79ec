"""The cards that checks show: HTML in a notebook, plain words elsewhere."""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from coursekit.notebook.verdict import MIME, Mark, Verdict

FIRST_THINGS_FIRST = "Begin with the first ✗: the others may follow from it."
HIDDEN_TESTS_TOO = "Public checks are not all: hidden tests also run when you submit."
TO_HAND_IN = (
    "To hand in: save the notebook, then run `from coursekit import hand_in; hand_in()` in a new cell."
)

# Every card contains its own style, so that a saved notebook looks the same when it is opened again.
_STYLE = """<style>
.ck{--ck-ink:#1f2933;--ck-soft:#5b6770;--ck-paper:#ffffff;--ck-line:#d5dbe1;--ck-good:#00684a;--ck-bad:#a23b00;
--ck-todo:#5b6770;font-family:system-ui,"Segoe UI",sans-serif;font-size:14px;line-height:1.45;color:var(--ck-ink);
background:var(--ck-paper);border:1px solid var(--ck-line);border-left:5px solid var(--ck-todo);border-radius:6px;
padding:10px 14px;margin:4px 0;max-width:46rem}
.ck.good{border-left-color:var(--ck-good)}.ck.bad{border-left-color:var(--ck-bad)}
body[data-jp-theme-light="false"] .ck{--ck-ink:#e6eaee;--ck-soft:#a5b0ba;--ck-paper:#1d2329;--ck-line:#3a444e;
--ck-good:#3ecf9a;--ck-bad:#ff9d5c;--ck-todo:#8a97a3}
.ck h4{margin:0 0 6px;font-size:15px;font-weight:600}.ck h4 code{font-size:14px;background:none;color:inherit}
.ck ul{list-style:none;margin:0;padding:0}.ck li{margin:3px 0;padding-left:1.7em;text-indent:-1.7em}
.ck li>b{display:inline-block;width:1.7em;text-indent:0}.ck .y>b{color:var(--ck-good)}.ck .n>b{color:var(--ck-bad)}
.ck .t>b{color:var(--ck-todo)}.ck .why{display:block;text-indent:0;white-space:pre-line;color:var(--ck-bad)}
.ck p{margin:8px 0 0;color:var(--ck-soft);font-size:13px}
.ck .bar{display:flex;gap:3px;margin-top:8px}.ck .bar i{height:7px;flex:1;border-radius:3px;background:var(--ck-line)}
.ck .bar i.y{background:var(--ck-good)}
</style>"""


class Card:
    """A card: HTML for notebooks, words for terminals, and the result as data."""

    def __init__(self, markup: str, words: str, record: dict[str, Any]):
        self.markup, self.words, self.record = markup, words, record

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": repr(self), "text/html": _STYLE + self.markup, MIME: self.record}


def in_notebook() -> bool:
    """Whether rich output is shown: a Jupyter kernel of any kind, or the grader's shell; not a terminal."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    kinds = [kind.__name__ for kind in type(shell).__mro__]
    return shell is not None and "TerminalInteractiveShell" not in kinds


def present(card: Card) -> Card:
    """Return the card for a notebook or a prompt to show; a program prints its words."""
    if not in_notebook() and not hasattr(sys, "ps1"):
        print(card.words)
    return card


def show(card: Card) -> None:
    """Display a card that is not the value of its cell."""
    if in_notebook():
        from IPython.display import display

        display(card)
    else:
        print(card.words)


def _text(value: str) -> str:
    """The escaped text, with `code` between backticks set as code."""
    parts = html.escape(value).split("`")
    return "".join(
        f"<code>{part}</code>" if i % 2 and i < len(parts) - 1 else part for i, part in enumerate(parts)
    )


def _indented(hint: str) -> str:
    """The lines of a hint below its arrow."""
    return hint.replace("\n", "\n        ")


def _box(kind: str, heading: str, body: str) -> str:
    return f'<div class="ck {kind}" role="status"><h4>{heading}</h4>{body}</div>'


def _bar(done: int, total: int) -> str:
    cells = "".join(f'<i class="{"y" if i < done else ""}"></i>' for i in range(total))
    return f'<div class="bar" role="img" aria-label="{done} of {total} questions done">{cells}</div>'


def checked(verdict: Verdict, done: int, total: int) -> Card:
    """The card of one question: each mark, why it fails, and the running total."""
    name = verdict.question
    record = {
        "question": name,
        "written": verdict.written,
        "marks": [[mark.title, mark.passed, mark.hint] for mark in verdict.marks],
    }
    total_line = f"{done} of {total} questions with public checks pass them."
    if not verdict.written:
        body = f"<p>Not written yet: replace <code>raise NotImplementedError()</code> and run its cell, then this one.</p><p>{total_line}</p>"
        markup = _box("todo", f"○ <code>{_text(name)}</code> is still to do", body + _bar(done, total))
        return Card(markup, f"○ {name}: not written yet. {total_line}", record)
    good = sum(mark.passed for mark in verdict.marks)
    rows, words = [], []
    for mark in verdict.marks:
        sign, kind = ("✓", "y") if mark.passed else ("✗", "n")
        why = f'<span class="why">{_text(mark.hint)}</span>' if mark.hint else ""
        rows.append(f'<li class="{kind}"><b>{sign} </b>{_text(mark.title)}{why}</li>')
        words.append(f"  {sign} {mark.title}" + (f"\n      → {_indented(mark.hint)}" if mark.hint else ""))
    unexplained = any(not mark.passed and not mark.hint for mark in verdict.marks)
    total_line = f"{FIRST_THINGS_FIRST if unexplained else ''} {total_line}".strip()
    head = f"{'✓' if verdict.passed else '✗'} <code>{_text(name)}</code>: {good} of {len(verdict.marks)} public checks hold"
    foot = f"<p>{total_line} {HIDDEN_TESTS_TOO}</p>{_bar(done, total)}"
    markup = _box("good" if verdict.passed else "bad", head, f"<ul>{''.join(rows)}</ul>{foot}")
    heading = f"{name}: {good} of {len(verdict.marks)} public checks hold"
    return Card(markup, "\n".join([heading, *words, f"{total_line} {HIDDEN_TESTS_TOO}"]), record)


def broken(refusal: str, marks: Sequence[Mark]) -> Card:
    """The impostors that an input exposes, and hints for the others."""
    count = sum(mark.passed for mark in marks)
    if refusal:
        head, lines = "This input exposes nobody", [("✗", "n", refusal)]
    else:
        head = f"Your input exposes {count} of {len(marks)} impostors"
        lines = [("✓", "y", mark.title) if mark.passed else ("✗", "n", mark.hint) for mark in marks]
    rows = "".join(f'<li class="{kind}"><b>{sign} </b>{_text(text)}</li>' for sign, kind, text in lines)
    good = not refusal and count == len(marks)
    foot = "" if good else "One input can expose them all. This is not graded."
    markup = _box("good" if good else "bad", head, f"<ul>{rows}</ul>" + (f"<p>{foot}</p>" if foot else ""))
    words = "\n".join([head, *(f"  {sign} {text}" for sign, _, text in lines), foot]).rstrip()
    return Card(markup, words, {"exposed": count, "of": len(marks)})


def overview(lab: str, questions: Sequence[str], verdicts: Mapping[str, Verdict]) -> Card:
    """Every question of the lab with its state."""
    rows, words, done = [], [], 0
    for name in questions:
        verdict = verdicts.get(name)
        if verdict is None:
            sign, kind, state = "○", "t", "not checked yet in this session"
        elif verdict.passed:
            sign, kind, state, done = "✓", "y", "public checks pass", done + 1
        elif not verdict.written:
            sign, kind, state = "○", "t", "not written yet"
        else:
            held = sum(mark.passed for mark in verdict.marks)
            sign, kind, state = "✗", "n", f"{held} of {len(verdict.marks)} public checks hold"
        rows.append(f'<li class="{kind}"><b>{sign} </b><code>{_text(name)}</code> — {state}</li>')
        words.append(f"  {sign} {name}: {state}")
    head = f"{done} of {len(questions)} questions pass their public checks (answers in words have none)"
    markup = _box(
        "good" if done == len(questions) else "todo",
        head,
        f"<ul>{''.join(rows)}</ul><p>{HIDDEN_TESTS_TOO}</p><p>{_text(TO_HAND_IN)}</p>{_bar(done, len(questions))}",
    )
    words.append(TO_HAND_IN)
    return Card(markup, head + "\n" + "\n".join(words), {"lab": lab, "done": done, "of": len(questions)})


def started(lab: str, questions: Sequence[str]) -> Card:
    """The line that opens a lab."""
    number, _, topic = lab.partition("_")
    names = ", ".join(f"<code>{_text(name)}</code>" for name in questions)
    in_words = "Questions to answer in words have no check: a person reads them."
    body = f"<p>You will write {names}. Each has a check that says what is still wrong. {in_words}</p>"
    head = f"Lab {number} is ready: {_text(topic.replace('_', ' '))}"
    words = f"Lab {number} is ready. You will write {', '.join(questions)}. {in_words}"
    return Card(_box("good", head, body), words, {"lab": lab})


def packed(archive: str, size: str, parts: Sequence[tuple[str, str, bool]], advice: str) -> Card:
    """The content of the file to hand in. ``parts``: (question or written answer, its state, whether it is there)."""
    rows, words = [], []
    for name, state, there in parts:
        sign, kind = ("✓", "y") if there else ("○", "n")
        rows.append(f'<li class="{kind}"><b>{sign} </b><code>{_text(name)}</code> — {state}</li>')
        words.append(f"  {sign} {name}: {state}")
    head = f"{archive} is ready to hand in"
    link = f'<p><a href="{_text(archive)}" download>Download {_text(archive)}</a> ({size})</p>'
    complete = all(there for _, _, there in parts)
    markup = _box(
        "good" if complete else "todo", _text(head), f"<ul>{''.join(rows)}</ul><p>{_text(advice)}</p>{link}"
    )
    return Card(markup, "\n".join((head, *words, advice)), {"archive": archive})


def not_packed(reason: str) -> Card:
    """The reason why nothing was packed, and what to do."""
    head = "Nothing was packed to hand in"
    return Card(_box("bad", head, f"<p>{_text(reason)}</p>"), f"{head}. {reason}", {"archive": None})


def handed_in(answer: Mapping[str, Any]) -> Card:
    """The live class's answer about a notebook: receipt, attempt, and the verdict if there is one."""
    record = {
        key: answer.get(key) for key in ("lab", "receipt", "attempt", "of", "state", "score", "max_score")
    }
    limit = f" of {answer['of']}" if answer.get("of") else ""
    head = f"Received {answer.get('received')}: attempt {answer.get('attempt')}{limit}"
    if answer.get("new") is False:
        head = f"You handed in exactly this before: attempt {answer.get('attempt')}{limit}, received {answer.get('received')}"
    if answer.get("state") == "waiting":
        state = f"It is being graded: about {answer.get('seconds')} s."
    else:
        state = str(answer.get("message") or "")
    if "max_score" in answer:
        state = f"{_number(answer.get('score'))} of {_number(answer['max_score'])} points. {state}"
    rows, words = [], []
    for question in answer.get("questions") or ():
        right, name = bool(question.get("passed")), str(question.get("name"))
        sign, kind = ("✓", "y") if right else ("✗", "n")
        worth = "right" if right else "not right yet"
        if "max_points" in question:
            worth = f"{_number(question.get('points'))} of {_number(question['max_points'])} points"
        cause, hint = str(question.get("cause") or ""), str(question.get("hint") or "")
        why = "".join(f'<span class="why">{_text(line)}</span>' for line in (cause, hint) if line)
        rows.append(f'<li class="{kind}"><b>{sign} </b><code>{_text(name)}</code> — {worth}{why}</li>')
        words.append(
            f"  {sign} {name}: {worth}" + "".join(f"\n      → {line}" for line in (cause, hint) if line)
        )
    notes = [str(note) for note in answer.get("notes") or ()]
    receipt = f"Your receipt: {answer.get('receipt')}."
    if not rows:
        tone = "todo"
    else:
        tone = "good" if all(question.get("passed") for question in answer["questions"]) else "bad"
    listed = f"<ul>{''.join(rows)}</ul>" if rows else ""
    foot = "".join(f"<p>{_text(line)}</p>" for line in (*notes, receipt))
    markup = _box(tone, _text(head), f"<p>{_text(state)}</p>{listed}{foot}")
    return Card(markup, "\n".join((head, state, *words, *notes, receipt)), record)


def _number(value: Any) -> str:
    """Points without needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, int | float) else "?"


def not_taken(reason: str) -> Card:
    """The reason why the live class refused a notebook."""
    head = "Nothing was handed in"
    return Card(_box("bad", head, f"<p>{_text(reason)}</p>"), f"{head}. {reason}", {"receipt": None})
