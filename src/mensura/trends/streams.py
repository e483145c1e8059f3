"""Scores in the order of release, as a watch follows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.stitching import Stitch, encode, read_any, to_years
from mensura.trends.capabilities import read_dates


@dataclass(frozen=True, eq=False, repr=False)
class Stream(Result):
    """Scores sorted by release: score i is release ``rows[i]``, of ``years[rows[i]]``, on benchmark ``cols[i]``.

    ``table``: year, release, benchmark, score.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    years: Floats
    rows: Ints
    cols: Ints
    scores: Floats

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        span = f"{self.years[0]:.1f} to {self.years[-1]:.1f}"
        return f"a stream of {self.years.size} releases from year {span} with {self.scores.size} scores"

    @property
    def table(self) -> pl.DataFrame:
        """One row per score: year, release, benchmark, score."""
        years = self.years[self.rows]
        return pl.DataFrame({"year": years, "release": self.rows, "benchmark": self.cols, "score": self.scores})


def read_stream(scores: Any, dates: Any) -> tuple[Stream, list[str]]:  # noqa: ANN401
    """Turn a table of scores into arrays sorted by release, the best score of a pair counting once."""
    frame = _scores_of(scores) if isinstance(scores, Stitch) else read_any(scores)[0]
    if dates is not None:
        known = read_dates(as_frame(dates, name="dates"), name="dates")
        frame = frame.drop("released", strict=False).join(known.select("subject", "released"), on="subject", how="left")
    frame = read_dates(frame, name="scores")
    data = encode(frame, "max")
    released = dict(frame.select("subject", "released").iter_rows())
    years = to_years(pl.Series([released[name] for name in data.subjects], dtype=pl.Date))
    order = np.lexsort((np.arange(years.size), years))
    rank = np.argsort(order)
    rows = rank[data.layout.rows]
    by_release = np.argsort(rows, kind="stable")
    subjects = [data.subjects[i] for i in order]
    return Stream(
        years[order], rows[by_release], data.layout.cols[by_release], data.y[by_release].astype(float)
    ), subjects


def _scores_of(fit: Stitch) -> pl.DataFrame:
    """Scores of a fit as a table, with the dates it knows."""
    return fit.data.table.join(fit.dated.select("subject", "released"), on="subject", how="left", maintain_order="left")


def first_releases(stream: Stream, count: int) -> Stream:
    """Keep the first ``count`` releases and the benchmarks they were tested on."""
    kept = stream.rows < count
    _, cols = np.unique(stream.cols[kept], return_inverse=True)
    return Stream(stream.years[:count], stream.rows[kept], cols.astype(np.int64), stream.scores[kept])
