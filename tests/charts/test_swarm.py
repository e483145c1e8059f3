"""Stacked dots against the plain rule: the least rise, in eighths of a diameter, at which a dot overlaps none."""

from itertools import count

import numpy as np
import pytest

from mensura.charts.labels import swarm


def by_trying(x: list[float], ground: list[float], diameter: float, last: list[bool]) -> list[float]:
    lifts, settled = [0.0] * len(x), list[tuple[float, float]]()
    for index in sorted(range(len(x)), key=lambda i: (last[i], x[i], i)):
        for eighths in count():
            lift = eighths * diameter / 8
            up = ground[index] + lift
            if all((a - x[index]) ** 2 + (b - up) ** 2 >= diameter**2 - 1e-9 for a, b in settled):
                break
        lifts[index] = lift
        settled.append((x[index], up))
    return lifts


@pytest.mark.parametrize("seed", range(4))
def test_each_dot_rises_to_the_lowest_free_place(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = [float(value) for value in rng.uniform(0, 60, 80)]
    ground = [float(value) for value in rng.uniform(0, 40, 80)]  # some begin far above or below their neighbours
    last = [bool(value) for value in rng.random(80) < 0.1]
    assert swarm(x, ground, 8.0, last) == by_trying(x, ground, 8.0, last)


def test_a_dot_far_above_leaves_the_ground_free_and_one_far_below_does_not_matter() -> None:
    assert swarm([0.0, 0.0, 0.0], [50.0, 0.0, -50.0], 8.0, [False] * 3) == [0.0, 0.0, 0.0]
    assert swarm([0.0, 0.0, 0.0, 0.0], [-50.0, 50.0, 4.0, 0.0], 8.0, [False] * 4) == [0.0, 0.0, 0.0, 12.0]
    assert swarm([], [], 8.0, []) == []
