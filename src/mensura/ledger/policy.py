"""Policy fields of a model as one row, and the update that changes them; the evidence holds them in two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence.edition import Cells
from mensura.evidence.evidence import Evidence
from mensura.evidence.schema import CHART_SETTINGS
from mensura.intake.names import KnownNames
from mensura.ledger.update import CellChange, Update

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
_LONGEST_REASON = 180


def policy_table(evidence: Evidence) -> pl.DataFrame:
    """Return one row per model: its name and every policy field; blank where the rules decide."""
    facts = evidence.models.select("subject", "name", "tier", "line")
    joined = facts.join(evidence.policy, on="subject", how="left", maintain_order="left")
    return joined.select("subject", "name", *POLICY_FIELDS, "reason")


def policy_changes(cells: Cells, subject: str, fields: Mapping[str, str | None], reason: str) -> Update:
    """Return the update that gives one model, or the rules, other values; a value of None makes a field blank."""
    if not 0 < len(reason.strip()) <= _LONGEST_REASON or not reason.isprintable():
        raise MensuraError(
            f"reason: empty, or no line of at most {_LONGEST_REASON}; say why, it is shown with the model"
        )
    wanted = {name: (value or "").strip() or None for name, value in fields.items()}
    if subject == RULES:
        changes = _rule_changes(cells, wanted)
    else:
        found = KnownNames((key[0], row.get("name", "")) for key, row in cells["models"].items()).match(subject)
        if found.id is None:
            raise MensuraError(
                f"model: {subject!r} is not in the evidence; "
                + (
                    f"did you mean {', '.join(found.near)}?"
                    if found.near
                    else "run mensura evidence models to list them"
                )
            )
        subject = found.id
        changes = _field_changes(cells, subject, wanted, reason.strip())
    if not changes:
        raise MensuraError(f"policy of {subject}: the policy already has these values; give another value")
    return Update(title=f"policy of {subject}: {reason.strip()}", source="policy", changes=tuple(changes))


def _field_changes(cells: Cells, subject: str, wanted: Mapping[str, str | None], reason: str) -> list[CellChange]:
    _refuse_unknown(wanted, tuple(POLICY_FIELDS))
    changes = []
    for name, value in wanted.items():
        old = cells[POLICY_FIELDS[name]].get((subject,), {}).get(name)
        if old != value:
            changes.append(CellChange(POLICY_FIELDS[name], (subject,), name, old, value))
    row = dict(cells["policy"].get((subject,), {}))
    said = row.pop("reason", None)
    touched = {change.field: change.new for change in changes if change.table == "policy"}
    left = [cell for cell in {**row, **touched}.values() if cell is not None]
    because = reason if left else None
    if touched and said != because:
        changes.append(CellChange("policy", (subject,), "reason", said, because))
    return changes


def _rule_changes(cells: Cells, wanted: Mapping[str, str | None]) -> list[CellChange]:
    _refuse_unknown(wanted, CHART_SETTINGS)
    held = {name: cells[RULES].get((name,), {}).get("value") for name in wanted}
    return [CellChange(RULES, (name,), "value", held[name], new) for name, new in wanted.items() if held[name] != new]


def _refuse_unknown(wanted: Mapping[str, str | None], allowed: Sequence[str]) -> None:
    unknown = [name for name in wanted if name not in allowed]
    if unknown:
        raise MensuraError(f"policy: got {', '.join(unknown)}; expected some of {', '.join(allowed)}")
