"""What every method predicts on one small pool, digit by digit, so that no constant of a method changes unnoticed.

The scripts in benchmarks/ measure coverage and errors of the methods that give these numbers. A change of a method that
is meant changes them too: write down the new ones, and say in the commit what became better.
"""

from collections import defaultdict

import numpy as np
import pytest

from benchmarks.simulated_model import ErrorShape, SimulatedModel
from mensura.extrapolation import Extrapolation, cases_of, make_method
from mensura.extrapolation.scoring import trials_of

PREDICTED = {
    ("described", "described"): (
        (0.3316, 0.6674, 0.5777, 0.3954),
        (0.1560, 0.4525, 0.3600, 0.2022),
        (0.5560, 0.8108, 0.7487, 0.6106),
    ),
    ("described", "poststratification"): (
        (0.2165, 0.6796, 0.5470, 0.2913),
        (0.1234, 0.4768, 0.3756, 0.1457),
        (0.4011, 0.8490, 0.7201, 0.4891),
    ),
    ("described", "whole-pool"): (
        (0.5237, 0.4166, 0.3943, 0.3006),
        (0.4182, 0.3276, 0.3071, 0.2202),
        (0.6271, 0.5113, 0.4887, 0.3955),
    ),
    ("described", "item-by-item"): (
        (0.5719, 0.4103, 0.3978, 0.3172),
        (0.2965, 0.1800, 0.1725, 0.1278),
        (0.8090, 0.6880, 0.6768, 0.5956),
    ),
    ("linked", "linked"): (
        (0.2977, 0.6443, 0.5494, 0.3613),
        (0.1626, 0.4721, 0.3771, 0.2117),
        (0.4744, 0.7739, 0.6991, 0.5358),
    ),
    ("linked", "whole-pool"): (
        (0.4917, 0.4228, 0.3936, 0.2909),
        (0.3916, 0.3335, 0.3070, 0.2132),
        (0.5924, 0.5175, 0.4874, 0.3831),
    ),
    ("slices", "hierarchical"): (
        (0.2953, 0.7066, 0.6297, 0.3744),
        (0.2015, 0.6152, 0.5286, 0.2709),
        (0.4080, 0.7774, 0.7134, 0.4870),
    ),
    ("slices", "linked"): (
        (0.3165, 0.6883, 0.5913, 0.3878),
        (0.1844, 0.5428, 0.4360, 0.2427),
        (0.4800, 0.7922, 0.7181, 0.5473),
    ),
    ("slices", "whole-pool"): (
        (0.4542, 0.4953, 0.4448, 0.3086),
        (0.3592, 0.4019, 0.3540, 0.2283),
        (0.5526, 0.5890, 0.5394, 0.4023),
    ),
}
"""Rates, lower and upper ends of every fourth item, by situation and method."""

ACCOUNTS = {
    "described": (
        ("item-by-group interaction", 0.0, -0.8217, 0.8217, 0.3465, 0.6456, 0.2991, 0.6227),
        ("shift", 1.2956, 0.6672, 1.9241, 0.3813, 0.6141, 0.2328, 0.3771),
        ("slope", 0.6205, 0.4494, 0.7917, 0.5021, 0.4977, 0.0044, 0.0001),
    ),
    "poststratification": (
        ("item_by_country", 0.35, 0.2, 0.5, 0.3029, 0.5925, 0.2897, 0.6443),
        ("country_score", 0.28, 0.15, 0.38, 0.3496, 0.5423, 0.1927, 0.2754),
        ("sampling of the focal rate", None, None, None, 0.4042, 0.4799, 0.0758, 0.0440),
    ),
    "whole-pool": (
        ("error of an item", 0.0, -0.3833, 0.3833, 0.3081, 0.4827, 0.1747, 0.9260),
        ("shift of the group", 0.0, -0.0918, 0.0918, 0.3708, 0.4131, 0.0423, 0.0544),
        ("part of the shift that is real", 0.9222, 0.8449, 0.9995, 0.3793, 0.4047, 0.0254, 0.0196),
    ),
    "hierarchical": (
        ("item-by-group interaction", 0.0, -0.4615, 0.4615, 0.4253, 0.5883, 0.1630, 0.9057),
        ("shift", 1.3230, 1.1757, 1.4703, 0.4818, 0.5344, 0.0526, 0.0942),
        ("slope", 0.8158, 0.7693, 0.8623, 0.5090, 0.5074, 0.0016, 0.0001),
    ),
}
"""Largest sources of uncertainty: assumption, value, low, high, rate at low and high, swing, share."""


@pytest.fixture(scope="module")
def cases(new_pool):
    return cases_of(new_pool(seed=5, items=15))


def predicted(cases, situation, name):
    asker = SimulatedModel(defaultdict(lambda: 0.4), ErrorShape(item=0.1))
    settings = {"poststratification": {"draws": 60}, "whole-pool": {"asker": asker}}
    settings["item-by-item"] = {"asker": asker, "variants": 3}
    method = make_method(name, **settings.get(name, {}))
    trial = trials_of(situation, cases, links=4, draws=3, rng=np.random.default_rng(1))[0]
    posed = trial.tasks[0]
    return posed, method, method.predict(posed)


@pytest.mark.parametrize(("situation", "name"), PREDICTED)
def test_rates_and_intervals(cases, situation, name):
    _, _, found = predicted(cases, situation, name)
    for part, expected in zip((found.rate, found.low, found.high), PREDICTED[situation, name], strict=True):
        assert part[0, ::4] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("name", ACCOUNTS)
def test_what_a_result_hangs_on(cases, name):
    posed, method, found = predicted(cases, "slices" if name == "hierarchical" else "described", name)
    whole = Extrapolation.of(posed, method, found)
    columns = ["assumption", "value", "low", "high", "rate_low", "rate_high", "swing", "share"]
    rows = whole.sensitivity.head(3).select(columns).rows()
    assert [row[0] for row in rows] == [row[0] for row in ACCOUNTS[name]]
    for row, expected in zip(rows, ACCOUNTS[name], strict=True):
        assert row[1:] == pytest.approx(expected[1:], abs=2e-4)


def test_a_result_has_given_rates_as_measured_and_names_its_settings(cases):
    posed, method, found = predicted(cases, "linked", "linked")
    whole = Extrapolation.of(posed, method, found)
    assert whole.table.columns == ["item", "rate", "low", "high", "status", "method"]
    assert dict(whole.table["status"].value_counts().iter_rows()) == {"measured": 4, "extrapolated": 11}
    given = whole.table.filter(status="measured")
    links = posed.links[0][posed.known[0]]
    for name in ("rate", "low", "high"):
        assert given[name].to_list() == pytest.approx(links.tolist())
    assert set(whole.table["method"]) == {"linked"}
    assert whole.settings["links"] == 4 and whole.level == 0.9
    assert (whole.focal, whole.reference) == (posed.focal, posed.reference)
    assert whole.heading.startswith(
        "linked: 15 items, country=CHL → timss2011_g8_sim, 90% intervals (prior or posterior of shift, slope and "
    )
    assert whole.shown.columns == whole.table.columns[:-1]
    assert list(whole.tables()) == ["rates", "sensitivity"]


def test_questions_to_a_language_model_are_counted_item_by_item(cases):
    posed, method, found = predicted(cases, "described", "item-by-item")
    whole = Extrapolation.of(posed, method, found)
    assert set(whole.table["calls"]) == {3}
    assert whole.table.columns == ["item", "rate", "low", "high", "calls", "status", "method"]
    account = whole.sensitivity.row(0, named=True)
    assert account["assumption"] == "error of an item" and account["share"] == pytest.approx(1)
    assert account["high"] == pytest.approx(1.1536, abs=2e-4)
    assert "hangs most on: error of an item, shift of the group, part of the shift that is real" in whole.heading


def test_breakdowns_of_post_stratification_by_age_and_region(cases):
    posed, method, _ = predicted(cases, "described", "poststratification")
    ages = {row[0]: row[1:] for row in method.breakdown(posed, by="age").rows()}
    assert ages == {
        "15–24": pytest.approx((0.1472, 0.5732, 0.4712, 0.6943), abs=2e-4),
        "25–44": pytest.approx((0.3295, 0.5027, 0.3908, 0.6201), abs=2e-4),
        "45–64": pytest.approx((0.3183, 0.4237, 0.3285, 0.5350), abs=2e-4),
        "65+": pytest.approx((0.2050, 0.2824, 0.2070, 0.3758), abs=2e-4),
    }
    regions = method.breakdown(posed)
    assert regions.columns == ["region", "share", "rate", "low", "high"]
    assert regions.row(0) == ("Asia", *(pytest.approx(value, abs=2e-4) for value in (1 / 3, 0.4720, 0.3688, 0.5832)))
