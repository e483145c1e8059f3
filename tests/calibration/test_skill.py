"""Which demands order items as people do, in pools that nothing was learned from."""

import numpy as np
import polars as pl
import pytest

from mensura.calibration import calibrate, chosen_lines, open_demands, open_items, quality_of, read_items, say_quality
from mensura.calibration.skill import compare_predictors, judge_rulers, largest_demand, predict_by_lines
from mensura.core.errors import MensuraError
from mensura.scale import Calibration, LevelLine

DIMENSIONS = ("AS", "KNs", "MCt")


def tables(decides, pools=4, size=40, seed=1, annotators=("one", "two")):
    """Pools whose rates fall with ``decides`` of the levels (items × dimensions), read twice."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 5, (pools * size, len(DIMENSIONS)))
    depth = 0.3 + 0.3 * decides(levels) + 0.02 * rng.standard_normal(len(levels))
    names = [f"p{k // size}:{k}" for k in range(len(levels))]
    rates = pl.DataFrame({"item": names, "rate": np.clip(10.0**-depth, 0.001, 0.99), "n": 500})
    wide = pl.DataFrame(dict(zip(DIMENSIONS, levels.T, strict=True))).with_columns(item=pl.Series(names))
    return rates, pl.concat([wide.with_columns(annotator=pl.lit(name)) for name in annotators])


def skills(items, **told):
    return dict(compare_predictors(items, told).select("predictor", "by_pools").iter_rows())


def test_where_the_hardest_demand_decides_the_largest_demand_predicts_best():
    rates, demands = tables(lambda levels: levels.max(axis=1))
    found = skills(read_items(rates, demands))
    assert found["largest demand"] > 0.85 > found["every demand"] > 0.3
    made = calibrate(rates, demands, method="chosen", draws=50)
    assert made.method == "largest"
    assert made.together["base"][0] == pytest.approx(10**0.3, rel=0.1)
    assert "by the largest demand" in made.warnings[-1]
    assert not made.rulers["ruler"].any(), "single dimensions are no better than the largest demand"


def test_where_one_dimension_decides_it_alone_is_a_ruler():
    rates, demands = tables(lambda levels: levels[:, 1])
    made = calibrate(rates, demands, method="chosen", draws=50)
    assert made.method == "hierarchical"
    assert made.rulers.filter("ruler")["dimension"].to_list() == ["KNs"]


def test_a_dimension_that_turns_round_in_other_pools_has_no_skill():
    """Within each pool it orders perfectly; what the other pools teach has the wrong sign."""
    rates, demands = tables(lambda levels: levels[:, 0])
    turned = rates.with_columns(
        rate=pl.when(pl.col("item").str.contains("p0|p1")).then(1 - pl.col("rate")).otherwise("rate")
    )
    row = judge_rulers(read_items(turned, demands)).filter(dimension="AS").row(0, named=True)
    assert row["skill"] < 0 and row["ruler"] is False


def test_constant_has_no_skill_and_predictions_elsewhere_are_compared_as_given():
    items = read_items(*tables(lambda levels: levels.sum(axis=1)))
    found = skills(items, right=items.observed, wrong=-items.observed, silent=np.full(items.size, np.nan))
    assert (found["constant"], found["right"], found["wrong"], found["silent"]) == (0.0, pytest.approx(1), -1, None)


def test_two_pools_cannot_say_what_predicts():
    items = read_items(*tables(lambda levels: levels[:, 0], pools=2))
    assert judge_rulers(items)["ruler"].null_count() == len(DIMENSIONS)
    with pytest.raises(MensuraError, match="pools: got 2; expected 3 or more"):
        compare_predictors(items)


def test_the_largest_demand_has_no_groups():
    rates, demands = tables(lambda levels: levels[:, 0])
    with pytest.raises(MensuraError, match="leave --groups out"):
        calibrate(rates, demands, method="largest", groups=True)
    assert largest_demand(read_items(rates, demands)).dimensions == ("largest",)


@pytest.mark.parametrize(("names", "asked"), [(("m-run-1", "m-run-2"), True), (("one", "two"), False)])
def test_runs_of_one_annotator_share_errors_and_the_user_is_asked_for_another(names, asked):
    rates, demands = tables(lambda levels: levels[:, 0], annotators=names)
    assert any("independent annotator" in text for text in read_items(rates, demands).warnings) is asked


def test_lines_predict_by_the_rarest_demand():
    items = read_items(*tables(lambda levels: levels.max(axis=1)))
    lines = Calibration((LevelLine("a", 0.3, 0.5, "AS"), LevelLine("k", 0.6, 0.5, "KNs")))
    found = predict_by_lines(items, lines)
    a, k = (items.levels[:, items.dimensions.index(code)] for code in ("AS", "KNs"))
    expected = np.minimum(10 ** (-0.3 * a), 10 ** (-0.6 * k))
    asked = (a > 0) | (k > 0)
    assert found[asked] == pytest.approx(expected[asked])
    assert np.isnan(found[~asked]).all()


def test_each_calibration_states_how_well_it_predicts_people():
    """The published bases differ most, and order the open items worst."""
    published, own = (quality_of(chosen_lines(name)) for name in ("published", "open"))
    assert published["dimension"].len() == 9 and published["r2"].null_count() == 0
    assert 0 < published["by_pools"][0] < own["by_pools"][0] < 0.6


def test_a_calibration_says_its_name_and_its_skill_on_pools_left_out():
    published, own = (say_quality(chosen_lines(name)) for name in ("published", "open"))
    assert published == (
        "Published calibration: 9 lines, median R² 0.65. Its rank correlation with people's success on pools left out "
        "is 0.22; that of the largest demand alone is 0.47."
    )
    assert own.startswith("Open calibration: 5 lines, median R² 0.01. ")
    assert "on pools left out is 0.4;" in own  # 0.40 on the pools that it was fitted on
    given = say_quality(Calibration((LevelLine("v", 0.5, 0.5, "VO"),)))
    assert given.startswith("Given calibration: 1 lines. ") and "on the open items is" in given


@pytest.mark.slow
def test_the_open_items_show_what_the_documents_say():
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    found = skills(items)
    assert found["largest demand"] == pytest.approx(0.467, abs=0.002)
    assert found["every demand"] < found["largest demand"]
    assert judge_rulers(items).filter("ruler").is_empty()
