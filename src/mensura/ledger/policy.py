"""Policy fields of a model as one row, and the update that changes them; the evidence holds them in two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence.evidence import Evidence
from mensura.evidence.schema import CHART_SETTINGS
from mensura.evidence.store import Cells
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


# Reading a TOML file that somebody wrote: each value is asked for by its kind, and what is wrong is named.

_LONGEST = 2000  # characters of one text


class TomlPart:
    """A table of a TOML file that is asked for its values one by one; what is wrong is named."""

    def __init__(self, found: Mapping[str, Any], name: str) -> None:
        self.found, self.name = found, name

    def only(self, *allowed: str) -> None:
        """Refuse keys that nobody asks for."""
        for key in self.found:
            if key not in allowed:
                raise MensuraError(
                    f"{self.name}: unknown {key[:80]!r}; expected some of {', '.join(allowed) or 'none'}"
                )

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text on one line; without a default it must be there."""
        value = self.found.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a text")
        if len(value) > _LONGEST or not (value.isprintable() or key == "about"):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected one line of {_LONGEST:,} at most")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, empty where it is not there."""
        values = self.found.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
            raise MensuraError(f"{self.name}: {key} is {_short(values)}; expected a list of texts")
        return tuple(values)

    def number(self, key: str) -> float:
        """Return a number."""
        value = self.found.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value or abs(value) > 2.0**53:
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a number")
        return float(value)

    def one_of(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return one of the words allowed."""
        value = self.text(key, default)
        if value not in allowed:
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected one of {', '.join(allowed)}")
        return value

    def pairs(self, key: str) -> dict[str, str]:
        """Return a table of texts by text."""
        part = self.table(key)
        return {name: part.text(name) for name in part.found}

    def table(self, key: str) -> TomlPart:
        """Return a table within this one, empty where it is not there."""
        value = self.found.get(key, {})
        if not isinstance(value, dict):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a table [{key}]")
        return TomlPart(value, f"{self.name}, [{key}]")

    def rows(self, key: str) -> list[TomlPart]:
        """Return the tables of a list, empty where it is not there."""
        values = self.found.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise MensuraError(f"{self.name}: {key} is {_short(values)}; expected tables [[{key}]]")
        return [TomlPart(value, f"{self.name}, [[{key}]] {place}") for place, value in enumerate(values, start=1)]


def _short(value: object) -> str:
    return repr(value)[:80]
