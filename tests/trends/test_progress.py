from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from mensura.errors import MensuraError
from mensura.trends import measure_progress
from mensura.trends.buckets import bucket_table
from mensura.trends.progress import fieller

K, QUALITY = 0.2, 0.3


def models(noise=0.0, seed=0, n=60):
    """C = k ln F + b(t): compute grows, recipes improve, three families of one day each."""
    rng = np.random.default_rng(seed)
    years = np.sort(rng.uniform(0, 3, n))
    compute = np.exp(53 + 1.2 * years + rng.normal(0, 1, n))
    family = np.array([None] * n, dtype=object)
    for i, name in enumerate(("A", "B", "C")):
        years[10 * i : 10 * i + 4] = years[10 * i]
        family[10 * i : 10 * i + 4] = name
    capability = K * np.log(compute) + QUALITY * years + rng.normal(0, noise, n)
    days = [date(2022, 1, 1) + timedelta(days=round(365.25 * x)) for x in years]
    return pl.DataFrame(
        {
            "subject": [f"s{i:02}" for i in range(n)],
            "released": days,
            "capability": capability,
            "training_compute_flop": compute,
            "family": family.tolist(),
        },
        schema_overrides={"family": pl.String},
    )


def test_exact_data_give_the_truth_by_every_way():
    result = measure_progress(models())
    truth = np.exp(QUALITY / K)
    assert result.families["k"].to_list() == pytest.approx([K] * 3, rel=1e-6)
    alike = result.estimates.filter(pl.col("analysis") == "families")
    assert alike["factor"].to_list() == pytest.approx([truth] * 3, rel=0.01)
    assert result.joint["decades_saved"][0] == pytest.approx(QUALITY / K / np.log(10), rel=0.01)


def test_both_routes_to_the_factor_agree():
    table = measure_progress(models(0.05)).estimates
    assert np.allclose(table["factor"], np.exp(table["quality_per_year"] / table["k"]))


def test_error_of_k_widens_the_interval_which_the_published_one_forgets():
    frame = models(0.1)
    ours = measure_progress(frame).estimates.row(0, named=True)
    published = measure_progress(frame, method="rosetta").estimates.row(0, named=True)
    width = lambda row: np.log(row["high"] / row["low"])  # noqa: E731
    assert width(ours) > width(published)


def test_swapped_degrees_of_freedom_narrow_the_published_interval():
    rows = measure_progress(models(0.3), method="rosetta").estimates.filter(
        pl.col("analysis").str.starts_with("pooled") & (pl.col("selection") == "capability frontier")
    )
    plain, swapped = rows.to_dicts()
    assert swapped["analysis"].endswith("swapped degrees of freedom")
    assert np.log(swapped["high"] / swapped["low"]) < np.log(plain["high"] / plain["low"])


def test_intervals_of_progress_cover_the_truth():
    truth = QUALITY / K
    hits = []
    for seed in range(60):
        row = measure_progress(models(0.1, seed)).estimates.row(0, named=True)
        hits.append(np.log(row["low"]) <= truth <= np.log(row["high"]))
    assert np.mean(hits) >= 0.8


def test_published_records_follow_the_order_of_the_table():
    frame = models()
    day = frame["released"][-1]
    twin = frame.tail(1).with_columns(subject=pl.lit("twin"), capability=pl.col("capability") + 1, released=pl.lit(day))
    twin = twin.with_columns(training_compute_flop=pl.col("training_compute_flop") * np.exp(1 / K))
    after, before = pl.concat([frame, twin]), pl.concat([twin, frame])
    counts = [
        measure_progress(table, method="rosetta").estimates.filter(pl.col("selection") == "capability frontier")["n"][0]
        for table in (after, before)
    ]
    assert counts[0] - counts[1] in (0, 1)
    ours = [measure_progress(table).estimates["n"].to_list() for table in (after, before)]
    assert ours[0] == ours[1]


def test_fieller_reduces_to_the_ratio_without_error_and_opens_when_the_bottom_may_be_zero():
    low, high = fieller(3.0, 2.0, np.diag([1e-12, 1e-12]), 2.0)
    assert (low, high) == pytest.approx((1.5, 1.5), abs=1e-5)
    assert fieller(3.0, 0.1, np.diag([0.01, 1.0]), 2.0) == (-np.inf, np.inf)


def test_buckets_measure_the_fall_of_compute_at_fixed_capability():
    years = np.arange(6) / 4
    table = bucket_table(years, np.full(6, 1.05), 25 - 0.8 * years)
    assert table["from"].to_list() == pytest.approx([1.0])
    assert table["decades_saved"][0] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": pl.lit(None, dtype=pl.String)}, "no family has 3 subjects"),
        ({"training_compute_flop": pl.lit(None, dtype=pl.Float64)}, "0 subjects"),
    ],
)
def test_unusable_compute_is_refused(change, message):
    with pytest.raises(MensuraError, match=message):
        measure_progress(models().with_columns(**change))


def test_unknown_method_is_refused():
    with pytest.raises(MensuraError, match="choose one of releases, rosetta"):
        measure_progress(models(), method="other")
