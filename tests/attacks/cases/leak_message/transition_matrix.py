def transition_matrix(sentences, weights):
    raise ValueError(repr(sentences))
