"""One table of persons and their answers becomes a pool: its columns are sorted into items, persons and covariates."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError, counted, listed_names
from mensura.intake.persons import choose_columns, split_persons, widen_answers
from mensura.intake.tables import NotedTable, read_table
from mensura.people.harmonising import HarmonisingRules, harmonise
from mensura.people.pool import Administration, ItemPool
from mensura.people.tidy import check_items


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns of a table hold what; the others are not used.

    Parameters
    ----------
    items : str
        A wildcard, names or a regular expression of the columns with answers, or the name of a CSV file of items.
    person : sequence of str
        The columns that identify a person together; rows are numbered when there is none.
    covariates : sequence of str
        Columns to keep about persons.
    by : sequence of tuple of str
        Covariates that make groups, or several crossed.
    weight : str, optional
        Covariate that holds survey weights.
    long : sequence of str
        Of a table with one row per answer: the columns of item and answer.

    """

    items: str
    person: Sequence[str] = ()
    covariates: Sequence[str] = ()
    by: Sequence[tuple[str, ...]] = ()
    weight: str | None = None
    long: Sequence[str] = ()

    def kept(self, raw: NotedTable) -> list[str]:
        """Return the covariates of all uses, each once; refuse a group by a column that is not there."""
        of_groups = [name for names in self.by for name in names]
        for name in of_groups:
            if name not in raw.frame.columns and name not in self.covariates:
                there = listed_names(raw.frame.columns)
                raise MensuraError(f"--by {name}: no such column; expected one of {there}. Correct the name.")
        return list(dict.fromkeys([*self.covariates, *of_groups, *([self.weight] if self.weight else [])]))


@dataclass(frozen=True)
class ImportedPool:
    """A pool, the answers it was made of, and notes about columns."""

    pool: ItemPool
    answers: pl.DataFrame
    notes: list[str] = field(default_factory=list)


def import_pool(
    name: str,
    raw: NotedTable,
    columns: Columns,
    *,
    rules: HarmonisingRules,
    administration: Administration,
    domain: str | None = None,
) -> ImportedPool:
    """Turn a table into a pool; ``domain``: that of items that have none."""
    kept = columns.kept(raw)
    if columns.long:
        item, answer = columns.long
        raw = widen_answers(raw, item, answer, columns.person, kept)
    table, notes = _item_table(columns.items, raw, {*columns.person, *kept})
    if domain is not None:
        table = check_items(table, name=columns.items)
        table = table.with_columns(pl.col("domain").cast(pl.String).fill_null(domain))
    there = dict.fromkeys(raw.frame.columns)  # looked up once: there may be many thousands
    named = [item for item in table["item"] if item in there]
    unused = [column for column in there if column not in {*named, *columns.person, *kept}]
    notes = [*raw.notes, *notes, *([f"columns not used: {listed_names(unused)}"] if unused else [])]
    answers, persons = split_persons(raw, named, columns.person, kept)
    pool = harmonise(name, table, answers, persons, rules=rules, by=columns.by or None, weight=columns.weight)
    return ImportedPool(replace(pool, administration=administration), answers, notes)


def rename_columns(raw: NotedTable, names: dict[str, str]) -> NotedTable:
    """Give columns other names, by their present ones; labels and codes follow."""
    columns = raw.frame.columns
    for old, new in names.items():
        if not old or not new or old not in columns:
            there = listed_names(columns)
            raise MensuraError(f"--rename {old}={new}: expected OLD=NEW of a column that is there; there are {there}")
        if new in columns and new not in names:
            raise MensuraError(f"--rename {old}={new}: there is a column {new!r} already; choose another name")
    labels = {names.get(name, name): label for name, label in raw.labels.items()}
    codes = {names.get(name, name): meanings for name, meanings in raw.codes.items()}
    return replace(raw, frame=raw.frame.rename(names), labels=labels, codes=codes)


def _item_table(items: str, raw: NotedTable, used: set[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the item table, a CSV by its name, else one row per column that matches the pattern, and notes.

    A column that names or describes persons (``used``), or holds words, is no item.
    """
    if Path(items).is_file() or items.endswith(".csv"):
        return read_table(Path(items)), []
    matched = choose_columns(items, raw.frame.columns)
    words = [name for name in matched if name not in used and _holds_words(raw.frame[name])]
    others = {*used, *words}
    named = [name for name in matched if name not in others]
    if not named:
        why = f"{words[0]!r} holds {raw.frame[words[0]].drop_nulls().first()!r}" if words else "they describe persons"
        raise MensuraError(
            f"--items {items!r}: no points in {counted(len(matched), 'column')} matched ({why}). "
            "Give a CSV of items with the columns item, answer and scoring (choice)"
        )
    no_items = [name for name in matched if name in others]
    notes = [f"columns that match --items but are no items: {listed_names(no_items)}"] if no_items else []
    return pl.DataFrame({"item": named, "label": [raw.labels.get(name) for name in named]}, strict=False), notes


def _holds_words(column: pl.Series) -> bool:
    """Return whether a column of text holds no number at all."""
    return column.dtype == pl.String and column.count() > 0 and column.cast(pl.Float64, strict=False).count() == 0
