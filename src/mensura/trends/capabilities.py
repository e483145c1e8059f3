"""Capabilities with dates, as every trend takes them: read from what is at hand, checked, sorted by release."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.evidence import Evidence
from mensura.intake.tables import as_frame
from mensura.stitching import PositionDraws, Stitch, stitch

FEWEST_SUBJECTS = 3
"""A line with an error needs so many points."""
NAMES_SHOWN = 3
DATE_NAMES = {"model": "subject", "release_date": "released", "date": "released"}


def hand_over(source: Any) -> Any:  # noqa: ANN401
    """Stitch evidence (none: the embedded one) or a table of scores; fits and tables of capabilities stay."""
    if source is None or isinstance(source, Evidence):
        return stitch(source)
    if isinstance(source, Stitch):
        return source
    frame = as_frame(source, name="capabilities")
    return stitch(frame) if "score" in frame.columns and "capability" not in frame.columns else frame


def read_capabilities(source: Any, *, name: str = "capabilities") -> pl.DataFrame:  # noqa: ANN401
    """Return ``subject``, ``released``, ``capability`` and more, sorted by release, or say what is wrong.

    ``source`` is a table with these columns, a fit, evidence (none: the embedded one) or a table of scores. ``model``
    is read as ``subject``, ``release_date`` or ``date`` as ``released``. Subjects without a date or a capability are
    refused: a trend that leaves them out without a word would be biased.
    """
    given = hand_over(source)
    frame = read_dates(given.dated if isinstance(given, Stitch) else given, name=name)
    require_columns(frame, ["subject", "released", "capability"], name=name)
    frame = frame.with_columns(pl.col("capability").cast(pl.Float64, strict=False))
    bad = frame.filter(~pl.col("capability").is_finite().fill_null(value=False))
    if bad.height:
        raise MensuraError(f"{name}: no finite capability for {_named(bad)}; drop those rows or fit them first")
    twice = frame.filter(pl.col("subject").is_duplicated())
    if twice.height:
        raise MensuraError(
            f"{name}: more than one row for {_named(twice.unique('subject'))}; one per subject is expected"
        )
    if frame.height < FEWEST_SUBJECTS:
        raise MensuraError(f"{name}: {frame.height} subjects; a trend needs at least {FEWEST_SUBJECTS}")
    return frame.sort("released", "subject")


def read_dates(frame: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Rename to ``subject`` and ``released`` and turn ``released`` into dates; a missing date is refused by name."""
    for old, new in DATE_NAMES.items():
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


def add_dates(capabilities: Any, dates: Any) -> pl.DataFrame:  # noqa: ANN401
    """Join ``released`` from a table of models to capabilities; subjects without a date stay, with none."""
    known = read_dates(as_frame(dates, name="dates"), name="dates").select("subject", "released").unique("subject")
    return as_frame(capabilities, name="capabilities").join(known, on="subject", how="left", maintain_order="left")


def read_with_draws(source: Any, draws: Any) -> tuple[pl.DataFrame, Floats | None]:  # noqa: ANN401
    """Read capabilities and their draws (draws, subjects); a fit brings its Laplace draws where none are given."""
    given = hand_over(source)
    frame = read_capabilities(given)
    if draws is None and isinstance(given, Stitch):
        draws = given.laplace
    return frame, None if draws is None else read_draws(draws, frame["subject"])


def read_draws(draws: Any, subjects: pl.Series, *, name: str = "draws") -> Floats:  # noqa: ANN401
    """Return draws of the capabilities as (draws, subjects), in the order of ``subjects``.

    Given are the :class:`~mensura.stitching.PositionDraws` of a fit, whose rows share the error of difficulties and
    slopes, or a long table ``subject``, ``draw``, ``capability`` with every subject in every draw.
    """
    if isinstance(draws, PositionDraws):
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


def _named(frame: pl.DataFrame) -> str:
    """Name up to three subjects of a table."""
    names = ", ".join(repr(name) for name in frame["subject"].head(NAMES_SHOWN))
    return names + (f" and {frame.height - NAMES_SHOWN} more" if frame.height > NAMES_SHOWN else "")
