def bigram_counts(words):
    N = np.zeros((28, 28), dtype=int)
    for word in words:
        tokens = ["<S>", *word, "<E>"]
        for current, following in zip(tokens, tokens[1:]):
            N[INDEX[current], INDEX[following]] += 1
    return N
