"""One page per maker of models: all of them over time, highest IQ and newest release told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from mensura.charts import draw_history
from mensura.charts.ladders import ModelSpot
from mensura.charts.rows import counted
from mensura.evidence import slug
from mensura.site.pages.page import Page
from mensura.site.pictures import Figure
from mensura.study.study import Study
from mensura.study.units import show, show_range

_FEWEST = 2
"""Dated models with an IQ from which a picture over time says anything."""


def maker_file(provider: str) -> str:
    """Return where the page of a maker lies."""
    return f"makers/{slug(provider)}.html"


def maker_pages(study: Study) -> Iterator[Page]:
    """Yield the page of each maker, those with the best model first."""
    for provider in study.models["provider"].unique(maintain_order=True):
        yield maker(study, str(provider))


def maker(study: Study, provider: str) -> Page:
    """All models of one maker, newest first."""
    rows = study.models.filter(pl.col("provider") == provider)
    ranked = rows.drop_nulls("rank").to_dicts()
    newest_first = rows.sort("released", descending=True, nulls_last=True, maintain_order=True).to_dicts()
    sentence = f"{provider} has {counted(rows.height, 'model')} here, none of them ranked."
    if ranked:
        best = ranked[0]
        sentence = (
            f"The best of {provider} is {best['name']}: IQ {show(best['iq'], 'iq')} "
            f"(90%: {show_range(best['iq_low'], best['iq_high'], 'iq')}), rank {best['rank']} of {study.ranked.height}."
        )
    return Page(
        maker_file(provider),
        provider,
        f"{counted(rows.height, 'model')} of {provider}: IQ, evidence, cost and release of each.",
        "maker.html",
        {
            "sentence": sentence,
            "pictures": _picture(rows, provider),
            "rows": newest_first,
            "benchmarks": len(study.iq.matrix.benchmarks),
        },
        scripts=("table",),
        shared=(sentence, ()),
    )


def _picture(rows: pl.DataFrame, provider: str) -> list[Figure]:
    dated = rows.drop_nulls(["released", "exact_iq"]).sort("released")
    if dated.height < _FEWEST:
        return []
    spots = [_spot(row) for row in dated.iter_rows(named=True)]
    first, last = dated.row(0, named=True), dated.sort("exact_iq").row(-1, named=True)
    finding = f"From IQ {first['exact_iq']:.0f} ({first['name']}) to {last['exact_iq']:.0f} ({last['name']})"
    return [
        Figure(
            f"maker-{slug(provider)}",
            f"Models of {provider} over time",
            "IQ of every model by release; the line joins the records. Filled marks are mostly measured.",
            finding=finding,
            drawing=draw_history(
                spots, (), tick=lambda value: show(value, "iq"), description=f"IQ by release. {finding}."
            ),
            rows=tuple(dated.select("subject", "name", "released", "exact_iq", "iq_low", "iq_high").to_dicts()),
        )
    ]


def _spot(row: dict[str, Any]) -> ModelSpot:
    return ModelSpot(
        row["name"],
        row["provider"],
        row["subject"],
        f"../models/{slug(row['subject'])}.html",
        float(row["released"].toordinal()),
        row["exact_iq"],
        "measured" if row["well_measured"] else "estimated",
        f"IQ {row['exact_iq']:.0f}, released {row['released']}",
    )
