"""The other faces of pictures: their options, crowds and both themes, as they were when last looked at."""

import datetime as dt
import json
import os

import polars as pl
import pytest

from mensura import charts
from mensura.charts.marks import DOTS, empty
from tests.charts.test_pictures import (
    APPROVED,
    AXIS,
    DIFFERENCES,
    ITEM_MAP,
    PLACED,
    TIMED,
    WATCHED,
    WORLD,
    build,
    rounded,
)

GROUPS = pl.DataFrame({"label": [f"group {at}" for at in range(9)], "value": [88.0 + at * at / 1.7 for at in range(9)]})
GROUPS = GROUPS.with_columns(low=pl.col("value") - 1, high=pl.col("value") + 1)


def many(table: pl.DataFrame, count: int, **columns: pl.Expr) -> pl.DataFrame:
    """The first row of a table so many times; ``columns`` may count on ``at``."""
    rows = pl.concat([table.head(1)] * count).with_columns(at=pl.int_range(count))
    return rows.with_columns(**columns).drop("at")


AT = pl.col("at")
LANE = many(
    AXIS,
    48,
    name=pl.format("Model {}", AT),
    subject=pl.format("m{}", AT),
    value=pl.when(AT == 0).then(0.0).otherwise(2 + AT / 300),
)
STRANGERS = TIMED.with_columns(provider=pl.lit("Somebody"))

VARIANTS = {
    "bars_log": lambda: spec_of(build("bars", log=True, references=None, rule=100.0, ascending=True)),
    "bars_dots": lambda: spec_of(build("bars", zero=False)),
    "scatter_plain": lambda: spec_of(charts.scatter(PLACED, x_title="USD", y_title="IQ", log_y=True)),
    "timeline_plain": lambda: spec_of(charts.timeline(STRANGERS, y_title="IQ", today=dt.date(2030, 1, 1))),
    "timeline_crowded": lambda: data_of(build("timeline", levels=GROUPS))["levels"],
    "one_axis_crowded": lambda: [
        (row["dy"] if row["label"] else None) for row in data_of(charts.one_axis(LANE))["points"]
    ],
    "watch_quiet": lambda: spec_of(charts.watch(WATCHED.with_columns(boundary=pl.Series([None, 9.0, 9.0]))))[
        "datasets"
    ],
    "nothing": lambda: spec_of(empty("no model has an IQ here")),
    "theme_light": lambda: charts.web_spec(build("scatter"), "light")["config"],
    "theme_dark": lambda: charts.web_spec(build("scatter"), "dark")["config"],
    "paper": lambda: {
        key: part for key, part in charts.paper(build("bars")).items() if key not in ("$schema", "datasets")
    },
    "paper_panels": lambda: without_data(charts.paper(build("level_curves"), 183)),
}


def without_data(spec):
    return {key: part for key, part in spec.items() if key not in ("$schema", "datasets", "config")}


def spec_of(chart):
    return {key: part for key, part in charts.web_spec(chart).items() if key not in ("$schema", "config")}


def data_of(chart):
    return charts.web_spec(chart)["datasets"]


@pytest.mark.parametrize("name", VARIANTS)
def test_looks_as_it_did_when_last_looked_at(name):
    found = json.loads(json.dumps(rounded(VARIANTS[name]())))
    file = APPROVED / "variants" / f"{name}.json"
    if os.environ.get("APPROVE"):
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    assert found == json.loads(file.read_text(encoding="utf-8"))


def sizes(chart):
    """The sizes of a chart's points."""
    layers = charts.web_spec(chart)["layer"]
    return [layer["mark"]["size"] for layer in layers if layer["mark"]["type"] == "point"]


def test_marks_shrink_where_they_are_many():
    assert [sizes(charts.item_map(many(ITEM_MAP, count, name=pl.format("q{}", AT)))) for count in (60, 61)] == [
        [DOTS[0]],
        [26],
    ]
    assert [sizes(charts.world_scatter(many(WORLD, count, item=pl.format("q{}", AT)))) for count in (80, 81)] == [
        [DOTS[0]],
        [34],
    ]


@pytest.mark.parametrize(("items", "named", "height"), [(2, 2, 60), (40, 40, 640), (41, 0, 640)])
def test_differences_name_as_many_items_as_have_a_line(items, named, height):
    spec = charts.web_spec(charts.item_differences(many(DIFFERENCES, items, item=pl.format("q{}", AT))))
    axes = [axis for layer in spec["layer"] if (axis := layer["encoding"].get("y", {}).get("axis"))]
    assert {axis["labelExpr"].count('"q') for axis in axes} == {named}
    assert spec["height"] == height


def test_bands_of_people_are_drawn_for_four_levels_and_no_more():
    def shown(count):
        layers = charts.web_spec(build("timeline", levels=GROUPS.head(count)))["layer"]
        [band] = [layer for layer in layers if layer["mark"].get("style") == "people-band"]
        return band["transform"][0]["filter"] != "false"

    assert [shown(count) for count in (4, 5)] == [True, False]
