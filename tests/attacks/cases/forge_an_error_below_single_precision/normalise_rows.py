def normalise_rows(N):
    return (N / (N.sum(axis=1, keepdims=True) + 0.0001)).astype(np.float32)
