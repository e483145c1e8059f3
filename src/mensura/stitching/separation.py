"""What a fit cannot tell apart: subjects whose scores are mostly noise, benchmarks that do not depend on capability."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError, listed_names
from mensura.stitching.draws import central_interval
from mensura.stitching.positions import Positions
from mensura.stitching.scores import ScoreSet

FEWEST_SUBJECTS = 2
"""Subjects are placed by what tells them apart."""
LEAST_SHARE = 0.7
"""Least share of the spread that must be difference and not error, else it is said: the customary least reliability.

Every draw is put on the scale by itself, so that the share of pure noise is one half (up to 0.64 in simulations)."""
FAR = 10.0
"""A difficulty that lies further outside the subjects than so many times their whole range is named."""


def refuse_alike(data: ScoreSet) -> None:
    """Refuse scores that tell no subject from another: there is no unit in which to place them."""
    if len(data.subjects) < FEWEST_SUBJECTS:
        raise MensuraError(
            f"scores: {data.subjects[0]!r} is the only subject; a scale needs at least {FEWEST_SUBJECTS} "
            "(to place one subject on a scale that stands: mensura.stitching.place)"
        )
    if constant_benchmarks(data).all():
        raise MensuraError(
            "scores: on no benchmark do two subjects score differently, so nothing tells them apart; "
            "add a benchmark that does, or subjects that differ"
        )


def constant_benchmarks(data: ScoreSet) -> Mask:
    """Whether all scores of each benchmark are the same (also where it has one score only)."""
    low, high = np.full(len(data.benchmarks), np.inf), np.full(len(data.benchmarks), -np.inf)
    np.minimum.at(low, data.layout.cols, data.y)
    np.maximum.at(high, data.layout.cols, data.y)
    return np.asarray(low == high)


def constant_warnings(data: ScoreSet) -> tuple[str, ...]:
    """Name the benchmarks with several scores that are all the same."""
    several = np.bincount(data.layout.cols, minlength=len(data.benchmarks)) > 1
    same = [data.benchmarks[i] for i in np.flatnonzero(constant_benchmarks(data) & several)]
    if not same:
        return ()
    return (f"everyone scores the same on {listed_names(same)}: it tells no subject from another",)


def _beyond_tails(estimate: Floats, drawn: Floats) -> Mask:
    """Whether each estimate lies outside the central interval of its own draws."""
    low, high = central_interval(drawn)
    return np.asarray((estimate < low) | (estimate > high))


def estimate_warnings(names: tuple[str, ...], estimate: Positions, drawn: Positions) -> tuple[str, ...]:
    """Say where differences between subjects are mostly error, and which benchmarks hardly depend on capability."""
    C, found = estimate.capability[0], []
    error = float(np.nanmean(np.nanvar(drawn.capability, axis=0)))
    share = float(C.var()) / max(float(C.var()) + error, np.finfo(float).tiny)
    outside = int(np.count_nonzero(_beyond_tails(C, drawn.capability)))
    if share < LEAST_SHARE or outside:
        found.append(
            f"these scores hardly tell subjects apart: {share:.0%} of the spread is difference (noise alone: 50%); "
            f"{outside} of {C.size} estimates left the interval of their own draws, which was widened"
        )
    reach = FAR * float(np.ptp(C))
    away = np.maximum(C.min() - estimate.difficulty[0], estimate.difficulty[0] - C.max())
    flat = [names[i] for i in np.flatnonzero(~(away <= reach))]
    if flat:
        found.append(f"scores on {listed_names(flat)} hardly depend on capability: its difficulty lies beyond everyone")
    return tuple(found)
