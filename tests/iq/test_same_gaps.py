"""Correction from models with the same gaps: who is entered, and what their errors do to its estimates, by hand."""

import numpy as np
import pytest

import mensura
from mensura.iq import same_gaps
from mensura.iq.same_gaps import GapCorrection, correct, find_entries, in_parts

MIDDLE = {"percent": 40.0, "fraction": 0.4, "elo": 1300.0, "index": 10.0}
FEW = ("hle", "scicode", "ifbench")


@pytest.fixture(scope="module")
def matrix(build):
    """Six models measured on everything, one on three benchmarks, and one far above them all."""
    facts = mensura.load().benchmarks.filter("in_composite").select("benchmark", "unit")
    scores = {(f"m{i}", name): MIDDLE[unit] * (1 + i / 100) for i in range(6) for name, unit in facts.iter_rows()}
    scores |= {("few", name): 41.0 for name in FEW}
    scores |= {("far", name): 2 * MIDDLE[unit] for name, unit in facts.iter_rows()}
    return mensura.score_iq(build(scores), method="published").matrix


@pytest.fixture(scope="module")
def entries(matrix):
    estimates = np.where(matrix.measured, matrix.iqs, np.nanmean(matrix.iqs[: matrix.row("few")], axis=0))
    return find_entries(matrix, estimates, matrix.measured.sum(axis=1) < 10)


def test_well_measured_models_of_its_level_are_entered_with_its_benchmarks(matrix, entries):
    assert set(entries.targets) == {matrix.row("few")}
    assert sorted(matrix.subjects[row] for row in entries.donors) == [f"m{i}" for i in range(6)]
    assert {matrix.benchmarks[j] for j in np.flatnonzero(entries.kept.any(axis=0))} == set(FEW)
    assert entries.kept.sum() == 6 * len(FEW)


def test_of_many_models_the_nearest_are_entered(matrix, monkeypatch):
    """The level of "few" is that of m4 and a little more: with room for two, m4 and m5 are entered."""
    monkeypatch.setattr(same_gaps, "MOST", 2)
    few, measured = matrix.row("few"), matrix.measured.sum(axis=1)
    estimates = matrix.iqs.copy()
    estimates[few] = estimates[matrix.row("m4")] + 0.1 * (estimates[matrix.row("m5")] - estimates[matrix.row("m4")])
    chosen = find_entries(matrix, estimates, measured < 10)
    assert sorted(matrix.subjects[row] for row in chosen.donors) == ["m4", "m5"]


def test_each_model_entered_is_left_out_of_one_fit(entries):
    parts = in_parts(entries, 4)
    assert len(parts) == 4
    assert (np.sum(parts, axis=0) == 1).all()
    assert [len(set(entries.donors[part])) for part in parts] == [2, 2, 1, 1]


def test_the_mean_error_is_added_and_its_size_widens(matrix, entries):
    """All six estimates four points low with a spread of two: eight models' worth of "no error" stands against them."""
    drawn = matrix.iqs[entries.donors] - 4 + np.array([-2.0, 2.0])[:, None, None]
    found = correct(matrix, entries, drawn)
    few, shift = matrix.row("few"), 4 * 6 / (6 + 8)
    assert found.shift[few] == pytest.approx(shift)
    assert found.factor[few] == pytest.approx(np.sqrt((6 * ((4 - shift) / 2) ** 2 + 8) / (6 + 8)))
    others = np.delete(np.arange(len(matrix.subjects)), few)
    assert (found.shift[others] == 0).all()
    assert (found.factor[others] == 1).all()


def test_a_correction_moves_and_widens_about_the_mean():
    drawn = np.array([[[100.0, 158.0]], [[104.0, 152.0]]])
    moved = GapCorrection(np.array([3.0]), np.array([2.0]), np.array([0.0])).apply(drawn)
    np.testing.assert_allclose(moved, [[[101.0, 164.0]], [[109.0, 152.0]]])
