"""The text of a table: its encoding, its separator and its header, found in the file itself."""

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import polars as pl

from mensura.core.errors import MensuraError, listed_names

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
BLANK = ("", ".", "-", "–", "—", "n/a", "na", "nan", "null", "none", "?", "tbd", "#n/a")
"""Words for a missing value, in small letters."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8 = ("utf-8", "utf8")
_HEAD = 4 * 2**20  # bytes that hold the first records
_DIGITS = 8  # a title of so many digits 0 and 1 is a row of answers
_LOOKED_AT = 20  # records that decide on the separator
_SNIFFED = 2000  # bytes that decide on the encoding


def decoded_text(data: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """Return the text and its encoding: by its mark, else UTF-8, else UTF-16 by its zeros, else Windows-1252."""
    if encoding is not None:
        try:
            return data.decode("utf-8-sig" if encoding.casefold() in _UTF8 else encoding), encoding
        except LookupError as fault:
            raise MensuraError(f"{name}: {fault}; expected a name such as utf-8, latin-1 or utf-16") from fault
        except UnicodeError as fault:
            raise MensuraError(f"{name}: not {encoding} ({fault}); leave --encoding out or give another") from fault
    marked = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    zeros = data[:_SNIFFED].count(0)
    coding = marked or ("utf-8" if not zeros else "utf-16-le" if data[1:2] == b"\0" else "utf-16-be")
    try:
        return data.decode(coding), coding.removesuffix("-sig")
    except UnicodeDecodeError:
        if coding != "utf-8":
            raise MensuraError(f"{name}: not readable as {coding}; save it as UTF-8") from None
    try:
        return data.decode("cp1252"), "Windows-1252 (it is not UTF-8)"
    except UnicodeDecodeError:
        raise MensuraError(f"{name}: neither UTF-8 nor Windows-1252; save it as UTF-8") from None


def separator_of(text: str, name: str) -> str:
    """Return the separator that gives the header most columns and most of the first records as many."""
    best, most, fault = ",", 1, None
    for separator in SEPARATORS:
        widths: list[int] = []
        try:
            widths.extend(len(record) for _, record in islice(written_records(text, separator), _LOOKED_AT))
        except csv.Error as error:
            fault = error  # a cell too long; the records before it decide
        if widths and widths[0] > most and sum(width == widths[0] for width in widths) > len(widths) / 2:
            best, most = separator, widths[0]
    if fault is not None and most == 1:
        raise MensuraError(f"{name}: not a table of text ({fault}); expected CSV with a header, or Parquet") from fault
    return best


def written_records(text: str, separator: str) -> Iterable[tuple[int, list[str]]]:
    """Yield the records that hold anything, each with its row; empty rows are counted, as a spreadsheet does."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    for number, record in enumerate(reader, start=1):
        if any(cell.strip() for cell in record):
            yield number, record


def plain_cell(value: object) -> str | None:
    """Return a cell as text, None where it says nothing."""
    if value is None:
        return None
    text = str(value).replace("\u00a0", " ").strip()
    return None if text.casefold() in BLANK else text


def refuse_twice(titles: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of one name."""
    filled = [title for title in titles if title]
    if len(set(filled)) < len(filled):
        twice = sorted({title for title in filled if filled.count(title) > 1})
        raise MensuraError(f"{name}: column {listed_names(list(map(repr, twice)))} is there twice; rename or drop one")


@dataclass(frozen=True, eq=False)
class TextStart:
    """The start of a table of text: its bytes as UTF-8, separator, titles, the header's row and its end in bytes."""

    data: bytes
    separator: str
    titles: list[str]
    row: int
    end: int
    notes: tuple[str, ...]


def find_start(data: bytes, name: str, encoding: str | None, header: bool, unnamed: str) -> TextStart:
    """Find the encoding, the separator and the header of the bytes of a table."""
    data, coding = _as_utf8(data, name, encoding)
    start = data[:_HEAD]
    start = start[: start.rfind(b"\n") + 1] if len(data) > _HEAD and b"\n" in start else start
    head = start.decode(errors="ignore")
    separator = separator_of(head, name)
    titles, first, end = _header(head, separator, name)
    _refuse_unseparated(titles, name)
    if header:
        _refuse_unnamed(titles, name, unnamed)
        refuse_twice(titles, name)
    else:
        titles, first, end = [f"V{place}" for place in range(1, len(titles) + 1)], 0, 0
    notes = [] if coding.casefold() in _UTF8 else [f"read as {coding}"]
    notes += [f"columns separated by {SEPARATORS[separator]}"] if separator != "," else []
    return TextStart(data, separator, titles, first, end, tuple(notes))


def _as_utf8(data: bytes, name: str, encoding: str | None) -> tuple[bytes, str]:
    """Return the bytes of a table as UTF-8 with line feeds, and the encoding they had."""
    text, coding = decoded_text(data, name, encoding)
    if "\r" in text[:_HEAD] and "\n" not in text[:_HEAD]:
        return text.replace("\r", "\n").encode(), coding
    return (data.removeprefix(codecs.BOM_UTF8) if coding.casefold() in _UTF8 else text.encode()), coding


def _header(head: str, separator: str, name: str) -> tuple[list[str], int, int]:
    """Return the cells of the first record that holds anything, its row, and the bytes up to its end."""
    lines = io.StringIO(head, newline="\n")
    try:
        for number, record in enumerate(csv.reader(lines, delimiter=separator, skipinitialspace=True), start=1):
            if any(cell.strip() for cell in record):
                return [cell.strip() for cell in record], number, len(head[: lines.tell()].encode())
    except csv.Error as fault:
        raise MensuraError(f"{name}: not a table of text ({fault}); expected CSV with a header, or Parquet") from fault
    raise MensuraError(f"{name}: no rows; expected a row of column names and rows below it")


def _refuse_unnamed(titles: Sequence[str], name: str, advice: str) -> None:
    """Refuse a first row of numbers, some of them twice, below a word at most: data, and no names of columns."""
    if not all(_is_number(title) or title.casefold() in BLANK for title in titles[1:]):
        return
    numbers = [title for title in titles if _is_number(title)]
    if len(set(numbers)) < len(numbers):
        raise MensuraError(
            f"{name}: the first row has {len(numbers):,} numbers ({', '.join(numbers[:3])} …); expected names of "
            f"columns. {advice}"
        )


def _refuse_unseparated(titles: Sequence[str], name: str) -> None:
    """Refuse a row of numbers between blanks, or of digits in one piece, with the command that puts commas there."""
    words = titles[0].split()
    if len(titles) > 1 or not all(map(_is_number, words)):
        return
    if len(words) > 1:
        what, way = f"blanks separate the {len(words)} numbers of a row", f"tr -s ' ' ',' < {name}"
    elif len(words[0]) >= _DIGITS and set(words[0]) <= {"0", "1"}:
        what, way = f"a row is one piece of {len(words[0])} digits", f"sed 's/./&,/g; s/,$//' {name}"
    else:
        return
    raise MensuraError(f"{name}: {what}; expected commas between them. Write them with: {way} > commas.csv")


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return text.casefold() not in BLANK


# The types of a table's columns of text: numbers, decimal commas and words for missing values.

TEXT_COLUMNS = (
    *("subject", "model", "benchmark", "item", "covariate", "group", "text", "answer", "key", "options"),
    *("scoring", "domain", "format", "language"),
)
"""Columns that stay text: 007 is not 7."""
_TRIED = 1000  # cells of a text column that must be numbers before all of them are tried
_COMMA_NUMBER = r"^[-−+]?\d*,\d+$"
_SURE_COMMA = r"^[-−+]?(0?,\d+|\d+,(\d{1,2}|\d{4,}))$"


def typed(frame: pl.DataFrame, blank: Sequence[str]) -> tuple[pl.DataFrame, bool]:
    """Give columns of text that hold numbers their type: words for missing values and decimal commas are read."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and name.casefold() not in TEXT_COLUMNS]
    cells = {name: frame[name].set(frame[name].str.to_lowercase().is_in(blank), None) for name in texts}
    commas = [name for name, column in cells.items() if _all_match(column, f"{_COMMA_NUMBER}|^[-−+]?\\d+$")]
    points = any(dtype.is_float() for dtype in frame.dtypes)
    comma = not points and any(cells[name].str.contains(_SURE_COMMA).any() for name in commas)
    read = {
        name: column.str.replace(",", ".", literal=True) if comma and name in commas else column
        for name, column in cells.items()
    }
    numbers = {name: column_read for name, column in read.items() if (column_read := _as_numbers(column)) is not None}
    return frame.with_columns(numbers.values()), comma


def _all_match(column: pl.Series, pattern: str) -> bool:
    some = column.drop_nulls()
    return bool(some.len() and some.head(_TRIED).str.contains(pattern).all() and some.str.contains(pattern).all())


def _as_numbers(column: pl.Series) -> pl.Series | None:
    """Return a column of text as whole numbers, real numbers or truth values; None where it holds anything else."""
    some = column.drop_nulls()
    if some.is_empty():
        return None
    for kind in (pl.Int64, pl.Float64):
        plain = column.str.replace("−", "-", literal=True)
        if plain.drop_nulls().head(_TRIED).cast(kind, strict=False).null_count():
            continue
        numbers = plain.cast(kind, strict=False)
        if numbers.null_count() == column.null_count():
            return numbers
    if some.str.to_lowercase().is_in(["true", "false"]).all():
        return column.str.to_lowercase() == "true"
    return None
