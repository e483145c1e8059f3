"""What cards, the picker, the compare page and the interface for programs say about each model and group of people."""

import base64
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.evidence import slug
from mensura.iq import COUNTS
from mensura.scale import iq_to_rate
from mensura.site.api import ranged
from mensura.site.cards import people_words
from mensura.site.texts import first_link
from mensura.study.headlines import short_name
from mensura.study.study import Study
from mensura.study.units import chance, rarity, say_day, show

_PLAIN = (
    *("eq", "input_price", "output_price", "sticker_price", "effective_cost", "task_efficiency", "response_time"),
    *("output_speed", "open_weights", "reasoning", "own_dimensions", "rank", "p_first", "well_measured", "lowered"),
)
_NO_CHANCE = 255
"""Stands for a pair of which one has no value."""


def model_records(study: Study) -> dict[str, dict[str, Any]]:
    """Return one record per model, keyed by subject, best IQ first."""
    dimensions, parts = _dimension_records(study), _eq_parts(study)
    return {
        row["subject"]: {
            "subject": row["subject"],
            "page": slug(row["subject"]),
            "name": row["name"],
            "provider": row["provider"],
            "released": row["released"],
            "iq": _iq(row, len(study.iq.matrix.benchmarks)),
            "rarity": None if row["exact_iq"] is None else rarity(1 / iq_to_rate(row["exact_iq"])),
            "eq_parts": parts.get(row["subject"], []),
            "own_iq": row["own_iq"],
            **{name: row[name] for name in COUNTS},
            "scored_dimensions": row["scored_dimensions"],
            "status": row["status"] or "Unranked",
            "capability": ranged(row["capability"], row["capability_low"], row["capability_high"]),
            **{name: row[name] for name in _PLAIN},
            "dimensions": dimensions.get(row["subject"], []),
        }
        for row in study.models.iter_rows(named=True)
    }


def _eq_parts(study: Study) -> dict[str, list[list[Any]]]:
    """Return the components of each EQ as [name, IQ-equivalent or nothing]."""
    table = study.iq.emotional
    tests = [name for name in table.columns if name in study.benchmark_names]
    return {
        row["subject"]: [[study.benchmark_names[test], row[test]] for test in tests]
        for row in table.iter_rows(named=True)
    }


def group_records(study: Study) -> dict[str, dict[str, Any]]:
    """Return one record per group of people, keyed by group: its scores, each with test, status and n."""
    records: dict[str, dict[str, Any]] = {}
    for row in study.people.tests.filter(pl.col("status") != "constructed").iter_rows(named=True):
        printed = study.rows.printed_people[row["benchmark"], row["group"]]
        record = records.setdefault(
            row["group"],
            {
                "page": f"people:{slug(row['group'])}",
                "provider": "",
                "words": f"{short_name(row['benchmark'], row['group'])} {people_words(row['benchmark'], row['group'])}",
                "scores": {},
            },
        )
        score = {"value": printed["score"], "text": show(printed["score"], printed["unit"])}
        score |= {key: printed[key] for key in ("low", "high")} | {"status": row["status"]}
        record["scores"][row["benchmark"]] = score | {key: printed[key] for key in ("n", "source")}
    for group, record in records.items():
        record["name"] = f"People: {group} ({_taken(record['scores'], study.benchmark_names)})"
    return records


def _taken(scores: dict[str, dict[str, Any]], names: dict[str, str]) -> str:
    """Say on which test a group's score stands and how it came about: no group is named without both."""
    if len(scores) > 1:
        return f"{len(scores)} tests"
    benchmark, score = next(iter(scores.items()))
    return f"{names[benchmark]}, {score['status']}"


def comparison_records(study: Study) -> dict[str, Any]:
    """Return what the compare page needs beside models and groups: benchmarks with their range, scores, and chances.

    ``beats``: benchmark → group → model → chance that the model scores above the group.
    """
    primary = study.evidence.primary_scores
    taken = set(primary["benchmark"])
    every = pl.concat(frame.select("benchmark", "score") for frame in (primary, study.evidence.human_references))
    span = {"low": pl.col("score").min(), "high": pl.col("score").max()}
    ends = every.group_by("benchmark").agg(**span).rows_by_key("benchmark", unique=True)
    spans = {"percent": (0.0, 100.0), "fraction": (0.0, 1.0)}  # the whole range of a share, what occurs of other units
    benchmarks = {}
    for key, name, unit in study.benchmarks.select("benchmark", "name", "unit").iter_rows():
        if key in taken:
            low, high = spans.get(unit, ends[key])
            benchmarks[key] = {"name": name, "unit": unit, "page": slug(key), "low": low, "high": high}
    scores: dict[str, dict[str, list[Any]]] = {}
    for row in primary.iter_rows(named=True):
        scores.setdefault(row["subject"], {})[row["benchmark"]] = [row["score"], show(row["score"], row["unit"])]
    beats: dict[str, dict[str, dict[str, str]]] = {}
    for (benchmark, group), chances in study.over_people.items():
        beats.setdefault(benchmark, {})[group] = {one: chance(value) for one, value in chances.items()}
    return {"benchmarks": benchmarks, "groups": group_records(study), "scores": scores, "beats": beats}


def chance_layers(study: Study) -> dict[str, Any]:
    """Return P(A above B) in percent for every pair of models, from all joint draws, packed.

    ``subjects`` in order; ``layers``: for the composite and each dimension the pairs (i < j, row by
    row) as bytes, 255 where one has no value.
    """
    drawn = study.iq.drawn
    names = ["composite", *study.iq.matrix.dimensions]
    draws = [drawn.composites, *np.moveaxis(drawn.dimensions, 2, 0)]
    return {
        "subjects": list(drawn.subjects),
        "layers": {
            name: base64.b64encode(_pairs(np.asarray(part))).decode("ascii")
            for name, part in zip(names, draws, strict=True)
        },
    }


def _pairs(draws: Floats) -> bytes:
    """Return P(i above j) in whole percent for i < j, row by row, from draws × models."""
    has_value = np.asarray(np.isfinite(draws).all(axis=0))
    values = np.where(has_value, draws, 0.0)
    order = values.argsort(axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    above = np.diff(ordered, axis=1, prepend=ordered[:, :1]) > 0
    ranks = np.empty(values.shape, dtype=np.uint16)  # small numbers are compared faster
    np.put_along_axis(ranks, order, above.cumsum(axis=1, dtype=np.uint16), axis=1)
    rows: list[Any] = []
    for model in range(values.shape[1]):
        others = slice(model + 1, None)
        above = (ranks[:, [model]] > ranks[:, others]).view(np.uint8)
        counts = np.zeros(above.shape[1])
        for start in range(0, len(draws), _NO_CHANCE):  # so few fit a byte, and bytes are added fastest
            counts += above[start : start + _NO_CHANCE].sum(axis=0, dtype=np.uint8)
        share = np.rint(100 * counts / len(draws))
        rows.append(np.where(has_value[model] & has_value[others], share, _NO_CHANCE).astype(np.uint8))
    return np.concatenate(rows).tobytes()


def score_rows(study: Study) -> dict[str, Any]:
    """Return every score in columns for the explorer: names by number, values as they are shown."""
    models, benchmarks = study.evidence.models, study.evidence.benchmarks
    order = {subject: place for place, subject in enumerate(models["subject"])}
    tests = {benchmark: place for place, benchmark in enumerate(benchmarks["benchmark"])}
    return {
        "models": [
            [name, slug(subject), *facts]
            for name, subject, *facts in models.select(
                "name", "subject", "provider", "released", "open_weights", "reasoning"
            ).iter_rows()
        ],
        "tests": [[name, slug(key), unit] for name, key, unit in benchmarks.select("name", "benchmark", "unit").rows()],
        "sources": {
            source: [say_day(name), first_link(url)]
            for source, name, url in study.evidence.sources.select("source", "name", "url").iter_rows()
        },
        "rows": [
            [order[subject], tests[benchmark], score, show(score, unit), int(primary), source, date]
            for subject, benchmark, score, unit, primary, source, date in study.evidence.scores.select(
                "subject", "benchmark", "score", "unit", "primary", "source", "date"
            ).iter_rows()
        ],
    }


def _iq(row: dict[str, Any], benchmarks: int) -> dict[str, Any] | None:
    value = ranged(row["iq"], row["iq_low"], row["iq_high"])
    if value is None:
        return None
    counted = f"{row['inherited']} inherited, {row['estimated']} estimated"
    note = f"{row['measured']} of {benchmarks} benchmarks measured, {counted}."
    if row["published"] is not None:
        note += f" By the published method {row['published']}."
    return {**value, "note": note}


def _dimension_records(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Dimensions in the method's order, each with its benchmarks as [name, score, IQ, status]."""
    benchmarks: dict[tuple[str, str], list[list[Any]]] = {}
    named = study.evidence.benchmarks.select("benchmark", title="name")
    for row in study.iq.trail.join(named, on="benchmark", maintain_order="left").iter_rows(named=True):
        score = None if row["score"] is None else show(row["score"], row["unit"])
        cell = [row["title"], score, round(row["iq"], 1), "measured" if row["status"] == "measured" else row["step"]]
        benchmarks.setdefault((row["subject"], row["dimension"]), []).append(cell)
    values = {(row["subject"], row["dimension"]): row for row in study.dimensions.iter_rows(named=True)}
    return {
        subject: [
            {"key": key, "name": name, "iq": value["iq"], "low": value["low"], "high": value["high"]}
            | {"status": value["shown"], "how": value["status"], "counts": [value[count] for count in COUNTS]}
            | {"benchmarks": benchmarks.get((subject, key), [])}
            for key, name in study.dimension_names.items()
            if (value := values.get((subject, key)))
        ]
        for subject in study.iq.dimensions["subject"].unique(maintain_order=True)
    }
