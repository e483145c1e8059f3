"""Learning what a language model's estimates are worth, from samples whose rates are known.

The model is that of :mod:`mensura.extrapolation.correction`. Its five constants come from the marginal likelihood of
part-to-whole records, with priors that keep spreads off zero when groups are few (Chung et al., Psychometrika 78,
2013). ``python -m tools.embed_corrections`` learns the shipped constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, logit
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.extrapolation.correction import Correction, Z, inside_edges
from mensura.intake.tables import as_frame

RECORD_COLUMNS = ("pool", "group", "item", "observed", "whole", "estimate", "low", "high")
FEWEST_GROUPS = 2
SPREAD_SCALE = 0.2
"""Gamma(2) prior of σ_b, σ_β and τ: mode at 0.2 logits."""
DAMPING_PRIOR, WIDTH_PRIOR = 0.1, 0.3
"""Prior spread of β₀ around 1, and of ln c around 0."""


def learn_correction(records: Any) -> Correction:  # noqa: ANN401
    """Learn how a language model misjudges groups, from its estimates of samples whose rates are known.

    Parameters
    ----------
    records : table of any library, or path
        Columns pool, group, item, observed (the group's rate), whole (the whole sample's), estimate, low, high. Each
        pool and group is one focal group. Keep the pool to be judged out of the records.

    Returns
    -------
    Correction
        The constants, for ``WholePool(asker, correction=…)``.

    Raises
    ------
    MensuraError
        If a column is missing, or the records have fewer than two focal groups.

    Examples
    --------
    >>> from tools.learn_correction import learn_correction
    >>> rows = [{"pool": "p", "group": g, "item": "i", "observed": 0.5, "whole": 0.4} for g in "ab"]
    >>> learn_correction([{**row, "estimate": 0.4, "low": 0.3, "high": 0.5} for row in rows]).origin
    '2 focal groups of p'

    """
    table = as_frame(records, name="records")
    require_columns(table, list(RECORD_COLUMNS), name="records")
    groups = [_in_logits(part) for _, part in table.group_by("pool", "group", maintain_order=True)]
    if len(groups) < FEWEST_GROUPS:
        raise MensuraError(f"records: {len(groups)} focal group; at least {FEWEST_GROUPS} are needed to learn from")
    start = np.array([1.0, *np.log([SPREAD_SCALE, SPREAD_SCALE, SPREAD_SCALE, 1.0])])
    solution = scipy.optimize.minimize(_cost, start, args=(groups,), method="L-BFGS-B")
    damping_sd, shift_sd, item_sd, width = (float(value) for value in np.exp(solution.x[1:]))
    origin = f"{len(groups)} focal groups of {', '.join(table['pool'].unique(maintain_order=True))}"
    return Correction(float(solution.x[0]), damping_sd, shift_sd, item_sd, width, origin)


def _in_logits(table: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Return a group's true shift, the shift that the model stated, and its half-widths."""
    x, y, e, low, high = (logit(inside_edges(table[name].cast(pl.Float64).to_numpy())) for name in RECORD_COLUMNS[3:])
    return y - x, e - x, (high - low) / 2


def _cost(theta: Floats, groups: Sequence[tuple[Floats, Floats, Floats]]) -> float:
    """Return the negative log posterior; spreads and width come as logarithms.

    A group's covariance is diagonal plus rank two (b and β), so that determinant and inverse take 2 × 2 matrices.
    """
    damping, (damping_sd, shift_sd, item_sd, width) = theta[0], np.exp(theta[1:])
    cost = 0.5 * ((damping - 1) / DAMPING_PRIOR) ** 2 + 0.5 * (np.log(width) / WIDTH_PRIOR) ** 2
    for spread in (damping_sd, shift_sd, item_sd):
        cost -= np.log(spread) - spread / SPREAD_SCALE
    for truth, gap, half in groups:
        residual, noise = truth - damping * gap, item_sd**2 + (width * half / Z) ** 2
        common = np.stack([np.full_like(noise, shift_sd), damping_sd * gap], axis=1)
        inner = np.eye(2) + (common.T / noise) @ common
        shared = (common.T / noise) @ residual
        fit = residual @ (residual / noise) - shared @ np.linalg.solve(inner, shared)
        cost += 0.5 * (np.log(noise).sum() + np.log(np.linalg.det(inner)) + fit)
    return float(cost)
