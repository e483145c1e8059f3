"""What cards, the compare page and the interface for programs say about each model and group of people."""

from __future__ import annotations

from typing import Any

import polars as pl

from mensura.evidence import slug
from mensura.iq import COUNTS
from mensura.site.api import ranged
from mensura.site.study import Study

_PLAIN = ("eq", "input_price", "output_price", "sticker_price", "effective_cost", "task_efficiency", "response_time")


def model_records(study: Study) -> dict[str, dict[str, Any]]:
    """Return one record per model, keyed by subject, best IQ first."""
    dimensions = _dimension_records(study)
    return {
        row["subject"]: {
            "subject": row["subject"],
            "page": slug(row["subject"]),
            "name": row["name"],
            "provider": row["provider"],
            "released": row["released"],
            "iq": _iq(row, len(study.iq.matrix.benchmarks)),
            **{name: row[name] for name in COUNTS},
            "scored_dimensions": row["scored_dimensions"],
            "status": row["status"] or "Unranked",
            "capability": ranged(row["capability"], row["capability_low"], row["capability_high"]),
            **{name: row[name] for name in _PLAIN},
            "dimensions": dimensions.get(row["subject"], []),
        }
        for row in study.models.iter_rows(named=True)
    }


def group_records(study: Study) -> dict[str, dict[str, Any]]:
    """Return one record per group of people, keyed by group: where it stands on the stitched scale, and its scores."""
    placed = {row["group"]: row for row in study.groups.iter_rows(named=True)}
    records: dict[str, dict[str, Any]] = {}
    for row in study.evidence.human_references.filter(pl.col("status") != "constructed").iter_rows(named=True):
        record = records.setdefault(
            row["group"],
            {
                "page": f"people:{slug(row['group'])}",
                "name": f"People: {row['group']}",
                "provider": "",
                "iq": None,
                "scores": [],
            },
        )
        record["scores"].append([study.benchmark_names[row["benchmark"]], _shown(row["score"], row["unit"])])
        if row["group"] in placed:
            at = placed[row["group"]]
            record["capability"] = ranged(at["capability"], at["low"], at["high"])
    return records


def _iq(row: dict[str, Any], benchmarks: int) -> dict[str, Any] | None:
    value = ranged(row["iq"], row["iq_low"], row["iq_high"])
    if value is None:
        return None
    note = f"{row['measured']} of {benchmarks} benchmarks measured, {row['estimated']} estimated from them."
    if row["published"] is not None:
        note += f" By the published method {row['published']}."
    return {**value, "note": note}


def _dimension_records(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Dimensions in the method's order, each with its benchmarks as [name, score, IQ, status]."""
    benchmarks: dict[tuple[str, str], list[list[Any]]] = {}
    named = study.evidence.benchmarks.select("benchmark", title="name")
    for row in study.iq.trail.join(named, on="benchmark", maintain_order="left").iter_rows(named=True):
        score = None if row["score"] is None else _shown(row["score"], row["unit"])
        cell = [row["title"], score, round(row["iq"], 1), "measured" if row["status"] == "measured" else row["step"]]
        benchmarks.setdefault((row["subject"], row["dimension"]), []).append(cell)
    found = {(row["subject"], row["dimension"]): row for row in study.dimensions.iter_rows(named=True)}
    return {
        subject: [
            {
                "name": name,
                "iq": found[subject, key]["iq"],
                "low": found[subject, key]["low"],
                "high": found[subject, key]["high"],
                "status": found[subject, key]["shown"],
                "how": found[subject, key]["status"],
                "benchmarks": benchmarks.get((subject, key), []),
            }
            for key, name in study.dimension_names.items()
            if (subject, key) in found
        ]
        for subject in study.iq.dimensions["subject"].unique(maintain_order=True)
    }


def _shown(score: float, unit: str) -> str:
    """A score with its unit as people write it."""
    return {"percent": f"{score:.1f}%", "fraction": f"{score:.2f}", "elo": f"{score:.0f} Elo"}.get(unit, f"{score:.1f}")
