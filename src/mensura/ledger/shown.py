"""An update as people read it: tables of what changes, what was left out, what stands for nothing, what is proposed."""

from __future__ import annotations

import polars as pl

from mensura.ledger.update import Update


def update_tables(update: Update) -> dict[str, pl.DataFrame]:
    """Return an update as tables: changes, unmatched names, rows left out, proposals."""
    changes = [(c.table, " · ".join(c.row), c.field, c.old, c.new, c.line) for c in update.changes]
    unmatched = [(n.kind, n.name, ", ".join(map(str, n.lines)), ", ".join(n.near)) for n in update.unmatched]
    proposals = [
        (p.table, ", ".join(f"{k} = {v or '?'}" for k, v in p.row.items()), len(p.changes), p.accept)
        for p in update.proposals
    ]
    text = pl.String
    return {
        "changes": pl.DataFrame(
            changes,
            schema={**dict.fromkeys(("table", "row", "field", "old", "new"), text), "line": pl.Int64},
            orient="row",
        ),
        "unmatched": pl.DataFrame(
            unmatched, schema=dict.fromkeys(("kind", "name", "lines", "nearest"), text), orient="row"
        ),
        "skipped": pl.DataFrame(
            list(update.skipped), schema={"line": pl.Int64, "name": text, "reason": text}, orient="row"
        ),
        "proposals": pl.DataFrame(
            proposals, schema={"table": text, "row": text, "changes": pl.Int64, "accept": pl.Boolean}, orient="row"
        ),
    }
