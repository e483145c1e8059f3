"""The read-only interface for programs: JSON files under ``api/v1``, the schema they follow, their OpenAPI document."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from mensura import __version__

VERSION = "v1"
_DATA = Path(__file__).parent / "data"
SCHEMAS: dict[str, dict[str, Any]] = json.loads((_DATA / "schemas.json").read_text(encoding="utf-8"))
"""JSON Schema of each file; every chart file follows ``chart``. Published as ``api/v1/schema.json``."""
_CHARTS = f"/api/{VERSION}/charts/{{name}}.json"


def listing(name: str, rows: Iterable[Mapping[str, object] | JsonText], scale: str = "", **facts: object) -> str:
    """Return the JSON text of a listing file, rows in the order of the schema; ``scale`` says on which they stand."""
    head = to_json({"version": VERSION, **({"scale": scale} if scale else {}), **facts})
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
    """Return a value as JSON has it; the usual types come first, for a large report has millions of them."""
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


def openapi_document(charts: Sequence[str]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of every file under ``api/v1``, given the names of the charts."""
    document: dict[str, Any] = json.loads((_DATA / "openapi.json").read_text(encoding="utf-8"))
    document["info"]["version"], document["components"]["schemas"] = __version__, SCHEMAS
    document["paths"][_CHARTS]["parameters"][0]["schema"]["enum"] = list(charts)
    if not charts:
        del document["paths"][_CHARTS]
    return document
