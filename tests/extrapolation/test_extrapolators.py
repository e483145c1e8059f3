"""The statistical methods behind the one contract."""

import numpy as np
import polars as pl
import pytest

from mensura.errors import MensuraError
from mensura.extrapolation import Extrapolator, extrapolator
from mensura.people import World

ITEMS = pl.DataFrame({"item": ["a", "b", "c", "d"], "domain": ["mathematics"] * 4})
RATES = pl.DataFrame({"item": ["a", "b", "c", "d"], "n": [500] * 4, "rate": [0.2, 0.4, 0.6, 0.8]})
LINKS = pl.DataFrame({"item": ["a", "b"], "rate": [0.1, 0.25], "n": [900, 900]})
world = World.load()
JAPAN, KENYA = world.population("JPN"), world.population("KEN")


@pytest.mark.parametrize("name", ["identity", "described", "linked", "shift", "ensemble"])
def test_every_method_keeps_the_contract(name):
    method = extrapolator(name, links=LINKS)
    assert isinstance(method, Extrapolator)
    result = method.predict(ITEMS, RATES, JAPAN, KENYA)
    assert result.table.columns == ["item", "rate", "low", "high", "status", "method"]
    assert (result.table["low"] <= result.table["rate"]).all()
    assert (result.table["rate"] <= result.table["high"]).all()
    assert result.method == name
    assert set(result.sensitivity["assumption"]) == {"shift", "slope", "item-by-group interaction"}
    assert result.sensitivity["share"].sum() == pytest.approx(1.0)


def test_links_are_measured_not_extrapolated():
    table = extrapolator("linked", links=LINKS).predict(ITEMS, RATES, JAPAN, KENYA).table
    assert table["status"].to_list() == ["measured", "measured", "extrapolated", "extrapolated"]
    assert table["rate"].to_list()[:2] == [0.1, 0.25]
    assert (table["rate"].to_numpy()[2:] < np.array([0.6, 0.8])).all()


def test_links_narrow_what_the_shift_leaves_open():
    tied, free = (
        extrapolator(name, links=links).predict(ITEMS, RATES, JAPAN, KENYA).sensitivity
        for name, links in (("linked", LINKS), ("described", None))
    )
    swing = [table.filter(pl.col("assumption") == "shift")["swing"][0] for table in (tied, free)]
    assert swing[0] < swing[1]


def test_country_scores_move_the_described_rates():
    down = extrapolator("described").predict(ITEMS, RATES, JAPAN, KENYA).table["rate"].mean()
    up = extrapolator("described").predict(ITEMS, RATES, KENYA, JAPAN).table["rate"].mean()
    assert down < 0.5 < up


def test_without_a_fact_a_warning_says_so():
    somewhere = JAPAN.with_(countries=(), name="somewhere")
    result = extrapolator("described").predict(ITEMS, RATES, somewhere, JAPAN)
    assert "no public fact" in result.warnings[0]


def test_a_known_difference_is_applied():
    result = extrapolator("shift", difference=0.0).predict(ITEMS, RATES, JAPAN, KENYA)
    assert result.table["rate"].to_list() == pytest.approx(RATES["rate"].to_list(), abs=1e-3)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("oracle", {}, "unknown method 'oracle'; statistical ones are identity, shift"),
        ("linked", {}, "method 'linked' needs linking items"),
        ("shift", {}, "needs linking items or a known difference"),
    ],
)
def test_what_a_method_needs_is_said(name, settings, message):
    with pytest.raises(MensuraError, match=message):
        extrapolator(name, **settings)


@pytest.mark.parametrize(
    ("links", "message"),
    [({"item": ["z"], "rate": [0.5]}, "item 'z' has no focal rate"), ({"item": ["a"], "rate": [1.5]}, "got 1.5")],
)
def test_bad_links_are_refused(links, message):
    with pytest.raises(MensuraError, match=message):
        extrapolator("linked", links=links).predict(ITEMS, RATES, JAPAN, KENYA)


def test_a_share_outside_its_range_is_refused():
    with pytest.raises(MensuraError, match="share must be at least 0 and below 1"):
        extrapolator("described").predict(ITEMS, RATES.with_columns(share=1.0), JAPAN, KENYA)
