"""Dates of the report: quarters after any day, a release on the last day of February, days as people write them."""

from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.study.slow_parts import quarters_after, report_pace


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
