"""One page per maker of models: all of them over time, highest IQ and newest release told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from mensura.charts.rows import counted
from mensura.evidence import slug
from mensura.site.pages.page import Page
from mensura.site.pictures.maker import maker_figure
from mensura.study.study import Study
from mensura.study.units import show, show_range


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
    marks = tuple(rows.drop_nulls("exact_iq").sort("exact_iq").select("provider", "exact_iq").rows())
    return Page(
        maker_file(provider),
        provider,
        f"{counted(rows.height, 'model')} of {provider}: IQ, evidence, cost and release of each.",
        "maker.html",
        {
            "sentence": sentence,
            "pictures": [found] if (found := maker_figure(study, provider)) else [],
            "rows": newest_first,
            "benchmarks": len(study.iq.matrix.benchmarks),
        },
        scripts=("table",),
        shared=(sentence, marks),
    )
