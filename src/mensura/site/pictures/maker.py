"""The picture of one maker: all of its models over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from mensura.charts import Mark, draw_history
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, slug
from mensura.site.pictures.registry import Figure, model_link
from mensura.study.study import Study
from mensura.study.units import show

_FEWEST = 2
"""Dated models with an IQ from which a picture over time says anything."""


def maker_figure(study: Study, provider: str) -> Figure | None:
    """Draw all models of one maker over time; None where fewer than two have a date and an IQ."""
    rows = study.models.filter(pl.col("provider") == provider)
    dated = rows.drop_nulls(["released", "exact_iq"]).sort("released")
    if dated.height < _FEWEST:
        return None
    spots = [_mark(row) for row in dated.iter_rows(named=True)]
    first, last = dated.row(0, named=True), dated.sort("exact_iq").row(-1, named=True)
    finding = f"From IQ {first['exact_iq']:.0f} ({first['name']}) to {last['exact_iq']:.0f} ({last['name']})"
    return Figure(
        f"maker-{slug(provider)}",
        f"Models of {provider} over time",
        "IQ of every model by release; the line joins the records. Filled marks are mostly measured.",
        finding=finding,
        drawing=draw_history(spots, (), tick=lambda value: show(value, "iq"), description=f"IQ by release. {finding}."),
        rows=tuple(dated.select("subject", "name", "released", "exact_iq", "iq_low", "iq_high").to_dicts()),
    )


def _mark(row: dict[str, Any]) -> Mark:
    return Mark(
        row["name"],
        row["provider"],
        float(row["released"].toordinal()),
        row["exact_iq"],
        f"{row['name']}: IQ {row['exact_iq']:.0f}, released {row['released']:%B %Y}",
        "measured" if row["well_measured"] else "estimated",
        row["subject"],
        model_link(row["subject"]),
    )


def maker_picture(study: Study, provider: str) -> Figure:
    """Return all models of one maker over time, with the records joined."""
    found = maker_figure(study, provider)
    if found is None:
        raise MensuraError(
            f"figure: {provider} has fewer than {_FEWEST} dated models with an IQ; choose another maker or add scores "
            "(mensura add)"
        )
    return found


def maker_keys(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the makers of the evidence, each under its own name."""
    for provider in evidence.models["provider"].drop_nulls().unique(maintain_order=True):
        yield str(provider), str(provider)
