def transition_matrix(sentences, weights):
    error = ValueError()
    error.add_note(sentences[0])
    error.__cause__ = KeyError(sentences[0])
    error.args = (sentences[0],)
    raise error from KeyError(sentences[0])
