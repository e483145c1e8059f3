"""Answers that need every instrument: where a model stands, how several compare, and why a number is what it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.iq import Explanation
from mensura.serve.agents.answers import (
    ChanceFound,
    Comparison,
    Detail,
    DimensionFound,
    Explained,
    ModelFound,
    Quantity,
    ScoreFound,
    SharedTest,
)
from mensura.serve.agents.library import Library

LEAST_COMPARED, MOST_COMPARED = 2, 5
_OF_IQ = "90%: the composite that full measurement would give"
_OF_RANK = "90%: rank among the models measured enough"
_OF_CAPABILITY = "90%: position on the stitched scale"
_PRICES = ("input_price", "output_price", "sticker_price", "effective_cost")
_SOURCED = "source"  # status of a benchmark on which the model has a score of its own
_OURS = "Mensura, from the scores listed"


def look_up_model(library: Library, written: str, detail: Detail) -> ModelFound:
    """Return where a model stands; with detail full also every score of it."""
    subject = library.subject(written)
    scores = library.scores_of(subject) if detail == "full" else []
    return _model(library, subject).model_copy(update={"scores": scores})


def compare(library: Library, written: list[str], detail: Detail) -> Comparison:
    """Return models and groups of people side by side, with how surely one stands above the other."""
    if not LEAST_COMPARED <= len(set(written)) <= MOST_COMPARED:
        raise MensuraError(f"names: got {len(set(written))}; give {LEAST_COMPARED} to {MOST_COMPARED} different ones")
    models, groups = _sorted_out(library, written)
    taken = [{row.benchmark: row for row in library.scores_of(one) if row.primary} for one in models]
    taken += [{row.benchmark: row for row in library.people_scores(group=one)} for one in groups]
    counts = Counter(benchmark for scores in taken for benchmark in scores)
    shared = [row for scores in taken for name, row in scores.items() if counts[name] > 1]
    short: dict[str, object] = {} if detail == "full" else {"dimensions": [], "prices": {}}
    return Comparison(
        models=[_model(library, one).model_copy(update=short) for one in models],
        shared=_shared_tests(shared),
        sources=sorted(shared, key=lambda row: (row.benchmark, row.who)) if detail == "full" else [],
        chances=[*_above_models(library, models), *_above_people(library, models, groups, taken)],
    )


def _shared_tests(rows: list[ScoreFound]) -> list[SharedTest]:
    tests: dict[str, list[ScoreFound]] = {}
    for row in rows:
        tests.setdefault(row.benchmark, []).append(row)
    return [
        SharedTest(
            benchmark=benchmark,
            unit=taken[0].unit,
            scores={row.who: row.score.value for row in taken},
            judged=[row.who for row in taken if row.score.status == "judged"],
        )
        for benchmark, taken in sorted(tests.items())
    ]


def explain(library: Library, written: str, part: str | None, detail: Detail) -> Explained:
    """Return how a model's IQ came about, whole or for one dimension or benchmark; brief stops below its parts."""
    subject = library.subject(written)
    tree = library.study.iq.explain(subject)
    sources = {row.benchmark: row.score.source for row in library.scores_of(subject) if row.primary}
    deep = None if detail == "full" else 1
    if part is None:
        return _explained(tree, sources, deep)
    wanted = {part.casefold(), _benchmark_or_nothing(library, part)}
    found = _find(tree, wanted)
    if found is None:
        parts = [node.label for node in tree.parts]
        raise MensuraError(
            f"part: {part!r} is no dimension or benchmark of this IQ; expected one of {', '.join(parts)}"
        )
    return _explained(found, sources, deep)


def _model(library: Library, subject: str) -> ModelFound:
    study = library.study
    row = study.models.row(by_predicate=pl.col("subject") == subject, named=True)
    own = study.dimensions.filter(subject=subject)
    return ModelFound(
        subject=subject,
        name=row["name"],
        provider=row["provider"],
        released=row["released"],
        iq=_quantity(row, "iq", _OF_IQ, row["status"] or "Unranked"),
        rank=_quantity(row, "rank", _OF_RANK, row["status"] or "Unranked"),
        chance_of_being_first=row["p_first"],
        capability=_quantity(row, "capability", _OF_CAPABILITY, "estimated from every score"),
        emotional=Quantity(value=row["eq"], status="measured" if row["eq"] is not None else "missing", source=_OURS),
        measured=row["measured"] or 0,
        estimated=row["estimated"] or 0,
        dimensions=[_dimension(library, one) for one in own.iter_rows(named=True)],
        prices={
            name: Quantity(value=row[name], status="derived" if name == "effective_cost" else "listed", source=source)
            for name in _PRICES
            if (source := library.source(row["source"])) and row[name] is not None
        },
    )


def _quantity(row: dict[str, Any], name: str, interval: str, status: str) -> Quantity:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if value is None:
        return Quantity(value=None, status="too little measured", source=_OURS)
    return Quantity(value=value, low=low, high=high, interval=interval, status=status, source=_OURS)


def _dimension(library: Library, row: dict[str, Any]) -> DimensionFound:
    value = Quantity(
        value=row["iq"],
        low=row["low"],
        high=row["high"],
        interval="90%: the dimension under full measurement",
        status=row["status"],
        source=_OURS,
    )
    return DimensionFound(dimension=library.study.dimension_names[row["dimension"]], iq=value)


def _sorted_out(library: Library, written: list[str]) -> tuple[list[str], list[str]]:
    """Return which names are models and which are groups; a name that is neither is refused as a model."""
    models, groups = [], []
    for name in dict.fromkeys(written):
        if name.startswith("People: ") or name in library.groups:
            groups.append(library.group(name))
        else:
            models.append(library.subject(name))
    return models, groups


def _above_models(library: Library, models: list[str]) -> list[ChanceFound]:
    drawn = library.study.iq.drawn
    known = [one for one in models if one in drawn.subjects and _has_iq(library, one)]
    return [
        ChanceFound(
            first=first,
            second=second,
            on="IQ",
            chance_first_above=Quantity(value=drawn.ahead(first, second), status="estimated", source=_OURS),
        )
        for first, second in combinations(known, 2)
    ]


def _has_iq(library: Library, subject: str) -> bool:
    return library.study.models.filter(subject=subject)["iq"].item() is not None


def _above_people(
    library: Library, models: list[str], groups: list[str], taken: list[dict[str, ScoreFound]]
) -> list[ChanceFound]:
    """Chances on tests that a model and a group both took, where people's scores speak of people."""
    people, found = library.study.people, []
    for at, model in enumerate(models):
        for place, group in enumerate(groups, len(models)):
            for benchmark in taken[at].keys() & taken[place].keys():
                if people.tests.filter(benchmark=benchmark, group=group).is_empty():
                    continue
                chance = people.beats(model, group, benchmark)
                value = Quantity(value=chance, status="estimated", source=_OURS)
                found.append(
                    ChanceFound(first=model, second=f"People: {group}", on=benchmark, chance_first_above=value)
                )
    return sorted(found, key=lambda one: (one.first, one.second, one.on))


def _benchmark_or_nothing(library: Library, written: str) -> str:
    try:
        return library.benchmark(written).casefold()
    except MensuraError:
        return written.casefold()


def _find(node: Explanation, wanted: set[str]) -> Explanation | None:
    if node.label.casefold() in wanted:
        return node
    return next((found for part in node.parts if (found := _find(part, wanted)) is not None), None)


def _explained(node: Explanation, sources: Mapping[str, str], deep: int | None) -> Explained:
    """Return a node with its parts, so many levels deep; one that rests on a score names the source of that."""
    value = Quantity(
        value=node.iq,
        low=node.low,
        high=node.high,
        interval="90%" if node.low is not None else "",
        status=node.status,
        source=sources.get(node.label, _OURS) if node.status == _SOURCED else _OURS,
    )
    if deep == 0:
        return Explained(label=node.label, iq=value, note=node.note, more_parts=len(node.parts))
    parts = [_explained(part, sources, None if deep is None else deep - 1) for part in node.parts]
    return Explained(label=node.label, iq=value, note=node.note, parts=parts)
