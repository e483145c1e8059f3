"""Evidence of a few models, for tests that need a whole one and no particular models: computing is quick."""

from dataclasses import replace

import polars as pl

import mensura


def of_models(count: int) -> mensura.Evidence:
    """The embedded evidence of the best-measured models alone."""
    evidence = mensura.load()
    counted = evidence.primary_scores.group_by("subject").len().sort("len", "subject", descending=True)
    return of_named(*counted.head(count)["subject"])


def of_named(*kept: str) -> mensura.Evidence:
    """The embedded evidence of these models alone."""
    evidence = mensura.load()
    tables = {name: table for name, table in evidence.tables().items() if "subject" in table.columns}
    fewer = {name: getattr(evidence, name).filter(pl.col("subject").is_in(kept)) for name in tables}
    there = {name: pl.when(pl.col(name).is_in(kept)).then(pl.col(name)) for name in ("predecessor", "predecessor2")}
    return replace(evidence, **{**fewer, "models": fewer["models"].with_columns(**there)})
