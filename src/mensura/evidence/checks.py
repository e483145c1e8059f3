"""Checking one table against its schema: raw text in, typed table and faults out."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeAlias

import polars as pl

from mensura.core.errors import Fault, MensuraError

_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")
FIRST_ROW = 2  # the header is row 1
_LIKE = 0.6  # similarity from which a name is offered as the one that was meant
_EXACT = 2.0**53  # from here on a double skips whole numbers


@dataclass(frozen=True)
class RawTable:
    """A table as read: every cell text or null, and the file it came from.

    ``origins`` says file and row of each row where they do not all come from one file in its order.
    """

    file: str
    frame: pl.DataFrame
    origins: tuple[tuple[str, int], ...] = ()

    def fault(self, index: int, column: str, value: str, expected: str) -> Fault:
        """Return a fault in the row at ``index``, named as its reader would find it."""
        file, row = self.origins[index] if self.origins else (self.file, index + FIRST_ROW)
        return Fault(file, row, column, value, expected)


def check_table(raw: RawTable, table: Table) -> tuple[pl.DataFrame, list[Fault]]:
    """Return the typed table (unusable cells null) and every fault of shape, type, range and key."""
    faults = list(_column_faults(raw, table))
    present = [column for column in table.columns if column.name in raw.frame.columns]
    empties = {column: pl.lit(None, dtype=DTYPES[column.kind]).alias(column.name) for column in table.columns}
    typed = raw.frame.select(_parsed(one) if one in present else empty for one, empty in empties.items())
    bad = raw.frame.select(_bad(column).alias(column.name) for column in present)
    for column in present:
        if column.required:
            empty = raw.frame[column.name].is_null()
            faults += row_faults(raw, empty, column.name, f"{column.expected}, not an empty cell")
        faults += row_faults(raw, bad[column.name], column.name, column.expected)
        if column.kind == "id":
            faults += _id_faults(raw, column.name)
    if not any(fault.row == 0 for fault in faults):
        faults += _key_faults(raw, table)
    return typed, faults


def reference_faults(raw: RawTable, table: Table, tables: dict[str, pl.DataFrame]) -> Iterator[Fault]:
    """Yield a fault for each cell that refers to a row that does not exist."""
    for column in table.columns:
        if column.references and column.name in raw.frame.columns:
            target, key = column.references.split(".")
            allowed = tables[target][key].drop_nulls().to_list()
            listed = {*allowed, None}
            for index, value in enumerate(raw.frame[column.name].to_list()):
                if value not in listed:
                    close = get_close_matches(value, allowed, n=1, cutoff=_LIKE)
                    hint = f" (did you mean {close[0]!r}?)" if close else ""
                    yield raw.fault(index, column.name, value, f"a {key} listed in {target}.csv{hint}")


def row_faults(raw: RawTable, bad: pl.Series, column: str, expected: Callable[[int], str] | str) -> Iterator[Fault]:
    """Yield a fault for each row where ``bad`` is true, with the raw cell of ``column``."""
    if bad.any():
        for index in bad.fill_null(False).arg_true():
            words = expected if isinstance(expected, str) else expected(index)
            yield raw.fault(index, column, _cell(raw, column, index), words)


def _cell(raw: RawTable, column: str, index: int) -> str:
    return "" if column not in raw.frame.columns else str(raw.frame[column][index] or "")


def _column_faults(raw: RawTable, table: Table) -> Iterator[Fault]:
    names = [column.name for column in table.columns]
    for column in table.columns:
        if column.required and column.name not in raw.frame.columns:
            yield Fault(raw.file, 0, column.name, "", f"this column ({column.about}); the file does not have it")
    for name in raw.frame.columns:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            yield Fault(raw.file, 0, name, name, f"one of the columns {', '.join(names)}{hint}")


def _parsed(column: Column) -> pl.Expr:
    cell = pl.col(column.name)
    if column.kind == "number":
        number = cell.cast(pl.Float64, strict=False)
        return pl.when(number.is_finite()).then(number).alias(column.name)
    if column.kind == "integer":
        number = cell.cast(pl.Float64, strict=False)
        whole = number.is_finite() & (number == number.floor()) & (number.abs() < _EXACT)
        return pl.when(whole).then(number).cast(pl.Int64).alias(column.name)
    if column.kind == "flag":
        lower = cell.str.to_lowercase()
        return pl.when(lower.is_in(_YES)).then(True).when(lower.is_in(_NO)).then(False).alias(column.name)
    if column.kind == "date":
        return cell.str.to_date("%Y-%m-%d", strict=False)
    if column.kind == "when":  # words such as "spring 2026" stay; digits that are no day or month are a slip
        day = cell + pl.when(cell.str.contains(r"^\d+-\d+$")).then(pl.lit("-01")).otherwise(pl.lit(""))
        real = day.str.to_date("%Y-%m-%d", strict=False).is_not_null()
        return pl.when(real | ~cell.str.contains(r"^\d+-\d+(-\d+)?$")).then(cell).alias(column.name)
    return cell


def _bad(column: Column) -> pl.Expr:
    """Where a cell is not what its column may hold; null where that cannot be told."""
    cell, typed = pl.col(column.name), _parsed(column)
    bad = cell.is_not_null() & typed.is_null()
    if column.one_of:
        bad |= cell.is_not_null() & ~cell.is_in(column.one_of)
    if column.low is not None:
        bad |= typed < column.low
    if column.high is not None:
        bad |= typed > column.high
    return bad


def _id_faults(raw: RawTable, column: str) -> Iterator[Fault]:
    """Yield a fault for each id that may not stand, and each that is another's twin, where it stands first."""
    folded: dict[str, str] = {}
    first: dict[str, int] = {}
    for index, value in enumerate(raw.frame[column].to_list()):
        if value is not None:
            first.setdefault(value, index)
    for value, index in first.items():
        fault, twin = id_fault(value), folded.setdefault(fold(value), value)
        if fault is not None:
            yield raw.fault(index, column, value[:LONGEST], fault)
        elif twin != value:
            yield raw.fault(
                index, column, value, f"{twin!r}, or an id that differs from it in more than case and form of letters"
            )


def _key_faults(raw: RawTable, table: Table) -> Iterator[Fault]:
    key = [name for name in table.key if name in raw.frame.columns]
    again = raw.frame.select(pl.struct(key).is_first_distinct().not_()).to_series()
    for index in again.arg_true() if again.any() else ():
        value = ", ".join(_cell(raw, name, index) for name in key)
        yield raw.fault(index, " + ".join(key), value, "each combination once; it stands above already")


# What a table of evidence is made of: columns, what a cell may hold, and the columns that identify a row.

Kind: TypeAlias = Literal["text", "id", "number", "integer", "flag", "date", "when"]

DTYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "id": pl.String(),
    "number": pl.Float64(),
    "integer": pl.Int64(),
    "flag": pl.Boolean(),
    "date": pl.Date(),
    "when": pl.String(),
}


@dataclass(frozen=True)
class Column:
    """One column: what it means, and what a cell may hold."""

    name: str
    about: str
    kind: Kind = "text"
    required: bool = False
    low: float | None = None
    high: float | None = None
    one_of: tuple[str, ...] = ()
    references: str = ""  # "table.column" whose values this column may hold

    @property
    def expected(self) -> str:
        """What a cell should hold, in words for error messages and documentation."""
        words = {
            "text": "text",
            "id": ALLOWED,
            "number": "a number",
            "integer": "a whole number",
            "flag": "yes or no",
            "date": "a date such as 2026-09-30",
            "when": "a day or a month, such as 2026-09-30 or 2026-09",
        }[self.kind]
        if self.one_of:
            words = f"one of {', '.join(self.one_of)}"
        if self.low is not None and self.high is not None:
            words += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            words += f" of at least {self.low:g}"
        return words


@dataclass(frozen=True)
class Table:
    """One evidence table: its columns and the columns that identify a row."""

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """Return the polars types of the checked table."""
        return {column.name: DTYPES[column.kind] for column in self.columns}


# Ids: what a model, benchmark, group or source may be called, and the name its pages and files get.
#
# An id is a key, a word in messages and tables, and, through :func:`slug`, a file name and an address. So it may be any
# name that people give to models, in any script, but holds nothing that a path, a terminal or a page could take for
# something else.

LONGEST = 100
MARKS = " ._-+:/()[],@="
ALLOWED = (
    f"an id: at most {LONGEST} letters and digits of any script, single spaces and {' '.join(MARKS.strip())}, "
    "beginning with a letter or digit"
)

_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
_LETTERS_AND_DIGITS = ("L", "N")  # general categories of Unicode
_ACCENTS = "M"
_PLAIN = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9_-])?")
_READABLE = 60  # letters of an id that its slug repeats for the reader
_DIGEST = 32  # hexadecimal digits, 128 bits: nobody finds two ids that share them


def id_fault(text: str) -> str | None:
    """Return what is wrong with an id, in words that follow "expected", or nothing where it may stand."""
    if not 0 < len(text) <= LONGEST:
        return f"{ALLOWED} (this has {len(text)})"
    stray = next((sign for sign in text if sign not in MARKS and not _is_word(sign)), None)
    if stray is not None:
        return f"{ALLOWED} (without U+{ord(stray):04X})"
    if unicodedata.normalize("NFC", text) != text:
        return f"{ALLOWED}, composed as Unicode's form NFC has it (accents joined to their letters)"
    if not unicodedata.category(text[0]).startswith(_LETTERS_AND_DIGITS):
        return ALLOWED
    if text[-1] in " ./" or "  " in text:
        return f"{ALLOWED}, without a space, dot or slash at its end"
    if any(not part.strip() or part.lstrip().startswith(".") for part in text.split("/")):
        return f"{ALLOWED}; between slashes a name that begins with no dot"
    if _is_reserved(text):
        return f"{ALLOWED}, and no name that an operating system keeps for itself ({text.split('.')[0]})"
    return None


def require_id(text: str, name: str) -> str:
    """Check an id of a model, benchmark, group or source.

    Parameters
    ----------
    text : str
        The id.
    name : str
        Where it was found, for the message.

    Returns
    -------
    str
        The id.

    Raises
    ------
    MensuraError
        If it holds signs that a path, a terminal or a page could take for something else.

    Examples
    --------
    >>> from mensura.evidence import require_id
    >>> require_id("gpt-5", "model")
    'gpt-5'

    """
    if fault := id_fault(text):
        raise MensuraError(f"{name}: got {text[:LONGEST]!r}; expected {fault}")
    return text


def fold(text: str) -> str:
    """Return what an id is without case and compatibility forms: ids that agree in this are twins."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def slug(text: str) -> str:
    """Return the name of an id in files and addresses.

    A plain id (``claude-opus-4.8``) is its own slug. Any other becomes what can be read of it, ``~`` and a digest.
    Different ids have different slugs, also where a file system ignores case.

    Parameters
    ----------
    text : str
        The id.

    Returns
    -------
    str
        At most 100 characters of a to z, 0 to 9 and . _ - ~.

    Examples
    --------
    >>> from mensura.evidence import slug
    >>> slug("claude-opus-4.8")
    'claude-opus-4.8'
    >>> slug("Qwen2.5 72B (FP8)").split("~")[0]
    'qwen2.5-72b-fp8'

    """
    if len(text) <= LONGEST and _PLAIN.fullmatch(text) and not _is_reserved(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable(text)}~{digest[:_DIGEST]}"


def readable(text: str) -> str:
    """Return what can be read of an id in a to z, 0 to 9, . and -; different ids may give the same."""
    latin = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9.]+", "-", latin)[:_READABLE].strip("-.") or "id"


def _is_word(sign: str) -> bool:
    return unicodedata.category(sign).startswith((*_LETTERS_AND_DIGITS, _ACCENTS))


def _is_reserved(text: str) -> bool:
    return fold(text).split(".")[0].strip() in _RESERVED
