"""Which column is what: header variants people use, tidy tables and both kinds of wide ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mensura.core.errors import MensuraError
from mensura.evidence.intake.names import KnownNames

_VARIANTS = {
    "subject": "subject|model|model name|model id|model version|system|llm|model_name|name",
    "benchmark": "benchmark|task|dataset|test|eval|evaluation|benchmark name|benchmark id|task name",
    "score": "score|accuracy|acc|value|result|performance|pass rate|pass 1|percent correct|score value|mean",
}
OPTIONAL = {
    "unit": ("unit|units", "percent, fraction, elo, index or composite; the benchmark's own where it is clear"),
    "source": ("source|reference", "where the figure stands; user where empty"),
    "date": ("date|score date|evaluated", "day or month of the figure"),
    "note": ("note|notes|comment|remark", "variant or protocol"),
    "released": ("released|release date|release", "day of release; needed for a model that is new"),
    "provider": ("provider|organisation|organization|org|maker|developer|lab|company|vendor", "who offers a new model"),
    "display_name": ("display name", "what tables and pages call a new model"),
    "reasoning": ("reasoning|thinking", "yes where a new model thinks before it answers"),
    "tier": ("tier|provider tier", "a new model's place in its line: 0 flagship, below 0 smaller"),
    "line": ("line|model line|family", "the line of models a new one belongs to"),
    "open_weights": ("open weights|open|open source", "yes where a new model's weights are published"),
    "input_price": ("input price|price in", "US dollars per million tokens read"),
    "output_price": ("output price|price out", "US dollars per million tokens written"),
    "predecessor": ("predecessor", "id of the model that a new one follows"),
    "dimension": ("dimension", "IQ dimension of a benchmark that is new"),
    "kind": ("kind", "frontier, saturating, diagnostic or tracked; declares a benchmark that is new"),
}
"""Optional columns: the headers they go by, and what they say."""
_IGNORED = {"n", "rank", "index", "stderr", "std err", "se", "row", "id", "samples", "ci", "unnamed 0"}


@dataclass(frozen=True)
class Shape:
    """How a table holds its scores.

    ``columns``: place of each column that is known by its header. ``across``: places of the columns that stand for
    benchmarks (``wide``) or models (``turned``); empty in a tidy table. ``percent``: columns whose header says so.
    """

    kind: str
    columns: Mapping[str, int]
    across: tuple[int, ...]
    percent: frozenset[int]
    left_out: tuple[str, ...]


def find_shape(header: Sequence[str], models: KnownNames, benchmarks: KnownNames, *, name: str) -> Shape:
    """Say how a table holds its scores, or what is missing."""
    found, rest = _known_columns(header, name)
    percent = frozenset(place for place, title in enumerate(header) if _says_percent(title))
    ignored = tuple(header[place] for place in rest if _simple(header[place]) in _IGNORED or not header[place])
    across = tuple(place for place in rest if header[place] not in ignored)
    if {"subject", "benchmark", "score"} <= set(found):
        if across:
            _refuse_unknown([header[place] for place in across], name)
        return Shape("tidy", found, (), percent, ignored)
    if "score" not in found and across:
        if "subject" in found and "benchmark" not in found:
            return Shape("wide", found, across, percent, ignored)
        if "benchmark" in found and "subject" not in found:
            return Shape("turned", found, across, percent, ignored)
    if not found and len(header) > 1:
        first = _first_column(header, models, benchmarks)
        if first is not None:
            return first
    raise MensuraError(
        f"{name}: expected columns model, benchmark, score (one row per score), or model and one column per benchmark; "
        f"it has {', '.join(header) or 'none'}. Rename its columns"
    )


def _first_column(header: Sequence[str], models: KnownNames, benchmarks: KnownNames) -> Shape | None:
    """Read a wide table whose first column has no telling header, by what the other headers name."""
    places = tuple(range(1, len(header)))
    percent = frozenset(place for place, title in enumerate(header) if _says_percent(title))
    for kind, column, names in (("wide", "subject", benchmarks), ("turned", "benchmark", models)):
        if sum(names.match(bare_title(header[place])).id is not None for place in places) > len(places) / 2:
            return Shape(kind, {column: 0}, places, percent, ())
    return None


def _known_columns(header: Sequence[str], name: str) -> tuple[dict[str, int], list[int]]:
    variants = {target: text.split("|") for target, text in _VARIANTS.items()}
    variants |= {target: [target, *text.split("|")] for target, (text, _) in OPTIONAL.items()}
    targets = {_simple(variant): target for target, names in variants.items() for variant in names}
    found: dict[str, int] = {}
    rest = []
    for place, title in enumerate(header):
        target = targets.get(_simple(bare_title(title)))
        if target is None:
            rest.append(place)
        elif target in found:
            twins = f"{header[found[target]]!r} and {title!r}"
            raise MensuraError(f"{name}: columns {twins} both look like the {target}; rename or drop one")
        else:
            found[target] = place
    return found, rest


def rename_columns(header: Sequence[str], name: str) -> list[str]:
    """Return the header with known columns under the names they have in the evidence, the others as they are."""
    found, _ = _known_columns(header, name)
    known = {place: target for target, place in found.items()}
    return [known.get(place, title) for place, title in enumerate(header)]


def header_row(rows: Sequence[Sequence[str | None]]) -> int | None:
    """Return the place of the first row that reads like a header: a title above the table hides it."""
    names = {*_VARIANTS["subject"].split("|"), *_VARIANTS["benchmark"].split("|")}
    for place, row in enumerate(rows):
        titles = [_simple(bare_title(cell)) for cell in row if cell is not None]
        if len(titles) > 1 and names & set(titles):
            return place
    return None


def _refuse_unknown(titles: Sequence[str], name: str) -> None:
    known = ", ".join(OPTIONAL)
    raise MensuraError(
        f"{name}: unknown column {', '.join(map(repr, titles))}; rename or remove it (optional columns: {known})"
    )


def bare_title(title: str) -> str:
    """Return a header without what it says of units: ``Accuracy (%)`` is Accuracy."""
    return re.sub(r"[\s_]*[(\[]?\s*(?:%|percent|pct)\s*[)\]]?\s*$", "", title, flags=re.IGNORECASE).strip() or title


def _says_percent(title: str) -> bool:
    return bool(re.search(r"%|\bpercent\b|_percent$|\bpct\b", title, re.IGNORECASE))


def _simple(title: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))
