"""Levels against levels, and the three stages: everything is drawn, named and described."""

import pytest

from mensura import charts
from mensura.core.errors import MensuraError
from tests.charts.test_pictures import ANNOTATED, LEVEL_LINES, LEVEL_MEANS, STAGES


def test_panels_show_items_stars_line_and_base(tmp_path):
    chart = charts.level_panels(ANNOTATED, LEVEL_MEANS, LEVEL_LINES)
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
    assert "nothing to show" in str(charts.level_panels(ANNOTATED.head(0), LEVEL_MEANS, LEVEL_LINES).to_dict())
    assert "nothing to show" in str(charts.calibration_stages(STAGES.head(0)).to_dict())
    with pytest.raises(MensuraError, match="aligned"):
        charts.calibration_stages(STAGES.drop("aligned"))
