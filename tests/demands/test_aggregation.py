"""One level from several readings: the median, and annotators who err in order."""

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.demands import pool_readings, read_demands
from mensura.demands.views import example_folder


def readings(levels, names):
    """Readings of one dimension from an array raters × items; NaN leaves a cell out."""
    rows = [
        (f"i{item}", "QLl", name, repeat, level)
        for (name, repeat), row in zip(names, levels, strict=True)
        for item, level in enumerate(row)
        if np.isfinite(level)
    ]
    return read_demands(pl.DataFrame(rows, schema=["item", "dimension", "annotator", "repeat", "level"], orient="row"))


def simulate(rng, items, leanings, errors, repeats=1):
    truth = rng.choice(6, size=items, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03])
    rows, names = [], []
    for at, (leaning, error) in enumerate(zip(leanings, errors, strict=True)):
        for repeat in range(repeats):
            rows.append(np.clip(np.round(truth + leaning + error * rng.standard_normal(items)), 0, 5))
            names.append((f"a{at}", repeat))
    return truth, np.array(rows), names


def pooled_levels(pooled):
    return pooled.demands["level"].to_numpy()


@pytest.mark.parametrize(
    ("told", "level"),
    [([1, 2, 5], 2), ([0, 1], 0), ([1, 2], 2), ([2, 3], 2), ([3, 4], 4), ([4, 5], 4), ([0, 0, 3, 3], 2)],
)
def test_the_median_stays_whole_and_halves_go_to_even(told, level):
    pooled = pool_readings(readings([[value] for value in told], [("a", at) for at in range(len(told))]))
    assert pooled.demands["level"].to_list() == [level]
    assert pooled.demands["spread"].item() == pytest.approx(np.std(told, ddof=1))


def test_a_single_reading_is_its_level_with_unknown_spread():
    pooled = pool_readings(readings([[3.0]], [("a", 0)]))
    assert pooled.demands.row(0) == ("i0", "QLl", 3, None, "a")
    assert pooled.demands.columns == ["item", "dimension", "level", "spread", "annotator"]
    assert pooled.annotators.columns == ["dimension", "annotator", "leaning", "error"]


def test_the_ordinal_model_finds_the_careless_annotator():
    truth, levels, names = simulate(np.random.default_rng(0), 400, [0, 0, 0], [0.35, 0.35, 1.6])
    pooled = pool_readings(readings(levels, names), "ordinal")
    errors = dict(pooled.annotators.select("annotator", "error").iter_rows())
    assert errors["a2"] > 3 * max(errors["a0"], errors["a1"])
    assert errors["a0"] == pytest.approx(0.35, abs=0.12)
    assert np.mean(pooled_levels(pooled) == truth) > 0.87


def test_the_ordinal_model_beats_the_median_where_most_are_careless():
    right = []
    for seed in range(5):
        truth, levels, names = simulate(np.random.default_rng(seed), 400, [0, 0, 0], [0.35, 1.3, 1.3])
        told = readings(levels, names)
        right.append([np.mean(pooled_levels(pool_readings(told, how)) == truth) for how in ("ordinal", "median")])
    ordinal, median = np.mean(right, axis=0)
    assert ordinal > median + 0.03


def test_leanings_are_found_up_to_their_mean():
    rng = np.random.default_rng(1)
    truth, levels, names = simulate(rng, 400, [-0.6, 0.0, 0.6], [0.4, 0.4, 0.4])
    pooled = pool_readings(readings(levels, names), "ordinal")
    leanings = pooled.annotators["leaning"].to_numpy()
    assert leanings == pytest.approx([-0.6, 0.0, 0.6], abs=0.15)
    assert np.mean(pooled_levels(pooled) == truth) > 0.8


def test_a_leaning_beyond_all_bounds_is_told_as_the_bound():
    """Two lean down as far as the model goes and one up: around their mean the third would lean by two levels."""
    _, levels, names = simulate(np.random.default_rng(4), 400, [-1.5, -1.5, 1.5], [0.3, 0.3, 0.3])
    leanings = pool_readings(readings(levels, names), "ordinal").annotators["leaning"].to_list()
    assert leanings[2] == 1.5
    assert leanings[:2] == pytest.approx([-1.0, -1.0], abs=0.3)


def test_nobody_is_taken_to_err_by_less_than_a_seventh_of_a_level():
    _, levels, names = simulate(np.random.default_rng(5), 400, [0, 0], [0.0, 0.0])
    assert pool_readings(readings(levels, names), "ordinal").annotators["error"].to_list() == [0.15, 0.15]


def test_nobody_is_taken_to_err_by_more_than_half_the_levels():
    _, levels, names = simulate(np.random.default_rng(5), 400, [0, 0, 0], [0.0, 0.0, 50.0])
    errors = pool_readings(readings(levels, names), "ordinal").annotators["error"].to_list()
    assert errors[2] == pytest.approx(2.5), "whoever reads at random"


def test_one_annotator_with_repeats_leans_nowhere():
    rng = np.random.default_rng(2)
    _, levels, names = simulate(rng, 60, [0.4], [0.4], repeats=2)
    pooled = pool_readings(readings(levels, names), "ordinal")
    assert pooled.annotators["leaning"].to_list() == [0.0]
    agreed = levels[0] == levels[1]
    assert np.all(pooled_levels(pooled)[agreed] == levels[0][agreed])


def test_the_recorded_example_leans_nowhere():
    told = read_demands(pl.read_csv(example_folder() / "levels.csv"))
    assert set(pool_readings(told, "ordinal").annotators["leaning"]) == {0.0}


def test_the_posterior_spread_says_how_sure_a_level_is():
    rng = np.random.default_rng(3)
    truth, levels, names = simulate(rng, 600, [0, 0, 0], [0.7, 0.7, 0.7])
    pooled = pool_readings(readings(levels, names), "ordinal")
    spread = pooled.demands["spread"].to_numpy()
    missed = np.abs(pooled_levels(pooled) - truth)
    assert np.sqrt(np.mean(missed**2)) == pytest.approx(np.sqrt(np.mean(spread**2)), rel=0.35)
    assert missed[spread > np.median(spread)].mean() > missed[spread <= np.median(spread)].mean()


def test_gaps_and_items_nobody_read():
    levels = np.array([[1, 2, np.nan, 5], [1, np.nan, 3, 5]])
    pooled = pool_readings(readings(levels, [("a", 0), ("b", 0)]), "ordinal")
    assert dict(pooled.demands.select("item", "level").iter_rows()) == {"i0": 1, "i1": 2, "i2": 3, "i3": 5}


def test_what_cannot_be_pooled_is_refused():
    single = readings([[1.0, 2.0]], [("a", 0)])
    with pytest.raises(MensuraError, match="'ordinal' needs two raters or more"):
        pool_readings(single, "ordinal")
    with pytest.raises(MensuraError, match="got 'mode'; expected one of median, ordinal"):
        pool_readings(single, "mode")
