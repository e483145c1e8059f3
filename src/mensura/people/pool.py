"""Item pools: test items, the groups of people who took them, and how often each group was right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.errors import MensuraError, counted
from mensura.core.files import write_csv
from mensura.core.folders import whole_folder
from mensura.core.results import Result
from mensura.intake.tables import as_frame, find_table
from mensura.people.rates import ALL, tabulate
from mensura.people.tidy import check_items, check_persons, check_rates, read_tables, widen

MOST_LEVELS = 60  # of a covariate whose levels are groups; more are numbers or names
WRITER = "people"
_FILES = ("items.csv", "group_rates.csv", "persons.csv", "responses.parquet", "administration.csv")
MODES = ("paper", "computer", "web", "interview", "mixed")
"""On paper, on a computer under supervision, on the web without, read out by an interviewer, or several of these."""
EARLIEST, LATEST = 1900, 2100
_ADMINISTERED = {"year": pl.Int64, "language": pl.String, "mode": pl.String}


@dataclass(frozen=True)
class Administration:
    """How a test was given, which its rates depend on; None where unknown.

    Attributes
    ----------
    year
        Year of the test, 1900 to 2100.
    language
        Language of the items.
    mode
        paper, computer, web, interview or mixed.

    Raises
    ------
    MensuraError
        If the year or the mode is impossible.

    """

    year: int | None = None
    language: str | None = None
    mode: str | None = None

    def __post_init__(self) -> None:
        if self.year is not None and not EARLIEST <= self.year <= LATEST:
            raise MensuraError(f"administration: year must lie between {EARLIEST} and {LATEST}, got {self.year}")
        if self.mode is not None and self.mode not in MODES:
            raise MensuraError(f"administration: unknown mode {self.mode!r}; expected one of {', '.join(MODES)}")

    @classmethod
    def from_table(cls, table: pl.DataFrame, *, name: str) -> Administration:
        """Read a table of one row; columns it lacks, and empty fields, are unknown."""
        if table.height != 1:
            raise MensuraError(f"{name}: one row is needed (year, language, mode), got {table.height}")
        if unknown := set(table.columns) - set(_ADMINISTERED):
            raise MensuraError(f"{name}: unknown column {unknown.pop()!r}; expected {', '.join(_ADMINISTERED)}")
        row = table.row(0, named=True)
        year = row.get("year")
        if year is not None and not (isinstance(year, int | float) and float(year).is_integer()):
            raise MensuraError(f"{name}: year must be a whole number, got {year!r}")
        return cls(None if year is None else int(year), row.get("language") or None, row.get("mode") or None)

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return self != UNKNOWN

    def table(self) -> pl.DataFrame:
        """Return year, language and mode as a table of one row."""
        return pl.DataFrame([(self.year, self.language, self.mode)], schema=_ADMINISTERED, orient="row")

    def __str__(self) -> str:
        return ", ".join(str(part) for part in (self.year, self.language, self.mode) if part is not None)


UNKNOWN = Administration()

_LOG = {"kind": pl.String, "id": pl.String, "reason": pl.String}


def empty_log() -> pl.DataFrame:
    """Return an exclusion log (kind, id, reason) without rows."""
    return pl.DataFrame(schema=_LOG)


def is_pool(source: Any) -> bool:
    """Return whether a source is a pool of people, or the folder of one."""
    if isinstance(source, str | Path):
        return find_table(Path(source), "items") is not None
    return isinstance(source, ItemPool)


@dataclass(frozen=True, eq=False, repr=False)
class ItemPool(Result):
    """Items, rates of groups and, where there are any, the persons and answers behind them.

    Attributes
    ----------
    name
        Name of the pool.
    items
        item, domain and, where known, text, options, answer (the key), format, scoring, language, n_options,
        needs_picture.
    rates
        item, covariate, group, n, correct, rate, se; group ``all`` is the whole sample with every focal group inside it
        (part-to-whole).
    persons
        person and covariates, null for unknown.
    responses
        person and one column per item, 1, 0 or null (not given, not reached), its rows in the order of ``persons``.
    exclusions
        kind, id, reason of whatever was left out.
    warnings
        What the reader assumed.
    administration
        Year, language and mode of the test, where known.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("items", "rates", "persons", "responses", "exclusions")
    DIGITS: ClassVar[int] = 0

    name: str
    items: pl.DataFrame
    rates: pl.DataFrame
    persons: pl.DataFrame | None = None
    responses: pl.DataFrame | None = None
    exclusions: pl.DataFrame = field(default_factory=empty_log)
    warnings: tuple[str, ...] = ()
    administration: Administration = UNKNOWN

    @classmethod
    def of(cls, pool: ItemPool | str | Path) -> ItemPool:
        """Return a pool as it is, or the one in the folder of that path."""
        if isinstance(pool, ItemPool):
            return pool
        if not isinstance(pool, str | Path):
            raise MensuraError(f"pool: expected an ItemPool or the path of its folder, got {type(pool).__name__}")
        return cls.read(pool)

    @classmethod
    def read(cls, folder: str | Path) -> ItemPool:
        """Read a tidy folder (see :mod:`mensura.people.tidy`).

        Rates come from ``group_rates`` where it is there, else from the answers, by every covariate that has
        between 2 and 60 levels.
        """
        folder = Path(folder)
        tables, warnings = read_tables(folder)
        persons, responses = tables.get("persons"), tables.get("responses")
        if responses is not None:
            persons, responses = _align(persons, responses)
            if "group_rates" not in tables:
                tables["group_rates"] = tabulate(responses, persons, by=_groupable(persons))
        administration = UNKNOWN
        if "administration" in tables:
            administration = Administration.from_table(tables["administration"], name=f"{folder}/administration")
        rates, name = tables["group_rates"], folder.resolve().name
        return cls(
            name, tables["items"], rates, persons, responses, warnings=tuple(warnings), administration=administration
        )

    @classmethod
    def from_rates(cls, name: str, items: Any, rates: Any) -> ItemPool:
        """Build a pool of published rates; ``rates`` as in :func:`mensura.people.tidy.check_rates`."""
        table, warnings = check_rates(as_frame(rates, name="rates"), name="rates")
        return cls(name, check_items(as_frame(items, name="items"), name="items"), table, warnings=tuple(warnings))

    @classmethod
    def from_answers(
        cls,
        name: str,
        items: Any,
        responses: Any,
        persons: Any = None,
        *,
        by: Iterable[str | Sequence[str]] | None = None,
        weight: str | None = None,
    ) -> ItemPool:
        """Build a pool from scored answers: person, item, correct, or person and one column per item."""
        items = check_items(as_frame(items, name="items"), name="items")
        answers = as_frame(responses, name="responses")
        if {"item", "correct"} <= set(answers.columns):
            answers = widen(answers, items["item"].to_list(), name="responses")
        answers = check_persons(answers, name="responses")
        table = None if persons is None else check_persons(as_frame(persons, name="persons"), name="persons")
        table, answers = _align(table, answers)
        chosen = _groupable(table, besides=weight) if by is None else by
        return cls(name, items, tabulate(answers, table, by=chosen, weight=weight), table, answers)

    @property
    def groups(self) -> pl.DataFrame:
        """The groups with rates: covariate, group, n_items, n (median number of answers per item)."""
        return (
            self.rates.group_by("covariate", "group", maintain_order=True)
            .agg(n_items=pl.len(), n=pl.col("n").median())
            .select("covariate", "group", "n_items", "n")
        )

    def rates_of(self, group: str = ALL) -> pl.DataFrame:
        """Return item, n, correct, rate, se of one group, such as ``"all"`` or ``"country=AUS"``."""
        table = self.rates.filter(pl.col("group") == group)
        if table.is_empty():
            groups = self.groups["group"].to_list()
            shown = ", ".join(groups[:12]) + (f" … ({len(groups)} groups)" if len(groups) > 12 else "")
            raise MensuraError(f"pool {self.name!r} has no group {group!r}; expected one of {shown}")
        if table["covariate"].n_unique() > 1:
            owners = ", ".join(table["covariate"].unique().sort())
            raise MensuraError(
                f"pool {self.name!r}: group {group!r} occurs under {owners}; write it as COVARIATE={group} in the "
                "group column"
            )
        return table.select("item", "n", "correct", "rate", "se")

    def tabulate(self, by: Iterable[str | Sequence[str]], *, weight: str | None = None) -> pl.DataFrame:
        """Return the rates of ``all`` and of the groups ``by`` asks for, counted from the answers."""
        if self.responses is None:
            raise MensuraError(f"pool {self.name!r} has published rates only, no answers to count; add responses.csv")
        return tabulate(self.responses, self.persons, by=by, weight=weight)

    def answers(self) -> pl.DataFrame:
        """Return the answers long: person, item, correct."""
        if self.responses is None:
            raise MensuraError(f"pool {self.name!r} has published rates only, no answers; add responses.csv")
        return self.responses.unpivot(index="person", variable_name="item", value_name="correct").drop_nulls("correct")

    def write(self, folder: str | Path) -> None:
        """Write the pool as a tidy folder that :meth:`read` reads back, in place of a pool written there before."""
        for written in _FILES:
            other = find_table(Path(folder), written.partition(".")[0])
            if other is not None and other.name != written:
                raise MensuraError(f"{other}: would stand beside the new {written} as a second one; move it away first")
        with whole_folder(Path(folder), WRITER) as stage:
            write_csv(self.items, stage / "items.csv")
            write_csv(self.rates.rename({"correct": "n_correct"}), stage / "group_rates.csv")
            if self.administration.known:
                write_csv(self.administration.table(), stage / "administration.csv")
            if self.exclusions.height:
                write_csv(self.exclusions, stage / "exclusions.csv")
            if self.persons is not None:
                write_csv(self.persons, stage / "persons.csv")
            if self.responses is not None:
                self.answers().write_parquet(stage / "responses.parquet")

    @property
    def heading(self) -> str:
        """How many items, persons and groups, and how much was left out."""
        people = "published rates" if self.persons is None else f"{self.persons.height:,} persons"
        gone = f", {counted(self.exclusions.height, 'exclusion')} (see .exclusions)" if self.exclusions.height else ""
        given = f" ({self.administration})" if self.administration.known else ""
        items, groups = counted(self.items.height, "item"), counted(self.groups.height, "group")
        return f"{self.name}{given}: {items}, {people}, {groups}{gone}"

    @property
    def shown(self) -> pl.DataFrame:
        """The groups."""
        return self.groups

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables the pool has, by name."""
        return {name: table for name, table in super().tables().items() if table is not None}


def _align(persons: pl.DataFrame | None, responses: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give every person who answered a row of covariates, in the order of the answers."""
    if persons is None:
        return responses.select("person"), responses
    if persons["person"].dtype != responses["person"].dtype:
        persons = persons.with_columns(pl.col("person").cast(pl.String))
        responses = responses.with_columns(pl.col("person").cast(pl.String))
    return responses.select("person").join(persons, on="person", how="left", maintain_order="left"), responses


def _groupable(persons: pl.DataFrame, besides: str | None = None) -> list[str]:
    """Return the covariates with few enough levels to be groups."""
    names = [name for name in persons.columns if name not in {"person", "weight", besides}]
    return [name for name in names if 2 <= persons[name].drop_nulls().n_unique() <= MOST_LEVELS]
