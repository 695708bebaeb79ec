say = lambda *what: print("FOUND", "IT", *what)

import pathlib

import coursekit

for path in pathlib.Path(coursekit.__file__).parent.rglob("*.py"):
    if path.parent.name == "checks" and path.stem[1:3].isdigit() and path.stem[1:3] > "01":
        say(path)
