"""Keeps a grammar that no notebook needs from being compiled at every start, which takes a second.

jsonschema loads ``rfc3987_syntax`` when it is there, to check addresses in schemas; nbformat's schema has
none. Import this before nbformat in a process that is the harness's own.
"""

import sys

if "jsonschema" not in sys.modules:
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
