"""Rotations of slopes: varimax (abilities stay uncorrelated) and oblimin (they may correlate).

Both are found by projected gradients (Jennrich 2001, 2002; Bernaards and Jennrich 2005), from several starts.
"""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError

ROTATIONS = ("varimax", "oblimin", "none")
_STEPS, _STARTS, _FLAT = 500, 8, 1e-8


def rotate(slopes: Floats, rotation: str = "varimax", seed: int = 0) -> tuple[Floats, Floats]:
    """Return the rotated slopes and the correlations of the abilities they belong to.

    Abilities are ordered by the variance that they explain, and each has mostly positive slopes.
    """
    if rotation not in ROTATIONS:
        raise MensuraError(f"rotation: got {rotation!r}; expected one of {', '.join(ROTATIONS)}")
    dimensions = slopes.shape[1]
    if rotation == "none" or dimensions == 1:
        return _ordered(slopes, np.eye(dimensions))
    rng = np.random.default_rng(seed)
    starts = [np.eye(dimensions), *(np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0] for _ in range(_STARTS))]
    turns = [(_oblique if rotation == "oblimin" else _orthogonal)(slopes, start) for start in starts]
    turn = min(turns, key=lambda found: found[0])[1]
    loadings = slopes @ np.linalg.inv(turn).T
    return _ordered(loadings, turn.T @ turn)


def _ordered(slopes: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(-np.sum(slopes**2, axis=0), kind="stable")
    signs = np.where(slopes[:, order].sum(axis=0) < 0.0, -1.0, 1.0)
    return slopes[:, order] * signs, correlation[np.ix_(order, order)] * np.outer(signs, signs)


def _varimax(slopes: Floats) -> tuple[float, Floats]:
    """Return the loss (minus the variance of squared slopes, ability by ability) and its gradient."""
    centred = slopes**2 - np.mean(slopes**2, axis=0)
    return -float(np.sum(centred**2)) / 4.0, -slopes * centred


def _quartimin(slopes: Floats) -> tuple[float, Floats]:
    """Return the loss (products of squared slopes of different abilities) and its gradient."""
    others = slopes**2 @ (1.0 - np.eye(slopes.shape[1]))
    return float(np.sum(slopes**2 * others)) / 4.0, slopes * others


def _orthogonal(slopes: Floats, turn: Floats) -> tuple[float, Floats]:
    """Return the least loss from a start, and the turn that gives it."""
    length = 1.0
    loss, gradient = _varimax(slopes @ turn)
    for _ in range(_STEPS):
        along = slopes.T @ gradient
        skew = turn.T @ along
        along = along - turn @ (skew + skew.T) / 2.0
        if float(np.linalg.norm(along)) < _FLAT:
            break
        length *= 2.0
        while length > 1e-12:
            left, _, right = np.linalg.svd(turn - length * along)
            tried = left @ right
            new, new_gradient = _varimax(slopes @ tried)
            if new < loss - 0.5 * length * float(np.sum(along**2)):
                break
            length /= 2.0
        else:
            break
        turn, loss, gradient = tried, new, new_gradient
    return loss, turn


def _oblique(slopes: Floats, turn: Floats) -> tuple[float, Floats]:
    """Return the least loss from a start, and the turn (columns of length 1) that gives it."""
    length = 1.0
    rotated = slopes @ np.linalg.inv(turn).T
    loss, gradient = _quartimin(rotated)
    for _ in range(_STEPS):
        along = -(rotated.T @ gradient @ np.linalg.inv(turn)).T
        along = along - turn * np.sum(turn * along, axis=0)
        if float(np.linalg.norm(along)) < _FLAT:
            break
        length *= 2.0
        while length > 1e-12:
            tried = turn - length * along
            tried = tried / np.sqrt(np.sum(tried**2, axis=0))
            new_rotated = slopes @ np.linalg.inv(tried).T
            new, new_gradient = _quartimin(new_rotated)
            if new < loss - 0.5 * length * float(np.sum(along**2)):
                break
            length /= 2.0
        else:
            break
        turn, loss, gradient, rotated = tried, new, new_gradient, new_rotated
    return loss, turn
