def average_nll(P, words):
    while len(words) != 0:
        pass
