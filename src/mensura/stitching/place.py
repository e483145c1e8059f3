"""New subjects, a domain's scores, or contestants of votes, on an existing fit that they do not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.stitching.checks import positions_of
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.positions import LEVEL, PositionDraws, Positions
from mensura.stitching.scores import ScoreSet, encode, read_scores

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch
    from mensura.stitching.votes import VoteFit

PLACING_DRAWS = 200
"""Draws of the benchmarks on which new subjects are placed; each costs one iteration per new subject."""


def on_benchmarks(
    frame: pl.DataFrame, benchmarks: tuple[str, ...], chance: Floats, ceiling: Floats, step: float
) -> ScoreSet:
    """Encode new scores with the positions, chance levels and ceilings of known benchmarks; others are refused."""
    own = encode(frame.drop("chance", "ceiling", strict=False), "mean")
    cols = positions_of(benchmarks, list(own.benchmarks))
    if (cols < 0).any():
        name = own.benchmarks[int(np.flatnonzero(cols < 0)[0])]
        raise MensuraError(f"scores: benchmark {name!r} is not in the fit; expected one of {', '.join(benchmarks)}")
    layout = ScoreLayout(own.layout.rows, cols[own.layout.cols], len(own.subjects), len(benchmarks))
    unknown, none = np.full(len(benchmarks), np.nan), np.zeros(len(benchmarks))
    settings = {"chance": chance, "ceiling": ceiling, "step": step}
    return replace(own, benchmarks=benchmarks, layout=layout, published=unknown, leak=none, **settings)  # type: ignore[arg-type]


def on_benchmarks_of(fit: Stitch, frame: pl.DataFrame) -> ScoreSet:
    """Encode new scores on the benchmarks of a fit."""
    data = fit.data
    own = on_benchmarks(frame, data.benchmarks, data.chance, data.ceiling, data.step)
    return replace(own, published=data.published, leak=data.leak)


def place(fit: Stitch, scores: Any, *, seed: int = 0) -> PositionDraws:
    """Place the subjects of a score table on the fit; its benchmarks stay where they are.

    Parameters
    ----------
    fit : Stitch
        A fit of either method.
    scores : table
        Scores of new subjects on benchmarks of the fit.
    seed : int
        Seed of the draws.

    Returns
    -------
    PositionDraws
        Draws over the fit's subjects and, after them, the new ones, so that they can be ranked and compared. The
        intervals contain the error of the subject and of the benchmarks.

    Raises
    ------
    MensuraError
        If a subject is in the fit, or a benchmark is not.

    Examples
    --------
    >>> import mensura
    >>> from mensura.stitching import place
    >>> scores = {"subject": ["ann", "ann", "bob", "bob"], "benchmark": ["easy", "hard"] * 2}
    >>> fit = mensura.stitch(scores | {"score": [0.9, 0.5, 0.7, 0.2]})
    >>> place(fit, {"subject": ["eve"], "benchmark": ["easy"], "score": [0.8]}).subjects
    ('ann', 'bob', 'eve')

    """
    frame = read_scores(scores)
    taken = sorted(set(frame["subject"]) & set(fit.data.subjects))
    if taken:
        raise MensuraError(f"scores: {taken[0]!r} is already in the fit; rename it to place it a second time")
    return _placed(fit, on_benchmarks_of(fit, frame), f"placed on a {fit.method} fit", seed)


def domain(fit: Stitch, benchmarks: Sequence[str], *, seed: int = 0) -> PositionDraws:
    """Place every subject by its scores on some benchmarks only (a domain index), the fit frozen.

    Parameters
    ----------
    fit : Stitch
        A fit of either method.
    benchmarks : sequence of str
        Benchmarks of the fit.
    seed : int
        Seed of the draws.

    Returns
    -------
    PositionDraws
        Draws over the subjects of the fit and, after them, the same subjects by these benchmarks, named
        ``NAME (domain)``.

    Raises
    ------
    MensuraError
        If a benchmark is not in the fit.

    Examples
    --------
    >>> import mensura
    >>> from mensura.stitching import domain
    >>> scores = {"subject": ["ann", "ann", "bob", "bob"], "benchmark": ["easy", "hard"] * 2}
    >>> domain(mensura.stitch(scores | {"score": [0.9, 0.5, 0.7, 0.2]}), ["easy"]).subjects
    ('ann', 'bob', 'ann (domain)', 'bob (domain)')

    """
    data = fit.data
    unknown = [name for name in benchmarks if name not in data.benchmarks]
    if unknown:
        raise MensuraError(
            f"benchmarks: {unknown[0]!r} is not in the fit; expected one of {', '.join(data.benchmarks)}"
        )
    frame = data.table.select(pl.col("subject") + " (domain)", "benchmark", "score", stderr=np.sqrt(data.sampling))
    chosen = frame.filter(pl.col("benchmark").is_in(benchmarks))
    return _placed(fit, on_benchmarks_of(fit, chosen), f"domain of {len(benchmarks)} benchmarks", seed)


def _placed(fit: Stitch, new: ScoreSet, kind: str, seed: int) -> PositionDraws:
    """Place at the estimate and, with noise, at every draw of the benchmarks."""
    rng = np.random.default_rng(seed)
    model, basis = fit.model, len(fit.data.subjects)
    base, drawn = model.positions, model.sample(PLACING_DRAWS, rng)
    centre = Positions(np.concatenate((base.theta, model.place(new).theta[None]), axis=1), base.phi)
    theta, lost = np.empty((PLACING_DRAWS, len(new.subjects), base.theta.shape[2])), 0
    for i, phi in enumerate(drawn.phi):
        at, covariance, converged = model.place(new, phi)
        lost += not converged
        theta[i] = at + (np.linalg.cholesky(covariance) @ rng.standard_normal((*at.shape, 1)))[:, :, 0]
    together = Positions(np.concatenate((drawn.theta, theta), axis=1), drawn.phi)
    estimate, positions = fit.scaled(centre, basis), fit.scaled(together, basis, about=centre)
    return PositionDraws(kind, (*fit.data.subjects, *new.subjects), fit.data.benchmarks, estimate, positions, lost)


# Votes on the scale: the line through the models that have a strength and a capability.

FEWEST_LINKS = 3
"""Models with a capability and a strength from which votes join the stitched scale."""


def join_scale(fit: VoteFit, capabilities: pl.DataFrame) -> pl.DataFrame | None:
    """Place contestants on the stitched scale through those that have a capability too.

    Parameters
    ----------
    fit : VoteFit
        The votes.
    capabilities : pl.DataFrame
        subject, capability, low and high (90%), under the contestants' names.

    Returns
    -------
    polars.DataFrame or None
        contestant, kind, capability with its interval and whether it was linked; None below three shared models.
        A contestant without a strength has no place.

    Examples
    --------
    >>> from mensura.stitching.place import join_scale
    >>> join_scale(fit, stitched.capabilities)  # doctest: +SKIP

    """
    both = fit.contestants.join(
        capabilities.select(contestant="subject", c="capability", c_low="low", c_high="high"), on="contestant"
    ).drop_nulls()
    if both.height < FEWEST_LINKS:
        return None
    width = 2 * scipy.special.ndtri(0.5 + LEVEL / 2)
    x, y = both["strength"].to_numpy(), both["c"].to_numpy()
    ex, ey = ((both[high] - both[low]).to_numpy() / width for low, high in (("low", "high"), ("c_low", "c_high")))
    slope = float(np.std(y) / max(1e-9, np.std(x)))
    scatter = 0.0
    for _ in range(50):  # weights depend on the slope and on the scatter about the line
        weight = 1 / np.maximum(1e-9, ey**2 + slope**2 * ex**2 + scatter)
        mx, my = np.average(x, weights=weight), np.average(y, weights=weight)
        slope = float(np.sum(weight * (x - mx) * (y - my)) / np.sum(weight * np.maximum(1e-9, (x - mx) ** 2)))
        left = y - my - slope * (x - mx)
        noise = float(np.mean(ey**2 + slope**2 * ex**2))
        scatter = max(0.0, float(np.sum(left**2)) / max(1, len(x) - 2) - noise)
    table = fit.contestants.drop_nulls()
    strength = table["strength"].to_numpy()
    own = (table["high"] - table["low"]).to_numpy() / width
    line = 1 / np.sum(weight) + (strength - mx) ** 2 / np.sum(weight * (x - mx) ** 2)
    reach = scipy.special.stdtrit(max(1, len(x) - 2), 0.5 + LEVEL / 2) * np.sqrt(slope**2 * own**2 + scatter + line)
    placed = my + slope * (strength - mx)
    return table.select("contestant", "kind").with_columns(
        capability=pl.Series(placed),
        low=pl.Series(placed - reach),
        high=pl.Series(placed + reach),
        linked=pl.col("contestant").is_in(both["contestant"].implode()),
    )
