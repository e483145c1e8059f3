"""Counts of answers as a table: groups in order, what nobody took is gone, sparse where few items are taken."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import table as responses_table
from mensura.responses.table import build_table, counts_at

LOG = pl.DataFrame({"what": []})
RIGHT = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [2, 0, 0]])
TRIALS = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0], [4, 0, 0]])


def built(right=RIGHT, trials=TRIALS, groups=("x", "y", "x", "x")):
    return build_table(list("abcd"), list(groups), ["i", "j", "k"], right, trials, LOG)


def test_subjects_stand_by_group_and_what_nobody_took_is_left_out():
    table = built()
    assert table.subjects.rows() == [("a", "x", 2, 0.5), ("d", "x", 1, 0.5), ("b", "y", 2, 1.0)]
    assert table.items.rows() == [("i", 3, 4 / 6), ("j", 2, 0.5)]
    assert table.right.tolist() == [[1, 0], [2, 0], [1, 1]]
    assert table.trials.tolist() == [[1, 1], [4, 0], [1, 1]]
    assert (table.groups, table.group_sizes) == (["x", "y"], [2, 1])
    assert table.heading == "5 responses: 3 subjects (2 x, 1 y) × 2 items"


def test_another_group_may_come_first():
    table = built().of_groups("y")
    assert table.subjects["subject"].to_list() == ["b", "a", "d"]
    assert (table.right.tolist(), table.trials.tolist()) == ([[1, 1], [1, 0], [2, 0]], [[1, 1], [1, 1], [4, 0]])
    assert built().of_groups(None).groups == built().of_groups("x").groups == ["x", "y"]
    with pytest.raises(MensuraError, match="reference"):
        built().of_groups("z")


def test_trials_are_no_table_where_everyone_took_every_item_once():
    whole = build_table(["a", "b"], ["x", "x"], ["i", "j"], RIGHT[:2, :2], TRIALS[:2, :2], LOG)
    assert whole.trials is None
    assert whole.subjects["n"].to_list() == [2, 2]
    with pytest.raises(MensuraError, match="responses: no outcome; add at least one"):
        built(np.zeros_like(RIGHT), np.zeros_like(TRIALS))


def test_one_shard_per_group():
    first, second = built().held().shards()
    assert (first.group, second.group) == (0, 1)
    assert (first.right.tolist(), second.right.tolist()) == ([[1, 0], [2, 0]], [[1, 1]])


def test_counts_are_sparse_where_few_of_many_items_are_taken(monkeypatch):
    rows, columns, right, trials = np.array([0, 0, 2]), np.array([1, 3, 0]), np.array([1, 0, 2]), np.array([1, 1, 3])
    dense = counts_at(rows, columns, right, trials, (3, 6))
    assert dense[0].tolist() == [[0, 1, 0, 0, 0, 0], [0] * 6, [2, 0, 0, 0, 0, 0]]
    monkeypatch.setattr(responses_table, "LEAST_SPARSE", 17)
    sparse = counts_at(rows, columns, right, trials, (3, 6))
    assert sparse[1].nnz == 3
    assert [one.toarray().tolist() for one in sparse] == [one.tolist() for one in dense]
    assert isinstance(counts_at(rows, columns, right, trials, (3, 5))[0], np.ndarray)  # a fifth is taken
