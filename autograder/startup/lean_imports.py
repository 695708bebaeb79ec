"""Keeps what grading never uses from being imported at every start, where it takes seconds.

Import this before nbformat, jupytext and nbgrader in a process that is the harness's own.

- jsonschema loads ``rfc3987_syntax``, and compiles its grammar, to check addresses in schemas; nbformat's has none.
- jupytext and the package nbgrader load Jupyter Server, to extend it. Their parts that read notebooks, edit them
  and keep a gradebook do without; ``import nbgrader.api`` and the like work as ever.
"""

import importlib.util
import sys

if "jsonschema" not in sys.modules:
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

if "jupytext" not in sys.modules:
    for _name in ("jupytext.sync_contentsmanager", "jupytext.async_contentsmanager"):
        sys.modules.setdefault(_name, None)  # type: ignore[arg-type]

if "nbgrader" not in sys.modules and (_spec := importlib.util.find_spec("nbgrader")) is not None:
    sys.modules["nbgrader"] = importlib.util.module_from_spec(_spec)  # its folder, and nothing run
