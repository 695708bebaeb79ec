"""A cell that waits for an answer says in one calm line what it waits for."""

from __future__ import annotations

import pytest
from coursekit.notebook.until_written import until_written

_UNWRITTEN = "def train_bpe():\n    raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        (_UNWRITTEN + "train_bpe()", "waits for train_bpe, which is not written yet"),
        (_UNWRITTEN + "(lambda: train_bpe())()", "waits for train_bpe, which is not written yet"),
        (
            "class Block:\n    def __init__(self):\n        raise NotImplementedError\nBlock()",
            "waits for Block, which is not written yet",
        ),
        ("print(merges)", "needs “merges” from a cell above"),
        ("def slope():\n    return mergs\nslope()", "slope uses “mergs”, which is not there yet"),
    ],
)
def test_the_line_names_what_is_missing(cell, line, capsys):
    with until_written():
        exec(compile(cell, "cell", "exec"), {})
    assert line in capsys.readouterr().out


def test_other_errors_show_as_usual():
    with pytest.raises(ZeroDivisionError), until_written():
        exec("1 / 0", {})
