say = lambda *what: print("FOUND", "IT", *what)

import importlib

for name in ("autograder", "autograder.testing.expect", "autograder.questions.m01_markov_bigram.common", "solutions"):
    try:
        importlib.import_module(name)
        say(name)
    except ImportError:
        pass
