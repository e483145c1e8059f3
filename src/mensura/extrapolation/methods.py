"""``mensura.extrapolate``, and the only table of methods: by name, with the situations each fits, best first.

A situation says what is known beyond the focal group's rates and descriptions of both groups: nothing
(``described``), the reference's rates on some items (``linked``), or those and the other groups of a pool (``slices``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import read_csv
from mensura.core.results import Result
from mensura.demands.views import item_table
from mensura.extrapolation.correction import AskingMethod
from mensura.extrapolation.descriptions import read_description
from mensura.extrapolation.item_by_item import ItemByItem
from mensura.extrapolation.line_methods import Described, Hierarchical, Linked
from mensura.extrapolation.poststratification import PostStratification
from mensura.extrapolation.protocol import Extrapolator, Prediction, Task, make_task
from mensura.extrapolation.whole_pool import WholePool
from mensura.people import ItemPool, Population, World, describe, population_of
from mensura.people.rates import ALL

EXAMPLE_NAME, EXAMPLE = "example", Path(__file__).parent / "data" / "example"
DESCRIBED, LINKED, SLICES = "described", "linked", "slices"
SITUATIONS = (DESCRIBED, LINKED, SLICES)


@dataclass(frozen=True)
class MethodEntry:
    """A method of the table: its class, the situations that give it what it needs, and arguments it has no use for."""

    method: type[Any]
    situations: tuple[str, ...]
    unused: tuple[str, ...] = ()


METHODS: dict[str, MethodEntry] = {
    "hierarchical": MethodEntry(Hierarchical, (SLICES,)),
    "linked": MethodEntry(Linked, (LINKED, SLICES)),
    "described": MethodEntry(Described, SITUATIONS, ("links",)),
    "poststratification": MethodEntry(PostStratification, SITUATIONS, ("links", "kind")),
    "whole-pool": MethodEntry(WholePool, SITUATIONS, ("kind",)),
    "item-by-item": MethodEntry(ItemByItem, SITUATIONS, ("kind",)),
}


def make_method(name: str, **settings: object) -> Extrapolator:
    """Make a method by its name.

    Parameters
    ----------
    name : str
        A name of :data:`METHODS`.
    **settings
        Settings of the method.

    Returns
    -------
    Extrapolator
        The method.

    Raises
    ------
    MensuraError
        If the method is unknown or lacks a setting; the message names those it has.

    Examples
    --------
    >>> from mensura.extrapolation import make_method
    >>> make_method("linked", level=0.8).level
    0.8

    """
    check_choice("method", name, METHODS)
    names = [entry.name for entry in fields(METHODS[name].method)]
    if unknown := [setting for setting in settings if setting not in names]:
        raise MensuraError(
            f"method {name!r} has no setting {', '.join(map(repr, unknown))}; expected {', '.join(names)}"
        )
    made: Extrapolator = METHODS[name].method(**settings)
    return made


def methods_of(situation: str) -> tuple[str, ...]:
    """List the methods that a situation gives enough to know, the best first.

    Parameters
    ----------
    situation : str
        ``described``, ``linked`` or ``slices``.

    Returns
    -------
    tuple of str
        Names of methods.

    Examples
    --------
    >>> from mensura.extrapolation import methods_of
    >>> methods_of("linked")[0]
    'linked'

    """
    check_choice("situation", situation, SITUATIONS)
    return tuple(name for name, entry in METHODS.items() if situation in entry.situations)


def method_from(method: str | Extrapolator, settings: Mapping[str, object]) -> Extrapolator:
    """Return a method given by name and settings, or as an object, which has its settings already."""
    if isinstance(method, str):
        return make_method(method, **settings)
    if not isinstance(method, Extrapolator):
        raise MensuraError(f"method: expected a name ({', '.join(METHODS)}) or a method object, got {method!r}")
    if settings:
        raise MensuraError(
            f"settings {', '.join(map(repr, settings))}: give them to the method object itself, or name the method"
        )
    return method


@dataclass(frozen=True, eq=False, repr=False)
class Extrapolation(Result):
    """Predicted rates of a reference population.

    ``table``: item, rate, low, high, status (``extrapolated``, or ``measured`` where the reference's own
    rate was given), method, and where a language model was asked, ``calls`` per item (a rate is null where none of
    its answers could be read). ``low`` and ``high`` bound the reference rate with probability ``level``;
    ``interval`` says of what kind they are. ``sensitivity``: how far the mean predicted rate hangs on each
    assumption or data source (assumption, value, low, high, rate_low, rate_high, swing, share), largest
    first; empty when nothing is assumed. ``task`` and ``settings`` reproduce the result.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table", "sensitivity")

    table: pl.DataFrame
    sensitivity: pl.DataFrame
    task: Task
    method: str
    level: float
    interval: str
    settings: Mapping[str, object]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, task: Task, method: Extrapolator, prediction: Prediction) -> Extrapolation:
        """Return the first draw of a prediction as tables; rates that were known stay as measured."""
        known, links = task.known[0], task.links[0]
        parts = {"rate": prediction.rate, "low": prediction.low, "high": prediction.high}
        table = pl.DataFrame(
            {
                "item": task.items["item"],
                **{name: np.where(known, links, part[0]) for name, part in parts.items()},
                **({} if prediction.calls is None else {"calls": prediction.calls}),
                "status": np.where(known, "measured", "extrapolated"),
                "method": [method.name] * task.size,
            },
            nan_to_null=True,
        )
        return cls(
            table=table,
            task=task,
            method=method.name,
            level=method.level,
            interval=prediction.interval,
            sensitivity=prediction.sensitivity,
            settings={**settings_of(method), "links": int(known.sum())},
            warnings=prediction.warnings,
        )

    @property
    def focal(self) -> Population:
        """Who was observed."""
        return self.task.focal

    @property
    def reference(self) -> Population:
        """Whose rates these are."""
        return self.task.reference

    @property
    def heading(self) -> str:
        """Method, populations, kind of interval, and what the rates hang on most."""
        kind = f" ({self.interval})" if self.interval else ""
        top = ", ".join(self.sensitivity.head(3)["assumption"].to_list())
        return (
            f"{self.method}: {self.table.height} items, {self.focal.name} → {self.reference.name}, "
            f"{self.level:.0%} intervals{kind}{f'; hangs most on: {top}' if top else ''}"
        )

    @property
    def shown(self) -> pl.DataFrame:
        """The rates, without the method that the heading names."""
        return self.table.drop("method")

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the rates and what they hang on."""
        return {"rates": self.table, "sensitivity": self.sensitivity}


def settings_of(method: Extrapolator) -> dict[str, object]:
    """Return the settings of a method that are plain values: what a reader needs to run it again."""
    plain = (bool, int, float, str, type(None))
    names: list[str] = [entry.name for entry in fields(method)] if is_dataclass(method) else []
    return {name: getattr(method, name) for name in names if isinstance(getattr(method, name), plain)}


@check_arguments
def extrapolate(
    pool: ItemPool | str | Path,
    *,
    to: Population | str = "world",
    group: str = ALL,
    focal: Population | str | None = None,
    method: str | Extrapolator = "poststratification",
    links: Any = None,
    kind: str | None = None,
    world: World | None = None,
    description: str = "",
    **settings: object,
) -> Extrapolation:
    """Predict the rates that another population would have on the items of a pool.

    Parameters
    ----------
    pool : ItemPool or path
        The items with the rates of at least one group.
    to : Population or str
        Who is wanted, as a population or by name (``"world"``, ``"pisa"``, ``"Japan"``).
    group : str
        The group of the pool to predict from.
    focal : Population or str, optional
        Who the group is; when not given, the pool's covariates say it.
    method : str or Extrapolator
        A name of :data:`METHODS`, or a method object. Those that ask a language model need an ``asker``.
    links : table of any library, or path, optional
        item, rate and, where known, n of the population wanted on some of the items.
    kind : str, optional
        What sets the two groups apart (country, education, age …); country when not given.
    world : World, optional
        World tables that replace the shipped ones.
    description : str
        What the pool is, in words; when empty, what its folder says, else its name.
    **settings
        Settings of a method given by name, such as ``draws``, ``seed``, ``level`` or ``domain``.

    Returns
    -------
    Extrapolation
        A rate with its interval per item, and what the rates depend on.

    Raises
    ------
    MensuraError
        If the method is unknown, needs links, or has no use for an argument.

    Examples
    --------
    >>> import mensura
    >>> import polars as pl
    >>> items = pl.DataFrame({"item": ["q1", "q2"], "domain": ["mathematics"] * 2})
    >>> answers = pl.DataFrame({"person": range(40), "q1": [1, 1, 1, 0] * 10, "q2": [1, 0, 0, 0] * 10})
    >>> pool = mensura.ItemPool.from_answers("school", items, answers)
    >>> carried = mensura.extrapolate(pool, focal="pisa", to="world")
    >>> carried.table.columns[:4]
    ['item', 'rate', 'low', 'high']

    """
    tables = world or World.load()
    if method == PostStratification.name:
        settings = {"world": tables, **settings}
    chosen = method_from(method, settings)
    _check_use(chosen, {"links": links, "kind": kind})
    source = ItemPool.of(pool)
    rates = source.rates_of(group)
    description = description or (source.name if isinstance(pool, ItemPool) else read_description(pool))
    if focal is None:
        focal = _focal(source, group, description, tables, in_words=isinstance(chosen, AskingMethod))
    observed, wanted = (tables.population(who) if isinstance(who, str) else who for who in (focal, to))
    words = {"kind": kind or "country", "pool": source.name, "description": description, "group": group}
    task = make_task(source.items, rates, observed, wanted, links=links, **words)
    return Extrapolation.of(task, chosen, chosen.predict(task))


def _focal(pool: ItemPool, group: str, description: str, tables: World, *, in_words: bool) -> Population:
    """Return who a group of a pool is; ``in_words``: prose will do where the covariates have no structure."""
    try:
        whole = describe(pool, tables)
    except MensuraError:
        if not in_words:
            raise
        whole = Population(pool.name, f"The people tested: {description}")
    return population_of(group, whole, tables)


def _check_use(method: Extrapolator, given: Mapping[str, object]) -> None:
    """Refuse arguments that a method has no use for, and a method that lives on links where there are none."""
    entry = METHODS.get(method.name)
    if entry is None:
        return
    for name in (name for name in entry.unused if given[name] is not None):
        users = ", ".join(other for other, one in METHODS.items() if name not in one.unused)
        raise MensuraError(f"{name}: method {method.name!r} does not use it; leave it out, or choose one of {users}")
    if given["links"] is None and LINKED in entry.situations and DESCRIBED not in entry.situations:
        raise MensuraError(
            f"method {method.name!r} needs linking items: rates of the reference population on some items (links)"
        )


def single_item(rate: float | None, n: int | None, options: int | None, domain: str | None) -> ItemPool:
    """Return a pool of one item with its rate, number of answers, number of answer options and domain."""
    items = pl.DataFrame({"item": ["item"], "domain": [domain], "n_options": [options]}, strict=False)
    row = {"item": "item", "covariate": ALL, "group": ALL, "n": n, "correct": None, "rate": rate, "se": None}
    types = {"n": pl.Int64, "correct": pl.Int64, "rate": pl.Float64, "se": pl.Float64}
    return ItemPool("item", items, pl.DataFrame([row], schema_overrides=types))


def example_pool() -> ItemPool:
    """Return the shipped example: sixteen items, two imagined groups; nobody was tested."""
    return ItemPool.from_rates(EXAMPLE_NAME, item_table(EXAMPLE_NAME), read_csv(EXAMPLE / "group_rates.csv"))
