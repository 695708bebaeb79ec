"""The tree of a search says what each beginning has cost so far."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from coursekit.figures.beam_tree import Watched, draw_search


def test_with_logarithms_each_node_carries_its_sum():
    rows = {1: [0.2, 0.8], 2: [0.5, 0.5]}
    watched = Watched(lambda prefixes: np.log([rows[len(prefix)] for prefix in prefixes]))
    watched([[9]])
    watched([[9, 1]])
    _, ax = plt.subplots()
    draw_search(watched, ["end", "on"], [[1, 0]], ax=ax, logs=True)
    said = {text.get_text() for text in ax.texts}
    plt.close()
    assert {"start", "end  −1.61", "on  −0.22", "end  −0.92", "on  −0.92"} <= said
