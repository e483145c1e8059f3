"""The frontier: which subjects were the best when they came out, and how fast that rises."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.errors import MensuraError
from mensura.frames import as_frame, require_columns
from mensura.stitching import Draws
from mensura.trends.lines import Floats, Line, fit_line

DAYS = 365.25
"""Days in a year."""


def read_capabilities(table: Any, *, name: str = "capabilities") -> pl.DataFrame:  # noqa: ANN401
    """Return ``subject``, ``released``, ``capability`` and more, sorted by release, or say what is wrong.

    ``model`` is read as ``subject``, ``release_date`` or ``date`` as ``released``. Subjects without a date or a
    capability are refused: a trend that leaves them out without a word would be biased.
    """
    frame = read_dates(as_frame(table, name=name), name=name)
    require_columns(frame, ["subject", "released", "capability"], name=name)
    frame = frame.with_columns(pl.col("capability").cast(pl.Float64))
    bad = frame.filter(~pl.col("capability").is_finite().fill_null(value=False))
    if bad.height:
        raise MensuraError(f"{name}: no finite capability for {_named(bad)}; drop those rows or fit them first")
    twice = frame.filter(pl.col("subject").is_duplicated())
    if twice.height:
        raise MensuraError(
            f"{name}: more than one row for {_named(twice.unique('subject'))}; one per subject is expected"
        )
    if frame.height < 3:
        raise MensuraError(f"{name}: {frame.height} subjects; a trend needs at least 3")
    return frame.sort("released", "subject")


def read_dates(frame: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Rename to ``subject`` and ``released`` and turn ``released`` into dates; a missing date is refused by name."""
    names = {"model": "subject", "release_date": "released", "date": "released"}
    for old, new in names.items():
        if new not in frame.columns and old in frame.columns:
            frame = frame.rename({old: new})
    require_columns(frame, ["subject", "released"], name=name)
    if frame["released"].dtype != pl.Date:
        frame = frame.with_columns(pl.col("released").cast(pl.String).str.to_date(strict=False))
    missing = frame.filter(pl.col("released").is_null())
    if missing.height:
        raise MensuraError(
            f"{name}: no release date (YYYY-MM-DD) for {_named(missing)}; give one in column 'released' or drop them"
        )
    return frame.with_columns(pl.col("subject").cast(pl.String))


def add_dates(capabilities: pl.DataFrame, dates: pl.DataFrame) -> pl.DataFrame:
    """Join ``released`` from a table of models to capabilities; subjects without a date stay, with none."""
    known = read_dates(dates, name="dates").select("subject", "released").unique("subject")
    return capabilities.join(known, on="subject", how="left")


def read_draws(draws: Any, subjects: pl.Series, *, name: str = "draws") -> Floats:  # noqa: ANN401
    """Return draws of the capabilities as (draws, subjects), in the order of ``subjects``.

    Given are the :class:`~mensura.stitching.Draws` of a fit, whose rows share the error of difficulties and slopes, or
    a long table ``subject``, ``draw``, ``capability`` with every subject in every draw.
    """
    if isinstance(draws, Draws):
        place = {name: i for i, name in enumerate(draws.subjects)}
        unknown = [who for who in subjects if who not in place]
        if unknown:
            raise MensuraError(
                f"{name}: no draws for {unknown[0]!r}; the draws must come from the fit of the capabilities"
            )
        drawn = draws.positions.capability[:, [place[who] for who in subjects]]
        return np.where(np.isfinite(drawn), drawn, np.nanmean(drawn, axis=0))
    frame = as_frame(draws, name=name)
    require_columns(frame, ["subject", "draw", "capability"], name=name)
    wide = frame.pivot(on="draw", index="subject", values="capability")
    ordered = pl.DataFrame({"subject": subjects}).join(wide, on="subject", how="left", maintain_order="left")
    matrix = ordered.drop("subject").to_numpy().T.astype(float)
    if matrix.size == 0 or not np.isfinite(matrix).all():
        lost = ordered.filter(pl.any_horizontal(pl.exclude("subject").is_null()))
        raise MensuraError(f"{name}: draws are missing for {_named(lost)}; every subject is needed in every draw")
    return np.ascontiguousarray(matrix)


def find_frontier(capabilities: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return the subjects that were the best at their release: ``subject``, ``released``, ``capability``.

    Of several released on one day only the best can be one; to equal the record counts.
    """
    frame = read_capabilities(capabilities)
    best = is_record(to_years(frame["released"]), frame["capability"].to_numpy())
    return frame.filter(pl.Series(best)).select("subject", "released", "capability")


def is_record(years: Floats, values: Floats) -> NDArray[np.bool_]:
    """Mark the values no smaller than any value up to and including their own day (``years`` sorted)."""
    last_of_day = np.searchsorted(years, years, side="right") - 1
    return np.asarray(values >= np.maximum.accumulate(values)[last_of_day])


def frontier_line(capabilities: Any) -> Line:  # noqa: ANN401
    """Fit the line through the frontier, capability on years since 1970."""
    frontier = find_frontier(capabilities)
    return fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())


def to_years(dates: pl.Series) -> Floats:
    """Turn dates into years since 1970-01-01, a year being 365.25 days."""
    return dates.cast(pl.Date).to_physical().to_numpy().astype(float) / DAYS


def to_date(years: float) -> date:
    """Turn years since 1970-01-01 into a date, the inverse of :func:`to_years`."""
    return date(1970, 1, 1) + timedelta(days=round(years * DAYS))


def _named(frame: pl.DataFrame) -> str:
    """Name up to three subjects of a table."""
    names = ", ".join(repr(name) for name in frame["subject"].head(3))
    return names + (f" and {frame.height - 3} more" if frame.height > 3 else "")
