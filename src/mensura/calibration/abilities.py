"""Ability from level × outcome counts, by the published recipe: a logistic curve, anchored, and the area under it.

For one subject and dimension the items kept are those whose highest demand is in the dimension. The share solved at
levels 1 to 5 is fitted by expit(a + b·level), with weights: levels of 100 items or more count as much as the largest;
an item of a smaller level counts as the mean item of those. An anchor at level 20 that nobody solves has the
weight of all levels together, and ½b² is charged. The plotted ability is the area under the curve from 0 to 10; the
level at one half, −a/b, is what the accompanying text calls ability. They agree where the curve is steep.

Abilities of subjects in each dimension, before they are placed among people: by curves, or by the joint model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mensura.calibration.items import LEVELS
from mensura.calibration.joint import JointFit, LevelGrid, NonCompensatory, chance, fit_joint
from mensura.calibration.outcomes import Answered
from mensura.core.arrays import Floats, expit
from mensura.core.errors import MensuraError
from mensura.scale import Z90

ANCHOR = 20.0
FULL_BIN = 100.0
"""Items from which on a level has full weight."""
TOP_OF_AREA = 10.0
_LOOSE = 1e-9  # keeps the intercept finite for a subject that solves nothing
_STEPS, _LONGEST, _SETTLED = 60, 3.0, 1e-9
_FLAT = 1e-7
_DRAWS_SETTLED = 2e-2
_AT_ONCE = 8_000  # curves fitted together: their arrays stay in the processor's cache


class Curves(NamedTuple):
    """Fitted curves, one entry per row of counts."""

    intercept: Floats
    slope: Floats

    @property
    def area(self) -> Floats:
        """∫₀¹⁰ expit(a + b·x) dx, the ability as plotted."""
        slope = np.where(np.abs(self.slope) < _FLAT, -_FLAT, self.slope)
        top = np.logaddexp(0.0, self.intercept + slope * TOP_OF_AREA)
        return np.asarray((top - np.logaddexp(0.0, self.intercept)) / slope)

    @property
    def level_at_half(self) -> Floats:
        """−a/b, where half of the items are solved; NaN where the curve does not fall."""
        falls = self.slope < -_FLAT
        return np.asarray(np.where(falls, -self.intercept / np.where(falls, self.slope, -1.0), np.nan))


def bin_weights(n: Floats) -> Floats:
    """Return the weight of each level, rows × levels, from the numbers of items."""
    largest = n.max(axis=1, keepdims=True)
    full = n >= FULL_BIN
    counted = (n * full).sum(axis=1, keepdims=True)
    share = np.where(counted > 0, largest * full.sum(axis=1, keepdims=True) / np.maximum(counted, 1.0), 1.0)
    return np.asarray(np.where(full, largest, n * share))


def fit_curves(rate: Floats, weight: Floats, start: Curves | None = None, settled: float = _SETTLED) -> Curves:
    """Fit one curve per row of rates and weights, rows × levels, by damped Newton steps on all rows at once.

    Newton's error after a step is about the square of it, so that ``settled`` is the root of what is wanted. Rows that
    have settled are left alone when they are half of those at work.
    """
    rows = len(rate)
    y, w = np.ascontiguousarray(rate.T), np.ascontiguousarray(weight.T)
    a, b = (np.zeros(rows), np.zeros(rows)) if start is None else (start.intercept.copy(), start.slope.copy())
    done, working = Curves(np.empty(rows), np.empty(rows)), np.arange(rows)
    for _ in range(_STEPS):
        step_a, step_b = _newton(a, b, y, w)
        size = np.maximum(np.abs(step_a), np.abs(step_b))
        damp = np.minimum(1.0, _LONGEST / np.maximum(size, _LONGEST))
        a, b = a + damp * step_a, b + damp * step_b
        moving = size >= settled
        if 2 * np.count_nonzero(moving) < len(moving):
            done.intercept[working], done.slope[working] = a, b
            if not moving.any():
                break
            a, b, y, w, working = a[moving], b[moving], y[:, moving], w[:, moving], working[moving]
    done.intercept[working], done.slope[working] = a, b
    return done


def _newton(a: Floats, b: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return the Newton step of each curve; y and w: levels × curves, the anchor not among them."""
    score_a, score_b = -_LOOSE * a, -b
    haa, hab, hbb = np.full_like(a, _LOOSE), np.zeros_like(a), np.ones_like(a)
    for x, share, weighs in (*zip(LEVELS, y, w, strict=True), (ANCHOR, 0.0, w.sum(axis=0))):
        p = expit(a + b * x)
        off, bend = weighs * (share - p), weighs * p * (1.0 - p)
        score_a, score_b = score_a + off, score_b + x * off
        haa, hab, hbb = haa + bend, hab + x * bend, hbb + x**2 * bend
    det = haa * hbb - hab**2
    return (hbb * score_a - hab * score_b) / det, (haa * score_b - hab * score_a) / det


def draw_curves(
    n: Floats, correct: Floats, fitted: Curves, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return draws × rows of area and of level at one half: shares of each level redrawn from their posterior.

    With Jeffreys' prior the share solved at a level is Beta(correct + ½, n − correct + ½); a level without items has
    no weight.
    """
    rows = len(n)
    areas, halves = np.empty((draws, rows)), np.empty((draws, rows))
    weight = bin_weights(n)
    together = max(1, _AT_ONCE // draws)
    for begin in range(0, rows, together):
        at = slice(begin, begin + together)
        size = len(n[at])
        shape = (draws, size, len(LEVELS))
        drawn = rng.beta(correct[at] + 0.5, n[at] - correct[at] + 0.5, size=shape).reshape(draws * size, -1)
        start = Curves(np.tile(fitted.intercept[at], draws), np.tile(fitted.slope[at], draws))
        curves = fit_curves(drawn, np.tile(weight[at], (draws, 1)), start, _DRAWS_SETTLED)
        areas[:, at] = curves.area.reshape(draws, size)
        halves[:, at] = curves.level_at_half.reshape(draws, size)
    return areas, halves


TAILS = (0.05, 0.95)
FEWEST_DECIDED = 10
"""Items that a dimension must decide for an ability to be placed."""
_ENDLESS = 1e6  # stands for the level at one half of a curve that does not fall, when draws are sorted


@dataclass(frozen=True, eq=False)
class FoundAbilities:
    """Abilities, subjects × dimensions, as a method found them; ``half``: levels at one half with their interval.

    ``untold``: where the items say too little to place an ability, with the reason. ``alone``: the level of a demand
    that is met half of the time when it is the only one, with its interval; of the joint model alone.
    """

    subjects: tuple[str, ...]
    dimensions: tuple[str, ...]
    ability: tuple[Floats, Floats, Floats]
    half: tuple[Floats, Floats, Floats]
    items: Floats
    untold: Mapping[tuple[int, int], str]
    alone: tuple[Floats, Floats, Floats] | None = None


def abilities_by_curves(
    subjects: tuple[str, ...], dimensions: tuple[str, ...], n: Floats, correct: Floats, draws: int, seed: int
) -> FoundAbilities:
    """Fit the published curve to every subject and dimension."""
    if draws < 1:
        raise MensuraError(f"draws: got {draws}; expected 1 or more")
    shape = n.shape[:2]
    n, correct = n.reshape(-1, len(LEVELS)), correct.reshape(-1, len(LEVELS))
    fitted = fit_curves(correct / np.maximum(n, 1.0), bin_weights(n))
    areas, halves = draw_curves(n, correct, fitted, draws, np.random.default_rng(seed))
    total = n.sum(axis=1)
    empty = total == 0
    ability = _with_ends(np.where(empty, np.nan, fitted.area), areas, shape)
    half = _with_ends(np.where(empty, np.nan, fitted.level_at_half), halves, shape)
    untold = {
        (int(at) // shape[1], int(at) % shape[1]): f"it decides {total[at]:g} items; {FEWEST_DECIDED} are needed"
        for at in np.flatnonzero(total < FEWEST_DECIDED)
    }
    return FoundAbilities(subjects, dimensions, ability, half, total.reshape(shape), untold)


def _with_ends(middle: Floats, drawn: Floats, shape: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """Return a value with the ends of its interval, which always hold it."""
    low, high = np.quantile(np.where(np.isfinite(drawn), drawn, _ENDLESS), TAILS, axis=0)
    low, high = np.fmin(low, middle), np.fmax(high, middle)
    gone = np.isnan(middle)
    ends = [np.where(gone | (np.abs(end) > _ENDLESS / 2), np.nan, end).reshape(shape) for end in (low, high)]
    return middle.reshape(shape), ends[0], ends[1]


def abilities_by_model(
    answered: Answered, draws: int, seed: int
) -> tuple[FoundAbilities, dict[str, JointFit], list[str]]:
    """Fit the non-compensatory model to every subject, and read abilities off the chances that it gives the items.

    What a demand alone would take (``alone``) is not what items of that level take, which make other demands as well,
    and it is items as they are that lines are drawn through. So the curve of the published recipe is fitted to the
    chances, free of guessing and of the noise of single answers; the counts behind its interval stay the same.
    """
    model = NonCompensatory(len(answered.dimensions))
    whole = LevelGrid.of(answered.levels)
    fits: dict[str, JointFit] = {}
    size = (len(answered.subjects), len(answered.dimensions))
    middle, error, solving = np.empty(size), np.empty(size), np.empty(len(answered.solved))
    unsettled = []
    start, every = None, np.arange(len(answered.items))
    for at, name in enumerate(answered.subjects):
        rows, solved, floor = answered.of(at)
        grid = whole if np.array_equal(rows, every) else whole.rows(rows)
        fit = fit_joint(model, grid, solved, floor, start)
        start, fits[name] = fit.parameters, fit
        middle[at], error[at] = fit.parameters[:-1], np.sqrt(np.diag(fit.covariance)[:-1])
        solving[answered.starts[at] : answered.starts[at + 1]] = chance(model, fit.parameters, grid, 0.0 * floor)
        if not fit.converged:
            unsettled.append(name)
    n, able = replace(answered, solved=solving).counts()
    abilities = abilities_by_curves(answered.subjects, answered.dimensions, n, able, draws, seed)
    warnings = [f"the fit of {', '.join(unsettled[:3])} did not settle"] if unsettled else []
    alone = middle, middle - Z90 * error, middle + Z90 * error
    return replace(abilities, alone=alone), fits, warnings
