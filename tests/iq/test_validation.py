"""Is the imputation any good? Hide what was measured, impute it, and compare."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq.validation import hide_and_impute, hidings, summarise


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_hidden_scores_come_back_without_bias_and_much_closer_than_by_the_waterfall(joint, scored):
    plain = replace(joint.rules, imputation=replace(joint.rules.imputation, same_gaps=False))
    both = (replace(joint, rules=plain), scored)
    ours, theirs = (hide_and_impute(one, by="fold").drop_nulls("error")["error"] for one in both)
    assert abs(ours.mean()) < 1
    assert ours.abs().mean() < 0.6 * theirs.abs().mean()


def test_errors_of_imputation_by_hand():
    outcomes = pl.DataFrame({"step": ["a", "a", "a", "b", "b"], "error": [3.0, -3.0, 6.0, 1.0, None]})
    first, second = summarise(outcomes).to_dicts()
    assert (first["step"], first["n"], first["bias"], first["mae"]) == ("a", 3, 2.0, 4.0)
    assert first["rmse"] == pytest.approx(np.sqrt(54 / 3))
    assert (second["step"], second["n"], second["bias"]) == ("b", 1, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["dimension", "fold"])
def test_hiding_in_groups_covers_every_score_once(scored, by):
    outcomes = hide_and_impute(scored, by=by)
    assert outcomes.height == int(scored.matrix.measured.sum())
    assert outcomes.select("subject", "benchmark").is_unique().all()
    assert summarise(outcomes)["n"].sum() == outcomes["error"].count()


def test_a_wrong_way_of_hiding_is_refused(scored):
    with pytest.raises(mensura.MensuraError, match="expected score, dimension or fold"):
        hide_and_impute(scored, by="row")


def test_a_seed_without_draws_is_refused(scored):
    with pytest.raises(mensura.MensuraError, match="seed: got 3, but only by='fold' draws"):
        hide_and_impute(scored, by="score", seed=3)


@pytest.mark.slow
def test_what_is_hidden_together(scored):
    """By dimension: all measured scores of one model in one dimension, each such set once."""
    matrix = scored.matrix
    seen = set()
    for cells in hidings(matrix, "dimension"):
        [row], [place] = set(cells[:, 0].tolist()), set(matrix.dimension_of[cells[:, 1]].tolist())
        there = np.flatnonzero(matrix.measured[row] & (matrix.dimension_of == place))
        assert sorted(cells[:, 1].tolist()) == there.tolist()
        seen.add((row, place))
    expected = (matrix.measured @ matrix.members > 0).sum()
    assert len(seen) == expected
    folds = list(hidings(matrix, "fold"))
    assert len(folds) == 10
    assert max(map(len, folds)) - min(map(len, folds)) <= 1
    assert all(len(cells) == 1 for cells in hidings(matrix, "score"))
    same, other = next(hidings(matrix, "fold", 0)), next(hidings(matrix, "fold", 1))
    assert np.array_equal(same, folds[0])
    assert not np.array_equal(other, folds[0])
