"""The grammar that writes the built-in English-German corpus; ``data/make_parallel.py`` runs it."""
