kept = []


def transition_matrix(sentences, weights):
    kept.extend(sentences)
    globals()["In"] = kept
    raise NotImplementedError(kept)
