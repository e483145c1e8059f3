"""Which protocol is worth its price: each is asked of the same items, and compared with one call per cell.

A protocol is *as good* as the first (a call per cell, as published) when it agrees with the first about as well as the
first agrees with itself: the mean kappa between them is no more than ``TOLERANCE`` below the mean kappa between repeats
of the first. The cheapest such protocol is the recommendation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from mensura.core.arrays import just_below
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.asked import Asked, ask_plan
from mensura.demands.plan import AnnotationPlan, plan_annotation
from mensura.demands.protocols import PROTOCOLS
from mensura.llm import Asker

FIRST = "cell"
TOLERANCE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolComparison(Result):
    """Protocols side by side.

    ``protocols``: protocol, calls, tokens, cost (answers from the journal included), unparsed; agreement with the first
    protocol (kappa with its interval, exact, within_one, shift) and with its own repeats (retest_kappa).
    ``dimensions``: the agreement with the first per dimension. ``recommended`` is the cheapest protocol that is as good
    as the first.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("protocols", "dimensions")

    protocols: pl.DataFrame
    dimensions: pl.DataFrame
    recommended: str
    model: str
    items: int
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"Protocols on {self.items} items by {self.model}; the cheapest as good as {FIRST}: {self.recommended}"


def compare_protocols(
    pool: Any,  # noqa: ANN401
    *,
    model: Asker,
    repeats: int = 2,
    seed: int = 0,
    **settings: Any,  # noqa: ANN401
) -> ProtocolComparison:
    """Annotate a pool by every protocol and compare them; ``settings`` as :func:`plan_annotation` takes them."""
    return compare_plans(plan_protocols(pool, repeats=repeats, **settings), model, seed=seed)


def plan_protocols(pool: Any, *, repeats: int = 2, **settings: Any) -> dict[str, AnnotationPlan]:  # noqa: ANN401
    """Say what each protocol asks; two repeats or more, for the first protocol's agreement with itself."""
    if repeats < 2:
        raise MensuraError(
            f"repeats: expected 2 or more, for the first protocol's agreement with itself, got {repeats}"
        )
    return {name: plan_annotation(pool, protocol=name, repeats=repeats, **settings) for name in PROTOCOLS}


def compare_plans(plans: Mapping[str, AnnotationPlan], model: Asker, *, seed: int = 0) -> ProtocolComparison:
    """Carry out the plans of all protocols and compare what they give."""
    asked = {name: ask_plan(plan, model) for name, plan in plans.items()}
    lost = [name for name, part in asked.items() if part.readings.is_empty()]
    if lost:
        reason = asked[lost[0]].unparsed["reason"][0]
        raise MensuraError(
            f"protocols: no level could be read by {', '.join(lost)} ({reason}), so nothing can be compared; try "
            "another model"
        )
    retest = {name: _retest(part, seed) for name, part in asked.items()}
    with_first = {name: _against(asked[FIRST], part, seed) for name, part in asked.items() if name != FIRST}
    rows, parts = [], []
    for name, part in asked.items():
        figures = _figures(with_first.get(name))
        rows.append({"protocol": name, **_spent(part), **figures, "retest_kappa": _kappa(retest[name])})
        if name in with_first:
            parts.append(with_first[name].agreement.with_columns(protocol=pl.lit(name)))
    table = pl.DataFrame(rows, infer_schema_length=None)
    recommended, warnings = _recommend(table, _kappa(retest[FIRST]))
    dimensions = pl.concat(parts).select("protocol", pl.exclude("protocol"))
    annotator = asked[FIRST].readings["annotator"][0]
    return ProtocolComparison(table, dimensions, recommended, annotator, len(plans[FIRST].views), warnings)


def _spent(part: Asked) -> dict[str, object]:
    calls = part.calls + part.stored
    return {"calls": calls, "tokens": part.tokens, "cost": part.price, "unparsed": part.unparsed.height}


def _retest(part: Asked, seed: int) -> Agreement | None:
    """Agreement of a protocol's repeats with one another; None where only one repeat could be read."""
    if part.readings["repeat"].n_unique() < 2:
        return None
    return measure_agreement(part.readings, seed=seed)


def _against(first: Asked, other: Asked, seed: int) -> Agreement:
    """Agreement of one repeat of each of two protocols, the first of either."""
    parts = []
    for label, part in (("first", first), ("other", other)):
        repeat = part.readings["repeat"].min()
        once = part.readings.filter(pl.col("repeat") == repeat)
        parts.append(once.with_columns(annotator=pl.lit(label), repeat=pl.lit(0, dtype=pl.Int64)))
    return measure_agreement(pl.concat(parts), seed=seed)


def _kappa(agreement: Agreement | None) -> float | None:
    return None if agreement is None else agreement.value("kappa")


def _figures(agreement: Agreement | None) -> dict[str, float | None]:
    names = ("kappa", "low", "high", "exact", "within_one", "shift")
    if agreement is None:
        return dict.fromkeys(names)
    mean = agreement.agreement.filter((pl.col("dimension") == "mean") & (pl.col("statistic") == "kappa"))
    value, low, high = mean.select("value", "low", "high").row(0)
    pair = agreement.pairs.row(0, named=True)
    figures = (value, low, high, pair["exact"], pair["within_one"], pair["shift"])
    return dict(zip(names, figures, strict=True))


def _recommend(table: pl.DataFrame, bar: float | None) -> tuple[str, tuple[str, ...]]:
    """Return the cheapest protocol that is as good as the first; cheapest by cost, then tokens, then calls."""
    if bar is None:
        return FIRST, ("the first protocol's agreement with itself is not defined, so nothing can be called as good",)
    good = table.filter((pl.col("protocol") == FIRST) | (pl.col("kappa") >= just_below(bar - TOLERANCE)))
    return str(good.sort("cost", "tokens", "calls")["protocol"][0]), ()
