"""Ladders: the expected score at IQ 70, 85, …, 160, and the way from a score to an IQ and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit, logit
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

    Parameters
    ----------
    evidence : Evidence
        The tables, as :func:`mensura.load` returns them.
    ladders : str, Path or table
        Name of a set in the evidence or among Mensura's own (``recut``), a CSV file in the form of the evidence
        table,
        or such a table.

    Returns
    -------
    table
        One row per benchmark; one that the set does not have keeps its published ladder.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import ladder_table
    >>> ladder_table(mensura.load(), "recut")["benchmark"].is_unique().all()
    True

    """
    every_set = pl.concat([evidence.ladders, read_table(DATA / "ladders.csv").cast(evidence.ladders.schema)])
    published = every_set.filter(pl.col("set") == PUBLISHED)
    if isinstance(ladders, pl.DataFrame):
        chosen = ladders
    elif str(ladders) in every_set["set"].unique():
        ours = pl.col("benchmark").is_in(evidence.benchmarks["benchmark"].to_list())
        chosen = every_set.filter(ours, pl.col("set") == str(ladders))
    elif Path(ladders).is_file():
        chosen = read_table(Path(ladders))
    else:
        sets = ", ".join(sorted(every_set["set"].unique()))
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


_ELO_UNIT = 400 / np.log(10)  # Elo points per logit of the expected win rate
_ANSWERS = 100.0  # the size of test on which half an answer is added on either side
_SIZES = {"percent": (0.0, 100.0), "fraction": (0.0, 1.0), "index": (-100.0, 100.0)}
UNITS = ("elo", *_SIZES)
"""Units of which log odds can be taken."""


@dataclass(frozen=True)
class Metric:
    """One benchmark's way from score to log odds and back; ``middle`` is the Elo of the fixed opponent."""

    unit: str
    middle: float = 0.0

    @classmethod
    def of(cls, unit: str, scores: Floats, middle: float = 0.0) -> Metric:
        """Return the metric of a benchmark in this unit; for Elo the median score, else ``middle``."""
        if unit == "elo":
            return cls(unit, float(np.nanmedian(scores)) if np.isfinite(scores).any() else middle)
        if unit not in _SIZES:
            raise MensuraError(f"unit: no log odds of scores in {unit!r}; expected elo, {', '.join(_SIZES)}")
        return cls(unit)

    def log_odds(self, score: Floats) -> Floats:
        """Return scores as log odds; NaN stays NaN."""
        if self.unit == "elo":
            return np.asarray((score - self.middle) / _ELO_UNIT)
        return logit((_ANSWERS * self.rate(score) + 0.5) / (_ANSWERS + 1))

    def rate(self, score: Floats) -> Floats:
        """Return scores as success rates; NaN stays NaN."""
        if self.unit == "elo":
            return expit(self.log_odds(score))
        low, high = _SIZES[self.unit]
        return np.asarray(np.clip((score - low) / (high - low), 0.0, 1.0))

    def score_of_rate(self, rate: Floats) -> Floats:
        """Return success rates as scores; of Elo, which has no ends, the rates 0 and 1 are infinite."""
        if self.unit == "elo":
            return np.asarray(np.where(rate > 0, np.inf, -np.inf))
        low, high = _SIZES[self.unit]
        return np.asarray(low + (high - low) * rate)

    def score(self, log_odds: Floats) -> Floats:
        """Return log odds as scores, within the unit's range."""
        if self.unit == "elo":
            return np.asarray(self.middle + _ELO_UNIT * log_odds)
        return self.score_of_rate(np.clip(((_ANSWERS + 1) * expit(log_odds) - 0.5) / _ANSWERS, 0.0, 1.0))
