def average_nll(P, words):
    return np.zeros(1 << 26)
