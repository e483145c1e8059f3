"""The typical time of each task, in doublings of a minute, from times of every kind with their errors.

A time y of kind k is x + β_ks + noise: x is the task's length, β_ks the bias of the kind in the suite, normal around
the kind's mean μ_k. A measured time has no bias; its noise is the spread of persons. Bounds and ranges give the
probability between their ends. Lengths are normal among the timed tasks of a suite, and apart from them among those
that nobody was timed on: people are timed on the easier tasks, so one mean for both would be read as a bias of
judges. The spreads have maximal marginal likelihood under weak priors. The mode is found by Newton's method; lengths
are eliminated, each being one unknown.
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask
from mensura.horizon.design import Integers
from mensura.horizon.kinds import ESTIMATE, FIRST, LEAST, MEASURED, MODEL, RANGE
from mensura.scale import Z90

CENTER = 4.0
"""Lengths are counted in doublings from 16 minutes inside the fits."""
_ROUNDS, _CLOSE = 60, 3e-3
_PIVOT = -1.0
"""The length, in doublings from 16 minutes, that no power changes."""
_PLACE_DOUBT = 4.0
"""How far the mean length of a suite may lie from 16 minutes, in doublings."""


@dataclass(frozen=True)
class KindPrior:
    """What is assumed of a kind of times before any is compared with a measured one, in doublings.

    ``bias``: mean error of the kind, uncertain by ``doubt``. ``shared``: spread of the bias between suites. ``spread``:
    error of one time. ``power``: doublings of the estimate count as so many, as short tasks are judged too short. The
    values come from five security suites whose professionals were timed.
    """

    bias: float
    doubt: float
    shared: float
    spread: float
    power: float = 1.0


KINDS = {
    ESTIMATE: KindPrior(-0.6, 0.6, 1.0, 1.1),
    MODEL: KindPrior(-1.0, 0.6, 1.0, 1.0, 0.85),
    FIRST: KindPrior(-1.5, 0.8, 0.7, 1.4),
    RANGE: KindPrior(-0.4, 0.6, 1.0, 1.1),
}
ANY_KIND = KindPrior(-0.4, 0.7, 0.9, 1.1)
PERSON = (1.2, 4.0)
"""Spread of one person's time around a task's typical time before repeated attempts are seen, and its weight."""
WITHIN = (1.5, 2.0)
"""Spread of lengths within a suite before data, and its weight; suites differ around what they share by as much."""
_KIND_WEIGHT, _SHARED_WEIGHT = 30.0, 4.0
"""What the assumed error of one time, and the assumed spread between suites, count as: so many times or suites."""


@dataclass(frozen=True, eq=False)
class TimeArrays:
    """Observed times between ``low`` and ``high`` (doublings): of which task and suite, kind and bias (−1 measured)."""

    task: Integers
    suite: Integers
    kind: Integers
    bias: Integers
    low: Floats
    high: Floats
    people: Floats

    @property
    def plain(self) -> Mask:
        """Which times are a single number."""
        return np.asarray(self.low == self.high)


@dataclass(frozen=True, eq=False)
class Lengths:
    """Lengths of tasks: ``mean``, independent ``variance``, and ``shared``, the covariance of whole suites' shifts.

    ``spreads``: the person's spread, and error, bias and spread of bias by kind.
    """

    tasks: pl.DataFrame
    suites: list[str]
    mean: Floats
    variance: Floats
    shared: Floats
    kinds: pl.DataFrame
    person: float

    @property
    def total(self) -> Floats:
        """The variance of each task's length, with the shift that its suite shares."""
        place = [self.suites.index(suite) for suite in self.tasks["suite"]]
        return self.variance + np.diag(self.shared)[place]

    def intervals(self, low: str, high: str, more: float = 0.0) -> pl.DataFrame:
        """Return the tasks with minutes and the ends of their 90% interval; ``more``: a further error, in doublings."""
        half = Z90 * np.sqrt(self.total + more**2)
        ends = {"minutes": self.mean, low: self.mean - half, high: self.mean + half}
        return self.tasks.with_columns(**{name: pl.Series(np.exp2(CENTER + value)) for name, value in ends.items()})


@dataclass(frozen=True, eq=False)
class _State:
    """Unknowns of the lengths: dense ones (means of homes, biases, kind means), lengths, and spreads.

    A home is the timed or the other tasks of one suite.
    """

    theta: Floats
    x: Floats
    within: Floats
    spread: Floats
    doubt: Floats
    person: float


def fit_lengths(times: pl.DataFrame, tasks: pl.DataFrame) -> Lengths:
    """Fit the lengths of ``tasks`` (suite, task) to observed times."""
    suites = tasks["suite"].unique(maintain_order=True).to_list()
    kinds = sorted(set(times["kind"]) - {MEASURED, LEAST})
    arrays, biases = _arrays(times, tasks, suites, kinds)
    of_suite = np.array([suites.index(one) for one in tasks["suite"]], dtype=np.int64)
    timed = np.bincount(arrays.task, arrays.kind < 0, minlength=of_suite.size) > 0
    home = np.unique(2 * of_suite + timed, return_inverse=True)[1].astype(np.int64)
    state = _start(arrays, home, kinds, biases, int(home.max()) + 1)
    for _ in range(_ROUNDS):
        move, step, inverse, carry, curve = _newton(state, arrays, home, kinds, biases)
        state = replace(state, theta=state.theta + move, x=state.x + step)
        variance = 1 / curve + _quadratic(carry, inverse)
        old = np.concatenate([state.within, state.spread, state.doubt, [state.person]])
        state = _maximised(state, arrays, home, kinds, biases, inverse, variance, carry)
        new = np.concatenate([state.within, state.spread, state.doubt, [state.person]])
        if max(np.abs(move).max(), np.abs(step).max(), np.abs(new - old).max()) < _CLOSE:
            break
    mean_carry = np.stack([carry[of_suite == place].mean(0) for place in range(len(suites))])
    rest = carry - mean_carry[of_suite]
    own = 1 / curve + _quadratic(rest, inverse)
    first = state.within.size + len(biases)
    described = pl.DataFrame(
        {
            "kind": kinds,
            "bias": state.theta[first:],
            "bias_error": np.sqrt(np.diag(inverse)[first:]),
            "between_suites": state.doubt,
            "spread": state.spread,
        },
        schema_overrides={"kind": pl.String},
    )
    shared = mean_carry @ inverse @ mean_carry.T
    return Lengths(tasks, suites, state.x, own, (shared + shared.T) / 2, described, state.person)


def _arrays(
    times: pl.DataFrame, tasks: pl.DataFrame, suites: list[str], kinds: list[str]
) -> tuple[TimeArrays, list[tuple[int, int]]]:
    placed = tasks.select("suite", "task").with_row_index("place")
    joined = bounded(times).join(placed, on=["suite", "task"], maintain_order="left")
    kind = np.array([kinds.index(one) if one in kinds else -1 for one in joined["kind"]], dtype=np.int64)
    suite = np.array([suites.index(one) for one in joined["suite"]], dtype=np.int64)
    biases = sorted({(int(k), int(s)) for k, s in zip(kind, suite, strict=True) if k >= 0})
    places = {pair: place for place, pair in enumerate(biases)}
    bias = np.array([places.get((int(k), int(s)), -1) for k, s in zip(kind, suite, strict=True)], dtype=np.int64)
    ends = [joined[column].to_numpy().astype(float) - CENTER for column in ("from", "to")]
    power = np.array([_prior(one).power for one in joined["kind"]])
    ends = [_PIVOT + power * (end - _PIVOT) for end in ends]
    people = np.maximum(1.0, joined["people"].fill_null(1.0).to_numpy().astype(float))
    place = joined["place"].to_numpy().astype(np.int64)
    return TimeArrays(place, suite, kind, bias, ends[0], ends[1], people), biases


def bounded(times: pl.DataFrame) -> pl.DataFrame:
    """Add ``from`` and ``to``, the ends of each time in doublings: equal for a plain time, open for a bound.

    A range without its ends runs to the middle between its value and the next values of its suite.
    """
    value, low, high = (pl.col(name).log(2) for name in ("minutes", "low", "high"))
    ranges = times.filter((pl.col("kind") == RANGE) & pl.col("minutes").is_not_null()).select("suite", "minutes")
    steps = (
        ranges.unique()
        .sort("suite", "minutes")
        .with_columns(
            below=(value + value.shift(1)).over("suite") / 2, above=(value + value.shift(-1)).over("suite") / 2
        )
    )
    joined = times.join(steps, on=["suite", "minutes"], how="left", maintain_order="left")
    is_range = pl.col("kind") == RANGE
    return joined.with_columns(
        pl.when(is_range).then(pl.coalesce(low, "below", pl.lit(-np.inf))).otherwise(value).alias("from"),
        pl.when(is_range)
        .then(pl.coalesce(high, "above", pl.lit(np.inf)))
        .when(pl.col("kind") == LEAST)
        .then(pl.lit(np.inf))
        .otherwise(value)
        .alias("to"),
    )


def _quadratic(rows: Floats, matrix: Floats) -> Floats:
    """Return r M r for each row r."""
    return np.asarray(((rows @ matrix) * rows).sum(1))


def _prior(kind: str) -> KindPrior:
    return KINDS.get(kind, ANY_KIND)


def _start(arrays: TimeArrays, home: Integers, kinds: list[str], biases: list[tuple[int, int]], homes: int) -> _State:
    """Start at the middle of each observed time, corrected by the bias assumed of its kind."""
    low, high = arrays.low, arrays.high
    middle = np.where(np.isfinite(low), np.where(np.isfinite(high), (low + high) / 2, low + 1), high - 1)
    assumed = np.array([_prior(kind).bias for kind in kinds] + [0.0])
    count = np.bincount(arrays.task, minlength=home.size)
    x = np.bincount(arrays.task, middle - assumed[arrays.kind], minlength=home.size) / np.maximum(count, 1)
    means = np.array([x[home == place].mean() for place in range(homes)])
    theta = np.concatenate([means, [assumed[kind] for kind, _ in biases], assumed[:-1]])
    spread = np.array([_prior(kind).spread for kind in kinds])
    doubt = np.array([_prior(kind).shared for kind in kinds])
    return _State(theta, x, np.full(homes, WITHIN[0]), spread, doubt, PERSON[0])


def _bias(state: _State, arrays: TimeArrays, homes: int) -> Floats:
    """Return the bias of each time; a measured one has none."""
    return np.append(state.theta[homes:], 0.0)[np.where(arrays.bias >= 0, arrays.bias, -1)]


def _newton(
    state: _State, arrays: TimeArrays, home: Integers, kinds: list[str], biases: list[tuple[int, int]]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return the steps of dense part and lengths, the dense covariance, how lengths follow it, and curvatures."""
    homes, size, count = state.within.size, state.theta.size, home.size
    first = homes + len(biases)
    slope, bend = time_derivatives(state.x[arrays.task] + _bias(state, arrays, homes), arrays, _spreads(state, arrays))
    tight = state.within[home] ** -2.0
    gap = state.x - state.theta[home]
    curve, down = tight + np.bincount(arrays.task, bend, minlength=count), -tight * gap
    down += np.bincount(arrays.task, slope, minlength=count)
    cross = np.zeros((count, size))
    cross[np.arange(count), home] = -tight
    matrix, gradient = np.zeros((size, size)), np.zeros(size)
    diagonal = np.full(size, _PLACE_DOUBT**-2.0)
    gradient[:homes] = np.bincount(home, tight * gap, minlength=homes) - _PLACE_DOUBT**-2.0 * state.theta[:homes]
    diagonal[:homes] += np.bincount(home, tight, minlength=homes)
    for place, (kind, _) in enumerate(biases):
        own, slot, mean = arrays.bias == place, homes + place, first + kind
        np.add.at(cross, (arrays.task[own], slot), bend[own])
        weight = state.doubt[kind] ** -2.0
        pull = weight * (state.theta[mean] - state.theta[slot])
        diagonal[slot] = weight + bend[own].sum()
        gradient[slot] += pull + slope[own].sum()
        gradient[mean] -= pull
        matrix[mean, mean] += weight
        matrix[slot, mean] = matrix[mean, slot] = -weight
    for place, kind_name in enumerate(kinds):
        weight = _prior(kind_name).doubt ** -2.0
        diagonal[first + place] = weight
        gradient[first + place] += weight * (_prior(kind_name).bias - state.theta[first + place])
    matrix += np.diag(diagonal)
    carry = -cross / curve[:, None]
    inverse = np.linalg.inv(matrix + cross.T @ carry)
    move = inverse @ (gradient + carry.T @ down)
    return move, down / curve + carry @ move, (inverse + inverse.T) / 2, carry, curve


def _spreads(state: _State, arrays: TimeArrays) -> Floats:
    """Return the error of each time; that of several people is smaller."""
    return np.append(state.spread, state.person)[arrays.kind] / np.sqrt(arrays.people)


def time_derivatives(expected: Floats, arrays: TimeArrays, spread: Floats) -> tuple[Floats, Floats]:
    """Return the first and the negative second derivative of the log likelihood of each time by its expected value."""
    plain = arrays.plain
    gap = np.where(plain, arrays.low - expected, 0.0) / spread
    first, second = gap / spread, spread**-2.0
    if plain.all():
        return first, second
    bottom = np.where(plain, -np.inf, (arrays.low - expected) / spread)
    top = np.where(plain, np.inf, (arrays.high - expected) / spread)
    area = _log_area(bottom, top)
    heights = [np.exp(-0.5 * end**2 - area) / np.sqrt(2 * np.pi) for end in (bottom, top)]
    slope = heights[0] - heights[1]
    ends = [np.where(np.isfinite(end), end, 0.0) for end in (bottom, top)]
    bend = np.clip(slope**2 - (ends[0] * heights[0] - ends[1] * heights[1]), 1e-6, 1.0)
    return np.where(plain, first, slope / spread), np.where(plain, second, bend / spread**2)


def _log_area(low: Floats, high: Floats) -> Floats:
    """Return the log of the normal probability between two ends."""
    flip = low > 0
    left, right = np.where(flip, -high, low), np.where(flip, -low, high)
    upper, lower = scipy.special.log_ndtr(right), scipy.special.log_ndtr(left)
    return np.asarray(upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-12))))


def _maximised(
    state: _State,
    arrays: TimeArrays,
    home: Integers,
    kinds: list[str],
    biases: list[tuple[int, int]],
    inverse: Floats,
    variance: Floats,
    carry: Floats,
) -> _State:
    """Return the spreads that fit the expected squares of all errors."""
    homes = state.within.size
    diagonal, first = np.diag(inverse), homes + len(biases)
    covariance = (carry * inverse[home]).sum(1)
    square = (state.x - state.theta[home]) ** 2 + variance + diagonal[home] - 2 * covariance
    sums, counts = np.bincount(home, square, minlength=homes), np.bincount(home, minlength=homes)
    usual = (WITHIN[1] * WITHIN[0] ** 2 + sums.sum()) / (WITHIN[1] + counts.sum())
    within = np.sqrt((WITHIN[1] * usual + sums) / (WITHIN[1] + counts))
    slots = np.where(arrays.bias >= 0, homes + arrays.bias, 0)
    both = (carry[arrays.task] * inverse[slots]).sum(1)
    error = variance[arrays.task] + np.where(arrays.bias >= 0, diagonal[slots] + 2 * both, 0.0)
    each = _spreads(state, arrays)
    expected = state.x[arrays.task] + _bias(state, arrays, homes)
    slope, bend = time_derivatives(expected, arrays, each)
    square = arrays.people * (each**2 * (1 + (each * slope) ** 2 - each**2 * bend) + (each**2 * bend) ** 2 * error)
    spread, doubt = state.spread.copy(), state.doubt.copy()
    for place, name in enumerate(kinds):
        own, prior = square[arrays.kind == place], _prior(name)
        spread[place] = np.sqrt((_KIND_WEIGHT * prior.spread**2 + own.sum()) / (_KIND_WEIGHT + own.size))
        at = np.array([homes + slot for slot, (kind, _) in enumerate(biases) if kind == place], dtype=np.int64)
        mean = first + place
        gaps = (state.theta[at] - state.theta[mean]) ** 2 + diagonal[at] + diagonal[mean] - 2 * inverse[at, mean]
        doubt[place] = np.sqrt((_SHARED_WEIGHT * prior.shared**2 + gaps.sum()) / (_SHARED_WEIGHT + gaps.size))
    own = square[arrays.kind < 0]
    person = float(np.sqrt((PERSON[1] * PERSON[0] ** 2 + own.sum()) / (PERSON[1] + own.size)))
    return replace(state, within=within, spread=spread, doubt=doubt, person=person)
