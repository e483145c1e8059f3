"""Scores as the fits take them: read, checked, merged, encoded.

A score table has one row per score: ``subject`` (or ``model``), ``benchmark`` (or ``item``), ``score`` in [0, 1] (0 or
1 for item-level data). Used when there: ``stderr``, ``n`` (items behind it) and ``epochs`` (runs of each item) for its
sampling error, ``source``,
``released`` (or ``release_date``), ``chance`` and ``ceiling`` of the benchmark, ``benchmark_released``.
A chance level that is not given is unknown, not 0, and a ceiling not 1 (:mod:`mensura.stitching.floors`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.evidence.passing import score_variance
from mensura.intake.tables import as_frame
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.links import PRINTED, to_years

Duplicates = Literal["max", "mean", "all"]
_HALF = "a score within [0, 1] has a standard error of at most 0.5; divide percents by 100, or leave it out"
_ERRORS = (
    ("stderr", 0.5, _HALF),
    ("n", float("inf"), "give the number of items behind the score, or leave it out"),
    ("epochs", float("inf"), "give how often every item was run, or leave it out"),
)
ALIASES = {"model": "subject", "item": "benchmark", "release_date": "released"}


@dataclass(frozen=True, eq=False, repr=False)
class ScoreSet(Result):
    """Checked scores, one per subject and benchmark, sorted by subject.

    ``y`` are the scores that count, ``printed`` the same before offsets of sources were taken out.
    ``counts`` tells how many rows made each score (1 unless all rows count); ``sampling`` is its known sampling
    variance (0 unknown), ``chance`` and ``ceiling`` belong to the benchmarks (``chance_given`` and ``ceiling_given``
    say for which somebody stated them; they are 0 and 1 elsewhere until estimated), ``years`` (release, since
    1970-01-01; NaN unknown) to the subjects, ``published`` to the benchmarks in the same way. ``step``, the shape of
    the curve (:mod:`mensura.stitching.floors`), and ``leak`` (:mod:`mensura.stitching.leaks`) come from a fit.
    ``table``: subject, benchmark, score.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    subjects: tuple[str, ...]
    benchmarks: tuple[str, ...]
    layout: ScoreLayout
    y: Floats
    printed: Floats
    counts: Floats
    sampling: Floats
    chance: Floats
    ceiling: Floats
    years: Floats
    chance_given: Mask
    ceiling_given: Mask
    published: Floats
    leak: Floats
    step: float = 0.0

    def exposure(self, rows: Ints, cols: Ints) -> Floats:
        """Years from the publication of benchmarks to the release of subjects; 0 where unknown or earlier."""
        return np.nan_to_num(np.maximum(self.years[rows] - self.published[cols], 0.0))

    def gain(self, rows: Ints, cols: Ints) -> Floats:
        """Return what slow leaks add to η of pairs of subject and benchmark."""
        return self.leak[cols] * self.exposure(rows, cols)

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"{self.y.size} scores of {len(self.subjects)} subjects on {len(self.benchmarks)} benchmarks"

    @property
    def table(self) -> pl.DataFrame:
        """One row per score: subject, benchmark, score."""
        subjects, benchmarks = pl.Series("subject", self.subjects), pl.Series("benchmark", self.benchmarks)
        return pl.DataFrame([subjects[self.layout.rows], benchmarks[self.layout.cols], pl.Series("score", self.y)])


def read_scores(table: Any, *, name: str = "scores") -> pl.DataFrame:
    """Read and check a score table.

    Parameters
    ----------
    table : table
        Of any library, with subject (or model), benchmark (or item) and score in [0, 1].
    name : str
        What an error calls the table.

    Returns
    -------
    table
        subject, benchmark, score and what else it had.

    Raises
    ------
    MensuraError
        If a column is missing, or a value is missing, no number or out of range.

    Examples
    --------
    >>> from mensura.stitching import read_scores
    >>> read_scores({"model": ["ann"], "benchmark": ["easy"], "score": [0.5]}).columns
    ['subject', 'benchmark', 'score']

    """
    frame = read_pairs(table, name=name)
    require_columns(frame, ["score"], name=name)
    if frame.height == 0:
        raise MensuraError(f"{name}: no rows; one row per subject, benchmark and score is expected")
    return _check_errors(_check_range(_numeric(frame, "score", name), name), name)


def read_pairs(table: Any, *, name: str = "pairs") -> pl.DataFrame:
    """Return a table with ``subject`` and ``benchmark`` as text; ``model``, ``item``, ``release_date`` will do."""
    frame = as_frame(table, name=name)
    twins = [(old, new) for old, new in ALIASES.items() if old in frame.columns and new in frame.columns]
    if twins:
        raise MensuraError(f"{name}: columns {' and '.join(map(repr, twins[0]))} say the same; rename or drop one")
    frame = frame.rename({old: new for old, new in ALIASES.items() if old in frame.columns})
    require_columns(frame, ["subject", "benchmark"], name=name)
    frame = frame.with_columns(pl.col("subject").cast(pl.String), pl.col("benchmark").cast(pl.String))
    for column in ("subject", "benchmark"):
        if empty := frame.filter(pl.col(column).is_null() | (pl.col(column) == "")).height:
            raise MensuraError(f"{name}: {empty} rows have no {column}; fill it in or drop those rows")
    return frame


def _numeric(frame: pl.DataFrame, column: str, name: str) -> pl.DataFrame:
    if frame[column].dtype.is_numeric() or frame[column].dtype == pl.Boolean:
        return frame.with_columns(pl.col(column).cast(pl.Float64))
    cast = frame[column].cast(pl.Float64, strict=False)
    bad = frame.filter(cast.is_null() & frame[column].is_not_null())
    if bad.height:
        raise MensuraError(
            f"{name}: {bad.height} values of {column} are not numbers, the first is {bad[column][0]!r}; correct them"
        )
    return frame.with_columns(cast.alias(column))


def _check_range(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    score = pl.col("score")
    bad = frame.filter(score.is_null() | ~score.is_finite())
    if bad.height:
        raise MensuraError(
            f"{name}: {bad.height} scores are missing or not finite ({_where(bad)}); drop those rows or fill them in"
        )
    out = frame.filter(~score.is_between(0, 1))
    if out.height:
        percent = out.height > frame.height / 4 and out.filter(pl.col("score") > 1).height == out.height
        advice = "these look like percentages: say unit='percent' (--unit percent), or divide them by 100"
        advice = advice if percent else "correct or drop those rows"
        raise MensuraError(f"{name}: {out.height} scores lie outside [0, 1] ({_where(out)}); {advice}")
    return frame


def _check_errors(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Refuse standard errors and counts that no score can have; an empty cell, 0 and NaN mean unknown."""
    for column, most, rule in _ERRORS:
        if column in frame.columns:
            frame = _numeric(frame, column, name).with_columns(pl.col(column).fill_nan(None))
            bad = frame.filter((pl.col(column) < 0) | (pl.col(column) > most) | pl.col(column).is_infinite())
            if bad.height:
                who = f"{bad['subject'][0]} on {bad['benchmark'][0]}: {bad[column][0]}"
                raise MensuraError(f"{name}: {bad.height} values of {column} are impossible ({who}); {rule}")
    return frame


def _where(rows: pl.DataFrame) -> str:
    named = [f"{row['subject']} on {row['benchmark']}: {row['score']}" for row in rows.head(3).to_dicts()]
    return "; ".join(named) + ("; …" if rows.height > 3 else "")


def encode(frame: pl.DataFrame, duplicates: Duplicates) -> ScoreSet:
    """Merge duplicates and index subjects and benchmarks by name.

    Parameters
    ----------
    frame : table
        What :func:`read_scores` returns.
    duplicates : {"max", "mean", "all"}
        "max" (as published) and "mean" give one score of weight one. "all" keeps the weight of every row: for least
        squares, k scores of one cell are their mean with weight k.

    Returns
    -------
    ScoreSet
        The scores as arrays.

    Raises
    ------
    MensuraError
        If the policy is not known, or chance levels, ceilings or dates are impossible.

    Examples
    --------
    >>> from mensura.stitching import encode, read_scores
    >>> encode(read_scores({"model": ["ann"] * 2, "benchmark": ["easy"] * 2, "score": [0.4, 0.6]}), "mean").y.tolist()
    [0.5]

    """
    if duplicates not in get_args(Duplicates):
        raise MensuraError(f"duplicates: {duplicates!r} is not known; choose one of {', '.join(get_args(Duplicates))}")
    score = pl.col("score", "printed").max() if duplicates == "max" else pl.col("score", "printed").mean()
    rows = pl.len() if duplicates == "all" else pl.lit(1)
    printed = pl.col(PRINTED if PRINTED in frame.columns else "score").alias("printed")
    frame = frame.with_columns(_sampling(frame).alias("sampling"), printed)
    variance = pl.col("sampling").sum() / pl.len() ** 2
    cells = frame.group_by("subject", "benchmark").agg(score, counts=rows, sampling=variance)
    merged = cells.sort("subject", "benchmark")
    subjects, benchmarks = merged["subject"].unique().sort(), merged["benchmark"].unique().sort()
    chance, ceiling, chance_given, ceiling_given = _levels(frame, benchmarks)
    y, as_printed, counts, sampling = (
        merged.select("score", "printed", "counts", "sampling").cast(pl.Float64).to_numpy().T
    )
    return ScoreSet(
        subjects=tuple(subjects),
        benchmarks=tuple(benchmarks),
        layout=ScoreLayout.of(subjects.search_sorted(merged["subject"]), benchmarks.search_sorted(merged["benchmark"])),
        y=np.ascontiguousarray(y),
        printed=np.ascontiguousarray(as_printed),
        counts=np.ascontiguousarray(counts),
        sampling=np.ascontiguousarray(sampling),
        chance=chance,
        ceiling=ceiling,
        years=_years(frame, subjects, "subject", "released"),
        chance_given=chance_given,
        ceiling_given=ceiling_given,
        published=_years(frame, benchmarks, "benchmark", "benchmark_released"),
        leak=np.zeros(len(benchmarks)),
    )


def _sampling(frame: pl.DataFrame) -> pl.Expr:
    """Give the sampling variance of every row, from stderr, n and epochs; 0 where unknown.

    Items i are solved with rates p_i of mean p, each tried in k epochs. The mean of n items then has the variance
    mean(p_i (1 − p_i))/(n k) + variance(p_i)/n. With k = 1 the two parts add up to p(1 − p)/n whatever the p_i are: a
    stated error below this leaves one part out, so the larger of both counts. With more epochs the first part shrinks,
    and a smaller stated error can be right, so it counts as stated.
    """
    given = {name: pl.col(name) if name in frame.columns else pl.lit(None, pl.Float64) for name, *_ in _ERRORS}
    stated = pl.when(given["stderr"] > 0).then(given["stderr"] ** 2)
    binomial = pl.when(given["n"] > 0).then(score_variance(pl.col("score"), given["n"]))
    repeated = pl.when(given["epochs"] > 1).then(stated)
    return pl.coalesce(repeated, pl.max_horizontal(stated, binomial), 0.0)


def _levels(frame: pl.DataFrame, benchmarks: pl.Series) -> tuple[Floats, Floats, Mask, Mask]:
    """Chance and ceiling of every benchmark, 0 and 1 where the table gives none, and whether it gives each."""
    every, values, given = benchmarks.to_frame("benchmark"), [], []
    for column, default in (("chance", 0.0), ("ceiling", 1.0)):
        if column not in frame.columns:
            frame = frame.with_columns(pl.lit(None, pl.Float64).alias(column))
        stated = _numeric(frame, column, "scores").group_by("benchmark").agg(pl.col(column).drop_nulls().first())
        level = every.join(stated, on="benchmark", how="left", maintain_order="left")[column].fill_nan(None)
        values.append(level.fill_null(default).to_numpy().astype(float))
        given.append(level.is_not_null().to_numpy())
    chance, ceiling = values
    for i in np.flatnonzero((chance < 0) | (ceiling > 1) | (chance >= ceiling)):
        raise MensuraError(
            f"scores: benchmark {benchmarks[int(i)]!r} has chance {chance[i]:g} and ceiling {ceiling[i]:g}; "
            "0 ≤ chance < ceiling ≤ 1 is expected"
        )
    return chance, ceiling, given[0], given[1]


def _years(frame: pl.DataFrame, names: pl.Series, of: str, column: str) -> Floats:
    """First date of every subject or benchmark in years since 1970-01-01, NaN where unknown."""
    if column not in frame.columns:
        return np.full(len(names), np.nan)
    dates = frame[column]
    if dates.dtype == pl.String:
        parsed = dates.str.to_date("%Y-%m-%d", strict=False)
        bad = dates.filter(parsed.is_null() & dates.is_not_null() & (dates != ""))
        if bad.len():
            raise MensuraError(
                f"scores: {bad.len()} release dates are not YYYY-MM-DD, the first is {bad[0]!r}; correct them"
            )
        dates = parsed
    elif not dates.dtype.is_temporal() and dates.dtype != pl.Null:
        given = dates.drop_nulls().first()
        raise MensuraError(
            f"scores: {column} holds numbers ({given!r}), no dates; write YYYY-MM-DD, such as 2018-06-30"
        )
    first = frame.select(of).with_columns(day=dates.cast(pl.Date, strict=False)).group_by(of).min()
    joined = names.to_frame(of).join(first, on=of, how="left", maintain_order="left")
    return to_years(joined["day"])
