"""Read the tables that users bring, in one way: packed or not, in any usual encoding, separator and decimal sign."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError, listed_names

MOST_UNPACKED = 2**30
"""Bytes that a packed file may unpack to: the largest R file of PISA has two thirds of it."""
MOST_VALUES = 400_000_000
"""Values (rows × columns) that a table may have."""
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
BLANK = ("", "-", "–", "—", "n/a", "na", "nan", "null", "none", "?", "tbd", "#n/a")
"""Words for a missing value, in small letters."""
TEXT_COLUMNS = (
    *("subject", "model", "benchmark", "item", "covariate", "group", "text", "answer", "key", "options"),
    *("scoring", "domain", "format", "language"),
)
"""Columns that stay text: 007 is not 7."""
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_FOREIGN = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"x\x01": "zlib", b"x\x9c": "zlib", b"x\xda": "zlib"}
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")
_PARQUET = (".parquet", ".pq")
STATISTICS = (".sav", ".zsav", ".por", ".rda", ".rdata", ".rds")
"""Files of SPSS and R, which hold answers of people."""
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8 = ("utf-8", "utf8")
_ROW = "\0row"
_BLOCK = 2**20
_HEAD = 4 * 2**20  # bytes that hold the first records
_DIGITS = 8  # a title of so many digits 0 and 1 is a row of answers
_LOOKED_AT = 20  # records that decide on the separator
_SNIFFED = 2000  # bytes that decide on the encoding
_TRIED = 1000  # cells of a text column that must be numbers before all of them are tried
_QUOTED = r"^'+[=+\-@\t\r]"
_COMMA_NUMBER = r"^[-−+]?\d*,\d+$"
_SURE_COMMA = r"^[-−+]?(0?,\d+|\d+,(\d{1,2}|\d{4,}))$"


@dataclass(frozen=True, eq=False)
class NotedTable:
    """A table and the choices that its reader made: encoding, separator, decimal commas."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()


def read_table(path: Path, *, infer: bool = True) -> pl.DataFrame:
    """Read a CSV or Parquet file; see :func:`read_noted`."""
    return read_noted(path, infer=infer).frame


def read_noted(
    path: Path,
    *,
    encoding: str | None = None,
    header: bool = True,
    infer: bool = True,
    codes: Sequence[str] = (),
    row: str | None = None,
    most: int | None = None,
    unnamed: str = "Add a row of column names",
) -> NotedTable:
    """Read a CSV or Parquet file and report the choices made.

    ``encoding``: of the text; found by itself when not given. ``header``: whether the first row names the columns;
    without names they are V1, V2, …. ``infer``: numbers and truth values become such; otherwise all cells are text.
    Blank rows are left out, but for text without ``row``, whose readers count rows.
    ``codes``: words for missing values (``BLANK``) that stay as they are. ``row``: name of a column with each row's
    number as a spreadsheet counts it. ``most``: bytes that a packed file may unpack to (``MOST_UNPACKED``).
    ``unnamed``: advice for a table without column names.
    """
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    try:
        if suffix_of(path) in _PARQUET:
            frame = read_parquet(path)
            return NotedTable(frame if row is None else frame.with_row_index(row, offset=1))
        return _read_text(read_bytes(path, most), str(path), encoding, header, infer, codes, row, unnamed)
    except (pl.exceptions.PolarsError, OSError) as fault:
        said = str(fault).splitlines()[0]
        raise MensuraError(
            f"{path}: not a readable CSV or Parquet file ({said}); expected a header and one row per line"
        ) from fault


def suffix_of(path: Path) -> str:
    """Return the suffix that names the format, in small letters: ``.csv`` for ``answers.csv.gz``."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in PACKED_SUFFIXES else suffix


def read_parquet(path: Path) -> pl.DataFrame:
    """Read one Parquet file after a look at the values it announces: a small file can unpack to any size."""
    lazy = pl.scan_parquet(path, glob=False)
    rows, columns = int(lazy.select(pl.len()).collect().item()), len(lazy.collect_schema())
    refuse_vast(path, rows, columns)
    return pl.read_parquet(path, glob=False)


def refuse_vast(name: Path | str, rows: int, columns: int) -> None:
    """Refuse a table with more values than fit into memory."""
    if rows * columns > MOST_VALUES:
        raise MensuraError(
            f"{name}: announces {rows:,} × {columns:,} values; at most {MOST_VALUES:,} are read. "
            "Keep the columns that are needed, or split the file"
        )


def measure(path: Path, most: int | None = None) -> None:
    """Refuse a packed file (gzip, bzip2, xz) that unpacks to more than ``most`` bytes; hold one block at a time."""
    most = MOST_UNPACKED if most is None else most
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    with path.open("rb") as file:
        start = file.read(6)
    opener = next((opener for mark, opener in _PACKED.items() if start.startswith(mark)), None)
    if opener is None:
        return
    size = 0
    try:
        with opener(path, "rb") as packed:
            while size <= most and (block := packed.read(_BLOCK)):
                size += len(block)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as fault:
        raise MensuraError(f"{path}: packed, but cannot be unpacked ({fault}). Copy the file again") from fault
    if size > most:
        raise MensuraError(
            f"{path}: {path.stat().st_size / 2**20:.1f} MB unpack to more than {most / 2**20:,.0f} MB, the most that "
            "is read. Unpack it yourself and keep the rows and columns that are needed"
        )


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Read a file of text; one packed by gzip, bzip2 or xz is measured first and then unpacked."""
    if path.suffix.lower() in SPREADSHEETS:
        raise MensuraError(f"{path}: a spreadsheet; save the sheet as CSV and give that file")
    if path.suffix.lower() in STATISTICS:
        raise MensuraError(
            f"{path}: a file of a statistics program; expected CSV or Parquet. Turn it into a pool of answers: "
            f"mensura people import {path} --items PATTERN --person COLUMN --out POOL"
        )
    measure(path, most)
    data = path.read_bytes()
    opener = next((opener for mark, opener in _PACKED.items() if data.startswith(mark)), None)
    if opener is not None:
        with opener(io.BytesIO(data), "rb") as packed:
            data = packed.read()
    kind = next((kind for mark, kind in _FOREIGN.items() if data.startswith(mark)), None)
    if kind is not None or data.startswith(tuple(_PACKED)):
        raise MensuraError(
            f"{path}: packed by {kind or 'two programs'}, or a spreadsheet; give the table inside as CSV"
        )
    return data


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
    found = marked or ("utf-8" if not zeros else "utf-16-le" if data[1:2] == b"\0" else "utf-16-be")
    try:
        return data.decode(found), found.removesuffix("-sig")
    except UnicodeDecodeError:
        if found != "utf-8":
            raise MensuraError(f"{name}: not readable as {found}; save it as UTF-8") from None
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
            widths.extend(len(record) for _, record in _first(written_records(text, separator)))
        except csv.Error as found:
            fault = found  # a cell too long; the records before it decide
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


def _first(records: Iterable[tuple[int, list[str]]]) -> Iterable[tuple[int, list[str]]]:
    return islice(records, _LOOKED_AT)


def plain_cell(value: object) -> str | None:
    """Return a cell as text, None where it says nothing."""
    text = "" if value is None else str(value).replace("\u00a0", " ").strip()
    return None if text.casefold() in BLANK else text


def refuse_twice(titles: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of one name."""
    filled = [title for title in titles if title]
    if len(set(filled)) < len(filled):
        twice = sorted({title for title in filled if filled.count(title) > 1})
        raise MensuraError(f"{name}: column {listed_names(list(map(repr, twice)))} is there twice; rename or drop one")


def refuse_wide(records: Iterable[tuple[int, Sequence[str]]], width: int, name: str) -> None:
    """Refuse a record with more filled cells than the header has names."""
    for number, record in records:
        if any(cell.strip() for cell in record[width:]):
            raise MensuraError(
                f"{name}, row {number}: {len(record)} cells under a header of {width}; check for a missing quote"
            )


def without_quotes(frame: pl.DataFrame) -> pl.DataFrame:
    """Remove the apostrophes that keep spreadsheets from computing a cell (``frames.neutral_cells``)."""
    cells = pl.selectors.string()
    kept = cells.str.contains(_QUOTED)
    return frame.with_columns(pl.when(kept).then(cells.str.slice(1)).otherwise(cells).name.keep())


@dataclass(frozen=True, eq=False)
class TextStart:
    """The start of a table of text: its bytes as UTF-8, separator, titles, the header's row and its end in bytes."""

    data: bytes
    separator: str
    titles: list[str]
    row: int
    end: int
    notes: tuple[str, ...]


def start_of_text(path: Path, *, header: bool, unnamed: str) -> TextStart:
    """Read the bytes and the header of a file of text; see :func:`read_noted`."""
    return _start(read_bytes(path), str(path), None, header, unnamed)


def _start(data: bytes, name: str, encoding: str | None, header: bool, unnamed: str) -> TextStart:
    data, found = _as_utf8(data, name, encoding)
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
    notes = [] if found.casefold() in _UTF8 else [f"read as {found}"]
    notes += [f"columns separated by {SEPARATORS[separator]}"] if separator != "," else []
    return TextStart(data, separator, titles, first, end, tuple(notes))


def _read_text(
    data: bytes,
    name: str,
    encoding: str | None,
    header: bool,
    infer: bool,
    codes: Sequence[str],
    row: str | None,
    unnamed: str,
) -> NotedTable:
    """Read the bytes of a table of text."""
    start = _start(data, name, encoding, header, unnamed)
    titles, notes = start.titles, list(start.notes)
    refuse_vast(name, start.data.count(b"\n"), len(titles))
    names = [title or f"\0{place}" for place, title in enumerate(titles, start=1)]
    frame = _parsed(names, memoryview(start.data)[start.end :], start.separator, infer, name, start.row + 1)
    frame = frame.with_row_index(_ROW, offset=start.row + 1)
    if len(names) > 1 and (infer or row):
        frame = frame.filter(pl.any_horizontal(pl.col(names).is_not_null()))
    if infer:
        frame, comma = _typed(frame, [word for word in BLANK if word not in map(str.casefold, codes)])
        notes += ["decimal commas"] if comma else []
    frame = _with_titles(frame, titles)
    return NotedTable(frame.rename({_ROW: row}) if row else frame.drop(_ROW), tuple(notes))


def _as_utf8(data: bytes, name: str, encoding: str | None) -> tuple[bytes, str]:
    """Return the bytes of a table as UTF-8 with line feeds, and the encoding they had."""
    text, found = decoded_text(data, name, encoding)
    if "\r" in text[:_HEAD] and "\n" not in text[:_HEAD]:
        return text.replace("\r", "\n").encode(), found
    return (data.removeprefix(codecs.BOM_UTF8) if found.casefold() in _UTF8 else text.encode()), found


def _with_titles(frame: pl.DataFrame, titles: Sequence[str]) -> pl.DataFrame:
    """Drop empty columns without a name; of the others the first keeps its empty name, as a table's index has."""
    spare = [f"\0{place}" for place, title in enumerate(titles, start=1) if not title]
    frame = frame.drop([name for name in spare if frame[name].null_count() == frame.height])
    left = [name for name in spare if name in frame.columns]
    return frame.rename({name: "" if name == left[0] else f"column {name[1:]}" for name in left})


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
            f"{name}: the first row has {len(numbers):,} numbers ({', '.join(numbers[:3])} …) and no names of columns. "
            f"{advice}"
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


def _parsed(
    names: Sequence[str], body: memoryview, separator: str, infer: bool, name: str, number: int
) -> pl.DataFrame:
    """Parse the rows below the header; rows that the fast parser refuses are laid out again by the exact one."""
    as_text = [one for one in names if one.casefold() in TEXT_COLUMNS] if infer else names
    kept: dict[str, Any] = dict.fromkeys(as_text, pl.String)
    head = (separator.join('"' + one.replace('"', '""') + '"' for one in names) + "\n").encode()
    try:
        frame = _polars(b"".join([head, body]), separator, kept)
    except pl.exceptions.PolarsError:
        frame = _polars(head + _laid_out(bytes(body), len(names), separator, name, number), separator, kept)
    cells = pl.selectors.string()
    trimmed = cells.str.strip_chars(" \t\r\n\u00a0")
    return without_quotes(frame.with_columns(pl.when(trimmed != "").then(trimmed).name.keep()))


def _laid_out(body: bytes, width: int, separator: str, name: str, number: int) -> bytes:
    """Return the rows with as many cells as the header has names; ``number`` is that of the first row."""
    reader = csv.reader(io.StringIO(body.decode(), newline=""), delimiter=separator, skipinitialspace=True)
    try:
        records = list(enumerate(reader, start=number))
    except csv.Error as fault:
        raise MensuraError(f"{name}: not a table of text ({fault}); expected CSV with a header, or Parquet") from fault
    refuse_wide(records, width, name)
    again = io.StringIO()
    writer = csv.writer(again, delimiter=separator, lineterminator="\n")
    writer.writerows([*record, *[""] * width][:width] for _, record in records)
    return again.getvalue().encode()


def _polars(source: bytes, separator: str, kept: dict[str, Any]) -> pl.DataFrame:
    """Read with the types of the cells; a column with an integer beyond every integer type is of real numbers."""
    options: dict[str, Any] = {"separator": separator, "infer_schema_length": None}
    try:
        return pl.read_csv(source, glob=False, schema_overrides=kept, **options)
    except pl.exceptions.ComputeError:  # what older polars say of such an integer
        lenient = pl.read_csv(source, glob=False, schema_overrides=kept, ignore_errors=True, **options)
        given = pl.read_csv(source, separator=separator, infer_schema=False, glob=False)
        beyond = [name for name in given.columns if given[name].null_count() < lenient[name].null_count()]
        numbers = {name: pl.Float64 for name in beyond if lenient[name].dtype.is_integer()}
        return pl.read_csv(source, glob=False, schema_overrides=kept | numbers, **options)


def _typed(frame: pl.DataFrame, blank: Sequence[str]) -> tuple[pl.DataFrame, bool]:
    """Give columns of text that hold numbers their type: words for missing values and decimal commas are read."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and name.casefold() not in TEXT_COLUMNS]
    cells = {name: _without_words(frame[name], blank) for name in texts}
    commas = [name for name, column in cells.items() if _all_match(column, f"{_COMMA_NUMBER}|^[-−+]?\\d+$")]
    points = any(dtype.is_float() for dtype in frame.dtypes)
    comma = not points and any(cells[name].str.contains(_SURE_COMMA).any() for name in commas)
    read = {
        name: column.str.replace(",", ".", literal=True) if comma and name in commas else column
        for name, column in cells.items()
    }
    numbers = {name: found for name, column in read.items() if (found := _as_numbers(column)) is not None}
    return frame.with_columns(numbers.values()), comma


def _without_words(column: pl.Series, blank: Sequence[str]) -> pl.Series:
    """Return the cells of a column without words for missing values."""
    return column.set(column.str.to_lowercase().is_in(blank), None)


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
        found = plain.cast(kind, strict=False)
        if found.null_count() == column.null_count():
            return found
    if some.str.to_lowercase().is_in(["true", "false"]).all():
        return column.str.to_lowercase() == "true"
    return None
