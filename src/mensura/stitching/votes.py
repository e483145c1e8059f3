r"""Pairwise votes as evidence: strengths of contestants, with ties, judges, sides and lengths, and honest intervals.

A vote chooses among four options with the utilities :math:`\pm(\theta_a - \theta_b + s + \ell x)/2` for the two
contestants, :math:`\tau + u_j` for a tie (Davidson's model; judge :math:`j` ties more or less readily) and
:math:`\beta - (\theta_a + \theta_b)/2` for "both bad": the choice of something of a fixed quality instead. Without ties
this is the model of Bradley and Terry. Intervals count judges and prompts as clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

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
FEWEST_LINKS = 3
"""Models with a capability and a strength from which votes join the stitched scale."""


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
    covariance: Floats
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

    def shares(self, theta: Floats, effect: dict[str, float], judge: Floats) -> Floats:
        """Return the chances of the four outcomes, votes × 4."""
        half = (theta[self.a] - theta[self.b] + effect.get("side", 0.0) + effect.get("length", 0.0) * self.x) / 2
        utility = np.full((4, len(self.a)), -np.inf)
        utility[0], utility[1] = half, -half
        if self.has["tie"]:
            utility[2] = effect["tie"] + (judge[self.judge] if self.with_judges else 0.0)
        if self.has["both bad"]:
            utility[3] = effect["both bad"] - (theta[self.a] + theta[self.b]) / 2
        utility -= utility.max(axis=0)
        chance = np.exp(utility)
        return chance / chance.sum(axis=0)  # type: ignore[no-any-return]


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
        If some contestants never met the others, or a vote cannot be read.

    Examples
    --------
    >>> from mensura.stitching.votes import fit_votes
    >>> pairs = {"model_a": ["x", "x", "y", "x"], "model_b": ["y", "y", "x", "y"]}
    >>> fit = fit_votes(pairs | {"winner": ["model_a", "model_a", "model_a", "model_a"]})
    >>> fit.contestants["contestant"].to_list()
    ['x', 'y']

    """
    design = _Design(read_votes(votes))
    size, extra = len(design.names), len(design.effects)
    theta, judge = np.zeros(size), np.zeros(max(1, len(design.judges)))
    value = np.zeros(extra)
    iteration, largest = 0, np.inf
    while iteration < _STEPS and largest > _ENOUGH:
        iteration += 1
        chance = design.shares(theta, dict(zip(design.effects, value, strict=True)), judge)
        gradient, hessian, own = _slopes(design, chance, theta, judge)
        step, own_step = _solve(gradient, hessian, own)
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        theta, value, judge = theta + step[:size], value + step[size:], judge + own_step
        if not design.has["both bad"]:
            theta -= theta.mean()  # only differences count
        largest = float(np.abs(step).max())
    covariance, clusters, freedom = _covariance(design, theta, value, judge)
    return _result(design, theta, value, judge, covariance, (clusters, freedom, iteration))


class _Own:
    """The judges' block: its diagonal, its gradient, and what ties it to all other parameters."""

    def __init__(self, diagonal: Any, gradient: Any, cross: Any) -> None:  # noqa: ANN401
        self.diagonal, self.gradient, self.cross = diagonal, gradient, cross


def _parts(design: _Design, chance: Floats) -> tuple[dict[str, Floats], dict[tuple[str, str], Floats]]:
    """Return each vote's slopes in difference, mean quality, tie and both bad, and their covariances."""
    a, b, tie, bad = chance
    ahead = a - b
    y = design.y
    slope = {
        "D": (y == 0) - 1.0 * (y == 1) - ahead,
        "M": bad - (y == 3),
        "T": (y == 2) - tie,
        "B": (y == 3) - bad,
    }
    curve = {
        ("D", "D"): a + b - ahead**2,
        ("D", "M"): ahead * bad,
        ("M", "M"): bad * (1 - bad),
        ("D", "T"): -ahead * tie,
        ("M", "T"): bad * tie,
        ("T", "T"): tie * (1 - tie),
        ("D", "B"): -ahead * bad,
        ("M", "B"): -bad * (1 - bad),
        ("T", "B"): -tie * bad,
        ("B", "B"): bad * (1 - bad),
    }
    return slope, curve


def _loads(design: _Design) -> list[tuple[str, Floats | float]]:
    """Return through which part each effect works, and with which weight."""
    ways: dict[str, tuple[str, Floats | float]] = {
        "side": ("D", 0.5),
        "length": ("D", design.x / 2),
        "tie": ("T", 1.0),
        "both bad": ("B", 1.0),
    }
    return [ways[name] for name in design.effects]


def _slopes(design: _Design, chance: Floats, theta: Floats, judge: Floats) -> tuple[Floats, Floats, _Own | None]:
    """Return gradient and curvature of the contestants and effects, and the judges' block."""
    size, a, b = len(design.names), design.a, design.b
    slope, curve = _parts(design, chance)

    def both(at_first: Floats, at_second: Floats) -> Floats:
        return (np.bincount(a, at_first, size) + np.bincount(b, at_second, size)).astype(np.float64)

    loads = _loads(design)
    gradient = np.concatenate(
        [
            both(slope["M"] + slope["D"], slope["M"] - slope["D"]) / 2 - WEAK * theta,
            [float(np.sum(slope[part] * weight)) for part, weight in loads],
        ]
    )
    hessian = np.zeros((size + len(loads), size + len(loads)))
    plain, mixed = curve["D", "D"] + curve["M", "M"], 2 * curve["D", "M"]
    hessian[np.arange(size), np.arange(size)] = both(plain + mixed, plain - mixed) / 4 + WEAK
    pairs = np.bincount(a * size + b, (curve["M", "M"] - curve["D", "D"]) / 4, size * size).reshape(size, size)
    hessian[:size, :size] += pairs + pairs.T
    for place, (part, weight) in enumerate(loads, start=size):
        with_d, with_m = curve["D", part], curve[("M", part) if part != "D" else ("D", "M")]
        hessian[:size, place] = hessian[place, :size] = both((with_m + with_d) * weight, (with_m - with_d) * weight) / 2
        for other, (part2, weight2) in enumerate(loads[: place - size + 1], start=size):
            order = (part2, part) if (part2, part) in curve else (part, part2)
            hessian[place, other] = hessian[other, place] = float(np.sum(curve[order] * weight * weight2))
    return gradient, hessian, _judges(design, slope, curve, judge) if design.with_judges else None


def _judges(design: _Design, slope: dict[str, Floats], curve: dict[tuple[str, str], Floats], judge: Floats) -> _Own:
    size, count, j = len(design.names), len(design.judges), design.judge
    gradient = np.bincount(j, slope["T"], count) - judge / JUDGE_SD**2
    diagonal = np.bincount(j, curve["T", "T"], count) + 1 / JUDGE_SD**2
    with_d, with_m = curve["D", "T"] / 2, curve["M", "T"] / 2
    strengths = np.bincount(design.a * count + j, with_m + with_d, size * count)
    strengths += np.bincount(design.b * count + j, with_m - with_d, size * count)
    rows = [np.bincount(j, curve[_order(part, "T")] * weight, count) for part, weight in _loads(design)]
    return _Own(diagonal, gradient, np.vstack([strengths.reshape(size, count), *rows]))


def _order(part: str, other: str) -> tuple[str, str]:
    return (other, part) if part == "B" else (part, other)


def _solve(gradient: Floats, hessian: Floats, own: _Own | None) -> tuple[Any, Any]:
    """Take a Newton step; the judges are eliminated first, each by itself."""
    if own is None:
        return np.linalg.solve(hessian, gradient), 0.0
    scaled = own.cross / own.diagonal
    reduced = hessian - scaled @ own.cross.T
    step = np.linalg.solve(reduced, gradient - scaled @ own.gradient)
    return step, (own.gradient - own.cross.T @ step) / own.diagonal


def _covariance(design: _Design, theta: Floats, value: Floats, judge: Floats) -> tuple[Floats, str, float]:
    """Return the covariance of strengths and effects by the votes' clusters, what those are, and their freedom.

    Judges and prompts both count (two ways at once, less what both share); where neither is given, each vote counts.
    """
    chance = design.shares(theta, dict(zip(design.effects, value, strict=True)), judge)
    _, hessian, own = _slopes(design, chance, theta, judge)
    if own is not None:
        hessian = hessian - (own.cross / own.diagonal) @ own.cross.T
    bread = np.linalg.inv(hessian)
    rows, ties = _influences(design, chance)
    pull = None if own is None else (own.cross / own.diagonal).T
    centre = np.eye(len(bread))
    centre[: len(theta), : len(theta)] -= 1 / len(theta)  # strengths are compared with their mean
    bread = centre @ bread
    labels = {"judges": design.judge, "prompts": design.prompt}
    counts = {name: int(label.max()) + 1 for name, label in labels.items()}
    given = [name for name in labels if counts[name] < len(design.a)]

    def spread(label: Ints, nested: bool) -> Floats:
        filled: Floats = bread @ _meat(rows, label, ties, pull, design.judge, nested) @ bread.T
        return filled

    plain = bread @ centre.T
    if not given:
        return spread(np.arange(len(design.a)), True), "each vote counts by itself", np.inf
    parts = [spread(labels[name], name == "judges") for name in given]
    covariance = sum(parts, np.zeros_like(plain))
    if len(given) == 2:
        cells = np.unique(labels["judges"] * counts["prompts"] + labels["prompts"], return_inverse=True)[1]
        less = covariance - spread(cells, True)
        covariance = less if np.diag(less).min() > 0 else covariance
    widest = np.max([np.diag(one) for one in (plain, covariance, *parts)], axis=0)
    scale = np.sqrt(widest / np.maximum(np.diag(covariance), 1e-300))
    words = " and ".join(f"{counts[name]} {name}" for name in given)
    return covariance * np.outer(scale, scale), f"{words} are clusters", min(counts[name] for name in given) - 1


def _influences(design: _Design, chance: Floats) -> tuple[Any, Floats]:
    """Return each vote's own slope in every strength and effect (sparse, votes × parameters), and in the tie."""
    slope, _ = _parts(design, chance)
    n, size = len(design.a), len(design.names)
    row = np.arange(n)
    loads = _loads(design)
    cells = [(slope["M"] + slope["D"]) / 2, (slope["M"] - slope["D"]) / 2]
    places = [design.a, design.b]
    for place, (part, weight) in enumerate(loads, start=size):
        cells.append(slope[part] * weight)
        places.append(np.full(n, place))
    where = (np.tile(row, len(cells)), np.concatenate(places))
    table = sparse.coo_array((np.concatenate(cells), where), shape=(n, size + len(loads))).tocsr()
    return table, slope["T"]


def _meat(rows: Any, label: Ints, ties: Floats, pull: Any, judge: Ints, nested: bool) -> Floats:  # noqa: ANN401
    """Return the summed products of the clusters' slopes, with the usual correction for few clusters.

    ``pull`` (judges × parameters) takes out of each vote the part that its judge's own readiness to tie explains.
    ``nested``: each cluster has one judge.
    """
    count, n = int(label.max()) + 1, len(label)
    sums = sparse.coo_array((np.ones(n), (label, np.arange(n))), shape=(count, n)).tocsr() @ rows
    if pull is None:
        products = (sums.T @ sums).toarray()
    else:
        owned = sparse.coo_array((ties, (label, judge)), shape=(count, len(pull))).tocsr()  # clusters × judges
        if nested:
            cross = (sums.T @ owned).toarray() @ pull
            squares: Floats = np.asarray(owned.multiply(owned).sum(axis=0)).ravel()
            products = (sums.T @ sums).toarray() - cross - cross.T + (pull.T * squares) @ pull
        else:
            left = sums.toarray() - owned @ pull
            products = left.T @ left
    scaled: Floats = products * count / max(1, count - 1)
    return scaled


def _result(
    design: _Design, theta: Floats, value: Floats, judge: Floats, covariance: Floats, how: tuple[str, float, int]
) -> VoteFit:
    clusters, freedom, iterations = how
    size = len(design.names)
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
    order = [design.names.index(name) for name in table["contestant"]]
    return VoteFit(
        table,
        effects,
        pl.DataFrame(own, schema={"judge": pl.String, "tie": pl.Float64, "votes": pl.Int64}),
        clusters,
        covariance[np.ix_(order, order)],
        iterations,
        tuple(warnings),
    )


def join_scale(fit: VoteFit, capabilities: pl.DataFrame) -> pl.DataFrame | None:
    """Place contestants on the stitched scale through those that have a capability too.

    Parameters
    ----------
    fit : VoteFit
        The votes.
    capabilities : pl.DataFrame
        subject, capability, low and high (90%), under the contestants' names.

    Returns
    -------
    polars.DataFrame or None
        contestant, kind, capability with its interval and whether it was linked; None below three shared models.

    Examples
    --------
    >>> join_scale(fit, stitched.capabilities)  # doctest: +SKIP

    """
    both = fit.contestants.join(
        capabilities.select(contestant="subject", c="capability", c_low="low", c_high="high"), on="contestant"
    ).drop_nulls()
    if both.height < FEWEST_LINKS:
        return None
    width = 2 * stats.norm.ppf(0.5 + LEVEL / 2)
    x, y = both["strength"].to_numpy(), both["c"].to_numpy()
    ex, ey = ((both[high] - both[low]).to_numpy() / width for low, high in (("low", "high"), ("c_low", "c_high")))
    slope = float(np.std(y) / max(1e-9, np.std(x)))
    scatter = 0.0
    for _ in range(50):  # weights depend on the slope and on the scatter about the line
        weight = 1 / np.maximum(1e-9, ey**2 + slope**2 * ex**2 + scatter)
        mx, my = np.average(x, weights=weight), np.average(y, weights=weight)
        slope = float(np.sum(weight * (x - mx) * (y - my)) / np.sum(weight * np.maximum(1e-9, (x - mx) ** 2)))
        left = y - my - slope * (x - mx)
        noise = float(np.mean(ey**2 + slope**2 * ex**2))
        scatter = max(0.0, float(np.sum(left**2)) / max(1, len(x) - 2) - noise)
    table = fit.contestants
    strength = table["strength"].to_numpy()
    own = (table["high"] - table["low"]).to_numpy() / width
    line = 1 / np.sum(weight) + (strength - mx) ** 2 / np.sum(weight * (x - mx) ** 2)
    reach = stats.t.ppf(0.5 + LEVEL / 2, max(1, len(x) - 2)) * np.sqrt(slope**2 * own**2 + scatter + line)
    placed = my + slope * (strength - mx)
    return table.select("contestant", "kind").with_columns(
        capability=pl.Series(placed),
        low=pl.Series(placed - reach),
        high=pl.Series(placed + reach),
        linked=pl.col("contestant").is_in(both["contestant"].implode()),
    )
