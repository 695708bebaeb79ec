def average_nll(P, words):
    return np.ma.masked_array(np.zeros(2, dtype=[("x", "f8"), ("y", "O")]), mask=True)
