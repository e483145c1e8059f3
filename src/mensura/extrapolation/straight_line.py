"""The model under every statistical method: one straight line on the logit scale per focal group.

A reference group is made of the focal group itself (share w of its answers; 0 when the two are apart) and of
the rest. Only the rest is unknown:

reference_i = w_i focal_i + (1 − w_i) rest_i
logit rest_i = x_i + o_i + δ + (β − 1)(x_i − x̄) + ε_i,      ε_i ~ N(0, τ²)

x_i is the logit of the focal rate; o_i the shift expected from what is publicly known of the groups; δ what that
knowledge misses; β < 1 because an item that is easy for the focal group is so partly for the focal group alone;
τ the item-by-group interaction, which no shift removes.

δ has a Student prior of variance s₀² + (κ ō)²: public knowledge errs by a part κ of the shift it expects, and by s₀
where it expects none. It enters as what it is, a normal with an unknown variance: a few variances stand for it, each
weighed by how well it explains the links. β has a normal prior, τ² a scaled inverse-χ² one, so that the interaction of
an item in a new pool is Student too. Larger differences between groups
come with larger τ and smaller β. Items whose reference rate is known (links) update all of them by
conjugate regression. The three situations differ only in what is known: no links and a public o (described), a few
links (linked), most items and a prior learned from the other groups of the pool (slices).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mensura.core.arrays import expit, logit
from mensura.extrapolation.distributions import student_reach, unknown_variances

if TYPE_CHECKING:
    from mensura.core.arrays import Floats, Mask
    from mensura.extrapolation.protocol import Task

SHIFT_DF = 4.0  # of the Student prior of δ: heavy enough for links that agree to overrule it, with a variance
SHIFT_NODES = 6  # variances that stand for the Student prior of δ
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
    """What is believed of δ, β and τ before any link is known.

    ``shift_sd`` is the SD of δ where no shift is expected (s₀), ``slope`` and ``slope_sd`` those of β,
    ``interaction`` is τ, worth ``weight`` observations. Per logit of expected shift the SD of δ grows by ``gap_shift``
    (κ); per logit of difference between the groups τ grows by ``gap_interaction`` (both in quadrature), and β falls by
    ``gap_slope``.
    """

    shift_sd: float
    slope: float
    slope_sd: float
    interaction: float
    gap_shift: float = 0.0
    gap_interaction: float = 0.0
    gap_slope: float = 0.0
    weight: float = LINK_TRUST

    def widened(self, factor: float) -> Prior:
        """Return the prior with the variances of shift, slope and interaction multiplied by ``factor``.

        Not that part of the shift's which goes with the expected shift: that is a difference between groups already.
        """
        names = ("shift_sd", "slope_sd", "interaction", "gap_interaction")
        return replace(self, **{name: factor**0.5 * getattr(self, name) for name in names})

    def interaction_variance(self, gap: Floats) -> Floats:
        """Return τ² between groups that differ by ``gap`` logits."""
        return np.asarray(self.interaction**2 + (self.gap_interaction * np.minimum(gap, LARGEST_GAP)) ** 2)

    def slope_mean(self, gap: Floats) -> Floats:
        """Return the mean of β between groups that differ by ``gap`` logits."""
        return np.asarray(self.slope - self.gap_slope * np.minimum(gap, LARGEST_GAP))


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
        """Return the contrast before any link is known, as one draw."""
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
        return np.asarray(self.share * self.rate + (1.0 - self.share) * expit(y))

    @cached_property
    def reliability(self) -> float:
        """The part of the spread of the focal logits that is not sampling noise."""
        spread = max(float(np.var(self.x)), _TINY)
        return max(1.0 - float(self.x_noise.mean()) / spread, LEAST_RELIABILITY)


@dataclass(frozen=True, eq=False)
class FittedLine:
    """A fitted line: predicted logits of the rest with their variance (draws × items), and its parameters per draw.

    ``shift`` includes the expected one; ``shift_sd`` and ``slope_sd`` are what remains unknown of the two.
    ``shift_df``, ``interaction_df``: degrees of freedom of what remains Student.
    """

    logit: Floats
    variance: Floats
    shift: Floats
    slope: Floats
    interaction: Floats
    shift_sd: Floats
    slope_sd: Floats
    shift_df: Floats
    interaction_df: Floats

    def half_width(self, level: float) -> Floats:
        """Return, draws × items, how far an interval of probability ``level`` goes to either side, in logits."""
        shift, interaction = (part[:, None] ** 2 / self.variance for part in (self.shift_sd, self.interaction))
        reach = np.empty_like(self.variance)
        for pair in sorted(set(zip(self.shift_df.tolist(), self.interaction_df.tolist(), strict=True))):
            rows = (self.shift_df == pair[0]) & (self.interaction_df == pair[1])
            reach[rows] = student_reach(level, shift[rows], interaction[rows], *pair)
        return np.asarray(reach * np.sqrt(self.variance))


def fit_line(
    contrast: Contrast, prior: Prior, features: Floats | None = None, feature_variance: Floats | None = None
) -> FittedLine:
    """Fit the line once per row of links.

    ``features``: groupings of the items, one row of 0 and 1 per level, each with a shift of its own that has prior
    variance ``feature_variance``.
    """
    x, noise, known, y = contrast.x, contrast.x_noise, contrast.known, contrast.y
    design = [np.ones_like(x), x - x.mean()]
    if features is not None and feature_variance is not None:
        design += list(features)
    X = np.stack(design, axis=1)
    evidence = _Evidence(X, y - x - contrast.offset, noise + contrast.y_noise(y), known)
    links, expected_gap = known.sum(axis=1), float(contrast.offset.mean())
    belief = _Belief(prior, contrast.reliability, expected_gap, feature_variance)
    gap = np.full(len(known), abs(expected_gap))
    tau2 = prior.interaction_variance(gap)
    b, C = evidence.posterior(belief, gap, tau2)
    for _ in range(_ROUNDS if links.any() else 0):
        gap = np.abs(expected_gap + b[:, 0])
        worth = prior.weight * prior.interaction_variance(gap)
        tau2 = np.maximum(worth + evidence.excess(b, C), LEAST_INTERACTION * worth) / (prior.weight + links)
        b, C = evidence.posterior(belief, gap, tau2)
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
        shift_df=SHIFT_DF + links,
        interaction_df=prior.weight + links,
    )


@dataclass(frozen=True, eq=False)
class _Belief:
    """The prior of the regression parameters as a mixture of normals, one per variance that the shift may have."""

    prior: Prior
    reliability: float
    expected_gap: float
    feature_variance: Floats | None

    def mean(self, gap: Floats, size: int) -> Floats:
        """Return draws × parameters: all 0 but the slope, whose distance from 1 is what the design has."""
        mean = np.zeros((len(gap), size))
        mean[:, 1] = self.reliability * self.prior.slope_mean(gap) - 1.0
        return mean

    def variances(self, gap: Floats, size: int) -> tuple[Floats, Floats]:
        """Return nodes × draws × parameters, and the weight of each node."""
        factor, weight = unknown_variances(SHIFT_DF, SHIFT_NODES)
        variance = np.empty((len(factor), len(gap), size))
        variance[:, :, 0] = (self.prior.shift_sd**2 + (self.prior.gap_shift * self.expected_gap) ** 2) * factor[:, None]
        variance[:, :, 1] = self.prior.slope_sd**2
        if self.feature_variance is not None and size > 2:
            variance[:, :, 2:] = self.feature_variance
        return variance, weight


@dataclass(frozen=True, eq=False)
class _Evidence:
    """The links as a regression: design, differences and their sampling variance (draws × items), which are known."""

    X: Floats
    difference: Floats
    noise: Floats
    known: Mask

    def posterior(self, belief: _Belief, gap: Floats, tau2: Floats) -> tuple[Floats, Floats]:
        """Return the posterior means (draws × parameters) and covariances of the regression parameters.

        Given the shift's variance everything is normal: precision A = XᵀWX + V⁻¹, mean b = A⁻¹(XᵀWd + V⁻¹m). A variance
        counts by the likelihood of the links, |V|^-½ |A|^-½ exp ½(bᵀAb − mᵀV⁻¹m) up to what all have in common.
        """
        size = self.X.shape[1]
        precision = np.where(self.known, 1.0 / (tau2[:, None] + self.noise), 0.0)
        weighted = precision[:, None, :] * self.X.T
        gram, pull = weighted @ self.X, (weighted @ self.difference[:, :, None])[:, :, 0]
        mean, (variance, weight) = belief.mean(gap, size), belief.variances(gap, size)
        A = np.repeat(gram[None], len(weight), axis=0)
        diagonal = np.arange(size)
        A[..., diagonal, diagonal] += 1.0 / variance
        C = np.linalg.inv(A)
        right = mean / variance + pull
        each = np.einsum("jdpq,jdq->jdp", C, right)
        fit = (each * right).sum(axis=-1) - (mean**2 / variance).sum(axis=-1)
        logs = np.log(weight)[:, None] + (fit - np.log(variance).sum(axis=-1) - np.linalg.slogdet(A)[1]) / 2
        share = np.exp(logs - logs.max(axis=0))
        share /= share.sum(axis=0)
        b: Floats = np.einsum("jd,jdp->dp", share, each)
        off = each - b
        spread: Floats = np.einsum("jd,jdpq->dpq", share, C) + np.einsum("jd,jdp,jdq->dpq", share, off, off)
        return b, spread

    def excess(self, b: Floats, C: Floats) -> Floats:
        """Return, per draw, the squared residuals of the links beyond what sampling and parameters explain."""
        residual = self.difference - b @ self.X.T
        return np.asarray(np.where(self.known, residual**2 + _leverage(self.X, C) - self.noise, 0.0).sum(axis=1))


def _leverage(X: Floats, C: Floats) -> Floats:
    """Return x' C x for each item and draw."""
    return np.asarray(((X @ C) * X).sum(axis=-1))


def focal_logit(rate: Floats, n: Floats) -> Floats:
    """Return the logit of a rate, with half an answer added on either side."""
    return logit(smooth(rate, n))


def smooth(rate: Floats, n: Floats) -> Floats:
    """Return the rate with half an answer added on either side."""
    finite = np.where(np.isfinite(n), n, 1 / _TINY)
    return np.asarray((rate * finite + 0.5) / (finite + 1.0))


def _noise(rate: Floats, n: Floats) -> Floats:
    """Return the sampling variance of a logit: 1 / (n p (1 − p))."""
    return np.asarray(1.0 / (np.maximum(n, 1.0) * np.maximum(rate * (1.0 - rate), _SMALLEST_PRODUCT)))
