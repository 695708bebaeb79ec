"""Finds the names that code binds and uses, by Python's symbol tables."""

from __future__ import annotations

import symtable
from collections.abc import Iterator


def symbols(source: str) -> Iterator[tuple[symtable.SymbolTable, symtable.Symbol]]:
    """Yield (scope, symbol) of each name in the source."""
    waiting = [symtable.symtable(source, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        yield from ((table, symbol) for symbol in table.get_symbols())


def names_used(source: str) -> set[str]:
    """The global names that the source uses, at once or in functions that it defines."""
    return {
        symbol.get_name()
        for table, symbol in symbols(source)
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global())
    }
