"""Capabilities with dates, as every trend takes them: read from what is at hand, checked, sorted by release."""

from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv, require_columns
from mensura.evidence import Evidence
from mensura.intake.tables import as_frame
from mensura.stitching import PositionDraws, Stitch, read_scores, stitch

FEWEST_SUBJECTS = 3
"""A line with an error needs so many points."""
NAMES_SHOWN = 3
DATE_NAMES = {"model": "subject", "release_date": "released", "date": "released"}


def hand_over(source: Any) -> Any:
    """Stitch evidence (none: the embedded one) or a table of scores; fits and tables of capabilities stay."""
    if source is None or isinstance(source, Evidence):
        return stitch(source)
    if isinstance(source, Stitch):
        return source
    frame = as_frame(source, name="capabilities")
    return stitch(frame) if "score" in frame.columns and "capability" not in frame.columns else frame


def read_capabilities(source: Any, *, name: str = "capabilities") -> pl.DataFrame:
    """Read dated capabilities, sorted by release.

    Parameters
    ----------
    source : fit, Evidence, table or None
        As in :func:`forecast`. ``model`` is read as subject, ``release_date`` or ``date`` as released.
    name : str
        What an error calls the table.

    Returns
    -------
    table
        subject, released, capability and more.

    Raises
    ------
    MensuraError
        If a subject has no date or capability (a trend without it would be biased), or there are fewer than three.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import read_capabilities
    >>> read_capabilities(models)["subject"][0]
    'm0'

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


def add_dates(capabilities: Any, dates: Any) -> pl.DataFrame:
    """Join release dates to capabilities.

    Parameters
    ----------
    capabilities : table
        With subject.
    dates : table
        subject (or model) and released (or release_date, date).

    Returns
    -------
    table
        The capabilities with released, null where unknown.

    Examples
    --------
    >>> from mensura.trends import add_dates
    >>> dates = {"subject": ["a"], "released": ["2025-01-31"]}
    >>> add_dates({"subject": ["a", "b"], "capability": [1.0, 2.0]}, dates)["released"].null_count()
    1

    """
    dated = read_dates(as_frame(dates, name="dates"), name="dates").select("subject", "released").unique("subject")
    return as_frame(capabilities, name="capabilities").join(dated, on="subject", how="left", maintain_order="left")


def read_with_draws(source: Any, draws: Any) -> tuple[pl.DataFrame, Floats | None]:
    """Read capabilities and their draws (draws, subjects); a fit brings its Laplace draws where none are given."""
    given = hand_over(source)
    frame = read_capabilities(given)
    if draws is None and isinstance(given, Stitch):
        draws = given.laplace
    return frame, None if draws is None else read_draws(draws, frame["subject"])


def read_draws(draws: Any, subjects: pl.Series) -> Floats:
    """Return draws of the capabilities as (draws, subjects), in the order of ``subjects``.

    Given are the :class:`~mensura.stitching.PositionDraws` of a fit, whose rows share the error of difficulties and
    slopes, or a long table ``subject``, ``draw``, ``capability`` with every subject in every draw.
    """
    if isinstance(draws, PositionDraws):
        place = {name: i for i, name in enumerate(draws.subjects)}
        unknown = [who for who in subjects if who not in place]
        if unknown:
            raise MensuraError(
                f"draws: no draws for {unknown[0]!r}; the draws must come from the fit of the capabilities"
            )
        drawn = draws.positions.capability[:, [place[who] for who in subjects]]
        return np.where(np.isfinite(drawn), drawn, np.nanmean(drawn, axis=0))
    frame = as_frame(draws, name="draws")
    require_columns(frame, ["subject", "draw", "capability"], name="draws")
    wide = frame.pivot(on="draw", index="subject", values="capability")
    ordered = pl.DataFrame({"subject": subjects}).join(wide, on="subject", how="left", maintain_order="left")
    matrix = ordered.drop("subject").to_numpy().T.astype(float)
    if matrix.size == 0 or not np.isfinite(matrix).all():
        lost = ordered.filter(pl.any_horizontal(pl.exclude("subject").is_null()))
        raise MensuraError(f"draws: missing for {_named(lost)}; every subject is needed in every draw")
    return np.ascontiguousarray(matrix)


def _named(frame: pl.DataFrame) -> str:
    """Name up to three subjects of a table."""
    names = ", ".join(repr(name) for name in frame["subject"].head(NAMES_SHOWN))
    return names + (f" and {frame.height - NAMES_SHOWN} more" if frame.height > NAMES_SHOWN else "")


# Which subjects a trend is about: those with enough benchmarks, released late enough.


def select_scores(scores: Any, *, since: date | None = None, fewest: int = 1) -> pl.DataFrame:
    """Return the scores of subjects with enough benchmarks (counted first) that were released late enough.

    Subjects without a date of release are left out, as published.
    """
    table = read_scores(as_frame(scores, name="scores"))
    require_columns(table, ["released"], name="scores")
    table = read_dates(table.drop_nulls("released"), name="scores")
    enough = table.filter(pl.col("benchmark").n_unique().over("subject") >= fewest)
    kept = enough if since is None else enough.filter(pl.col("released") >= since)
    if kept.is_empty():
        raise MensuraError(f"scores: no subject has {fewest} benchmarks and a release from {since} on; relax either")
    return kept


# Tables that come with the package: training compute, time horizons and the estimates of the published fit.

DATA = Path(__file__).parent / "data"


class PublishedFit(NamedTuple):
    """Estimates of the published stitched fit, in its unit.

    ``models``: subject, released, capability, source, for records and models with known compute or time horizon.
    ``benchmarks``: benchmark, difficulty, slope, low, high (bars of 5% more squared error), source.
    """

    models: pl.DataFrame
    benchmarks: pl.DataFrame


def load_compute() -> pl.DataFrame:
    """Load training compute as Epoch AI estimates it.

    Returns
    -------
    table
        subject, training_compute_flop, family, confidence, source. Distilled models are left out.

    Examples
    --------
    >>> from mensura.trends import load_compute
    >>> "subject" in load_compute().columns
    True

    """
    return read_csv(DATA / "compute.csv")


def load_horizons() -> pl.DataFrame:
    """Load the time horizons of METR at 50% success.

    Returns
    -------
    table
        subject, minutes, low, high (95%), source.

    Examples
    --------
    >>> from mensura.trends import load_horizons
    >>> "subject" in load_horizons().columns
    True

    """
    return read_csv(DATA / "horizons.csv")


def load_published() -> PublishedFit:
    """Load the estimates of the published fit, which Mensura computed from the scores of Epoch AI.

    Returns
    -------
    PublishedFit
        Models and benchmarks in the unit of that fit.

    Examples
    --------
    >>> from mensura.trends import load_published
    >>> load_published().benchmarks.columns[:3]
    ['benchmark', 'difficulty', 'slope']

    """
    models = read_csv(DATA / "published_models.csv").with_columns(pl.col("released").cast(pl.String).str.to_date())
    return PublishedFit(models, read_csv(DATA / "published_benchmarks.csv"))
