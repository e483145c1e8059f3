"""Equating: which level or score of one test corresponds to which of another, through the world population.

Items carry two levels: the one observed in the people who took the test, and the one estimated for the world. On each
test the world level is a straight line of the observed one, a + b·L. Level L of test A
then stands where level (a_A + b_A L − a_B) / b_B of test B does: items that equally many people of the world solve.

Scores go through people. In the world ability is standard normal, and a share r of it solves an item where ability
exceeds Φ⁻¹(1 − r) blurred by the item's noise; the expected score at an ability is the mean over the items, guessing
included, and two scores correspond if the same ability has them (true-score equating).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.calibration.items import empirical_levels, lift_zeros
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.intake.columns import read_rates
from mensura.scale import Z90

LOADING = 0.6
"""Correlation of an item's liability with ability: a usual item of a test (discrimination about 1.3)."""
FEWEST_ITEMS = 5
DRAWS = 1_000
SCORES = np.arange(0.1, 0.95, 0.1)
_ABILITIES = np.linspace(-4.0, 6.0, 201)
_LEAST = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Equating(Result):
    """Test A against test B.

    Attributes
    ----------
    levels
        Level on A (from the rates of those who took it), the level on B that corresponds with its 90% interval, the
        world's rate there, and whether A's and B's items cover it.
    scores
        Share correct on A, the world percentile that has it, and the share correct on B with its 90% interval.
    tests, items
        Names and numbers of items of the two.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("levels", "scores")

    levels: pl.DataFrame
    scores: pl.DataFrame
    tests: tuple[str, str]
    items: tuple[int, int]

    @property
    def heading(self) -> str:
        """The two tests."""
        return f"{self.tests[0]} ({self.items[0]} items) against {self.tests[1]} ({self.items[1]}), through the world"


@dataclass(frozen=True, eq=False)
class _Tested:
    """One test: observed and world levels of its items, the world rates with their errors, floors."""

    observed: Floats
    world: Floats
    rate: Floats
    error: Floats
    floor: Floats

    @classmethod
    def of(cls, table: Any, name: str) -> _Tested:
        frame = read_rates(table, name=name, needed=("item", "observed", "rate"))
        if frame.height < FEWEST_ITEMS:
            raise MensuraError(f"{name}: {frame.height} items; equating needs {FEWEST_ITEMS} or more")
        columns = ("observed", "rate", "low", "high", "options")
        observed, rate, low, high, options = (frame[column].fill_null(np.nan).to_numpy() for column in columns)
        unknown = np.full(len(rate), np.nan)
        observed, rate = (lift_zeros(values, unknown, unknown) for values in (observed, rate))
        error = np.nan_to_num((high - low) / (2 * Z90), nan=0.0) / (rate * np.log(10.0))
        if np.ptp(observed) == 0:
            raise MensuraError(
                f"{name}: all items have the same observed rate, so no line can be drawn; add items with other rates"
            )
        return cls(empirical_levels(observed), empirical_levels(rate), rate, error, np.nan_to_num(1 / options, nan=0.0))

    def lines(self, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return intercepts and slopes of world on observed level: first the fit, then bootstrap samples of items.

        A shift of all world estimates of a test together, half the size of their errors, is drawn beside.
        """
        size = len(self.world)
        picks = np.vstack([np.ones(size), rng.multinomial(size, np.full(size, 1 / size), size=draws)])
        shift = np.concatenate([[0.0], rng.normal(0.0, 0.5 * float(self.error.mean()), draws)])
        total = picks.sum(axis=1)
        mean_x, mean_y = picks @ self.observed / total, picks @ self.world / total
        spread = picks @ self.observed**2 / total - mean_x**2
        cross = picks @ (self.observed * self.world) / total - mean_x * mean_y
        slope = np.clip(cross / np.maximum(spread, 1e-9), 0.05, 20.0)
        return mean_y - slope * mean_x + shift, slope

    def score(self, rates: Floats) -> Floats:
        """Return the expected share correct at each ability, for draws × items world rates of solving."""
        able = np.clip((rates - self.floor) / (1.0 - self.floor), _LEAST, 1.0 - _LEAST)
        threshold = scipy.special.ndtri(1.0 - able)
        noise = np.sqrt(1.0 - LOADING**2)
        solved = scipy.special.ndtr((LOADING * _ABILITIES[:, None, None] - threshold) / noise)
        return np.asarray((self.floor + (1.0 - self.floor) * solved).mean(axis=2).T)

    def drawn_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return world rates: as estimated, then drawn with their errors, half of each shared by the whole test."""
        own, shared = rng.standard_normal((draws, len(self.rate))), rng.standard_normal((draws, 1))
        moved = np.vstack([np.zeros(len(self.rate)), np.sqrt(0.5) * (own + shared)]) * self.error
        return np.clip(self.rate * 10.0**moved, _LEAST, 1.0 - _LEAST)


def equate(one: Any, other: Any, *, names: tuple[str, str] = ("A", "B"), draws: int = DRAWS, seed: int = 0) -> Equating:
    """Read levels and scores of one test in those of another, through the world population.

    Parameters
    ----------
    one, other
        A table of any library or a path each: item, observed (rate in the people who took the test), rate (the
        world's) and, where known, low and high (its 90% interval) and options.
    names
        Names of the two tests.
    draws
        Bootstrap samples of items.
    seed
        Seed of the draws.

    Returns
    -------
    Equating
        Levels and scores that correspond, with 90% intervals.

    Raises
    ------
    MensuraError
        If a test has fewer than five items, or all have the same observed rate.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.calibration import equate
    >>> observed = [0.2, 0.4, 0.5, 0.6, 0.8]
    >>> test = pl.DataFrame({"item": list("abcde"), "observed": observed, "rate": [p / 2 for p in observed]})
    >>> equate(test, test, draws=20).tests
    ('A', 'B')

    """
    first, second = (_Tested.of(table, name) for table, name in zip((one, other), names, strict=True))
    rng = np.random.default_rng(seed)
    levels, scores = (make(first, second, draws, rng) for make in (_level_table, _score_table))
    return Equating(levels, scores, names, (len(first.rate), len(second.rate)))


def _level_table(one: _Tested, other: _Tested, draws: int, rng: np.random.Generator) -> pl.DataFrame:
    (start, slope), (other_start, other_slope) = one.lines(draws, rng), other.lines(draws, rng)
    grid = np.arange(np.floor(one.observed.min() * 4) / 4, one.observed.max() + 0.25, 0.25)
    world = start[:, None] + slope[:, None] * grid
    there = (world - other_start[:, None]) / other_slope[:, None]
    low, high = np.quantile(there[1:], [0.05, 0.95], axis=0)
    inside = (there[0] >= other.observed.min()) & (there[0] <= other.observed.max())
    inside &= (grid >= one.observed.min()) & (grid <= one.observed.max())
    return pl.DataFrame(
        {
            "level": grid,
            "other_level": there[0],
            "low": np.minimum(low, there[0]),
            "high": np.maximum(high, there[0]),
            "world_rate": np.minimum(10.0 ** (0.5 - world[0]), 1.0),
            "covered": inside,
        }
    )


def _score_table(one: _Tested, other: _Tested, draws: int, rng: np.random.Generator) -> pl.DataFrame:
    few = min(draws, 200)  # score curves cost more than lines; so many draws place a 90% interval well enough
    curves = one.score(one.drawn_rates(few, rng)), other.score(other.drawn_rates(few, rng))
    rows = []
    for score in SCORES:
        if not curves[0][0, 0] < score < curves[0][0, -1]:
            continue
        ability = np.array([np.interp(score, curve, _ABILITIES) for curve in curves[0]])
        there = np.array([np.interp(at, _ABILITIES, curve) for at, curve in zip(ability, curves[1], strict=True)])
        low, high = np.quantile(there[1:], [0.05, 0.95])
        middle, percentile = float(there[0]), 100 * float(scipy.special.ndtr(ability[0]))
        rows.append((score, percentile, middle, min(float(low), middle), max(float(high), middle)))
    names = ["score", "percentile", "other_score", "low", "high"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")
