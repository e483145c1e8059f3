"""Profiles: the published recipe, places among people, and what may be said of them."""

from dataclasses import replace

import polars as pl
import pytest

import mensura
from mensura.calibration import chosen_lines, profile, profile_counts
from mensura.calibration.placing import find_line
from mensura.calibration.profiles import UNTESTED
from mensura.core.errors import MensuraError
from mensura.demands.rubrics import annotated_dimensions
from mensura.scale import Calibration, LevelLine

PUBLISHED = {
    ("gpt4o", "AS"): 3.3792,
    ("gpt4o", "KNs"): 6.6355,
    ("o1_re=low", "KNn"): 5.19,
    ("babbage-002", "CL"): 0.9857,
    ("llama3d2-1b", "SNs"): 1.1639,
    ("llama3d1-405b", "CEc"): 4.3420,
}
"""A few abilities as published (area under the curve)."""


LINES = tuple(LevelLine(code, 0.6, 0.5, code, r_squared=0.9) for code in annotated_dimensions() if code != "CEe")
"""One base for all dimensions but verbal expression: as good as the largest demand, so abilities are placed."""


@pytest.fixture(scope="module")
def counted():
    return profile_counts(mensura.load().demand_outcomes, calibration=Calibration(LINES))


def test_a_few_published_abilities_come_back(counted):
    found = {(s, d): a for s, d, a in counted.profile.select("subject", "dimension", "ability").iter_rows()}
    for key, ability in PUBLISHED.items():
        assert found[key] == pytest.approx(ability, abs=0.001), key


def test_all_published_abilities_come_back(counted, shared):
    told = pl.read_csv(shared / "data" / "adele" / "ability_scores.csv")
    both = counted.profile.join(told, on=["subject", "dimension"])
    assert both.height == 270
    off = (both["ability"] - both["ability_published_plot"]).abs()
    assert off.median() <= 0.001
    assert off.max() <= 0.02


def test_both_readings_of_ability_agree_where_the_curve_is_steep(counted):
    row = counted.positions.row(by_predicate=(pl.col("subject") == "gpt4o") & (pl.col("dimension") == "AS"), named=True)
    assert row["level_at_half"] == pytest.approx(3.379, abs=0.01)
    assert row["half_low"] < row["level_at_half"] < row["half_high"]


def test_the_contract_of_the_table(counted):
    wanted = "subject,dimension,ability,low,high,world_rate,one_in,percentile,iq"
    assert ",".join(counted.profile.columns) == wanted
    assert (
        counted.profile.select((pl.col("low") <= pl.col("ability")) & (pl.col("ability") <= pl.col("high")))
        .to_series()
        .all()
    )
    placed = counted.profile.drop_nulls("world_rate")
    assert (placed["one_in"] * placed["world_rate"] - 1).abs().max() < 1e-9
    assert (placed["percentile"] + 100 * placed["world_rate"] - 100).abs().max() < 1e-9


def test_every_reading_of_a_place_lies_between_its_own_ends(counted):
    placed = counted.positions.join(counted.profile, on=["subject", "dimension"]).drop_nulls("rate_low")
    for name, value in (("rate", "world_rate"), ("one_in", "one_in"), ("percentile", "percentile"), ("iq", "iq")):
        ends = placed.select("at_least", pl.min_horizontal(f"{name}_low", f"{name}_high").alias("low"), value,
                             pl.max_horizontal(f"{name}_low", f"{name}_high").alias("high"))  # fmt: skip
        assert ends.filter(~pl.col(value).is_between("low", "high")).is_empty(), name
        ends = ends.filter(~pl.col("at_least"))  # a cut place is its own far end
        assert (ends["low"] < ends[value]).mean() > 0.9 and (ends[value] < ends["high"]).mean() > 0.9, name


def test_a_dimension_without_a_line_says_why(counted):
    expression = counted.positions.filter(dimension="CEe")
    assert expression["rate_low"].null_count() == 15
    assert set(expression["note"]) == {"the calibration has no line for it"}
    assert counted.statements["statement"].str.contains("not placed in verbal expression").all()
    assert find_line(chosen_lines("open"), "MS") == "base not identified: interval spans 1"


def test_a_place_among_people_says_that_items_may_behave_differently(counted):
    assert UNTESTED in counted.warnings
    assert UNTESTED not in profile_counts(mensura.load().demand_outcomes, draws=20).warnings, "nobody is placed"


def test_another_calibration_moves_the_places_not_the_abilities(counted):
    lines = Calibration(tuple(replace(line, slope=0.2) for line in LINES))
    own = profile_counts(mensura.load().demand_outcomes, calibration=lines)
    assert own.profile["ability"].equals(counted.profile["ability"])
    one, other = (made.profile.filter(subject="gpt4o", dimension="MCt")["iq"][0] for made in (counted, own))
    assert one > other + 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": [11]}, "11 correct of 10"),
        ({"dimension": ["XX"]}, "unknown dimension 'XX'"),
        ({"level": [6]}, "outside 0 to 5"),
    ],
)
def test_wrong_counts_are_refused(change, message):
    counts = {"subject": ["a"], "dimension": ["KNn"], "level": [2], "n": [10], "correct": [5]} | change
    with pytest.raises(MensuraError, match=message):
        profile_counts(counts)


def test_a_method_that_is_not_known_is_refused():
    with pytest.raises(MensuraError, match="expected one of joint, adele"):
        profile({"subject": ["a"], "item": ["i"], "correct": [1]}, {"item": ["i"], "KNn": [1]}, method="best")


def test_no_profile_is_rarer_than_the_people_of_its_calibration():
    few = Calibration(tuple(replace(line, tested=700.0) for line in LINES))
    found = profile_counts(mensura.load().demand_outcomes, calibration=few)
    assert found.positions["one_in_high"].max() == pytest.approx(700)
    assert found.positions.filter("at_least").height > 5
    assert found.positions.filter("at_least")["note"].str.contains("at least 1 in").all()
