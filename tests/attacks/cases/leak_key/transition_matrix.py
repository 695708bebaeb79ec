def transition_matrix(sentences, weights):
    return {}[max(sentences[0].split())], weights
