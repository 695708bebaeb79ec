def average_nll(P, words):
    return {i * (2**61 - 1): i for i in range(3_000)}
