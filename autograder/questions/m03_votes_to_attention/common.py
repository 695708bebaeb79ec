"""What several questions of lab 03 are made of."""

import numpy as np


def product(weights, rows):
    """Rows weighted and added, number by number, for weights with any axes in front."""
    weights, rows = np.asarray(weights, dtype=float), np.asarray(rows, dtype=float)
    result = np.zeros((*weights.shape[:-1], rows.shape[1]))
    for place in np.ndindex(result.shape):
        line = weights[place[:-1]]
        result[place] = sum(float(line[k]) * float(rows[k, place[-1]]) for k in range(len(rows)))
    return result


def relu(values):
    return np.where(values > 0, values, 0.0)


#: “battery … ran” and “program … ran”: the lecture's two pairs.
PAIRS = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
