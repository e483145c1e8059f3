"""The published analyses in one go, on a small world with known truth: which table says what, at which level."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from mensura.trends import measure_progress
from mensura.trends.published import HELD_OUT, follow_published

NAMES = (*HELD_OUT, *(f"model {i}" for i in range(8)))
TALENT = np.linspace(-1.5, 1.5, len(NAMES)) + 0.2 * np.sin(np.arange(len(NAMES)))
LN_MINUTES_PER_UNIT = 3.0


@pytest.fixture(scope="module")
def scores():
    """Capability grows from 2023 on; five benchmarks of different difficulty and slope."""
    rows = [
        (name, f"b{b}", float(1 / (1 + np.exp(-(0.8 + 0.3 * b) * (talent - 0.4 * b + 0.8)))), when)
        for i, (name, talent) in enumerate(zip(NAMES, TALENT, strict=True))
        for when in [date(2023, 1, 1) + timedelta(days=60 * i)]
        for b in range(5)
    ]
    return pl.DataFrame(rows, schema=["model", "benchmark", "score", "release_date"], orient="row")


@pytest.fixture(scope="module")
def compute():
    """Two families; one subject tells no compute, one is distilled."""
    flop = [None, *np.exp(52 + 2.0 * TALENT[1:] + 0.3 * np.cos(np.arange(1, len(NAMES)))).tolist()]
    return pl.DataFrame(
        {
            "subject": NAMES,
            "training_compute_flop": flop,
            "family": ["A", "B"] * (len(NAMES) // 2),
            "distilled": [name == "model 7" for name in NAMES],
        }
    )


@pytest.fixture(scope="module")
def horizons():
    minutes = np.exp(LN_MINUTES_PER_UNIT * TALENT + 1.0)
    return pl.DataFrame({"subject": NAMES, "minutes": minutes})


@pytest.fixture(scope="module")
def found(scores, compute, horizons):
    return follow_published(scores, compute=compute, horizons=horizons, to=[date(2027, 1, 1)], anchor_benchmark="b2")


def test_the_main_estimate_of_progress_has_its_own_level(found, compute):
    main = (pl.col("analysis") == "families") & (pl.col("selection") == "all")
    assert found.progress.filter(main)["level"].to_list() == [0.9]
    assert found.progress.filter(~main)["level"].unique().to_list() == [0.95]
    listed = found.fit.dated.join(compute.filter(~pl.col("distilled")), on="subject").drop_nulls()
    assert listed.height == len(NAMES) - 2
    for level, part in ((0.9, main), (0.95, ~main)):
        plain = measure_progress(listed, method="rosetta", level=level)
        mine = found.progress.filter(part).drop("level")
        assert_frame_equal(mine, plain.estimates.filter(part), check_row_order=False)
    assert_frame_equal(found.families, plain.families)
    assert_frame_equal(found.joint, plain.joint)
    assert_frame_equal(found.fixed_capability, plain.buckets)


def test_the_forecast_is_for_the_days_asked_for(found):
    assert found.forecast["date"].to_list() == [date(2027, 1, 1)]


def test_slopes_under_the_published_penalty_are_those_of_the_fit(found):
    assert found.sensitivity["ridge"].to_list() == [0.0001, 0.001, 0.01, 0.1, 0.5]
    published = found.sensitivity.row(3, named=True)
    records, every = found.trend["slope"]
    assert (published["record_slope"], published["release_slope"]) == pytest.approx((records, every))


def test_the_published_split_is_made_where_all_its_subjects_are_measured(found, scores, horizons):
    assert found.horizons["part"].to_list() == ["used", "held out"]
    assert found.horizons["n"].to_list() == [len(NAMES) - len(HELD_OUT), len(HELD_OUT)]
    assert found.horizons["slope"].n_unique() == 1
    one_missing = follow_published(scores, horizons=horizons.slice(1), anchor_benchmark="b2")
    assert one_missing.horizons["part"].to_list() == ["used"]
    assert one_missing.progress.is_empty()


def test_horizons_double_in_the_months_that_both_slopes_say(found):
    months = dict(found.doubling.iter_rows())
    per_year = found.horizons["slope"][0] * found.trend["slope"][0]  # ln(minutes) that the frontier gains a year
    assert months["time horizon of the frontier doubles"] == pytest.approx(12 * np.log(2) / per_year)
    falling = found.progress.filter(pl.col("factor") > 1)
    assert len(months) == 1 + falling.height > 1
    for row in falling.to_dicts():
        said = months[f"compute of a capability halves ({row['analysis']}, {row['selection']})"]
        assert row["factor"] ** (said / 12) == pytest.approx(2)
