"""Uncertainty, sensitivity, comparison, validation of the imputation."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from benchmarks.iq_imputation import hide_dimensions
from mensura.iq import compare_iq, read_rules, sensitivity
from mensura.iq.uncertainty import disagreement, score_errors
from mensura.iq.validation import hide_and_impute


def test_draws_repeat_with_the_seed_and_intervals_surround_the_value(drawn):
    again = drawn.draws(20, seed=3)
    assert np.array_equal(again.composites, drawn.draws(20, seed=3).composites, equal_nan=True)
    table = drawn.composites.drop_nulls("iq").join(drawn.ranking, on="subject")
    assert table.select((pl.col("low") <= pl.col("exact")) & (pl.col("exact") <= pl.col("high"))).to_series().all()
    assert (table["rank_low"] <= table["rank_high"]).all()
    trail = drawn.trail
    assert (
        trail.select((pl.col("low") <= pl.col("iq") + 1e-6) & (pl.col("iq") <= pl.col("high") + 1e-6)).to_series().all()
    )


def test_without_draws_intervals_are_absent_and_the_published_method_lowers_nobody(scored):
    assert scored.composites["lowered"].to_list() == [0.0] * scored.composites.height
    assert scored.composites["low"].null_count() == scored.composites.height


def test_intervals_cover_the_truth_when_scores_vary_by_their_error(build):
    """Fully measured models whose scores are the truth plus the error the evidence implies: 90 % are covered."""
    generator = np.random.default_rng(5)
    names = [f"m{i}" for i in range(60)]
    truth = generator.uniform(30, 60, len(names))
    full = mensura.load().benchmarks.filter("in_composite")["benchmark"].to_list()
    full = [b for b in full if not b.endswith(("webdev", "frontend", "fullstack"))]
    scores = {(name, b): 0.5 if b == "swe_bench_pro" else 50 for name in names for b in full}
    for place, name in enumerate(names):
        noise = generator.binomial(198, truth[place] / 100) / 198 * 100
        scores[name, "gpqa_diamond"] = noise
    result = mensura.score_iq(build(scores), draws=300, method="published")
    ladder = result.matrix.ladders[result.matrix.benchmarks.index("gpqa_diamond")]
    rows = result.trail.filter(benchmark="gpqa_diamond").sort("subject")
    order = np.argsort(names)
    inside = (rows["low"].to_numpy() <= ladder.iq(truth[order])) & (ladder.iq(truth[order]) <= rows["high"].to_numpy())
    assert inside.mean() == pytest.approx(0.90, abs=0.08)


def test_score_errors_are_the_larger_of_sampling_and_disagreement(scored):
    errors = score_errors(mensura.load(), scored.matrix, scored.rules)
    gaps = disagreement(mensura.load(), scored.matrix)
    column = scored.matrix.benchmarks.index("swe_marathon")
    row = int(np.flatnonzero(scored.matrix.measured[:, column])[0])
    rate = (scored.matrix.scores[row, column] / 100 * 20 + 1) / 22
    slope = scored.matrix.ladders[column].slope(scored.matrix.scores[[row], column])[0]
    assert errors[row, column] == pytest.approx(100 * np.sqrt(rate * (1 - rate) / 20) * slope)
    assert gaps
    assert all(value >= 0 for value in gaps.values())
    assert np.isnan(errors[~scored.matrix.measured]).all()


def test_pairs_say_who_can_be_told_apart(drawn):
    draws = drawn.draws(200)
    pairs = draws.pairs("gpt-5.5")
    assert pairs.filter(other="gpt-4.1").row(0, named=True)["told_apart"]
    assert draws.ahead("gpt-5.5", "gpt-4.1") == 1
    with pytest.raises(mensura.MensuraError, match="has no composite"):
        draws.pairs("gpt-4")


def test_sensitivity_leaves_one_out(scored):
    steps = []
    found = sensitivity(scored, advance=lambda: steps.append(1))
    assert len(steps) == found.summary.height == 3 * 32 + 7
    alone = found.moves.filter((pl.col("change") == "without dimension") & (pl.col("name") == "reliability"))
    dims = scored.dimensions.filter(pl.col("dimension") != "reliability").group_by("subject").agg(pl.mean("iq"))
    full = alone.join(scored.composites.filter(scored_dimensions=7), on="subject").join(dims, on="subject")
    assert (full["after"] - full["iq_right"]).abs().max() < 1e-9
    assert "Sensitivity" in str(found)


def test_comparison_adds_up(scored):
    evidence = mensura.load()
    fewer = mensura.score_iq(evidence, source="aiiq", method="published")
    change = compare_iq(fewer, scored)
    parts = change.inputs.group_by("subject").agg(pl.sum("contribution"))
    both = change.composites.drop_nulls("change").join(parts, on="subject", how="left").fill_null(0.0)
    assert (both["change"] - both["contribution"]).abs().max() < 1e-9
    assert change.inputs.filter(pl.col("cause").str.starts_with("new score")).height > 0
    assert change.inputs["contribution"].abs().is_sorted(descending=True)
    assert change.shown["change"].abs().is_sorted(descending=True)
    assert "composites moved" in str(change)
    known = change.composites["change"].is_not_null().to_list()
    assert known == sorted(known, reverse=True)  # a model that one side does not rank comes last
    assert not all(known)


def test_comparison_by_hand(build):
    """One score moves, one comes, one goes: each contribution is its part of a dimension, over seven."""
    before = {("m", "ifbench"): 65.0, ("m", "hle"): 5.0, ("m", "gpqa_diamond"): 34.0, ("n", "hle"): 5.0}
    before |= {("n", "ifbench"): 65.0, ("n", "aa_omniscience"): 8.0}
    after = {**before, ("m", "hle"): 10.0, ("m", "scicode"): 45.0, ("n", "aa_omniscience"): 8.123456}
    del after["m", "gpqa_diamond"]
    tests = ("hle", "critpt", "scicode", "gpqa_diamond", "ifbench", "aa_omniscience")
    results = []
    for scores in (before, after):
        evidence = build(scores)
        kept = evidence.benchmarks.with_columns(in_composite=pl.col("benchmark").is_in(tests))
        rules = read_rules().keep(["scientific-reasoning", "reliability"])
        results.append(mensura.score_iq(replace(evidence, benchmarks=kept), rules=rules, method="published"))
    change = compare_iq(*results)
    causes = {row["benchmark"]: row for row in change.inputs.filter(subject="m").iter_rows(named=True)}
    assert causes["hle"]["cause"] == "score 5.0 → 10.0"
    assert causes["hle"]["contribution"] == pytest.approx(15 / 4 / 2)
    assert causes["scicode"]["cause"] == "new score 45.0"
    assert causes["gpqa_diamond"]["cause"].startswith("score 34.0 withdrawn, now by ")
    moved = change.inputs.filter(subject="n", benchmark="aa_omniscience").row(0, named=True)
    assert moved["cause"] == "score 8.0 → 8.1235"
    row = change.composites.filter(subject="m").row(0, named=True)
    assert row["change"] == pytest.approx(row["after"] - row["before"])
    assert sum(one["contribution"] for one in causes.values()) == pytest.approx(row["change"])
    assert change.composites["subject"][0] == "m"
    assert list(change.tables()) == ["composites", "inputs"]


def test_comparison_names_the_ladder(scored):
    change = compare_iq(scored, mensura.score_iq(mensura.load(), method="published", ladders="recut"))
    row = change.inputs.filter(subject="gpt-5.5", benchmark="frontiermath_t1_3").row(0, named=True)
    assert row["cause"] == "ladder moved"
    assert row["contribution"] == pytest.approx((row["after"] - row["before"]) / 35)


def test_hiding_and_imputing_never_peeks(build):
    scores = {(f"m{i}", b): 20 + i for i in range(8) for b in ("hle", "gpqa_diamond", "scicode", "critpt", "ifbench")}
    result = mensura.score_iq(build(scores), method="published")
    outcomes = hide_and_impute(result)
    assert outcomes.height == len(scores)
    changed = dict(scores)
    changed["m3", "hle"] = 90.0
    other = hide_and_impute(mensura.score_iq(build(changed), method="published"))
    pick = pl.col("subject").eq("m3") & pl.col("benchmark").eq("hle")
    assert outcomes.filter(pick)["imputed"].to_list() == other.filter(pick)["imputed"].to_list()


def test_a_hidden_score_comes_back_by_its_step(build):
    """A predecessor's score stands in for the hidden one; nothing stands in for what nobody else has."""
    models = {"heir": {"predecessor": "elder"}, "elder": {}}
    scores = {("heir", "ifbench"): 80.0, ("elder", "ifbench"): 65.0, ("heir", "hle"): 10.0}
    result = mensura.score_iq(build(scores, models), method="published")
    steps = []
    rows = {
        (row["subject"], row["benchmark"]): row
        for row in hide_and_impute(result, advance=lambda: steps.append(1)).to_dicts()
    }
    heir = rows["heir", "ifbench"]
    assert (heir["truth"], heir["imputed"], heir["step"], heir["error"]) == (115.0, 100.0, "predecessor", -15.0)
    assert (heir["expected"], heir["dimension"]) == (result.rules.error.predecessor, "reliability")
    alone = rows["elder", "ifbench"]
    assert (alone["imputed"], alone["step"], alone["error"], alone["expected"]) == (None, "none", None, None)
    assert len(steps) == 3


def test_a_hidden_dimension_is_estimated_from_models_alike(build):
    """Four models alike in two dimensions: the third is the smaller of the own mean and the others' lower quartile."""
    values = {"m0": 50.0, "m1": 60.0, "m2": 65.0, "m3": 70.0}
    scores = {}
    for name, value in values.items():
        scores |= {(name, "hle"): 10.0, (name, "critpt"): 1.0, (name, "scicode"): 45.0, (name, "gpqa_diamond"): 50.0}
        scores |= {(name, "arc_agi_1"): 90.0, (name, "arc_agi_2"): 75.0, (name, "arc_agi_3"): 70.0}
        scores |= {(name, "ifbench"): value, (name, "aa_omniscience"): -10.0}
    evidence = build(scores)
    tests = {benchmark for _, benchmark in scores}
    kept = evidence.benchmarks.with_columns(in_composite=pl.col("benchmark").is_in(list(tests)))
    rules = read_rules().keep(["scientific-reasoning", "abstract-reasoning", "reliability"])
    result = mensura.score_iq(replace(evidence, benchmarks=kept), rules=rules, method="published")
    every = hide_dimensions(result)
    found = every.filter(dimension="reliability")
    truth = dict(zip(result.matrix.subjects, result.scored.dimensions[0, :, 2], strict=True))
    for row in found.iter_rows(named=True):
        others = [value for name, value in truth.items() if name != row["subject"]]
        assert row["imputed"] == pytest.approx(min(115.0, np.percentile(others, 25)))
        assert row["truth"] == pytest.approx(truth[row["subject"]])
        assert row["error"] == pytest.approx(row["imputed"] - row["truth"])
        assert row["step"] == "matched"
    assert found.height == 4
    assert every.height == 12


def test_hidden_dimensions_are_estimated_at_their_own_level():
    small = mensura.load()
    keep = small.models.sort("released", descending=True)["subject"].head(25).to_list()
    few = replace(
        small,
        models=small.models.filter(pl.col("subject").is_in(keep)).with_columns(
            pl.when(pl.col(c).is_in(keep)).then(pl.col(c)).alias(c) for c in ("predecessor", "predecessor2")
        ),
        scores=small.scores.filter(pl.col("subject").is_in(keep)),
    )
    outcomes = hide_dimensions(mensura.score_iq(few, method="published"))
    assert set(outcomes["step"]) <= {"matched", "nearest", "global", "missing"}


def test_a_dimension_that_one_side_does_not_have_counts_as_a_whole(build):
    tests = {"hle": 5.0, "gpqa_diamond": 34.0, "scicode": 45.0, "critpt": 1.0, "ifbench": 65.0, "aa_omniscience": 8.0}
    tests |= {"aime_2025": 80.0, "frontiermath_t4": 10.0}
    evidence = build({(name, test): score for name in "mn" for test, score in tests.items()})
    results = []
    two = ["scientific-reasoning", "reliability"]
    for names in (two, [*two, "mathematical-reasoning"]):
        used = pl.col("dimension").is_in(names) & pl.col("benchmark").is_in(list(tests))
        kept = replace(evidence, benchmarks=evidence.benchmarks.with_columns(in_composite=used))
        results.append(mensura.score_iq(kept, rules=read_rules().keep(names), method="published"))
    for before, after in (results, results[::-1]):
        change = compare_iq(before, after)
        parts = change.inputs.group_by("subject").agg(pl.sum("contribution"))
        both = change.composites.drop_nulls("change").join(parts, on="subject")
        assert both.height == 2
        assert both["contribution"].to_list() == pytest.approx(both["change"].to_list())
        assert "mathematical-reasoning" in change.inputs["dimension"].to_list()
