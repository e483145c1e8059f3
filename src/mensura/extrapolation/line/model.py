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

from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from mensura.arrays import expit, logit

if TYPE_CHECKING:
    from mensura.arrays import Floats, Mask
    from mensura.extrapolation.protocol import Task

SHIFT_DF = 2.0  # of the Student prior of δ, whose scale is shift_sd / √2: links that agree can overrule it
LARGEST_GAP = 1.5  # logits; beyond it, the priors of slope and interaction move no further
LEAST_RELIABILITY = 0.3  # of focal logits: below it, the spread of so few or so noisy rates says nothing of its own
LINK_TRUST = 6.0  # observations that the prior of τ² is worth
UNKNOWN_N = 1e6  # answers taken for an unknown number: so many that sampling error does not show
_ROUNDS = 5  # of alternating between parameters and variances
LEAST_INTERACTION = 0.25  # of its prior variance: few links that agree do not say that items never depart
_SMALLEST_PRODUCT = 0.02  # of rate and 1 − rate, below which sampling variances on the logit scale stop growing
_TINY = 1e-9


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
    weight: float = LINK_TRUST

    def widened(self, factor: float) -> Prior:
        """Return the prior with the variances of shift and interaction multiplied by ``factor``."""
        names = ("shift_sd", "interaction", "gap_interaction")
        return replace(self, **{name: factor**0.5 * getattr(self, name) for name in names})


@dataclass(frozen=True, eq=False)
class Contrast:
    """A focal group against the rest of its reference, item by item, on the logit scale.

    ``rate``, ``n``, ``share``: as in the task. ``rest``: reference answers that are not the focal group's (infinite for
    a population). ``links``: draws × items, NaN where unknown. ``offset``: logit shift expected from public facts.
    """

    rate: Floats
    n: Floats
    share: Floats
    rest: Floats
    links: Floats
    offset: Floats

    @classmethod
    def of(cls, task: Task, offset: Floats) -> Contrast:
        """Read a task; an unknown number of answers counts as very large."""
        n = np.where(np.isnan(task.n), UNKNOWN_N, task.n)
        return cls(task.rate, n, task.share, task.links_n * (1.0 - task.share), task.links, offset)

    def unlinked(self) -> Contrast:
        """Return the contrast before any link is seen, as one draw."""
        return replace(self, links=np.full((1, len(self.rate)), np.nan))

    @cached_property
    def known(self) -> Mask:
        """Draws × items: the links."""
        return np.isfinite(self.links)

    @cached_property
    def x(self) -> Floats:
        """Logit of the focal rate; half an answer is added on either side, so that 0 and 1 stay finite."""
        return focal_logit(self.rate, self.n)

    @cached_property
    def x_noise(self) -> Floats:
        """Sampling variance of ``x``."""
        return _noise(smooth(self.rate, self.n), self.n)

    @cached_property
    def y(self) -> Floats:
        """Draws × items: logit of the rest's rate, from the links less the focal group's own part; 0 where unknown."""
        rest = (self.links - self.share * self.rate) / np.maximum(1.0 - self.share, _TINY)
        return np.where(self.known, logit(smooth(np.clip(rest, 0.0, 1.0), self.rest)), 0.0)

    def y_noise(self, y: Floats) -> Floats:
        """Return the sampling variance of the logit of the rest's rate at ``y``."""
        return _noise(expit(y), self.rest)

    def mix(self, y: Floats) -> Floats:
        """Return the reference's rates when the rest's logits are ``y``."""
        mixed: Floats = self.share * self.rate + (1.0 - self.share) * expit(y)
        return mixed

    @cached_property
    def reliability(self) -> float:
        """The part of the spread of the focal logits that is not sampling noise."""
        spread = max(float(np.var(self.x)), _TINY)
        return max(1.0 - float(self.x_noise.mean()) / spread, LEAST_RELIABILITY)


@dataclass(frozen=True, eq=False)
class FittedLine:
    """A fitted line: predicted logits of the rest with their variance (draws × items), and its parameters per draw.

    ``shift`` includes the expected one; ``shift_sd`` and ``slope_sd`` are what remains unknown of the two.
    """

    logit: Floats
    variance: Floats
    shift: Floats
    slope: Floats
    interaction: Floats
    shift_sd: Floats
    slope_sd: Floats


def fit_line(
    contrast: Contrast, prior: Prior, features: Floats | None = None, feature_variance: Floats | None = None
) -> FittedLine:
    """Fit the line once per row of links.

    ``features``: groupings of the items, one row of 0 and 1 per level, each with a shift of its own that has prior
    variance ``feature_variance``.
    """
    x, noise, known, y = contrast.x, contrast.x_noise, contrast.known, contrast.y
    design = [np.ones_like(x), x - x.mean()]
    variances = [prior.shift_sd**2, prior.slope_sd**2]
    if features is not None and feature_variance is not None:
        design += list(features)
        variances += list(feature_variance)
    X = np.stack(design, axis=1)
    evidence = _Evidence(X, y - x - contrast.offset, noise + contrast.y_noise(y), known, contrast.reliability)
    links, expected_gap = known.sum(axis=1), float(contrast.offset.mean())
    gap = np.full(len(known), abs(expected_gap))
    tau2 = _prior_tau2(prior, gap)
    prior_variance = np.tile(variances, (len(known), 1))
    b, C = evidence.posterior(prior, prior_variance, gap, tau2)
    for _ in range(_ROUNDS if links.any() else 0):
        gap = np.abs(expected_gap + b[:, 0])
        prior_variance[:, 0] = (SHIFT_DF * prior.shift_sd**2 / 2 + b[:, 0] ** 2) / (SHIFT_DF + 1)
        worth = prior.weight * _prior_tau2(prior, gap)
        tau2 = np.maximum(worth + evidence.excess(b, C), LEAST_INTERACTION * worth) / (prior.weight + links)
        b, C = evidence.posterior(prior, prior_variance, gap, tau2)
    predicted = x + contrast.offset + b @ X.T
    variance = _leverage(X, C) + tau2[:, None] + noise + contrast.y_noise(predicted)
    return FittedLine(
        logit=predicted,
        variance=variance,
        shift=expected_gap + b[:, 0],
        slope=1.0 + b[:, 1],
        interaction=np.sqrt(tau2),
        shift_sd=np.sqrt(C[:, 0, 0]),
        slope_sd=np.sqrt(C[:, 1, 1]),
    )


def reach_of(level: float) -> float:
    """Return how many standard deviations an interval of probability ``level`` goes to either side."""
    return NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True, eq=False)
class _Evidence:
    """The links as a regression: design, differences and their sampling variance (draws × items), which are known."""

    X: Floats
    difference: Floats
    noise: Floats
    known: Mask
    reliability: float

    def posterior(self, prior: Prior, prior_variance: Floats, gap: Floats, tau2: Floats) -> tuple[Floats, Floats]:
        """Return the posterior means (draws × parameters) and covariances of the regression parameters."""
        precision = np.where(self.known, 1.0 / (tau2[:, None] + self.noise), 0.0)
        weighted = precision[:, None, :] * self.X.T
        A = weighted @ self.X
        diagonal = np.arange(self.X.shape[1])
        A[:, diagonal, diagonal] += 1.0 / prior_variance
        mean = np.zeros((len(self.known), self.X.shape[1]))
        mean[:, 1] = self.reliability * (prior.slope - prior.gap_slope * np.minimum(gap, LARGEST_GAP)) - 1.0
        C: Floats = np.linalg.inv(A).astype(np.float64, copy=False)
        seen = (weighted @ self.difference[:, :, None])[:, :, 0]
        b: Floats = np.einsum("dpq,dq->dp", C, mean / prior_variance + seen)
        return b, C

    def excess(self, b: Floats, C: Floats) -> Floats:
        """Return, per draw, the squared residuals of the links beyond what sampling and parameters explain."""
        residual = self.difference - b @ self.X.T
        excess: Floats = np.where(self.known, residual**2 + _leverage(self.X, C) - self.noise, 0.0).sum(axis=1)
        return excess


def _prior_tau2(prior: Prior, gap: Floats) -> Floats:
    tau2: Floats = prior.interaction**2 + (prior.gap_interaction * np.minimum(gap, LARGEST_GAP)) ** 2
    return tau2


def _leverage(X: Floats, C: Floats) -> Floats:
    """Return x' C x for each item and draw."""
    leverage: Floats = ((X @ C) * X).sum(axis=-1)
    return leverage


def focal_logit(rate: Floats, n: Floats) -> Floats:
    """Return the logit of a rate, with half an answer added on either side."""
    return logit(smooth(rate, n))


def smooth(rate: Floats, n: Floats) -> Floats:
    """Return the rate with half an answer added on either side."""
    finite = np.where(np.isfinite(n), n, 1 / _TINY)
    smoothed: Floats = (rate * finite + 0.5) / (finite + 1.0)
    return smoothed


def _noise(rate: Floats, n: Floats) -> Floats:
    """Return the sampling variance of a logit: 1 / (n p (1 − p))."""
    noise: Floats = 1.0 / (np.maximum(n, 1.0) * np.maximum(rate * (1.0 - rate), _SMALLEST_PRODUCT))
    return noise
