"""Tables of calibrations, profiles and equated tests on small invented items beside the approved ones."""

import numpy as np
import polars as pl
import pytest

from mensura.calibration import (
    calibrate,
    chosen_lines,
    equate,
    profile,
    read_calibration_file,
    read_outcomes,
    write_calibration,
)
from mensura.core.errors import MensuraError
from mensura.scale import Calibration, LevelLine
from tests.approved_tables import assert_approved


@pytest.mark.parametrize("method", ["hierarchical", "largest", "means"])
def test_bases_and_what_stands_behind_them(simulated, method):
    rates, demands, _ = simulated
    made = calibrate(rates, demands, method=method, draws=30)
    for name, table in made.tables().items():
        assert_approved(f"calibration/{method}_{name}", table if table.height < 60 else table[::20])


def test_two_tests_that_are_equated(simulated):
    rng = np.random.default_rng(3)
    level = np.sort(rng.uniform(0.8, 2.6, 8))
    tests = [
        pl.DataFrame(
            {"item": range(8), "observed": 10 ** (0.5 - level), "rate": 10 ** (0.5 - level - shift)}
        ).with_columns(low=pl.col("rate") * 0.8, high=pl.col("rate") * 1.2)
        for shift in (0.2, 0.5)
    ]
    found = equate(*tests, draws=200)
    assert_approved("calibration/equated_levels", found.levels)
    assert_approved("calibration/equated_scores", found.scores)


def test_profiles_of_three_subjects():
    rng = np.random.default_rng(4)
    codes = ("KNn", "QLl", "VO")
    levels = rng.integers(0, 6, (120, 3))
    demands = pl.DataFrame({"item": [f"i{k}" for k in range(120)]} | dict(zip(codes, levels.T, strict=True)))
    rows = []
    for name, ability in (("weak", 1.0), ("able", 2.5), ("strong", 4.0)):
        right = rng.random(120) < 1 / (1 + np.exp(1.5 * (levels.max(axis=1) - ability)))
        rows += [(name, f"i{k}", int(right[k])) for k in range(120)]
    outcomes = pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row")
    lines = Calibration(tuple(LevelLine(code, 0.6, 0.5, code, r_squared=0.9) for code in codes))
    found = profile(outcomes, demands, calibration=lines)
    for name, table in found.tables().items():
        assert_approved(f"calibration/profile_{name}", table)
    asked = pl.DataFrame({"item": ["a", "b"], "KNn": [1, 4], "QLl": [2, 1], "VO": [0, 3]})
    assert_approved("calibration/profile_predicted", found.predict(asked))


def test_groups_of_dimensions_and_words_of_a_calibration(simulated, tmp_path):
    rates, demands, _ = simulated
    made = calibrate(rates, demands, groups=True, draws=20)
    assert_approved("calibration/groups_bases", made.bases)
    assert made.heading == (
        "Calibration (hierarchical): 320 items, 4 pools; base: factor by which world success falls per level, with its "
        "90% interval"
    )


def test_lines_are_read_from_a_folder_a_file_or_a_table(simulated, tmp_path):
    rates, demands, _ = simulated
    made = calibrate(rates, demands, method="means", draws=20)
    write_calibration(made, tmp_path / "calibration.json")
    made.bases.write_csv(tmp_path / "bases.csv")
    whole, folder = read_calibration_file(tmp_path / "calibration.json"), read_calibration_file(tmp_path)
    table = read_calibration_file(tmp_path / "bases.csv")
    for found in (whole, folder, table):
        assert found.bases["dimension"].to_list() == made.bases["dimension"].to_list()
        assert found.bases["base"].to_list() == pytest.approx(made.bases["base"].to_list())
    assert [line.base for line in chosen_lines(tmp_path / "bases.csv")] == pytest.approx(made.bases["base"].to_list())
    with pytest.raises(MensuraError, match="slope"):
        read_calibration_file(rates.select("item").write_csv(tmp_path / "other.csv") or tmp_path / "other.csv")


def test_outcomes_are_read_from_a_table_under_other_names(tmp_path):
    file = tmp_path / "outcomes.csv"
    pl.DataFrame({"model": [1, 2], "item": ["a", "b"], "score": [1, 0]}).write_csv(file)
    table = read_outcomes(file)
    assert table.select("subject", "item", "correct").rows() == [("1", "a", 1), ("2", "b", 0)]
