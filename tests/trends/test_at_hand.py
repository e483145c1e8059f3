"""What a user has in hand goes in: a fit, evidence, scores, frames of any library; results show themselves briefly."""

from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import mensura
from benchmarks import published_robustness
from benchmarks.published_robustness import drop_benchmarks, optimised_benchmarks, split_optimised
from mensura.core.errors import MensuraError
from mensura.stitching import encode, place_people, read_scores, solve_rosetta, stitch
from mensura.trends import (
    find_break,
    find_frontier,
    forecast,
    frontier_line,
    measure_pace,
    measure_progress,
    relate_horizons,
    watch_acceleration,
    watch_stream,
)
from mensura.trends.kinks import read_stream


@pytest.fixture(scope="module")
def scores():
    """Scores without noise: subject i comes out i months after January 2022 and gains 0.5 a year."""
    C = 0.5 * np.arange(36) / 12
    D, slope = np.linspace(-0.5, 2, 8), np.linspace(1, 3, 8)
    days = [date(2022 + i // 12, 1 + i % 12, 1) for i in range(36)]
    rows = [
        (f"m{i:02}", f"b{j}", 1 / (1 + np.exp(-slope[j] * (C[i] - D[j]))), days[i], j % 2 == 0)
        for i in range(36)
        for j in range(8)
        if (i + j) % 4
    ]
    return pl.DataFrame(rows, schema=["subject", "benchmark", "score", "released", "optimised"], orient="row")


@pytest.fixture(scope="module")
def fit(scores):
    return stitch(scores, method="rosetta", anchor_benchmark="b3")


@pytest.fixture(scope="module")
def compute(fit):
    """Compute that grows unevenly, so that the quality of the recipe sets more than two records."""
    names = fit.data.subjects
    return {
        "model": names,
        "training_compute_flop": [1e22 * 1.1 ** (i + 5 * (i % 3)) for i in range(36)],
        "family": ["A"] * 36,
    }


def test_a_fit_brings_its_dates_and_its_draws(fit):
    found = forecast(fit, to=[date(2026, 1, 1)])
    table = fit.dated
    plain, drawn = forecast(table, to=[date(2026, 1, 1)]), forecast(table, to=[date(2026, 1, 1)], draws=fit.laplace)
    assert found.table.equals(drawn.table)
    assert not found.table.equals(plain.table)


@pytest.mark.slow
def test_scores_are_stitched_and_other_frames_are_read(scores, fit):
    assert find_frontier(scores)["subject"].to_list() == find_frontier(stitch(scores))["subject"].to_list()
    arrow = pa.table(fit.dated.to_dict(as_series=False))
    assert forecast(arrow).table.equals(forecast(fit.dated).table)
    assert frontier_line(fit.dated.to_dict(as_series=False)).slope == frontier_line(fit).slope


@pytest.mark.slow
def test_evidence_goes_in_as_it_is():
    evidence = mensura.load()
    records = find_frontier(evidence)
    assert records["capability"].is_sorted()
    watch = watch_acceleration(evidence, streams=19, start=date(2025, 6, 1))
    assert watch.looks.height > 10
    assert watch.warnings == ()


def test_a_watch_of_a_fit_is_that_of_its_scores(scores):
    fit = stitch(scores, method="rosetta")
    one, two = (watch_acceleration(source, streams=19, start=date(2024, 1, 1)) for source in (fit, scores))
    assert one.looks.equals(two.looks)


def test_compute_may_come_in_a_table_of_its_own(fit, compute):
    joined = fit.dated.join(pl.DataFrame(compute).rename({"model": "subject"}), on="subject")
    assert measure_progress(fit, compute).estimates.equals(measure_progress(joined).estimates)
    with pytest.raises(MensuraError, match="compute: missing column 'family'"):
        measure_progress(fit, {"subject": ["m00"], "training_compute_flop": [1e22]})


def test_subjects_of_a_fit_without_a_date_are_named(scores):
    undated = scores.with_columns(released=pl.when(pl.col("subject") != "m05").then("released"))
    with pytest.raises(MensuraError, match=r"no release date .* for 'm05'"):
        forecast(stitch(undated, method="rosetta"))


def test_a_release_on_29_february_has_years_after_it(fit):
    last = fit.dated.with_columns(
        released=pl.when(pl.col("subject") == "m35").then(date(2028, 2, 29)).otherwise("released")
    )
    assert forecast(last).table["date"].to_list() == [date(2029, 2, 28), date(2030, 3, 1), date(2031, 3, 1)]


def test_exact_scores_give_one_slope_whatever_benchmarks_are_included(scores, fit):
    truth = frontier_line(fit).slope
    data = encode(read_scores(scores), "max")
    dropped = drop_benchmarks(data, data.benchmarks.index("b3"), seed=0)
    assert dropped["slope_per_year"].to_list() == pytest.approx([truth] * 3, rel=0.15)
    sides = split_optimised(data, optimised_benchmarks(scores, data), seed=0)
    ours, others, share = sides["slope_per_year"]
    assert sides["benchmarks"].to_list() == [4, 4, None]
    spread = np.std(np.arange(36) / 12)
    assert (ours, others) == pytest.approx((1 / spread, 1 / spread), rel=0.1)
    assert 0 <= share <= 1


def test_refits_to_chosen_benchmarks_that_did_not_converge_are_counted(scores, monkeypatch, capsys):
    monkeypatch.setattr(published_robustness, "solve_rosetta", partial(solve_rosetta, max_iterations=1))
    drop_benchmarks(encode(read_scores(scores), "max"), 3, seed=0)
    assert "100 of 100 fits to chosen benchmarks did not converge" in capsys.readouterr().out


@pytest.mark.slow
def test_every_result_shows_itself_in_few_lines(scores, fit, compute):
    stream, _ = read_stream(scores)
    embedded = stitch(method="rosetta")
    minutes = {"subject": fit.data.subjects[:9], "minutes": [float(i + 1) for i in range(9)]}
    results = [
        embedded,
        embedded.laplace,
        embedded.data,
        place_people(embedded),
        forecast(fit),
        find_break(fit),
        relate_horizons(fit, minutes),
        measure_progress(fit, compute),
        watch_stream(stream, 54.0, streams=19).plan,
        measure_pace(fit),
        watch_acceleration(scores, streams=19, start=date(2024, 1, 1)),
    ]
    for result in results:
        assert repr(result).count("\n") < 30, type(result)
        assert len(repr(result)) < 4000, type(result)
        assert "<table" in result._repr_html_()
        assert all(isinstance(table, pl.DataFrame) for table in result.tables().values())
        assert result.heading in str(result)
