"""Pictures of the human scales: bases, success by demand level, the world behind one item, the open calibration."""

from types import SimpleNamespace

import polars as pl

from mensura.site.pictures import people
from mensura.site.pictures.people import aligned_said, bases, falling_said, largest_said, outcome_rates


def test_drivers_curves_and_clusters_in_words():
    drivers = pl.DataFrame({"driver": ["age", "schooling"], "effect": [3.0, -12.04]})
    assert largest_said(drivers) == "Schooling moves the rate most: −12.0 points"
    rates = pl.DataFrame({"subject": ["a"] * 4 + ["b"] * 2, "dimension": ["x", "x", "y", "y", "x", "x"]}).with_columns(
        level=pl.Series([2, 1, 1, 2, 1, 2]), rate=pl.Series([0.1, 0.9, 0.5, 0.5, 0.2, 0.6])
    )
    assert falling_said(rates) == "From the lowest to the highest level success falls in 1 of 3 curves"
    countries = pl.DataFrame({"cluster": [1, 1, 2], "cluster_mae": [0.123, 0.123, 0.2]})
    assert aligned_said(countries).endswith("told with a mean error of 12.3 points, from 1 with 20.0")


def test_success_rates_of_levels_have_their_interval_and_published_bases_their_ends():
    outcomes = pl.DataFrame(
        {"subject": ["gpt4o"] * 2, "dimension": "KNn", "level": [1, 2], "correct": [90, 10], "n": 100}
    )
    rates = outcome_rates(SimpleNamespace(demand_outcomes=outcomes))
    assert rates["rate"].to_list() == [0.9, 0.1]
    for row in rates.iter_rows(named=True):
        assert 0.03 < row["high"] - row["low"] < 0.15 and row["low"] < row["rate"] < row["high"]
    table = pl.DataFrame({"dimension": ["a", "b", "c"], "name": ["A", "B", "C"], "base": [None, 31.95, None]})
    study = SimpleNamespace(evidence=SimpleNamespace(bases=table.with_columns(slope=pl.Series([0.5, 1.0, None]))))
    figure = bases(study)
    assert figure.finding == "The published bases run from 3.16 to 31.9; the scales were drawn up for 10"
    assert [row["base"] for row in figure.points] == [10**0.5, 31.95, None], "a base is ten to its slope"


def test_the_world_is_below_or_above_those_tested(monkeypatch):
    rows = pl.DataFrame(
        {"item": ["q", "r"], "observed": [0.5, 0.7], "world": [0.4, 0.5], "low": None, "high": None, "dimension": "KNn"}
    )
    monkeypatch.setattr(people, "observed_and_world", lambda: rows)
    said = "The world is estimated 15 points below those tested, averaged over 2 items"
    assert people.observed_world(None).finding == said
    other = rows.with_columns(world=pl.col("observed") + 0.02)
    monkeypatch.setattr(people, "observed_and_world", lambda: other)
    assert "2 points above those tested" in people.observed_world(None).finding


def test_the_example_is_carried_by_region_and_by_what_moves_it():
    regions = pl.DataFrame(
        {"region": ["Asia", "Europe"], "rate": [0.03, 0.1], "low": [0.02, 0.05], "high": [0.05, 0.2]}
    )
    drivers = pl.DataFrame({"driver": ["age", "schooling"], "effect": [-2.0, -12.5], "low": None, "high": None})
    world = SimpleNamespace(observed=0.19, rate=0.0416, low=0.03, high=0.06, regions=regions, drivers=drivers)
    study = SimpleNamespace(world=world)
    assert people.world_regions(study).finding == "What 19% of PISA pupils solve, about 4.2% of all people would"
    assert people.world_regions(study).drawing.wide.index("Europe") < people.world_regions(study).drawing.wide.index(
        "Asia"
    )
    assert people.world_drivers(study).finding == "Schooling moves the rate most: −12.5 points"
    assert [row["driver"] for row in people.world_drivers(study).points] == ["age", "schooling"]


def test_countries_are_drawn_by_error_and_correlation():
    figure = people.country_alignment(None)
    assert all(set(row) == {"mae", "pearson", "cluster", "name"} for row in figure.points) and len(figure.points) > 5
    assert not any("country=" in row["name"] for row in figure.points)
    curves = pl.DataFrame(
        {"subject": ["gpt4o"] * 2 + ["other"], "dimension": "KNn", "level": [1, 2, 1], "correct": 5, "n": 10}
    )
    shown = people.demand_curves(SimpleNamespace(evidence=SimpleNamespace(demand_outcomes=curves)))
    assert {row["subject"] for row in shown.points} == {"GPT-4o"} and shown.finding.endswith("falls in 0 of 1 curves")
    assert "KNn" not in {row["dimension"] for row in shown.points}


def test_dimensions_that_decide_too_few_items_have_no_panel(monkeypatch):
    monkeypatch.setattr(people, "worded", lambda name, drawing, finding: (name, drawing, finding))
    monkeypatch.setattr(people.charts, "level_panels", lambda points, stages, lines: lines, raising=False)
    stages = pl.DataFrame({"dimension": ["KN", "KN", "VO", "AT"], "n": [3, 2, 4, 50]})
    together = pl.DataFrame({"dimension": ["KN", "VO", "AT"], "base": [2.0, 3.0, 4.5], "base_raw": [1.5, 9.0, 2.5]})
    made = SimpleNamespace(
        stages=stages,
        together=together,
        cover=pl.DataFrame({"dimension": ["KN", "VO", "AT"], "name": ["Knowledge", "Volume", "Attention"]}),
        items=SimpleNamespace(dimensions=("AT", "KN", "VO")),
        points=lambda: None,
        raw_lines=lambda: together,
    )
    study = SimpleNamespace(abilities=SimpleNamespace(ours=made, published=made))
    _, lines, finding = people.calibration_levels(study)
    assert lines["dimension"].to_list() == ["KN", "AT"] and lines["name"].to_list() == ["Knowledge", "Attention"]
    assert finding == "World success falls by a factor of 3.0 per level in the median dimension, not by ten"
    *_, published = people.calibration_levels_published(study)
    assert published == "The median base is 3.25 by level means and 2.00 by a regression on the items themselves"
