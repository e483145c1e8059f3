"""Abilities of subjects in each dimension, before they are placed among people: by curves, or by the joint model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mensura.calibration.inputs import Z90
from mensura.calibration.profiles.adele import LEVELS, draw_curves, fit_counts
from mensura.calibration.profiles.joint import JointFit, NonCompensatory, chance, fit_joint
from mensura.calibration.profiles.level_grid import LevelGrid
from mensura.calibration.profiles.outcomes import Answered
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError

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
    fitted = fit_counts(n, correct)
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
    found = abilities_by_curves(answered.subjects, answered.dimensions, n, able, draws, seed)
    warnings = [f"the fit of {', '.join(unsettled[:3])} did not settle"] if unsettled else []
    alone = middle, middle - Z90 * error, middle + Z90 * error
    return replace(found, alone=alone), fits, warnings
