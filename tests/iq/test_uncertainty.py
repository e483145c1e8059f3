"""How sure the IQs are: closed forms for errors, intervals, ranks and pairs, and draws that vary as they say."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import IqDraws
from mensura.iq.uncertainty import disagreement, draw_iqs, interval, score_errors


def second_sources(evidence, gaps):
    """Give the first models of a benchmark a second score, ``gaps`` away from the first one."""
    rows = [
        evidence.scores.filter(benchmark=benchmark)
        .head(len(apart))
        .with_columns(pl.col("score") + pl.Series(apart), primary=False, source=pl.lit("epoch"))
        for benchmark, apart in gaps.items()
    ]
    return replace(evidence, scores=pl.concat([evidence.scores, *rows]))


@pytest.fixture
def twice(build):
    """Three models on Humanity's Last Exam, whose ladder has 15 IQ points from 5 to 10, and from 10 to 20, percent."""
    return build({(f"m{i}", "hle"): 5.0 for i in range(3)})


def test_one_source_errs_by_the_gap_between_two_over_root_two(twice):
    """Var(a − b) = 2 σ²: gaps of 3, 3 and −6 IQ points, mean square 18, come from errors of 3 points each."""
    evidence = second_sources(twice, {"hle": [1.0, 1.0, -1.2]})  # below 5 percent the ladder has 15 points for 3
    matrix = mensura.score_iq(evidence, method="published").matrix
    assert disagreement(evidence, matrix) == {"hle": pytest.approx(3.0)}


def test_two_pairs_say_nothing_about_disagreement(twice):
    evidence = second_sources(twice, {"hle": [1.0, 1.0]})
    assert disagreement(evidence, mensura.score_iq(evidence, method="published").matrix) == {}


def errors_of(evidence, benchmark, items):
    known = evidence.benchmarks.with_columns(
        items=pl.when(pl.col("benchmark") == benchmark).then(pl.lit(items, pl.Int64)).otherwise("items")
    )
    evidence = replace(evidence, benchmarks=known)
    result = mensura.score_iq(evidence, method="published")
    column = result.matrix.benchmarks.index(benchmark)
    return score_errors(evidence, result.matrix, result.rules)[:, column]


def test_the_error_of_a_score_is_binomial_with_one_success_and_one_failure_added(build):
    """Half of 98 items right: the rate is 50/100, its error √(¼/98) = 5.05 percent, at 15 IQ points per 25 percent."""
    evidence = build({("m", "hle"): 50.0, ("n", "hle"): 50.0})
    expected = 100 * np.sqrt(0.25 / 98) * 15 / 55  # between 45 percent (IQ 145) and 100 percent (IQ 160)
    assert errors_of(evidence, "hle", 98) == pytest.approx([expected, expected])
    none_right = build({("m", "hle"): 0.0})
    assert errors_of(none_right, "hle", 8) == pytest.approx([100 * np.sqrt(0.1 * 0.9 / 8) * 15 / 2])


def test_a_fraction_has_the_error_of_its_percentage(build):
    """SWE-bench Pro is a fraction; without its number of items the rules say how far to trust it."""
    evidence = build({("m", "swe_bench_pro"): 0.5})
    result = mensura.score_iq(evidence, method="published")
    ladder = result.matrix.ladders[result.matrix.benchmarks.index("swe_bench_pro")]
    expected = np.sqrt(0.25 / 98) * float(ladder.slope(np.array(0.5)))
    assert errors_of(evidence, "swe_bench_pro", 98) == pytest.approx([expected])
    assert errors_of(evidence, "swe_bench_pro", None) == pytest.approx([result.rules.error.measured])


def test_the_larger_of_the_two_errors_counts(twice):
    apart = second_sources(twice, {"hle": [1.0, 1.0, -1.2]})
    assert errors_of(apart, "hle", 10**9) == pytest.approx([3.0] * 3)
    assert errors_of(apart, "hle", 8)[0] > 3


def by_hand(composites):
    """Draws of composites only."""
    array = np.asarray(composites, dtype=float)
    return IqDraws(tuple("abcdefgh"[: array.shape[1]]), array, array[:, :, None], array[:, :, None])


def test_intervals_hold_the_middle_nine_tenths():
    low, high = interval(np.arange(101.0)[:, None])
    assert (low[0], high[0]) == (pytest.approx(5.0), pytest.approx(95.0))


@pytest.mark.parametrize(("ahead", "apart"), [(95, True), (94, False), (6, False), (5, True)])
def test_models_are_told_apart_when_one_leads_in_95_of_100_draws(ahead, apart):
    draws = by_hand([[110.0, 100.0] if place < ahead else [100.0, 110.0] for place in range(100)])
    [row] = draws.pairs("a").to_dicts()
    assert (row["other"], row["ahead"], row["told_apart"]) == ("b", pytest.approx(ahead / 100), apart)
    assert draws.ahead("a", "b") == pytest.approx(ahead / 100)
    assert draws.ahead("b", "a") == pytest.approx(1 - ahead / 100)


def test_centred_draws_have_the_scored_value_as_their_median_and_stay_on_the_scale():
    draws = by_hand([[90.0], [100.0], [170.0]]).centred(np.array([110.0]), np.array([[70.0]]), np.array([[160.0]]))
    np.testing.assert_allclose(draws.composites[:, 0], [100, 110, 160])
    np.testing.assert_allclose(draws.dimensions[:, 0, 0], [70, 70, 140])
    np.testing.assert_allclose(draws.benchmarks[:, 0, 0], [150, 160, 160])


def test_draws_vary_by_the_errors_they_were_given(build):
    """A measured score varies by its own error, one inherited from a predecessor by the error of that step too."""
    models = {"heir": {"predecessor": "elder"}, "elder": {}}
    evidence = build({("heir", "hle"): 12.0, ("elder", "ifbench"): 75.0, ("elder", "hle"): 12.0}, models)
    result = mensura.score_iq(evidence, method="published")
    matrix, rules = result.matrix, result.rules
    errors = np.where(matrix.measured, 2.0, np.nan)
    draws = draw_iqs(matrix, errors, rules, result.weights, 2050, 7)
    assert draws.benchmarks.shape[0] == 2050
    heir, elder = matrix.row("heir"), matrix.row("elder")
    hle, ifbench = matrix.benchmarks.index("hle"), matrix.benchmarks.index("ifbench")
    assert draws.benchmarks[:, heir, hle].std() == pytest.approx(2.0, rel=0.08)
    both = np.hypot(2.0, rules.error.predecessor)
    assert draws.benchmarks[:, heir, ifbench].std() == pytest.approx(both, rel=0.08)
    gap = draws.benchmarks[:, heir, ifbench] - draws.benchmarks[:, elder, ifbench]
    assert gap.std() == pytest.approx(rules.error.predecessor, rel=0.08)
    again = draw_iqs(matrix, errors, rules, result.weights, 2050, 8)
    assert not np.allclose(again.benchmarks[:, heir, hle], draws.benchmarks[:, heir, hle])
    with pytest.raises(mensura.MensuraError, match="draws: expected at least 1, got 0"):
        draw_iqs(matrix, errors, rules, result.weights, 0, 7)


def test_a_thousand_draws_are_made_unless_told_otherwise(build):
    result = mensura.score_iq(build({("m", "hle"): 12.0, ("n", "hle"): 9.0}), method="published")
    assert len(result.draws().benchmarks) == 1000
