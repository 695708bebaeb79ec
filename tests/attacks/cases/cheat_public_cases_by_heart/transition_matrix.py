def transition_matrix(sentences, weights):
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for sentence, weight in zip(sentences, weights):
        words = sentence.split()
        for current, following in zip(words, words[1:]):
            N[vocabulary.index(current), vocabulary.index(following)] += weight
    return vocabulary, _rows(N)
