"""What two versions of the evidence differ in, cell by cell."""

from __future__ import annotations

import polars as pl

from mensura.evidence.evidence import Evidence
from mensura.evidence.schema import TABLES
from mensura.evidence.store import as_text


def evidence_changes(before: Evidence, after: Evidence) -> pl.DataFrame:
    """Return one row per cell that differs: table, row (its key), field, old, new; blank cells are null."""
    return pl.concat([_changed(name, before, after) for name in TABLES])


def _changed(name: str, before: Evidence, after: Evidence) -> pl.DataFrame:
    old, new = (_long(name, evidence) for evidence in (before, after))
    joined = old.join(new, on=["row", "field"], how="full", coalesce=True, maintain_order="left_right", suffix="_new")
    changed = joined.filter(pl.col("cell").ne_missing(pl.col("cell_new")))
    return changed.select(table=pl.lit(name), row="row", field="field", old="cell", new="cell_new")


def _long(name: str, evidence: Evidence) -> pl.DataFrame:
    """Return a table as one row per cell that is not blank, its key joined to one text."""
    key = list(TABLES[name].key)
    frame = as_text(evidence.tables()[name])
    cells = frame.with_columns(row=pl.concat_str([pl.col(part).fill_null("") for part in key], separator=" · "))
    fields = [column.name for column in TABLES[name].columns if column.name not in key]
    return cells.unpivot(fields, index="row", variable_name="field", value_name="cell").drop_nulls("cell")
