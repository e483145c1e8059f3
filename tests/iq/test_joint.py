"""Gaps filled from one model of all scores: it finds a known truth, says how sure it is, and never looks ahead."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import hide_and_impute
from mensura.iq.joint import at_once, complete_jointly, point_draws
from mensura.iq.matrix import ScoreMatrix


@pytest.mark.slow
def test_every_model_with_a_score_that_counts_has_a_composite_and_all_dimensions(joint):
    count = joint.matrix.measured.sum(axis=1)
    has = joint.composites["iq"].is_not_null().to_numpy()
    assert np.array_equal(has, count >= 1)
    assert set(joint.benchmark_iqs["step"]) == {"source", "joint"}
    assert set(joint.dimensions["status"]) == {"measured", "partly measured", "estimated"}
    assert (
        joint.dimensions.height
        == 7 * has.sum()
        + joint.dimensions.filter(
            pl.col("subject").is_in(joint.composites.filter(pl.col("iq").is_null())["subject"].to_list())
        ).height
    )
    assert "estimated from the model's 8 measured benchmarks" in str(joint.explain("mercury-2"))


@pytest.mark.slow
def test_a_model_with_nothing_missing_has_the_interval_of_its_measurement(build):
    """Draws vary what was measured by its error, where the scale does not end."""
    facts = mensura.load().benchmarks.filter("in_composite").select("benchmark", "unit")
    middle = {"percent": 40.0, "fraction": 0.4, "elo": 1300.0, "index": 10.0}
    scores = {(f"m{i}", name): middle[unit] * (1 + i / 100) for i in range(6) for name, unit in facts.iter_rows()}
    result = mensura.score_iq(build(scores), draws=1500)
    assert set(result.composites["estimated"]) == {0}
    found, expected = result.drawn.benchmarks.std(axis=0), result.errors
    inside = (np.abs(result.matrix.iqs - 115) + 3 * expected) < 45
    assert inside.mean() > 0.5
    assert found[inside] == pytest.approx(expected[inside], rel=0.12)
    assert (result.composites["high"] - result.composites["low"]).min() > 0.5


def test_the_joint_model_has_no_donors(few_joint):
    assert (few_joint.filled.donors == -1).all()


@pytest.mark.slow
def test_intervals_go_on_from_the_chains_of_the_scoring(joint):
    """The same draws as chains begun anew give: whole rounds go on, and others are drawn by themselves."""
    for draws in (40, 500, 25):
        scored = mensura.score_iq(joint.evidence, draws=draws)
        assert (scored.begun is None) == (draws == 25)
        assert np.array_equal(scored.drawn.benchmarks, joint.draws(draws).benchmarks, equal_nan=True)
        assert scored.begun is None
        assert np.array_equal(scored.filled.iqs, joint.filled.iqs, equal_nan=True)


def test_a_benchmark_nobody_took_is_estimated_with_little_said(build):
    """Also where its unit is Elo: the middle is then the ladder's, and the estimate spans much of the scale."""
    tests = ("hle", "gpqa_diamond", "scicode", "critpt", "ifbench")
    scores = {(f"m{i}", name): 20.0 + 5 * i for i in range(8) for name in tests}
    result = mensura.score_iq(build(scores), draws=200)
    trail = result.trail.filter(benchmark="arena_webdev")
    assert trail.height == 8
    assert trail["iq"].is_between(80, 140).all()
    assert (trail["high"] - trail["low"]).min() > 20


def test_intervals_hold_their_values_and_shrink_with_evidence(few_joint):
    table = few_joint.composites.drop_nulls("iq").with_columns(
        width=pl.col("high") - pl.col("low"),
        n=pl.Series(few_joint.matrix.measured.sum(axis=1)).filter(few_joint.composites["iq"].is_not_null()),
    )
    assert ((table["low"] <= table["iq"] + 0.5) & (table["iq"] - 0.5 <= table["high"])).all()
    few, many = (table.filter(part)["width"].mean() for part in (pl.col("n") <= 8, pl.col("n") >= 20))
    assert few > 2 * many


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_a_hidden_score_cannot_be_seen(build):
    scores = {(f"m{i}", b): 20 + i for i in range(8) for b in ("hle", "gpqa_diamond", "scicode", "critpt", "ifbench")}
    changed = {**scores, ("m3", "hle"): 90.0}
    pick = pl.col("subject").eq("m3") & pl.col("benchmark").eq("hle")
    seen = [
        hide_and_impute(mensura.score_iq(build(one)), by="fold").filter(pick)["imputed"].item()
        for one in (scores, changed)
    ]
    assert seen[0] == seen[1]


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_a_ladder_moved_moves_estimates_as_it_moves_measured_values(joint):
    """Five points easier: every IQ of the benchmark rises by five, measured or not, unless the ladder ends."""
    matrix, column = joint.matrix, joint.matrix.benchmarks.index("swe_bench_verified")
    rule = replace(joint.rules.imputation, same_gaps=False)
    before, after = (complete_jointly(one, rule).iqs[0] for one in (matrix, matrix.with_ladder_moved(column, 5.0)))
    moved = after - before
    inside = (before[:, column] > 85) & (before[:, column] < 140)
    missing = ~matrix.measured[:, column] & inside
    assert missing.sum() > 20
    np.testing.assert_allclose(moved[matrix.measured[:, column] & inside, column], 5.0)
    np.testing.assert_allclose(moved[missing, column], 5.0, atol=0.8)
    assert np.nanmax(np.abs(np.delete(moved, column, axis=1))) == 0


@pytest.mark.usefixtures("few_draws")
def test_models_read_a_few_at_a_time_have_the_same_values(few_joint, monkeypatch):
    """Thousands of models are read in parts that stay small; the parts change nothing."""
    matrix, rule = few_joint.matrix, few_joint.rules.imputation
    drawn, sizes, read = point_draws(matrix, rule), [], ScoreMatrix.read
    whole = complete_jointly(matrix, rule, drawn)
    monkeypatch.setattr("mensura.iq.joint._CELLS", 7 * 50 * len(matrix.benchmarks))
    monkeypatch.setattr(
        ScoreMatrix, "read", lambda self, odds, **more: sizes.append(odds.shape) or read(self, odds, **more)
    )
    parts = complete_jointly(matrix, rule, drawn)
    of_models = [size for size in sizes if len(size) == 3]  # others are entered models, draw by draw
    assert of_models[:-1] == [(50, 7, len(matrix.benchmarks))] * (len(matrix.subjects) // 7)
    for name in ("iqs", "errors", "steps"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


def test_the_steepness_is_sixty_points_over_the_log_odds_between_two_rungs(few_joint):
    """HLE's rungs of IQ 85 and 145, as rates with half an answer of a hundred added on either side."""
    matrix = few_joint.matrix.keep(np.array([few_joint.matrix.benchmarks.index("hle")]))
    low, high = ((rate + 0.5) / (100.5 - rate) for rate in (matrix.ladders[0].scores[place] for place in (1, -2)))
    assert matrix.steepness == pytest.approx(60 / np.log(high / low))


@pytest.mark.usefixtures("few_draws")
def test_a_composite_spreads_at_least_as_its_log_odds_do_at_the_usual_steepness(few_joint):
    """Where ladders are flat, draws spread little, of models with one or two scores too."""
    matrix, rule = few_joint.matrix, replace(few_joint.rules.imputation, same_gaps=False)
    drawn = point_draws(matrix, rule)
    spread, read = (
        (one * matrix.shares).sum(axis=2).std(axis=0)
        for one in (drawn.log_odds, matrix.read(drawn.log_odds, beyond=True))
    )
    factor = complete_jointly(matrix, rule, drawn).correction.factor
    least = np.maximum(matrix.steepness * spread, read)
    np.testing.assert_allclose(factor * read, least)
    assert (factor > 1.2).any()


def test_an_axis_is_worked_on_in_parts_of_half_a_million_values():
    assert at_once(5, 200_000) == [slice(0, 2), slice(2, 4), slice(4, 6)]
    assert at_once(5, 200_000, most=1) == at_once(5, 10**9) == [slice(at, at + 1) for at in range(5)]
    assert at_once(5, 0) == at_once(5, 100_000, most=9) == [slice(0, 5)]
    assert at_once(0, 10) == []


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_a_sparse_model_is_where_full_measurement_puts_it(joint):
    """Well-measured models entered again as unknown, with six scores each: the interval is about the full composite."""
    evidence, matrix = mensura.load(), joint.matrix
    rng, inside = np.random.default_rng(5), []
    rows = np.argsort(-matrix.measured.sum(axis=1), kind="stable")[:16]
    for group in np.array_split(rows, 2):
        names = [matrix.subjects[row] for row in group]
        kept = {matrix.subjects[r]: rng.permutation(np.flatnonzero(matrix.measured[r]))[:6] for r in group}
        pairs = [(name, matrix.benchmarks[c]) for name, columns in kept.items() for c in columns]
        few = pl.DataFrame(pairs, schema=["subject", "benchmark"], orient="row")
        theirs = pl.col("subject").is_in(names)
        again = replace(
            evidence,
            models=evidence.models.with_columns(
                pl.when(theirs).then(None).otherwise(pl.col(c)).alias(c) for c in ("predecessor", "predecessor2")
            ),
            scores=pl.concat(
                [evidence.scores.filter(~theirs), evidence.scores.join(few, on=["subject", "benchmark"], how="semi")]
            ),
        )
        drawn = mensura.score_iq(again, method="joint", draws=100).drawn.benchmarks
        for row in group:
            known = matrix.measured[row]
            truth, low, high = (
                matrix.iqs[row, known].mean(),
                *np.quantile(drawn[:, row][:, known].mean(axis=1), [0.05, 0.95]),
            )
            inside.append(low <= truth <= high)
    assert sum(inside) >= 12
