"""Estimates with intervals, drawn as rows: what stands where, in what order, and what is said."""

import re

import polars as pl
import pytest

from mensura import MensuraError, charts

BASES = pl.DataFrame(
    {"dimension": ["KN", "VO"], "name": ["Knowledge", "Metacognition and Critical Thinking"], "base": [6.7, 31.95]}
)
REGIONS = pl.DataFrame({"region": ["Europe", "Asia"], "rate": [0.6, 0.4], "low": [0.5, 0.3], "high": [0.7, 0.5]})
DRIVERS = pl.DataFrame(
    {"driver": ["age", "schooling"], "effect": [3.0, -12.0], "low": [1.0, -15.0], "high": [5.0, -9.0]}
)
PROGRESS = pl.DataFrame({"label": ["ours", "theirs"], "value": [3.0, 8.0], "low": [2.0, 4.0], "high": [5.0, 20.0]})


def rows_of(drawing):
    """What a screen reader says of each row, from the top, and where its mark stands."""
    found = re.findall(r'translate\(([\d.]+),([\d.]+)\)" role="img" aria-label="([^"]+)"', str(drawing.wide))
    return [(float(x), said) for x, _, said in sorted(found, key=lambda one: float(one[1]))]


def rule_of(drawing):
    """Where the dashed line stands."""
    return [float(x) for x in re.findall(r'<line x1="([\d.]+)"[^>]*stroke-dasharray="4 3"', str(drawing.wide))]


def test_bases_fall_from_the_largest_and_are_printed_as_calibrations_print_them():
    assert [said for _, said in rows_of(charts.bases(BASES))] == [
        "Metacognition and Critical Thinking: 31.95, estimated",
        "Knowledge: 6.70, estimated",
    ]


def test_the_line_stands_at_what_the_numbers_are_measured_against():
    """Bases at the design value 10, drivers at no change, progress at the same compute; regions have none."""
    (high, _), (low, _) = rows_of(charts.bases(BASES))
    [ten] = rule_of(charts.bases(BASES))
    assert low < ten < high
    (schooling, _), (age, _) = rows_of(charts.drivers(DRIVERS))
    [zero] = rule_of(charts.drivers(DRIVERS))
    assert schooling < zero < age
    [same] = rule_of(charts.progress(PROGRESS))
    assert same < min(x for x, _ in rows_of(charts.progress(PROGRESS)))
    assert rule_of(charts.regions(REGIONS)) == []


def test_a_logarithmic_axis_gives_equal_room_to_equal_factors():
    table = pl.DataFrame({"label": ["a", "b", "c"], "value": [1.0, 10.0, 100.0], "low": [None] * 3, "high": [None] * 3})
    a, b, c = (x for x, _ in rows_of(charts.progress(table)))
    assert b - a == pytest.approx(c - b, abs=0.11)


def test_rates_are_said_in_percent_with_their_interval():
    assert [said for _, said in rows_of(charts.regions(REGIONS))] == [
        "Europe: 60%, 50% to 70%, estimated",
        "Asia: 40%, 30% to 50%, estimated",
    ]


def test_the_largest_driver_comes_first_whatever_its_sign():
    assert [said.split(":")[0] for _, said in rows_of(charts.drivers(DRIVERS))] == ["schooling", "age"]


def test_an_interval_without_an_end_runs_to_the_edge():
    table = PROGRESS.with_columns(high=pl.Series([float("inf"), 20.0]))
    assert "nan" not in str(charts.progress(table).wide)


def test_an_empty_table_says_why_nothing_is_drawn():
    assert "no region has a rate" in str(charts.regions(REGIONS.clear()).wide)


def test_a_missing_column_is_named():
    with pytest.raises(MensuraError, match="missing column 'high'"):
        charts.regions(REGIONS.drop("high"))


def test_a_drawing_becomes_a_figure_of_the_width_asked_for(tmp_path):
    charts.save(charts.bases(BASES), tmp_path / "b.svg", width_mm=120)
    text = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert re.search(r'width="(119\.\d+|120\.\d+)mm"', text)
    assert "var(--" not in text
    for name in ("b.png", "b.pdf"):
        assert charts.save(charts.bases(BASES), tmp_path / name).stat().st_size > 1000


def test_a_notebook_shows_a_drawing():
    assert charts.bases(BASES)._repr_svg_().startswith("<svg")
