"""Does the published result hang on its choices? Another anchor, another shape of the link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask, expit
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.stitching.checks import published_anchor, warn_unconverged
from mensura.stitching.fit import read_any
from mensura.stitching.fitted import RosettaModel
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.result import Stitch
from mensura.stitching.rosetta import Solution, shift_to_anchor, solve_rosetta
from mensura.stitching.scores import ScoreSet, encode
from mensura.stitching.validation import fold_numbers

Link = Literal["sigmoid", "clipped line"]
FOLDS = 10
"""Folds of the cross-validation that compares the links."""
SYNTHETIC = "(synthetic)"
"""Name of the anchor that is no benchmark: everybody took it, and its scores have no error."""
MOST_EVALUATIONS = 400
"""Evaluations of the unpenalised fit, which has flat directions: it ends where the squared error stops falling."""


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Result):
    """Whether the published result hangs on its anchor and on the shape of its link.

    ``anchor_change``: anchor, capability, difficulty, offset, unit, shift, largest, converged. ``link_shape``: link,
    r2, mse, unconverged.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("anchor_change", "link_shape")

    anchor_change: pl.DataFrame
    link_shape: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        least = self.anchor_change.select("capability", "difficulty").min().row(0)
        return f"{self.anchor_change.height} anchors in turn: rank correlations of at least {min(least):.3f}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many refits did not arrive."""
        anchors, links = self.anchor_change, self.link_shape
        lost = int((~anchors["converged"]).sum())
        of_links = int(links["unconverged"].sum())
        return warn_unconverged(lost, anchors.height, "fits of the change of anchor") + warn_unconverged(
            of_links, FOLDS * links.height, "fits of the links"
        )


def check_robustness(
    scores: Any = None,  # noqa: ANN401
    *,
    anchor_benchmark: str | None = None,
    seed: int = 0,
) -> Robustness:
    """Check the published method on one data set: another anchor, and a line instead of the sigmoid.

    Parameters
    ----------
    scores : table, file, Evidence or None
        What :func:`mensura.stitch` takes.
    anchor_benchmark : str, optional
        Benchmark that sets the scale of slopes (default: the one with most scores).
    seed : int
        Seed of the folds.

    Returns
    -------
    Robustness
        Changes of anchor, and errors of both links. :func:`mensura.trends.check_inclusion` drops benchmarks.

    Examples
    --------
    >>> import mensura
    >>> rows = [(f"m{i}", f"b{j}", 0.2 + 0.1 * i + 0.01 * j**2) for i in range(6) for j in range(4)]
    >>> scores = {"subject": [r[0] for r in rows], "benchmark": [r[1] for r in rows], "score": [r[2] for r in rows]}
    >>> from mensura.stitching import check_robustness
    >>> check_robustness(scores).link_shape["link"].to_list()
    ['sigmoid', 'clipped line']

    """
    frame, _ = read_any(scores)
    data = encode(frame, "max")
    return Robustness(anchor_change(data, published_anchor(data, anchor_benchmark)), link_shape(data, seed=seed))


def anchor_change(data: ScoreSet, anchor: int) -> pl.DataFrame:
    """One fit per anchor: mean rank correlation of its capabilities and difficulties with all other fits'.

    Every anchor's slope is held at its value in the fit anchored on ``anchor``, so that the unit, and with it the
    weight of the penalty, stays. ``shift`` and ``largest`` are the mean and the largest absolute change of a capability
    against that fit, means aligned, in its unit. ``offset`` and ``unit`` are the absolute change that
    a user sees who gives this anchor difficulty 0 and slope 1: the mean capability minus that of the first fit, and the
    ratio of their spreads. The last anchor is synthetic: everybody took it, and its scores have no error.
    """
    first = solve_rosetta(data.layout, data.y, anchor=anchor)
    fits, plain = [], []
    for other, slope in enumerate(first.slope[0]):
        fits.append(solve_rosetta(data.layout, data.y, anchor=other, anchor_slope=float(slope), start=first))
        plain.append(shift_to_anchor(solve_rosetta(data.layout, data.y, anchor=other, start=first), other))
    synthetic = _with_synthetic_anchor(data, first)
    fits.append(replace(synthetic, D=synthetic.D[:, :-1]))
    plain.append(shift_to_anchor(synthetic, len(data.benchmarks)))
    columns: dict[str, Any] = {"anchor": [*data.benchmarks, SYNTHETIC]}
    arrived = [bool(f.converged[0] and p.converged[0]) for f, p in zip(fits, plain, strict=True)]
    for name, values in (("capability", [f.C[0] for f in fits]), ("difficulty", [f.D[0] for f in fits])):
        correlation = np.corrcoef([pl.Series(v).rank() for v in values])
        columns[name] = (correlation.sum(axis=1) - 1) / (len(fits) - 1)
    centred = [f.C[0] - f.C[0].mean() for f in (first, *fits)]
    moved = np.abs(np.stack(centred[1:]) - centred[0])
    start = shift_to_anchor(first, anchor).C[0]
    columns["offset"] = [float(p.C[0].mean() - start.mean()) for p in plain]
    columns["unit"] = [float(p.C[0].std() / start.std()) for p in plain]
    columns |= {"shift": moved.mean(axis=1), "largest": moved.max(axis=1), "converged": arrived}
    return pl.DataFrame(columns).sort("capability")


def _with_synthetic_anchor(data: ScoreSet, first: Solution) -> Solution:
    """Fit again with a benchmark of slope 1 that every subject took and whose scores have no error."""
    layout, everyone = data.layout, np.arange(data.layout.n_subjects)
    expected = expit(first.C[0] - first.D[0].mean())
    rows = np.concatenate([layout.rows, everyone])
    order = np.argsort(rows, kind="stable")
    cols = np.concatenate([layout.cols, np.full(everyone.size, layout.n_benchmarks)])
    wider = ScoreLayout.of(rows[order], cols[order])
    return solve_rosetta(wider, np.concatenate([data.y, expected])[order], anchor=layout.n_benchmarks)


def link_shape(data: ScoreSet, *, seed: int) -> pl.DataFrame:
    """Sigmoid against clipped line, both without penalty and bounds, cross-validated: link, r2, mse, unconverged."""
    fold = fold_numbers(data.y.size, FOLDS, seed)
    rows = []
    for link in get_args(Link):
        predicted, lost = np.empty(data.y.size), 0
        for k in range(FOLDS):
            expected, converged = _fit_link(data, fold != k, link)
            predicted[fold == k] = expected[fold == k]
            lost += not converged
        mse = float(np.mean((predicted - data.y) ** 2))
        rows.append((link, 1 - mse / float(np.var(data.y)), mse, lost))
    return pl.DataFrame(rows, schema=["link", "r2", "mse", "unconverged"], orient="row")


def _fit_link(data: ScoreSet, train: Mask, link: Link) -> tuple[Floats, bool]:
    """Fit on some cells without any penalty (the busiest benchmark anchors the scale) and predict all of them.

    Also says whether the fit arrived: its squared error no longer falls.
    """
    rows, cols = data.layout.rows, data.layout.cols
    m, b = len(data.subjects), len(data.benchmarks)
    anchor = published_anchor(data, None)

    def expected(p: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        distance, slope = p[rows] - p[m + cols], p[m + b + cols]
        eta = slope * distance
        if link == "sigmoid":
            s = expit(eta)
            return s, s * (1 - s), slope, distance
        return np.clip(eta, 0, 1), ((eta > 0) & (eta < 1)).astype(float), slope, distance

    def residual(p: Floats) -> Floats:
        return (expected(p)[0] - data.y)[train]

    def jacobian(p: Floats) -> scipy.sparse.csr_array:
        _, d, slope, distance = (x[train] for x in expected(p))
        i = np.arange(d.size)
        free = cols[train] != anchor
        values = np.concatenate((d * slope, -d * slope * free, d * distance * free))
        where = np.concatenate((rows[train], m + cols[train], m + b + cols[train]))
        return scipy.sparse.csr_array((values, (np.tile(i, 3), where)), shape=(d.size, m + 2 * b))

    start = _link_start(data, link, anchor)
    solution = scipy.optimize.least_squares(residual, start, jac=jacobian, method="trf", max_nfev=MOST_EVALUATIONS)
    return expected(solution.x)[0], solution.status > 0


def _link_start(data: ScoreSet, link: Link, anchor: int) -> Floats:
    """Start both links from the penalised sigmoid fit; a line through its middle has a quarter of its slope."""
    fit = solve_rosetta(data.layout, data.y, anchor=anchor)
    C, D, slope = fit.C[0], fit.D[0], fit.slope[0]
    if link == "clipped line":
        slope = slope / 4
        D = D - 0.5 / slope
        unit = slope[anchor]
        C, D, slope = C * unit, D * unit, slope / unit
    return np.concatenate((C - D[anchor], D - D[anchor], slope))


# The published sensitivity bars: how far one parameter can move before its own squared error rises by 5%.
#
# They are a measure of curvature, not an interval: a bootstrap is about six times wider. Here for comparison.

RISE = 1.05
"""A bar ends where the squared error is so many times that at the estimate, as published."""
FIRST_STEP, GROWTH, BISECTIONS = 1e-3, 1.4, 45
"""The search moves out from the estimate by growing steps, then halves the last one to rounding error."""
TRIAL_SLOPES, GOLDEN_SECTIONS = 25, 30
FURTHEST = 10.0
"""Where the loss has not risen by so much this far out, the bar has no end (null)."""
SLOPES = (0.01, 20.0)
"""Range in which a benchmark's slope is refitted at every trial difficulty, as published."""


def sens5(fit: Stitch) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compute the published bars: how far a parameter moves before its own squared error rises by 5%.

    Parameters
    ----------
    fit : Stitch
        A fit of the published method.

    Returns
    -------
    tuple of tables
        subject, capability, low, high; benchmark, difficulty, low, high.

    Raises
    ------
    MensuraError
        If the fit is of another method.

    Examples
    --------
    >>> import mensura
    >>> rows = [(f"m{i}", f"b{j}", 0.2 + 0.1 * i + 0.01 * j**2) for i in range(6) for j in range(4)]
    >>> scores = {"subject": [r[0] for r in rows], "benchmark": [r[1] for r in rows], "score": [r[2] for r in rows]}
    >>> from mensura.stitching import sens5
    >>> sens5(mensura.stitch(scores, method="rosetta"))[0].columns
    ['subject', 'capability', 'low', 'high']

    """
    model = fit.model
    if not isinstance(model, RosettaModel):
        raise MensuraError(
            "sens5: the published sensitivity belongs to method='rosetta'; use intervals of this fit instead"
        )
    data, layout = fit.data, fit.data.layout
    at = fit.estimate
    C, D, slope = at.capability[0], at.difficulty[0], at.slope[0]

    def by_subject(trial: Floats) -> Floats:
        expected = expit(slope[layout.cols] * (trial[layout.rows] - D[layout.cols]))
        return np.asarray(np.bincount(layout.rows, data.counts * (expected - data.y) ** 2), dtype=float)

    def error(trial: Floats, a: Floats) -> Floats:
        expected = expit(a[layout.cols] * (C[layout.rows] - trial[layout.cols]))
        return np.asarray(np.bincount(layout.cols, data.counts * (expected - data.y) ** 2), dtype=float)

    limit = RISE * error(D, slope)
    subjects = _crossings(by_subject, C, RISE * by_subject(C))
    benchmarks = _crossings(lambda trial: _best_slope(lambda a: error(trial, a), layout.n_benchmarks), D, limit)
    capabilities = pl.DataFrame({"subject": data.subjects, "capability": C, "low": subjects[0], "high": subjects[1]})
    difficulties = pl.DataFrame(
        {"benchmark": data.benchmarks, "difficulty": D, "low": benchmarks[0], "high": benchmarks[1]}
    )
    tables = (sort_highest(capabilities, "capability", "subject"), difficulties)
    ends = pl.col("low", "high").fill_nan(None)
    return tables[0].with_columns(ends), tables[1].with_columns(ends)


def _crossings(loss: Callable[[Floats], Floats], centre: Floats, limit: Floats) -> tuple[Floats, Floats]:
    """Where the loss, moving out from the centre, first reaches the limit; both sides, all at once, by bisection."""
    ends = []
    for side in (-1.0, 1.0):
        inner, outer = np.zeros_like(centre), np.full_like(centre, FIRST_STEP)
        while True:
            short = (loss(centre + side * outer) < limit) & (outer < FURTHEST)
            if not short.any():
                break
            inner, outer = np.where(short, outer, inner), np.where(short, outer * GROWTH, outer)
        for _ in range(BISECTIONS):
            middle = (inner + outer) / 2
            inside = loss(centre + side * middle) < limit
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        ends.append(np.where(outer < FURTHEST, centre + side * outer, np.nan))
    return ends[0], ends[1]


def _best_slope(loss: Callable[[Floats], Floats], n: int) -> Floats:
    """Smallest loss over the slope of every benchmark: a grid, then golden sections around its best point."""
    grid = np.geomspace(*SLOPES, TRIAL_SLOPES)
    losses = np.stack([loss(np.full(n, a)) for a in grid])
    best = losses.argmin(axis=0)
    low, high = np.log(grid[np.maximum(best - 1, 0)]), np.log(grid[np.minimum(best + 1, grid.size - 1)])
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(GOLDEN_SECTIONS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        lower = loss(np.exp(left)) < loss(np.exp(right))
        low, high = np.where(lower, low, left), np.where(lower, right, high)
    return np.asarray(np.minimum(loss(np.exp((low + high) / 2)), losses.min(axis=0)))
