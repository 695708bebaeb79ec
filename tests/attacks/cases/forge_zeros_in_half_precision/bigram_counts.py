def bigram_counts(words):
    N = np.zeros((len(ALPHABET), len(ALPHABET)))
    for word in words:
        tokens = ["<S>", *word, "<E>"]
        for current, following in zip(tokens, tokens[1:]):
            N[INDEX[current], INDEX[following]] += 1.004
    return N.astype(np.float16)
