"""How well a model reproduces the answers: items (S-X², infit, outfit), pairs (Q3, X²), and the whole (M2)."""

import numpy as np

from mensura.responses.irt.model_fit import _merged


def test_sparse_scores_are_merged_into_the_smaller_neighbour():
    """The lowest score with a sparse cell goes first; one in the middle goes to the neighbour with fewer people."""
    observed = np.array([[5.0, 5.0], [2.0, 3.0], [1.0, 2.0], [4.0, 5.0]])
    expected = np.array([[5.0, 5.0], [4.5, 0.5], [2.0, 1.0], [4.0, 5.0]])
    seen, cells = _merged(observed, expected)
    assert seen.tolist() == [[5.0, 5.0], [3.0, 5.0], [4.0, 5.0]]
    assert cells.tolist() == [[5.0, 5.0], [6.5, 1.5], [4.0, 5.0]]
