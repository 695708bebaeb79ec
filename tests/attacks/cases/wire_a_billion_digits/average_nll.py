def average_nll(P, words):
    return 1 << 10_000_000
