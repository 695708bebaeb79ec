say = lambda *what: print("FOUND", "IT", *what)

import importlib

for name in ("autograder", "autograder.testing.expect", "autograder.hidden_tests.test_01_markov_bigram", "solutions"):
    try:
        importlib.import_module(name)
        say(name)
    except ImportError:
        pass
