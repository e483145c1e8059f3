"""Policy fields of a model as one row, and the update that changes them; the evidence holds them in two tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from mensura.errors import MensuraError
from mensura.evidence.evidence import Evidence, require_subject
from mensura.evidence.ledger.update import CellChange, Update
from mensura.evidence.schema import CHART_SETTINGS
from mensura.evidence.store import as_text

POLICY_FIELDS = {
    "publication": "policy",
    "type": "policy",
    "tier": "models",
    "line": "models",
    "generation": "policy",
    "display": "policy",
}
"""The fields that decide where a model is drawn, with the table that holds each."""
RULES = "chart_rules"


def policy_table(evidence: Evidence) -> pl.DataFrame:
    """Return one row per model: its name and every policy field; blank where the rules decide."""
    facts = evidence.models.select("subject", "name", "tier", "line")
    joined = facts.join(evidence.policy, on="subject", how="left", maintain_order="left")
    return joined.select("subject", "name", *POLICY_FIELDS, "reason")


def policy_changes(evidence: Evidence, subject: str, fields: Mapping[str, str | None], reason: str) -> Update:
    """Return the update that gives one model, or the rules, other values; a value of None makes a field blank."""
    if not reason.strip():
        raise MensuraError("reason: empty; say why, it is shown with the model")
    if subject == RULES:
        changes = _rule_changes(evidence, fields)
    else:
        subject = require_subject(evidence, subject)
        changes = _field_changes(evidence, subject, fields, reason.strip())
    if not changes:
        raise MensuraError(f"policy of {subject}: it says so already; nothing changes")
    return Update(title=f"policy of {subject}: {reason.strip()}", source="policy", changes=tuple(changes))


def _field_changes(evidence: Evidence, subject: str, fields: Mapping[str, str | None], reason: str) -> list[CellChange]:
    unknown = [name for name in fields if name not in POLICY_FIELDS]
    if unknown:
        raise MensuraError(f"policy: {', '.join(unknown)} is none of {', '.join(POLICY_FIELDS)}")
    rows = {
        name: next(as_text(frame.filter(pl.col("subject") == subject)).iter_rows(named=True), {})
        for name, frame in (("policy", evidence.policy), ("models", evidence.models))
    }
    changes = []
    for name, value in fields.items():
        table = POLICY_FIELDS[name]
        old, new = rows[table].get(name), (value or "").strip() or None
        if old != new:
            changes.append(CellChange(table, (subject,), name, old, new))
    touched = [change for change in changes if change.table == "policy"]
    left = {name: cell for name, cell in rows["policy"].items() if name in POLICY_FIELDS and cell is not None}
    for change in touched:
        left.pop(change.field, None)
    kept = any(change.new is not None for change in touched) or bool(left)
    said = rows["policy"].get("reason")
    wanted = reason if kept else None
    if touched and said != wanted:
        changes.append(CellChange("policy", (subject,), "reason", said, wanted))
    return changes


def _rule_changes(evidence: Evidence, fields: Mapping[str, str | None]) -> list[CellChange]:
    held = dict(evidence.chart_rules.select("setting", "value").iter_rows())
    unknown = [name for name in fields if name not in CHART_SETTINGS]
    if unknown:
        raise MensuraError(f"chart_rules: {', '.join(unknown)} is none of {', '.join(CHART_SETTINGS)}")
    return [
        CellChange(RULES, (name,), "value", held[name], (value or "").strip() or None)
        for name, value in fields.items()
        if held[name] != (value or "").strip()
    ]
