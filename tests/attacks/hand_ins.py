"""What the cases of these names do to the notebook, or hand in in its place: ``cases/*.toml`` says what and what comes of it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]


def code(source: str) -> Notebook:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def place(notebook: Notebook, name: str) -> int:
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return names.index(name)


def kill_a_name_bound_without_end(notebook: Notebook) -> None:
    notebook["cells"][9:9] = [code("1 / 0\n" + "np=np\n" * 14_000)] * 8


def kill_endless_words(notebook: Notebook) -> None:
    notebook["cells"][place(notebook, "normalise_rows")]["source"] = "a = 1\n" * 3_400_000
    notebook["cells"][place(notebook, "why_forget")]["source"] = "because " * 2_500_000


def notebook_a_line_of_spaces(notebook: Notebook) -> None:
    notebook["cells"] += [code("1\n" + " " * 199_000 + "#")] * 4


def notebook_a_moved_test(notebook: Notebook) -> None:
    notebook["cells"].insert(1, notebook["cells"].pop(place(notebook, "test_average_nll")))


def notebook_deep_code(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if "skip-grading" in cell["metadata"].get("tags", []):
            cell["source"] = "def deep():\n    return " + "1+" * 3000 + "1"


def notebook_doubled_keys_and_ids(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["id"] = "same"


def notebook_edited_tests(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["source"] = "20.0"


def notebook_endless_code(notebook: Notebook) -> None:
    notebook["cells"].insert(9, code("1\n" * 20_000_000))


def notebook_nested_brackets_and_bad_lines(notebook: Notebook) -> None:
    line = "x = " + "[" * 190 + "]" * 190 + "\n"
    notebook["cells"] += [code(line * 495 + "x =\n" * 50)] * 2


def notebook_renamed_ids(notebook: Notebook) -> None:
    notebook["cells"][place(notebook, "average_nll")]["metadata"]["nbgrader"]["grade_id"] = "normalise_rows"


def notebook_reordered(notebook: Notebook) -> None:
    notebook["cells"].reverse()


def notebook_surrogates(notebook: Notebook) -> None:
    notebook["cells"].append(code("x = '\ud800 \x00'"))


def unlucky_a_module_of_ones_own(notebook: Notebook) -> None:
    answer = notebook["cells"][place(notebook, "normalise_rows")]
    own = "".join(answer["source"]).replace("N.sum(axis=1, keepdims=True)", "sums(N)")
    answer["source"] = f"from my_helper import sums\n\n\n{own}"
    helper = "%%writefile my_helper.py\ndef sums(N):\n    return N.sum(axis=1, keepdims=True)\n"
    notebook["cells"].insert(place(notebook, "normalise_rows"), code(helper))


def unlucky_saved_by_windows(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell.pop("id", None)
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    notebook["nbformat_minor"] = 4


def half_a_gigabyte(path: Path, text: str) -> None:
    path.touch()
    os.truncate(path, 500 << 20)


def linked_to_a_classmate(path: Path, text: str) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(path.parents[2] / "honest honest" / path.parent.name)


#: What does not write the notebook's text where it belongs, with the path of that place and the text.
WRITTEN: dict[str, Callable[[Path, str], object]] = {
    "notebook_a_folder": lambda path, text: path.mkdir(),
    "notebook_a_folder_linked_to_a_classmate": linked_to_a_classmate,
    "notebook_a_link_to_a_classmate": lambda path, text: path.symlink_to(path.parents[2] / "honest honest" / path.parent.name / path.name),
    "notebook_a_number_of_many_digits": lambda path, text: path.write_text(text.replace('"execution_count": null', '"execution_count": ' + "9" * 10_000)),
    "notebook_a_pipe": lambda path, text: os.mkfifo(path),
    "notebook_cut_off": lambda path, text: path.write_text(text[:5000]),
    "notebook_deep_json": lambda path, text: path.write_text('{"cells": ' + "[" * 100_000),
    "notebook_doubled_keys_and_ids": lambda path, text: path.write_text('{"cells": [], ' + text[1:]),
    "notebook_format_3": lambda path, text: path.write_text('{"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [{}]}]}'),
    "notebook_millions_of_parts": lambda path, text: path.write_text('{"metadata": [' + "[],[]," * 10_000_000 + '0], "cells": [{}]}'),
    "notebook_too_large": half_a_gigabyte,
    "unlucky_saved_by_windows": lambda path, text: path.with_suffix(".ipynb.txt").write_text(text, encoding="utf-16"),
}  # fmt: skip


def changes(name: str) -> bool:
    """Whether a case of this name is here."""
    return name in WRITTEN or name in globals()


def hand_in(name: str, notebook: Notebook, path: Path) -> None:
    """Write what a case hands in, the notebook as it is where nothing here has the case's name."""
    globals().get(name, lambda notebook: None)(notebook)
    WRITTEN.get(name, Path.write_text)(path, json.dumps(notebook))
