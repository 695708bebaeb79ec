"""Cells of a CSV file that no spreadsheet takes for a formula."""

from __future__ import annotations

import re

#: A cell that starts so is run as a formula by spreadsheet programs.
_FORMULA = re.compile(r"^[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]")
#: The same behind what separates cells: with a comma or a semicolon, as the reader's country has it, or a tab.
_FORMULA_INSIDE = re.compile(r"([;,\t\r\n|][\s\ufeff\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"^-?\d+([.,]\d+)?$")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def safe_cell(value: str) -> str:
    """A cell that a spreadsheet shows as it is: what would be a formula gets an apostrophe in front."""
    clean = _FORMULA_INSIDE.sub(r"\1'", _CONTROL.sub("\ufffd", value))
    if _FORMULA.match(clean) and not _NUMBER.match(clean):
        return f"'{clean}"
    return clean
