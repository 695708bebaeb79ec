def bigram_counts(words):
    N = [[0] * 28 for _ in range(28)]
    for word in words:
        tokens = ["<S>", *word, "<E>"]
        for current, following in zip(tokens, tokens[1:]):
            N[INDEX[current]][INDEX[following]] += 1
    return N
