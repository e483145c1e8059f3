"""Tables that come with the package: compute, time horizons and the published fit, all usable offline."""

import json

import numpy as np
import polars as pl
import pytest

from mensura import load
from mensura.trends import (
    find_break,
    find_frontier,
    load_compute,
    load_horizons,
    load_published,
    measure_progress,
    relate_horizons,
)


@pytest.mark.parametrize("table", [load_compute(), load_horizons()])
def test_every_row_belongs_to_a_known_model_and_names_its_source(table):
    known = {*load().models["subject"], *load_published().models["subject"]}
    assert set(table["subject"]) <= known
    assert table["subject"].is_unique().all()
    assert table["source"].null_count() == 0


def test_the_published_gain_per_unit_of_compute_comes_out_of_the_embedded_tables():
    """METHODS of the paper: k is 0.176, 0.205 and 0.124 in the three LLaMA families, 0.168 in the mean."""
    found = measure_progress(load_published().models, load_compute())
    assert found.families["k"].to_list() == pytest.approx([0.176, 0.205, 0.124], abs=0.001)
    assert found.estimates["factor"][0] == pytest.approx(6, abs=1)


def test_k_falls_with_scale_and_not_with_the_date():
    table = measure_progress(load_published().models, load_compute()).constancy
    scale, year = table.to_dicts()
    assert scale["high"] < 0 < scale["k"]
    assert year["low"] < 0 < year["high"]


def test_the_line_of_a_break_meets_its_slopes():
    models = load_published().models
    frontier, bend = find_frontier(models), find_break(models)
    path = bend.path(frontier["released"])
    first, middle, last = path["value"].to_list()
    days = path["released"].cast(pl.Int32).to_numpy() / 365.25
    assert (middle - first) / (days[1] - days[0]) == pytest.approx(bend.before, rel=0.01)
    assert (last - middle) / (days[2] - days[1]) == pytest.approx(bend.after, rel=0.01)
    assert np.abs(path["value"].to_numpy()).max() < 4


def test_horizons_follow_capability():
    related = relate_horizons(load_published().models, load_horizons())
    assert related.checks["r_squared"][0] > 0.9


@pytest.mark.slow
def test_the_command_takes_the_word_embedded(mensura_command):
    run = mensura_command("trends", "--no-watch", "--compute", "embedded", "--json")
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    assert [row["over"] for row in answer["constancy"]] == ["scale", "date"]
    assert answer["compute"] == "models of the published fit, in its unit"
    main = answer["progress"][0]
    assert (main["analysis"], main["selection"]) == ("families", "all")
    assert 1 < main["low"] < main["factor"] < main["high"] < 50
    refused = mensura_command("trends", "--compute", "embeded")
    assert (refused.code, "no such file" in refused.err) == (2, True)
