"""Every picture: valid, complete, described, drawn without a browser, honest about what was estimated."""

import datetime as dt
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import altair as alt
import polars as pl
import pytest
import vl_convert

from mensura import charts
from mensura.core.errors import MensuraError

VERSION = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
APPROVED = Path(__file__).parent / "approved"
FIGURES = Path(__file__).parents[2] / "docs" / "figures.md"

MODELS = {
    "subject": ["opus", "sol", "flash", "k3", "small"],
    "name": ["Opus 4.8", "GPT Sol", "Gemini Flash", "Kimi K3", "Small & <Open>"],
    "provider": ["Anthropic", "OpenAI", "Google", "Moonshot AI", None],
    "low": [125.0, 126.0, None, 130.0, 88.0],
    "high": [131.0, 132.0, None, 139.0, 96.0],
    "status": ["measured", "measured", "estimated", "estimated", "measured"],
    "label": [True, True, False, True, True],
}
VALUES = [128.0, 129.0, 121.5, 134.0, 92.0]
DAYS = [dt.date(2026, 5, 28), dt.date(2026, 6, 1), dt.date(2026, 2, 1), dt.date(2026, 7, 1), dt.date(2024, 3, 1)]
SUBJECT = ("subject", "name", "provider")


def models(*columns: str, **more: list) -> pl.DataFrame:
    return pl.DataFrame({**{key: MODELS[key] for key in columns}, **more}, strict=False)


TIMED = models(*SUBJECT, "low", "high", "status", "label", value=VALUES, released=DAYS)
PLACED = models(*SUBJECT, "status", "label", x=[25.0, 30.0, 2.0, 0.5, 0.05], y=VALUES)
BARS = models(*SUBJECT, "low", "high", "status", value=VALUES)
LINES = pl.DataFrame({"provider": ["OpenAI", "OpenAI"], "released": DAYS[3:][::-1], "value": [92.0, 129.0]})
FORECAST = pl.DataFrame({"date": [dt.date(2026, 8, 1), dt.date(2027, 8, 1)], "value": [135.0, 150.0]})
FORECAST = FORECAST.with_columns(low=pl.col("value") - 2, high=pl.col("value") + 4)
LEVELS = pl.DataFrame({"label": ["average adult", "experts"], "value": [100.0, 101.0], "low": [None, 98.0]})
LEVELS = LEVELS.with_columns(high=pl.Series([None, 104.0]))
PEOPLE = pl.DataFrame(
    {
        "group": ["guessing", "experts", "pupils"],
        "value": [25.0, 110.0, 90.0],
        "low": [None, 105.0, None],
        "high": [None, 115.0, None],
        "status": ["constructed", "measured", "estimated"],
    }
)
FRONTIER = pl.DataFrame({"x": [0.05, 0.5, 30.0], "y": [92.0, 121.0, 134.0]})
AXIS = pl.DataFrame(
    {
        "kind": ["model", "model", "benchmark", "people"],
        "name": ["Opus 4.8", "GPT Sol", "Hard test", "average adult"],
        "provider": ["Anthropic", "OpenAI", None, None],
        "subject": ["opus", "sol", None, None],
        "value": [2.1, 2.1, 1.0, 0.0],
        "low": [1.9, 2.0, None, -0.1],
        "high": [2.3, 2.2, None, 0.1],
        "label": [True, True, True, True],
    }
)
RANGES = pl.DataFrame({"benchmark": ["a", "b"], "name": ["A", "B"], "low": [0.1, 1.0], "peak": [0.5, 1.4]})
RANGES = RANGES.with_columns(high=pl.col("peak") + 1)
CELLS = models(*SUBJECT, benchmark=["A", "B", "A", "B", "A"], residual=[0.1, -0.2, None, 0.05, 0.0])
OUTCOMES = pl.DataFrame({"subject": ["m", "m", "n", "n"], "dimension": ["AS", "KN", "AS", "KN"], "level": [1, 2, 1, 2]})
OUTCOMES = OUTCOMES.with_columns(rate=pl.Series([0.9, 0.5, 0.4, 0.1]), low=pl.lit(0.05), high=pl.lit(0.95))
WATCHED = pl.DataFrame({"date": DAYS[:3], "statistic": [0.5, 2.5, -0.2], "boundary": [2.0, 2.0, 2.0]})

WORLD = pl.DataFrame(
    {
        "item": ["a", "b", "c"],
        "observed": [0.2, 0.6, 0.9],
        "world": [0.15, 0.3, 0.5],
        "low": [0.1, 0.2, None],
        "high": [0.2, 0.4, None],
        "dimension": ["QLq", "KNs", "several"],
    }
)

# name → (function, tables, settings, names whose marks must be drawn)
ANNOTATED = pl.DataFrame(
    {"dimension": ["KN", "KN", "KN", "VO"], "level": [1.0, 1, 2, 1], "empirical": [0.8, 1.0, 1.4, 0.9]}
)
LEVEL_MEANS = pl.DataFrame({"dimension": ["KN", "KN", "VO"], "level": [1.0, 2, 1], "empirical": [0.9, 1.4, 0.9]})
LEVEL_LINES = pl.DataFrame(
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

AMONG = pl.DataFrame(
    {
        "subject": ["model", "pupils & co", "model", "pupils & co"],
        "dimension": ["Attention", "Attention", "Volume", "Volume"],
        "one_in": [120.0, 3.0, None, None],
        "low": [30.0, 2.0, None, None],
        "high": [5e7, 5.0, None, None],
        "kind": ["AI", "people", "AI", "people"],
        "note": ["", "extrapolated", "no line", "no line"],
    }
)
ALIGNED = pl.DataFrame(
    {
        "group": ["country=USA", "country=IRL", "country=SGP", "country=MAR"],
        "pearson": [0.6, 0.58, 0.0, 0.04],
        "mae": [0.13, 0.14, 0.16, 0.14],
        "cluster": [1, 1, 2, 2],
        "cluster_pearson": [0.59, 0.59, 0.02, 0.02],
        "cluster_mae": [0.135, 0.135, 0.15, 0.15],
    }
)

ITEM_MAP = pl.DataFrame(
    {
        "name": ["q1", "q<2>", "Opus 4.8", "pupils"],
        "kind": ["items", "items", "models", "people"],
        "value": [-1.0, 1.5, 2.0, 0.0],
        "low": [-1.2, 1.2, 1.7, None],
        "high": [-0.8, 1.8, 2.3, None],
    }
)
INFORMED = pl.DataFrame({"ability": [-2.0, 0.0, 2.0], "information": [2.0, 9.0, 4.0], "error": [1.16, 0.55, 0.82]})
ITEM_CURVE = pl.DataFrame({"ability": [-2.0, -1.0, 0.0, 1.0, 2.0], "rate": [0.12, 0.27, 0.5, 0.73, 0.88]})
OBSERVED_RATES = pl.DataFrame(
    {"ability": [-1.0, 1.0], "rate": [0.3, 0.7], "low": [0.2, None], "high": [0.4, None], "n": [100, 80]}
)
DIFFERENCES = pl.DataFrame(
    {
        "item": ["q1", "q2", "it's q3"],
        "difference": [0.1, -1.2, 0.4],
        "low": [-0.2, -1.6, 0.0],
        "high": [0.4, -0.8, 0.8],
        "flagged": [False, True, False],
    }
)

PICTURES = {
    "item_map": (charts.item_map, (ITEM_MAP,), {}),
    "information_curve": (charts.information_curve, (INFORMED,), {}),
    "item_characteristic": (charts.item_characteristic, (ITEM_CURVE, OBSERVED_RATES), {}),
    "item_differences": (charts.item_differences, (DIFFERENCES,), {}),
    "timeline": (
        charts.timeline,
        (TIMED,),
        {"y_title": "IQ", "lines": LINES, "forecast": FORECAST, "levels": LEVELS, "today": dt.date(2026, 7, 15)},
    ),
    "scatter": (
        charts.scatter,
        (PLACED,),
        {"x_title": "USD", "y_title": "IQ", "log_x": True, "reverse_x": True, "frontier": FRONTIER, "diagonal": True},
    ),
    "bars": (charts.bars, (BARS,), {"x_title": "percent", "references": PEOPLE}),
    "one_axis": (charts.one_axis, (AXIS,), {}),
    "sensors": (charts.sensors, (RANGES, models(*SUBJECT, value=VALUES)), {}),
    "heatmap": (charts.heatmap, (CELLS,), {}),
    "level_curves": (charts.level_curves, (OUTCOMES,), {}),
    "watch": (charts.watch, (WATCHED,), {}),
    "world_scatter": (charts.world_scatter, (WORLD,), {}),
    "level_panels": (charts.level_panels, (ANNOTATED, LEVEL_MEANS, LEVEL_LINES), {}),
    "calibration_stages": (charts.calibration_stages, (STAGES,), {}),
    "among_people": (charts.among_people, (AMONG,), {}),
    "alignment_clusters": (charts.alignment_clusters, (ALIGNED,), {}),
}
WITH_STATUS = ["timeline", "scatter", "bars"]


def build(name, **changes):
    function, tables, settings = PICTURES[name]
    return function(*tables, **{**settings, **changes})


def svg_of(chart, width=900):
    return svg_from(charts.web_spec(chart), width)


def svg_from(spec, width=900):
    sized = spec if "facet" in spec else {**spec, "width": width}
    return vl_convert.vegalite_to_svg(sized, vl_version=VERSION)


class Drawn(NamedTuple):
    """A picture: its chart, its drawing, the specification for pages, and its tables as they were before."""

    chart: alt.TopLevelMixin
    svg: str
    spec: dict
    tables: list[pl.DataFrame]


@pytest.fixture(scope="module")
def drawn():
    """Every picture, made once."""

    def make(name):
        tables = [table.clone() for table in PICTURES[name][1]]
        chart = build(name)
        spec = charts.web_spec(chart)
        return Drawn(chart, svg_from(spec), spec, tables)

    return {name: make(name) for name in PICTURES}


@pytest.mark.parametrize("name", PICTURES)
def test_is_valid_vega_lite(name, drawn):
    spec = drawn[name].chart.to_dict(validate=True)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec


@pytest.mark.parametrize("name", PICTURES)
def test_looks_as_it_did_when_last_looked_at(name, drawn):
    """Sizes, colours and places were judged by eye; ``APPROVE=1 pytest tests/charts`` takes over what is drawn now."""
    spec = {key: part for key, part in drawn[name].spec.items() if key not in ("$schema", "config")}
    file = APPROVED / f"{name}.json"
    if os.environ.get("APPROVE"):
        file.write_text(
            json.dumps(rounded(spec), indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
        )
    assert rounded(spec) == json.loads(file.read_text(encoding="utf-8"))


def rounded(value):
    """Numbers to five digits: the last ones differ between machines."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


OWN_ROWS = ("level_panels", "calibration_stages", "among_people")
"""Pictures that draw several marks for a row or none; tested in test_calibration_charts.py, test_ability_charts.py."""


@pytest.mark.parametrize("name", [name for name in PICTURES if name not in OWN_ROWS])
def test_draws_every_point(name, drawn):
    svg, rows = drawn[name].svg, drawn[name].spec["datasets"]["points"]
    known = [table for table in PICTURES[name][1] if "name" in table.columns or table.height == len(rows)]
    expected = known[-1].drop_nulls("residual") if name == "heatmap" else known[-1]
    assert len(rows) == expected.height
    for row in rows:
        said = row["aria"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert f'aria-label="{said}"' in svg, said


@pytest.mark.parametrize("name", PICTURES)
def test_says_what_it_shows(name, drawn):
    description = drawn[name].spec["description"]
    assert len(description) > 40
    assert description.endswith(".")
    assert "None" not in description
    assert "nan" not in description


@pytest.mark.parametrize("name", PICTURES)
def test_marks_of_models_carry_who_they_are(name, drawn):
    rows = drawn[name].spec["datasets"]["points"]
    _, tables, _ = PICTURES[name]
    if any("provider" in table.columns for table in tables):
        assert all({"subject", "name", "provider"} <= row.keys() for row in rows)


@pytest.mark.parametrize("name", PICTURES)
def test_opens_nothing_on_hover(name, drawn):
    svg, spec = drawn[name].svg, json.dumps(drawn[name].spec)
    assert '"tooltip": null' in spec
    assert not re.search(r'"tooltip": (?!null)', spec)
    assert "<title>" not in svg


@pytest.mark.parametrize("name", WITH_STATUS)
def test_estimates_look_different(name, drawn):
    """The mark of an estimate is nearly hollow, a measured one full, and the chart says which is which."""
    svg = drawn[name].svg
    marks = re.findall(r'<path aria-label="([^"]*)"[^>]*?(?:fill-opacity="([\d.]+)")[^>]*>', svg)
    measured = {float(opacity) for label, opacity in marks if ", measured" in label}
    estimated = {float(opacity) for label, opacity in marks if ", estimated" in label}
    assert measured == {0.95}
    assert estimated == {0.18}
    assert ": estimated</text>" in svg


@pytest.mark.parametrize("name", WITH_STATUS)
def test_note_on_estimates_only_where_there_are_some(name):
    function, tables, settings = PICTURES[name]
    measured = tables[-1].with_columns(status=pl.lit("measured"))
    assert ": estimated</text>" not in svg_of(function(*tables[:-1], measured, **settings))


@pytest.mark.parametrize("name", PICTURES)
def test_empty_table_says_that_there_is_nothing(name):
    function, tables, settings = PICTURES[name]
    chart = function(*(table.clear() for table in tables), **settings)
    spec = charts.web_spec(chart)
    assert spec["description"].startswith("nothing to show: ")
    assert "nothing to show: SAID" in sentence_drawn(json.dumps(spec).replace(spec["description"][17:], "SAID"))


@cache
def sentence_drawn(spec):
    """The drawing of a sentence instead of a picture: all of them are alike but for their words."""
    return svg_from(json.loads(spec))


@pytest.mark.parametrize("name", PICTURES)
def test_one_row_is_enough(name):
    function, tables, settings = PICTURES[name]
    single = {key: value for key, value in settings.items() if isinstance(value, str | bool)}
    chart = function(*(table.head(1) for table in tables), **single)
    chart.to_dict(validate=True)
    assert 'role="graphics-symbol"' in svg_of(chart, width=360)


@pytest.mark.parametrize("name", PICTURES)
def test_missing_column_is_named(name):
    function, tables, settings = PICTURES[name]
    first = tables[0].columns[-1]
    with pytest.raises(MensuraError, match=f"missing column '{first}'"):
        function(tables[0].drop(first), *tables[1:], **settings)


def test_unknown_status_and_kind_are_refused():
    with pytest.raises(MensuraError, match="status 'guess' is unknown; expected 'measured' or 'estimated'"):
        charts.scatter(PLACED.with_columns(status=pl.lit("guess")), x_title="USD", y_title="IQ")
    with pytest.raises(MensuraError, match="kind 'thing' is unknown; expected 'model', 'benchmark', 'people'"):
        charts.one_axis(AXIS.with_columns(kind=pl.lit("thing")))


def test_logarithmic_axis_leaves_out_what_it_cannot_show():
    chart = charts.scatter(PLACED.with_columns(x=pl.col("x") - 0.5), x_title="USD", y_title="IQ", log_x=True)
    assert len(charts.web_spec(chart)["datasets"]["points"]) == 3


def test_people_stand_in_the_bars_and_say_how_they_are_known(drawn):
    svg = drawn["bars"].svg
    assert 'aria-label="experts, 110, 105 to 115, measured"' in svg
    assert 'aria-label="guessing, 25, constructed"' in svg
    assert svg.count('stroke-dasharray="4,3"') == 1


def test_bars_start_at_zero_and_dots_do_not(drawn):
    def low_end(chart):
        layers = charts.web_spec(chart)["layer"]
        return min(d["scale"]["domain"][0] for layer in layers if "scale" in (d := layer["encoding"].get("x", {})))

    assert low_end(drawn["bars"].chart) == 0
    assert low_end(build("bars", zero=False, references=None)) > 50
    assert low_end(build("bars", log=True, references=None)) > 50


def test_crowded_human_lines_stay_and_the_first_are_named():
    crowd = pl.DataFrame({"label": [f"group {i}" for i in range(30)], "value": [100 + i / 10 for i in range(30)]})
    crowd = crowd.with_columns(low=pl.col("value") - 1, high=pl.col("value") + 1)
    rows = charts.web_spec(build("timeline", levels=crowd))["datasets"]["levels"]
    assert len(rows) == 30
    assert rows[0]["named"]
    assert 1 <= sum(row["named"] for row in rows) <= 4


def test_same_tables_give_the_same_picture(drawn):
    for name, made in drawn.items():
        assert charts.web_spec(build(name)) == made.spec


def test_input_tables_are_left_as_they_were(drawn):
    for name, made in drawn.items():
        assert all(a.equals(b) for a, b in zip(made.tables, PICTURES[name][1], strict=True))


def test_every_picture_is_listed_tested_and_documented():
    helpers = {"LABS", "THEMES", "drawn", "paper", "save", "web_spec"}
    ours = set(
        re.findall(
            r"^from mensura.charts.(?:bell|canvas|estimates|forest|human_ladder|ladders|share_card) import (.*)",
            (Path(charts.__file__)).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    drawings = {name.strip() for names in ours for name in names.split(",")}
    assert set(charts.__all__) - helpers - drawings == set(PICTURES)
    page = FIGURES.read_text(encoding="utf-8")
    assert [name for name in charts.__all__ if f"`{name}" not in page and f"charts.{name}" not in page] == []
    for name, (_, tables, _) in PICTURES.items():
        section = page.split(f"### `{name}`")[1].split("###")[0]
        wanted = {column for table in tables for column in table.columns}
        assert [column for column in sorted(wanted) if f"`{column}`" not in section] == [], name
