"""Ladders: the expected score at IQ 70, 85, …, 160, and the way from a score to an IQ and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.evidence import LADDER_LEVELS, Evidence
from mensura.intake.tables import read_table
from mensura.iq.rules import DATA

LEVELS = np.array(LADDER_LEVELS, dtype=np.float64)
LOWEST, HIGHEST = float(LEVELS[0]), float(LEVELS[-1])
STEP = float(LEVELS[1] - LEVELS[0])
"""IQ points between two rungs of a ladder."""
FURTHER = 3.0
"""Steps that a ladder goes on past its ends where a score says "at least" or "at most"."""
POINTS = [f"iq{level:.0f}" for level in LEVELS]
PUBLISHED, RECUT = "published", "recut"
"""The ladders of the method page, and these with the one row the published values cannot come from put right."""


@dataclass(frozen=True)
class Ladder:
    """One benchmark's ladder: seven rising scores, one per IQ level."""

    benchmark: str
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        points = np.array(self.scores)
        if points.shape != LEVELS.shape or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
            raise MensuraError(
                f"ladder of {self.benchmark}: expected seven rising scores for IQ 70 to 160, "
                f"got {', '.join(f'{score:g}' for score in self.scores)}"
            )

    def iq(self, score: Floats) -> Floats:
        """Return the IQ of scores by linear interpolation between neighbours, clamped to 70 and 160."""
        return np.asarray(np.interp(score, self.scores, LEVELS))

    def score(self, iq: Floats) -> Floats:
        """Return the score expected at an IQ from 70 to 160."""
        return np.asarray(np.interp(iq, LEVELS, self.scores))

    def slope(self, score: Floats) -> Floats:
        """Return IQ points per unit of score on the segment around a score; past an end, of the last segment."""
        points = np.array(self.scores)
        segment = np.clip(np.searchsorted(points, score, side="right") - 1, 0, LEVELS.size - 2)
        return np.asarray((np.diff(LEVELS) / np.diff(points))[segment])

    def to_dict(self) -> dict[str, float]:
        """Return the scores by the names of their IQ levels, iq70 to iq160."""
        return dict(zip(POINTS, self.scores, strict=True))

    def segment(self, score: float) -> tuple[int, int]:
        """Return the two IQ levels a score lies between (equal past either end)."""
        upper = int(np.searchsorted(np.array(self.scores), score, side="right"))
        low, high = max(upper - 1, 0), min(upper, LEVELS.size - 1)
        return int(LEVELS[low]), int(LEVELS[high])


def ladder_table(evidence: Evidence, ladders: str | Path | pl.DataFrame = PUBLISHED) -> pl.DataFrame:
    """Return one ladder row per benchmark: the set asked for, laid over the published one.

    ``ladders`` is the name of a set in the evidence or among Mensura's own (``recut``), a CSV file in the form of
    the evidence table, or such a table. A benchmark the set says nothing of keeps its published ladder.
    """
    known = pl.concat([evidence.ladders, read_table(DATA / "ladders.csv").cast(evidence.ladders.schema)])
    published = known.filter(pl.col("set") == PUBLISHED)
    if isinstance(ladders, pl.DataFrame):
        chosen = ladders
    elif str(ladders) in known["set"].unique():
        ours = pl.col("benchmark").is_in(evidence.benchmarks["benchmark"].to_list())
        chosen = known.filter(ours, pl.col("set") == str(ladders))
    elif Path(ladders).is_file():
        chosen = read_table(Path(ladders))
    else:
        sets = ", ".join(sorted(known["set"].unique()))
        raise MensuraError(f"ladders: {str(ladders)!r} is unknown; expected a set ({sets}) or a CSV file")
    require_columns(chosen, ["benchmark", *POINTS], name="ladders")
    stranger = chosen.filter(~pl.col("benchmark").is_in(evidence.benchmarks["benchmark"].to_list()))
    if stranger.height:
        raise MensuraError(
            f"ladders: {stranger['benchmark'][0]!r} is no benchmark of the evidence; remove the row or add the "
            "benchmark"
        )
    chosen = chosen.select("benchmark", pl.col(POINTS).cast(pl.Float64)).unique(
        "benchmark", keep="last", maintain_order=True
    )
    rest = published.select("benchmark", *POINTS).join(chosen, on="benchmark", how="anti", maintain_order="left")
    return pl.concat([chosen, rest])


def read_ladders(table: pl.DataFrame, benchmarks: Sequence[str]) -> tuple[Ladder, ...]:
    """Return the ladders of these benchmarks; one without a rising ladder is refused by name."""
    rows = {row[0]: row[1:] for row in table.select("benchmark", *POINTS).iter_rows()}
    missing = [name for name in benchmarks if name not in rows]
    if missing:
        raise MensuraError(
            f"ladders: {', '.join(missing)} counts in the composite but has no ladder; add a row to ladders.csv, or "
            "set in_composite to no in benchmarks.csv"
        )
    return tuple(Ladder(name, tuple(np.nan if x is None else float(x) for x in rows[name])) for name in benchmarks)
