import coursekit
from coursekit.data.names import ALPHABET
from coursekit.provided.p00_warm_up import softmax as theirs


def scaled_dot_product_attention(q, k, v, mask=None):
    assert len(ALPHABET) > 0 and coursekit.figures.BLUE and callable(theirs)
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
