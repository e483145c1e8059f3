"""The published results, from the published fit; all rows are in ``python -m benchmarks.trends_reference``."""

from datetime import date

import polars as pl
import pytest

from mensura.trends import find_break, find_frontier, forecast, frontier_line, measure_progress

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def points(shared):
    folder = shared / "data" / "stitching"
    fit = pl.read_csv(folder / "reference_fit.csv").filter(pl.col("kind") == "capability")
    models = pl.read_csv(folder / "models.csv", infer_schema_length=None)
    return fit.select(model="name", capability="value").join(models, on="model", maintain_order="left")


def test_frontier_trend_and_forecast(points):
    assert find_frontier(points).height == 12
    assert frontier_line(points).slope == pytest.approx(0.5588, abs=5e-5)
    table = forecast(points, to=[date(2026, 12, 31)], method="rosetta", level=0.95).table
    assert table.row(0)[1:] == pytest.approx((3.363115, 3.043366, 3.682864), abs=5e-7)


def test_break_in_the_frontier(points):
    found = find_break(points)
    assert found.date == date(2024, 3, 23)
    assert found.ratio == pytest.approx(1.95, abs=0.005)


def test_compute_needed_falls_about_sixfold_a_year(points):
    known = points.filter(~pl.col("distilled").cast(pl.String).str.to_lowercase().eq("true").fill_null(value=False))
    known = known.drop("family").rename({"compute_family": "family"})
    row = measure_progress(known, method="rosetta").estimates.row(0, named=True)
    assert (row["n"], row["factor"], row["low"], row["high"]) == pytest.approx((68, 5.84, 4.21, 8.10), abs=0.005)
