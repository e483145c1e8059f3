"""Sums over a sparse score matrix, also where a subject or benchmark has no score."""

import numpy as np
import pytest

from mensura import MensuraError
from mensura.stitching import ScoreLayout, layout as layouts
from mensura.stitching.layout import invert, pack, pack_squares, pack_twice, unpack

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


@pytest.mark.parametrize(("cells_per_score", "at_once"), [(0, 1), (0, 100), (100, 1), (100, 12), (100, 100)])
def test_products_are_those_of_both_vectors_however_many_at_once(cells_per_score, at_once, monkeypatch):
    monkeypatch.setattr(layouts, "EMPTY_PER_PRODUCT", cells_per_score)
    monkeypatch.setattr(layouts, "PAIRS_AT_ONCE", at_once)
    left, right = np.arange(8.0).reshape(4, 2), np.arange(12.0, 24.0).reshape(6, 2)
    expected = [left[row] @ right[col] for row, col in zip(ROWS, COLS, strict=True)]
    np.testing.assert_array_equal(ScoreLayout(ROWS, COLS, 4, 6).products(left, right), expected)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_many_small_matrices_are_packed_and_inverted_together(k):
    roots = np.random.default_rng(0).normal(size=(7, k, k))
    matrices = roots @ roots.transpose(0, 2, 1) + np.eye(k)
    before = matrices.copy()
    np.testing.assert_allclose(invert(matrices) @ matrices, np.broadcast_to(np.eye(k), matrices.shape), atol=1e-12)
    np.testing.assert_array_equal(matrices, before)
    np.testing.assert_array_equal(
        unpack(pack(matrices), k), np.triu(matrices) + np.triu(matrices, 1).transpose(0, 2, 1)
    )
    vector = roots[:, 0]
    form = np.einsum("ni,nij,nj->n", vector, matrices, vector)
    np.testing.assert_allclose((pack_squares(vector) * pack_twice(matrices)).sum(axis=1), form)
