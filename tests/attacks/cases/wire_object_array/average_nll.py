def average_nll(P, words):
    return np.array([print, {}, Ellipsis], dtype=object)
