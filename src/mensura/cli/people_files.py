"""Words on the command line about a file of answers: its columns, codes, groups and items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mensura.core.errors import MensuraError, listed_names

if TYPE_CHECKING:
    import polars as pl

    from mensura.intake.tables import NotedTable


def names_in(text: str) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]


def crossings_in(text: str) -> list[tuple[str, ...]]:
    """Return groups of covariates: commas separate them, + crosses them."""
    return [tuple(name.split("+")) for name in names_in(text)]


def require_columns(option: str, names: list[str], raw: NotedTable) -> None:
    """Refuse names that are no columns of the file."""
    for name in names:
        if name not in raw.frame.columns:
            raise MensuraError(
                f"{option} {name}: no such column; expected one of {listed_names(raw.frame.columns)}. Correct the name."
            )


def labels_in(entries: list[str], covariates: list[str]) -> dict[str, dict[str, str]]:
    """Return what the codes of each covariate mean, as --label says."""
    found = {}
    for entry in entries:
        covariate, _, pairs = entry.partition("=")
        codes = [pair.partition(":") for pair in names_in(pairs)]
        if covariate not in covariates or not codes or not all(code and name for code, _, name in codes):
            raise MensuraError(
                f"--label {entry}: expected COVARIATE=CODE:NAME,CODE:NAME such as sex=1:female,2:male, "
                f"of a covariate that is kept ({', '.join(covariates) or 'none: see --covariates'})"
            )
        found[covariate] = {code: name for code, _, name in codes}
    return found


def widened(raw: NotedTable, long: str, person: list[str], kept: list[str]) -> NotedTable:
    """Return a table of one row per answer as one of a row per person."""
    from mensura.intake.persons import widen_answers

    columns = names_in(long)
    if len(columns) != 2:
        raise MensuraError(f"--long {long}: expected two columns, the item's and the answer's, such as item,correct")
    return widen_answers(raw, columns[0], columns[1], person, kept)


def edges_in(entry: str) -> tuple[str, list[int]]:
    """Return the covariate and the edges of its bands."""
    covariate, _, edges = entry.partition("=")
    try:
        return covariate, [int(edge) for edge in names_in(edges)]
    except ValueError as fault:
        raise MensuraError(f"--bands {entry}: expected NAME=EDGE,EDGE,… such as age=18,25,50") from fault


def renamed(raw: NotedTable, entries: list[str]) -> NotedTable:
    """Return a table with the column names that --rename gives."""
    from dataclasses import replace

    pairs = {old.strip(): new.strip() for old, _, new in (entry.partition("=") for entry in entries)}
    for old, new in pairs.items():
        if not old or not new or old not in raw.frame.columns:
            known = listed_names(raw.frame.columns)
            raise MensuraError(f"--rename {old}={new}: expected OLD=NEW of a column that is there; there are {known}")
        if new in raw.frame.columns and new not in pairs:
            raise MensuraError(f"--rename {old}={new}: there is a column {new!r} already; choose another name")
    labels = {pairs.get(name, name): label for name, label in raw.labels.items()}
    codes = {pairs.get(name, name): meanings for name, meanings in raw.codes.items()}
    return replace(raw, frame=raw.frame.rename(pairs), labels=labels, codes=codes)


def item_table(items: str, raw: NotedTable, used: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the item table, a CSV by its name, else one row per column that matches the pattern, and notes.

    A column that names or describes persons (``used``), or holds words, is no item.
    """
    import polars as pl

    from mensura.intake.persons import choose_columns
    from mensura.intake.tables import read_table

    if Path(items).is_file() or items.endswith(".csv"):
        return read_table(Path(items)), []
    matched = choose_columns(items, raw.frame.columns)
    words = [name for name in matched if name not in used and _holds_words(raw.frame[name])]
    others = {*used, *words}
    named = [name for name in matched if name not in others]
    if not named:
        held = f"{words[0]!r} holds {raw.frame[words[0]].drop_nulls().first()!r}" if words else "they describe persons"
        raise MensuraError(
            f"--items {items!r}: the {len(matched)} columns that match hold no points ({held}). "
            "Give a CSV of items with the columns item, answer and scoring (choice)"
        )
    no_items = [name for name in matched if name in others]
    notes = [f"columns that match --items but are no items: {listed_names(no_items)}"] if no_items else []
    rows = {"item": named, "label": [raw.labels.get(name) for name in named]}
    return pl.DataFrame(rows, strict=False), notes


def _holds_words(column: pl.Series) -> bool:
    """Return whether a column of text holds no number at all."""
    import polars as pl

    return column.dtype == pl.String and column.count() > 0 and column.cast(pl.Float64, strict=False).count() == 0
