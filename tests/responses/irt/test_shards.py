"""Responses in shards: counts of right answers of some subjects of one group, whole or in parts."""

import numpy as np
import pytest
import scipy.sparse

from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.shards import (
    Held,
    Shard,
    ShardCounts,
    all_taken_once,
    by_totals,
    chunks,
    dense,
    fetched,
    of_matrix,
    placed,
    streamed,
    thinned,
    weighed,
)


def test_a_sample_is_every_so_manieth_subject():
    right = np.arange(60).reshape(20, 3) % 2
    held = of_matrix(right, None, np.repeat([0, 1], 10))
    some = thinned(held, 6)
    assert (some.subjects, len(some.parts)) == (8, 2)  # every third of ten, in both groups
    np.testing.assert_array_equal(some.parts[0].right, right[:10:3])
    assert thinned(held, 50).subjects == 20


RIGHT = np.array([[2, 0, 1], [1, 1, 0], [0, 0, 3]], dtype=np.uint8)
TRIALS = np.array([[2, 1, 1], [1, 0, 2], [0, 0, 4]], dtype=np.uint8)


@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_array])
def test_a_shard_is_counted_by_item_and_by_subject(store):
    counts = ShardCounts.of(Shard(store(RIGHT), store(TRIALS), 0))
    assert counts.right.tolist() == [3, 1, 4]
    assert counts.trials.tolist() == [3, 1, 7]
    assert np.asarray(counts.subjects).tolist() == [2, 1, 3]
    assert np.asarray(counts.taken).tolist() == [3, 2, 1]
    assert counts.rate == pytest.approx([3 / 4, 2 / 3, 3 / 4])


def test_where_every_item_was_taken_once_trials_are_ones():
    shard = Shard(np.array([[1, 0], [0, 0]], dtype=np.uint8), None, 0)
    assert shard.taken().tolist() == [[1, 1], [1, 1]]
    assert ShardCounts.of(shard).rate.tolist() == [0.5, 0.0]
    assert ShardCounts.of(Shard(np.zeros((1, 2)), np.zeros((1, 2)), 0)).rate.tolist() == [0.0]


def test_rows_keep_counts_weights_and_group_together():
    shard = Shard(RIGHT, TRIALS, 3, np.array([1.0, 2.0, 3.0]))
    some = shard.rows(0, 3, 2)
    assert (len(shard), len(some), some.group) == (3, 2, 3)
    assert some.right.tolist() == RIGHT[::2].tolist() and some.trials.tolist() == TRIALS[::2].tolist()
    assert some.weights.tolist() == [1, 3]


def test_a_matrix_becomes_one_shard_per_group_that_keeps_trials_where_they_say_something():
    group = np.array([1, 0, 1])
    held = of_matrix(RIGHT, TRIALS, group)
    assert [part.group for part in held.parts] == [0, 1] and (held.groups, held.items, held.subjects) == (2, 3, 3)
    assert (
        held.parts[1].right.tolist() == RIGHT[[0, 2]].tolist()
        and held.parts[1].trials.tolist() == TRIALS[[0, 2]].tolist()
    )
    assert not held.complete
    ones = np.ones((3, 3), dtype=np.uint8)
    whole = of_matrix(RIGHT % 2, ones, np.array([0, 0, 1]))
    assert whole.complete and [part.trials for part in whole.parts] == [None, None]
    assert np.shares_memory(of_matrix(RIGHT, None, np.array([0, 0, 1])).parts[0].right, RIGHT), "a run is not copied"
    assert all_taken_once(ones) and not all_taken_once(TRIALS)
    assert not all_taken_once(scipy.sparse.csr_array(ones)), "what is sparse leaves items out"


def test_one_mean_row_for_each_total_score():
    """Totals 1, 2, 1, 2, 0: two rows of one right answer, two of two, one of none."""
    right = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    [part] = by_totals(of_matrix(right, None, np.zeros(5, dtype=int))).parts
    assert part.right.tolist() == [[0, 0, 0], [0.5, 0, 0.5], [0.5, 1, 0.5]]
    assert part.weights.tolist() == [1, 2, 2]
    weights = np.array([1.0, 1.0, 3.0, 1.0, 0.5])
    [part] = by_totals(Held([Shard(right, None, 1, weights)])).parts
    assert part.right.tolist() == [[0, 0, 0], [0.25, 0, 0.75], [0.5, 1, 0.5]]
    assert (part.weights.tolist(), part.group, part.trials) == ([0.5, 4, 2], 1, None)


def test_weights_follow_subjects_from_shard_to_shard():
    held = of_matrix(RIGHT, TRIALS, np.array([0, 0, 1]))
    source = weighed(held, np.array([0.5, 1.0, 2.0]))
    assert [shard.weights.tolist() for shard in source.shards()] == [[0.5, 1.0], [2.0]]
    assert (source.groups, source.items, source.complete) == (2, 3, False)


def test_shards_are_the_same_on_a_device_streamed_and_back():
    space = namespace(double=True)
    sparse = Held([Shard(scipy.sparse.csr_array(RIGHT), scipy.sparse.csr_array(TRIALS), 0, np.ones(3))])
    for held in (of_matrix(RIGHT, TRIALS, np.array([0, 0, 1])), sparse):
        there = fetched(placed(space, held))
        flowing = list(streamed(held, space).shards())
        for parts in (there.parts, flowing):
            assert np.concatenate([dense(part.right) for part in parts]).tolist() == RIGHT.tolist()
            assert np.concatenate([dense(part.trials) for part in parts]).tolist() == TRIALS.tolist()
    assert there.parts[0].weights.tolist() == [1, 1, 1]


def test_a_large_shard_is_cut_into_chunks_that_miss_no_subject():
    rows = np.arange(25_000) % 7 == 0
    shard = Shard(scipy.sparse.csr_array(rows[:, None].astype(np.uint8)), None, 0)
    pieces = list(chunks(namespace(double=True), shard))
    assert [len(piece) for piece in pieces] == [10_000, 10_000, 5_000]
    assert np.concatenate([dense(piece.right)[:, 0] for piece in pieces]).tolist() == rows.astype(int).tolist()
