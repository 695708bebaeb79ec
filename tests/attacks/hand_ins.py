"""What the cases of these names do to the notebook, or hand in in its place: ``cases/*.toml`` says what and what comes of it.

Each takes the path where the notebook belongs, and the notebook, which is written there as JSON unless text or bytes come back
in its place; ``WRITTEN`` comes back where there is no more to write.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
WRITTEN = object()


def code(source: str) -> Notebook:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def place(notebook: Notebook, name: str) -> int:
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return names.index(name)


def kill_a_name_bound_without_end(path: Path, notebook: Notebook) -> None:
    for at in range(9, 17):
        notebook["cells"].insert(at, code("1 / 0\n" + "np=np\n" * 14_000))


def kill_endless_words(path: Path, notebook: Notebook) -> None:
    notebook["cells"][place(notebook, "normalise_rows")]["source"] = "a = 1\n" * 3_400_000
    notebook["cells"][place(notebook, "why_forget")]["source"] = "because " * 2_500_000


def notebook_a_folder(path: Path, notebook: Notebook) -> object:
    path.mkdir()
    return WRITTEN


def notebook_a_folder_linked_to_a_classmate(path: Path, notebook: Notebook) -> object:
    folder = path.parent
    folder.rmdir()
    folder.symlink_to(folder.parents[1] / "honest honest" / folder.name)
    return WRITTEN


def notebook_a_line_of_spaces(path: Path, notebook: Notebook) -> None:
    notebook["cells"] += [code("1\n" + " " * 199_000 + "#")] * 4


def notebook_a_link_to_a_classmate(path: Path, notebook: Notebook) -> object:
    path.symlink_to(path.parents[2] / "honest honest" / path.parent.name / path.name)
    return WRITTEN


def notebook_a_moved_test(path: Path, notebook: Notebook) -> None:
    notebook["cells"].insert(1, notebook["cells"].pop(place(notebook, "test_average_nll")))


def notebook_a_number_of_many_digits(path: Path, notebook: Notebook) -> str:
    return json.dumps(notebook).replace('"execution_count": null', '"execution_count": ' + "9" * 10_000)


def notebook_a_pipe(path: Path, notebook: Notebook) -> object:
    os.mkfifo(path)
    return WRITTEN


def notebook_cut_off(path: Path, notebook: Notebook) -> str:
    return json.dumps(notebook)[:5000]


def notebook_deep_code(path: Path, notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if "skip-grading" in cell["metadata"].get("tags", []):
            cell["source"] = "def deep():\n    return " + "1+" * 3000 + "1"


def notebook_deep_json(path: Path, notebook: Notebook) -> str:
    return '{"cells": ' + "[" * 100_000


def notebook_doubled_keys_and_ids(path: Path, notebook: Notebook) -> str:
    for cell in notebook["cells"]:
        cell["id"] = "same"
    return '{"cells": [], ' + json.dumps(notebook)[1:]


def notebook_edited_tests(path: Path, notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["source"] = "20.0"


def notebook_endless_code(path: Path, notebook: Notebook) -> None:
    notebook["cells"].insert(9, code("1\n" * 20_000_000))


def notebook_format_3(path: Path, notebook: Notebook) -> str:
    cells = [
        {"cell_type": "code", "input": "".join(cell["source"]), "outputs": [], "metadata": cell["metadata"]}
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]})


def notebook_millions_of_parts(path: Path, notebook: Notebook) -> str:
    return '{"metadata": [' + "[],[]," * 10_000_000 + '0], "cells": [{}]}'


def notebook_nested_brackets_and_bad_lines(path: Path, notebook: Notebook) -> None:
    line = "x = " + "[" * 190 + "]" * 190 + "\n"
    notebook["cells"] += [code(line * 495 + "x =\n" * 50)] * 2


def notebook_nothing(path: Path, notebook: Notebook) -> object:
    return WRITTEN


def notebook_renamed_ids(path: Path, notebook: Notebook) -> None:
    cell = notebook["cells"][place(notebook, "average_nll")]
    cell["metadata"]["nbgrader"]["grade_id"] = "normalise_rows"


def notebook_reordered(path: Path, notebook: Notebook) -> None:
    notebook["cells"].reverse()


def notebook_surrogates(path: Path, notebook: Notebook) -> None:
    notebook["cells"].append(code("x = '\ud800 \x00'"))


def notebook_too_large(path: Path, notebook: Notebook) -> object:
    path.touch()
    os.truncate(path, 500 << 20)
    return WRITTEN


def unlucky_a_module_of_ones_own(path: Path, notebook: Notebook) -> None:
    answer = notebook["cells"][place(notebook, "normalise_rows")]
    own = "".join(answer["source"]).replace("N.sum(axis=1, keepdims=True)", "sums(N)")
    answer["source"] = f"from my_helper import sums\n\n\n{own}"
    helper = "%%writefile my_helper.py\ndef sums(N):\n    return N.sum(axis=1, keepdims=True)\n"
    notebook["cells"].insert(place(notebook, "normalise_rows"), code(helper))


def unlucky_saved_by_windows(path: Path, notebook: Notebook) -> object:
    for cell in notebook["cells"]:
        cell.pop("id", None)
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    notebook["nbformat_minor"] = 4
    path.with_suffix(".ipynb.txt").write_text(json.dumps(notebook), encoding="utf-16")
    return WRITTEN
