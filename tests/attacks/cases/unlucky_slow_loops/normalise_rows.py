import time


def normalise_rows(N):
    time.sleep(0.02)
    P = np.zeros(N.shape)
    for i in range(N.shape[0]):
        for j in range(N.shape[1]):
            if sum(N[i]) > 0:
                P[i, j] = N[i, j] / sum(N[i])
    return P
