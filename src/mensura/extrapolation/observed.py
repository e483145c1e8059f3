"""From tables to tasks, and the focal rates of a task with what is known of their items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.extrapolation.protocol import Task
from mensura.intake.tables import as_frame

if TYPE_CHECKING:
    from mensura.core.arrays import Floats
    from mensura.people import Population

FEWEST_OPTIONS = 2  # an item with fewer offers no choice
_EDGE = 1e-9


def make_task(
    items: Any,  # noqa: ANN401
    rates: Any,  # noqa: ANN401
    focal: Population,
    reference: Population,
    *,
    links: Any = None,  # noqa: ANN401
    kind: str = "country",
    pool: str = "",
    description: str = "",
    group: str = "",
) -> Task:
    """Return the task to carry the ``rates`` of a focal population to a reference population.

    Tables of any library, or paths. ``items``: item and what is known of it. ``rates``: item, rate and, where known,
    n (or correct and n) and share (the focal group's part of the reference's answers), one row per item. ``links``:
    item, rate and, where known, n of the reference population on some of the items. ``kind``: what sets the two groups
    apart. ``pool``, ``description``, ``group``: where the rates come from, in words.
    """
    table = _rate_table(as_frame(rates, name="focal rates"))
    known = as_frame(items, name="items")
    require_columns(known, ["item"], name="items")
    _refuse_twice(known, "items", "each item has one row")
    known = known.with_columns(pl.col("item").cast(pl.String))
    aligned = table.select("item").join(known, on="item", how="left", maintain_order="left")
    rate, n = _column(table, "rate"), _column(table, "n")
    if np.isnan(rate).any():
        raise MensuraError(f"focal rates: {table['item'][int(np.argmax(np.isnan(rate)))]!r} has no rate; leave it out")
    share = np.nan_to_num(_column(table, "share"), nan=0.0)
    link_rate, link_n = _links(links, table["item"].to_list())
    return Task(aligned, rate, n, focal, reference, link_rate, link_n, share, pool, description, group=group, kind=kind)


@dataclass(frozen=True, eq=False)
class Observed:
    """The focal group's rates, one entry per item.

    ``rate``: as observed; exactly 0 or 1 becomes ``(correct + ½) / (n + 1)``. ``n``: NaN where unknown.
    ``floor``: one over the number of options, 0 where unknown or open. ``slope``: NaN where unknown.
    """

    rate: Floats
    n: Floats
    floor: Floats
    slope: Floats
    domains: list[str | None]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, task: Task) -> Observed:
        """Read the focal rates of a task and the items' domain, number of options and slope."""
        warnings = []
        edge = (task.rate == 0) | (task.rate == 1)
        rate = np.where(edge, (task.rate * task.n + 0.5) / (task.n + 1), task.rate)
        if edge.any():
            warnings.append(f"{int(edge.sum())} rates of exactly 0 or 1 read as (correct + ½) / (n + 1)")
        options = _column(task.items, "n_options")
        floor = np.where(options >= FEWEST_OPTIONS, 1 / np.maximum(options, FEWEST_OPTIONS), 0.0)
        below = int(np.sum(rate < floor))
        if below:
            warnings.append(
                f"{below} items are answered worse than chance: nothing says how knowledge would change them, "
                "so their rate is carried over as the rate of guessing"
            )
        slope = _column(task.items, "slope")
        if np.any(slope <= 0):
            first = int(np.argmax(slope <= 0))
            raise MensuraError(
                f"items: slope must be above 0, got {slope[first]:g} for {task.names[first]!r}; "
                "leave it empty where it is unknown"
            )
        domains = task.items["domain"].to_list() if "domain" in task.items.columns else [None] * task.size
        return cls(rate, task.n, floor, slope, domains, tuple(warnings))

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.rate)

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Return items × draws of the true rate under Jeffreys' prior; fixed where n is unknown."""
        drawn = np.repeat(self.rate[:, None], count, axis=1)
        known = np.flatnonzero(np.isfinite(self.n))
        right = np.rint(self.rate[known] * self.n[known])
        shape = (known.size, count)
        drawn[known] = rng.beta(right[:, None] + 0.5, (self.n[known] - right)[:, None] + 0.5, shape)
        return np.clip(drawn, _EDGE, 1 - _EDGE)


def _rate_table(rates: pl.DataFrame) -> pl.DataFrame:
    """Return the focal rates with a ``rate``, one row per item."""
    if "rate" not in rates.columns and {"correct", "n"} <= set(rates.columns):
        rates = rates.with_columns(rate=pl.col("correct") / pl.col("n"))
    require_columns(rates, ["item", "rate"], name="focal rates")
    if rates.is_empty():
        raise MensuraError("focal rates: no rows; add at least one item with its rate")
    _refuse_twice(rates, "focal rates", "give the rates of one group")
    return rates.with_columns(pl.col("item").cast(pl.String))


def _links(links: Any, names: list[str]) -> tuple[Floats, Floats]:  # noqa: ANN401
    """Return the known rates of the reference (one draw) and the answers behind each rate, infinite where unknown."""
    rate, n = np.full(len(names), np.nan), np.full(len(names), np.inf)
    if links is not None:
        table = as_frame(links, name="links")
        require_columns(table, ["item", "rate"], name="links")
        _refuse_twice(table, "links", "give each item's rate once")
        where = {name: index for index, name in enumerate(names)}
        rows = zip(table["item"].cast(pl.String), _column(table, "rate"), _column(table, "n"), strict=True)
        for item, value, answers in rows:
            if item not in where:
                raise MensuraError(f"links: item {item!r} has no focal rate; add its rate or remove the link")
            if np.isnan(value):
                raise MensuraError(f"links: {item!r} has no rate; leave it out")
            rate[where[item]] = value
            n[where[item]] = np.inf if np.isnan(answers) else answers
    return rate[None], n


def _refuse_twice(table: pl.DataFrame, name: str, rule: str) -> None:
    twice = table.filter(pl.col("item").is_duplicated())
    if twice.height:
        raise MensuraError(f"{name}: item {twice['item'][0]!r} occurs more than once; remove the others, {rule}")


def _column(table: pl.DataFrame, name: str) -> Floats:
    """Return a numeric column with NaN for unknown, all NaN where there is none."""
    if name not in table.columns:
        return np.full(table.height, np.nan)
    try:
        return table[name].cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    except pl.exceptions.PolarsError as fault:
        raise MensuraError(f"column {name!r} must hold numbers: {str(fault).splitlines()[0]}") from fault
