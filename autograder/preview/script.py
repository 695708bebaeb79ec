"""The one script of the preview's index, and the hash by which its pages allow it and no other."""

from __future__ import annotations

import base64
import hashlib

from autograder.pages.render import TEMPLATES

SCRIPT = (TEMPLATES / "preview.js").read_text(encoding="utf-8")
HASH = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
