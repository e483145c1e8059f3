"""Elo enters the stitched scale as a win rate: 400 points are odds of ten to one."""

from dataclasses import replace
from datetime import date

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.core.arrays import expit
from mensura.stitching.links import PRINTED, adjust_sources, evidence_scores, link, offset_notes, to_date, to_years


def test_four_hundred_points_above_the_opponent_win_ten_of_eleven():
    evidence = mensura.load()
    elo = evidence.primary_scores.filter(benchmark="arena_overall").head(3)
    three = elo.with_columns(score=pl.Series([1000.0, 1400.0, 1800.0]))  # the opponent is the median, 1400
    table, _ = evidence_scores(replace(evidence, scores=three))
    assert table["score"].sort().to_list() == pytest.approx([1 / 11, 1 / 2, 10 / 11])


def test_every_unit_has_its_link_and_a_composite_has_none():
    rows = [
        ("a", "percent", 45.0),
        ("b", "fraction", 0.45),
        ("c", "index", -10.0),
        ("d", "elo", 1600.0),
        ("e", "composite", 45.0),
    ]
    rows += [("a", "percent", 120.0), ("c", "index", -130.0)]
    table = pl.DataFrame(rows, schema=["benchmark", "unit", "score"], orient="row")
    opponents = pl.DataFrame({"benchmark": ["d"], "reference": [1200.0]})
    linked = link(table, None, "score", references=opponents)
    assert linked["benchmark"].to_list() == ["a", "b", "c", "d", "a", "c"]
    assert linked["score"].to_list() == pytest.approx([0.45, 0.45, 0.45, 10 / 11, 1.0, 0.0])


def test_levels_of_benchmarks_are_shares_in_percent_and_ends_in_other_units():
    evidence = mensura.load()
    table, notes = evidence_scores(evidence)
    assert table["score"].is_between(0, 1).all()
    levels = table.join(
        evidence.benchmarks.select("benchmark", "unit", printed="chance", top="ceiling"), on="benchmark"
    )
    percent = levels.filter(unit="percent").drop_nulls("printed")
    assert (percent["chance"] * 100).to_list() == pytest.approx(percent["printed"].to_list())
    tops = levels.filter(unit="percent").drop_nulls("top")
    assert (tops["ceiling"] * 100).to_list() == pytest.approx(tops["top"].to_list())
    other = levels.filter(pl.col("unit").is_in(["elo", "index"]))
    assert set(other["chance"]) == {0.0} and set(other["ceiling"]) == {1.0}
    assert notes[0].startswith("Elo enters as the expected win rate against a fixed opponent (median model: ")


def two_sources(cells=12, apart=0.4):
    """Return scores of two sources on the same cells, one as far above the truth in logits as the other below."""
    truth = np.linspace(-2, 2, cells)
    rows = [
        (f"m{k}", "b", source, float(expit(truth[k] + side)))
        for k in range(cells)
        for source, side in (("high", apart / 2), ("low", -apart / 2))
    ]
    return pl.DataFrame(rows, schema=["subject", "benchmark", "source", "score"], orient="row"), expit(truth)


def test_sources_that_lie_apart_are_both_moved_to_their_middle():
    frame, truth = two_sources()
    adjusted, offsets = adjust_sources(frame)
    assert dict(offsets.select("source", "offset").iter_rows()) == pytest.approx({"high": 0.2, "low": -0.2}, abs=1e-3)
    assert offsets["scores"].to_list() == [12, 12]
    for (_,), part in adjusted.group_by("source", maintain_order=True):
        assert part["score"].to_numpy() == pytest.approx(truth, abs=1e-3)
    assert adjusted[PRINTED].to_list() == frame["score"].to_list()
    assert offset_notes(offsets)[0] == "source high scores +0.20 logits off the others on the same cells; taken out"
    slight = pl.DataFrame({"source": ["a", "b", "c"], "offset": [0.049, -0.051, -0.049], "scores": [9, 9, 9]})
    assert offset_notes(slight) == ("source b scores -0.05 logits off the others on the same cells; taken out",)
    assert offset_notes(None) == ()


def test_an_offset_moves_scores_of_its_source_elsewhere_but_none_next_to_an_edge():
    frame, _ = two_sources()
    more = pl.DataFrame(
        {
            "subject": ["x", "y", "z", "w"],
            "benchmark": "c",
            "source": ["high", "high", None, "other"],
            "score": [0.5, 0.995, 0.5, 0.5],
        }
    )
    adjusted = adjust_sources(pl.concat([frame, more]))[0].tail(4)
    assert adjusted["score"].to_list() == pytest.approx([float(expit(np.array(-0.2))), 0.995, 0.5, 0.5], abs=1e-3)


def test_offsets_need_ten_cells_with_several_sources():
    frame, _ = two_sources(cells=9)
    same, offsets = adjust_sources(frame)
    assert same.equals(frame) and offsets.is_empty()
    assert adjust_sources(two_sources(cells=10)[0])[1].height == 2
    assert adjust_sources(frame.drop("source"))[1].is_empty()


def test_an_offset_is_drawn_to_0_by_its_error():
    """Differences of ±0.5 around 0 say nothing of an offset."""
    frame, _ = two_sources(apart=0.5)
    logits = np.log(frame["score"] / (1 - frame["score"])).to_numpy()
    turned = np.where(np.arange(24) // 2 % 2 == 0, logits, logits.reshape(-1, 2)[:, ::-1].ravel())
    offsets = adjust_sources(frame.with_columns(score=pl.Series(expit(turned))))[1]
    assert offsets["offset"].abs().max() < 0.01


def test_dates_are_years_of_365_and_a_quarter_days():
    years = to_years(pl.Series([date(1970, 1, 1), date(1971, 1, 1), None, date(2024, 3, 1)]))
    assert years.tolist() == pytest.approx([0.0, 365 / 365.25, np.nan, 19783 / 365.25], nan_ok=True)
    for day in (date(1969, 12, 31), date(2024, 2, 29), date(2026, 11, 19)):
        assert to_date(float(to_years(pl.Series([day]))[0])) == day
