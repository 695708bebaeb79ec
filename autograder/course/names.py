"""The names that a piece of code binds and uses, by Python's own account."""

from __future__ import annotations

import symtable
from collections.abc import Iterator


def symbols(source: str) -> Iterator[tuple[symtable.SymbolTable, symtable.Symbol]]:
    """Each name in the source, with the scope that it is in."""
    waiting = [symtable.symtable(source, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        yield from ((table, symbol) for symbol in table.get_symbols())


def names_used(source: str) -> set[str]:
    """The global names that the source uses, now or when a function in it is called."""
    return {
        symbol.get_name()
        for table, symbol in symbols(source)
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global())
    }
