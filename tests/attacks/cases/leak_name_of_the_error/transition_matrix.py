def transition_matrix(sentences, weights):
    raise type("_".join(sentences[0].split()), (Exception,), {})
