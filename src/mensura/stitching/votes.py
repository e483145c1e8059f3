r"""Pairwise votes as evidence: strengths of contestants, with ties, judges, sides and lengths, and honest intervals.

A vote chooses among four options with the utilities :math:`\pm(\theta_a - \theta_b + s + \ell x)/2` for the two
contestants, :math:`\tau + u_j` for a tie (Davidson's model; judge :math:`j` ties more or less readily) and
:math:`\beta - (\theta_a + \theta_b)/2` for "both bad": the choice of something of a fixed quality instead. Without ties
this is the model of Bradley and Terry. Intervals count judges and prompts as clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from scipy import optimize, sparse, stats
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from mensura.core.arrays import expit
from mensura.core.errors import MensuraError, counted, listed_names
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.intake.names import is_people
from mensura.intake.votes import read_votes

if TYPE_CHECKING:
    from mensura.core.arrays import Floats, Ints

JUDGE_SD = 1.0
"""How far judges' readiness to call a tie spreads, in logits: it draws each judge's own to the common one."""
WEAK = 1e-3
"""Precision that keeps the strength of a contestant who always wins or loses finite."""
LEVEL = 0.9
_STEPS, _ENOUGH = 60, 1e-8
_AT_ONCE = 500_000  # cells of a table of judges that are filled at once
_MOST_CELLS = 30_000_000  # of a table of judges that is kept whole
_FEW = 50_000  # clusters whose slopes are multiplied as a whole


@dataclass(frozen=True, eq=False, repr=False)
class VoteFit(Result):
    """Contain the strengths of contestants and the other effects of votes.

    Attributes
    ----------
    contestants : pl.DataFrame
        contestant, kind (model or people), strength in natural logs with mean 0, 90% interval, votes, share of points.
        Who won or lost every vote has no strength and an open end.
    effects : pl.DataFrame
        Side (of the first place), length (per e-fold), tie and both bad, with intervals.
    judges : pl.DataFrame
        Each judge's own readiness to call a tie, and votes.
    clusters : str
        What the intervals count as clusters.
    warnings : tuple of str
        Contestants without a strength.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("contestants", "effects", "judges")

    contestants: pl.DataFrame
    effects: pl.DataFrame
    judges: pl.DataFrame
    clusters: str
    iterations: int
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """How many votes there are on whom."""
        votes = int(self.contestants["votes"].sum()) // 2
        return f"{counted(votes, 'vote')} on {counted(self.contestants.height, 'contestant')}; {self.clusters}"


class _Design:
    """Votes as arrays, and the effects that they can show."""

    def __init__(self, votes: pl.DataFrame) -> None:
        judge, self.judges = _codes(votes["judge"])
        order = np.argsort(judge, kind="stable")  # so that the votes of some judges are one slice
        self.judge = judge[order]
        names = pl.concat([votes["first"], votes["second"]]).unique().sort()
        self.names: list[str] = names.to_list()
        coded = pl.Enum(names)
        self.a, self.b = (
            votes[side].cast(coded).to_physical().cast(pl.Int64).to_numpy()[order] for side in ("first", "second")
        )
        self.y: Ints = votes["outcome"].to_numpy()[order].astype(np.int64)
        counts = np.bincount(self.y, minlength=4)
        self.has = {"side": bool(counts[0] and counts[1]), "tie": bool(counts[2]), "both bad": bool(counts[3])}
        self.has["length"] = "length" in votes.columns and bool((votes["length"] != 0).any())
        self.x: Floats = votes["length"].to_numpy()[order] if self.has["length"] else np.zeros(len(self.y))
        self.effects = [name for name in ("side", "length", "tie", "both bad") if self.has[name]]
        self.prompt: Ints = _codes(votes["prompt"])[0][order]
        self.with_judges = self.has["tie"] and len(self.judges) > 1
        self.kept, self.own = len(self.names) + len(self.effects), len(self.judges) * self.with_judges
        self._refuse_parts()

    def _refuse_parts(self) -> None:
        size = len(self.names)
        graph = sparse.coo_array((np.ones(len(self.a)), (self.a, self.b)), shape=(size, size))
        parts, label = connected_components(graph, directed=False)
        if parts > 1:
            small = np.argmin(np.bincount(label))
            names = [name for name, part in zip(self.names, label, strict=True) if part == small]
            raise MensuraError(
                f"votes: {parts} groups of contestants never met, such as {listed_names(names)}; expected a chain of "
                "votes between all. Fit each group alone, or add votes between them"
            )

    @cached_property
    def slots(self) -> list[tuple[Any, tuple[Any, ...]]]:
        """Return what utilities depend on: places of strengths and effects, and parts in who is ahead, tie, bad."""
        size, bad = len(self.names), -0.5 * self.has["both bad"]
        parts = {"side": (0.5, 0, 0), "length": (self.x / 2, 0, 0), "tie": (0, 1, 0), "both bad": (0, 0, 1)}
        effects = [(size + k, parts[name]) for k, name in enumerate(self.effects)]
        return [(self.a, (0.5, 0, bad)), (self.b, (-0.5, 0, bad)), *effects]

    @cached_property
    def prior(self) -> Floats:
        """Return the precision with which each parameter is drawn to 0: contestants, effects, judges."""
        parts = (len(self.names), WEAK), (len(self.effects), 0.0), (self.own, 1 / JUDGE_SD**2)
        return np.concatenate([np.full(size, precision) for size, precision in parts])

    def surprise(self, values: Floats) -> tuple[Floats, Floats]:
        """Return how far votes are from expectation in who is ahead, tie and bad (3 × votes), and the covariances."""
        theta, effect, own = np.split(values, [len(self.names), self.kept])
        value = dict(zip(self.effects, effect, strict=True))
        utility = np.full((4, len(self.y)), -np.inf)
        utility[0] = (theta[self.a] - theta[self.b] + value.get("side", 0.0) + value.get("length", 0.0) * self.x) / 2
        utility[1] = -utility[0]
        if self.has["tie"]:
            utility[2] = value["tie"] + (own[self.judge] if self.with_judges else 0.0)
        if self.has["both bad"]:
            utility[3] = value["both bad"] - (theta[self.a] + theta[self.b]) / 2
        first, second, tie, bad = softmax(utility, axis=0)
        y, ahead = self.y, first - second
        gaps = np.stack([(y == 0) * 1.0 - (y == 1) - ahead, (y == 2) - tie, (y == 3) - bad])
        expected = np.stack([ahead, tie, bad])
        spread = -expected * expected[:, None]
        for k, square in enumerate((first + second, tie, bad)):
            spread[k, k] += square
        return gaps, spread

    def gradient(self, gaps: Floats) -> Floats:
        """Return the slope of the likelihood in strengths, effects and judges."""
        parts = [_sums(place, _weighted(part, gaps), self.kept) for place, part in self.slots]
        return np.concatenate([sum(parts), np.bincount(self.judge, gaps[1])[: self.own]])

    def curvature(self, spread: Floats) -> tuple[Floats, Any, Floats]:
        """Return the curvature in strengths and effects, its rest (judges × those) and its diagonal of judges."""
        inner, rows = np.zeros((self.kept, self.kept)), []
        for k, (place, part) in enumerate(self.slots):
            along = _weighted(part, spread)
            rows.append(along[1])
            for other, its_part in self.slots[: k + 1]:
                amounts = (0.5 if other is place else 1.0) * _weighted(its_part, along)
                if k < 2:
                    inner += _sums(place * self.kept + other, amounts, inner.size).reshape(inner.shape)
                else:
                    inner[place] += _sums(other, amounts, self.kept)
        blocks: list[Any] = [np.zeros((0, self.kept))]
        at_once, is_sparse = max(1, _AT_ONCE // self.kept), self.own * self.kept > _MOST_CELLS
        for first in range(0, self.own, at_once):
            last = min(first + at_once, self.own)
            votes = slice(*np.searchsorted(self.judge, [first, last]))
            judge, block = self.judge[votes] - first, np.zeros((last - first, self.kept))
            for (place, _), row in zip(self.slots, rows, strict=True):
                if isinstance(place, int):
                    block[:, place] += np.bincount(judge, row[votes], last - first)
                else:
                    block += np.bincount(judge * self.kept + place[votes], row[votes], block.size).reshape(block.shape)
            blocks.append(sparse.csr_array(block) if is_sparse else block)
        rest = sparse.vstack(blocks[1:], format="csr") if is_sparse else np.concatenate(blocks)
        diagonal = np.bincount(self.judge, spread[1, 1])[: self.own] + self.prior[self.kept :]
        return inner + inner.T + np.diag(self.prior[: self.kept]), rest, diagonal

    def eliminated(self, inner: Floats, rest: Any, diagonal: Floats) -> Floats:
        """Return the curvature in strengths and effects once each judge has adapted; each judge is by itself."""
        at_once = max(1, _AT_ONCE // self.kept)
        for first in range(0, self.own, at_once):
            block = _dense(rest[first : first + at_once])
            inner = inner - (block / diagonal[first : first + at_once, None]).T @ block
        return inner


def _sums(place: Any, amounts: Floats, size: int) -> Floats:
    """Return sums of amounts by place: one place, or one for each amount."""
    if not isinstance(place, int):
        return np.bincount(place, amounts, size).astype(np.float64, copy=False)
    sums = np.zeros(size)
    sums[place] = amounts.sum()
    return sums


def _dense(table: Any) -> Any:
    return table.toarray() if isinstance(table, sparse.csr_array | sparse.csc_array) else table


def _weighted(part: tuple[Any, ...], moments: Floats) -> Any:
    """Return a weighted sum over who is ahead, tie and bad."""
    return sum(weight * moment for weight, moment in zip(part, moments, strict=True) if np.any(weight))


def _codes(column: pl.Series) -> tuple[Ints, list[str]]:
    """Return the number of each row's label; rows without a label are each their own."""
    if column.null_count() == column.len():
        return np.arange(column.len()), []
    filled = column.fill_null(pl.Series([f"\0{row}" for row in range(column.len())]) if column.null_count() else "")
    names = filled.unique().sort()
    return filled.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy(), names.to_list()


def fit_votes(votes: Any) -> VoteFit:
    """Fit strengths of contestants to pairwise votes.

    Parameters
    ----------
    votes
        A file or a frame with two contestants and a winner, perhaps judge, prompt and lengths; see
        :func:`mensura.intake.votes.read_votes`.

    Returns
    -------
    VoteFit
        Strengths, effects and judges with 90% intervals.

    Raises
    ------
    MensuraError
        If some contestants never met the others, a vote cannot be read, or the fit does not converge.

    Examples
    --------
    >>> from mensura.stitching.votes import fit_votes
    >>> pairs = {"model_a": ["x", "x", "y", "x"], "model_b": ["y", "y", "x", "y"]}
    >>> fit = fit_votes(pairs | {"winner": ["model_a", "model_a", "model_a", "model_a"]})
    >>> fit.contestants["contestant"].to_list()
    ['x', 'y']

    """
    design = _Design(read_votes(votes))
    size, kept = len(design.names), design.kept
    values = np.zeros(len(design.prior))
    iteration, step = 0, np.full(kept, np.inf)
    while iteration < _STEPS and np.abs(step).max() > _ENOUGH:
        iteration += 1
        gaps, spread = design.surprise(values)
        slope, own_slope = np.split(design.gradient(gaps) - design.prior * values, [kept])
        inner, rest, diagonal = design.curvature(spread)
        try:
            step = np.linalg.solve(design.eliminated(inner, rest, diagonal), slope - rest.T @ (own_slope / diagonal))
        except np.linalg.LinAlgError:
            break  # the last step says what grows without bound
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        values = values + np.concatenate([step, (own_slope - rest @ step) / diagonal])
        if not design.has["both bad"]:
            values[:size] -= values[:size].mean()  # only differences count
    if not np.abs(step).max() <= _ENOUGH:
        name = [*design.names, *design.effects][int(np.abs(step).argmax())]
        raise MensuraError(
            f"votes: the fit did not converge in {_STEPS} steps, because {name!r} still moves by "
            f"{np.abs(step).max():.2g}; perhaps it decides every vote. Leave that column or contestant out"
        )
    covariance, clusters, freedom = _covariance(design, values)
    return _result(design, values, covariance, (clusters, freedom, iteration))


def _covariance(design: _Design, values: Floats) -> tuple[Floats, str, float]:
    """Return the covariance of strengths and effects by the votes' clusters, what those are, and their freedom.

    Judges and prompts both count (two ways at once, less what both share); where neither is given, each vote counts.
    """
    gaps, spread = design.surprise(values)
    inner, rest, diagonal = design.curvature(spread)
    size, kept, n = len(design.names), design.kept, len(design.y)
    centre = np.eye(kept)
    moved = [place < size or name == "both bad" for place, name in enumerate([*design.names, *design.effects])]
    centre[moved, :size] -= 1 / size  # strengths, and the quality of "both bad", are compared with the mean strength
    bread = centre @ np.linalg.inv(design.eliminated(inner, rest, diagonal))
    labels = {"judges": design.judge, "prompts": design.prompt}
    counts = {name: int(label.max()) + 1 for name, label in labels.items()}
    given = [name for name in labels if counts[name] < n]
    slopes = np.stack([np.broadcast_to(_weighted(part, gaps), n) for _, part in design.slots], axis=1)
    places = np.stack([np.broadcast_to(place, n) for place, _ in design.slots], axis=1)
    own = sparse.csr_array((slopes.ravel(), places.ravel(), np.arange(n + 1) * places.shape[1]), shape=(n, kept))
    ties = sparse.csr_array((gaps[1], design.judge, np.arange(n + 1)), shape=(n, counts["judges"]))[:, : design.own]
    scaled = sparse.diags_array(1 / diagonal) @ rest

    def spread_of(label: Ints) -> Any:
        """Sum the products of the clusters' slopes, with the usual correction for few clusters."""
        count = int(label.max()) + 1
        sums = sparse.csr_array((np.ones(n), (label, np.arange(n))), shape=(count, n))
        slope = sums @ own
        tie = sums @ ties
        if count <= _FEW:
            whole = slope.toarray() - _dense(tie @ scaled)
            products = whole.T @ whole
        else:  # many small clusters: judges that share one are few
            mixed = _dense((slope.T @ tie) @ scaled)
            products = (slope.T @ slope).toarray() + _dense(scaled.T @ ((tie.T @ tie) @ scaled)) - mixed - mixed.T
        return bread @ products @ bread.T * count / max(1, count - 1)

    plain = bread @ centre.T
    if not given:
        return spread_of(np.arange(n)), "each vote counts by itself", np.inf
    parts = [spread_of(labels[name]) for name in given]
    covariance = sum(parts, np.zeros_like(plain))
    if len(given) == 2:
        cells = np.unique(labels["judges"] * counts["prompts"] + labels["prompts"], return_inverse=True)[1]
        less = covariance - spread_of(cells)
        covariance = less if np.diag(less).min() > 0 else covariance
    widest = np.max([np.diag(one) for one in (plain, covariance, *parts)], axis=0)
    scale = np.sqrt(widest / np.maximum(np.diag(covariance), 1e-300))
    words = " and ".join(f"{counts[name]} {name}" for name in given)
    return covariance * np.outer(scale, scale), f"{words} are clusters", min(counts[name] for name in given) - 1


def _result(design: _Design, values: Floats, covariance: Floats, how: tuple[str, float, int]) -> VoteFit:
    clusters, freedom, iterations = how
    size = len(design.names)
    theta, value, judge = np.split(values, [size, size + len(design.effects)])
    points = np.array([1.0, 0.0, 0.5, 0.5])[design.y]
    votes = np.bincount(design.a, minlength=size) + np.bincount(design.b, minlength=size)
    won = np.bincount(design.a, points, size) + np.bincount(design.b, np.where(design.y == 3, 0.5, 1 - points), size)
    share = won / votes
    inside = (share > 0) & (share < 1)
    middle = theta.mean(where=inside if inside.any() else True)  # the quality of "both bad" moves with strengths
    value, theta = value - middle * (np.array(design.effects) == "both bad"), theta - middle
    reach = float(stats.t.ppf(0.5 + LEVEL / 2, max(1.0, freedom)))
    error = reach * np.sqrt(np.maximum(0.0, np.diag(covariance)))
    low, high = theta - error[:size], theta + error[:size]
    for k in np.flatnonzero(~inside).tolist():
        bound = _weakest_winner(design, theta if share[k] else -theta, k)
        low[k], high[k] = (bound, np.nan) if share[k] else (np.nan, -bound)
    table = pl.DataFrame(
        {
            "contestant": design.names,
            "kind": ["people" if is_people(name) else "model" for name in design.names],
            "strength": np.where(inside, theta, np.nan),
            "low": low,
            "high": high,
            "votes": votes,
            "points": share,
        }
    ).fill_nan(None)
    effects = pl.DataFrame(
        {"effect": design.effects, "value": value, "low": value - error[size:], "high": value + error[size:]},
        schema={"effect": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64},
    )
    own = {"judge": design.judges, "tie": judge, "votes": np.bincount(design.judge)} if design.with_judges else {}
    judges = {"judge": pl.String, "tie": pl.Float64, "votes": pl.Int64}
    names = table.filter(pl.col("strength").is_null())["contestant"].to_list()
    warnings = [f"{listed_names(names)} won or lost every vote, so one end is open"] if names else []
    return VoteFit(
        sort_highest(table, pl.coalesce("strength", (pl.col("points") - 0.5) * np.inf), "contestant"),
        effects,
        pl.DataFrame(own, schema=judges).filter(~pl.col("judge").str.starts_with("\0")),  # votes without a judge
        clusters,
        iterations,
        tuple(warnings),
    )


def _weakest_winner(design: _Design, theta: Floats, k: int) -> float:
    """Return the strength from which a contestant wins all its votes with a chance of 5%; clusters count once."""
    own = (design.a == k) | (design.b == k)
    others = theta[np.where(design.a == k, design.b, design.a)[own]]
    clusters = min(np.unique(label[own]).size for label in (design.judge, design.prompt))

    def excess(strength: float) -> float:
        return float(np.log(expit(strength - others)).mean() * clusters - np.log((1 - LEVEL) / 2))

    return float(optimize.brentq(excess, others.min() - 100, others.max() + 100))
