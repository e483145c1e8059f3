"""Chance levels and ceilings nobody states: estimated, so that the ends of the scale stay where they are."""

import numpy as np
import polars as pl
import pytest

from benchmarks.stitch_hard_worlds import simulate
from mensura.stitching import stitch

pytestmark = pytest.mark.slow


def guessed(chances, seed, subjects=90, benchmarks=24):
    """Scores of one dimension with floors drawn from ``chances``, and the truth: C, floors."""
    rng = np.random.default_rng(seed)
    C, D = rng.normal(0, 1, subjects), rng.normal(0.2, 1, benchmarks)
    slope, floor = rng.uniform(1, 3, benchmarks), rng.choice(chances, benchmarks)
    rows, cols = np.nonzero(rng.random((subjects, benchmarks)) < 0.4)
    f = floor[cols] + (1 - floor[cols]) / (1 + np.exp(-slope[cols] * (C[rows] - D[cols])))
    score = np.clip(f + rng.normal(0, 0.04, rows.size), 0, 1)
    frame = pl.DataFrame(
        {"subject": [f"m{i:03}" for i in rows], "benchmark": [f"b{j:02}" for j in cols], "score": score}
    )
    return frame, C, floor


def top_bias(fit, C):
    """Mean error of the best tenth, in standard deviations among the subjects."""
    true = C[[int(name[1:]) for name in fit.data.subjects]]
    true = (true - true.mean()) / true.std()
    best = true >= np.quantile(true, 0.9)
    return float((fit.estimate.capability[0] - true)[best].mean())


@pytest.mark.parametrize("chances", [[0.25], [0.0, 0.1, 0.25, 0.5]])
def test_unknown_chance_levels_no_longer_stretch_the_top(chances):
    estimated, ignored = [], []
    for seed in range(3):
        frame, C, floor = guessed(chances, seed)
        fit = stitch(frame, dimensions=1)
        estimated.append(top_bias(fit, C))
        ignored.append(top_bias(stitch(frame.with_columns(chance=pl.lit(0.0)), dimensions=1), C))
        own = fit.floors
        assert set(own["status"]) == {"estimated"}
        true = floor[[int(name[1:]) for name in own["benchmark"]]]
        assert np.abs(own["chance"].to_numpy() - true).mean() < 0.1
        assert any("chance level estimated for 24 of 24 benchmarks" in note for note in fit.notes)
    assert np.mean(ignored) > 0.15
    assert abs(np.mean(estimated)) < 0.1


def test_free_answers_stay_free_and_stated_levels_are_kept():
    frame, C, _ = guessed([0.0], seed=4)
    fit = stitch(frame, dimensions=1)
    assert fit.floors["chance"].max() < 0.06
    assert abs(top_bias(fit, C)) < 0.06
    stated = stitch(
        frame.with_columns(chance=pl.when(pl.col("benchmark") == "b03").then(0.01).otherwise(None)), dimensions=1
    )
    row = stated.floors.filter(pl.col("benchmark") == "b03").row(0, named=True)
    assert (row["chance"], row["error"], row["status"]) == (0.01, 0.0, "given")
    assert stated.floors.filter(pl.col("status") == "estimated").height == 23


def test_a_ceiling_that_nobody_states_makes_no_floor():
    """Free answers to easy questions, of which seven in a hundred have a wrong key."""
    frame = simulate("ceiling", np.random.default_rng([61, 11]))[0]
    own = stitch(frame.drop("leak")).floors
    assert own["ceiling"].mean() == pytest.approx(0.93, abs=0.02)
    assert own["chance"].mean() < 0.05


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ceilings_that_differ_by_test_are_not_taken_for_higher(seed):
    """Ceilings from 0.85 to 0.99, most tests nearly solved: estimated from most likely positions, 0.03 too high."""
    frame = simulate("ceilings", np.random.default_rng([94, seed]))[0]
    drawn = np.random.default_rng([94, seed])
    for draw in ("years", "departures", "difficulties", "slopes"):
        _ = drawn.uniform(53, 57, 70) if draw == "years" else drawn.normal(0, 1, 70 if draw == "departures" else 22)
    true = dict(zip((f"b{j:02}" for j in range(22)), drawn.uniform(0.85, 0.99, 22), strict=True))
    floors = stitch(frame.drop("leak")).floors
    assert floors["ceiling"].mean() == pytest.approx(np.mean([true[b] for b in floors["benchmark"]]), abs=0.02)


def test_the_published_method_has_no_floors():
    frame, *_ = guessed([0.25], seed=5)
    floors = stitch(frame, method="rosetta").floors
    assert set(floors["status"]) == {"none"}
    assert floors["chance"].sum() == 0


def test_an_unstated_ceiling_is_found_and_no_longer_squeezes_the_top():
    """Twelve easy benchmarks end at 0.9. Taken to end at 1, they make the best subjects look alike."""
    rng = np.random.default_rng(3)
    C, D = rng.normal(0, 1, 90), np.append(rng.normal(-1.5, 0.7, 12), rng.normal(0, 1, 8))
    rows, cols = np.nonzero(rng.random((90, 20)) < 0.5)
    best = np.where(np.arange(20) < 12, 0.9, 1.0)
    score = best[cols] / (1 + np.exp(-1.5 * (C[rows] - D[cols]))) + rng.normal(0, 0.015, rows.size)
    frame = pl.DataFrame(
        {"subject": [f"m{i:03}" for i in rows], "benchmark": [f"b{j:02}" for j in cols], "score": np.clip(score, 0, 1)}
    ).with_columns(chance=pl.lit(0.0))
    fit, taken_as_one = stitch(frame, dimensions=1), stitch(frame.with_columns(ceiling=pl.lit(1.0)), dimensions=1)
    ceilings = fit.floors["ceiling"].to_numpy()
    assert np.abs(ceilings[:12] - 0.9).mean() < 0.02
    assert ceilings[12:].mean() > 0.97
    assert set(taken_as_one.floors["ceiling"]) == {1.0}
    assert abs(top_bias(fit, C)) < 0.1 < 0.15 < abs(top_bias(taken_as_one, C))


def test_errors_of_ceilings_hold_in_a_world_that_their_widening_was_not_found_in():
    """Heavy-tailed subjects, fewer of them, and lower ceilings: 90% intervals hold at least 85%."""
    off = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        capability, difficulty = 0.8 * rng.standard_t(4, size=45), rng.uniform(-1.5, 0.8, 14)
        slope, top = rng.uniform(1.2, 2.5, 14), rng.uniform(0.7, 0.95, 14)
        scores = top / (1 + np.exp(-slope * (capability[:, None] - difficulty))) + rng.normal(0, 0.025, (45, 14))
        rows, cols = np.nonzero(rng.random(scores.shape) < 0.6)
        names = {"subject": [f"s{row:02}" for row in rows], "benchmark": [f"b{col:02}" for col in cols]}
        floors = stitch(names | {"score": np.clip(scores[rows, cols], 0, 1)}).floors.sort("benchmark")
        off.append((floors["ceiling"].to_numpy() - top) / floors["ceiling_error"].to_numpy())
    assert np.mean(np.abs(off) < 1.645) >= 0.85
