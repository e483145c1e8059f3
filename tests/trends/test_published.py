"""The published trend figures, from the published scores; and the selections behind them."""

from datetime import date

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.trends.capabilities import select_scores
from mensura.trends.published import FEWEST_BENCHMARKS, SINCE, follow_published


@pytest.fixture(scope="module")
def published(shared):
    folder = shared / "data" / "stitching"
    return follow_published(
        folder / "scores.csv",
        compute=folder / "models.csv",
        horizons=folder / "metr_time_horizons.csv",
        to=[date(2026, 12, 31), date(2028, 10, 31)],
        anchor_benchmark="Winogrande",
    )


def test_the_published_fit_is_of_the_published_subjects(published):
    assert published.heading == "published trends: 179 subjects, 38 benchmarks, 1324 scores"


def test_the_frontier_and_its_forecast(published):
    records, every = published.trend.to_dicts()
    assert [round(records[name], 4) for name in ("slope", "low", "high", "r_squared")] == [
        0.5588,
        0.4478,
        0.6698,
        0.9068,
    ]
    assert (records["n"], every["n"]) == (12, 179)
    assert round(every["slope"], 4) == 0.7159
    assert published.forecast["capability"].round(2).to_list() == [3.36, 4.39]
    assert published.forecast["high"].round(2).to_list() == [3.68, 4.93]


def test_the_break(published):
    (row,) = published.breaks.to_dicts()
    assert row["date"] == date(2024, 3, 23)
    assert [round(row[name], 3) for name in ("before", "after", "r_squared")] == [0.352, 0.689, 0.934]


def test_algorithmic_progress(published):
    progress = {(row["analysis"], row["selection"]): row for row in published.progress.to_dicts()}
    main = progress["families", "all"]
    assert (main["n"], main["level"]) == (68, 0.9)
    assert [round(main[name], 2) for name in ("factor", "low", "high")] == [5.84, 4.21, 8.1]
    frontier = progress["families", "quality frontier"]
    assert (frontier["n"], round(frontier["factor"], 2)) == (11, 9.49)
    assert [round(value, 3) for value in published.families["k"]] == [0.176, 0.205, 0.124]


def test_time_horizons_and_doubling(published):
    used, apart = published.horizons.to_dicts()
    assert (round(used["r_squared"], 3), round(apart["r_squared"], 4)) == (0.852, 0.7535)
    months = dict(published.doubling.iter_rows())
    doubling = months["time horizon of the frontier doubles"]
    assert doubling == pytest.approx(12 * 0.693147 / (3.6888 * 0.5588), rel=1e-3)
    assert months["compute of a capability halves (families, all)"] == pytest.approx(4.71, abs=0.01)


def test_five_weights_of_the_penalty(published):
    assert published.sensitivity["record_slope"].round(4).to_list() == [0.3534, 0.3538, 0.4084, 0.5588, 0.6505]
    assert published.sensitivity["release_slope"].round(4).to_list() == [0.5255, 0.5258, 0.579, 0.7159, 0.7702]


def test_benchmarks_are_counted_before_the_dates_are_looked_at():
    rows = [("old", f"b{b}", 0.4, "2022-01-01") for b in range(5)]
    rows += [("few", f"b{b}", 0.5, "2024-01-01") for b in range(3)]
    rows += [("new", f"b{b}", 0.6, "2023-01-01") for b in range(4)]
    rows += [("undated", f"b{b}", 0.6, None) for b in range(4)]
    scores = pl.DataFrame(rows, schema=["model", "benchmark", "score", "release_date"], orient="row")
    assert select_scores(scores, since=SINCE, fewest=FEWEST_BENCHMARKS)["subject"].unique().to_list() == ["new"]
    assert sorted(select_scores(scores, fewest=3)["subject"].unique()) == ["few", "new", "old"]
    with pytest.raises(MensuraError, match="no subject has 9 benchmarks"):
        select_scores(scores, fewest=9)


def test_from_the_command_line(mensura_command, shared, tmp_path):
    folder = shared / "data" / "stitching"
    files = ["--compute", folder / "models.csv", "--horizons", folder / "metr_time_horizons.csv"]
    run = mensura_command(
        *("trends", folder / "scores.csv", "--method", "rosetta", "--anchor-benchmark", "Winogrande", *files),
        *("--to", "2028-10-31", "--out", tmp_path / "out"),
    )
    assert run.code == 0, run.err
    ahead = pl.read_csv(tmp_path / "out" / "forecast.csv")
    assert ahead["capability"].round(2).to_list() == [4.39]
    progress = pl.read_csv(tmp_path / "out" / "progress.csv")
    assert round(progress["factor"][0], 2) == 5.84
    horizons = pl.read_csv(tmp_path / "out" / "horizons.csv")
    assert round(horizons.filter(part="used")["r_squared"].item(), 3) == 0.852
    written = {file.stem: pl.read_csv(file).height for file in (tmp_path / "out").glob("*.csv")}
    assert (written["breaks"], written["sensitivity"], written["doubling"]) == (1, 5, 10)


def test_distilled_models_count_where_asked_for(mensura_command, shared, tmp_path):
    folder = shared / "data" / "stitching"
    asked = ("trends", folder / "scores.csv", "--method", "rosetta", "--anchor-benchmark", "Winogrande")
    run = mensura_command(
        *asked, "--compute", folder / "models.csv", "--out", tmp_path / "out", settings={"distilled": True}
    )
    assert run.code == 0, run.err
    assert pl.read_csv(tmp_path / "out" / "progress.csv")["n"][0] > 68
