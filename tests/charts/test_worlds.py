"""Observed rates against world estimates: every item is drawn, told apart by dimension, and described."""

import polars as pl
import pytest

from mensura import charts
from mensura.core.errors import MensuraError


def points(dimensions: list[str]) -> pl.DataFrame:
    size = len(dimensions)
    observed = [(k + 1) / (size + 1) for k in range(size)]
    return pl.DataFrame(
        {
            "item": [f"item {k}" for k in range(size)],
            "observed": observed,
            "world": [rate / 2 for rate in observed],
            "low": [None, *(rate / 3 for rate in observed[1:])],
            "high": [None, *(rate for rate in observed[1:])],
            "dimension": dimensions,
        },
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )


def test_every_item_is_drawn_with_its_dimension_and_described(tmp_path):
    chart = charts.world_scatter(points(["QLq", "KNn", "QLq", "several"]))
    rows = chart.datasets["points"]
    assert sorted((row["item"], row["group"]) for row in rows) == [
        ("item 0", "QLq"), ("item 1", "KNn"), ("item 2", "QLq"), ("item 3", "several"),
    ]  # fmt: skip
    assert rows[0]["group"] == "several"  # drawn first, below the others
    assert "4 items, on average 0.25 below them; dimensions: QLq, KNn" in chart.description
    charts.save(chart, tmp_path / "world.svg")
    drawn = (tmp_path / "world.svg").read_text(encoding="utf-8")
    assert drawn.count("item 2, QLq, observed 0.6, world 0.3, 0.2 to 0.6") == 1
    assert "rate estimated for the world" in drawn


def test_more_dimensions_than_colours_share_one():
    names = [f"d{k}" for k in range(14)]
    chart = charts.world_scatter(points([name for k, name in enumerate(names) for _ in range(14 - k)]))
    groups = {row["dimension"]: row["group"] for row in chart.datasets["points"]}
    assert groups["d0"] == "d0" and groups["d13"] == "others"
    assert len(set(groups.values())) == 10


def test_nothing_to_draw_and_missing_columns_are_said():
    assert "no item has both" in str(charts.world_scatter(points(["QLq"]).head(0)).to_dict())
    with pytest.raises(MensuraError, match="dimension"):
        charts.world_scatter(points(["QLq"]).drop("dimension"))
