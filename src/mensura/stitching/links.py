"""Links: how scores in other units become expected scores in [0, 1], which benchmarks stay out, dates as years.

| unit | link |
|---|---|
| percent, fraction | divided by 100, as it is; chance, ceiling and number of items of the benchmark are used |
| elo | expected win rate against a fixed opponent, the median model: 1/(1 + 10^((median − elo)/400)); chance 0 |
| index (−100 … 100) | (index + 100)/200, chance 0; its spread is at most that of as many tries that succeed or fail |
| composite | stays out: no link to a success rate is known |
"""

from datetime import date, timedelta

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.evidence import RATE_UNITS, Evidence, used_scores, with_tries

ELO_DECADE = 400.0
"""Elo points that multiply the odds of winning by ten (Elo's definition)."""
LINKED = ("percent", "fraction", "elo", "index")
ENDS = {"chance": 0.0, "ceiling": 1.0}
"""Levels of a benchmark, and what they are in units that have no other."""


def evidence_scores(evidence: Evidence, references: pl.DataFrame | None = None) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Turn evidence into a score table for :func:`mensura.stitch`.

    Parameters
    ----------
    evidence : Evidence
        Scores in any unit. A model's scores on a benchmark are left out if none of them is primary.
    references : table, optional
        benchmark, reference: fixed opponents of Elo ratings (default: the median models).

    Returns
    -------
    tuple of table and notes
        subject, benchmark, score, source, released, chance, ceiling, n; what was done to the units.

    Examples
    --------
    >>> import mensura
    >>> from mensura.stitching import evidence_scores
    >>> evidence_scores(mensura.load())[0].columns[:3]
    ['subject', 'benchmark', 'score']

    """
    tried = with_tries(evidence, used_scores(evidence)).drop("n", "stderr").rename({"tries": "n"})
    linked = link(tried, evidence, "score", references=references).join(
        evidence.models.select("subject", "released"), on="subject", how="left"
    )
    size = pl.col("unit").replace_strict(RATE_UNITS, default=None, return_dtype=pl.Float64)
    ends = {level: pl.when(size.is_null()).then(limit).otherwise(pl.col(level) / size) for level, limit in ENDS.items()}
    levels = evidence.benchmarks.select("benchmark", **ends)
    table = linked.join(levels, on="benchmark", how="left")
    return table.select("subject", "benchmark", "score", "source", "released", "chance", "ceiling", "n"), _notes(
        evidence
    )


def link(
    table: pl.DataFrame, evidence: Evidence, *columns: str, references: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Put ``columns`` of a table with ``benchmark`` and ``unit`` through the link of their unit; drop what has none."""
    opponents = elo_references(evidence) if references is None else references
    kept = table.filter(pl.col("unit").is_in(LINKED)).join(opponents, on="benchmark", how="left")
    return kept.with_columns(_linked(pl.col(column)).clip(0, 1).alias(column) for column in columns)


def _linked(value: pl.Expr) -> pl.Expr:
    return (
        pl.when(pl.col("unit") == "percent")
        .then(value / 100)
        .when(pl.col("unit") == "elo")
        .then(1 / (1 + (10.0 ** ((pl.col("reference") - value) / ELO_DECADE))))
        .when(pl.col("unit") == "index")
        .then((value + 100) / 200)
        .otherwise(value)
    )


def elo_references(evidence: Evidence) -> pl.DataFrame:
    """Median primary Elo of every arena: the fixed opponent."""
    elo = evidence.primary_scores.filter(pl.col("unit") == "elo")
    return elo.group_by("benchmark").agg(pl.col("score").median().alias("reference"))


def _notes(evidence: Evidence) -> tuple[str, ...]:
    arenas = elo_references(evidence).sort("benchmark")
    named = ", ".join(f"{name} {value:.0f}" for name, value in arenas.iter_rows())
    by_unit = evidence.benchmarks.group_by("unit").agg(pl.col("benchmark").sort())
    names = {unit: ", ".join(benchmarks) for unit, benchmarks in by_unit.iter_rows()}
    notes = []
    if named:
        notes.append(f"Elo enters as the expected win rate against a fixed opponent (median model: {named})")
    if "index" in names:
        notes.append(f"index from −100 to 100 enters as (index + 100)/200: {names['index']}")
    out = [names[unit] for unit in names if unit not in LINKED]
    if out:
        notes.append(f"left out, no link to a success rate: {', '.join(out)}")
    return tuple(notes)


# Sources that score high or low: estimated where they score the same subject on the same benchmark, then taken out.
#
# On the logit scale, in cells with several sources: logit = cell + offset of the source + error, offsets N(0, τ²). The
# published method takes the maximum over sources instead, which biases upward.

PRINTED = "score as printed"
"""Column of scores before offsets are taken out; a user's table has no such name."""
SWEEPS = 30
"""Alternations of cell means and source offsets; offsets settle geometrically, far below a hundredth of a logit."""
SMALLEST_SPREAD = 1e-4
"""Least variance of the offsets, so that their shrinkage stays finite."""
CERTAIN = 0.01
"""Scores nearer than this to 0 or 1 have no usable logit: they keep their value and inform no offset beyond it."""
SMALLEST_OVERLAP = 10
"""Cells with several sources below which no offsets are estimated."""
WORTH_A_NOTE = 0.05
"""Source offsets, in logits, below this are taken out without a note."""


def adjust_sources(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores with source offsets taken out, and the offsets: source, offset (logits), scores in common cells.

    Where there are offsets, :data:`PRINTED` keeps the scores as their sources give them.
    """
    empty = pl.DataFrame(schema={"source": pl.String, "offset": pl.Float64, "scores": pl.UInt32})
    if "source" not in frame.columns:
        return frame, empty
    logit = (pl.col("score").clip(CERTAIN, 1 - CERTAIN) / (1 - pl.col("score").clip(CERTAIN, 1 - CERTAIN))).log()
    cells = frame.with_columns(logit=logit).filter(
        pl.col("source").is_not_null() & (pl.col("source").n_unique().over("subject", "benchmark") > 1)
    )
    if cells.select("subject", "benchmark").unique().height < SMALLEST_OVERLAP:
        return frame, empty
    offsets = _offsets(cells)
    shifted = logit - pl.col("offset").fill_null(0.0)
    inside = (pl.col("score") > CERTAIN) & (pl.col("score") < 1 - CERTAIN)
    adjusted = frame.join(
        offsets.select("source", "offset"), on="source", how="left", maintain_order="left"
    ).with_columns(
        pl.col("score").alias(PRINTED),
        score=pl.when(inside).then(1 / (1 + (-shifted).exp())).otherwise(pl.col("score")),
    )
    return adjusted.drop("offset"), offsets


def offset_notes(offsets: pl.DataFrame | None) -> tuple[str, ...]:
    """Name the sources whose offsets were taken out."""
    return tuple(
        f"source {name} scores {offset:+.2f} logits off the others on the same cells; taken out"
        for name, offset, _ in (() if offsets is None else offsets.iter_rows())
        if abs(offset) >= WORTH_A_NOTE
    )


def _offsets(cells: pl.DataFrame) -> pl.DataFrame:
    """Alternate cell means and shrunken source offsets; variances by moments."""
    cells = cells.with_columns(offset=pl.lit(0.0))
    offsets = pl.DataFrame()
    for _ in range(SWEEPS):
        centre = (pl.col("logit") - pl.col("offset")).mean().over("subject", "benchmark")
        cells = cells.with_columns(deviation=pl.col("logit") - centre)
        error = float(np.mean((cells["deviation"] - cells["offset"]).to_numpy() ** 2))
        raw = cells.group_by("source").agg(pl.col("deviation").mean().alias("raw"), pl.len().alias("scores"))
        spread = max(float(np.mean(raw["raw"].to_numpy() ** 2 - error / raw["scores"].to_numpy())), SMALLEST_SPREAD)
        offsets = raw.with_columns(
            offset=pl.col("raw") * pl.col("scores") / (pl.col("scores") + error / spread)
        ).select("source", "offset", "scores")
        cells = cells.drop("offset").join(offsets.select("source", "offset"), on="source", how="left")
    return offsets.sort("source")


# Dates as numbers: years since 1970-01-01, one length of the year for every instrument.

DAYS_PER_YEAR = 365.25
"""The mean length of the calendar's year from 1901 to 2099, and the one the published analyses use."""
_FIRST = date(1970, 1, 1)


def to_years(dates: pl.Series) -> Floats:
    """Turn dates into years since 1970-01-01.

    Parameters
    ----------
    dates : polars.Series
        Dates; a missing one becomes NaN.

    Returns
    -------
    array
        Years of 365.25 days.

    Examples
    --------
    >>> from datetime import date
    >>> import polars as pl
    >>> from mensura.stitching import to_years
    >>> to_years(pl.Series([date(1974, 1, 1)])).tolist()
    [4.0]

    """
    days = dates.cast(pl.Date).to_physical().cast(pl.Float64).fill_null(float("nan"))
    return days.to_numpy() / DAYS_PER_YEAR


def to_date(years: float) -> date:
    """Turn years since 1970-01-01 into a date, the inverse of :func:`to_years`.

    Parameters
    ----------
    years : float
        Years of 365.25 days.

    Returns
    -------
    date
        The nearest day.

    Examples
    --------
    >>> from mensura.stitching import to_date
    >>> str(to_date(4.0))
    '1974-01-01'

    """
    return _FIRST + timedelta(days=round(years * DAYS_PER_YEAR))
