"""Columns of a user's table by meaning: by their usual names, or as the user maps them (``rate=p_correct``)."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import first_row
from mensura.intake.records import simple_name
from mensura.intake.tables import as_frame
from mensura.intake.text import BLANK, typed

NAMES: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "data" / "columns.toml").read_text(encoding="utf-8")
)
"""Names that columns go by, by the kind of table and what they mean."""
FIELDS: Mapping[str, Sequence[str]] = NAMES["rates"]
"""Other names of the columns of rates, levels and outcomes, in simple spelling; the first that a table has counts."""
SHARES = ("rate", "low", "high", "observed", "correct")
"""Fields that are shares."""
_OUTCOMES = {word: right for right, words in enumerate(NAMES["shares"].values()) for word in words}
"""What a share is in words: 0 or 1."""
SHARED = "item"
"""The field that several tables of one question have, each under a name of its own."""
_NEAR = 0.6  # how like a column's name must be to a wanted one to be offered for it


def facts_about_people(titles: Sequence[str]) -> list[str]:
    """Return the columns that are named like facts about people, such as sex or cov_sex; none where all are."""
    facts = [title for title in titles if simple_name(title).removeprefix("cov_") in NAMES["facts"]["people"]]
    return facts if len(facts) < len(titles) else []


def parse_map(text: str | None, fields: Collection[str], example: str) -> dict[str, str]:
    """Read ``rate=p_correct,item=qid``: the column of each field."""
    columns: dict[str, str] = {}
    for part in filter(str.strip, (text or "").split(",")):
        field, _, column = (word.strip() for word in part.partition("="))
        if field not in fields or not column:
            raise MensuraError(
                f"--map {part.strip()!r}: expected FIELD=COLUMN with a field of {', '.join(fields)}, such as {example}"
            )
        columns[field] = column
    return columns


def find_columns(
    titles: Sequence[str],
    fields: Mapping[str, Sequence[str]],
    mapped: Mapping[str, str],
    name: str,
    shared: Collection[str] = (),
) -> dict[str, str | None]:
    """Return the column of every field: the ``mapped`` one, else the first of its usual names that a table has.

    A mapped column may be a path inside a column, with dots. One of a ``shared`` field may be in another table.
    """
    simple = {simple_name(title): title for title in reversed(titles)} | {title: title for title in titles}
    chosen: dict[str, str | None] = {}
    for field, names in fields.items():
        column = mapped.get(field)
        if column is not None and not any(column == title or column.startswith(f"{title}.") for title in titles):
            if field not in shared:
                expected = listed_names(list(titles))
                raise MensuraError(f"{name}: --map {field}={column}: no such column; expected one of {expected}")
            column = None
        usual = (simple[word] for word in names if word in simple and simple[word] not in chosen.values())
        chosen[field] = column or next(usual, None)
    return chosen


def read_columns(
    source: Any,
    fields: Sequence[str],
    *,
    name: str,
    needed: Sequence[str] = (),
    numbers: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Read a table of any format or library and give its columns the names of ``fields``.

    Parameters
    ----------
    source
        A table, or the path of a file (:func:`mensura.intake.tables.read_noted`).
    fields
        Names of ``FIELDS``; a column of another name stays as it is.
    name
        The argument or file that messages name.
    needed
        Fields that must be there.
    numbers
        Fields whose cells are numbers, with the words for missing values that files have.
    columns
        The column of each field, where the user says it; the item's may be that of another table.

    Raises
    ------
    MensuraError
        If a needed column is missing, or a cell of ``numbers`` is no number.

    """
    name = str(source) if isinstance(source, str | Path) else name
    frame = as_frame(source, name=name)
    usual = {field: (field, *FIELDS[field]) for field in fields}
    chosen = find_columns(frame.columns, usual, columns or {}, name, shared=(SHARED,))
    titles = {field: title for field, title in chosen.items() if title is not None}
    missing = next((field for field in needed if field not in titles), None)
    if missing is not None:
        near = get_close_matches(missing, [title.strip().lower() for title in frame.columns], 1, _NEAR)
        alike = [title for title in frame.columns if title.strip().lower() in near]
        hint = f" (rename {alike[0]!r}?)" if alike else ""
        raise MensuraError(
            f"{name}: missing column {missing!r}; it has {', '.join(frame.columns) or 'none'}{hint}. Add it, or say "
            f"--map {missing}=COLUMN"
        )
    taken = [field for field, title in titles.items() if field != title and field in frame.columns]
    frame = frame.drop(taken).rename({title: field for field, title in titles.items()})
    return with_numbers(frame, [field for field in numbers if field in titles], name, needed)


def with_numbers(
    frame: pl.DataFrame, fields: Sequence[str], name: str, needed: Sequence[str] = (), shares: Sequence[str] = SHARES
) -> pl.DataFrame:
    """Return the fields as real numbers; a cell that is none is refused, by its item or task where there is one.

    Of ``shares``, 40% is 0.4, and words such as yes and failed are 1 and 0.
    """
    cells, _ = typed(frame.select(_share(frame[field]) if field in shares else field for field in fields), BLANK)
    read = frame.with_columns(cells.select(pl.all().cast(pl.Float64, strict=False).fill_nan(None)))
    for field in fields:
        given = frame[field].cast(pl.String).str.strip_chars().str.to_lowercase().is_in(BLANK).not_()
        wrong = read[field].is_null() & (given.fill_null(False) | pl.lit(field in needed))
        if row := first_row(frame.filter(pl.select(wrong).to_series())):
            whose = "".join(f" of {kind} {row[kind]!r}" for kind in ("item", "task") if kind in row)
            raise MensuraError(f"{name}: {field}{whose} is {row[field]!r}; expected a number")
    return read


def _share(cells: pl.Series) -> pl.Series:
    if cells.dtype != pl.String:
        return cells
    percent = cells.str.extract(r"^\s*([\d.]+)\s*%\s*$").cast(pl.Float64, strict=False) / 100
    words = cells.str.strip_chars().str.to_lowercase().replace_strict(_OUTCOMES, default=None, return_dtype=pl.Int8)
    return percent.fill_null(words).cast(pl.String).fill_null(cells).alias(cells.name)


# Success rates by item: shares with their intervals, numbers of people and numbers of options.

FEWEST_OPTIONS = 2
FIGURES = ("rate", "low", "high", "n", "options")
_SHARE = "a share from 0 to 1"


def read_rates(
    source: Any,
    *,
    name: str = "rates",
    needed: Sequence[str] = ("item", "rate"),
    figures: Sequence[str] = FIGURES,
    columns: Mapping[str, str] | None = None,
    one_pool: bool = True,
) -> pl.DataFrame:
    """Read rates by item from a table of any format or library.

    Parameters
    ----------
    source
        A table or path with item, rate and, where known, low, high (a 90% interval), n (people), options, pool. Of the
        items table of ``mensura baseline`` the rows of the world count.
    name
        The argument that messages name.
    needed
        Columns that must be there.
    figures
        Figures to read; other columns are passed over.
    columns
        The column of each field, where the user says it.
    one_pool
        Whether an item has one rate in the whole table; else one in each pool.

    Returns
    -------
    polars.DataFrame
        item, pool (null where the table has none) and ``figures``, null where unknown.

    Raises
    ------
    MensuraError
        If a column is missing, a figure is impossible, or an item has two rates.

    """
    name = str(source) if isinstance(source, str | Path) else name
    fields = [*dict.fromkeys((*needed, "item", "pool", *figures))]
    figures = [field for field in fields if field not in ("item", "pool")]
    frame = _of_the_world(read_columns(source, fields, name=name, needed=needed, columns=columns))
    frame = read_columns(frame, fields, name=name, needed=needed, numbers=figures)
    absent = [pl.lit(None, dtype=pl.Float64).alias(field) for field in figures if field not in frame.columns]
    if "pool" not in frame.columns:
        absent.append(pl.lit(None, dtype=pl.String).alias("pool"))
    frame = frame.with_columns(absent).select(pl.col("item", "pool").cast(pl.String), *figures)
    _refuse_wrong_figures(frame, name, figures)
    keys = ["item"] if one_pool else ["pool", "item"]
    twice = frame.filter(pl.struct(keys).is_duplicated())
    if twice.height:
        item = twice["item"][0]
        raise MensuraError(
            f"{name}: item {item!r} has {(twice['item'] == item).sum()} rates; give one row per item (one population, "
            "one estimate)"
        )
    return frame


def _of_the_world(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the world's rows of an items table of ``mensura baseline``; items without an estimate are left out."""
    if not {"population", "status", "rate"} <= set(frame.columns):
        return frame
    return frame.filter((pl.col("population") == "world") & pl.col("rate").is_not_null())


def _refuse_wrong_figures(frame: pl.DataFrame, name: str, figures: Sequence[str]) -> None:
    rules = {
        **{field: (pl.col(field).is_between(0, 1), _SHARE) for field in ("rate", "low", "high", "observed")},
        "n": (pl.col("n") > 0, "a number of people above 0"),
        "options": (pl.col("options") >= FEWEST_OPTIONS, "2 or more, empty if open"),
    }
    for field in figures:
        right, allowed = rules[field]
        wrong = frame.filter(~right)
        if wrong.height:
            more = f" ({wrong.height} such items)" if wrong.height > 1 else ""
            raise MensuraError(
                f"{name}: {field} of item {wrong['item'][0]!r} is {wrong[field][0]:g}; expected {allowed}{more}"
            )
    if "low" not in figures:
        return
    crossed = frame.filter((pl.col("low") > pl.col("rate")) | (pl.col("high") < pl.col("rate")))
    if crossed.height:
        item, low, rate, high = crossed.select("item", pl.col("low").fill_null(0.0), "rate", "high").row(0)
        raise MensuraError(
            f"{name}: item {item!r} has rate {rate:g} outside its interval {low:g} to {1.0 if high is None else high:g}"
            "; correct low, rate or high"
        )
