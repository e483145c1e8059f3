"""Where an estimate comes from, what models remember, and its rows of the tables."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.baseline.origin import PartOrigin, describe_memories, describe_models, item_rows, model_row, population_row
from mensura.baseline.persons import PersonScores

PEOPLE = "university students in Germany"


def estimate(items, said, people=PEOPLE, **more):
    return mensura.estimate_baseline(items, people, estimates=said, **more)


def test_models_stand_among_persons(items, said):
    scores = pl.DataFrame({"subject": ["low", "high"], "score": [0.2, 0.99]})
    found = estimate(items, said, scores=scores).models
    low, high = found.to_dicts()
    assert low["percentile"] < 15
    assert high["percentile"] > 97
    assert low["chance_passed"] < 0.01
    assert high["chance_passed"] == 1.0
    assert high["one_in"] > 20


def test_the_card_says_that_an_unnamed_estimator_counts_as_a_recorded_model(items, said):
    sentence = "Nobody named the estimator"
    assert sentence in estimate(items, said).card()
    assert sentence not in mensura.estimate_baseline(items, "world", estimates=said, estimator="people").card()


def test_a_known_benchmark_is_named_with_what_the_model_remembers(items, said):
    recalled = said.with_columns(benchmark=pl.lit("HellaSwag"), remembered_mean=pl.lit(0.956))
    card = mensura.estimate_baseline(items, "crowd workers", estimates=recalled).card()
    assert "unnamed recognises HellaSwag and remembers a human mean of 95.6%; the registry has 95.6%" in card
    assert "proves little" in card
    other = said.with_columns(benchmark=pl.lit("Nobody's Test"), remembered_mean=pl.lit(0.5))
    assert "the registry has none" in mensura.estimate_baseline(items, "crowd workers", estimates=other).card()
    assert "recognises" not in mensura.estimate_baseline(items, "crowd workers", estimates=said).card()


ASKED = {"model": "claude-9", "runs": 2, "date": "2026-11-01", "prompt": "abc"}


def test_an_origin_says_who_was_asked_and_which_human_data_it_uses():
    origin = PartOrigin((ASKED,), anchors=(30.0, 400.0), known_mean=(0.7, 1200), published=("Known benchmark",))
    assert origin.sentences() == [
        "Estimated by: claude-9 (2 runs, 2026-11-01, prompt abc)",
        "Anchors: human rates of 2 items, from 30 to 400 people each",
        "Known mean: 70.0% of 1,200 people. It decides the mean below",
        "Known benchmark",
    ]


@pytest.mark.parametrize(
    ("models", "anchors", "ways"),
    [
        (({**ASKED, "runs": 1},), (), ["collect human rates", "ask a second model", "ask each model twice"]),
        ((ASKED,), (30.0,), ["ask a second model"]),
        ((ASKED, {**ASKED, "model": "other"}), (30.0,), []),
        (({**ASKED, "model": "people", "runs": 1},), (), ["collect human rates"]),
    ],
)
def test_what_would_help_most_comes_first_and_what_is_done_is_left_out(models, anchors, ways):
    told = PartOrigin(models, anchors).improvements()
    assert len(told) == len(ways) and all(text.startswith(way) for text, way in zip(told, ways, strict=True))


def test_models_are_described_by_their_runs_with_what_they_state():
    rows = pl.DataFrame(
        {
            "model": ["b", "a", "a", "a"],
            "run": ["1", "1", "2", "2"],
            "date": ["2026-02-01", None, "2026-01-02", "2026-01-01"],
            "prompt": [None, "p", "p", "p"],
        },
        schema_overrides={"prompt": pl.String},
    )
    assert describe_models(rows) == (
        {"model": "a", "runs": 2, "date": "2026-01-01, 2026-01-02", "prompt": "p"},
        {"model": "b", "runs": 1, "date": "2026-02-01", "prompt": ""},
    )


@pytest.mark.parametrize(("mean", "same"), [(0.956, True), (0.961, True), (0.9620, False)])
def test_a_memory_within_half_a_point_of_a_published_mean_proves_little(mean, same):
    """HellaSwag's published mean is 95.6%."""
    rows = pl.DataFrame({"model": ["m"], "benchmark": ["HellaSwag"], "remembered_mean": [mean]})
    [sentence] = describe_memories(rows, "mine")
    assert sentence.startswith("m recognises HellaSwag and remembers a human mean of ")
    assert ("proves little" in sentence) == same


def test_a_score_stands_among_persons_and_is_never_rarer_than_they_are():
    scores = PersonScores(np.linspace(0.0, 0.99, 100)[None, :])
    part = SimpleNamespace(who=SimpleNamespace(name="world"), persons=scores, means=np.array([0.4, 0.5, 0.52, 0.7]))
    subject, population, score, percentile, low, high, one_in, passed = model_row(part, "m", 0.55)
    assert (subject, population, score) == ("m", "world", 0.55)
    assert percentile == pytest.approx(55.5, abs=0.01), "a tie with one of a hundred counts half"
    assert low <= percentile <= high
    assert one_in == pytest.approx(1 / 0.445, abs=0.01)
    assert passed == 0.75
    assert model_row(part, "m", 2.0)[6] == 100


def test_items_of_the_world_have_levels_and_rarities_up_to_their_study():
    """Level ½ − log10 of the rate; a rate of 1 in 1,000 is no more than 1 in 50 of a study of 50 people."""
    table = pl.DataFrame({"item": ["a", "b", "c"]})
    judged = pl.DataFrame(
        {
            "item": ["b", "a"],
            "rate": [0.001, 0.1],
            "low": [0.0, 0.01],
            "high": [0.01, 1.0],
            "status": ["anchored", "estimated"],
            "remembered": [True, False],
            "tested": [50.0, 50.0],
        }
    )
    rows = {
        name: item_rows(SimpleNamespace(table=table), SimpleNamespace(who=SimpleNamespace(name=name), items=judged))
        for name in ("world", "pupils")
    }
    world = rows["world"]
    assert world["item"].to_list() == ["a", "b", "c"]
    assert world["level"].to_list() == [pytest.approx(1.5), pytest.approx(3.5), None]
    assert world.select("level_low", "level_high").rows()[:2] == [
        (pytest.approx(0.5), pytest.approx(2.5)),
        (pytest.approx(2.5), pytest.approx(6.5)),
    ]
    assert world["one_in"].to_list() == [pytest.approx(10.0), 50.0, None]
    assert world["at_least"].to_list() == [False, True, None]
    assert world["status"].to_list() == ["estimated", "anchored", "missing"]
    assert world["remembered"].to_list() == [False, True, False]
    assert rows["pupils"]["level"].null_count() == 3 and rows["pupils"]["one_in"][0] == world["one_in"][0]
    assert rows["pupils"]["population"].unique().to_list() == ["pupils"]


def test_a_population_has_the_middle_of_its_means_and_the_scores_of_its_persons():
    persons = PersonScores(np.linspace(0, 1, 1001)[None, :])
    means = np.linspace(0.4, 1.2, 101)
    part = SimpleNamespace(
        who=SimpleNamespace(name="pupils"),
        means=means,
        items=pl.DataFrame({"remembered": [True, False, True]}),
        kind=SimpleNamespace(distance=0.7),
        persons=persons,
    )
    row = population_row(part)
    assert (row["population"], row["items"], row["remembered"], row["distance"]) == ("pupils", 3, 2, 0.7)
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((0.8, 0.44, 1.0))
    assert (row["median"], row["top_10"], row["top_10_low"]) == pytest.approx((0.5, 0.9, 0.9), abs=1e-6)


def test_a_benchmark_that_nobody_recognises_may_still_be_known():
    rows = pl.DataFrame({"model": ["m"], "benchmark": [None], "remembered_mean": [None]}).cast(
        {"benchmark": pl.String, "remembered_mean": pl.Float64}
    )
    known = "Known benchmark: HellaSwag has published human scores, and models may remember them"
    assert describe_memories(rows, "HellaSwag") == (known,)
    assert describe_memories(rows, "mine") == ()
    unnamed = rows.with_columns(remembered_mean=pl.lit(0.5))
    assert describe_memories(unnamed, "mine") == (
        "m recognises this benchmark and remembers a human mean of 50.0%; the registry has none",
    )
    silent = rows.with_columns(benchmark=pl.lit("HellaSwag"))
    assert describe_memories(silent, "mine") == (
        "m recognises HellaSwag and recalls no human mean; the registry has none",
    )


def test_one_run_and_one_anchor_are_singular():
    origin = PartOrigin(({"model": "unnamed", "runs": 1, "date": "", "prompt": None},), anchors=(1234.0,))
    assert origin.sentences() == [
        "Estimated by: not named (1 run, date not stated, prompt not stated)",
        "Nobody named the estimator, so it counts as a model whose errors are known; estimator names another",
        "Anchors: human rates of 1 item, from 1,234 to 1,234 people each",
    ]
    assert origin.names == ("unnamed",)
