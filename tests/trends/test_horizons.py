from datetime import date

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress

from mensura.core.errors import MensuraError
from mensura.trends import follow_horizons, relate_horizons
from mensura.trends.horizons import dated_lengths, read_lengths

NAMES = [f"s{i}" for i in range(12)]
CAPABILITY = np.linspace(0, 3, 12)
DATES = [date(2020 + i // 4, 1 + 3 * (i % 4), 1) for i in range(12)]
POINTS = pl.DataFrame({"subject": NAMES, "released": DATES, "capability": CAPABILITY})


def horizons(noise=0.0):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {"subject": NAMES[:10], "minutes": np.exp(-2 + 1.5 * CAPABILITY[:10] + rng.normal(0, noise, 10))}
    )


def test_the_line_is_found_and_carried_to_subjects_without_a_measurement():
    result = relate_horizons(POINTS, horizons())
    assert result.line.slope == pytest.approx(1.5)
    assert result.line.intercept == pytest.approx(-2)
    assert result.doubling == pytest.approx(np.log(2) / 1.5)
    assert result.table["minutes"].null_count() == 2
    assert result.table["expected"][-1] == pytest.approx(np.exp(-2 + 1.5 * 3))


def test_held_out_subjects_are_checked_and_not_used():
    result = relate_horizons(POINTS, horizons(0.3), held_out=NAMES[:3])
    assert result.line.n == 7
    assert result.checks["part"].to_list() == ["used", "held out"]
    assert result.checks["n"].to_list() == [7, 3]
    assert "doubles every" in str(result)


def test_bad_horizons_are_refused():
    with pytest.raises(MensuraError, match="'s0' has 0 minutes"):
        relate_horizons(POINTS, {"subject": ["s0"], "minutes": [0.0]})
    with pytest.raises(MensuraError, match="held_out: 'nobody'"):
        relate_horizons(POINTS, horizons(), held_out=["nobody"])


def test_intervals_of_a_horizon_are_those_of_one_more_measurement():
    result = relate_horizons(POINTS, horizons(0.3), level=0.8)
    peer = linregress(CAPABILITY[:10], np.log(horizons(0.3)["minutes"]))
    rest = np.log(horizons(0.3)["minutes"].to_numpy()) - peer.intercept - peer.slope * CAPABILITY[:10]
    sd, mean = np.sqrt(rest @ rest / 8), CAPABILITY[:10].mean()
    at = CAPABILITY[-1]
    half = 1.396815 * sd * np.sqrt(1 + 1 / 10 + (at - mean) ** 2 / np.sum((CAPABILITY[:10] - mean) ** 2))
    row = result.table.row(-1, named=True)
    centre = peer.intercept + peer.slope * at
    assert np.log([row["low"], row["expected"], row["high"]]) == pytest.approx([centre - half, centre, centre + half])
    check = result.checks.row(0, named=True)
    assert check["r_squared"] == pytest.approx(peer.rvalue**2)
    assert check["correlation"] == pytest.approx(peer.rvalue)


def dated(days, minutes, spread=1.0, suite="x"):
    """Return horizons and systems: minutes with ends a factor ``spread`` away."""
    names = [f"m{k}" for k in range(len(days))]
    table = pl.DataFrame({"subject": names, "suite": suite, "p50": minutes}).with_columns(
        p50_low=pl.col("p50") / spread, p50_high=pl.col("p50") * spread
    )
    return table, pl.DataFrame({"subject": names, "released": days})


def test_a_pace_is_said_for_all_releases_and_those_since_2024_with_their_ratio():
    """One doubling a year until the end of 2023, two a year from then on."""
    days = [date(year, month, 1) for year in range(2020, 2027) for month in (1, 7)]
    years = np.array([(day - date(2024, 1, 1)).days / 365.25 for day in days])
    table, systems = dated(days, np.exp2(8 + np.where(years < 0, years, 2 * years)))
    both = follow_horizons(table, systems)
    assert both.select("since", "systems", "first", "last").rows() == [
        ("all", 14, "2020-01-01", "2026-07-01"),
        ("2024-01-01", 6, "2024-01-01", "2026-07-01"),
    ]
    assert both["doubling_months"][1] == pytest.approx(6.0)
    assert both["ratio"].to_list() == [None, pytest.approx(2.0)]
    assert both["ratio_low"][1] <= both["ratio"][1] <= both["ratio_high"][1]
    assert follow_horizons(table.reverse(), systems.sample(fraction=1, shuffle=True, seed=1)).equals(both)


def test_a_pace_needs_five_systems_and_falling_horizons_have_none():
    days = [date(2020 + k, 1, 1) for k in range(5)]
    table, systems = dated(days, [2.0**k for k in range(5)])
    assert follow_horizons(table, systems).height == 1
    assert follow_horizons(table, systems.head(4)).is_empty()
    assert follow_horizons(
        table.with_columns(p50=pl.when(pl.col("subject") == "m0").then(None).otherwise("p50")), systems
    ).is_empty()
    falling = follow_horizons(dated(days, [2.0**-k for k in range(5)])[0], systems).row(0, named=True)
    assert falling["doubling_months"] is falling["low"] is falling["high"] is None


def test_an_unsure_pace_has_an_open_slow_end():
    days = [date(2020 + k // 2, 1 + 6 * (k % 2), 1) for k in range(8)]
    minutes = np.exp2(np.array([0.0, 3.0, -2.0, 2.5, -1.0, 4.0, -1.5, 3.5]))
    row = follow_horizons(*dated(days, minutes, spread=4.0)).row(0, named=True)
    assert 0 < row["low"] < row["doubling_months"]
    assert row["high"] is None


def test_an_end_of_a_length_that_is_open_lies_two_doublings_away():
    table = pl.DataFrame(
        {
            "p50": [8.0, 8.0, 8.0],
            "p50_low": [4.0, None, 4.0],
            "p50_high": [32.0, 32.0, None],
            "released": ["2024-01-01"] * 3,
        }
    )
    lengths = dated_lengths(table)
    assert lengths.values.tolist() == [3.0] * 3
    assert lengths.errors == pytest.approx(np.array([3.0, 4.0, 3.0]) / (2 * 1.6448536))


def test_lengths_are_read_for_each_subject_once():
    table = pl.DataFrame(
        {
            "subject": ["b", "a", "a"],
            "suite": ["all", "all", "s"],
            "released": ["2024-05-01", "2024-02-01", "2024-02-01"],
            "p50": [8.0, 4.0, 2.0],
            "p50_low": [4.0, 2.0, 1.0],
            "p50_high": [16.0, 8.0, 4.0],
        }
    )
    lengths, subjects = read_lengths(table)
    assert (subjects, lengths.values.tolist()) == (["a", "b"], [2.0, 3.0])
    with pytest.raises(MensuraError, match="expected one row per subject"):
        read_lengths(table.with_columns(suite=pl.lit("all")))
    with pytest.raises(MensuraError, match="expected one row per subject"):
        read_lengths(table.with_columns(p50=pl.lit(None)))


def test_a_check_of_one_subject_has_no_share_explained():
    result = relate_horizons(POINTS, horizons(0.3), held_out=NAMES[:1])
    assert result.checks.row(1) == ("held out", 1, None, None)
    assert relate_horizons(POINTS, horizons()).checks.height == 1
    renamed = horizons().rename({"subject": "model", "minutes": "p50_horizon_minutes"})
    assert relate_horizons(POINTS, renamed).line.n == 10
