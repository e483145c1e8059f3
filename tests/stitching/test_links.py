"""Elo enters the stitched scale as a win rate: 400 points are odds of ten to one."""

from dataclasses import replace

import polars as pl
import pytest

import mensura
from mensura.stitching.links import evidence_scores


def test_four_hundred_points_above_the_opponent_win_ten_of_eleven():
    evidence = mensura.load()
    elo = evidence.primary_scores.filter(benchmark="arena_overall").head(3)
    three = elo.with_columns(score=pl.Series([1000.0, 1400.0, 1800.0]))  # the opponent is the median, 1400
    table, _ = evidence_scores(replace(evidence, scores=three))
    assert table["score"].sort().to_list() == pytest.approx([1 / 11, 1 / 2, 10 / 11])
