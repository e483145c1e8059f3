"""Weights by errors made elsewhere, and the tables about answers: known optima, no error called distance."""

import numpy as np
import polars as pl
import pytest

from benchmarks.llm_extrapolation import learn_weights
from tools.learn_correction import learn_correction


def draw_errors(spread: list[float], correlation: float, cells: int = 4000, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = len(spread)
    shape = correlation * np.ones((size, size)) + (1 - correlation) * np.eye(size)
    return np.diag(spread) @ np.linalg.cholesky(shape) @ rng.normal(size=(size, cells))


def test_independent_errors_are_weighed_by_inverse_squares():
    assert learn_weights(draw_errors([0.2, 0.4], 0.0), [0] * 4000) == pytest.approx((0.8, 0.2), abs=0.02)


def test_errors_that_go_together_leave_the_poorer_member_nothing():
    """With correlation r, the weight of the poorer one is negative, so nothing, once r exceeds the ratio of errors."""
    assert learn_weights(draw_errors([0.2, 0.4], 0.65), [0] * 4000) == pytest.approx((1.0, 0.0), abs=1e-6)
    alike = learn_weights(draw_errors([0.2, 0.4], 0.3), [0] * 4000)
    assert alike[1] == pytest.approx((0.04 - 0.3 * 0.08) / (0.04 + 0.16 - 2 * 0.3 * 0.08), abs=0.02)


def test_every_group_counts_alike_whatever_its_size():
    """Member 0 is right in the large group, member 1 in the small one: they are worth the same."""
    errors = np.zeros((2, 1010))
    errors[1, :1000], errors[0, 1000:] = 1.0, 1.0
    assert learn_weights(errors, ["large"] * 1000 + ["small"] * 10) == pytest.approx((0.5, 0.5), abs=1e-3)


@pytest.mark.shared
def test_corrected_recordings_beat_raw_ones_on_pools_left_out(shared, new_task):
    """Three pools of recorded estimates: each is corrected by what the other two teach."""
    records = pl.read_csv(shared / "data" / "items" / "part_to_whole.csv")
    records = records.filter(pl.col("design") == "one-group-per-prompt")
    raw, corrected, covered = [], [], []
    for (pool, _), table in records.group_by("pool", "group", maintain_order=True):
        correction = learn_correction(records.filter(pl.col("pool") != pool))
        size = table.height
        task = new_task(size, rate=table["observed"].to_numpy(), n=np.full(size, np.nan))
        low, high = (np.log(table[name] / (1 - table[name])).to_numpy() for name in ("low", "high"))
        rate, least, most = correction.apply(task, table["estimate"].to_numpy(), (high - low) / 2, 0.9)
        truth = table["whole"].to_numpy()
        raw.append(np.abs(table["estimate"].to_numpy() - truth).mean())
        corrected.append(np.abs(rate[0] - truth).mean())
        covered.append(((least[0] <= truth) & (truth <= most[0])).mean())
    assert np.mean(raw) == pytest.approx(0.0412, abs=0.0001)
    assert np.mean(corrected) == pytest.approx(0.0402, abs=0.0003)
    assert 0.87 < np.mean(covered) < 0.92
