"""The model under every statistical method: one straight line on the logit scale per focal group.

A reference group is made of the focal group itself (share w of its answers; 0 when the two are apart) and of
the rest. Only the rest is unknown:

    reference_i = w_i focal_i + (1 − w_i) rest_i
    logit rest_i = x_i + o_i + δ + (β − 1)(x_i − x̄) + ε_i,      ε_i ~ N(0, τ²)

x_i is the logit of the focal rate; o_i the shift expected from what is publicly known of the groups; δ what that
knowledge misses; β < 1 because an item that is easy for the focal group is so partly for the focal group alone;
τ the item-by-group interaction, which no shift removes. δ has a Student prior, β a normal one, τ² a scaled
inverse-χ² one; larger differences between groups come with larger τ and smaller β, and the priors say so. Items
whose reference rate is known (links) update them by conjugate regression. The three situations differ only in what
is known: no links and a public o (described), a few links (linked), most items and a prior learned from the other
groups of the pool (slices).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mensura.errors import MensuraError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHIFT_DF = 2.0  # of the Student prior of δ, whose scale is shift_sd / √2: links that agree can overrule it
LARGEST_GAP = 1.5  # logits; beyond it, the priors of slope and interaction move no further
_ROUNDS = 5


def logit(rate: Floats) -> Floats:
    """Return ln(p / (1 − p))."""
    return np.log(rate) - np.log1p(-rate)


def expit(value: Floats) -> Floats:
    """Return 1 / (1 + e^−v), without overflow."""
    return np.exp(-np.logaddexp(0.0, -value))


@dataclass(frozen=True)
class Prior:
    """What is believed of δ, β and τ before any link is seen.

    ``shift_sd`` is the SD of δ, ``slope`` and ``slope_sd`` those of β, ``interaction`` is τ, worth
    ``weight`` observations. Per logit of difference between the groups τ grows by ``gap_interaction`` (in
    quadrature) and β falls by ``gap_slope``.
    """

    shift_sd: float
    slope: float
    slope_sd: float
    interaction: float
    gap_interaction: float = 0.0
    gap_slope: float = 0.0
    weight: float = 6.0

    def widened(self, factor: float) -> Prior:
        """Return the prior with the variances of shift and interaction multiplied by ``factor``."""
        names = ("shift_sd", "interaction", "gap_interaction")
        return replace(self, **{name: factor**0.5 * getattr(self, name) for name in names})


@dataclass(frozen=True, eq=False)
class Case:
    """One focal group and one reference, item by item; two cases are equal only when they are the same object.

    ``rate`` and ``n`` are the focal group's. ``share``: the focal group's part of the reference's answers.
    ``rest``: number of reference answers that are not the focal group's (infinite for a population).
    ``reference``: the reference's rates, looked at only where a method is told that they are known.
    ``offset``: logit shift expected from public facts; ``features``: item groupings, one row per
    grouping level, 1 where the item belongs to it; ``factor`` names the grouping of each row. ``kind`` of covariate
    and ``basis`` of the facts chose the ``prior``. ``concentration``: Σ of the squared shares of the groups that make
    up the rest, 1 for a single group, near 0 for very many. Focal group and rest each have interactions of their
    own, but those of many groups average out: the variances of shift and interaction go with 1 + concentration.
    """

    items: tuple[str, ...]
    rate: Floats
    n: Floats
    share: Floats
    rest: Floats
    reference: Floats
    offset: Floats
    features: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    factor: tuple[str, ...] = ()
    covariate: str = ""
    group: str = ""
    kind: str = "other"
    basis: str = "none"
    concentration: float = 0.0
    prior: Prior = field(default_factory=lambda: Prior(0.5, 0.95, 0.1, 0.25))

    def __post_init__(self) -> None:
        sizes = {len(a) for a in (self.rate, self.n, self.share, self.rest, self.reference, self.offset)}
        if sizes != {len(self.items)}:
            raise MensuraError(f"group {self.group!r}: arrays of different lengths {sorted(sizes)}")

    @cached_property
    def x(self) -> Floats:
        """Logit of the focal rate; half an answer is added on either side, so that 0 and 1 stay finite."""
        return logit(smooth(self.rate, self.n))

    @cached_property
    def x_noise(self) -> Floats:
        """Sampling variance of ``x``."""
        return _noise(smooth(self.rate, self.n), self.n)

    @cached_property
    def y(self) -> Floats:
        """Logit of the rest's rate, from the reference's and the focal group's own part of it."""
        rest = (self.reference - self.share * self.rate) / np.maximum(1.0 - self.share, 1e-9)
        return logit(smooth(np.clip(rest, 0.0, 1.0), self.rest))

    def y_noise(self, y: Floats) -> Floats:
        """Return the sampling variance of the logit of the rest's rate at ``y``."""
        return _noise(expit(y), self.rest)

    def mix(self, y: Floats) -> Floats:
        """Return the reference's rates when the rest's logits are ``y``."""
        mixed: Floats = self.share * self.rate + (1.0 - self.share) * expit(y)
        return mixed


@dataclass(frozen=True)
class Rates:
    """Predicted reference rates with interval bounds, draws × items."""

    rate: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Line:
    """A fitted line: predicted logits of the rest with their variance (draws × items), and its parameters."""

    logit: Floats
    variance: Floats
    shift: Floats
    slope: Floats
    interaction: Floats


def fit_line(case: Case, known: Mask, prior: Prior, feature_variance: Floats | None = None) -> Line:
    """Fit the line of ``case`` once per row of ``known`` (draws × items), which marks the links.

    ``feature_variance``: prior variance of the shift of each row of ``case.features``.
    """
    x, noise = case.x, case.x_noise
    y = np.where(known.any(axis=0), case.y, 0.0)
    centred = x - x.mean()
    design = [np.ones_like(x), centred]
    variances = [prior.shift_sd**2, prior.slope_sd**2]
    if feature_variance is not None:
        design += list(case.features)
        variances += list(feature_variance)
    X = np.stack(design, axis=1)
    difference, noise_of_link = y - x - case.offset, noise + case.y_noise(y)
    reliability = max(1.0 - float(noise.mean() / max(centred @ centred / len(x), 1e-9)), 0.3)
    links, expected_gap = known.sum(axis=1), float(case.offset.mean())
    gap = np.full(len(known), abs(expected_gap))
    tau2 = _prior_tau2(prior, gap)
    prior_variance = np.tile(variances, (len(known), 1))
    b, C = _posterior(X, difference, noise_of_link, known, prior, prior_variance, reliability, gap, tau2)
    for _ in range(_ROUNDS if links.any() else 0):
        gap = np.abs(expected_gap + b[:, 0])
        prior_variance[:, 0] = (SHIFT_DF * prior.shift_sd**2 / 2 + b[:, 0] ** 2) / (SHIFT_DF + 1)
        residual = difference - b @ X.T
        excess = np.where(known, residual**2 + _leverage(X, C) - noise_of_link, 0.0).sum(axis=1)
        before = _prior_tau2(prior, gap)
        worth = prior.weight * before
        tau2 = np.maximum(worth + excess, worth / 4) / (prior.weight + links)
        b, C = _posterior(X, difference, noise_of_link, known, prior, prior_variance, reliability, gap, tau2)
    predicted = x + case.offset + b @ X.T
    variance = _leverage(X, C) + tau2[:, None] + noise + case.y_noise(predicted)
    return Line(predicted, variance, expected_gap + b[:, 0], 1.0 + b[:, 1], np.sqrt(tau2))


def bounds(case: Case, line: Line, level: float) -> Rates:
    """Turn a line into reference rates with ``level`` intervals."""
    reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(line.variance)
    return Rates(case.mix(line.logit), case.mix(line.logit - reach), case.mix(line.logit + reach))


def _posterior(
    X: Floats,
    difference: Floats,
    noise: Floats,
    known: Mask,
    prior: Prior,
    prior_variance: Floats,
    reliability: float,
    gap: Floats,
    tau2: Floats,
) -> tuple[Floats, Floats]:
    """Return the posterior means (draws × parameters) and covariances of the regression parameters."""
    precision = np.where(known, 1.0 / (tau2[:, None] + noise), 0.0)
    weighted = precision[:, None, :] * X.T
    A = weighted @ X
    diagonal = np.arange(X.shape[1])
    A[:, diagonal, diagonal] += 1.0 / prior_variance
    mean = np.zeros((len(known), X.shape[1]))
    mean[:, 1] = reliability * (prior.slope - prior.gap_slope * np.minimum(gap, LARGEST_GAP)) - 1.0
    C: Floats = np.linalg.inv(A).astype(np.float64, copy=False)
    b: Floats = np.einsum("dpq,dq->dp", C, mean / prior_variance + weighted @ difference)
    return b, C


def _prior_tau2(prior: Prior, gap: Floats) -> Floats:
    tau2: Floats = prior.interaction**2 + (prior.gap_interaction * np.minimum(gap, LARGEST_GAP)) ** 2
    return tau2


def _leverage(X: Floats, C: Floats) -> Floats:
    """Return x' C x for each item and draw."""
    leverage: Floats = ((X @ C) * X).sum(axis=-1)
    return leverage


def smooth(rate: Floats, n: Floats) -> Floats:
    """Return the rate with half an answer added on either side."""
    finite = np.where(np.isfinite(n), n, 1e9)
    smoothed: Floats = (rate * finite + 0.5) / (finite + 1.0)
    return smoothed


def _noise(rate: Floats, n: Floats) -> Floats:
    noise: Floats = 1.0 / (np.maximum(n, 1.0) * np.maximum(rate * (1.0 - rate), 0.02))
    return noise
