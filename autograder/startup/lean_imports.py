"""Avoids slow imports of modules that grading never uses.

Import this before nbformat, jupytext and nbgrader in the harness's own processes.

- jsonschema loads ``rfc3987_syntax`` and compiles its grammar to check addresses in schemas, and loads ``isoduration`` for
  times. nbformat's schema has neither.
- jupytext loads Jupyter Server to extend it. Its parts that read notebooks do not need the server.
- nbgrader's packages load all their modules: Jupyter Server, exporters, a client of kernels. Here each package is only a
  folder whose modules run when they are imported. Any other name of the package loads all of it, so ``import nbgrader``
  still works.
- Python searches for garbage cycles after every 700 new objects, and among all objects at its end. Imports make hundreds of
  thousands of objects and no garbage.
"""

import atexit
import functools
import gc
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: New objects between two garbage collections.
GARBAGE_THRESHOLD = 50_000

#: Package -> name that its own modules and this harness import from it -> module that defines the name.
_FOLDERS = {
    "nbgrader": {},
    "nbgrader.auth": {"Authenticator": "base"},
    "nbgrader.preprocessors": {
        "NbGraderPreprocessor": "base",
        "ClearHiddenTests": "clearhiddentests",
        "ClearMarkScheme": "clearmarkingscheme",
        "ClearSolutions": "clearsolutions",
        "ComputeChecksums": "computechecksums",
        "LockCells": "lockcells",
    },
    "nbconvert": {},
    "nbconvert.exporters": {},
    "nbconvert.preprocessors": {"Preprocessor": "base", "ClearOutputPreprocessor": "clearoutput"},
}


class _Folder(ModuleType):
    """A package whose ``__init__`` has not run yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)
        if (module := _FOLDERS[self.__name__].get(name)) is not None:
            return getattr(importlib.import_module(f"{self.__name__}.{module}"), name)
        if not name.startswith("__") and importlib.util.find_spec(f"{self.__name__}.{name}") is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        self.__class__ = ModuleType  # type: ignore[assignment]  # from now on an ordinary package
        assert self.__spec__ is not None and self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


class _Archives(ModuleType):
    """``setuptools.archive_util``, imported only when one of its functions is called, which nbgrader rarely does."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return functools.partial(_call_in_archives, name)


def _call_in_archives(name: str, *arguments: Any, **named: Any) -> Any:
    if isinstance(sys.modules.get("setuptools.archive_util"), _Archives):
        del sys.modules["setuptools.archive_util"]
    return getattr(importlib.import_module("setuptools.archive_util"), name)(*arguments, **named)


gc.set_threshold(GARBAGE_THRESHOLD, 20, 50)
atexit.register(gc.freeze)

if "jsonschema" not in sys.modules:
    for _name in ("rfc3987_syntax", "rfc3986_validator", "isoduration"):
        sys.modules.setdefault(_name, None)  # type: ignore[arg-type]

if "jupytext" not in sys.modules:
    for _name in ("jupytext.sync_contentsmanager", "jupytext.async_contentsmanager"):
        sys.modules.setdefault(_name, None)  # type: ignore[arg-type]

if "setuptools" not in sys.modules:
    sys.modules.setdefault("setuptools.archive_util", _Archives("setuptools.archive_util"))

for _name in _FOLDERS:
    if _name not in sys.modules and (_spec := importlib.util.find_spec(_name)) is not None:
        _package = sys.modules[_name] = importlib.util.module_from_spec(_spec)  # not run
        _package.__class__ = _Folder
        if "." in _name:
            setattr(sys.modules[_name.rpartition(".")[0]], _name.rpartition(".")[2], _package)
