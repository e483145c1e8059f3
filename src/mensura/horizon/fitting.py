"""The fit: success falls with the doublings of a task's length; tasks, suites and subjects differ around that.

A subject i succeeds at task t of suite s with probability c + (1 − c − l)·expit(η),
η = A_is − B_is·x_t − e_t with A_is = a_i − v_s − b·u_s + w_is and B_is = b_i + g_s. x is the expected length,
in doublings; u_s is the error of length that a suite shares; e_t contains the task's own error of length, times the
mean slope b. All effects are normal. Newton's method with Fisher information finds the mode. Tasks are integrated out
by quadrature, as a joint mode would take slopes for flatter than they are, so that a dense system of subjects and
suites remains. EffectSpreads have maximal marginal likelihood under weak priors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats, expit
from mensura.horizon.design import Design, Integers
from mensura.horizon.lengths import Lengths

ROUNDS = 50
CLOSE = 2e-2
"""The fit has converged when no unknown but the effects of tasks moves by more, in logits."""
SLOPE, SLOPE_DOUBT, LEVEL_DOUBT = 0.6, 1.0, 3.0
"""Before any run is seen: the mean slope in logits per doubling, its doubt, and that of the level at 16 minutes."""
PRIORS = {"a": (2.5, 1.0), "b": (0.15, 3.0), "v": (0.7, 2.0), "g": (0.1, 30.0), "w": (0.5, 2.0), "e": (1.0, 2.0)}
"""Each spread before data: its value in logits, and how many effects it counts as.

Suites share nearly one slope (g): five suites cannot tell how their slopes differ, and suites of short tasks would
decide the lengths of long ones.
"""
_EDGE = 1e-9
_NODES, _MANY = 5, 40
"""Nodes of the quadrature; one is enough where so many subjects show how hard each task is."""
_SETTLING, _REACH = 2, 2.0
"""Steps by which the effects of tasks follow the other unknowns, and the longest of them in logits."""
_STRIDE = 1.7
"""EffectSpreads move by this power of their step, as steps of expectation and maximisation are short."""
_GUESS, _SLIP = (0.2, 10.0), (0.1, 20.0)
"""Successes by guessing and failures by slips before data: how many, of how many."""


@dataclass(frozen=True, eq=False)
class UnknownPlaces:
    """Where each unknown of the dense part lies: subjects, suites, pairs of both, and means of a and b."""

    a: slice
    b: slice
    v: slice
    g: slice
    u: slice
    w: slice
    mean: slice
    size: int

    @classmethod
    def of(cls, design: Design) -> UnknownPlaces:
        """Lay out the unknowns of a design."""
        n, suites = len(design.subjects), len(design.suites)
        ends = np.cumsum((0, n, n, suites, suites, suites, len(design.pairs), 2)).tolist()
        names = ("a", "b", "v", "g", "u", "w", "mean")
        parts = {name: slice(*ends_of) for name, ends_of in zip(names, pairwise(ends), strict=True)}
        return cls(**parts, size=ends[-1])


@dataclass(frozen=True, eq=False)
class EffectSpreads:
    """Standard deviations of the effects, and levels of guessing and slipping by suite."""

    effect: dict[str, float]
    guess: Floats
    slip: Floats

    @classmethod
    def before(cls, suites: int) -> EffectSpreads:
        """Return the spreads before data."""
        effect = {name: value for name, (value, _) in PRIORS.items()}
        if suites == 1:
            effect |= {"v": 1e-3, "g": 1e-3}
        return cls(effect, np.full(suites, 0.1), np.full(suites, 0.005))


@dataclass(frozen=True, eq=False)
class Mode:
    """The fit: unknowns with their covariance, effects of tasks with their variance, and the spreads.

    ``slope``: the mean slope at which errors of length count, in logits per doubling; a step leaves it as it is.
    """

    design: Design
    lengths: Lengths
    places: UnknownPlaces
    theta: Floats
    effects: Floats
    covariance: Floats
    variance: Floats
    spreads: EffectSpreads
    slope: float = SLOPE
    converged: bool = False

    @property
    def task_variance(self) -> Floats:
        """The prior variance of each task's effect: tasks differ, and their lengths are uncertain."""
        return np.asarray(self.spreads.effect["e"] ** 2 + self.slope**2 * self.lengths.variance)


def fit_mode(design: Design, lengths: Lengths, spreads: EffectSpreads | None = None, rounds: int = ROUNDS) -> Mode:
    """Find the mode and its covariance; with ``spreads`` these stay as they are."""
    places = UnknownPlaces.of(design)
    mode = _start(design, lengths, places, spreads or EffectSpreads.before(len(design.suites)))
    for _ in range(rounds):
        move, effects, covariance, variance, value = _newton(mode)
        share = 1.0 / max(1.0, float(np.abs(move).max()) / 4)
        moved = _moved(mode, share * move, share * effects)
        while _objective(moved) < value - 1e-6 * abs(value) and share > 1e-3:
            share /= 2
            moved = _moved(mode, share * move, share * effects)
        slope = float(moved.theta[places.mean][1])
        mode = replace(moved, covariance=covariance, variance=variance, slope=slope)
        size = np.abs(move).max()
        if spreads is None:
            new = _maximised(mode)
            size = max(size, *(abs(new.effect[name] - mode.spreads.effect[name]) for name in new.effect))
            mode = replace(mode, spreads=new)
        if size < CLOSE:
            return replace(mode, converged=True)
    return mode


def _start(design: Design, lengths: Lengths, places: UnknownPlaces, spreads: EffectSpreads) -> Mode:
    """Start with all subjects at their share of successes."""
    theta = np.zeros(places.size)
    right, tried, at = np.zeros((3, len(design.subjects)))
    for suite in design.suites:
        right[suite.rows] += suite.successes.sum(1)
        tried[suite.rows] += suite.trials.sum(1)
        at[suite.rows] += suite.trials @ lengths.mean[suite.tasks]
    tried = np.maximum(tried, 1)
    theta[places.a] = scipy.special.logit((right + 1) / (tried + 2)) + SLOPE * at / tried
    theta[places.b] = SLOPE
    theta[places.mean] = theta[places.a].mean(), SLOPE
    empty = np.zeros((0, 0))
    return Mode(design, lengths, places, theta, np.zeros(lengths.mean.size), empty, empty, spreads)


def lines(mode: Mode, place: int, theta: Floats | None = None, *, shared: bool = True) -> tuple[Floats, Floats]:
    """Return A and B of the subjects of a suite; ``theta`` may be many draws (draws, unknowns).

    Without ``shared`` the error of length that the suite shares is left out: A and B then belong to true lengths.
    """
    at, suite = mode.places, mode.design.suites[place]
    theta = mode.theta if theta is None else theta
    height = theta[..., at.a][..., suite.rows] - theta[..., at.v][..., place, None]
    if shared:
        height = height - mode.slope * theta[..., at.u][..., place, None]
    if mode.design.pairs:
        first = sum(other.rows.size for other in mode.design.suites[:place])
        height = height + theta[..., at.w][..., first : first + suite.rows.size]
    return height, theta[..., at.b][..., suite.rows] + theta[..., at.g][..., place, None]


def _rates(mode: Mode, place: int, effects: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return the rate of knowing, of success, and the levels of guessing and slipping of a suite."""
    suite = mode.design.suites[place]
    a, b = lines(mode, place)
    knows = expit(a[:, None] - b[:, None] * mode.lengths.mean[suite.tasks] - effects)
    guess = np.where(np.isnan(suite.chance), mode.spreads.guess[place], suite.chance)
    slip = float(mode.spreads.slip[place])
    return knows, np.clip(guess + (1 - guess - slip) * knows, _EDGE, 1 - _EDGE), guess, slip


def _derivatives(mode: Mode, place: int, effects: Floats) -> tuple[Floats, Floats, Floats]:
    """Return score and information of each cell by its logit, and the log likelihood of each task."""
    suite = mode.design.suites[place]
    knows, rate, guess, slip = _rates(mode, place, effects)
    steep = (1 - guess - slip) * knows * (1 - knows)
    ratio = steep / (rate * (1 - rate))
    likelihood = suite.successes * np.log(rate) + (suite.trials - suite.successes) * np.log1p(-rate)
    return (suite.successes - suite.trials * rate) * ratio, suite.trials * ratio * steep, likelihood.sum(0)


def _moved(mode: Mode, move: Floats, effects: Floats) -> Mode:
    """Return the fit after a step; the effects of tasks go to their mode given the other unknowns."""
    mode = replace(mode, theta=mode.theta + move, effects=mode.effects + effects)
    tight = 1 / mode.task_variance
    for _ in range(_SETTLING):
        for place, suite in enumerate(mode.design.suites):
            own, e = tight[suite.tasks], mode.effects[suite.tasks]
            score, info, _ = _derivatives(mode, place, e)
            mode.effects[suite.tasks] -= np.clip((score.sum(0) + e * own) / (info.sum(0) + own), -_REACH, _REACH)
    return mode


def _objective(mode: Mode) -> float:
    """Return the log posterior at fixed spreads, with tasks integrated out."""
    precision, center = _prior(mode)
    gap = mode.theta - center
    levels = [_suite_piece(mode, place).level for place in range(len(mode.design.suites))]
    return sum(levels) - 0.5 * float(gap @ precision @ gap)


def _prior(mode: Mode) -> tuple[Floats, Floats]:
    """Return the prior precision of the dense part and its center."""
    at, effect = mode.places, mode.spreads.effect
    matrix, center = np.zeros((at.size, at.size)), np.zeros(at.size)
    for name in ("a", "b", "v", "g", "w"):
        slot = np.arange(at.size)[getattr(at, name)]
        matrix[slot, slot] = effect[name] ** -2.0
    for name, mean in (("a", at.mean.start), ("b", at.mean.start + 1)):
        slot = np.arange(at.size)[getattr(at, name)]
        matrix[mean, mean] += slot.size * effect[name] ** -2.0
        matrix[slot, mean] = matrix[mean, slot] = -(effect[name] ** -2.0)
    matrix[at.u, at.u] = np.linalg.inv(mode.lengths.shared + 1e-6 * np.eye(mode.lengths.shared.shape[0]))
    matrix[at.mean.start, at.mean.start] += LEVEL_DOUBT**-2.0
    matrix[at.mean.start + 1, at.mean.start + 1] += SLOPE_DOUBT**-2.0
    center[at.b] = center[at.mean.start + 1] = SLOPE
    return matrix, center


def precision(mode: Mode, *, tasks_fixed: bool = False) -> Floats:
    """Return the precision of the dense part; with ``tasks_fixed`` as if the effects of all tasks were given."""
    matrix, _ = _prior(mode)
    for place in range(len(mode.design.suites)):
        piece, (columns, to) = _suite_piece(mode, place), _map(mode, place)
        reduced = piece.local if tasks_fixed else piece.local - (piece.coupling / piece.curve) @ piece.coupling.T
        matrix[np.ix_(columns, columns)] += to.T @ (reduced @ to)
    return matrix


def _newton(mode: Mode) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Return steps of the dense part and the tasks' effects, dense covariance, tasks' variances, and log posterior."""
    matrix, center = _prior(mode)
    gap = mode.theta - center
    gradient = -matrix @ gap
    value = 0.5 * float(gradient @ gap)
    pieces = [_suite_piece(mode, place) for place in range(len(mode.design.suites))]
    maps = [_map(mode, place) for place in range(len(pieces))]
    for (columns, to), piece in zip(maps, pieces, strict=True):
        carried = piece.coupling / piece.curve
        matrix[np.ix_(columns, columns)] += to.T @ ((piece.local - carried @ piece.coupling.T) @ to)
        gradient[columns] += to.T @ (piece.slope - carried @ piece.down)
    covariance = np.linalg.inv(matrix)
    covariance = (covariance + covariance.T) / 2
    move = covariance @ gradient
    effects, variance = np.zeros_like(mode.effects), np.zeros_like(mode.effects)
    for (columns, to), suite, piece in zip(maps, mode.design.suites, pieces, strict=True):
        carried = piece.coupling / piece.curve
        effects[suite.tasks] = piece.down / piece.curve - (to @ move[columns]) @ carried
        spread = to @ covariance[np.ix_(columns, columns)] @ to.T
        variance[suite.tasks] = piece.square + ((spread @ carried) * carried).sum(0)
    return move, effects, covariance, variance, value + sum(piece.level for piece in pieces)


def _map(mode: Mode, place: int) -> tuple[Integers, Floats]:
    """Return the unknowns that A and B of a suite's subjects depend on, and the matrix from them."""
    at, suite = mode.places, mode.design.suites[place]
    k = suite.rows.size
    ones, pairs = np.arange(k), k * bool(mode.design.pairs)
    first = at.w.start + sum(other.rows.size for other in mode.design.suites[:place])
    own = [at.v.start + place, at.g.start + place, at.u.start + place]
    columns = np.r_[at.a.start + suite.rows, at.b.start + suite.rows, own, first + np.arange(pairs)]
    matrix = np.zeros((2 * k, columns.size))
    matrix[np.arange(2 * k), np.arange(2 * k)] = 1
    matrix[:k, 2 * k], matrix[k:, 2 * k + 1], matrix[:k, 2 * k + 2] = -1, 1, -mode.slope
    if pairs:
        matrix[ones, 2 * k + 3 + ones] = 1
    return columns, matrix


class _Piece(NamedTuple):
    """Derivatives of one suite by (A, B) of its subjects and by the effects of its tasks, as means over these effects.

    ``square``: the mean square of each effect's distance from its mode. ``level``: the log likelihood without effects.
    """

    local: Floats
    slope: Floats
    coupling: Floats
    curve: Floats
    down: Floats
    square: Floats
    level: float


def _suite_piece(mode: Mode, place: int) -> _Piece:
    """Integrate the tasks of one suite out, by Gauss and Hermite's nodes around the modes of their effects."""
    suite = mode.design.suites[place]
    k = suite.rows.size
    x, e, tight = mode.lengths.mean[suite.tasks], mode.effects[suite.tasks], 1 / mode.task_variance[suite.tasks]
    middle = _derivatives(mode, place, e)
    score, info, _ = middle
    down, curve = -score.sum(0) - e * tight, info.sum(0) + tight
    points, weights = np.polynomial.hermite_e.hermegauss(1 if k >= _MANY else _NODES)
    steps = points[:, None] / np.sqrt(curve)
    nodes = [middle] if points.size == 1 else [_derivatives(mode, place, e + step) for step in steps]
    logs = (
        np.array([node[2] for node in nodes])
        - (e + steps) ** 2 * tight / 2
        + (points**2 / 2 + np.log(weights))[:, None]
    )
    width = np.log(tight / curve) / 2 * (points.size > 1)  # at one node the derivatives are those of the mode alone
    level = float((scipy.special.logsumexp(logs, axis=0) + width).sum())
    share = scipy.special.softmax(logs, axis=0)
    score, info = (sum(one * node[part] for one, node in zip(share, nodes, strict=True)) for part in (0, 1))
    local, moments = np.zeros((2 * k, 2 * k)), (info.sum(1), info @ x, info @ x**2)
    ones, slopes = np.arange(k), np.arange(k, 2 * k)
    local[ones, ones], local[slopes, slopes] = moments[0], moments[2]
    local[ones, slopes] = local[slopes, ones] = -moments[1]
    slope, coupling = np.r_[score.sum(1), -(score @ x)], np.vstack([-info, info * x])
    return _Piece(local, slope, coupling, info.sum(0) + tight, down, (share * steps**2).sum(0), level)


def _maximised(mode: Mode) -> EffectSpreads:
    """Return the spreads that fit the expected squares of the effects."""
    at, old, cov = mode.places, mode.spreads, mode.covariance
    diagonal = np.diag(cov)
    effect = dict(old.effect)
    single = len(mode.design.suites) == 1
    for name in () if single else ("v", "g", "w"):
        slot = getattr(at, name)
        effect[name] = _spread(mode.theta[slot] ** 2 + diagonal[slot], name)
    for place, name in enumerate(("a", "b")):
        slot, mean = getattr(at, name), at.mean.start + place
        gap = (mode.theta[slot] - mode.theta[mean]) ** 2 + diagonal[slot] - 2 * cov[slot, mean] + cov[mean, mean]
        effect[name] = _spread(gap, name)
    share = old.effect["e"] ** 2 / mode.task_variance
    own = share**2 * (mode.effects**2 + mode.variance) + old.effect["e"] ** 2 * (1 - share)
    effect["e"] = _spread(own, "e")
    effect = {name: old.effect[name] * (new / old.effect[name]) ** _STRIDE for name, new in effect.items()}
    return EffectSpreads(effect, *_levels(mode))


def _spread(squares: Floats, name: str) -> float:
    value, count = PRIORS[name]
    return float(np.sqrt((count * value**2 + squares.sum()) / (count + squares.size)))


def _levels(mode: Mode) -> tuple[Floats, Floats]:
    """Return guessing and slipping by suite: expected guesses and slips over the chances for them."""
    guesses, slips = mode.spreads.guess.copy(), mode.spreads.slip.copy()
    for place, suite in enumerate(mode.design.suites):
        knows, rate, guess, slip = _rates(mode, place, mode.effects[suite.tasks])
        failures = suite.trials - suite.successes
        lucky = suite.successes * guess * (1 - knows) / rate
        unknowing = lucky + failures * (1 - guess) * (1 - knows) / (1 - rate)
        slipped = failures * slip * knows / (1 - rate)
        knowing = suite.successes - lucky + slipped
        learn = np.isnan(suite.chance)
        guesses[place] = (_GUESS[0] + lucky[:, learn].sum()) / (_GUESS[1] + unknowing[:, learn].sum())
        slips[place] = (_SLIP[0] + slipped.sum()) / (_SLIP[1] + knowing.sum())
    return guesses, slips
