"""Forward in time: only what was known then, and a default that does not lose."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from benchmarks.stitch_validation import forward_errors, vintages
from mensura import MensuraError
from mensura.stitching import stitch

from .conftest import simulate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dated():
    """Capability grows with time: model i comes 20 days after model i − 1."""
    frame = simulate(60, 12, seed=6, noise=0.04)[0].rename({"model": "subject"})
    days = [date(2023, 1, 1) + timedelta(days=20 * int(name[1:])) for name in frame["subject"]]
    return frame.with_columns(pl.Series("released", days))


def test_a_vintage_holds_what_was_known_and_three_scores_of_each_later_model(dated):
    origin = date(2024, 9, 1)
    (vintage,) = vintages(dated, [origin], 3, 0)
    known, later = vintage.known, vintage.later
    told = known.filter(pl.col("released") >= origin)
    assert set(told.group_by("subject").len()["len"]) == {3}
    assert set(told["subject"]) == set(later["subject"])
    assert later["released"].is_between(origin, date(2025, 3, 1), closed="left").all()
    assert known.join(later, on=["subject", "benchmark"]).height == 0
    past = dated.filter((pl.col("released") < origin) & (pl.col("benchmark") == "b04"))["score"].max()
    assert set(later.filter(pl.col("benchmark") == "b04")["past"]) == {past}


def test_an_origin_with_few_models_before_it_or_none_after_it_is_passed_over(dated):
    nineteen, twenty, last = date(2024, 1, 1), date(2024, 2, 17), date(2030, 1, 1)
    assert dated.filter(pl.col("released") < nineteen)["subject"].n_unique() == 19
    assert [vintage.origin for vintage in vintages(dated, [nineteen, twenty, last], 3, 0)] == [twenty]


def test_errors_forward_in_time_are_those_of_the_fits_predictions(dated):
    origin = date(2024, 9, 1)
    settings = {"published": {"method": "rosetta"}, "one": {"dimensions": 1}}
    found = forward_errors(dated, settings, origins=[origin])
    assert found.columns == [
        "setting", "scores", "rmse", "mae", "bias", "coverage", "widening", "beyond", "surpassed", "change"
    ]  # fmt: skip
    (vintage,) = vintages(dated, [origin], 3, 0)
    error = stitch(vintage.known, dimensions=1).predict(vintage.later)["score"] - vintage.later["score"]
    row = found.row(1, named=True)
    assert row["scores"] == vintage.later.height
    assert row["rmse"] == pytest.approx(float(np.sqrt((error**2).mean())))
    assert row["bias"] == pytest.approx(error.mean())
    assert row["surpassed"] == pytest.approx(error.filter(vintage.later["score"] > vintage.later["past"]).mean())
    assert row["change"] == pytest.approx(row["rmse"] / found["rmse"][0] - 1)
    assert 0.7 < row["coverage"] <= 1
    assert (row["widening"] > 1) == (row["coverage"] < 0.9)


def test_a_new_model_is_placed_by_its_date_as_well_as_by_its_scores(dated):
    """A model known by one weak score leans on when it came out; without a date, on the spread of all."""
    from mensura.stitching import place

    fit = stitch(dated.filter(pl.col("released") < date(2025, 6, 1)))
    one = pl.DataFrame({"subject": ["new"], "benchmark": ["b02"], "score": [0.9]})

    def capability(released):
        table = place(fit, one.with_columns(released=pl.lit(released, dtype=pl.Date))).capabilities
        return table.filter(pl.col("subject") == "new").row(0, named=True)

    early, late, unknown = (capability(day) for day in (date(2023, 2, 1), date(2026, 3, 1), None))
    assert early["capability"] < unknown["capability"] < late["capability"]
    assert late["high"] - late["low"] < unknown["high"] - unknown["low"]


def test_dates_are_asked_for_and_origins_must_leave_something(dated):
    with pytest.raises(MensuraError, match="scores: no column 'released'"):
        forward_errors(dated.drop("released"))
    with pytest.raises(MensuraError, match="origins: no origin has 20 models before it"):
        forward_errors(dated, origins=[date(2023, 2, 1)])
