def by_rows(N):
    return N.sum(axis=1, keepdims=True)
