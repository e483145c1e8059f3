"""Annotating a pool: its items' demand levels, asked of one or several language models."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError, check_choice
from mensura.core.results import Result
from mensura.demands.aggregation import AGGREGATIONS, pool_readings
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.plan import PROTOCOL, AnnotationPlan, Asked, ask_plan, plan_annotation
from mensura.demands.protocols import ITEMS_PER_CALL
from mensura.llm import Asker


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
    pool: Any,
    *,
    model: str | Asker | Sequence[str | Asker],
    protocol: str = PROTOCOL,
    repeats: int = 1,
    items_per_call: int = ITEMS_PER_CALL,
    rubrics: str | Path | None = None,
    dimensions: Iterable[str] | None = None,
    aggregate: str = "median",
    seed: int = 0,
    **settings: Any,
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
        pool, protocol=protocol, repeats=repeats, items_per_call=items_per_call, rubrics=rubrics, dimensions=dimensions
    )
    models: list[Any] = [model] if isinstance(model, str) or hasattr(model, "ask") else list(model)
    return carry_out(plan, models, aggregate=aggregate, seed=seed, **settings)


def carry_out(
    plan: AnnotationPlan, models: Sequence[str | Asker], *, aggregate: str = "median", seed: int = 0, **settings: Any
) -> Annotation:
    """Ask every model the questions of a plan.

    Parameters
    ----------
    plan
        As :func:`plan_annotation` returns it.
    models
        Names, or askers that are open.
    aggregate
        How several readings become one level: median or ordinal.
    seed
        Seed of the intervals of agreement.
    **settings
        For models given by name.

    Returns
    -------
    Annotation
        As :func:`mensura.annotate` returns it.

    Raises
    ------
    MensuraError
        If a model is named twice, or no level could be read.

    Examples
    --------
    >>> from mensura.demands import carry_out, plan_annotation
    >>> carry_out(plan_annotation("example", dimensions=["KNc"]), ["recorded/example"]).repeats
    1

    """
    check_choice("aggregate", aggregate, AGGREGATIONS)
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
    read_twice = readings.select(pl.struct("item", "dimension").is_duplicated().any()).item()
    return Annotation(
        pooled.demands,
        readings,
        unparsed,
        plan.skipped,
        plan.guessing,
        pooled.annotators,
        measure_agreement(readings, seed=seed) if read_twice else None,
        plan.protocol.name,
        plan.repeats,
        sum(part.calls for part in asked),
        sum(part.stored for part in asked),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        tuple(warnings),
    )
