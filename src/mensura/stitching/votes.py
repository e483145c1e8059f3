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
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from mensura.core.errors import MensuraError, counted, listed_names
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
_AT_ONCE = 10_000  # clusters whose slopes are multiplied at once


@dataclass(frozen=True, eq=False, repr=False)
class VoteFit(Result):
    """Contain the strengths of contestants and the other effects of votes.

    Attributes
    ----------
    contestants : pl.DataFrame
        contestant, kind (model or people), strength in natural logs with mean 0, 90% interval, votes, share of points.
    effects : pl.DataFrame
        Side (of the first place), length (per e-fold), tie and both bad, with intervals.
    judges : pl.DataFrame
        Each judge's own readiness to call a tie, and votes.
    clusters : str
        What the intervals count as clusters.
    warnings : tuple of str
        Contestants whose strength is a bound, and what else a reader must know.

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
        names = pl.concat([votes["first"], votes["second"]]).unique().sort()
        self.names: list[str] = names.to_list()
        coded = pl.Enum(names)
        self.a, self.b = (
            votes[side].cast(coded).to_physical().cast(pl.Int64).to_numpy() for side in ("first", "second")
        )
        self.y: Ints = votes["outcome"].to_numpy().astype(np.int64)
        counts = np.bincount(self.y, minlength=4)
        self.has = {"side": bool(counts[0] and counts[1]), "tie": bool(counts[2]), "both bad": bool(counts[3])}
        self.has["length"] = "length" in votes.columns and bool((votes["length"] != 0).any())
        self.x: Floats = votes["length"].to_numpy() if self.has["length"] else np.zeros(len(self.y))
        self.effects = [name for name in ("side", "length", "tie", "both bad") if self.has[name]]
        self.judge, self.judges = _codes(votes["judge"])
        self.prompt, _ = _codes(votes["prompt"])
        self.with_judges = self.has["tie"] and len(self.judges) > 1
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
    def options(self) -> dict[int, Any]:
        """Return how the utility of each outcome depends on the parameters: sparse matrices, votes × parameters."""
        n, size = len(self.a), len(self.names)
        place = {name: size + k for k, name in enumerate(self.effects)}

        def depends(*parts: tuple[Any, Any]) -> Any:  # noqa: ANN401
            columns = np.concatenate([np.broadcast_to(column, n) for column, _ in parts])
            values = np.concatenate([np.broadcast_to(value, n) for _, value in parts]).astype(np.float64)
            where = np.tile(np.arange(n), len(parts)), columns
            return sparse.csr_array((values, where), shape=(n, len(self.prior)))

        halves = {"side": 0.5, "length": self.x / 2}
        ahead = depends(
            (self.a, 0.5), (self.b, -0.5), *((place[name], half) for name, half in halves.items() if name in place)
        )
        options = {0: ahead, 1: -ahead}
        if self.has["tie"]:
            own = [(size + len(place) + self.judge, 1.0)] if self.with_judges else []
            options[2] = depends((place["tie"], 1.0), *own)
        if self.has["both bad"]:
            options[3] = depends((place["both bad"], 1.0), (self.a, -0.5), (self.b, -0.5))
        return options

    @cached_property
    def prior(self) -> Floats:
        """Return the precision with which each parameter is drawn to 0: contestants, effects, judges."""
        judges = np.full(len(self.judges) * self.with_judges, 1 / JUDGE_SD**2)
        return np.concatenate([np.full(len(self.names), WEAK), np.zeros(len(self.effects)), judges])

    def slopes(self, values: Floats) -> tuple[Any, Any]:
        """Return each vote's slope in every parameter (votes × parameters), and the curvature; both sparse."""
        chances = softmax(np.stack([option @ values for option in self.options.values()]), axis=0)
        parts = list(zip(self.options.items(), chances, strict=True))
        own = sum(sparse.diags_array((self.y == k) - chance) @ option for (k, option), chance in parts)
        mean = sum(sparse.diags_array(chance) @ option for (_, option), chance in parts)
        square = sum(option.T @ (sparse.diags_array(chance) @ option) for (_, option), chance in parts)
        return own, (square - mean.T @ mean + sparse.diags_array(self.prior)).tocsc()

    def inverse(self, curvature: Any) -> Floats:  # noqa: ANN401
        """Return the rows of contestants and effects of the inverse; the judges are eliminated, each by itself."""
        kept = len(self.names) + len(self.effects)
        cross, diagonal = curvature[:kept, kept:].toarray(), curvature.diagonal()[kept:]
        scaled = cross / diagonal
        inverse = np.linalg.inv(curvature[:kept, :kept].toarray() - scaled @ cross.T)
        return np.hstack([inverse, -inverse @ scaled])


def _codes(column: pl.Series) -> tuple[Ints, list[str]]:
    """Return the number of each row's label; rows without a label are each their own."""
    if column.null_count() == column.len():
        return np.arange(column.len()), []
    filled = column.fill_null(pl.Series([f"\0{row}" for row in range(column.len())]) if column.null_count() else "")
    names = filled.unique().sort()
    return filled.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy(), names.to_list()


def fit_votes(votes: Any) -> VoteFit:  # noqa: ANN401
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
    size, kept = len(design.names), len(design.names) + len(design.effects)
    values = np.zeros(len(design.prior))
    iteration, step = 0, np.full(kept, np.inf)
    while iteration < _STEPS and np.abs(step).max() > _ENOUGH:
        iteration += 1
        own, curvature = design.slopes(values)
        gradient = own.sum(axis=0) - design.prior * values
        step = design.inverse(curvature) @ gradient
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        rest = (gradient[kept:] - curvature[kept:, :kept] @ step) / curvature.diagonal()[kept:]
        values = values + np.concatenate([step, rest])
        if not design.has["both bad"]:
            values[:size] -= values[:size].mean()  # only differences count
    if np.abs(step).max() > _ENOUGH:
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
    own, curvature = design.slopes(values)
    size, kept = len(design.names), len(design.names) + len(design.effects)
    centre = np.eye(kept)
    centre[:size, :size] -= 1 / size  # strengths are compared with their mean
    bread = centre @ design.inverse(curvature)
    labels = {"judges": design.judge, "prompts": design.prompt}
    counts = {name: int(label.max()) + 1 for name, label in labels.items()}
    given = [name for name in labels if counts[name] < len(design.a)]

    def spread(label: Ints) -> Floats:
        """Sum the products of the clusters' slopes, with the usual correction for few clusters."""
        count, n = int(label.max()) + 1, len(label)
        sums = sparse.csr_array((np.ones(n), (label, np.arange(n))), shape=(count, n)) @ own
        products = np.zeros((kept, kept))
        for first in range(0, count, _AT_ONCE):
            part = sums[first : first + _AT_ONCE] @ bread.T
            products += part.T @ part
        return products * count / max(1, count - 1)

    plain = bread[:, :kept] @ centre.T
    if not given:
        return spread(np.arange(len(design.a))), "each vote counts by itself", np.inf
    parts = [spread(labels[name]) for name in given]
    covariance = sum(parts, np.zeros_like(plain))
    if len(given) == 2:
        cells = np.unique(labels["judges"] * counts["prompts"] + labels["prompts"], return_inverse=True)[1]
        less = covariance - spread(cells)
        covariance = less if np.diag(less).min() > 0 else covariance
    widest = np.max([np.diag(one) for one in (plain, covariance, *parts)], axis=0)
    scale = np.sqrt(widest / np.maximum(np.diag(covariance), 1e-300))
    words = " and ".join(f"{counts[name]} {name}" for name in given)
    return covariance * np.outer(scale, scale), f"{words} are clusters", min(counts[name] for name in given) - 1


def _result(design: _Design, values: Floats, covariance: Floats, how: tuple[str, float, int]) -> VoteFit:
    clusters, freedom, iterations = how
    size = len(design.names)
    theta, value, judge = np.split(values, [size, size + len(design.effects)])
    if design.has["both bad"]:  # strengths with mean 0; the quality of "both bad" moves with them
        value = value - np.where(np.array(design.effects) == "both bad", theta.mean(), 0.0)
        theta = theta - theta.mean()
    reach = float(stats.t.ppf(0.5 + LEVEL / 2, max(1.0, freedom)))
    error = reach * np.sqrt(np.maximum(0.0, np.diag(covariance)))
    points = np.array([1.0, 0.0, 0.5, 0.5])[design.y]
    votes = np.bincount(design.a, minlength=size) + np.bincount(design.b, minlength=size)
    won = np.bincount(design.a, points, size) + np.bincount(design.b, np.where(design.y == 3, 0.5, 1 - points), size)
    table = pl.DataFrame(
        {
            "contestant": design.names,
            "kind": ["people" if is_people(name) else "model" for name in design.names],
            "strength": theta,
            "low": theta - error[:size],
            "high": theta + error[:size],
            "votes": votes,
            "points": won / votes,
        }
    ).sort("strength", descending=True)
    effects = pl.DataFrame(
        {
            "effect": design.effects,
            "value": value,
            "low": value - error[size:],
            "high": value + error[size:],
        },
        schema={"effect": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64},
    )
    own = {"judge": design.judges, "tie": judge, "votes": np.bincount(design.judge)} if design.with_judges else {}
    bound = [name for name, share in zip(design.names, won / votes, strict=True) if share in (0.0, 1.0)]
    warnings = [f"{listed_names(bound)} won or lost every vote: the strength is a bound"] if bound else []
    return VoteFit(
        table,
        effects,
        pl.DataFrame(own, schema={"judge": pl.String, "tie": pl.Float64, "votes": pl.Int64}),
        clusters,
        iterations,
        tuple(warnings),
    )
