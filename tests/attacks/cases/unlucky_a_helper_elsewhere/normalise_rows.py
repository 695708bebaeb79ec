def normalise_rows(N):
    total = by_rows(N)
    return np.divide(N, total, out=np.zeros(N.shape), where=total > 0)
