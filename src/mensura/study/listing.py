"""The table of models, joined from the parts that a question needs: facts, IQ, capability, costs, place in charts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from mensura.study.ranking import measure_own

CAPABILITY = ("capability", "capability_low", "capability_high")
COSTS = ("sticker_price", "effective_cost", "task_efficiency", "response_time", "output_speed")
CHARTS = ("generation", "charted", "on_timeline")
_MOST = 3  # of seven dimensions: more than this many is most of them


def list_models(study: Any, *needed: str) -> pl.DataFrame:  # noqa: ANN401
    """Return one row per model, with the parts that have the columns ``needed``; without any, all parts.

    ``study`` is a :class:`mensura.study.Study`; nothing else of it is computed. Rows are sorted by IQ where they have
    one, else by the first column needed, highest first.
    """
    asked = set(needed) - set(study.evidence.models.columns)
    known = {*CAPABILITY, *COSTS, *CHARTS}
    of_iq = not needed or bool(asked - known)
    wanted = asked if needed else known
    joined: pl.DataFrame = study.evidence.models
    for part in _parts(study, wanted, of_iq=of_iq):
        joined = joined.join(part, on="subject", how="left", maintain_order="left")
    if of_iq:
        joined = joined.with_columns(
            shown=pl.when(pl.col("own") > _MOST).then(pl.lit("measured")).otherwise(pl.lit("estimated"))
        )
    if wanted.intersection(CHARTS):
        joined = joined.join(study.place_in_charts, on="subject", maintain_order="left")
    order = [name for name in ("exact_iq", "capability") if name in joined.columns] if of_iq else [needed[0]]
    return joined.sort(order, descending=True, nulls_last=True, maintain_order=True)


def _parts(study: Any, wanted: set[str], *, of_iq: bool) -> Iterator[pl.DataFrame]:  # noqa: ANN401
    """Yield the parts one after another, each computed when its turn comes."""
    if of_iq:
        iq = study.iq.composites.drop("missing").rename({"low": "iq_low", "high": "iq_high"})
        yield iq.join(study.iq.exact.rename({"exact": "exact_iq"}), on="subject", maintain_order="left")
        yield study.iq.ranking.select("subject", "rank", "rank_low", "rank_high", "p_first")
        yield measure_own(study.iq)
    if wanted.intersection(CAPABILITY):
        yield study.capabilities.rename({"low": "capability_low", "high": "capability_high"})
    if of_iq:
        yield study.iq.emotional.select("subject", "eq")
    if wanted.intersection(COSTS):
        yield study.costs.costs.select("subject", *COSTS)
    if of_iq:
        measured = study.dimensions.filter(pl.col("shown") == "measured")
        yield measured.group_by("subject").agg(pl.len().alias("own"))
