import sys


def transition_matrix(sentences, weights):
    raise sys.modules["sandbox.wire"].WireError(" ".join(sentences))
