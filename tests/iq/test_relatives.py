"""Tests without a ladder tell of a model with few scores, through models that have both."""

from functools import cache

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.iq.relatives import TEACHERS, Relatives, condition

NEW = {"released": "2026-05-01", "unit": "percent"}


@cache
def scored(*scores):
    """The embedded evidence with one more model that has these scores (benchmark, percent)."""
    rows = [{"subject": "my-model", "benchmark": name, "score": score, **NEW} for name, score in scores]
    return mensura.score_iq(mensura.load().add(pl.DataFrame(rows)), draws=100)


def own(result):
    return result.composites.filter(subject="my-model").row(0, named=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scores",
    [
        [("gpqa_diamond", 81.5)],
        [("gpqa_diamond", 81.5), ("hle", 21.0)],
        [("mmlu_pro", 84.0)],
        [("gpqa_diamond", 81.5), ("mmlu_pro", 84.0), ("aime_2025", 88.0), ("livecodebench", 75.0)],
    ],
)
def test_one_or_two_scores_or_relatives_alone_give_an_iq_with_an_interval(scores):
    found = own(scored(*scores))
    assert 85 < found["low"] < found["iq"] < found["high"] < 135
    assert found["status"] == "Provisional"


@pytest.mark.slow
def test_the_interval_says_how_little_is_known():
    widths = []
    for scores in (
        [("hle", 21.0)],
        [("hle", 21.0), ("gpqa_diamond", 81.5)],
        [("hle", 21.0), ("gpqa_diamond", 81.5), ("scicode", 38.0), ("ifbench", 50.0), ("swe_bench_verified", 60.0)],
    ):
        found = own(scored(*scores))
        widths.append(found["high"] - found["low"])
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.slow
def test_a_higher_score_on_a_relative_is_a_higher_iq():
    weak, strong = (own(scored(("aime_2025", score)))["iq"] for score in (10.0, 95.0))
    assert strong - weak > 8


@pytest.mark.slow
def test_relatives_add_to_what_one_score_says():
    alone, both = (own(scored(*scores)) for scores in ([("hle", 21.0)], [("hle", 21.0), ("mmlu_pro", 60.0)]))
    assert both["high"] - both["low"] < alone["high"] - alone["low"]
    assert both["iq"] < alone["iq"]


@pytest.mark.slow
def test_the_derivation_names_the_relatives():
    result = scored(("gpqa_diamond", 81.5), ("mmlu_pro", 84.0), ("aime_2025", 88.0), ("livecodebench", 75.0))
    tree = str(result.explain("my-model"))
    assert "also read: mmlu_pro, aime_2025" in tree
    assert "estimated from the model's 2 measured benchmarks and mmlu_pro and aime_2025" in tree


@pytest.mark.slow
def test_a_test_that_nobody_else_took_is_not_guessed():
    rows = pl.DataFrame([{"subject": "my-model", "benchmark": "my-test", "score": 40.0, **NEW}])
    result = mensura.score_iq(mensura.load().add(rows))
    assert own(result)["iq"] is None
    assert "my-test (so far 0)" in result.explain("my-model").note


@pytest.mark.slow
def test_a_test_counts_once_enough_models_took_it():
    known = mensura.load().primary_scores.filter(benchmark="gpqa_diamond").sort("score").gather_every(12)
    assert known.height >= TEACHERS
    same = known.select("subject", "score", benchmark=pl.lit("gpqa_main"), released=pl.lit(None, dtype=pl.String))
    rows = [{"subject": "my-model", "benchmark": "gpqa_main", "score": 81.5, **NEW}]
    mine = pl.concat([same.with_columns(unit=pl.lit("percent")), pl.DataFrame(rows)], how="diagonal")
    few, enough = (
        own(mensura.score_iq(mensura.load().add(pl.concat([mine.head(count), mine.tail(1)]), new=["gpqa_main"])))["iq"]
        for count in (TEACHERS - 1, known.height)
    )
    assert few is None
    assert enough == pytest.approx(own(scored(("gpqa_diamond", 81.5)))["iq"], abs=6)


def test_the_published_method_keeps_its_own_rule():
    rows = pl.DataFrame([{"subject": "my-model", "benchmark": "mmlu_pro", "score": 84.0, **NEW}])
    result = mensura.score_iq(mensura.load().add(rows), method="published")
    assert own(result)["iq"] is None
    assert "none of its scores is on a benchmark of the composite" in str(result.explain("my-model"))


def test_conditioning_agrees_with_the_formula_for_normal_draws():
    """One factor g, twenty teachers who show it exactly, one relative = g + noise: the posterior is known."""
    rng = np.random.default_rng(0)
    level = np.linspace(-2, 2, 400)
    odds = np.append(level + 0.5 * rng.standard_normal(400), 1.5)
    log_odds = np.repeat(np.append(level, 0.0)[None, :, None], 4000, axis=0).repeat(3, axis=2)
    log_odds[:, -1] = rng.standard_normal((4000, 1))
    measured = np.ones((401, 3), dtype=bool)
    measured[-1] = False
    moved = condition(log_odds, measured, np.full(3, 1 / 3), Relatives(("r",), odds[:, None]), rng)
    found = moved[:, -1, 0]
    assert found.mean() == pytest.approx(1.5 / 1.25, abs=0.08)
    assert found.var() == pytest.approx(0.25 / 1.25, rel=0.12)
    assert np.array_equal(moved[:, :-1], log_odds[:, :-1])


@pytest.mark.slow
def test_rules_ask_for_one_score_or_more(tmp_path):
    text = (mensura.iq.rules.DATA / "rules.toml").read_text(encoding="utf-8")
    mine = tmp_path / "rules.toml"
    mine.write_text(text.replace("minimum_scores = 1", "minimum_scores = 0"), encoding="utf-8")
    with pytest.raises(MensuraError, match="minimum_scores = 0: Input should be greater than or equal to 1"):
        mensura.iq.read_rules(mine)
    mine.write_text(text.replace("minimum_scores = 1", "minimum_scores = 3"), encoding="utf-8")
    result = mensura.score_iq(mensura.load(), rules=mine)
    assert "2 of its scores count for the IQ and 3 must" in result.explain("claude-haiku-5.5").note
