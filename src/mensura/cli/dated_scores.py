"""Scores with release dates, from a file or from the evidence: what trends and acceleration read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from mensura.cli.paths import check_input
from mensura.core.cache import keep

if TYPE_CHECKING:
    import polars as pl

    from mensura.evidence import Evidence

T = TypeVar("T")
ScoresFile = Annotated[
    Path | None,
    typer.Argument(
        help="CSV with model (or subject), benchmark, score in [0, 1] and release_date (or released); "
        "the embedded evidence if absent.",
        callback=check_input,
    ),
]
ModelDates = Annotated[
    Path | None,
    typer.Option(
        "--models",
        help="CSV with subject and released, where the scores have no dates.",
        metavar="CSV",
        callback=check_input,
    ),
]


def once_per_evidence(
    name: str,
    scores: Path | None,
    load: Callable[[], Evidence],
    settings: Mapping[str, object],
    compute: Callable[[Evidence | Path], T],
) -> T:
    """Return what a command computes of a file of scores or of the evidence; of the evidence it is kept."""
    if scores is not None:
        return compute(scores)
    loaded = load()
    return keep(name, loaded, settings, lambda: compute(loaded))


def read_dated_scores(
    scores: Path | None,
    models: Path | None,
    load: Callable[[], Evidence],
    *,
    undated: bool = False,
    unit: str | None = None,
) -> pl.DataFrame:
    """Read scores with a release date for every subject, from a file or from the evidence; ``undated`` may stay so."""
    data = load() if scores is None else scores
    return dated_scores(data, models, unit, undated=undated)


def dated_scores(
    data: Evidence | Path, models: Path | None, unit: str | None = None, *, undated: bool = False
) -> pl.DataFrame:
    """Return scores of an evidence or a file, with the release date of every subject."""
    from mensura.intake.own_scores import read_own_scores
    from mensura.intake.tables import read_table
    from mensura.stitching import evidence_scores, read_scores
    from mensura.trends import add_dates
    from mensura.trends.capabilities import read_dates

    if not isinstance(data, Path):
        return evidence_scores(data)[0]
    table = read_scores(read_own_scores(data, unit=unit))
    if models is not None:
        return add_dates(table.drop("released", "release_date", strict=False), read_table(models))
    return table if undated and "released" in table.columns else read_dates(table, name=str(data))
