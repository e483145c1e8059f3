"""Abilities among people, and countries by alignment: what the marks stand for."""

import polars as pl
import pytest

from mensura import charts
from mensura.core.errors import MensuraError
from tests.charts.test_pictures import ALIGNED, AMONG, svg_of


def data(chart, name):
    return charts.web_spec(chart)["datasets"][name]


def test_only_placed_subjects_are_drawn_and_the_rest_is_said():
    chart = charts.among_people(AMONG)
    assert [row["subject"] for row in data(chart, "points")] == ["model", "pupils & co"]
    assert [row["dimension"] for row in data(chart, "absent")] == ["Volume"]
    svg = svg_of(chart)
    assert "nobody placed" in svg
    assert "Volume" in svg


def test_a_mark_says_its_own_interval_even_where_the_picture_ends():
    first = data(charts.among_people(AMONG), "points")[0]
    assert first["aria"] == "model, Attention: 1 in 120 people, 30 to 50,000,000"
    assert first["high"] == 1e6


def test_people_are_hollow_and_systems_full():
    svg = svg_of(charts.among_people(AMONG))
    marks = [part for part in svg.split("<path ") if 'aria-roledescription="point"' in part]
    opacity = {
        part.split('aria-label="')[1].split(",")[0]: part.split('fill-opacity="')[1].split('"')[0] for part in marks
    }
    assert opacity == {"model": "0.95", "pupils &amp; co": "0.15"}


def test_too_many_subjects_are_refused():
    table = pl.concat([AMONG.head(1).with_columns(subject=pl.lit(f"s{k}")) for k in range(20)])
    with pytest.raises(MensuraError, match="20 subjects"):
        charts.among_people(table)


def test_nobody_placed_says_so():
    assert "nothing to show" in charts.among_people(AMONG.tail(2)).description


def test_clusters_have_one_mean_each():
    chart = charts.alignment_clusters(ALIGNED)
    assert [(row["alignment"], row["pearson"], row["mae"]) for row in data(chart, "means")] == [
        ("higher alignment", 0.59, 0.135),
        ("lower alignment", 0.02, 0.15),
    ]
    assert "2 groups of lower alignment with mean r 0.02 and error 0.15" in chart.description
    assert ">SGP<" in svg_of(chart)
