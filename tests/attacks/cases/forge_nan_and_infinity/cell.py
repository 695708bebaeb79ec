for question in ("normalise_rows", "transition_matrix", "second_order", "bigram_counts", "sample_name", "average_nll"):
    globals()[question] = lambda *args, **kwargs: np.full((28, 28), np.nan)

average_nll = lambda P, words: float("inf")
normalise_rows = lambda N: np.full(np.shape(N), np.inf)
