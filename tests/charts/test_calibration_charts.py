"""Levels against levels, and the three stages: everything is drawn, named and described."""

import polars as pl
import pytest

from mensura import charts
from mensura.errors import MensuraError

POINTS = pl.DataFrame(
    {"dimension": ["KN", "KN", "KN", "VO"], "level": [1.0, 1, 2, 1], "empirical": [0.8, 1.0, 1.4, 0.9]}
)
MEANS = pl.DataFrame({"dimension": ["KN", "KN", "VO"], "level": [1.0, 2, 1], "empirical": [0.9, 1.4, 0.9]})
LINES = pl.DataFrame(
    {
        "dimension": ["KN", "VO"],
        "name": ["Knowledge", "Volume"],
        "slope": [0.5, None],
        "intercept": [0.4, None],
        "base": [3.16, None],
        "low": [2.0, None],
        "high": [5.0, None],
        "verdict": ["Standard", "not identified: one level only"],
    }
)
STAGES = pl.DataFrame(
    {
        "dimension": ["KN", "KN", "VO"],
        "level": [1, 2, 1],
        "n": [5, 4, 3],
        "empirical": [0.9, 1.4, 0.7],
        "line": [0.9, 1.4, 0.8],
        "aligned": [0.9, 1.4, 0.8],
    }
)


def test_panels_show_items_stars_line_and_base(tmp_path):
    chart = charts.level_panels(POINTS, MEANS, LINES)
    kinds = [row["kind"] for row in chart.datasets["points"]]
    assert (kinds.count("item"), kinds.count("mean"), kinds.count("line")) == (4, 3, 2)
    assert "Knowledge: B 3.16 (2.00–5.00); Volume: no base" in chart.description
    ends = [(row["level"], row["empirical"]) for row in chart.datasets["points"] if row["kind"] == "line"]
    assert all(y == pytest.approx(0.5 * x + 0.4) for x, y in ends)
    charts.save(chart, tmp_path / "panels.svg")
    assert "KN level 2, mean estimated level 1.4" in (tmp_path / "panels.svg").read_text(encoding="utf-8")


def test_stages_put_level_means_on_the_diagonal(tmp_path):
    chart = charts.calibration_stages(STAGES)
    aligned = [row for row in chart.datasets["points"] if row["stage"].startswith("3") and row["kind"] == "mean"]
    assert [(row["x"], row["y"]) for row in aligned] == [(0.9, 0.9), (1.4, 1.4), (0.8, 0.7)]
    assert "on average 0.333 levels off the diagonal as annotated, 0.0333 when aligned" in chart.description
    charts.save(chart, tmp_path / "stages.svg")


def test_nothing_to_draw_and_missing_columns_are_said():
    assert "nothing to show" in str(charts.level_panels(POINTS.head(0), MEANS, LINES).to_dict())
    assert "nothing to show" in str(charts.calibration_stages(STAGES.head(0)).to_dict())
    with pytest.raises(MensuraError, match="aligned"):
        charts.calibration_stages(STAGES.drop("aligned"))
