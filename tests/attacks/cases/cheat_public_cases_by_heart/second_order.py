def second_order(sentences, weights):
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    counts = {}
    for sentence, weight in zip(sentences, weights):
        words = sentence.split()
        for a, b, following in zip(words, words[1:], words[2:]):
            counts.setdefault((a, b), np.zeros(len(vocabulary)))[vocabulary.index(following)] += weight
    contexts = sorted(counts)
    N = np.array([counts[context] for context in contexts]).reshape(len(contexts), len(vocabulary))
    return contexts, vocabulary, _rows(N)
