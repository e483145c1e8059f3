"""The waterfalls, each step by hand."""

from datetime import date

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq.dimensions import STATUSES
from mensura.iq.matrix import build_matrix
from mensura.iq.rules import as_rules
from mensura.iq.waterfall import STEPS, ZERO, _early, _zeros_only


def step_of(result, subject, benchmark):
    row = result.trail.filter(subject=subject, benchmark=benchmark)
    return (row["step"][0], row["iq"][0]) if row.height else ("none", None)


def test_predecessors_primary_then_secondary_then_theirs(build):
    models = {
        "new": {"predecessor": "mid", "predecessor2": "side"},
        "mid": {"predecessor": "old"},
        "side": {},
        "old": {},
    }
    scores = {("new", "hle"): 20, ("side", "ifbench"): 65, ("old", "ifbench"): 80, ("side", "aa_omniscience"): 8}
    result = mensura.score_iq(build(scores, models), method="published")
    assert step_of(result, "new", "ifbench") == ("predecessor", 115.0)  # the primary line, through mid
    assert step_of(result, "new", "aa_omniscience") == ("predecessor", 100.0)  # only the secondary has it
    donor = result.trail.filter(subject="new", benchmark="ifbench")["donor"][0]
    assert donor == "old"
    assert result.trail.filter(pl.col("step") != "predecessor")["donor"].is_null().all()


def test_a_model_without_a_score_of_its_own_gets_nothing(build):
    models = {"paper": {"predecessor": "real", "released": date(2024, 1, 1)}}
    result = mensura.score_iq(build({("real", "hle"): 20, ("real", "ifbench"): 65}, models), method="published")
    assert result.composites.filter(subject="paper").row(0, named=True)["status"] == "Unranked"
    assert result.benchmark_iqs.filter(subject="paper").is_empty()


def test_a_non_reasoning_model_never_inherits_from_a_reasoning_one(build):
    models = {"fast": {"reasoning": False, "predecessor": "thinker"}, "thinker": {"predecessor": "plain"}}
    models["plain"] = {"reasoning": False}
    scores = {("fast", "hle"): 20, ("thinker", "ifbench"): 80, ("plain", "aa_omniscience"): 8}
    result = mensura.score_iq(build(scores, models), method="published")
    assert step_of(result, "fast", "ifbench")[0] != "predecessor"
    assert step_of(result, "fast", "aa_omniscience") == ("predecessor", 100.0)


def test_nothing_is_inherited_from_another_family(build):
    models = {"ours": {"predecessor": "theirs"}, "theirs": {"provider": "Other"}}
    result = mensura.score_iq(build({("ours", "hle"): 20, ("theirs", "ifbench"): 80}, models), method="published")
    assert step_of(result, "ours", "ifbench") == ("none", None)


def test_peers_are_older_alike_in_reasoning_and_the_lower_quartile(build):
    arc = {f"peer{i}": 10.0 * i for i in range(1, 6)}
    scores = {(name, "arc_agi_1"): value for name, value in arc.items()}
    scores |= {(name, "hle"): 20 for name in [*arc, "target", "later", "plain"]}
    scores |= {("later", "arc_agi_1"): 1, ("plain", "arc_agi_1"): 1}
    models = {"later": {"released": date(2026, 2, 1)}, "plain": {"reasoning": False}}
    result = mensura.score_iq(build(scores, models), method="published")
    ladder = result.matrix.ladders[result.matrix.benchmarks.index("arc_agi_1")]
    expected = np.percentile([ladder.iq(np.array(v)) for v in arc.values()], 25)
    assert step_of(result, "target", "arc_agi_1") == ("peers", pytest.approx(expected))
    assert result.dimensions.filter(subject="target", dimension="abstract-reasoning")["status"][0] == "peers"


def test_a_model_with_a_score_in_the_dimension_takes_nothing_from_peers(build):
    scores = {(f"peer{i}", "arc_agi_1"): 90.0 for i in range(5)} | {(f"peer{i}", "hle"): 20 for i in range(5)}
    result = mensura.score_iq(build(scores | {("target", "arc_agi_3"): 15, ("target", "hle"): 20}), method="published")
    assert step_of(result, "target", "arc_agi_1")[0] in ("correlation", "within")
    assert step_of(result, "target", "arc_agi_1")[1] < 85


def test_peers_of_the_same_product_line_come_first(build):
    others = {f"other{i}": 90.0 for i in range(12)}
    family = {f"kin{i}": 20.0 for i in range(12)}
    scores = {(name, "arc_agi_1"): value for name, value in (others | family).items()}
    scores |= {(name, "hle"): 20 for name in [*others, *family, "target"]}
    models = {name: {"provider": "Other", "line": "other"} for name in others}
    result = mensura.score_iq(build(scores, models), method="published")
    assert step_of(result, "target", "arc_agi_1")[1] == pytest.approx(70 + 15 * 20 / 35)


def test_zero_is_assumed_for_hard_benchmarks_and_for_early_releases(build):
    early, late = {"released": date(2025, 3, 31)}, {"released": date(2025, 4, 1)}
    scores = {(name, b): 30 for name in ("early", "late") for b in ("aime", "hle", "arc_agi_1")}
    result = mensura.score_iq(build(scores, {"early": early, "late": late}), method="published")
    assert step_of(result, "early", "critpt") == ("zero", 100.0)
    assert step_of(result, "late", "critpt") == ("zero", 100.0)
    assert step_of(result, "late", "arc_agi_2") == ("zero", 70.0)
    assert step_of(result, "early", "frontiermath_t4") == ("zero", 70.0)
    assert step_of(result, "late", "frontiermath_t4")[0] != "zero"
    assert step_of(result, "late", "arc_agi_3")[0] == "within"  # never assumed to be zero


def correlated(build, extra):
    """Ten models on which Omniscience follows IFBench exactly, and one more with what ``extra`` says."""
    scores = {}
    for place in range(10):
        scores[f"m{place}", "ifbench"] = 35 + 3 * place
        scores[f"m{place}", "aa_omniscience"] = -35 + 4.3 * place
    return build(scores | {("target", name): value for name, value in extra.items()})


def test_correlation_is_shrunk_penalised_and_kept_below_the_observed_average(build):
    result = mensura.score_iq(correlated(build, {"ifbench": 65, "hle": 20}), method="published")
    rule = result.rules.correlation
    shrunk = 10 / (10 + rule.shrinkage)
    x = 85 + 15 * 3 * np.arange(10) / 30
    sd = x.std(ddof=1)
    estimate = x.mean() + shrunk * (100 - x.mean())
    expected = min(estimate - rule.penalty_single * sd * np.sqrt(1 - shrunk**2), 100 - rule.margin_single)
    assert step_of(result, "target", "aa_omniscience") == ("correlation", pytest.approx(max(expected, 70)))


def test_the_single_benchmark_penalty_is_the_largest():
    rule = mensura.score_iq(mensura.load(), method="published").rules.correlation
    assert rule.penalty_single > rule.penalty
    assert rule.margin_single > rule.margin


def test_one_source_value_scores_a_dimension_that_asks_for_two_but_one_inherited_value_does_not(build):
    models = {"heir": {"predecessor": "target"}}
    scores = {("target", "terminal_bench_hard"): 55, ("target", "hle"): 20, ("heir", "hle"): 20}
    result = mensura.score_iq(build(scores, models), method="published")
    status = dict(result.dimensions.filter(dimension="computer-use").select("subject", "status").iter_rows())
    scored = dict(result.composites.select("subject", "scored_dimensions").iter_rows())
    assert status["target"] == "estimated"
    assert scored["target"] == 2
    assert status.get("heir") != "inherited"


def test_within_is_the_average_capped_at_the_80th_percentile(build):
    scores = {(f"m{i}", "gpqa_diamond"): 25 + i for i in range(11)}
    scores |= {("target", b): 100 for b in ("hle", "critpt", "scicode")}
    result = mensura.score_iq(build(scores), method="published")
    cap = np.percentile(85 + 15 * np.minimum(np.arange(11), 9) / 9 + np.array([0] * 10 + [15 / 16]), 80)
    assert step_of(result, "target", "gpqa_diamond") == ("within", pytest.approx(cap))


def test_missing_dimension_takes_the_lower_quartile_of_models_alike_and_not_of_later_ones(build):
    scores = {}
    for place, value in enumerate([65, 70, 75, 80]):
        scores |= {(f"m{place}", "hle"): 20, (f"m{place}", "critpt"): 3, (f"m{place}", "scicode"): 65}
        scores |= {(f"m{place}", "gpqa_diamond"): 74, (f"m{place}", "ifbench"): value}
        scores |= {(f"m{place}", "aa_omniscience"): 8}
    scores |= {("target", b): s for b, s in (("hle", 20), ("critpt", 3), ("scicode", 65), ("gpqa_diamond", 74))}
    scores |= {("target", b): s for b, s in (("arc_agi_1", 98), ("arc_agi_2", 85), ("arc_agi_3", 90))}
    models = {"m0": {"released": date(2026, 6, 1)}}
    result = mensura.score_iq(build(scores, models), method="published")
    row = result.dimensions.filter(subject="target", dimension="reliability").row(0, named=True)
    iqs = [(85 + 15 * (s - 35) / 30 if s <= 65 else 100 + 15 * (s - 65) / 15) / 2 + 50 for s in (70, 75, 80)]
    assert row["iq"] == pytest.approx(np.percentile(iqs, 25))
    assert row["status"] == "matched"


def test_without_data_of_its_time_there_is_no_composite(build):
    result = mensura.score_iq(build({("old", "hle"): 20, ("old", "ifbench"): 65}), method="published")
    assert result.composites["iq"][0] is None
    assert result.composites["status"][0] == "Unranked"
    [warning] = result.warnings
    assert warning.startswith("no composite for old: no model of the time was measured in mathematical-reasoning, abs")
    assert "scientific-reasoning" not in warning


def test_a_warning_names_five_models_and_counts_the_rest(build):
    scores = {(f"m{i}", name): value for i in range(7) for name, value in (("hle", 20), ("ifbench", 65))}
    scores |= {("better", name): value for name, value in (("hle", 20), ("ifbench", 65), ("arc_agi_1", 50))}
    first, second = sorted(
        mensura.score_iq(build(scores, {"better": {"released": date(2027, 1, 1)}}), method="published").warnings
    )
    assert first.startswith("no composite for better: ")
    assert "abstract-reasoning" not in first
    assert second.startswith("no composite for m0, m1, m2, m3, m4 and 2 more: ")
    assert "abstract-reasoning" in second


@pytest.mark.slow
def test_a_dimension_says_what_it_rests_on(build, joint):
    """Zeros of an early release alone, a predecessor alone, some scores, all scores; and cells of the factor model."""
    early = {"released": date(2025, 1, 1)}
    scores = {("early", "ifbench"): 65, ("early", "aa_omniscience"): 8, ("early", "hle"): 20}
    scores |= {("heir", "hle"): 20, ("elder", "ifbench"): 65, ("elder", "aa_omniscience"): 8, ("elder", "hle"): 10}
    result = mensura.score_iq(build(scores, {"early": early, "heir": {"predecessor": "elder"}}), method="published")
    found = {(row["subject"], row["dimension"]): row["status"] for row in result.dimensions.iter_rows(named=True)}
    assert found["early", "reliability"] == "measured"
    assert found["early", "scientific-reasoning"] == "estimated"
    assert found["heir", "reliability"] == "inherited"
    statuses = set(mensura.score_iq(mensura.load(), method="published").dimensions["status"])
    assert statuses >= {"measured", "partly measured", "inherited", "peers", "assumed", "matched"}
    estimated = joint.dimensions["status"]
    assert "estimated" in set(estimated)
    assert not set(estimated) & {"inherited", "peers", "assumed"}


def test_every_status_and_step_has_a_name():
    assert len(set(STATUSES)) == len(STATUSES) == 10
    assert STEPS == ("none", "source", "predecessor", "peers", "zero", "correlation", "within", "joint")


def test_zeros_alone_score_a_dimension_only_of_models_from_before_the_zero_date(build):
    rules = as_rules(None)
    day = _early(build_matrix(build({("any", "hle"): 20}), rules, ladders="recut"))
    models = {"before": {"released": date.fromordinal(day - 1)}, "that day": {"released": date.fromordinal(day)}}
    matrix = build_matrix(build(dict.fromkeys([(name, "hle") for name in models], 20), models), rules, ladders="recut")
    zeros = _zeros_only(matrix, np.full(matrix.iqs.shape, ZERO), rules)
    suffice = [rule.zeros_suffice for rule in rules.dimensions.values()]
    assert dict(zip(matrix.subjects, zeros.tolist(), strict=True)) == {
        "before": suffice,
        "that day": [False] * len(suffice),
    }
