"""The sentences under pictures and in tables, from tables small enough to be read."""

from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.site.pages.models import rivals
from mensura.site.pictures.iq import (
    apart_said,
    best_value,
    farthest_said,
    frontier,
    gained_said,
    leading_said,
    leanest,
    quickest_said,
    risen_said,
    steps_said,
    together_said,
)
from mensura.study.headlines import cheapest_rows
from mensura.study.leaders import measure_own
from mensura.study.standing import find_neighbours, find_next, find_prices


def test_who_is_highest_and_how_far_the_record_has_come():
    points = pl.DataFrame(
        {
            "subject": ["old", "best", "last"],
            "name": ["Old", "Best", "Last"],
            "released": [date(2024, 1, 1), date(2025, 1, 1), date(2026, 1, 1)],
            "value": [90.0, 120.4, 110.0],
            "iq": [90.0, 120.4, None],
            "low": [85.0, 118.0, 100.0],
            "high": [95.0, 123.0, 120.0],
            "status": ["measured", "estimated", "measured"],
        }
    )
    assert leading_said(points) == "Best is highest: IQ 120 (118 to 123)"
    assert leading_said(points.clear()) == "no model is placed"
    assert risen_said(points) == "With estimates, the record has risen from IQ 90 (Old) to 120 (Best, 118 to 123)"
    assert risen_said(points.filter(status="measured")).startswith(
        "The record has risen from IQ 90 (Old) to 110 (Last,"
    )
    assert risen_said(points.clear()) == "No model on the timeline"


def test_ranks_agree_or_are_too_few():
    points = pl.DataFrame({"x": [1.0, 2.0, 3.0, None], "y": [3.0, 2.0, 1.0, 9.0]})
    assert together_said(points) == "Over 3 models with both, the rank correlation of EQ and IQ is −1.00"
    assert together_said(points.head(2)) == "Too few models have both"


def priced(**models):
    """Charted models by IQ and effective cost."""
    rows = [(name, name.title(), iq, cost) for name, (iq, cost) in models.items()]
    table = pl.DataFrame(rows, schema=["subject", "name", "exact_iq", "effective_cost"], orient="row")
    return SimpleNamespace(having=lambda *_: table)


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (
            {"best": (130.0, 10.0), "near": (120.0, 4.0)},
            "Near is within 10 points of Best, which costs about 2 times as much",
        ),
        (
            {"best": (130.0, 6.0), "near": (121.0, 4.0)},
            "Near is within 10 points of Best, which costs about 1.5 times as much",
        ),
        (
            {"best": (130.0, 8.0), "near": (121.0, 4.0)},
            "Near is within 10 points of Best, which costs about 2 times as much",
        ),
        (
            {"best": (130.0, 6.0), "far": (119.9, 4.0)},
            "Within 10 points of the best priced model, Best, nobody is cheaper than it",
        ),
    ],
)
def test_the_cheapest_near_the_top_is_named_with_how_much_it_saves(models, said):
    assert best_value(priced(**models)) == said


def test_thequickest_said_is_sought_among_the_ten_highest():
    points = pl.DataFrame(
        {
            "name": [f"M{at}" for at in range(11)],
            "x": [20.0 - at for at in range(11)],
            "y": [99.0 - at for at in range(11)],
        }
    )
    assert quickest_said(points) == "Of the 10 highest with a known time, M9 answers quickest: 11 s in the median"
    assert quickest_said(points.clear()) == "No model has both an IQ and a response time"


def test_no_point_of_a_frontier_is_beaten_or_met_for_less():
    points = pl.DataFrame({"x": [1.0, 1.0, 2.0, 3.0, 4.0], "y": [5.0, 6.0, 6.0, 7.0, None]})
    assert frontier(points).rows() == [(1.0, 6.0), (3.0, 7.0)]


def test_costs_are_said_by_their_ends():
    rows = pl.DataFrame({"name": ["A", "B", "C"], "value": [2.0, 0.5, 12.5]})
    assert farthest_said(rows.with_columns(by="value")) == "C costs 12.5 times its list price, B 0.50 times"
    assert leanest(rows).startswith("C needs least work for the same tasks: 12.5 times as efficient")
    assert farthest_said(rows.with_columns(by="value").clear()) == "No model has an effective cost"


def test_the_cheapest_model_reaches_the_iq_asked_for():
    models = pl.DataFrame(
        [
            ("a", 100.0, 5.0, 9.0),
            ("b", 110.0, None, 2.0),
            ("c", 120.0, 7.0, 1.0),
            ("d", 130.0, None, None),
            ("e", None, 1.0, 1.0),
        ],
        schema=["subject", "iq", "effective_cost", "sticker_price"],
        orient="row",
    )
    study = SimpleNamespace(models=models)
    rows, priced = cheapest_rows(study, floors=[100, 110, 111, 125])
    assert [(row["floor"], row["subject"], row["cost"], row["able"]) for row in rows] == [
        (100, "a", 5.0, 2),
        (110, "c", 7.0, 1),
        (111, "c", 7.0, 1),
    ]
    assert priced == 2
    rows, priced = cheapest_rows(study, "sticker_price", [100, 111])
    assert [(row["subject"], row["cost"]) for row in rows] == [("c", 1.0), ("c", 1.0)]
    assert priced == 3


def standing(**models):
    """A study of models by exact IQ, list price and provider, all ranked; draws as they are given."""
    rows = [
        {
            "subject": name,
            "exact_iq": iq,
            "iq": round(iq),
            "iq_low": iq - 1,
            "iq_high": iq + 1,
            "measured": 9,
            "rank": place,
        }
        | {"provider": provider, "sticker_price": price, "effective_cost": None}
        for place, (name, (iq, price, provider)) in enumerate(models.items(), start=1)
    ]
    by_subject = {row["subject"]: row for row in rows}
    told = SimpleNamespace(by_subject=by_subject, ranked_rows=rows, by_iq=rows, beyond_guessing=set(models) - {"b"})
    return SimpleNamespace(rows=told, iq=SimpleNamespace(drawn=SimpleNamespace(ahead=lambda one, other: 0.25)))


MODELS = {
    "a": (130.0, 9.0, "P"),
    "b": (127.0, None, "Q"),
    "c": (126.0, 4.0, "P"),
    "d": (124.0, 5.0, "R"),
    "e": (123.9, 1.0, "S"),
    "f": (110.0, 1.0, "P"),
    "g": (109.0, 1.0, "Q"),
}


def test_prices_are_compared_within_three_points_both_ways():
    study = standing(**MODELS)
    assert [row["subject"] for row in find_prices(study, "b").rows] == ["c", "d", "a", "b"]
    assert [row["subject"] for row in find_prices(study, "f").rows] == ["f", "g"]
    unranked = standing(**MODELS)
    unranked.rows.by_subject["x"] = {**unranked.rows.by_subject["f"], "subject": "x", "rank": None, "exact_iq": 118.0}
    assert [row["subject"] for row in find_prices(unranked, "x").rows] == ["x"]


def test_three_neighbours_stand_on_either_side():
    found = find_neighbours(standing(**MODELS), "e").rows
    assert [(row["subject"], row["chance_above"]) for row in found] == [
        *(("b", 0.25), ("c", 0.25), ("d", 0.25), ("e", None), ("f", 0.25), ("g", 0.25))
    ]
    assert [row["subject"] for row in find_neighbours(standing(**MODELS), "a").rows] == ["a", "b", "c", "d"]
    assert {row["chance_above"] for row in find_neighbours(standing(**MODELS), "b").rows} == {None}, "it guessed"


def test_rivals_are_the_nearest_of_two_other_providers():
    study = standing(**MODELS)
    assert rivals(study, "d") == ["e", "c"]
    assert rivals(study, "a") == ["b", "d"]
    assert rivals(standing(a=(100.0, 1.0, "P"), b=(99.0, 1.0, "Q"), c=(98.0, 1.0, "R")), "b") == ["a", "c"]


def test_what_to_measure_next_is_the_squared_correlation_with_the_composite():
    composite = np.array([1.0, 2.0, 3.0, 4.0])
    benchmarks = np.stack([composite, [1.0, -1.0, -1.0, 1.0], [5.0] * 4, [1.0, 3.0, 2.0, 4.0]], axis=1)
    drawn = SimpleNamespace(places={"m": 0}, composites=composite[:, None], benchmarks=benchmarks[:, None, :])
    matrix = SimpleNamespace(measured=np.array([[True, False, False, False]]), benchmarks=("a", "b", "c", "d"))
    study = SimpleNamespace(
        iq=SimpleNamespace(drawn=drawn, matrix=matrix), benchmark_names=dict(zip("abcd", "ABCD", strict=True))
    )
    found = find_next(study, "m").rows
    assert found[0]["name"] == "D"
    assert {row["benchmark"]: row["variance_explained"] for row in found} == pytest.approx(
        {"d": 0.64, "b": 0.0, "c": 0.0}
    )
    assert find_next(study, "n").rows == []


def test_a_model_is_well_measured_where_four_dimensions_are_its_own():
    """Two benchmarks to a dimension: both measured make it a model's own, one does not."""
    measured = np.array([[1] * 8 + [0, 0], [1] * 8 + [1, 1], [1] * 7 + [0, 1, 0], [0] * 10], dtype=bool)
    iqs = np.where(measured, np.arange(100.0, 110.0), np.nan)
    matrix = SimpleNamespace(members=np.repeat(np.eye(5), 2, axis=0), measured=measured, subjects=("a", "b", "c", "d"))
    found = measure_own(SimpleNamespace(matrix=matrix, filled=SimpleNamespace(iqs=iqs[None])))
    assert found["own_dimensions"].to_list() == [4, 5, 3, 0]
    assert found["well_measured"].to_list() == [True, True, False, False]
    assert found["own_iq"].to_list() == [pytest.approx(103.5), pytest.approx(104.5), pytest.approx(102.5), None]


def test_what_to_see_over_time_is_the_rise_of_the_last_year_and_who_is_near():
    days = [date(2025, 1, 1), date(2025, 6, 1), date(2026, 1, 2), date(2026, 6, 1)]
    points = pl.DataFrame({"released": days, "value": [100.0, 110.0, 128.0, 131.0], "provider": ["A", "B", "A", "C"]})
    assert gained_said(points) == (
        "In the last year the record rose by 21 points. Within 5 points of the record: 2 makers."
    )
    assert gained_said(points.tail(1)) == "Within 5 points of the record: 1 maker."
    assert gained_said(points.clear()) == "No model on the timeline."


def test_what_to_see_of_eq_is_whose_places_differ_most():
    points = pl.DataFrame({"name": ["A", "B", "C", "D"], "x": [4.0, 3.0, 2.0, None], "y": [1.0, 3.0, 2.0, 9.0]})
    assert apart_said(points) == "A differs most: place 1 by EQ, 3 by IQ, of 3."
    assert apart_said(points.tail(1)) == "No model has both."


def test_what_to_see_of_a_trade_off_are_the_ends_of_its_steps():
    points = pl.DataFrame({"name": ["A", "B", "C"], "x": [1.0, 2.0, 3.0], "y": [90.0, 80.0, 120.0]})
    assert steps_said(points, lambda x: f"${x:.0f}") == (
        "No other model beats 2 of these 3 on both: from A ($1, IQ 90) to C ($3, IQ 120)."
    )
    assert steps_said(points.clear(), str) == "No model has both."
