"""Embedded runs and times, and minutes that people would need: estimates corrected by what those times taught.

Bias and error of estimates are learned on whole suites whose professionals were timed; a suite shares its bias, so a
new suite keeps that doubt until anchors (measured minutes of some items) remove it.
"""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import read_csv
from mensura.horizon.kinds import ESTIMATE, MEASURED, MODEL
from mensura.horizon.lengths import fit_lengths
from mensura.horizon.reading import read_times

DATA = Path(__file__).parent / "data"
_NEW = "\0new"
_ESTIMATORS = (MODEL, ESTIMATE)


SECURITY = "security"
"""The domain of the embedded runs."""


class EmbeddedRuns(NamedTuple):
    """Security runs and times, release dates of systems, and horizons that were derived in two other domains.

    ``published``: the study's own horizons. ``models``: name, maker and, where one is in the evidence, the model of
    each system.
    """

    runs: pl.DataFrame
    times: list[pl.DataFrame]
    systems: pl.DataFrame
    derived: pl.DataFrame
    published: pl.DataFrame
    models: pl.DataFrame


def load_runs() -> EmbeddedRuns:
    """Load the embedded runs, times, release dates and derived horizons.

    Returns
    -------
    EmbeddedRuns
        ``runs`` and ``times`` of five security suites, ``systems`` with dates, ``derived`` horizons by domain; and
        ``published`` and ``models`` for pages.

    Examples
    --------
    >>> from mensura.horizon import load_runs
    >>> load_runs().runs["suite"].n_unique()
    5

    """
    kept = {"task": pl.String}
    runs = read_csv(DATA / "runs.csv", schema_overrides=kept)
    times = [read_csv(DATA / f"{name}.csv", schema_overrides=kept) for name in ("times", "attempts")]
    systems = read_csv(DATA / "systems.csv", try_parse_dates=True)
    others = (read_csv(DATA / f"{name}.csv", schema_overrides=kept) for name in ("derived", "published", "models"))
    return EmbeddedRuns(runs, times, systems, *others)


def estimate_minutes(
    estimates: Any, anchors: Any = None, *, kind: str = MODEL, reference: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Estimate the minutes that a professional needs for each item.

    Parameters
    ----------
    estimates : table or path
        item (or task) and minutes, and estimator where several judged.
    anchors : table or path, optional
        item and minutes that people needed, for some items.
    kind : {"language model", "expert estimate"}
        Who estimated.
    reference : DataFrame, optional
        suite, task, kind, minutes of suites with both times; the embedded security suites by default.

    Returns
    -------
    DataFrame
        item, minutes, minutes_low, minutes_high (90%, the time of one professional) and status.

    Raises
    ------
    MensuraError
        If a time is not above 0, or an anchor has no estimate.

    Examples
    --------
    >>> from mensura.horizon import estimate_minutes
    >>> table = estimate_minutes({"item": ["a", "b"], "minutes": [1.0, 30.0]})
    >>> bool(table["minutes"][0] < table["minutes"][1] < table["minutes_high"][1])
    True

    """
    check_choice("kind", kind, _ESTIMATORS)
    judged = _as_times(estimates, kind)
    measured = judged.head(0) if anchors is None else _as_times(anchors, MEASURED)
    lost = measured.join(judged, on="task", how="anti")
    if lost.height:
        raise MensuraError(f"anchors: item {lost['task'][0]!r} has no estimate; expected items of the estimates")
    learned = read_times(read_csv(DATA / "estimates.csv") if reference is None else reference, [])[0]
    times = pl.concat([learned.with_columns(people=pl.lit(1.0)), judged, measured], how="diagonal_relaxed")
    lengths = fit_lengths(times, times.select("suite", "task").unique(maintain_order=True))
    table = lengths.intervals("minutes_low", "minutes_high", lengths.person)
    table = table.filter(pl.col("suite") == _NEW).rename({"task": "item"}).drop("suite")
    is_anchor = pl.col("item").is_in(measured["task"].to_list())
    tied = pl.lit("estimated, with anchors" if measured.height else "estimated")
    return table.with_columns(status=pl.when(is_anchor).then(pl.lit("measured")).otherwise(tied))


def _as_times(table: Any, kind: str) -> pl.DataFrame:
    """Return a table of items and minutes as times of one kind, in a suite of their own."""
    return read_times(table, [])[0].with_columns(suite=pl.lit(_NEW), kind=pl.lit(kind), how=pl.lit(kind))
