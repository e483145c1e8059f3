"""What a score table cannot tell, what a fit that did not converge says, and names that are looked up."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import scipy

from mensura.core.arrays import Ints, just_above
from mensura.core.errors import MensuraError, listed_names
from mensura.stitching.scores import ScoreSet

FEW_SCORES = 3
"""A subject or benchmark with fewer scores is named in a warning."""
FEWEST_SUBJECTS = 2
"""Subjects are placed by what tells them apart."""
PARTS_SHOWN = 4
_MEAN = re.compile(r"^(average|avg|mean|overall|total|rank)\b", re.IGNORECASE)
"""Titles of columns that are no benchmark."""
FLOOR = 0.02
"""A benchmark whose best score is no more than this above chance tells nothing about difficulty."""


def connected_parts(data: ScoreSet) -> list[tuple[list[str], list[str]]]:
    """Return the connected parts of the score graph, largest first, each as (subjects, benchmarks)."""
    names = np.array([*data.subjects, *data.benchmarks], dtype=object)
    m, edges = len(data.subjects), (data.layout.rows, len(data.subjects) + data.layout.cols)
    graph = scipy.sparse.coo_array((np.ones(data.y.size), edges), shape=(names.size, names.size))
    count, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    parts = [(names[:m][label[:m] == i].tolist(), names[m:][label[m:] == i].tolist()) for i in range(count)]
    return sorted(parts, key=lambda part: -len(part[0]) - len(part[1]))


def refuse_parts(data: ScoreSet) -> None:
    """Refuse scores that fall into parts without a common subject or benchmark: no scale can hold them together."""
    parts = connected_parts(data)
    if len(parts) == 1:
        return
    shown = "; ".join(
        f"part {i}: {len(s)} subjects ({listed_names(s)}) on {len(b)} benchmarks ({listed_names(b)})"
        for i, (s, b) in enumerate(parts[:PARTS_SHOWN], start=1)
    )
    more = f"; and {len(parts) - PARTS_SHOWN} more parts" if len(parts) > PARTS_SHOWN else ""
    raise MensuraError(
        f"scores: {len(parts)} parts share no subject and no benchmark, so they cannot stand on one scale: "
        f"{shown}{more}. Add scores that link them, stitch one part alone, or keep the largest (parts='largest')"
    )


def refuse_alike(data: ScoreSet) -> None:
    """Refuse scores that tell no subject from another: there is no unit in which to place them."""
    if len(data.subjects) < FEWEST_SUBJECTS:
        raise MensuraError(
            f"scores: {data.subjects[0]!r} is the only subject; a scale needs at least {FEWEST_SUBJECTS} "
            "(to place one subject on a scale that stands: mensura.stitching.place)"
        )
    low, high = _ends(data)
    if np.all(low == high):
        raise MensuraError(
            "scores: on no benchmark do two subjects score differently, so nothing tells them apart; "
            "add a benchmark that does, or subjects that differ"
        )


def _ends(data: ScoreSet) -> np.ndarray:
    """Lowest and highest score of every benchmark (2, benchmarks)."""
    ends = np.array([[np.inf], [-np.inf]]) * np.ones(len(data.benchmarks))
    np.minimum.at(ends[0], data.layout.cols, data.y)
    np.maximum.at(ends[1], data.layout.cols, data.y)
    return ends


def warnings_of(data: ScoreSet) -> tuple[str, ...]:
    """Name subjects and benchmarks with few scores, and benchmarks at their floor or without any difference."""
    warnings, counts = [], np.bincount(data.layout.cols, minlength=len(data.benchmarks))
    sides = (("subject", data.subjects, np.bincount(data.layout.rows)), ("benchmark", data.benchmarks, counts))
    for kind, names, scores in sides:
        if few := [names[i] for i in np.flatnonzero(scores < FEW_SCORES)]:
            has, leans = ("s have", "lean") if len(few) > 1 else (" has", "leans")
            warnings.append(
                f"{len(few)} {kind}{has} fewer than {FEW_SCORES} scores and {leans} on the prior: {listed_names(few)}"
            )
    low, high = _ends(data)
    if floor := [data.benchmarks[i] for i in np.flatnonzero(high <= data.chance + just_above(FLOOR))]:
        warnings.append(
            f"every subject is at the floor of {listed_names(floor)}: its difficulty is only bounded from below"
        )
    if same := [data.benchmarks[i] for i in np.flatnonzero((low == high) & (counts > 1))]:
        warnings.append(f"everyone scores the same on {listed_names(same)}: it tells no subject from another")
    if means := [name for name in data.benchmarks if _MEAN.search(name)]:
        warnings.append(f"{listed_names(means)}: counted as a benchmark; leave out a mean or rank of the others")
    return tuple(warnings)


def position(names: tuple[str, ...], name: str, argument: str) -> int:
    """Index of a name, or an error that lists near ones."""
    if name in names:
        return names.index(name)
    near = get_close_matches(name, names, n=3)
    advice = f"did you mean {', '.join(map(repr, near))}?" if near else f"choose one of {listed_names(list(names))}"
    raise MensuraError(f"{argument}: {name!r} has no scores; {advice}")


def positions_of(names: tuple[str, ...], wanted: list[str]) -> Ints:
    """Index of every wanted name, −1 where it is not known."""
    index = {name: i for i, name in enumerate(names)}
    return np.array([index.get(name, -1) for name in wanted], dtype=np.int64)


def published_anchor(data: ScoreSet, name: str | None) -> int:
    """Find the position of the published method's anchor benchmark.

    Parameters
    ----------
    data : ScoreSet
        Encoded scores.
    name : str or None
        The benchmark; None takes the one with most scores.

    Returns
    -------
    int
        Its position in ``data.benchmarks``.

    Raises
    ------
    MensuraError
        If no benchmark has this name.

    Examples
    --------
    >>> from mensura.stitching import encode, published_anchor, read_scores
    >>> table = {"subject": ["ann", "ann", "bob"], "benchmark": ["x", "y", "y"], "score": [0.2, 0.5, 0.7]}
    >>> published_anchor(encode(read_scores(table), "max"), None)
    1

    """
    if name is not None:
        return position(data.benchmarks, name, "anchor_benchmark")
    return int(np.argmax(np.bincount(data.layout.cols)))


@dataclass(frozen=True)
class Convergence:
    """Report how an iteration ended.

    Attributes
    ----------
    converged : bool
        Whether ``gradient`` came below ``tolerance``.
    iterations : int
        Iterations taken.
    gradient : float
        What must vanish at the optimum, named by ``measure``.
    tolerance : float
        What it had to come below.
    measure : str
        The largest component of the projected gradient, or the largest change of any η in the last sweep.

    """

    converged: bool
    iterations: int
    gradient: float
    tolerance: float
    measure: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say about it: nothing when it arrived."""
        if self.converged:
            return ()
        return (
            f"the fit did not converge: after {self.iterations} iterations the {self.measure} is {self.gradient:.2g} "
            f"(below {self.tolerance:g} is asked for), so there are no numbers",
        )


def warn_unconverged(lost: int, fits: int, what: str) -> tuple[str, ...]:
    """Say how many of many fits did not arrive: nothing when all did."""
    if not lost:
        return ()
    return (f"{lost} of {fits} {what} did not converge; they are kept, as they stood at the last iteration",)
