"""Profiles: the dimensions of one to five models on one picture, drawn many times from one chart."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import polars as pl

from mensura import charts
from mensura.evidence import slug
from mensura.site.pictures.registry import Figure, Picture, page_spec
from mensura.site.study import Study

_ALONE = "IQ in each dimension with its 90% interval; the dashed line is its composite, so far from it is jagged."
_TOGETHER = "IQ in each dimension with its 90% interval."
_HOLLOW = " Hollow: rests on estimates."
_STAND_INS = 5


def profile(study: Study, subjects: list[str], *, name: str, title: str = "Where it is strong and weak") -> Figure:
    """Return the profile of some models for a page.

    A chart is built once and given other rows each time, so that a page per model costs no new chart.
    """
    rows = profile_points(study, subjects).to_dicts()
    for row in rows:
        row["aria"] = f"{row['name']}, {row['dimension']}, IQ {row['value']:.0f}, {row['status']}"
    alone = len(subjects) == 1
    spec = _template(tuple(study.dimension_names.values()), alone=alone)
    level = study.models.filter(subject=subjects[0])["exact_iq"][0] if alone else None
    datasets = {**spec["datasets"], "points": rows, "level": [] if level is None else [{"value": level}]}
    names = ", ".join(dict.fromkeys(row["name"] for row in rows))
    described = {**spec, "datasets": datasets, "description": f"IQ by dimension of {names}."}
    return Figure(name, title, (_ALONE if alone else _TOGETHER) + _HOLLOW, described)


def profile_picture(study: Study, subject: str) -> Picture:
    """Return the profile of one model as a picture of its own, for print."""
    row = study.models.row(by_predicate=pl.col("subject") == subject, named=True)
    chart = charts.dots(profile_points(study, [subject]), reference=row["exact_iq"])
    return Picture(f"profile-{slug(subject)}", row["name"], _ALONE + _HOLLOW, chart)


def profile_points(study: Study, subjects: list[str]) -> pl.DataFrame:
    """Return the rows of a profile, dimensions in the method's order."""
    order = {key: place for place, key in enumerate(study.dimension_names)}
    names = study.models.select("subject", "name", "provider")
    return (
        study.dimensions.filter(pl.col("subject").is_in(subjects))
        .join(names, on="subject", maintain_order="left")
        .sort(
            pl.col("subject").replace_strict(subjects, list(range(len(subjects))), return_dtype=pl.Int64),
            pl.col("dimension").replace_strict(order),
        )
        .select(
            *("subject", "name", "provider"),
            dimension=pl.col("dimension").replace_strict(study.dimension_names),
            value=pl.col("iq").round(2),
            low=pl.col("low").round(2),
            high=pl.col("high").round(2),
            status="shown",
        )
    )


@lru_cache
def _template(dimensions: tuple[str, ...], *, alone: bool) -> dict[str, Any]:
    """Return the specification of a profile of stand-ins, wide enough for any IQ."""
    stand_ins = [f"subject {place}" for place in range(1 if alone else _STAND_INS)]
    rows = [
        {"subject": one, "name": one, "provider": "", "dimension": key, "value": 115.0, "low": 70.0, "high": 160.0}
        for one in stand_ins
        for key in dimensions
    ]
    points = pl.DataFrame(rows).with_columns(status=pl.lit("measured"))
    return page_spec(charts.dots(points))
