def bigram_counts(words):
    return range(-(10**400), 10**400)
