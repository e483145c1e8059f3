"""Synthetic streams of releases, a ladder of benchmarks and the scores between them, with or without a change of pace.

The published set-up (arXiv 2512.00193) is ``PUBLISHED``: releases spread evenly over 2024 to 2030, capability rising
by 3.5 in all with a scatter of 0.2, benchmarks half a unit ahead with slopes from 3 to 10, and a quarter of the pairs
whose expected score lies in [0.05, 0.95] evaluated with an error of 0.025. Years count from 1970, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit
from mensura.core.results import Result
from mensura.trends.streams import Stream


@dataclass(frozen=True, eq=False, repr=False)
class StreamModel(Result):
    """How releases, benchmarks and scores come about when nothing changes; ``table`` lists its numbers.

    Capability is ``level`` at ``start`` and gains ``pace`` a year, with standard deviation ``scatter`` among releases;
    difficulties spread evenly from ``easiest`` to ``hardest``, with deviation ``jitter``; slopes are drawn from
    ``slopes``; a pair whose expected score lies within ``visible`` is evaluated with probability ``evaluated``.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    start: float
    until: float
    models: int
    benchmarks: int
    level: float
    pace: float
    scatter: float
    easiest: float
    hardest: float
    jitter: float
    slopes: Floats
    visible: tuple[float, float]
    evaluated: float
    score_error: float

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"a stream of {self.models} releases on {self.benchmarks} benchmarks, {self.pace:.3g} a year"

    @property
    def table(self) -> pl.DataFrame:
        """One row per number: parameter, value; slopes by their mean."""
        names = (
            "start",
            "until",
            "level",
            "pace",
            "scatter",
            "easiest",
            "hardest",
            "jitter",
            "evaluated",
            "score_error",
        )
        values = {name: float(getattr(self, name)) for name in names} | {"mean_slope": float(np.mean(self.slopes))}
        return pl.DataFrame({"parameter": list(values), "value": list(values.values())})

    def noisier(self, factor: float) -> StreamModel:
        """Multiply the three sources of noise, as the published study does."""
        return replace(
            self,
            scatter=factor * self.scatter,
            jitter=factor * self.jitter,
            score_error=factor * self.score_error,
        )


PUBLISHED = StreamModel(
    start=54.0,
    until=60.0,
    models=180,
    benchmarks=60,
    level=0.0,
    pace=3.5 / 6,
    scatter=0.2,
    easiest=0.5,
    hardest=4.0,
    jitter=0.2,
    slopes=np.linspace(3, 10, 1001),
    visible=(0.05, 0.95),
    evaluated=0.25,
    score_error=0.025,
)


def make_stream(
    model: StreamModel,
    rng: np.random.Generator,
    *,
    change: float | None = None,
    acceleration: float = 1.0,
    share: float = 1.0,
) -> Stream:
    """Draw one stream; from year ``change`` on, a ``share`` of the releases improves ``acceleration`` times as fast."""
    years = np.sort(rng.uniform(model.start, model.until, model.models))
    since = np.maximum(years - (model.until if change is None else change), 0)
    faster = rng.random(model.models) < share
    trend = model.level + model.pace * (years - model.start + faster * (acceleration - 1) * since)
    capability = trend + rng.normal(0, model.scatter, model.models)
    difficulty = rng.uniform(model.easiest, model.hardest, model.benchmarks)
    difficulty += rng.normal(0, model.jitter, model.benchmarks)
    slope = rng.choice(model.slopes, model.benchmarks)
    expected = expit(slope * (capability[:, None] - difficulty))
    low, high = model.visible
    taken = (expected >= low) & (expected <= high) & (rng.random(expected.shape) < model.evaluated)
    scored, tested = taken.any(axis=1), taken.any(axis=0)
    rows, cols = np.nonzero(taken[scored][:, tested])
    exact = expected[scored][:, tested][rows, cols]
    return Stream(years[scored], rows, cols, np.clip(exact + rng.normal(0, model.score_error, exact.size), 0, high))
