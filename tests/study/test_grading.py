"""Grades of the record of claims: calibration of chances, coverage of intervals, errors of forecasts, worst misses."""

from __future__ import annotations

import copy
import json
from datetime import date

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.study import grading
from mensura.study.grading import grade_record, seal, sealed_claims
from mensura.study.record import SCHEMA


def test_a_seal_breaks_with_a_single_sign(monkeypatch, tmp_path):
    sealed = sealed_claims()
    assert sealed and all(len(one["sha256"]) == 64 for one in sealed)
    changed = copy.deepcopy(sealed)
    changed[0]["claims"][0]["claim"] += "."
    assert seal(changed[0]["claims"], changed[0]["salt"]) != sealed[0]["sha256"]
    file = tmp_path / "sealed_claims.json"
    file.write_text(json.dumps(changed), encoding="utf-8")
    monkeypatch.setattr(grading, "SEALS", file)
    with pytest.raises(MensuraError, match="do not match their seal"):
        sealed_claims()


def test_the_order_of_keys_is_no_part_of_a_seal():
    assert seal([{"a": 1, "b": 2}], "s") == seal([{"b": 2, "a": 1}], "s") != seal([{"a": 1, "b": 2}], "t")


def claims(*rows):
    """Return claims of one record from rows with some of the columns."""
    usual = dict.fromkeys(SCHEMA) | {
        "record": "as known",
        "made": date(2026, 1, 31),
        "kind": "lead",
        "claim": "A leads",
    }
    return pl.DataFrame([{**usual, **row} for row in rows], schema=SCHEMA, orient="row")


def chance(said, true, **more):
    return {"chance": said, "came_true": true, "subject": f"m{said}{more}", **more}


def test_chances_are_graded_by_their_squared_misses_beside_one_chance_for_all():
    graded = grade_record(claims(chance(0.8, True), chance(0.4, False), chance(0.9, None), chance(0.6, True)))
    row = graded.summary.row(0, named=True)
    assert (row["claims"], row["settled"], row["came_true"]) == (4, 3, 2)
    assert row["brier"] == pytest.approx((0.04 + 0.16 + 0.16) / 3)
    assert row["brier_baseline"] == pytest.approx(2 / 3 * 1 / 3)
    assert graded.heading == "4 claims, 3 settled. As known then, 2 of 2 claims of more than 50% came true (said: 70%)."
    nothing = grade_record(claims(chance(0.5, True), chance(0.9, None)))
    assert nothing.sentence == "Too few claims are settled to say how often they came true."


def test_chances_are_grouped_from_their_lower_edge():
    graded = grade_record(claims(*(chance(said, said > 0.5) for said in (0.05, 0.1, 0.29, 0.3, 0.7, 0.89, 0.9))))
    table = graded.calibration
    assert table["n"].to_list() == [1, 2, 1, 2, 1]
    assert table["said"].to_list() == pytest.approx([0.05, 0.195, 0.3, 0.795, 0.9])
    assert table["came_true"].to_list() == [0, 0, 0, 1, 1]
    assert (table["low"] <= table["came_true"]).all() and (table["came_true"] <= table["high"]).all()
    assert (table["high"] - table["low"]).min() > 0.1


def test_iqs_are_graded_by_their_number_of_scores_and_forecasts_by_months_ahead():
    iq = {"kind": "iq"}
    graded = grade_record(
        claims(
            {**iq, "scores": 1, "expected": 100.0, "actual": 104.0, "came_true": True},
            {**iq, "scores": 2, "expected": 110.0, "actual": 100.0, "came_true": False},
            {**iq, "scores": 3, "expected": 110.0, "actual": 111.0, "came_true": True},
            {**iq, "scores": 9, "expected": 110.0, "actual": None, "came_true": None},
            {"kind": "forecast", "months": 6, "expected": 2.0, "baseline": 1.0, "actual": 2.5, "came_true": True},
            {"kind": "forecast", "months": 3, "expected": 2.0, "baseline": 1.0, "actual": 0.5, "came_true": False},
        )
    )
    assert graded.intervals.select("from", "to", "n", "coverage", "bias", "error").rows() == [
        (1, 2, 2, 0.5, 3.0, 7.0),
        (3, 3, 1, 1.0, -1.0, 1.0),
    ]
    assert graded.forecasts.select("months", "n", "coverage", "bias", "error", "no_change").rows() == [
        (3, 1, 0.0, 1.5, 1.5, 0.5),
        (6, 1, 1.0, -0.5, 0.5, 1.5),
    ]


def test_numbers_of_scores_are_grouped_from_1_3_6_12_and_20():
    counts = (1, 2, 3, 5, 6, 11, 12, 19, 20, 40)
    usual = {"kind": "iq", "expected": 100.0, "actual": 100.0, "came_true": True}
    table = grade_record(claims(*({**usual, "scores": count} for count in counts))).intervals
    assert table.select("from", "to").rows() == [(1, 2), (3, 5), (6, 11), (12, 19), (20, 40)]


def test_misses_are_listed_once_and_the_dearest_first_with_the_reason_that_the_pace_gives():
    best = {"kind": "forecast", "expected": 2.0, "low": 1.5, "high": 2.5}
    passed = {"kind": "passed", "months": 6, "subject": "x"}
    table = claims(
        {**passed, **chance(0.75, False), "subject": "x", "claim": "x is passed"},
        {**passed, **chance(0.95, False), "subject": "x", "claim": "x is passed", "made": date(2026, 2, 28)},
        {**passed, **chance(0.29, True), "subject": "y", "claim": "y is passed"},
        {**passed, **chance(0.31, True), "subject": "z", "claim": "z is passed"},
        {**best, "months": 6, "actual": 1.7, "came_true": True},
        {**best, "months": 6, "actual": 1.2, "came_true": False, "made": date(2026, 2, 28)},
    )
    misses = grade_record(table).misses
    assert misses.select("claim", "chance").rows() == [("x is passed", 0.95), ("y is passed", 0.29)]
    reached = "the best model reached capability {}, 2.00 expected (90%: 1.50 to 2.50)"
    assert misses["why"].to_list() == [
        f"The pace: {reached.format('1.20')}.",
        f"Not the pace: {reached.format('1.70')}. On this test AI differs from what its capability says.",
    ]
    in_part = table.with_columns(
        actual=pl.when(pl.col("actual") == 1.2).then(1.7).otherwise("actual"),
        came_true=pl.when(pl.col("actual") == 1.2).then(True).otherwise("came_true"),
    )
    assert grade_record(in_part).misses["why"][0].startswith("The pace in part: ")
    alone = grade_record(claims(chance(0.75, False), chance(0.7, False)))
    assert alone.misses["why"].to_list() == ["The record does not tell why."] * alone.misses.height
