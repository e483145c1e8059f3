"""How well a model reproduces the answers: items (S-X², infit, outfit), pairs (Q3, X²), and the whole (M2).

S-X² compares shares of categories among people with the same total score (Orlando and Thissen 2000; Kang and Chen
2008). M2 compares means and products of item scores with the model's (Maydeu-Olivares and Joe 2006; M2* of Cai and
Hansen 2013 for ratings). Q3 is the correlation of residuals (Yen 1984), X² the test of a pair's table (Chen and
Thissen 1997). All of them integrate over normal abilities of the first group.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special, stats

from mensura.core.arrays import Floats
from mensura.responses.irt.category_curves import category_curves
from mensura.responses.irt.model import Items, Parameters, chances

MOST_ITEMS, MOST_IN_M2 = 200, 60
"""Items up to which items and pairs, and the whole, are tested: the work grows by the third power, or the sixth."""
_Z = np.linspace(-6.0, 6.0, 97)
_WEIGHT = np.exp(-0.5 * _Z**2) / np.sum(np.exp(-0.5 * _Z**2))
_LEAST_CELL = 1.0
_SMALL, _FLOOR = 1e-4, 1e-12


def category_chances(p: Items, ability: Floats) -> Floats:
    """Return the chance of every category (items × categories × abilities); absent categories have 0."""
    if isinstance(p, Parameters):
        right = chances(p, ability)
        return np.stack([1.0 - right, right], axis=1)
    return p.chances(ability)


def category_slopes(p: Items, ability: Floats) -> Floats:
    """Return how the log chances of categories rise with ability, in the same order."""
    if isinstance(p, Parameters):
        right, along = chances(p, ability), p.score_slopes(ability)
        return np.stack([-along / np.maximum(1.0 - right, _FLOOR), along / np.maximum(right, _FLOOR)], axis=1)
    return category_curves(p, ability)[2]


@dataclass(frozen=True)
class Scored:
    """Answers of one group as categories from 0 on (subjects × items, −1: missing), and the fitted items."""

    answers: NDArray[np.int64]
    p: Items

    @property
    def curves(self) -> Floats:
        """The chances of categories at nodes of the first group's abilities."""
        return self.curves_of(self.p)

    @staticmethod
    def curves_of(p: Items) -> Floats:
        """Return the chances of categories under other parameters."""
        return category_chances(p, float(p.mean[0]) + float(p.sd[0]) * _Z)

    @property
    def complete(self) -> NDArray[np.int64]:
        """The answers of subjects who answered all items."""
        return self.answers[(self.answers >= 0).all(axis=1)]

    @property
    def unknowns(self) -> list[NDArray[np.bool_]]:
        """Which parameters of each item are estimated."""
        if isinstance(self.p, Parameters):
            known = np.zeros(len(self.p.slope), dtype=bool) if self.p.fixed is None else self.p.fixed
            return [np.full(self.p.of_item, not one) for one in known]
        if self.p.ties is not None:  # those of one item alone
            owners = np.asarray(self.p.ties.any(axis=1))
            return list(owners[:, owners.sum(axis=0) == 1])
        return list(self.p.used)


class ItemFit(NamedTuple):
    """Of every item: S-X², its degrees of freedom and p; mean squares of residuals, weighted (infit) and not."""

    x2: Floats
    df: Floats
    p: Floats
    infit: Floats
    outfit: Floats


def item_fit(scored: Scored, ability: Floats) -> ItemFit:
    """Return how well each item fits; ``ability``: of the subjects."""
    curves, answers = scored.curves, scored.complete
    count = len(curves)
    x2, df = np.full((2, count), np.nan)
    if len(answers) and count <= MOST_ITEMS:
        for item in range(count):
            x2[item], df[item] = _score_test(curves, answers, item)
            df[item] -= scored.unknowns[item].sum()
    df[df <= 0] = np.nan
    score, variance, _ = _moments(category_chances(scored.p, ability))
    taken = scored.answers.T >= 0
    square = np.where(taken, (scored.answers.T - score) ** 2, 0.0)
    variance = np.where(taken, np.maximum(variance, _FLOOR), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        outfit = np.sum(np.where(taken, square / variance, 0.0), axis=1) / np.maximum(taken.sum(axis=1), 1)
        infit = square.sum(axis=1) / np.maximum(variance.sum(axis=1), _FLOOR)
    p = np.where(np.isnan(df), np.nan, special.chdtrc(np.nan_to_num(df, nan=1.0), np.nan_to_num(x2)))
    return ItemFit(np.where(np.isnan(df), np.nan, x2), df, p, infit, outfit)


def _moments(chance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and mean square of the scores of items (items × nodes)."""
    values = np.arange(float(chance.shape[1]))
    mean, square = (np.einsum("k,jkq->jq", values**power, chance) for power in (1, 2))
    return mean, square - mean**2, square


def _score_chances(curves: Floats, items: list[int]) -> Floats:
    """Return the chance of every total score of some items at the nodes (Lord and Wingersky 1984)."""
    most = curves.shape[1] - 1
    total = np.zeros((len(items) * most + 1, curves.shape[2]))
    total[0] = 1.0
    for item in items:
        before, total = total, np.zeros_like(total)
        for category, chance in enumerate(curves[item]):
            total[category:] += before[: len(total) - category] * chance
    return total


def _score_test(curves: Floats, answers: NDArray[np.int64], item: int) -> tuple[float, float]:
    """Return S-X² of an item and how many cells are free."""
    rest = _score_chances(curves, [one for one in range(len(curves)) if one != item]) * _WEIGHT
    kinds = int(np.sum(curves[item].sum(axis=1) > 0.0))
    joint = np.zeros((len(rest) + kinds - 1, kinds))
    for category in range(kinds):
        joint[category : category + len(rest), category] = rest @ curves[item, category]
    total = answers.sum(axis=1)
    highest = int(np.sum([np.sum(one.sum(axis=1) > 0.0) - 1 for one in curves]))
    observed = np.zeros_like(joint)
    np.add.at(observed, (total, answers[:, item]), 1.0)
    rows = slice(1, highest)
    expected = observed.sum(axis=1, keepdims=True) * joint / np.maximum(joint.sum(axis=1, keepdims=True), _FLOOR)
    seen, cells = _merged(observed[rows], expected[rows])
    if not len(cells):
        return np.nan, 0.0
    free = float((cells.shape[1] - 1) * len(cells))
    return float(np.sum((seen - cells) ** 2 / np.maximum(cells, _FLOOR))), free


def _merged(observed: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Merge neighbouring scores until every expected cell has one answer: the lowest such score into its neighbour.

    A score in the middle goes to the neighbour with fewer people.
    """
    rows = [(seen, cells) for seen, cells in zip(observed, expected, strict=True) if seen.sum()]
    while len(rows) > 1:
        at = next((place for place, (_, cells) in enumerate(rows) if np.any(cells < _LEAST_CELL)), None)
        if at is None:
            break
        near = [place for place in (at - 1, at + 1) if 0 <= place < len(rows)]
        into = min(near, key=lambda place: rows[place][0].sum())
        rows[into] = rows[into][0] + rows[at][0], rows[into][1] + rows[at][1]
        rows.pop(at)
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def pair_fit(scored: Scored, ability: Floats) -> list[tuple[int, int, float, float, float]]:
    """Return of every pair of items: Q3, the signed X² of their table, and its p."""
    score, _, _ = _moments(category_chances(scored.p, ability))
    taken = scored.answers.T >= 0
    residual = np.where(taken, scored.answers.T - score, np.nan)
    curves, rows = scored.curves, []
    for one in range(len(curves)):
        for other in range(one):
            both = taken[one] & taken[other]
            if both.sum() < 3:
                continue
            pair = residual[[one, other]][:, both]
            spread = np.std(pair, axis=1)
            q3 = float(np.corrcoef(pair)[0, 1]) if spread.min() > _FLOOR else 0.0
            chance = np.einsum("kq,lq,q->kl", curves[one], curves[other], _WEIGHT)
            seen = np.zeros_like(chance)
            np.add.at(seen, (scored.answers[both, one], scored.answers[both, other]), 1.0)
            used = chance > _FLOOR
            expected = chance * both.sum()
            x2 = float(np.sum((seen - expected)[used] ** 2 / expected[used]))
            df = (np.count_nonzero(used.any(axis=1)) - 1) * (np.count_nonzero(used.any(axis=0)) - 1)
            rows.append((other, one, q3, float(np.copysign(x2, q3)), float(special.chdtrc(df, x2))))
    return rows


class WholeFit(NamedTuple):
    """M2 with its degrees of freedom, p, RMSEA with a 90% interval, SRMSR, TLI and CFI."""

    m2: float
    m2_df: int
    m2_p: float
    rmsea: float
    rmsea_low: float
    rmsea_high: float
    srmsr: float
    tli: float
    cfi: float


def whole_fit(scored: Scored) -> WholeFit | None:
    """Return how well the model fits means and products of item scores; None where the data do not allow the test."""
    answers = scored.complete
    if not 3 <= len(scored.curves) <= MOST_IN_M2 or len(answers) < 0.5 * len(scored.answers) or len(answers) < 50:
        return None
    statistic, df, gaps = _m2(answers, scored.p, Scored.curves_of, _steps(scored))
    if df < 1:
        return None
    shares = _shares(scored)
    nudges = _SMALL * np.eye(len(shares))[:, :, None] * np.append([-1.0, 1.0], np.zeros(shares.shape[1] - 2))
    steps = [(shares - nudge, shares + nudge) for nudge in nudges]  # only the means are free
    null, null_df, _ = _m2(answers, shares, lambda shares: shares[:, :, None] * np.ones(len(_Z)), steps)
    count = len(answers)
    excess, of_null = max(statistic - df, 0.0), max(null - null_df, statistic - df, _FLOOR)
    low, high = (_noncentral(statistic, df, share) for share in (0.95, 0.05))
    rmsea, rmsea_low, rmsea_high = (float(np.sqrt(one / (df * count))) for one in (excess, low, high))
    tli = (null / null_df - statistic / df) / (null / null_df - 1.0)
    p_value, cfi = float(special.chdtrc(df, statistic)), 1.0 - excess / of_null
    return WholeFit(statistic, df, p_value, rmsea, rmsea_low, rmsea_high, gaps, tli, cfi)


def _noncentral(statistic: float, df: int, share: float) -> float:
    """Return the noncentrality under which a larger statistic has 1 − ``share``."""
    from scipy.optimize import brentq

    def off(x: float) -> float:
        return float(stats.ncx2.cdf(statistic, df, x) if x > 0 else stats.chi2.cdf(statistic, df)) - share

    return 0.0 if off(0.0) <= 0.0 else float(brentq(off, 0.0, 10.0 * statistic + 100.0))


def _shares(scored: Scored) -> Floats:
    """Return the observed shares of categories: the model without an ability."""
    kinds = scored.curves.shape[1]
    return np.stack([np.mean(scored.complete == kind, axis=0) for kind in range(kinds)], axis=1)


def _steps(scored: Scored) -> list[Any]:
    """Return pairs of parameters a small step below and above, one pair for each that is estimated."""
    p, ties, used = scored.p, getattr(scored.p, "ties", None), np.ravel(scored.unknowns)
    of_items = np.eye(len(used))[used] if ties is None else ties.reshape(-1, ties.shape[2]).T
    first = np.eye(len(p.free))[: sum(group == 0 for _, group in p.free)]
    steps = _SMALL * linalg.block_diag(of_items, first)
    return [(p.moved(-step), p.moved(step)) for step in steps]


def _m2(
    answers: NDArray[np.int64], p: Any, curves_of: Callable[[Any], Floats], steps: list[Any]
) -> tuple[float, int, float]:
    """Return M2, its degrees of freedom and the root mean square of gaps between correlations."""
    count, items = answers.shape
    first, second = np.triu_indices(items, 1)

    def margins(curves: Floats) -> Floats:
        mean = _moments(curves)[0]
        return np.append(mean @ _WEIGHT, ((mean * _WEIGHT) @ mean.T)[first, second])

    curves = curves_of(p)
    expected = margins(curves)
    observed = np.append(answers.mean(axis=0), (answers.T @ answers / count)[first, second])
    covariance = _margin_covariance(curves, expected, first, second)
    changes = np.stack([(margins(curves_of(up)) - margins(curves_of(down))) / (2 * _SMALL) for down, up in steps], 1)
    root = np.linalg.cholesky(covariance + _FLOOR * np.eye(len(covariance)))
    gap, turned = np.linalg.solve(root, observed - expected), np.linalg.solve(root, changes)
    basis, values, _ = np.linalg.svd(turned, full_matrices=False)
    basis = basis[:, values > 1e-8 * values[0]]
    left = gap - basis @ (basis.T @ gap)
    spread = np.sqrt(np.maximum(np.diag(np.cov(answers.T)), _FLOOR))
    mean, _, square = _moments(curves)
    own = np.sqrt(np.maximum(square @ _WEIGHT - (mean @ _WEIGHT) ** 2, _FLOOR))
    modelled = (expected[items:] - expected[first] * expected[second]) / (own[first] * own[second])
    seen = np.cov(answers.T)[first, second] / (spread[first] * spread[second])
    return count * float(left @ left), len(gap) - basis.shape[1], float(np.sqrt(np.mean((seen - modelled) ** 2)))


def _margin_covariance(curves: Floats, expected: Floats, first: Any, second: Any) -> Floats:
    """Return the covariance of item scores and products of two of them, for one subject."""
    mean, _, square = _moments(curves)
    items = len(mean)
    left, right = np.append(np.arange(items), first), np.append(np.full(items, -1), second)
    rows = np.concatenate([mean, mean[first] * mean[second]])
    joint = (rows * _WEIGHT) @ rows.T
    for one in range(len(left)):
        mine = {int(left[one]), int(right[one])} - {-1}
        shared = np.flatnonzero(np.isin(left, list(mine)) | np.isin(right, list(mine)))
        for other in shared:
            theirs = {int(left[other]), int(right[other])} - {-1}
            value = _WEIGHT
            for item in mine | theirs:
                value = value * (square[item] if item in mine & theirs else mean[item])
            joint[one, other] = value.sum()
    return np.asarray(joint - np.outer(expected, expected))
