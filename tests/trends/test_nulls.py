"""Worlds without a change of pace, on the design of the data: same release dates, same scores asked for."""

import numpy as np

from mensura.core.arrays import expit
from mensura.stitching import ScoreLayout
from mensura.trends.nulls import refit_looks


def test_the_light_ridge_does_not_draw_the_ends_of_the_scale_apart():
    truth, difficulty, slope = np.linspace(0, 3.5, 90), np.linspace(0, 3.5, 30), np.linspace(3, 10, 30)
    expected = expit(slope * (truth[:, None] - difficulty))
    rows, cols = np.nonzero((expected > 0.05) & (expected < 0.95))
    layout, scores, counts = ScoreLayout.of(rows, cols), expected[rows, cols], np.array([90])
    edges = np.linspace(-1, 1, 90) ** 4
    edges -= np.polyval(np.polyfit(truth, edges, 1), truth)

    def bend(**settings):
        seen = refit_looks(layout, scores, counts, **settings).C[0, -1]
        slope, level = np.polyfit(truth, seen, 1)
        return float(edges @ (seen - level - slope * truth) / (slope * edges @ edges))

    assert bend(ridge=1.0) > 0.02
    assert abs(bend()) < 0.75 * bend(ridge=1.0)
