from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress, t as student

from mensura.core.errors import MensuraError
from mensura.stitching import to_years
from mensura.trends import measure_progress
from mensura.trends.lines import fieller
from mensura.trends.progress import bucket_table, mean_slope

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


def test_three_models_on_one_line_are_too_few_and_that_is_said():
    """No error is left to count: nothing is divided by it."""
    days = [date(2024, 1, 1), date(2024, 12, 31), date(2025, 12, 31)]
    table = {"subject": list("abc"), "released": days, "capability": [0.0, 1.0, 2.0], "family": ["f"] * 3}
    with pytest.raises(MensuraError, match="3 subjects with compute; the joint regression needs at least 4"):
        measure_progress(pl.DataFrame(table | {"training_compute_flop": [1.0, np.e, np.e**2]}))


def test_subjects_without_known_compute_are_left_out():
    frame = models(0.05)
    unknown = frame.tail(2).with_columns(
        subject=pl.Series(["zero", "none"]), training_compute_flop=pl.Series([0.0, None]), capability=pl.lit(99.0)
    )
    with_unknown = measure_progress(pl.concat([frame, unknown]))
    assert with_unknown.estimates.equals(measure_progress(frame).estimates)


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


def test_ranges_of_capability_are_three_tenths_wide_and_begin_at_every_tenth():
    years = np.arange(6) / 4
    table = bucket_table(years, np.array([1.0, 1.29, 1.1, 1.31, 1.2, 1.0]), 25 - 0.5 * years)
    first = table.filter(pl.col("from") == 1.0).row(0, named=True)
    assert (first["to"], first["n"], first["records"]) == (1.3, 5, 5)
    assert table.filter(pl.col("from") == 1.1)["n"].to_list() == [4]


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


def bent(scale=0.0, year=0.0, noise=0.0, seed=0):
    """Models whose k changes by ``scale`` per decade of compute and by ``year`` per year."""
    frame = models(seed=seed)
    x, t = np.log(frame["training_compute_flop"].to_numpy()), to_years(frame["released"])
    x, t = x - x.mean(), t - t.mean()
    more = scale / np.log(10) * x**2 / 2 + year * x * t + np.random.default_rng(seed).normal(0, noise, x.size)
    return frame.with_columns(capability=K * x + QUALITY * t + more)


@pytest.mark.parametrize(("scale", "year", "row"), [(-0.05, 0.0, 0), (0.0, 0.03, 1)])
def test_a_change_of_k_is_measured_per_decade_of_compute_and_per_year(scale, year, row):
    found = measure_progress(bent(scale, year)).constancy.row(row, named=True)
    assert found["over"] == ("scale", "date")[row]
    assert (found["k"], found["change"]) == pytest.approx((K, scale + year), rel=1e-6)
    assert found["p"] < 1e-6


def test_intervals_of_the_change_cover_a_constant_k():
    """Of 80 worlds with scatter that grows with compute, 90% intervals contain no change in 72 or so."""
    hits = []
    for seed in range(40):
        frame = bent(seed=seed)
        spread = 0.02 + 0.1 * frame["training_compute_flop"].rank().to_numpy() / frame.height
        noise = np.random.default_rng(seed + 100).normal(0, spread)
        table = measure_progress(frame.with_columns(pl.col("capability") + pl.Series(noise))).constancy
        hits += [low <= 0 <= high for low, high in table.select("low", "high").iter_rows()]
    assert 0.82 <= np.mean(hits) <= 0.97


def test_unknown_method_is_refused():
    with pytest.raises(MensuraError, match="expected one of releases, rosetta"):
        measure_progress(models(), method="other")


def test_fieller_has_its_closed_form_with_independent_errors():
    """With g = q² var(bottom)/bottom²: (ratio ± √(ratio² − (1 − g)(ratio² − q² var(top)/bottom²)))/(1 − g)."""
    top, bottom, q = 3.0, 2.0, 1.5
    low, high = fieller(top, bottom, np.diag([0.2, 0.1]), q)
    g = q**2 * 0.1 / 4
    root = np.sqrt(1.5**2 - (1 - g) * (1.5**2 - q**2 * 0.2 / 4))
    assert (low, high) == pytest.approx(((1.5 - root) / (1 - g), (1.5 + root) / (1 - g)))
    shared = fieller(top, bottom, np.array([[0.2, 0.1], [0.1, 0.1]]), q)
    assert shared[1] - shared[0] < high - low


def test_mean_slope_weights_families_by_size_and_takes_its_error_from_their_spread():
    found = mean_slope(pl.DataFrame({"k": [0.1, 0.3], "n": [6, 2], "error": [0.0, 0.0]}))
    assert found.k == pytest.approx(0.15)
    share = np.array([0.75, 0.25])
    spread = (share * (np.array([0.1, 0.3]) - 0.15) ** 2).sum() / (1 - (share**2).sum())
    assert found.error == pytest.approx(np.sqrt(spread * (share**2).sum()))
    assert found.freedom == 1
    even = mean_slope(pl.DataFrame({"k": [0.1, 0.2, 0.3], "n": [4, 4, 4], "error": [0.0] * 3}))
    assert even.error == pytest.approx(0.1 / np.sqrt(3))


def test_interval_of_the_factor_combines_both_errors_by_satterthwaite():
    frame = models(0.1)
    row = measure_progress(frame, level=0.8).estimates.row(0, named=True)
    families = measure_progress(frame).families
    years = to_years(frame["released"])
    C, spent = frame["capability"].to_numpy(), np.log(frame["training_compute_flop"].to_numpy())
    k = float(np.average(families["k"], weights=families["n"]))
    of_k = families["k"].std() / np.sqrt(3)
    quality, gain = linregress(years, C - k * spent), linregress(years, C)
    own, other = (quality.stderr / k) ** 2, (gain.slope * of_k / k**2) ** 2
    freedom = (own + other) ** 2 / (own**2 / (C.size - 2) + other**2 / 2)
    half = student.ppf(0.9, freedom) * np.sqrt(own + other)
    assert row["quality_per_year"] == pytest.approx(quality.slope)
    assert np.log([row["low"], row["factor"], row["high"]]) == pytest.approx(
        [quality.slope / k - half, quality.slope / k, quality.slope / k + half]
    )


def test_joint_regression_agrees_with_least_squares():
    frame = models(0.1)
    row = measure_progress(frame).joint.row(0, named=True)
    years = to_years(frame["released"])
    C, decades = frame["capability"].to_numpy(), np.log10(frame["training_compute_flop"].to_numpy())
    X = np.column_stack([np.ones(C.size), decades, years])
    beta, squares, *_ = np.linalg.lstsq(X, C, rcond=None)
    assert (row["per_decade"], row["per_year"]) == pytest.approx(tuple(beta[1:]), rel=1e-6)
    assert row["r_squared"] == pytest.approx(1 - squares[0] / np.sum((C - C.mean()) ** 2))
    assert row["low"] < row["decades_saved"] < row["high"]
    assert row["decades_saved"] == pytest.approx(beta[2] / beta[1])
    covariance = squares[0] / (C.size - 3) * np.linalg.inv(X.T @ X)
    relative = covariance[1, 1] / beta[1] ** 2 + covariance[2, 2] / beta[2] ** 2
    published = measure_progress(frame, method="rosetta").joint.row(0, named=True)
    assert (published["high"] - published["low"]) / 2 == pytest.approx(
        1.645 * published["decades_saved"] * np.sqrt(relative), rel=0.01
    )
    wide = measure_progress(frame, method="rosetta", level=0.95).joint.row(0, named=True)
    widths = (wide["high"] - wide["low"]) / (published["high"] - published["low"])
    assert widths == pytest.approx(1.96 / 1.645, rel=1e-9), "with the digits the published code has"


def test_a_selection_of_one_day_has_no_figures():
    table = measure_progress(models().with_columns(capability=-pl.col("capability"))).estimates
    assert table.filter(pl.col("selection") == "quality frontier")["factor"].to_list() == [None]
    assert table.filter(pl.col("selection") == "all")["factor"].null_count() == 0


def test_the_heading_names_the_level():
    assert measure_progress(models(0.05), level=0.8).heading == (
        "compute for a given capability, factor saved per year (80%)"
    )
