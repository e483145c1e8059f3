"""Subjects among people, by hand: readings, errors that add up, and how far rates may be trusted."""

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr, ndtri

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, ResponseFit, fit_responses, place_among
from mensura.responses.irt.differences import empty_dif


def fit_of(abilities, se=0.0, subjects=400, items=6):
    """A fit of people with mean 0.5 and standard deviation 2, and models of whom errors are known."""
    told = {"subject": [f"s{at}" for at in range(len(abilities))], "group": "people", "ability": abilities, "se": se}
    groups = {"group": ["people", "models"], "subjects": [subjects, 9], "mean": [0.5, 1.0], "sd": [2.0, 0.5]}
    groups |= {"se_mean": [None, 0.3], "se_sd": [None, 0.1]}
    bank = {"item": [f"i{at}" for at in range(items)], "discrimination": 1.0, "difficulty": np.linspace(-1, 1, items)}
    none = pl.DataFrame()
    tables = (pl.DataFrame(told), pl.DataFrame(bank), pl.DataFrame(groups), empty_dif(), none, none, none)
    return ResponseFit("2pl", *tables, 0.0, 1, True)


def test_an_ability_is_read_as_rate_rarity_percentile_and_iq():
    """One and a half standard deviations above the mean."""
    [row] = place_among(fit_of([3.5]), group="people").subjects.to_dicts()
    assert row["iq"] == pytest.approx(100 + 15 * 1.5)
    assert row["rate"] == pytest.approx(ndtr(-1.5))
    assert row["one_in"] == pytest.approx(1 / ndtr(-1.5))
    assert row["percentile"] == pytest.approx(100 * ndtr(1.5))
    assert row["low"] == pytest.approx(ndtr(-(row["iq_high"] - 100) / 15))
    assert row["high"] == pytest.approx(ndtr(-(row["iq_low"] - 100) / 15))
    assert (row["population"], row["status"]) == ("people", "measured")


def test_a_rarity_is_cut_at_the_people_tested():
    """Five standard deviations above 142 people: the law says 1 in 3.5 million."""
    [far, near] = place_among(fit_of([10.5, 3.5], subjects=142), group="people").subjects.to_dicts()
    assert (far["one_in"], far["at_least"], near["at_least"]) == (142, True, False)
    assert far["iq"] == far["iq_low"] == pytest.approx(100 + 15 * ndtri(1 - 1 / 142))  # 137, not the law's 175
    assert near["one_in"] == pytest.approx(1 / ndtr(-1.5))


def test_rates_cut_a_rarity_at_their_largest_count_or_where_they_end():
    rates = pl.DataFrame({"item": [f"i{at}" for at in range(6)], "rate": np.linspace(0.7, 0.3, 6)})
    for known, most in ((rates, 200), (rates.with_columns(n=pl.Series([9, 30, 142, 20, 20, 20])), 142)):
        [row] = place_among(fit_of([40.0]), rates=known).subjects.to_dicts()
        assert (row["one_in"], row["at_least"]) == (pytest.approx(most), True)
        assert row["percentile"] == pytest.approx(
            100.0 * (1.0 - 1.0 / most)
        )  # 99.99 among 142 people is nobody's place


def test_the_measures_own_errors_are_those_of_a_sample_of_its_size():
    """The group that is the measure has no errors of its own: its mean errs by σ/√n, its spread by σ/√(2n)."""
    [row] = place_among(fit_of([0.5]), group="people").population.to_dicts()
    assert (row["mean"], row["sd"], row["items"]) == (0.5, pytest.approx(2.0), 6)
    assert (row["se_mean"], row["se_sd"]) == (pytest.approx(2 / 20), pytest.approx(2 / np.sqrt(800)))
    [row] = place_among(fit_of([0.5]), group="models").population.to_dicts()
    assert (row["se_mean"], row["se_sd"]) == (pytest.approx(0.3), pytest.approx(0.1))
    [row] = place_among(fit_of([0.5], subjects=0), group="people").population.to_dicts()
    assert row["se_mean"] == pytest.approx(2.0)


def test_errors_of_ability_mean_and_spread_add_up_in_the_interval():
    """In units of 15/σ: the ability's 0.4, the mean's 0.3, and z times the spread's 0.1 of 0.5."""
    at_mean, above = place_among(fit_of([1.0, 2.0], se=0.4), group="models").subjects.to_dicts()
    width = 1.645 * 15 / 0.5 * np.hypot(0.4, 0.3)
    assert (at_mean["iq_high"] - at_mean["iq_low"]) / 2 == pytest.approx(width, rel=0.15)
    assert above["iq_high"] - above["iq_low"] > at_mean["iq_high"] - at_mean["iq_low"]
    again, other = (place_among(fit_of([1.0], se=0.4), group="models", seed=seed).subjects for seed in (0, 1))
    assert again["iq_low"].item() == at_mean["iq_low"] != other["iq_low"].item()


def test_readings_end_where_nobody_is_left_and_far_ones_are_warned_of():
    found = place_among(fit_of([60.0, -60.0, 6.500000000000001, 6.51], subjects=10**15), group="people")
    assert found.subjects["iq"].to_list() == pytest.approx([100 + 15 * 7.5, 100 - 15 * 7.5, 145.0, 145.075])
    assert found.warnings == ("3 of 4 subjects stand beyond 3 standard deviations, where normality is a guess",)
    assert place_among(fit_of([6.5]), group="people").warnings == ()
    assert found.heading == "4 subjects among people (measured, 6 items)"


def rates_under(mean, sd, items=6):
    """What a normal population would have right of the items, integrated."""
    z = np.linspace(-6, 6, 2001)
    mass = np.exp(-0.5 * z * z)
    chances = 1 / (1 + np.exp(-(mean + sd * z - np.linspace(-1, 1, items)[:, None])))
    return pl.DataFrame({"item": [f"i{at}" for at in range(items)], "rate": chances @ mass / mass.sum()})


def test_exact_rates_give_back_their_population():
    found = place_among(fit_of([0.0]), rates=rates_under(0.7, 1.3))
    [row] = found.population.to_dicts()
    assert (row["mean"], row["sd"]) == (pytest.approx(0.7, abs=1e-3), pytest.approx(1.3, abs=5e-3))
    assert (row["population"], row["status"], row["items"]) == ("people of the rates", "from rates", 6)
    assert place_among(fit_of([0.0]), rates=rates_under(0.7, 1.3).head(5)).population["items"].item() == 5
    with pytest.raises(MensuraError, match="rates: 4 of the fit's items have a rate"):
        place_among(fit_of([0.0]), rates=rates_under(0.7, 1.3).head(4))


def test_a_rate_counts_by_how_sure_it_is():
    """One rate is far too high: known from few people, or within wide ends, it moves the mean less."""
    rates = rates_under(0.0, 1.0).with_columns(rate=pl.when(pl.col("item") == "i5").then(0.95).otherwise("rate"))
    off = pl.col("item") == "i5"

    def mean(**columns):
        found = place_among(fit_of([0.0]), rates=rates.with_columns(**columns))
        return found.population["mean"].item(), found.population["status"].item()

    few, many = (mean(n=pl.when(off).then(count).otherwise(1000)) for count in (4, 1000))
    assert 0 < few[0] < 0.5 * many[0]
    unknown, thirty = (mean(n=pl.when(off).then(count).otherwise(1000)) for count in (None, 30))
    assert unknown == thirty
    wide, narrow = (
        mean(
            low=pl.when(off).then(low).otherwise(pl.col("rate") - 0.01),
            high=pl.when(off).then(high).otherwise(pl.col("rate") + 0.01),
        )
        for low, high in ((0.3, 0.999), (0.94, 0.96))
    )
    assert 0 < wide[0] < 0.5 * narrow[0]
    assert wide[1] == "extrapolated"
    assert many[1] == "from rates"


def test_a_name_for_people_of_rates_is_refused_for_a_group(drawn):
    fit = fit_responses(drawn.wide.head(60), options=FitOptions(checks=False))
    with pytest.raises(MensuraError, match="name: it names the people of rates"):
        place_among(fit, group="all", name="adults")
