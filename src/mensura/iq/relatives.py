"""Relatives: tests without a ladder that say something of a model with few scores, through models that have both.

AIME 2025 or MMLU-Pro have no ladder of their own, so they are no part of the IQ. Still they tell of a model of which
little else is known. For each of them a line is drawn from the models with scores enough,

    η_mr = a_r + b_r · g_m + e,   e ~ N(0, σ²_r),

with η the relative's score as log odds and g_m the mean log odds of the model on the benchmarks that count. Then the
draws of a model with few scores are moved by what its relatives say: x + Cov(x, y) Var(y)⁻¹ (seen − y), where y is the
relative's score that goes with a draw x. For normal draws this is exact conditioning. Models with scores enough teach
the line and are not moved by it. A test that few of them took teaches nothing, so nothing is read off it.
"""

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.doubt import Doubt, shorten

ENOUGH = 3
"""Scores on benchmarks that count from which a model's relatives are no longer asked."""
TEACHERS = 5
"""Models with scores enough that must have taken a relative before anything is read off it."""
_NOISE, _NOISE_WORTH = 0.3, 6.0  # squared logits: prior guess of σ², and the observations it counts for
_SLOPE, _SLOPE_VARIANCE = 1.0, 0.2  # prior of b: a relative moves as the mean of all benchmarks does


@dataclass(frozen=True, eq=False, repr=False)
class Relatives:
    """Tests that are no part of the IQ: their names, and every model's score as log odds (NaN where none)."""

    names: tuple[str, ...]
    odds: Floats  # models × relatives
    doubt: Doubt | None = None  # what each of these scores tells

    def reading(self, row: int, places: Ints, predicted: Floats) -> tuple[Floats, Floats]:
        """Return a model's scores beside what is predicted of them (draws × places), and the variance of each.

        As on the benchmarks that count, few answers and an end of the test make it unsure, and a leap counts for less.
        """
        odds, variance = self.odds[row, places].copy(), np.zeros(places.size)
        if self.doubt is None:
            return odds, variance
        unsure = self.doubt.doubtful[row, places]
        if unsure.any():
            mine = np.zeros(self.odds.shape, dtype=bool)
            mine[row, places[unsure]] = True
            prior = predicted[:, unsure].mean(axis=0), predicted[:, unsure].var(axis=0)
            odds[unsure], variance[unsure] = self.doubt.among(mine).match(*prior)
        columns = self.odds[:, places].copy()
        columns[row] = odds
        return shorten(columns)[row], variance

    def teachers(self, measured: Mask) -> Ints:
        """Return how many models with scores enough have taken each relative."""
        return np.asarray((~np.isnan(self.odds[measured.sum(axis=1) >= ENOUGH])).sum(axis=0))

    def read(self, measured: Mask) -> Mask:
        """Tell which relatives are read of which models: models × relatives, all False for those with scores enough."""
        few = measured.sum(axis=1) < ENOUGH
        return np.asarray(~np.isnan(self.odds) & few[:, None] & (self.teachers(measured) >= TEACHERS))


def condition(
    log_odds: Floats, measured: Mask, shares: Floats, relatives: Relatives, rng: np.random.Generator
) -> Floats:
    """Return draws (draws × models × benchmarks) in which models with few scores agree with their relatives.

    ``shares``: the weight of each benchmark in a model's mean, summing to 1.
    """
    read = relatives.read(measured)
    if not read.any():
        return log_odds
    teaching = measured.sum(axis=1) >= ENOUGH
    moved = log_odds.copy()
    lines = {
        int(place): _lines(log_odds, shares, teaching, relatives.odds[:, place], rng)
        for place in np.flatnonzero(read.any(axis=0))
    }
    for row in np.flatnonzero(read.any(axis=1)):
        own, places = log_odds[:, row].astype(np.float64), np.flatnonzero(read[row])
        level, taken = own @ shares, [lines[int(place)] for place in places]
        drawn = np.stack([a + b * level + noise * rng.standard_normal(level.size) for a, b, noise in taken], axis=1)
        about = own - own.mean(axis=0)
        reading, variance = relatives.reading(int(row), places, drawn)
        if variance.any():
            reading = reading + np.sqrt(variance) * rng.standard_normal(drawn.shape)
        seen = reading - drawn
        spread = np.atleast_2d(np.cov(drawn, rowvar=False)) + np.diag(variance)
        gain = np.linalg.solve(spread, (drawn - drawn.mean(axis=0)).T @ about / (len(own) - 1))
        moved[:, row] = np.where(measured[row], own, own + seen @ gain)
    return moved


def _lines(
    log_odds: Floats, shares: Floats, teaching: Mask, odds: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Draw intercept, slope and noise of one relative for each draw of the models that teach it."""
    rows = np.flatnonzero(teaching & ~np.isnan(odds))
    x, y = log_odds[:, rows].astype(np.float64) @ shares, odds[rows]
    centre = x.mean(axis=1, keepdims=True)
    x, around = x - centre, y - y.mean()
    square = (x**2).sum(axis=1)
    slope = (x @ around) / square
    left = ((around - slope[:, None] * x) ** 2).sum(axis=1) + _NOISE_WORTH * _NOISE
    noise = left / rng.chisquare(y.size - 2 + _NOISE_WORTH, left.size)
    precision = square / noise + 1 / _SLOPE_VARIANCE
    mean = (x @ around / noise + _SLOPE / _SLOPE_VARIANCE) / precision
    slope = mean + rng.standard_normal(mean.size) / np.sqrt(precision)
    level = y.mean() + np.sqrt(noise / y.size) * rng.standard_normal(mean.size)
    return level - slope * centre[:, 0], slope, np.sqrt(noise)
