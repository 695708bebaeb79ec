"""Bundles a demo's modules (``web/*.js``) and data into one script, and the script into one page that opens from a disk.

Modules import by name from the files beside them (``import { sum } from "./numbers.js";``) and export functions and constants
at their declaration. Only these forms are supported, so no tool is needed to build a page.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coursekit.data import path
from coursekit.demos import exported

WEB = Path(__file__).with_name("web")
_IMPORT = re.compile(r'^import (\{[^}]*\}|\w+) from "\./([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.MULTILINE)
_META = re.compile(r"^export const meta = (\{.*?\n\});$", re.MULTILINE | re.DOTALL)


def names() -> list[str]:
    """The names of the demos in the course's order."""
    return sorted(file.stem for file in WEB.glob("[0-9][0-9]_*.js"))


@cache
def meta(name: str) -> dict[str, Any]:
    """A demo's name, title, text and questions, from its module."""
    found = _META.search((WEB / f"{name}.js").read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"{name}.js has no `export const meta = {{…}};` in JSON.")
    return dict(json.loads(found.group(1)))


def script(*files: str) -> str:
    """One script that defines ``modules`` (file → exports) for these files and all that they import."""
    ordered: list[str] = []
    for file in files:
        _gather(file, ordered)
    return "const modules = {};\n" + "\n".join(_scope(file) for file in ordered)


def _gather(file: str, ordered: list[str]) -> None:
    if file in ordered:
        return
    for _, imported in _imports(file):
        _gather(imported, ordered)
    ordered.append(file)


def _imports(file: str) -> list[tuple[str, str]]:
    return [] if file.startswith("vendor/") else _IMPORT.findall(_source(file))


@cache
def _source(file: str) -> str:
    return (WEB / file).read_text(encoding="utf-8")


def _scope(file: str) -> str:
    """A module as a function that returns its exports. Vendored files are in UMD and export one object."""
    source = _source(file)
    if file.startswith("vendor/"):
        return (
            f'modules["{file}"] = ((module) => {{ const exports = module.exports;\n{source}\n'
            "return module.exports; })({ exports: {} });"
        )
    source = _IMPORT.sub(lambda m: f'const {m[1].replace(" as ", ": ")} = modules["{m[2]}"];\n', source)
    exported = [name for _, name in _EXPORT.findall(source)]
    source = _EXPORT.sub(r"\1 \2", source)
    if re.search(r"^(?:import|export)\b", source, re.MULTILINE):
        raise ValueError(f'{file}: write `import {{ a }} from "./b.js";` and `export const a = …`.')
    return f'modules["{file}"] = (() => {{\n{source}\nreturn {{ {", ".join(exported)} }};\n}})();'


@cache
def data(name: str) -> str:
    """A demo's data as JSON: as exported, or computed now; ``null`` for a demo without data."""
    if name in exported.MODELS:
        return exported.text(name).strip()
    stored = name in exported.EXPORTS or name in exported.RECORDED
    return path(f"demos/{name}.json").read_text(encoding="utf-8").strip() if stored else "null"


def style() -> str:
    """The frame's style sheet."""
    return _source("frame.css")


def icon() -> str:
    """The course's icon as a data address."""
    return "data:image/svg+xml," + quote(_source("icon.svg").strip())


def widget_module(name: str) -> str:
    """The module that anywidget runs: it draws the demo and sends each state to the model."""
    return f"""{script("frame.js", f"{name}.js")}
const data = {data(name)};
const style = document.getElementById("cd-style") ?? document.head.appendChild(document.createElement("style"));
Object.assign(style, {{ id: "cd-style", textContent: {json.dumps(style())} }});
export default {{ render({{ model, el }}) {{
  const lab = document.getElementById("jp-main-dock-panel");  // in a cell the stage has a height of its own
  Object.assign(el.style, {{ position: "relative", width: "100%", height: `clamp(480px, calc(100vh - ${{lab ? 190 : 60}}px), 1000px)` }});
  const stage = modules["frame.js"].mount(el, modules["{name}.js"], {{ data,
    changed: (state) => {{ model.set("state", state); model.save_changes(); }} }});
  return () => stage.remove();
}} }};
"""


def page(name: str) -> str:
    """The demo as one HTML page that needs nothing else: no server, no network."""
    code = f"""{script("frame.js", f"{name}.js")}
const data = JSON.parse(document.querySelector("#data").textContent);
const demo = modules["{name}.js"];
const stage = modules["frame.js"].mount(document.querySelector("main"), demo, {{ data, page: true }});
globalThis.course = {{ modules, demo, stage }};""".replace("</script", r"<\/script")
    numbers = data(name).replace("</", r"<\/")  # JSON is parsed faster from text than from a script
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(meta(name)["title"])}</title>
<link rel="icon" href="{icon()}">
<style>
{style()}
</style>
</head>
<body class="cd-page">
<main></main>
<script type="application/json" id="data">{numbers}</script>
<script type="module">
{code}
</script>
</body>
</html>
"""


def write(out: Path, *chosen: str) -> list[Path]:
    """Write the pages of the chosen demos into a folder; of all of them by default."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name in chosen or names():
        written.append(out / f"{name}.html")
        written[-1].write_text(page(name), encoding="utf-8")
    return written
