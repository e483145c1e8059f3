"""Ladders derived from people: known truth recovered, refusals."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import mensura
from mensura.iq import derive_ladders
from mensura.iq.ladders import LEVELS, POINTS
from mensura.scale import iq_to_rate, rate_to_one_in

CHANCE = {"hle": 0.0465, "aime": 0.0}
EDGES = [("people at 130", 99.0, 1), ("people at 130", 99.1, 0), ("people at 100", 1.0, 1), ("people at 100", 0.9, 0)]
"""A hundredth of the way from chance to ceiling, at either end."""


def curve(benchmark, capability, hard, steep):
    """Percent that the stitched model expects, above the benchmark's chance level."""
    return 100 * (CHANCE[benchmark] + (1 - CHANCE[benchmark]) * expit(steep * (capability - hard)))


def world(slope=12.0):
    """Two benchmarks with their own intercepts and a common slope; groups at known IQs score as the model says."""
    curves = pl.DataFrame({"benchmark": ["hle", "aime"], "difficulty": [1.0, -0.5], "slope": [1.5, 0.8]})
    average = {"hle": 0.5, "aime": -2.0}
    references, groups = [], []
    for benchmark, hard, steep in curves.iter_rows():
        for iq in (100.0, 115.0, 130.0):
            capability = average[benchmark] + (iq - 100) / slope
            name = f"people at {iq:.0f}"
            references.append((benchmark, name, float(curve(benchmark, capability, hard, steep))))
            groups.append((benchmark, name, float(rate_to_one_in(iq_to_rate(iq)))))
    embedded = mensura.load()
    rows = [
        {"benchmark": b, "group": g, "score": s, "unit": "percent", "status": "measured", "source": "simulated"}
        for b, g, s in references
    ]
    people = pl.DataFrame(rows, schema=embedded.human_references.schema)
    table = pl.DataFrame(groups, schema=["benchmark", "group", "one_in"], orient="row")
    return replace(embedded, human_references=people), curves, table, average


def test_known_truth_is_recovered():
    evidence, curves, groups, average = world()
    found = derive_ladders(evidence, curves, groups)
    assert found.slope == pytest.approx(12.0)
    assert found.spread == pytest.approx(0, abs=1e-6)
    assert dict(found.offsets.select("benchmark", "average_person").iter_rows()) == pytest.approx(average)
    for benchmark, hard, steep in curves.iter_rows():
        expected = curve(benchmark, average[benchmark] + (LEVELS - 100) / 12, hard, steep)
        row = found.ladders.filter(benchmark=benchmark).select(POINTS).row(0)
        assert row == pytest.approx(tuple(expected))


def test_derived_ladders_can_be_scored_with_and_are_compared():
    evidence, curves, groups, _ = world()
    found = derive_ladders(evidence, curves, groups)
    result = mensura.score_iq(mensura.load(), method="published", ladders=found.ladders)
    matrix = result.matrix
    ladder = matrix.ladders[matrix.benchmarks.index("hle")]
    assert ladder.scores == pytest.approx(found.ladders.filter(benchmark="hle").select(POINTS).row(0))
    differences = found.differences.filter(benchmark="hle", level=130).row(0, named=True)
    assert differences["published"] == 20
    assert differences["derived_iq"] == pytest.approx(float(np.interp(20, ladder.scores, LEVELS)))
    assert "2 ladders from 6 human groups" in str(found)


@pytest.mark.parametrize(("group", "score"), [("people at 130", 100.0), ("people at 100", 4.0)])
def test_a_group_at_the_ceiling_or_at_chance_is_only_bounded_and_bends_no_line(group, score):
    evidence, curves, groups, average = world()
    changed = pl.when((pl.col("group") == group) & (pl.col("benchmark") == "hle")).then(score).otherwise("score")
    edged = replace(evidence, human_references=evidence.human_references.with_columns(score=changed))
    found = derive_ladders(edged, curves, groups)
    assert found.anchors.height == 5
    assert found.anchors.filter(benchmark="hle", group=group).height == 0
    assert found.slope == pytest.approx(12.0)
    assert dict(found.offsets.select("benchmark", "average_person").iter_rows()) == pytest.approx(average)


@pytest.mark.parametrize("score", [41.0, 58.7, 63.3])
def test_groups_that_score_alike_tell_no_slope(score):
    """The mean of three equal capabilities misses them by last bits, which are no difference."""
    evidence, curves, groups, _ = world()
    alike = replace(evidence, human_references=evidence.human_references.with_columns(score=pl.lit(score)))
    with pytest.raises(mensura.MensuraError, match="groups: no stitched benchmark has two human groups"):
        derive_ladders(alike, curves, groups)


@pytest.mark.parametrize(("group", "score", "placed"), EDGES)
def test_a_group_right_at_the_edge_is_still_placed(group, score, placed):
    evidence, curves, groups, _ = world()
    changed = pl.when((pl.col("group") == group) & (pl.col("benchmark") == "aime")).then(score).otherwise("score")
    found = derive_ladders(
        replace(evidence, human_references=evidence.human_references.with_columns(score=changed)), curves, groups
    )
    assert found.anchors.filter(benchmark="aime", group=group).height == placed


def test_a_curve_may_bring_its_own_chance_level():
    evidence, curves, groups, average = world()
    own = derive_ladders(evidence, curves.with_columns(chance=pl.Series([0.0465, 0.0])), groups)
    assert dict(own.offsets.select("benchmark", "average_person").iter_rows()) == pytest.approx(average)
    none = derive_ladders(evidence, curves.with_columns(chance=pl.lit(0.0)), groups)
    assert none.slope != pytest.approx(12.0, rel=1e-3)


def test_groups_beside_their_line_are_the_spread():
    """Each benchmark's groups lie at −d, 2d, −d from the line, d = 3 IQ: no slope, 54 + 54 over 6 − 2 − 1 degrees."""
    evidence, curves, groups, _ = world()
    off = {100: -3.0, 115: 6.0, 130: -3.0}
    rarities = [
        (benchmark, group, float(rate_to_one_in(iq_to_rate(level + off[level]))))
        for benchmark, group, level in (
            (benchmark, group, int(group.split()[-1])) for benchmark, group, _ in groups.iter_rows()
        )
    ]
    found = derive_ladders(evidence, curves, pl.DataFrame(rarities, schema=groups.schema, orient="row"))
    assert found.slope == pytest.approx(12.0)
    assert found.spread == pytest.approx(np.sqrt(2 * (9 + 36 + 9) / 3))
    assert (found.anchors["iq"] - found.anchors["line_iq"]).to_list() == pytest.approx([-3.0, 6.0, -3.0] * 2)
    three, two = (pl.DataFrame(rarities[:count], schema=groups.schema, orient="row") for count in (3, 2))
    assert derive_ladders(evidence, curves, three).spread == pytest.approx(np.sqrt(54))  # one degree is left
    assert derive_ladders(evidence, curves, two).spread == pytest.approx(0, abs=1e-6)  # a line through two points


def test_a_curve_that_does_not_rise_carries_nobody_and_fractions_count_as_percent_do():
    evidence, curves, groups, average = world()
    flat = curves.with_columns(slope=pl.when(pl.col("benchmark") == "aime").then(0.0).otherwise("slope"))
    assert derive_ladders(evidence, flat, groups).ladders["benchmark"].to_list() == ["hle"]
    people = evidence.human_references.with_columns(
        score=pl.col("score") / 100, unit=pl.lit("fraction"), benchmark=pl.lit("swe_bench_pro")
    ).head(3)
    renamed = [
        table.with_columns(benchmark=pl.col("benchmark").replace({"hle": "swe_bench_pro"}))
        for table in (curves, groups)
    ]
    renamed[0] = renamed[0].with_columns(chance=pl.Series([CHANCE["hle"], 0.0]))
    found = derive_ladders(replace(evidence, human_references=people), *renamed)
    assert found.offsets["average_person"].to_list() == pytest.approx([average["hle"]])
    assert evidence.benchmarks.filter(benchmark="swe_bench_pro")["unit"][0] == "fraction"
    row = found.ladders.select(POINTS).row(0)
    assert row == pytest.approx(tuple(curve("hle", 0.5 + (LEVELS - 100) / 12, 1.0, 1.5) / 100))


def test_groups_that_fall_or_stand_alone_are_refused():
    evidence, curves, groups, _ = world()
    upside_down = groups.with_columns(one_in=1 + 1 / pl.col("one_in"))
    with pytest.raises(mensura.MensuraError, match="rarer groups do not score higher"):
        derive_ladders(evidence, curves, upside_down)
    with pytest.raises(mensura.MensuraError, match="no stitched benchmark has two human groups"):
        derive_ladders(evidence, curves, groups.unique("benchmark", maintain_order=True))
    with pytest.raises(mensura.MensuraError, match="curves: missing column 'slope'"):
        derive_ladders(evidence, curves.drop("slope"))


def test_own_list_names_groups_of_the_evidence():
    from mensura.intake.tables import read_table
    from mensura.iq.rules import DATA

    groups = read_table(DATA / "human_groups.csv")
    known = mensura.load().human_references
    assert groups.join(known, on=["benchmark", "group"], how="anti").is_empty()
    assert groups["basis"].str.len_chars().min() > 10
