"""Runs and times of security tasks that come with the package, and horizons of systems in two other domains."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from mensura.core.frames import read_csv
from mensura.horizon.minutes import DATA

SECURITY = "security"


class EmbeddedRuns(NamedTuple):
    """Security runs and times, release dates of systems by domain, and derived horizons of the other domains."""

    runs: pl.DataFrame
    times: list[pl.DataFrame]
    systems: pl.DataFrame
    derived: pl.DataFrame


def load_runs() -> EmbeddedRuns:
    """Load the embedded runs, times, release dates and derived horizons.

    Returns
    -------
    EmbeddedRuns
        ``runs`` and ``times`` of five security suites, ``systems`` with dates, ``derived`` horizons by domain.

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
    return EmbeddedRuns(runs, times, systems, read_csv(DATA / "derived.csv"))
