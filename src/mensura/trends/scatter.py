"""How releases scatter about a line: independently, and together by shocks that fade.

Values y of releases at years t are described by

    y = a + b t + u(t) + e,    Var(u + e) = s²,    Cov(u(t), u(t')) = w s² exp(−|t − t'| / ℓ),    e independent,

so w is the share of the variance that neighbouring releases have in common and ℓ the time over which it fades. The
posterior is exact on a grid of (w, ℓ): a, b and s are integrated out (flat in a, b and log s), which is the
restricted likelihood

    |R|^(−½) |XᵀR⁻¹X|^(−½) (rᵀR⁻¹r)^(−(n − 2)/2),    R = (1 − w) I + w K_ℓ,  X = (1, t),  r the residual of the line.

The pace may have changed within the time looked at. :func:`describe_bent` weighs the straight line against lines that
bend, at one of several times, by a change δ ~ N(0, (κ s)²). This prior is proper, so their likelihoods can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask

SHARES = np.linspace(0, 0.9, 19)
"""Grid of w."""
PRIOR = np.where(SHARES == 0, 10.0, 1.0) * (1 - SHARES) ** 3
"""Seven in ten that releases share nothing; otherwise Beta(1, 4) over the grid: a fifth of the variance in common is
expected, any share is possible."""
WARY = np.where(SHARES == 0, 5.0, 1.0) * (1 - SHARES) ** 2
"""The same for pace and forecast, half as sure of nothing shared: shocks that are missed make both look too certain
(``benchmarks/trends_shocks.py``), while for the watch they would only dull it."""
FADINGS = np.array([1 / 12, 1 / 4, 1 / 2, 1.0])
"""Grid of ℓ in years, equally likely: below a month shocks pass for independent, beyond a year for the line."""
BENDS = np.linspace(0.1, 0.9, 7)
"""Where the pace may have changed, as shares of the time looked at."""
BENT, CHANGE = 0.5, 2.0
"""Prior probability that it did within three years, and standard deviation of the change, in spreads of a release a
year."""
STEP_SIGNAL, MOST_STEPS, STEP_EDGE = 3.5, 5, 5
"""t value from which a sudden gain counts as a step, steps that are looked for, and releases on either side of one.
Among 120 releases without a step, 3 of 60 streams reach 3.5 somewhere."""
GROWTH, GROWTH_OF_WATCH = 0.1, 0.2
"""Prior standard deviations of the yearly growth of the scatter, as a logarithm, for forecasts and for the watch: one
that grows while it is taken for steady raises alarms (``benchmarks/acceleration.py``), but makes forecasts wider."""
SMALLEST_SIZE = 0.05
"""Residuals below this part of the median one count as this large: their logarithm would count for nothing else."""
_AT_ONCE = 6_000_000
"""Numbers whitened at once (pairs of w and ℓ × rows × releases): 48 megabytes, and a few times that on the way."""


@dataclass(frozen=True)
class ScatterDraws:
    """Draws of the line and of the scatter about it, one row each; ``level`` is the line at ``origin``."""

    origin: float
    level: Floats
    pace: Floats
    spread: Floats
    """s, the standard deviation of a release about the line."""
    share: Floats
    """w, the share of the variance that is common."""
    fading: Floats
    """ℓ, years over which the common part fades."""
    change: Floats
    """Change of pace at the bend, 0 where none was allowed."""

    def shocks(self, years: Floats, rng: np.random.Generator) -> Floats:
        """Draw the common part u at ``years`` for every draw, (draws, years)."""
        normal = rng.standard_normal((self.pace.size, years.size))
        distance = np.abs(years[:, None] - years)
        for fading in np.unique(self.fading):
            which = self.fading == fading
            root = np.linalg.cholesky(np.exp(-distance / fading) + 1e-9 * np.eye(years.size))
            normal[which] = normal[which] @ root.T
        return np.asarray(np.sqrt(self.share)[:, None] * self.spread[:, None] * normal)

    def line(self, years: Floats) -> Floats:
        """Return the line at ``years`` for every draw, (draws, years)."""
        return self.level[:, None] + self.pace[:, None] * (years - self.origin)


@dataclass(frozen=True)
class ScatterPosterior:
    """The posterior on the grid, for one or several rows of values: the line's coefficients and their errors over s.

    Arrays are (nodes,), (nodes, rows) or, for the line, (nodes, rows, coefficients).
    """

    origin: float
    freedom: int
    share: Floats
    fading: Floats
    probability: Floats
    squares: Floats
    """rᵀR⁻¹r of every node and row."""
    line: Floats
    """Level at the origin, pace, and where a bend was allowed the change of pace."""
    root: Floats
    """(nodes, coefficients, coefficients): Cholesky factors of (XᵀR⁻¹X)⁻¹."""
    evidence: Floats
    """Logarithm of the likelihood (rows,), all parameters integrated out; comparable where the freedom is the same."""

    def draw(self, n: int, rng: np.random.Generator) -> ScatterDraws:
        """Draw n sets of line and scatter, taking the rows of values in turn."""
        node, row = _picked(self.probability, n, rng)
        spread = np.sqrt(self.squares[node, row] / rng.chisquare(self.freedom, n))
        off = np.einsum("nij,nj->ni", self.root[node], rng.standard_normal((n, self.root.shape[1])))
        line = self.line[node, row] + spread[:, None] * off
        change = line[:, 2] if line.shape[1] > 2 else np.zeros(n)
        return ScatterDraws(self.origin, line[:, 0], line[:, 1], spread, self.share[node], self.fading[node], change)

    @property
    def common(self) -> float:
        """Expected share of the variance that is common."""
        return float((self.share @ self.probability).mean())


@dataclass(frozen=True)
class BentPosterior:
    """Straight and bent lines, each with its posterior; ``probability`` (lines, rows) is that of each line."""

    bends: Floats
    lines: tuple[ScatterPosterior, ...]
    probability: Floats

    def draw(self, n: int, rng: np.random.Generator) -> ScatterDraws:
        """Draw n sets of scatter and of the line after the last bend, taking the rows of values in turn."""
        which, _ = _picked(self.probability, n, rng)
        every = [line.draw(n, rng) for line in self.lines]
        level, pace, spread, share, fading, change = (
            np.choose(which, [getattr(one, name) for one in every])
            for name in ("level", "pace", "spread", "share", "fading", "change")
        )
        origin = every[0].origin
        after = level - change * (np.where(which > 0, self.bends[which], origin) - origin)
        return ScatterDraws(origin, after, pace + change, spread, share, fading, change)


def _picked(probability: Floats, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw n nodes of a grid by their probability (nodes, rows), and return with them the row of each, in turn."""
    row: Ints = np.arange(n) % probability.shape[1]
    below = np.cumsum(probability, axis=0)[:, row] < rng.random(n)
    return np.minimum(np.count_nonzero(below, axis=0), len(probability) - 1), row


def describe_bent(years: Floats, values: Floats, *, prior: Floats = PRIOR) -> BentPosterior:
    """Find the posterior of line and scatter where the pace may have changed once, at any of ``BENDS`` of the time."""
    begin, span = years[0], years[-1] - years[0]
    bends = np.array([begin, *(begin + part * span for part in BENDS)])
    sums = _WhiteSums.of(years, values, bends[1:])
    straight = sums.posterior(prior)
    bent = [sums.posterior(prior, place, CHANGE) for place in range(len(BENDS))]
    lines = (straight, *bent)
    log = np.stack([line.evidence for line in lines])
    log += np.log(np.array([1 - BENT, *[BENT / len(bent)] * len(bent)]))[:, None]
    weight = np.exp(log - log.max(axis=0))
    return BentPosterior(bends, lines, weight / weight.sum(axis=0))


def describe_scatter(
    years: Floats, values: Floats, *, bend: float | None = None, prior: Floats = PRIOR, change: float | None = None
) -> ScatterPosterior:
    """Find the posterior of line and scatter from releases at sorted ``years``, for values (releases,) or rows of them.

    With a ``bend`` the line may change its slope there: what releases do after it then says how they scatter, and
    nothing about the line before. ``prior`` weighs the shares on the grid; ``change`` is the prior standard deviation
    of the change of pace, in s a year, without which any is as likely.
    """
    if bend is None:
        return _WhiteSums.of(years, values).posterior(prior)
    return _WhiteSums.of(years, values, [bend]).posterior(prior, 0, change)


@dataclass(frozen=True)
class _WhiteSums:
    """What every line through the same releases needs, once they are whitened: sums of squares and products.

    ``line`` (rows, 2): the straight line of least squares, taken off the values first, so that little cancels out.
    ``xx``, ``xy`` and ``yy`` are sums over releases, for each pair of w and ℓ; x are a level, a slope and the bends.
    """

    origin: float
    releases: int
    share: Floats
    fading: Floats
    line: Floats
    log_size: Floats
    xx: Floats
    xy: Floats
    yy: Floats

    @classmethod
    def of(cls, years: Floats, values: Floats, bends: Iterable[float] = ()) -> _WhiteSums:
        origin = float(years.mean())
        design = np.stack([np.ones_like(years), years - origin, *(np.maximum(years - bend, 0) for bend in bends)])
        share, fading = (grid.ravel() for grid in np.meshgrid(SHARES, FADINGS, indexing="ij"))
        rows = np.atleast_2d(values)
        line = np.linalg.lstsq(design[:2].T, rows.T, rcond=None)[0].T
        rows = rows - line @ design[:2]
        step = max(1, _AT_ONCE // (years.size * share.size))
        xy, yy = [], []
        for start in range(0, len(rows), step):
            white, log_size = whiten(years, np.concatenate([design, rows[start : start + step]]), share, fading)
            x, y = white[:, : len(design)], white[:, len(design) :]
            xx = x @ x.transpose(0, 2, 1)
            xy.append(x @ y.transpose(0, 2, 1))
            yy.append(np.einsum("kri,kri->kr", y, y))
        sums = np.concatenate(xy, axis=2), np.concatenate(yy, axis=1)
        return cls(origin, years.size, share, fading, line, log_size, xx, *sums)

    def posterior(self, prior: Floats, bend: int | None = None, change: float | None = None) -> ScatterPosterior:
        """Return the posterior of the straight line, or of the one with a bend of :meth:`of`, by its place there."""
        used = [0, 1] if bend is None else [0, 1, 2 + bend]
        within = np.zeros((len(used), len(used)))
        if change is not None:
            within[-1, -1] = change**-2
        information, products = self.xx[:, used][:, :, used] + within, self.xy[:, used]
        solution = np.linalg.solve(information, products)
        squares = np.maximum(self.yy - (products * solution).sum(axis=1), np.finfo(float).tiny)
        line = solution.transpose(0, 2, 1).astype(float)
        line[:, :, :2] += self.line
        log = np.log(np.interp(self.share, SHARES, prior)) - self.log_size / 2 - np.linalg.slogdet(information)[1] / 2
        freedom = self.releases - len(used)
        if change is not None:
            freedom, log = freedom + 1, log - np.log(change)
        log = log[:, None] - freedom / 2 * np.log(squares)
        highest = log.max(axis=0)
        weight = np.exp(log - highest)
        evidence, chances = highest + np.log(weight.sum(axis=0)), weight / weight.sum(axis=0)
        root = np.linalg.cholesky(np.linalg.inv(information))
        return ScatterPosterior(self.origin, freedom, self.share, self.fading, chances, squares, line, root, evidence)


def find_steps(years: Floats, values: Floats, bend: float | None = None) -> Floats:
    """Return the design of a line with sudden gains: a level, a slope, and a column per step, the clearest first.

    With a ``bend`` the slope may change there; the change has the third column.
    """
    after = np.arange(STEP_EDGE, years.size - STEP_EDGE + 1)
    candidates = (np.arange(years.size)[:, None] >= after).astype(float)
    bends = [] if bend is None else [np.maximum(years - bend, 0)]
    design = np.column_stack([np.ones_like(years), years - years.mean(), *bends])
    for _ in range(MOST_STEPS if after.size else 0):
        base = np.linalg.qr(design)[0]
        rest, free = (part - base @ (base.T @ part) for part in (values, candidates))
        size = (free**2).sum(axis=0)
        gain = np.divide((rest @ free) ** 2, size, out=np.zeros_like(size), where=size > 1)
        best = int(gain.argmax())
        noise = (rest @ rest - gain[best]) / (years.size - design.shape[1] - 1)
        if gain[best] <= STEP_SIGNAL**2 * noise + np.finfo(float).eps * (values @ values):
            break
        design = np.column_stack([design, candidates[:, best]])
    return design


class Stepped(NamedTuple):
    """The pace where a part of the gain came in steps, and its error.

    ``level`` is the line at the last release, ``yearly`` the variance of the steps of a year.
    """

    pace: float
    error: float
    level: float
    yearly: float


def describe_steps(years: Floats, values: Floats, recent: Mask) -> Stepped | None:
    """Find the pace of the ``recent`` releases where gains came in steps; None where no release shows one.

    The pace contains the steps. Steps come at random days, so others could have come: the sum of their squares is the
    variance of their sum, and one more step of the mean square stands for not knowing how often they come.
    """
    t, y = years[recent], values[recent]
    design = find_steps(years, values, float(t[0]) if t.size < years.size else None)
    steps = np.linalg.lstsq(design, values, rcond=None)[0][2 if t.size == years.size else 3 :]
    if not steps.size:
        return None
    yearly = float(steps @ steps) * (1 + 1 / steps.size) / float(years[-1] - years[0])
    design, span = find_steps(t, y), float(t[-1] - t[0])
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    rest, share = y - design @ solution, np.array([0.0, 1.0, *[1 / span] * (design.shape[1] - 2)])
    noise = rest @ rest / (t.size - design.shape[1])
    error = noise * share @ np.linalg.inv(design.T @ design) @ share + yearly / span
    return Stepped(float(share @ solution), float(np.sqrt(error)), float(design[-1] @ solution), yearly)


def describe_growth(years: Floats, residuals: Floats, prior: float = GROWTH) -> tuple[float, float]:
    """Return mean and standard error of the yearly growth of the scatter, as a logarithm.

    The logarithms of the residuals' sizes are regressed on time; for normal residuals their variance is π²/8. A prior
    about no growth keeps short streams from exploding.
    """
    size = np.abs(residuals)
    floor = SMALLEST_SIZE * float(np.median(size))
    if floor == 0:
        return 0.0, 0.0
    off = years - years.mean()
    precision = float(off @ off) / (np.pi**2 / 8)
    total = precision + prior**-2
    scale = float(off @ np.log(np.maximum(size, floor))) / (np.pi**2 / 8)
    return scale / total, float(total**-0.5)


def whiten(years: Floats, values: Floats, share: Floats, fading: Floats) -> tuple[Floats, Floats]:
    """Free sequences (…, releases) of the correlation R of their scatter, for every pair of ``share`` and ``fading``.

    Returns L⁻¹y (pairs, …, releases) and log |R| (pairs,), with R = LLᵀ.
    """
    white, log_sizes = whiten_all(years, values, share, fading)
    return white, log_sizes.sum(axis=1)


def whiten_all(years: Floats, values: Floats, share: Floats, fading: Floats) -> tuple[Floats, Floats]:
    """Whiten and return with it what every release adds to log |R| (pairs, releases).

    The common part fades exponentially, so this is a Kalman filter: its time grows with the number of releases, not
    with its cube, and the first n numbers of a sequence are whitened by the first n alone.
    """
    column = (-1, *(1,) * (values.ndim - 1))
    by_release = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    white, log_sizes = np.empty((years.size, share.size, *values.shape[:-1])), np.empty((share.size, years.size))
    expected, variance = np.zeros(white.shape[1:]), share
    for i, step in enumerate(np.diff(years, prepend=years[0])):
        kept = np.exp(-step / fading)
        variance = kept**2 * variance + share * (1 - kept**2)
        total = variance + 1 - share
        expected *= kept.reshape(column)
        surprise = by_release[i] - expected
        np.multiply(surprise, (1 / np.sqrt(total)).reshape(column), out=white[i])
        surprise *= (variance / total).reshape(column)
        expected += surprise
        variance = variance * (1 - share) / total
        log_sizes[:, i] = np.log(total)
    return np.moveaxis(white, 0, -1), log_sizes
