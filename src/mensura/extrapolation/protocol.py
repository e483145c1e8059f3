"""The one contract of every method: a task in, a prediction out; and the result a user gets.

A :class:`Task` holds all that a method may know of one extrapolation. The rates to be predicted are not in it, so that
no method, and no prompt made from a task, can see them; validation keeps them beside the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import first_row, require_columns
from mensura.intake.tables import as_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from mensura.core.arrays import Floats, Ints, Mask
    from mensura.people import Population

LEVEL = 0.9
"""Probability of the intervals, unless a method has another."""
SENSITIVITY_COLUMNS = ("assumption", "value", "low", "high", "rate_low", "rate_high", "swing", "share")


def empty_sensitivity() -> pl.DataFrame:
    """Return a sensitivity table without rows."""
    return pl.DataFrame(schema=dict.fromkeys(SENSITIVITY_COLUMNS, pl.Float64) | {"assumption": pl.String})


def check_level(level: float) -> None:
    """Refuse a probability that makes no interval."""
    if not 0 < level < 1:
        raise MensuraError(f"level: expected a probability between 0 and 1 (exclusive), got {level}")


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a method may know of one extrapolation, and nothing else: the truth to be predicted is not in it.

    One entry per row of ``items`` in every array. ``items``: item and what is known of it (domain, n_options, text,
    options, answer, format …). ``rate`` and ``n``: the focal group's rate and number of answers; n is NaN where
    unknown. ``focal``, ``reference``: who was observed and who is wanted. ``links``: draws × items, the reference's
    rates that are known, NaN where hidden; one row per state of knowledge to predict from, a single one in ordinary
    use. ``links_n``: answers behind a rate of the reference (infinite for a population). ``share``: the focal group's
    part of the reference's answers, 0 when the two are apart.

    What else may be known: ``pool``, ``description``, ``covariate`` and ``group`` say in words where the rates come
    from. ``kind`` is what sets the two groups apart (``line.descriptions.KINDS``). ``offset``: the shift in logits that
    public facts predict per item, and the ``basis`` of those facts (matched, general, none); without an offset, methods
    read both off the populations. ``concentration``: Σ of squared shares of the groups that make up the reference
    without the focal group, 1 for a single one, near 0 for very many; without it, by the reference's countries.
    ``slices``: the other groups of the pool, as far as they may be known; only where ``links`` has one row.
    """

    items: pl.DataFrame
    rate: Floats
    n: Floats
    focal: Population
    reference: Population
    links: Floats
    links_n: Floats
    share: Floats
    pool: str = ""
    description: str = ""
    covariate: str = ""
    group: str = ""
    kind: str = "country"
    offset: Floats | None = None
    basis: str = "none"
    concentration: float | None = None
    slices: Slices | None = None

    def __post_init__(self) -> None:
        require_columns(self.items, ["item"], name="items")
        self._check_shapes()
        self._refuse((self.rate < 0) | (self.rate > 1), self.rate, "focal rates: rate must lie between 0 and 1")
        self._refuse(self.n <= 0, self.n, "focal rates: n must be above 0")
        self._refuse(~((self.share >= 0) & (self.share < 1)), self.share, "share must be at least 0 and below 1")
        edge = ((self.rate == 0) | (self.rate == 1)) & np.isnan(self.n)
        if edge.any():
            first = int(np.argmax(edge))
            raise MensuraError(
                f"focal rates: {self.names[first]!r} has a rate of exactly {self.rate[first]:.0f} and no n; "
                "give n (how many answered), so that it can be read as (correct + ½) / (n + 1)"
            )
        outside = (self.links < 0) | (self.links > 1)
        row = int(np.argmax(outside.any(axis=1)))
        self._refuse(outside[row], self.links[row], "links: rate must lie between 0 and 1")
        self._refuse(~(self.links_n > 0), self.links_n, "links: n must be above 0")

    @cached_property
    def names(self) -> list[str]:
        """The items, in order."""
        return self.items["item"].to_list()

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.rate)

    @property
    def draws(self) -> int:
        """How many states of knowledge are to be predicted from."""
        return len(self.links)

    @cached_property
    def known(self) -> Mask:
        """Draws × items: where the reference's rate is known."""
        return np.isfinite(self.links)

    def _check_shapes(self) -> None:
        size = self.items.height
        arrays = {"rate": self.rate, "n": self.n, "links_n": self.links_n, "share": self.share}
        if self.offset is not None:
            arrays["offset"] = self.offset
        for name, values in arrays.items():
            if values.shape != (size,):
                raise MensuraError(f"task: {name} must have one entry for each of {size} items, got {values.shape}")
        if self.links.ndim != 2 or self.links.shape[1] != size or not len(self.links):
            raise MensuraError(f"task: links must be draws × {size} items, got {self.links.shape}")
        if self.slices is not None and len(self.links) != 1:
            raise MensuraError(f"task: slices need exactly one row of links, got {len(self.links)}")

    def _refuse(self, fault: Mask, values: Floats, rule: str) -> None:
        """Refuse the first value at fault, by the name of its item."""
        if fault.any():
            first = int(np.argmax(fault))
            raise MensuraError(f"{rule}, got {values[first]:g} for {self.names[first]!r}; correct the value")


@dataclass(frozen=True, eq=False)
class Slices:
    """The other groups of a pool, as far as they may be known.

    ``tasks``: from each other group to its own reference; on items that are hidden, its rates and its links are NaN.
    ``hidden_logit``: per task, the mean logit of that group over the hidden items that it shares with the focal group,
    NaN where there are none; ``hidden_count``: over how many. A group's rate on any one hidden item is not here.
    """

    tasks: tuple[Task, ...]
    hidden_logit: Floats
    hidden_count: Floats

    def __post_init__(self) -> None:
        if self.hidden_logit.shape != (len(self.tasks),) or self.hidden_count.shape != (len(self.tasks),):
            raise MensuraError(f"slices: one hidden mean and count for each of {len(self.tasks)} groups is needed")


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted rates of the reference, draws × items as the task's links.

    ``low`` and ``high`` bound the reference's rate with the method's ``level``; ``interval`` says of what kind they
    are. ``account`` makes the table of :attr:`sensitivity` when it is asked for, as validation predicts thousands of
    times and never asks. ``calls``: how often a language model was asked, per item.
    """

    rate: Floats
    low: Floats
    high: Floats
    account: Callable[[], pl.DataFrame] = empty_sensitivity
    warnings: tuple[str, ...] = ()
    interval: str = ""
    calls: Ints | None = None

    @cached_property
    def sensitivity(self) -> pl.DataFrame:
        """How far the mean rate hangs on what the method assumes (``SENSITIVITY_COLUMNS``), largest first.

        Empty when nothing is assumed, or when there are many draws.
        """
        return self.account()


@runtime_checkable
class Extrapolator(Protocol):
    """Anything that carries item rates from a focal to a reference population.

    A frozen dataclass whose fields are its settings; what it may know of the matter at hand comes in the task.
    """

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""

    @property
    def level(self) -> float:
        """Probability of its intervals."""

    def predict(self, task: Task) -> Prediction:
        """Return the reference's rate for each item and each row of links, with intervals."""


def make_task(
    items: Any,
    rates: Any,
    focal: Population,
    reference: Population,
    *,
    links: Any = None,
    kind: str = "country",
    pool: str = "",
    description: str = "",
    group: str = "",
) -> Task:
    """Make the task to carry the rates of a focal population to a reference population.

    Parameters
    ----------
    items
        Table of any library, or path: item and what is known of it.
    rates
        The same: item, rate and, where known, n (or correct and n) and share (the focal group's part of the reference's
        answers), one row per item.
    focal, reference
        Who was observed, and who is wanted.
    links
        item, rate and, where known, n of the reference population on some of the items.
    kind
        What sets the two groups apart.
    pool, description, group
        Where the rates come from, in words.

    Returns
    -------
    Task
        What ``predict`` of every method takes.

    Raises
    ------
    MensuraError
        If an item occurs twice, or a rate or n is impossible.

    Examples
    --------
    >>> from mensura import WORLD
    >>> from mensura.extrapolation import make_task
    >>> from mensura.people import World
    >>> pisa = World.load().population("pisa")
    >>> make_task({"item": ["q"]}, {"item": ["q"], "rate": [0.19]}, pisa, WORLD).size
    1

    """
    table = _rate_table(as_frame(rates, name="focal rates"))
    listed = _with_items(as_frame(items, name="items"), ["item"], "items", "each item has one row")
    aligned = table.select("item").join(listed, on="item", how="left", maintain_order="left")
    rate, n = number_column(table, "rate"), number_column(table, "n")
    if np.isnan(rate).any():
        raise MensuraError(f"focal rates: {table['item'][int(np.argmax(np.isnan(rate)))]!r} has no rate; leave it out")
    share = np.nan_to_num(number_column(table, "share"), nan=0.0)
    link_rate, link_n = _links(links, table["item"].to_list())
    return Task(aligned, rate, n, focal, reference, link_rate, link_n, share, pool, description, group=group, kind=kind)


def _rate_table(rates: pl.DataFrame) -> pl.DataFrame:
    """Return the focal rates with a ``rate``, one row per item."""
    if "rate" not in rates.columns and {"correct", "n"} <= set(rates.columns):
        rates = rates.with_columns(rate=pl.col("correct") / pl.col("n"))
    table = _with_items(rates, ["item", "rate"], "focal rates", "give the rates of one group")
    if table.is_empty():
        raise MensuraError("focal rates: no rows; add at least one item with its rate")
    return table


def _links(links: Any, names: list[str]) -> tuple[Floats, Floats]:
    """Return the known rates of the reference (one draw) and the answers behind each rate, infinite where unknown."""
    rate, n = np.full(len(names), np.nan), np.full(len(names), np.inf)
    if links is not None:
        table = _with_items(as_frame(links, name="links"), ["item", "rate"], "links", "give each item's rate once")
        where = {name: index for index, name in enumerate(names)}
        rows = zip(table["item"], number_column(table, "rate"), number_column(table, "n"), strict=True)
        for item, value, answers in rows:
            if item not in where:
                raise MensuraError(f"links: item {item!r} has no focal rate; add its rate or remove the link")
            if np.isnan(value):
                raise MensuraError(f"links: {item!r} has no rate; leave it out")
            rate[where[item]] = value
            n[where[item]] = np.inf if np.isnan(answers) else answers
    return rate[None], n


def _with_items(table: pl.DataFrame, columns: list[str], name: str, rule: str) -> pl.DataFrame:
    """Return a table with these columns and one row per item, whose names are text."""
    require_columns(table, columns, name=name)
    if row := first_row(table.filter(pl.col("item").is_duplicated())):
        raise MensuraError(f"{name}: item {row['item']!r} occurs more than once; remove the others, {rule}")
    return table.with_columns(pl.col("item").cast(pl.String))


def number_column(table: pl.DataFrame, name: str) -> Floats:
    """Return a numeric column with NaN for unknown, all NaN where there is none."""
    if name not in table.columns:
        return np.full(table.height, np.nan)
    try:
        return table[name].cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    except pl.exceptions.PolarsError as fault:
        raise MensuraError(f"column {name!r} must hold numbers: {str(fault).splitlines()[0]}") from fault
