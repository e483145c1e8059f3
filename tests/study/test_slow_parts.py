"""Dates of the report: quarters after any day, a release on the last day of February, days as people write them."""

from dataclasses import replace
from datetime import date, timedelta
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.calibration.abilities import FEWEST_DECIDED
from mensura.study.slow_parts import (
    PlacedAbilities,
    WorldExample,
    ability_rows,
    observed_and_world,
    placed_subjects,
    quarters_after,
    report_pace,
    watch_evidence,
)
from mensura.trends.pace import FEWEST_RELEASES
from mensura.trends.watching import BASELINE, FEWEST


def test_quarters_of_a_leap_day_end_with_their_months():
    assert quarters_after(date(2028, 2, 29), 5) == [
        date(2028, 5, 29),
        date(2028, 8, 29),
        date(2028, 11, 29),
        date(2029, 2, 28),
        date(2029, 5, 29),
    ]
    assert quarters_after(date(2026, 11, 30), 1) == [date(2027, 2, 28)]


@pytest.fixture(scope="module")
def evidence():
    return mensura.load()


def with_releases(evidence, day):
    """The evidence as if its newest model had come out on another day."""
    newest = pl.col("released") == pl.col("released").max()
    models = evidence.models.with_columns(released=pl.when(newest).then(pl.lit(day)).otherwise("released"))
    return SimpleNamespace(models=models)


@pytest.mark.slow
def test_forecast_starts_at_a_release_on_the_29th_of_february(evidence):
    pace = report_pace(mensura.stitch(evidence), with_releases(evidence, date(2028, 2, 29)))
    assert pace.until == date(2028, 2, 29)
    assert pace.forecast["date"].to_list()[:2] == [date(2028, 2, 29), date(2028, 5, 29)]
    assert pace.forecast["date"].to_list()[-1] == date(2031, 2, 28)
    assert pace.low < pace.slope < pace.high
    assert pace.unit == "the distance from gpt-4o to gpt-5"
    assert "records rises by" in pace.heading
    start = pace.forecast.row(0, named=True)
    assert start["low"] == start["value"] == start["high"]


@pytest.mark.slow
def test_models_without_dates_are_refused_in_words(evidence):
    undated = SimpleNamespace(models=evidence.models.with_columns(released=pl.lit(None, pl.Date)))
    with pytest.raises(mensura.MensuraError, match="0 models have both a capability and a release date"):
        report_pace(mensura.stitch(evidence), undated)


def test_the_pace_takes_in_dated_models_and_the_forecast_starts_at_the_best(monkeypatch):
    asked = {}
    table = pl.DataFrame({"date": [date(2026, 6, 1)], "low": [1.0], "high": [4.0], "capability": [3.0]})
    rows = [("all", 0.5, 0.4, 0.6, 9, date(2024, 1, 1)), ("records", 0.75, 0.5, 1.0, 3, date(2024, 1, 1))]
    pace = pl.DataFrame(rows, schema=["line", "slope", "low", "high", "n", "since"], orient="row")

    def ahead(dated, **how):
        asked.update(how, models=dated.height)
        return SimpleNamespace(table=table, pace=pace)

    monkeypatch.setattr("mensura.study.slow_parts.forecast", ahead)
    days = [date(2026, 1 + at % 2, 1 + at) for at in range(FEWEST_RELEASES)]
    names = [f"m{at}" for at in range(len(days))]
    capabilities = pl.DataFrame(
        {"subject": [*names, "undated"], "capability": [0.1 * at for at in range(len(days) + 1)]}
    )
    fit = SimpleNamespace(capabilities=capabilities, laplace="draws", unit="one")
    models = pl.DataFrame({"subject": [*names, "undated"], "released": [*days, None]})
    found = report_pace(fit, SimpleNamespace(models=models))
    assert (found.slope, found.low, found.high, found.records) == (0.5, 0.4, 0.6, 0.75)
    assert (found.since, found.until, found.unit) == (date(2024, 1, 1), max(days), "one")
    assert (asked["draws"], asked["level"], len(asked["to"])) == ("draws", 0.9, 12)
    best = 0.1 * len(days)
    assert found.forecast.rows() == [(max(days), best, best, best), (date(2026, 6, 1), 1.0, 4.0, 3.0)]
    assert found.heading == (
        "Releases since January 2024 gain 0.50 a year (90% interval 0.40 to 0.60; 1 is one); the line through the "
        "records rises by 0.75 a year"
    )
    assert replace(found, records=None).heading.endswith("1 is one)")
    with pytest.raises(mensura.MensuraError, match=f"{FEWEST_RELEASES - 1} models have both"):
        report_pace(fit, SimpleNamespace(models=models.head(FEWEST_RELEASES - 1)))


def watched(monkeypatch, days):
    """Watch models that came out on these days; return what the watch was asked."""
    asked = []
    names = [f"m{at}" for at in range(len(days))]
    scores = pl.DataFrame({"subject": names})
    monkeypatch.setattr("mensura.study.slow_parts.evidence_scores", lambda _: (scores, None))
    monkeypatch.setattr("mensura.study.slow_parts.watch_acceleration", lambda _, **how: asked.append(how) or "watch")
    models = pl.DataFrame({"subject": [*names, "unscored"], "released": [*days, date(2000, 1, 1)]})
    found = watch_evidence(SimpleNamespace(models=models))
    assert (found == "watch") == bool(asked)
    return asked


def test_a_watch_starts_when_two_fifths_are_out_and_needs_a_baseline_and_some_after_it(monkeypatch):
    days = [date(2020, 1, 1) + timedelta(days=at) for at in range(600)]
    assert watched(monkeypatch, days[:499]) == [{"start": days[199], "streams": 59}]
    assert watched(monkeypatch, days[:500]) == [{"start": days[200], "streams": 19}]
    least = BASELINE + FEWEST + 3
    assert watched(monkeypatch, days[:least]) == [{"start": days[BASELINE], "streams": 59}]
    assert watched(monkeypatch, days[: least - 1]) == []
    assert watched(monkeypatch, days[:BASELINE]) == []


def test_a_level_is_told_where_enough_items_decide_it():
    placed = placed_subjects().row(0, named=True)
    profile = pl.DataFrame(
        {"subject": [placed["subject"], "other"], "dimension": ["KNn", "KNn"], "ability": [3.0, 2.0]}
        | {"low": [2.5, 1.5], "high": [3.5, 2.5]}
    )
    positions = pl.DataFrame(
        {"subject": [placed["subject"], "other"], "dimension": "KNn", "name": "Knowledge", "note": ["", "few"]}
        | {"items": [FEWEST_DECIDED, FEWEST_DECIDED - 1]}
    )
    rows = ability_rows(SimpleNamespace(profile=profile, positions=positions), {"other": "people"})
    assert rows.select("subject", "dimension", "level", "low", "high", "kind", "note").rows() == [
        (placed["name"], "Knowledge", 3.0, 2.5, 3.5, "AI", ""),
        ("other", "Knowledge", None, None, None, "people", "few"),
    ]


def test_every_open_item_has_its_rates_and_a_dominant_dimension():
    rows = observed_and_world()
    assert rows.columns == ["item", "observed", "low", "high", "world", "dimension"]
    assert rows["world"].null_count() == 0 and (rows["low"] <= rows["high"]).all()
    assert "several" in rows["dimension"].to_list() and rows["item"].is_unique().all()


def test_headings_say_the_example_and_how_many_were_placed():
    example = WorldExample(0.19, 0.041, 0.03, 0.0512, pl.DataFrame(), pl.DataFrame())
    assert example.heading == "19% in PISA, 4.1% of the world (90% 3.0% to 5.1%)"
    places = pl.DataFrame({"subject": ["a", "a", "b"], "dimension": ["x", "y", "z"], "level": [1.0, 2.0, None]})
    assert PlacedAbilities(places, "", *[None] * 4).heading == "1 subjects placed in 2 dimensions"
