"""Proves the tests: named wrong answers, other right answers, mutants; and makes classes to try it all on."""
