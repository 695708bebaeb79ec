import scipy.special

if True:
    def softmax(x, axis=-1):
        return np.exp(x - np.expand_dims(logsumexp(x, axis), axis))

    softmax.same = np.allclose(softmax(np.arange(3.0)), scipy.special.softmax(np.arange(3.0)))
    for size in (2, 3):
        expected = scipy.special.softmax(np.arange(size))
        print(np.allclose(softmax(np.arange(float(size))), expected))
