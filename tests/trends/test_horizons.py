from datetime import date

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress

from mensura.core.errors import MensuraError
from mensura.trends import relate_horizons

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
