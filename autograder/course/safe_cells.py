"""Makes cells of CSV files safe: no spreadsheet takes them for formulas."""

from __future__ import annotations

import re

#: Spreadsheet programs run a cell that starts like this as a formula.
_FORMULA = re.compile(r"^[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]")
#: The same after a separator of cells: comma, semicolon or tab, depending on the reader's country.
_FORMULA_INSIDE = re.compile(r"([;,\t\r\n|][\s\ufeff\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"^-?\d+([.,]\d+)?$")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def safe_cell(value: str) -> str:
    """The cell with an apostrophe before each part that a spreadsheet would run as a formula."""
    clean = _FORMULA_INSIDE.sub(r"\1'", _CONTROL.sub("\ufffd", value))
    if _FORMULA.match(clean) and not _NUMBER.match(clean):
        return f"'{clean}"
    return clean
