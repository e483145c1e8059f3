"""The read-only interface for programs: JSON files under ``api/v1`` and the schema they follow."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from mensura.iq import COUNTS

VERSION = "v1"

_RANGED = {
    "type": ["object", "null"],
    "properties": {key: {"type": ["number", "null"]} for key in ("value", "low", "high")},
    "required": ["value", "low", "high"],
}
_NUMBER = {"type": ["number", "null"]}
_TEXT = {"type": "string"}


def _listing(name: str, properties: Mapping[str, object]) -> dict[str, object]:
    item = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "object",
        "properties": {"version": {"const": VERSION}, name: {"type": "array", "items": item}},
        "required": ["version", name],
    }


_CHANCE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_COUNTED = {name: {"type": "integer", "minimum": 0} for name in COUNTS}
SCHEMAS: dict[str, dict[str, Any]] = {
    "models": _listing(
        "models",
        {
            "subject": _TEXT,
            "name": _TEXT,
            "provider": _TEXT,
            "released": {"type": "string", "format": "date"},
            "iq": _RANGED,
            "own_iq": _NUMBER,
            "rank": {"type": ["integer", "null"], "minimum": 1},
            "p_first": _CHANCE,
            "well_measured": {"type": ["boolean", "null"]},
            **_COUNTED,
            "scored_dimensions": {"type": ["integer", "null"], "minimum": 0, "maximum": 7},
            "status": _TEXT,
            "capability": _RANGED,
            "eq": _NUMBER,
            "sticker_price": _NUMBER,
            "effective_cost": _NUMBER,
            "task_efficiency": _NUMBER,
            "response_time": _NUMBER,
            "dimensions": {"type": "array"},
        },
    ),
    "rankings": _listing(
        "rankings",
        {
            "rank": {"type": "integer", "minimum": 1},
            "rank_low": {"type": "integer", "minimum": 1},
            "rank_high": {"type": "integer", "minimum": 1},
            "subject": _TEXT,
            "iq": _RANGED,
            "p_first": _CHANCE,
            "well_measured": {"type": "boolean"},
            **_COUNTED,
            "status": _TEXT,
        },
    ),
    "benchmarks": _listing(
        "benchmarks",
        {
            "benchmark": _TEXT,
            "name": _TEXT,
            "dimension": {"type": ["string", "null"]},
            "unit": _TEXT,
            "models": {"type": "integer", "minimum": 0},
            "difficulty": _NUMBER,
            "slope": _NUMBER,
            "ladder": {"type": ["object", "null"]},
            "human_references": {"type": "array"},
        },
    ),
    "months": _listing(
        "months",
        {
            "month": _TEXT,
            "ranked": {"type": "integer", "minimum": 1},
            "leader": _TEXT,
            "p_first": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}},
        },
    ),
    "methodology": _listing(
        "parts", {"id": _TEXT, "title": _TEXT, "text": {"type": "array"}, "rules": {"type": "array"}}
    ),
    "chart": {
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "name": _TEXT,
            "title": _TEXT,
            "caption": _TEXT,
            "points": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["version", "name", "title", "caption", "points"],
    },
}
"""JSON Schema of each file; every chart file follows ``chart``. Published as ``api/v1/schema.json``."""


def listing(name: str, rows: Iterable[Mapping[str, object] | JsonText], scale: str = "") -> str:
    """Return the JSON text of a listing file, rows in the order of the schema; ``scale`` says on which they stand."""
    head = to_json({"version": VERSION, **({"scale": scale} if scale else {})})
    listed = ",".join(row if isinstance(row, JsonText) else to_json(row) for row in rows)
    return f"{head[:-1]},{to_json(name)}:[{listed}]}}"


def ranged(value: float | None, low: float | None, high: float | None) -> dict[str, float | None] | None:
    """Return a value with its interval, or nothing when there is no value."""
    return None if value is None else {"value": value, "low": low, "high": high}


class JsonText(str):
    """JSON that is a text already, so that what two files hold is written once."""

    __slots__ = ()


def to_json(payload: object) -> JsonText:
    """Return compact JSON: dates as text, numbers to six digits, nothing that is not finite."""
    return JsonText(json.dumps(_plain(payload), ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def mapping_json(parts: Mapping[str, JsonText]) -> JsonText:
    """Return an object as JSON whose values are texts already."""
    return JsonText("{" + ",".join(f"{to_json(key)}:{part}" for key, part in parts.items()) + "}")


def script_json(payload: object) -> str:
    """Return JSON as an expression for a script.

    Read by JSON.parse, a key such as ``__proto__`` is a key like any other (a literal would take it for the prototype),
    and large data are read faster than as a literal.
    """
    text: str = payload if isinstance(payload, JsonText) else to_json(payload)
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"JSON.parse('{text}')"


_AS_THEY_ARE = frozenset((str, int, bool, type(None)))


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return a value as JSON has it; the usual types are told at once, for a large report has millions of them."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is float or isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if kind is dict or isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if kind is list or isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return value
