"""Tables that come with the package: training compute, time horizons and the estimates of the published fit."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from mensura.core.frames import read_csv

DATA = Path(__file__).parent / "data"


class PublishedFit(NamedTuple):
    """Estimates of the published stitched fit, in its unit.

    ``models``: subject, released, capability, source, for records and models with known compute or time horizon.
    ``benchmarks``: benchmark, difficulty, slope, low, high (bars of 5% more squared error), source.
    """

    models: pl.DataFrame
    benchmarks: pl.DataFrame


def load_compute() -> pl.DataFrame:
    """Return training compute as Epoch AI estimates it: subject, training_compute_flop, family, confidence, source.

    Subjects are those of the embedded evidence and of the published fit. Distilled models are left out.
    """
    return read_csv(DATA / "compute.csv")


def load_horizons() -> pl.DataFrame:
    """Return the time horizons of METR at 50% success: subject, minutes, low, high (95%), source."""
    return read_csv(DATA / "horizons.csv")


def load_published() -> PublishedFit:
    """Return the estimates of the published fit, which Mensura computed from the scores of Epoch AI."""
    models = read_csv(DATA / "published_models.csv").with_columns(pl.col("released").cast(pl.String).str.to_date())
    return PublishedFit(models, read_csv(DATA / "published_benchmarks.csv"))
