"""What a stitching gives: positions with intervals, on simulated truth."""

from scipy.stats import binom

import mensura

from .conftest import simulate


def test_ninety_percent_intervals_of_capabilities_contain_ninety_percent_of_the_truth():
    """Not fewer, and not nearly all: an interval that is too wide says too little."""
    inside = []
    for seed in range(2):
        frame, true, *_ = simulate(seed=seed)
        found = mensura.stitch(frame).capabilities.sort("subject")
        true = (true - true.mean()) / true.std()
        inside += list((found["low"].to_numpy() <= true) & (true <= found["high"].to_numpy()))
    fewest, most = binom.interval(0.99, len(inside), 0.9)
    assert fewest <= sum(inside) <= most
