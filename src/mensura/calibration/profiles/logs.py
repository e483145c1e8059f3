"""Outcomes as a profile takes them: from tables, or from evaluation logs sample by sample."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence.samples import is_sample_log, read_samples
from mensura.intake.tables import read_table

_COLUMNS = {"subject": pl.String, "item": pl.String, "correct": pl.Float64}


def read_outcomes(path: str | Path, *, subject: str | None = None) -> pl.DataFrame:
    """Return subject, item, correct of a table (CSV, Parquet), or an evaluation log.

    ``subject`` names whose samples a harness file holds; by default the folder it lies in, as the harness writes it.
    """
    path = Path(path)
    if not is_sample_log(path):
        return read_table(path)
    found = read_samples(path, subject=subject)
    rows = [(sample.subject, sample.item, sample.value) for sample in found if sample.value is not None]
    if not rows:
        raise MensuraError(f"{path}: no sample with an outcome; check that the evaluation was scored")
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def match_items(outcomes: pl.DataFrame, items: pl.Series) -> pl.DataFrame:
    """Return outcomes whose TASK:ID is shortened to ID, where the demands know none of the long ids but short ones."""
    if (
        "item" not in outcomes.columns
        or outcomes.schema["item"] != pl.String
        or outcomes["item"].is_in(items.implode()).any()
    ):
        return outcomes
    short = outcomes["item"].str.split_exact(":", 1).struct.field("field_1")
    if short.null_count() or not short.is_in(items.implode()).any():
        return outcomes
    if outcomes["item"].str.split_exact(":", 1).struct.field("field_0").n_unique() > 1:
        raise MensuraError("outcomes: several tasks, but the demands name items by id alone; name them TASK:ID there")
    return outcomes.with_columns(item=short)
