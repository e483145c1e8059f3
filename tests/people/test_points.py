"""Partial credit on its way from a file of answers to a graded fit."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.tables import read_table
from mensura.people import HarmonisingRules, read_points


def test_points_stay_points_and_codes_become_what_they_mean():
    answers = pl.DataFrame(
        {"person": ["a", "b", "c", "d"], "q1": [2.0, 1.0, 9.0, 8.0], "q2": ["0", "1", None, "n/a"], "q3": list("ABCD")}
    )
    points = read_points(answers, HarmonisingRules(absent=["9"], omitted=["8"]))
    assert points.rows() == [("a", 2, 0), ("b", 1, 1), ("c", None, None), ("d", 0, None)]
    assert points.columns == ["subject", "q1", "q2"]


def test_items_with_partial_credit_reach_a_graded_fit(mensura_command, tmp_path):
    rows = [(1000 + p, *((p * (q + 2) + p // 7) % 3 for q in range(5))) for p in range(120)]
    pl.DataFrame(rows, schema=["STIDSTD", *(f"P{q}" for q in range(5))], orient="row").write_csv(tmp_path / "a.csv")
    words = ("people", "import", tmp_path / "a.csv", "--items", "P*", "--person", "STIDSTD", "--out", tmp_path / "pool")
    assert "partial credit: P0, P1, P2, P3, P4. --points FILE keeps their points" in mensura_command(*words).out
    kept = mensura_command(*words, "--points", tmp_path / "points.csv")
    assert kept.code == 0, kept.err
    fitted = mensura_command("responses", "fit", tmp_path / "points.csv", "--model", "graded")
    assert fitted.code == 0, fitted.err
    assert "has the highest ability" in fitted.out


def test_a_damaged_statistics_file_is_refused(tmp_path):
    (tmp_path / "study.sav").write_bytes(b"$FL2")
    with pytest.raises(MensuraError, match=r"not a readable \.sav file"):
        read_table(tmp_path / "study.sav")
