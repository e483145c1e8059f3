"""What a score table cannot tell: parts that no score connects, floors, subjects and benchmarks with too few scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from mensura.core.arrays import Ints, just_above
from mensura.core.errors import MensuraError, listed_names
from mensura.stitching.scores import ScoreSet

FEW_SCORES = 3
"""A subject or benchmark with fewer scores is named in a warning."""
PARTS_SHOWN = 4
FLOOR = 0.02
"""A benchmark whose best score is no more than this above chance tells nothing about difficulty."""


def parts(data: ScoreSet) -> list[tuple[list[str], list[str]]]:
    """Return the connected parts of the score graph, largest first, each as (subjects, benchmarks)."""
    m, b = len(data.subjects), len(data.benchmarks)
    edges = scipy.sparse.coo_array(
        (np.ones(data.y.size), (data.layout.rows, m + data.layout.cols)), shape=(m + b, m + b)
    )
    count, label = scipy.sparse.csgraph.connected_components(edges, directed=False)
    found = [
        (
            [data.subjects[i] for i in np.flatnonzero(label[:m] == part)],
            [data.benchmarks[i] for i in np.flatnonzero(label[m:] == part)],
        )
        for part in range(count)
    ]
    return sorted(found, key=lambda part: -len(part[0]) - len(part[1]))


def refuse_parts(data: ScoreSet) -> None:
    """Refuse scores that fall into parts without a common subject or benchmark: no scale can hold them together."""
    found = parts(data)
    if len(found) == 1:
        return
    shown = "; ".join(
        f"part {i}: {len(s)} subjects ({listed_names(s)}) on {len(b)} benchmarks ({listed_names(b)})"
        for i, (s, b) in enumerate(found[:PARTS_SHOWN], start=1)
    )
    more = f"; and {len(found) - PARTS_SHOWN} more parts" if len(found) > PARTS_SHOWN else ""
    raise MensuraError(
        f"scores: {len(found)} parts share no subject and no benchmark, so they cannot stand on one scale: "
        f"{shown}{more}. Add scores that link them, stitch one part alone, or keep the largest (parts='largest')"
    )


def warnings_of(data: ScoreSet) -> tuple[str, ...]:
    """Say which subjects and benchmarks are thinly measured, and which benchmarks nobody has got off the floor."""
    found = []
    for kind, names, index in (
        ("subject", data.subjects, data.layout.rows),
        ("benchmark", data.benchmarks, data.layout.cols),
    ):
        thin = [names[i] for i in np.flatnonzero(np.bincount(index, minlength=len(names)) < FEW_SCORES)]
        if thin:
            found.append(
                f"{len(thin)} {kind}{'s have' if len(thin) > 1 else ' has'} fewer than {FEW_SCORES} scores and "
                f"{'lean' if len(thin) > 1 else 'leans'} on the prior: {listed_names(thin)}"
            )
    best = np.zeros(len(data.benchmarks))
    np.maximum.at(best, data.layout.cols, data.y)
    floor = [data.benchmarks[i] for i in np.flatnonzero(best <= data.chance + just_above(FLOOR))]
    if floor:
        found.append(
            f"every subject is at the floor of {listed_names(floor)}: its difficulty is only bounded from below"
        )
    return tuple(found)


def of_largest_part(data: ScoreSet) -> tuple[set[str], set[str]]:
    """Names of the subjects and benchmarks of the largest connected part."""
    subjects, benchmarks = parts(data)[0]
    return set(subjects), set(benchmarks)


def position(names: tuple[str, ...], name: str, argument: str) -> int:
    """Index of a name, or an error that lists near ones."""
    if name in names:
        return names.index(name)
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3)
    advice = f"did you mean {', '.join(map(repr, near))}?" if near else f"choose one of {listed_names(list(names))}"
    raise MensuraError(f"{argument}: {name!r} has no scores; {advice}")


def positions_of(names: tuple[str, ...], wanted: list[str]) -> Ints:
    """Index of every wanted name, −1 where it is not known."""
    index = {name: i for i, name in enumerate(names)}
    return np.array([index.get(name, -1) for name in wanted], dtype=np.int64)


# Whether a fit arrived: part of every fit's result and of its print.


@dataclass(frozen=True)
class Convergence:
    """How an iteration ended.

    ``gradient`` is what must vanish at the optimum, named by ``measure`` (the largest component of the projected
    gradient, or the largest change of any η in the last sweep), and ``tolerance`` what it had to come below.
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
