def normalise_rows(N):
    return np.exp(1j * np.asarray(N, float))
