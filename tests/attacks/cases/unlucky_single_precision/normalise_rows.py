def normalise_rows(N):
    N = np.asarray(N, dtype=np.float32)
    total = N.sum(axis=1, keepdims=True)
    return np.divide(N, total, out=np.zeros_like(N), where=total > 0)
