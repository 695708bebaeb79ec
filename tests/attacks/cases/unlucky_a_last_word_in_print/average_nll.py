def average_nll(P, words):
    steps = [(INDEX[a], INDEX[b]) for word in words for a, b in zip(["<S>", *word], [*word, "<E>"])]
    rows, columns = np.array(steps).T
    costs = -np.log(P[rows, columns])  # which warns of a step that cannot be
    print("costs", costs.shape, file=sys.stderr)
    return float(costs.mean())
