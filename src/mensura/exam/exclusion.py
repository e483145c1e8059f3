"""Leave people out by the rules that the exam states, and log each."""

from __future__ import annotations

import polars as pl

from mensura.exam.settings import ExclusionRules

_SCHEMA = {"subject": pl.String, "rule": pl.String, "value": pl.Float64, "limit": pl.Float64}


def exclude(takers: pl.DataFrame, rules: ExclusionRules) -> pl.DataFrame:
    """Return subject, rule, value and limit for every rule that a person breaks; a person may break several."""
    rows = []
    for row in takers.to_dicts():
        share = row["answered"] / max(1, row["items"])
        seconds = row["seconds"]
        broken = [
            ("answered too few items", share, rules.least_answered, share < rules.least_answered),
            (
                "answered too fast",
                seconds,
                rules.fastest_seconds,
                seconds is not None and seconds < rules.fastest_seconds,
            ),
            (
                "failed attention checks",
                float(row["failed_checks"]),
                float(rules.most_failed_checks),
                row["failed_checks"] > rules.most_failed_checks,
            ),
        ]
        rows += [(row["subject"], rule, value, limit) for rule, value, limit, hit in broken if hit]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
