def bigram_counts(words):
    return [np.zeros(1_900_000, np.uint8) for _ in range(30)]
