"""Sums over a sparse score matrix, also where a subject or benchmark has no score."""

import numpy as np
import pytest

from mensura import MensuraError
from mensura.stitching import ScoreLayout

ROWS, COLS = np.array([0, 0, 2, 2, 2]), np.array([1, 3, 0, 1, 3])


@pytest.mark.parametrize("replicates", [1, 2, 5])
def test_an_empty_subject_or_benchmark_sums_to_zero_in_any_batch(replicates):
    layout = ScoreLayout(ROWS, COLS, 4, 6)
    x = np.arange(1.0, 1 + 5 * replicates).reshape(replicates, 5)
    dense = np.zeros((replicates, 4, 6))
    dense[:, ROWS, COLS] = x
    np.testing.assert_array_equal(layout.over_subjects(x), dense.sum(axis=2))
    np.testing.assert_array_equal(layout.over_benchmarks(x), dense.sum(axis=1))


@pytest.mark.parametrize(
    ("rows", "cols", "subjects", "message"),
    [
        ([1, 0], [0, 0], 2, "sorted by subject"),
        ([0, 2], [0, 0], 2, r"rows: indices from 0 to 1 are expected, got 0 to 2"),
        ([0, 1], [0, -1], 2, r"cols: indices from 0 to 0 are expected, got -1 to 0"),
        ([0, 1], [0], 2, "equal length"),
        ([], [], 0, "non-empty"),
    ],
)
def test_indices_that_would_sum_wrongly_are_refused(rows, cols, subjects, message):
    with pytest.raises(MensuraError, match=message):
        ScoreLayout(np.array(rows, dtype=int), np.array(cols, dtype=int), subjects, 1)


def test_a_layout_to_be_fitted_needs_a_score_everywhere():
    with pytest.raises(MensuraError, match="needs at least one score"):
        ScoreLayout.of([0, 2], [0, 0])
    assert repr(ScoreLayout.of([0, 1], [0, 0])) == "<2 scores of 2 subjects on 1 benchmarks>"
