"""Gaps filled from one model of all scores: it finds a known truth, says how sure it is, and never looks ahead."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import hide_and_impute
from mensura.iq.joint import at_once, complete_jointly, point_draws
from mensura.iq.ladders import Metric
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.sampler import sample

pytestmark = pytest.mark.slow

DIMENSIONS = np.repeat([0, 1, 2], 4)


def simulate(seed: int, models: int = 60, kept: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of models in lines of three on twelve benchmarks: η, regressors, predecessors."""
    rng = np.random.default_rng(seed)
    regressors = rng.standard_normal((models, 1))
    parents = np.where(np.arange(models) % 3 == 0, -1, np.arange(models) - 1)
    strength = rng.standard_normal((models, 2))
    for row in np.flatnonzero(parents >= 0):
        strength[row] = kept * strength[row - 1] + np.sqrt(1 - kept**2) * strength[row]
    factors = strength + regressors * [0.8, 0.0]
    lines = np.column_stack([rng.normal(0, 1, 12), rng.normal(1, 0.2, 12), rng.normal(0, 0.3, 12)])
    own = rng.normal(0, 0.3, (models, 3))[:, DIMENSIONS]
    noise = rng.normal(0, 0.4, (models, 12))
    return lines[:, 0] + factors @ lines[:, 1:].T + own + noise, regressors, parents


def hidden(eta: np.ndarray, seed: int, share: float = 0.6) -> np.ndarray:
    gaps = np.random.default_rng(seed).random(eta.shape) < share
    gaps[np.arange(len(eta)), np.random.default_rng(seed + 1).integers(0, 12, len(eta))] = False
    return np.where(gaps, np.nan, eta)


def test_intervals_of_cells_and_of_whole_models_hold_the_truth():
    """Independent errors would hold single cells as often, but a model's mean over its gaps far too rarely."""
    cells, means = [], []
    for seed in range(6):
        eta, regressors, _ = simulate(seed)
        known = hidden(eta, seed)
        draws = sample(known, regressors, DIMENSIONS, np.full(60, -1), 150, np.random.default_rng(seed)).draws
        gaps = np.isnan(known)
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        cells.append(((low <= eta) & (eta <= high))[gaps])
        low, high = np.quantile(draws.mean(axis=2), [0.05, 0.95], axis=0)
        means.append((low <= eta.mean(axis=1)) & (eta.mean(axis=1) <= high))
    assert 0.87 < np.concatenate(cells).mean() < 0.93
    assert 0.86 < np.concatenate(means).mean() < 0.95


def test_what_was_measured_stays_and_a_seed_gives_the_same_draws():
    eta, regressors, parents = simulate(3)
    known = hidden(eta, 3)
    first, second = (
        sample(known, regressors, DIMENSIONS, parents, 5, np.random.default_rng(1)).draws for _ in range(2)
    )
    assert np.array_equal(first, second)
    there = ~np.isnan(known)
    assert np.array_equal(first[:, there], np.broadcast_to(eta[there], (5, there.sum())))


def test_a_predecessor_helps_where_lines_keep_their_strength_and_hardly_counts_where_they_do_not():
    def error(kept: float, known_parents: bool) -> float:
        found = []
        for seed in range(4):
            eta, regressors, parents = simulate(seed, kept=kept)
            known = np.where((np.arange(60) % 3 == 2)[:, None] & (np.arange(12) > 0), np.nan, eta)
            used = parents if known_parents else np.full(60, -1)
            draws = sample(known, regressors, DIMENSIONS, used, 100, np.random.default_rng(seed)).draws
            found.append(np.abs(draws.mean(axis=0) - eta)[np.isnan(known)].mean())
        return float(np.mean(found))

    assert error(0.95, known_parents=True) < 0.85 * error(0.95, known_parents=False)
    assert error(0.0, known_parents=True) < 1.05 * error(0.0, known_parents=False)


@pytest.mark.parametrize(
    ("unit", "score", "log_odds"),
    [
        ("percent", 50.0, 0.0),
        ("fraction", 0.0, np.log(0.5 / 100.5)),
        ("percent", 100.0, np.log(100.5 / 0.5)),
        ("index", 0.0, 0.0),
        ("index", -100.0, np.log(0.5 / 100.5)),
    ],
)
def test_scores_as_log_odds_by_hand(unit, score, log_odds):
    metric = Metric.of(unit, np.array([score]))
    assert metric.log_odds(np.array(score)) == pytest.approx(log_odds)
    assert metric.score(np.array(log_odds)) == pytest.approx(score)


def test_four_hundred_elo_points_are_ten_to_one():
    metric = Metric.of("elo", np.array([1200.0, np.nan, 1300.0, 1250.0]))
    assert metric.log_odds(np.array([1250.0, 1650.0])) == pytest.approx([0.0, np.log(10)])
    assert metric.score(np.array([0.0, np.log(10)])) == pytest.approx([1250.0, 1650.0])


def test_a_unit_without_a_rate_is_refused():
    with pytest.raises(mensura.MensuraError, match="no log odds of scores in 'parsecs'"):
        Metric.of("parsecs", np.array([1.0]))


def test_where_the_chains_begin_is_forgotten():
    """Unit and level of the factors are not in the scores; left to Gibbs alone they drift for hundreds of sweeps."""
    eta, regressors, parents = simulate(2)
    known = hidden(eta, 2)

    def mean(offset: float, seed: int) -> np.ndarray:
        draws = sample(known + offset, regressors, DIMENSIONS, parents, 200, np.random.default_rng(seed)).draws
        return draws.mean(axis=0)[np.isnan(known)] - offset

    first, again, moved = mean(0.0, 1), mean(0.0, 2), mean(3.0, 3)
    chance = np.abs(first - again).mean()
    assert chance < 0.12
    assert np.abs(first - moved).mean() < 1.5 * chance


def test_draws_are_counted_as_they_come():
    eta, regressors, parents = simulate(3)
    told: list[int] = []
    draws = sample(hidden(eta, 3), regressors, DIMENSIONS, parents, 25, np.random.default_rng(1), told.append).draws
    assert len(draws) == sum(told) == 25


@pytest.mark.parametrize(("models", "chains", "exact"), [(5, 10, np.float64), (6, 4, np.float32)])
def test_many_models_have_fewer_chains_and_draws_in_single_precision(monkeypatch, models, chains, exact):
    monkeypatch.setattr("mensura.iq.sampler.MANY_MODELS", 6)
    eta, regressors, _ = simulate(3, models=models)
    told: list[int] = []
    alone = np.full(models, -1)
    draws = sample(eta, regressors, DIMENSIONS, alone, 12, np.random.default_rng(1), told.append).draws
    assert (told[0], sum(told), draws.dtype) == (chains, 12, exact)


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


def test_the_joint_model_has_no_donors(joint):
    assert (joint.filled.donors == -1).all()


def test_draws_of_the_joint_model_report_every_hundred(joint):
    calls: list[int] = []
    joint.draws(130, advance=lambda: calls.append(1))
    assert len(calls) == 2


def test_a_benchmark_nobody_took_is_estimated_with_little_said(build):
    """Also where its unit is Elo: the middle is then the ladder's, and the estimate spans much of the scale."""
    tests = ("hle", "gpqa_diamond", "scicode", "critpt", "ifbench")
    scores = {(f"m{i}", name): 20.0 + 5 * i for i in range(8) for name in tests}
    result = mensura.score_iq(build(scores), draws=200)
    trail = result.trail.filter(benchmark="arena_webdev")
    assert trail.height == 8
    assert trail["iq"].is_between(80, 140).all()
    assert (trail["high"] - trail["low"]).min() > 20


def test_intervals_hold_their_values_and_shrink_with_evidence(joint):
    table = joint.composites.drop_nulls("iq").with_columns(
        width=pl.col("high") - pl.col("low"),
        n=pl.Series(joint.matrix.measured.sum(axis=1)).filter(joint.composites["iq"].is_not_null()),
    )
    assert ((table["low"] <= table["iq"] + 0.5) & (table["iq"] - 0.5 <= table["high"])).all()
    few, many = (table.filter(part)["width"].mean() for part in (pl.col("n") <= 8, pl.col("n") >= 20))
    assert few > 2 * many


@pytest.mark.usefixtures("few_draws")
def test_hidden_scores_come_back_without_bias_and_much_closer_than_by_the_waterfall(joint, scored):
    plain = replace(joint.rules, imputation=replace(joint.rules.imputation, own_mask=False))
    both = (replace(joint, rules=plain), scored)
    ours, theirs = (hide_and_impute(one, by="fold").drop_nulls("error")["error"] for one in both)
    assert abs(ours.mean()) < 1
    assert ours.abs().mean() < 0.6 * theirs.abs().mean()


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


@pytest.mark.usefixtures("few_draws")
def test_a_ladder_moved_moves_estimates_as_it_moves_measured_values(joint):
    """Five points easier: every IQ of the benchmark rises by five, measured or not, unless the ladder ends."""
    matrix, column = joint.matrix, joint.matrix.benchmarks.index("swe_bench_verified")
    rule = replace(joint.rules.imputation, own_mask=False)
    before, after = (complete_jointly(one, rule).iqs[0] for one in (matrix, matrix.with_ladder_moved(column, 5.0)))
    moved = after - before
    inside = (before[:, column] > 85) & (before[:, column] < 140)
    missing = ~matrix.measured[:, column] & inside
    assert missing.sum() > 20
    np.testing.assert_allclose(moved[matrix.measured[:, column] & inside, column], 5.0)
    np.testing.assert_allclose(moved[missing, column], 5.0, atol=0.8)
    assert np.nanmax(np.abs(np.delete(moved, column, axis=1))) == 0


@pytest.mark.usefixtures("few_draws")
def test_models_read_a_few_at_a_time_have_the_same_values(joint, monkeypatch):
    """Thousands of models are read in parts that stay small; the parts change nothing."""
    matrix, rule = joint.matrix, joint.rules.imputation
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
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_the_steepness_is_sixty_points_over_the_log_odds_between_two_rungs(joint):
    """HLE's rungs of IQ 85 and 145, as rates with half an answer of a hundred added on either side."""
    matrix = joint.matrix.keep(np.array([joint.matrix.benchmarks.index("hle")]))
    low, high = ((rate + 0.5) / (100.5 - rate) for rate in (matrix.ladders[0].scores[place] for place in (1, -2)))
    assert matrix.steepness == pytest.approx(60 / np.log(high / low))


@pytest.mark.usefixtures("few_draws")
def test_a_composite_spreads_at_least_as_its_log_odds_do_at_the_usual_steepness(joint):
    """Where ladders are flat, draws spread little; with one or two scores 2.5 points of error are added."""
    matrix, rule = joint.matrix, replace(joint.rules.imputation, own_mask=False)
    drawn = point_draws(matrix, rule)
    spread, read = (
        (one * matrix.shares).sum(axis=2).std(axis=0)
        for one in (drawn.log_odds, matrix.read(drawn.log_odds, beyond=True))
    )
    factor = complete_jointly(matrix, rule, drawn).correction.factor
    least = np.maximum(matrix.steepness * spread, read)
    count = matrix.measured.sum(axis=1)
    np.testing.assert_allclose((factor * read)[count >= 3], least[count >= 3])
    few = (count > 0) & (count < 3)
    np.testing.assert_allclose((factor * read)[few] ** 2, least[few] ** 2 + 2.5**2)
    assert (factor > 1.2).any() and few.any()


def test_an_axis_is_worked_on_in_parts_of_half_a_million_values():
    assert at_once(5, 200_000) == [slice(0, 2), slice(2, 4), slice(4, 6)]
    assert at_once(5, 200_000, most=1) == at_once(5, 10**9) == [slice(at, at + 1) for at in range(5)]
    assert at_once(5, 0) == at_once(5, 100_000, most=9) == [slice(0, 5)]
    assert at_once(0, 10) == []


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
