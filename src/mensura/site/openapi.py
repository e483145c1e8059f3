"""The OpenAPI document of the interface for programs, made from the schemas the files follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mensura import __version__
from mensura.site.api import SCHEMAS, VERSION

_ABOUT = {
    "models": "Every model: facts, IQ and capability with intervals, prices, dimensions.",
    "rankings": "The ranked models, best first, with the interval of their rank.",
    "benchmarks": "Every benchmark: difficulty, slope, ladder, and the people who took it.",
    "months": "Who led in each month since 2022 among the models out by then, with the chances of being first.",
    "methodology": "Every rule with its formula and source.",
}
_HEADERS = {
    "ETag": {"description": "Name of this content: send it back as If-None-Match.", "schema": {"type": "string"}},
    "Mensura-Evidence": {
        "description": "Version of the evidence behind the answer (live site only).",
        "schema": {"type": "string"},
    },
}
_SENTENCE = {"text/plain": {"schema": {"type": "string"}}}
_REFUSALS = {
    "404": {"description": "There is no such file.", "content": _SENTENCE},
    "503": {"description": "The files are being built; Retry-After says when to come back.", "content": _SENTENCE},
}


def openapi_document(charts: Sequence[str]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of every file under ``api/v1``, given the names of the charts."""
    paths = {f"/api/{VERSION}/{name}.json": _reading(about, _component(name)) for name, about in _ABOUT.items()}
    paths[f"/api/{VERSION}/schema.json"] = _reading("JSON Schema of every file.", {"type": "object"})
    paths[f"/api/{VERSION}/openapi.json"] = _reading("This document.", {"type": "object"})
    if charts:
        paths[f"/api/{VERSION}/charts/{{name}}.json"] = {
            **_reading("The points of one chart.", _component("chart")),
            "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"enum": list(charts)}}],
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Mensura",
            "version": __version__,
            "description": "AI models, benchmarks and people on human-anchored scales. Read-only; no key is needed.",
        },
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }


def _component(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _reading(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    answers = {
        "200": {"description": about, "headers": _HEADERS, "content": {"application/json": {"schema": schema}}},
        "304": {"description": "Unchanged since the answer named in If-None-Match."},
        **_REFUSALS,
    }
    return {"get": {"summary": about, "responses": answers}}
