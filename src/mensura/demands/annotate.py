"""Annotating a pool: its items' demand levels, asked of one or several language models.

Which protocol is worth its price: each is asked of the same items, and compared with one call per cell. A protocol is
*as good* as the first (a call per cell, as published) when it agrees with the first about as well as the first agrees
with itself: the mean kappa between them is no more than ``TOLERANCE`` below the mean kappa between repeats of the
first. The cheapest such protocol is the recommendation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import just_below
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.demands.aggregation import AGGREGATIONS, pool_readings
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.plan import PROTOCOL, AnnotationPlan, Asked, ask_plan, plan_annotation
from mensura.demands.protocols import ITEMS_PER_CALL, PROTOCOLS
from mensura.llm import Asker

FIRST = "cell"
TOLERANCE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Annotation(Result):
    """Demand levels of a pool.

    Attributes
    ----------
    demands
        item, dimension, level, spread, annotator; one row per item and dimension.
    readings
        Every level that was read, with annotator, repeat and reasons.
    unparsed
        The cells without a level, with the reason.
    skipped
        Items that cannot be annotated.
    guessing
        Unguessability, computed.
    annotators
        Leaning and error of each annotator under ``ordinal``.
    agreed
        The agreement of the raters, where there are two or more.
    protocol, repeats, calls, stored, cost, warnings
        How it was asked, what it cost in calls and US dollars, and warnings.

    """

    TABLES: ClassVar[tuple[str, ...]] = (
        *("demands", "readings", "unparsed", "skipped", "guessing", "agreement", "annotators"),
    )

    demands: pl.DataFrame
    readings: pl.DataFrame
    unparsed: pl.DataFrame
    skipped: pl.DataFrame
    guessing: pl.DataFrame
    annotators: pl.DataFrame
    agreed: Agreement | None
    protocol: str
    repeats: int
    calls: int
    stored: int
    cost: float | None
    warnings: tuple[str, ...] = ()

    @property
    def agreement(self) -> pl.DataFrame:
        """Agreement of the raters per dimension; empty for a single rater."""
        return pl.DataFrame() if self.agreed is None else self.agreed.agreement

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that hold something; ``demands`` and ``unparsed`` always."""
        always = {"demands", "unparsed"}
        return {name: table for name, table in super().tables().items() if table.height or name in always}

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        items, dimensions = (self.demands[name].n_unique() for name in ("item", "dimension"))
        who = ", ".join(self.readings["annotator"].unique(maintain_order=True))
        read = f"{self.readings.height} levels read, {self.unparsed.height} cells unparsed"
        return f"{items} items in {dimensions} dimensions by {who} (protocol {self.protocol} × {self.repeats}): {read}"

    @property
    def shown(self) -> pl.DataFrame:
        """One row per item, one column per dimension."""
        return self.demands.pivot("dimension", index="item", values="level", maintain_order=True)


@check_arguments
def annotate(
    pool: Any,  # noqa: ANN401
    *,
    model: str | Asker | Sequence[str | Asker],
    protocol: str = PROTOCOL,
    repeats: int = 1,
    items_per_call: int = ITEMS_PER_CALL,
    rubrics: str | Path | None = None,
    dimensions: Iterable[str] | None = None,
    aggregate: str = "median",
    seed: int = 0,
    **settings: Any,  # noqa: ANN401
) -> Annotation:
    """Annotate the items of a pool with demand levels.

    Parameters
    ----------
    pool
        An :class:`ItemPool`, a tidy folder, an items file, a table with item and text (and options, key, scoring), or
        ``"example"``.
    model
        A name as the command line takes it, something that answers questions, or several of either.
    protocol
        bundle, item or cell.
    repeats
        How often everything is asked.
    items_per_call
        Items in one call of the protocol bundle.
    rubrics
        Folder whose rubrics replace or extend Mensura's.
    dimensions
        Dimensions to annotate; all when not given.
    aggregate
        How several readings become one level: median or ordinal.
    seed
        Seed of the intervals of agreement.
    **settings
        For models given by name, as :func:`mensura.llm.open_asker` takes them.

    Returns
    -------
    Annotation
        Levels, readings, cells without a level, and agreement.

    Raises
    ------
    MensuraError
        If an argument is impossible, or no level could be read.

    Examples
    --------
    >>> import mensura
    >>> annotation = mensura.annotate("example", model="recorded/example", dimensions=["KNc"])
    >>> annotation.demands.columns[:3]
    ['item', 'dimension', 'level']

    """
    plan = plan_annotation(
        pool,
        protocol=protocol,
        repeats=repeats,
        items_per_call=items_per_call,
        rubrics=rubrics,
        dimensions=dimensions,
    )
    models: list[Any] = [model] if isinstance(model, str) or hasattr(model, "ask") else list(model)
    return carry_out(plan, models, aggregate=aggregate, seed=seed, **settings)


def carry_out(
    plan: AnnotationPlan,
    models: Sequence[str | Asker],
    *,
    aggregate: str = "median",
    seed: int = 0,
    **settings: Any,  # noqa: ANN401
) -> Annotation:
    """Ask every model what a plan holds; see :func:`annotate`."""
    if aggregate not in AGGREGATIONS:
        raise MensuraError(f"aggregate: {aggregate!r} is unknown; expected one of {', '.join(AGGREGATIONS)}")
    names = [one if isinstance(one, str) else one.model for one in models]
    if not models or len(set(names)) < len(names):
        raise MensuraError(f"model: expected one or more, each once, got {names}; ask one several times with repeats")
    asked: list[Asked] = []
    for one in models:
        asked.append(ask_plan(plan, one, **cells_left(settings, asked)))
    return _annotation(plan, asked, aggregate, seed)


def cells_left(settings: dict[str, Any], asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the settings with the rest of the budget: one budget bounds all models together."""
    spent = {"max_calls": sum(part.calls for part in asked), "max_cost": sum(part.cost or 0.0 for part in asked)}
    bounds = {name: settings[name] - used for name, used in spent.items() if settings.get(name) is not None}
    return {**settings, **{name: max(bound, 0) for name, bound in bounds.items()}}


def _annotation(plan: AnnotationPlan, asked: Sequence[Asked], aggregate: str, seed: int) -> Annotation:
    readings, unparsed = pl.concat([part.readings for part in asked]), pl.concat([part.unparsed for part in asked])
    if readings.is_empty():
        raise MensuraError(
            f"annotate: no level could be read; the first of {unparsed.height} cells: {unparsed['reason'][0]}. Try "
            "another model or protocol"
        )
    pooled = pool_readings(readings, aggregate)
    warnings = [
        f"{count} items left out: {reason}" for reason, count in plan.skipped["reason"].value_counts().iter_rows()
    ]
    if unparsed.height:
        reason, count = unparsed["reason"].value_counts(sort=True).row(0)
        warnings.append(f"{unparsed.height} cells without a level; the commonest reason ({count}): {reason}")
    costs = [part.cost for part in asked]
    return Annotation(
        pooled.demands,
        readings,
        unparsed,
        plan.skipped,
        plan.guessing,
        pooled.annotators,
        measure_agreement(readings, seed=seed) if _has_two_raters(readings) else None,
        plan.protocol.name,
        plan.repeats,
        sum(part.calls for part in asked),
        sum(part.stored for part in asked),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        tuple(warnings),
    )


def _has_two_raters(readings: pl.DataFrame) -> bool:
    """Return whether any cell was read twice, so that agreement can be spoken of."""
    return bool(readings.select(pl.struct("item", "dimension").is_duplicated().any()).item())


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


def plan_protocols(pool: Any, *, repeats: int = 2, **settings: Any) -> dict[str, AnnotationPlan]:  # noqa: ANN401
    """Say what each protocol asks; two repeats or more, for the first protocol's agreement with itself."""
    if repeats < 2:
        raise MensuraError(
            f"repeats: expected 2 or more, for the first protocol's agreement with itself, got {repeats}"
        )
    per_call = settings.pop("items_per_call", ITEMS_PER_CALL)
    bundled = {name: per_call if name == PROTOCOL else ITEMS_PER_CALL for name in PROTOCOLS}
    return {
        name: plan_annotation(pool, protocol=name, repeats=repeats, items_per_call=size, **settings)
        for name, size in bundled.items()
    }


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
