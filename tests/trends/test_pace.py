"""The pace of all releases, beside the records; its unit; how releases move together; what was known on a day."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

import mensura
from benchmarks.trends_backtest import backtest, known_by
from mensura.core.errors import MensuraError
from mensura.stitching import stitch
from mensura.trends import measure_pace
from mensura.trends.scatter import describe_scatter, whiten


def releases(n=80, pace=0.72, scatter=0.3, seed=0, span=2.0):
    """Releases about a line, over the last two years."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, span, n))
    days = [date(2024, 1, 1) + timedelta(days=round(x * 365.25)) for x in t]
    values = pace * t + rng.normal(0, scatter, n)
    return pl.DataFrame({"subject": [f"s{i:03}" for i in range(n)], "released": days, "capability": values})


@pytest.mark.slow
def test_the_interval_of_the_pace_holds_the_pace_where_the_records_read_it_too_fast():
    truth, held, records = 0.72, [], []
    for seed in range(60):
        found = measure_pace(releases(seed=seed))
        low, high = found.interval
        held.append(low <= truth <= high)
        records.append(found.table["slope"][1])
    assert 0.83 <= np.mean(held) <= 1.0
    assert np.nanmedian(records) > truth


def test_a_pace_that_doubled_a_year_ago_is_found():
    """0.7 a year for three years, then 1.4: the estimates are nearer to that than those from two years, 1.13."""
    found = []
    for seed in range(16):
        frame = releases(n=160, pace=0.7, seed=seed, span=4.0)
        years = np.array([(day - date(2024, 1, 1)).days / 365.25 for day in frame["released"]])
        found.append(measure_pace(frame.with_columns(pl.col("capability") + 0.7 * np.maximum(years - 3, 0))).slope)
    assert 1.2 < np.mean(found) < 1.4


def test_heading_leads_with_the_pace_and_names_the_records():
    text = measure_pace(releases()).heading
    assert text.startswith("pace: the 80 releases since 2024-01-")
    assert "the line through the" in text
    assert text.index("gain") < text.index("records rises")


def test_draws_of_the_fit_widen_the_pace():
    frame = releases()
    factor = np.random.default_rng(0).normal(1, 0.3, 100)
    draws = pl.concat(
        frame.select("subject", draw=pl.lit(i), capability=pl.col("capability") * f) for i, f in enumerate(factor)
    )
    plain, drawn = measure_pace(frame), measure_pace(frame, draws=draws)
    assert np.ptp(drawn.interval) > 1.5 * np.ptp(plain.interval)
    assert drawn.slope == pytest.approx(plain.slope, rel=0.1)


def test_too_few_releases_have_no_pace_and_levels_are_checked():
    few = releases(n=4)
    assert measure_pace(few).table["slope"][0] is None
    with pytest.raises(MensuraError, match="got 1"):
        measure_pace(releases(), level=1.0)


def test_whitening_is_the_inverse_of_the_cholesky_factor():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 3, 30))
    t[4] = t[5]
    R = 0.7 * np.eye(30) + 0.3 * np.exp(-np.abs(t[:, None] - t) / 0.5)
    y = rng.normal(size=(3, 30))
    white, log_size = whiten(t, y, np.array([0.0, 0.3]), np.array([0.1, 0.5]))
    np.testing.assert_allclose(white[0], y)
    np.testing.assert_allclose(white[1], np.linalg.solve(np.linalg.cholesky(R), y.T).T, atol=1e-12)
    np.testing.assert_allclose(log_size, [0, np.linalg.slogdet(R)[1]], atol=1e-10)


def test_a_line_without_common_shocks_has_the_interval_of_regression():
    frame = releases(seed=3)
    t = np.array([(day - date(1970, 1, 1)).days / 365.25 for day in frame["released"]])
    y = frame["capability"].to_numpy()
    posterior = describe_scatter(t, y)
    lone = replace(posterior, probability=np.where(posterior.share[:, None] == 0, 0.25, 0.0))
    paces = lone.draw(200_000, np.random.default_rng(0)).pace
    slope = np.polyfit(t, y, 1)[0]
    rest = y - np.polyval(np.polyfit(t, y, 1), t)
    error = np.sqrt(rest @ rest / 78 / np.sum((t - t.mean()) ** 2))
    expected = slope + error * student.ppf([0.05, 0.5, 0.95], 78)
    np.testing.assert_allclose(np.quantile(paces, [0.05, 0.5, 0.95]), expected, atol=0.02 * error)


def test_releases_that_move_together_are_seen_to():
    rng = np.random.default_rng(2)
    t = np.sort(rng.uniform(0, 4, 150))
    root = np.linalg.cholesky(np.exp(-np.abs(t[:, None] - t) / 0.5) + 1e-9 * np.eye(150))
    own, shared = rng.normal(size=150), root @ rng.normal(size=150)
    alone, together = describe_scatter(t, own), describe_scatter(t, 0.6 * own + 0.8 * shared)
    assert alone.common < 0.15
    assert together.common > 0.4
    shocks = together.draw(500, rng).shocks(t, rng)
    near = np.mean([np.corrcoef(row[:-1], row[1:])[0, 1] for row in shocks])
    assert near > 0.6


def test_a_share_is_as_probable_as_prior_times_restricted_likelihood_say():
    """Three releases leave one residual, whose size the spread takes up: what is left are the determinants."""
    t, y = np.array([0.0, 0.4, 1.0]), np.array([0.1, 0.9, 0.7])
    posterior = describe_scatter(t, y)

    def likelihood(share, fading):
        R = (1 - share) * np.eye(3) + share * np.exp(-np.abs(t[:, None] - t) / fading)
        x = np.column_stack([np.ones(3), t])
        information = x.T @ np.linalg.solve(R, x)
        rest = y - x @ np.linalg.solve(information, x.T @ np.linalg.solve(R, y))
        return (np.linalg.det(R) * np.linalg.det(information) * (rest @ np.linalg.solve(R, rest))) ** -0.5

    expected = [
        (1 if w else 10) * (1 - w) ** 3 * likelihood(w, fading)
        for w, fading in zip(posterior.share, posterior.fading, strict=True)
    ]
    np.testing.assert_allclose(posterior.probability[:, 0], np.array(expected) / np.sum(expected), rtol=1e-9)


def test_rows_described_a_few_at_a_time_are_described_alike(monkeypatch):
    """Draws of thousands of releases are whitened in parts, so that memory does not grow with draws × releases."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 2, 40))
    rows = 0.5 * t + rng.normal(size=(30, 40))
    whole = describe_scatter(t, rows).draw(400, np.random.default_rng(0)).pace
    monkeypatch.setattr("mensura.trends.scatter._AT_ONCE", 7 * 40 * 19 * 4)
    np.testing.assert_allclose(describe_scatter(t, rows).draw(400, np.random.default_rng(0)).pace, whole)


@pytest.fixture(scope="module")
def scores():
    """Exact scores of subjects that gain 0.5 a year, on tests that are known to end at 1."""
    C, D = 0.5 * np.arange(40) / 12, np.linspace(-0.5, 2, 8)
    days = [date(2022 + i // 12, 1 + i % 12, 1) for i in range(40)]
    rows = [
        (f"m{i:02}", f"b{j}", 1 / (1 + np.exp(-2 * (C[i] - D[j]))), days[i])
        for i in range(40)
        for j in range(8)
        if (i + j) % 4
    ]
    table = pl.DataFrame(rows, schema=["subject", "benchmark", "score", "released"], orient="row")
    return table.with_columns(ceiling=pl.lit(1.0))


@pytest.mark.slow
def test_the_unit_is_the_distance_of_two_models_and_stays_when_models_join(scores):
    few = scores.filter(pl.col("subject") < "m30")
    renamed = {"m04": "gpt-4o", "m28": "gpt-5"}
    truth = 12 / (28 - 4)  # steps of 24 months a year
    for table in (few, scores):
        fit = stitch(table.with_columns(pl.col("subject").replace(renamed)))
        assert measure_pace(fit).slope == pytest.approx(truth, rel=0.05)
        assert fit.unit == "the distance from gpt-4o to gpt-5"
        at = dict(fit.capabilities.select("subject", "capability").iter_rows())
        assert (at["gpt-4o"], at["gpt-5"]) == (pytest.approx(0), pytest.approx(1))
        assert fit.laplace.positions.capability.std(axis=0).min() > 0  # the two have errors like all others
    plain = [measure_pace(stitch(table)).slope for table in (few, scores)]
    assert plain[0] / plain[1] > 1.2  # among more models the standard deviation is larger, and the pace seems to fall
    assert stitch(few).unit == "the standard deviation among 30 subjects"
    assert stitch(few, method="rosetta", anchor_benchmark="b3").unit == "a logit on b3"
    assert stitch(few, anchor_subjects={"m04": 0, "m28": 2}).unit == "the distance from m04 to m28 is 2"


def test_the_worse_of_the_two_models_of_the_unit_cannot_be_the_better_one(scores):
    swapped = scores.with_columns(pl.col("subject").replace({"m04": "gpt-5", "m28": "gpt-4o"}))
    assert stitch(swapped).unit == "the standard deviation among 40 subjects"


@pytest.mark.slow
def test_every_command_counts_capability_in_one_unit():
    fit = mensura.stitch()
    assert fit.unit == measure_pace().unit == "the distance from gpt-4o to gpt-5"
    frozen = mensura.stitching.load_scale("2026-12").capabilities
    both = fit.capabilities.join(frozen, on="subject", suffix="_frozen")
    assert both["capability"].to_list() == pytest.approx(both["capability_frozen"].to_list(), abs=1e-4)


def test_a_vintage_holds_what_was_known(scores):
    day = date(2023, 6, 1)
    assert known_by(scores, day)["released"].max() == day
    dated = scores.with_columns(
        benchmark_released=pl.when(pl.col("benchmark") == "b7").then(pl.lit("2024-01-01")),
        known=pl.when(pl.col("subject") == "m00").then(date(2025, 1, 1)),
    )
    kept = known_by(dated, day)
    assert "b7" not in kept["benchmark"].to_list()
    assert "m00" not in kept["subject"].to_list()
    assert (
        kept.height == known_by(scores, day).filter((pl.col("benchmark") != "b7") & (pl.col("subject") != "m00")).height
    )
    with pytest.raises(MensuraError, match="'known' are not YYYY-MM-DD, the first is 'May'"):
        known_by(scores.with_columns(known=pl.lit("May")), day)


def test_a_backtest_of_scores_is_refitted_at_every_origin(scores):
    settings = {"method": "rosetta", "anchor_benchmark": "b3"}
    origins = [date(2024, 3, 1), date(2024, 9, 1)]
    found = backtest(scores, origins=origins, horizons=(0.25,), fit_settings=settings)
    assert found.refitted
    assert "refitted at every origin" in found.heading
    later = scores.with_columns(
        score=pl.when(pl.col("released") > date(2024, 9, 1)).then(0.5 * pl.col("score") + 0.2).otherwise("score")
    )
    early = later.filter(pl.col("released") <= date(2024, 9, 1))
    assert early.equals(scores.filter(pl.col("released") <= date(2024, 9, 1)))
    final = backtest(scores, origins=origins, horizons=(0.25,), fit_settings=settings, refit=False)
    assert not final.refitted
    assert found.table["expected"].to_list() == pytest.approx(final.table["expected"].to_list(), abs=0.15)
    with pytest.raises(MensuraError, match="has no scores to refit"):
        backtest(releases(), refit=True)


def test_where_two_records_make_no_line_the_pace_stands_alone():
    """The second release is the best of all, so there are two records."""
    days = [date(2025, month, 1) for month in range(1, 9)]
    values = [0.0, 9.0, 0.5, 0.7, 1.0, 1.2, 1.4, 1.7]
    found = measure_pace(pl.DataFrame({"subject": list("abcdefgh"), "released": days, "capability": values}))
    assert found.table.row(1) == ("records", None, None, None, 2, date(2025, 1, 1))
    assert found.heading.startswith("pace: the 8 releases since 2025-01-01 gain ") and "records" not in found.heading
