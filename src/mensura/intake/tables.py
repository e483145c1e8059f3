"""Read the tables that users bring, in one way: any format, packed or not, any encoding, separator and decimal sign."""

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import without_quotes
from mensura.intake import statistics
from mensura.intake.packed import PACKED_SUFFIXES, read_bytes, refuse_vast, suffix_of
from mensura.intake.records import JSON_FILES, read_json
from mensura.intake.text import BLANK, TEXT_COLUMNS, TextStart, find_start, refuse_twice, typed

FORMATS = "CSV with any usual separator, Parquet, Arrow, JSON, JSON lines, Excel, SPSS, Stata, SAS or R"
"""What the one reader of tables reads."""
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
_SUFFIXES = (
    ".csv",
    ".tsv",
    ".txt",
    *PARQUET,
    *ARROW,
    *JSON_FILES,
    *statistics.SPREADSHEETS,
    *statistics.STATISTICS,
    *statistics.R_FILES,
)
_ACCEPTED = "a polars, pandas or Arrow table, a mapping of columns, or a path to a table"
_ROW = "\0row"


@dataclass(frozen=True, eq=False)
class NotedTable:
    """A table and what its file says about it.

    ``notes``: choices of the reader, such as an encoding. ``labels`` of columns. ``codes``: meanings of the values of a
    column, such as 1 female, 2 male. ``chosen``: the user named the columns of items.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    chosen: bool = False


def read_table(path: Path, *, infer: bool = True) -> pl.DataFrame:
    """Read a table from a file; see :func:`read_noted`."""
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
    part: str | None = None,
    keep_missing: bool = False,
) -> NotedTable:
    """Read a table from a file of any format, by its suffix, and report the choices made.

    Parameters
    ----------
    path
        The file, which may be packed by gzip, bzip2 or xz.
    encoding
        Of text; found by itself when not given.
    header
        Whether the first row of text names the columns. Without names they are V1, V2, ….
    infer
        Whether cells of text that are numbers or truth values become such.
    codes
        Words for missing values (``BLANK``) that stay as they are.
    row
        Name of a column with each row's number as a spreadsheet counts it. Without it blank rows of text stay, as their
        readers count rows.
    most
        Bytes that a packed file may unpack to (``MOST_UNPACKED``).
    unnamed
        Advice for a table without column names.
    part
        The sheet of a spreadsheet, or the object of an R file.
    keep_missing
        Whether values that an SPSS file declares as missing stay as they are.

    Raises
    ------
    MensuraError
        If the file is missing, damaged, too large or of no known format.

    """
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    suffix = suffix_of(path)
    try:
        table = _read_binary(path, suffix, part, keep_missing)
        if table is None:
            start = find_start(read_bytes(path, most), str(path), encoding, header, unnamed)
            return _read_text(start, str(path), infer, codes, row)
    except (pl.exceptions.PolarsError, OSError) as fault:
        reason = str(fault).splitlines()[0]
        raise MensuraError(f"{path}: not readable as a table ({reason}); expected {FORMATS}") from fault
    first = 2 if suffix in statistics.SPREADSHEETS else 1
    return table if row is None else NotedTable(table.frame.with_row_index(row, offset=first), table.notes)


def _read_binary(path: Path, suffix: str, part: str | None, keep_missing: bool) -> NotedTable | None:
    """Read a file that is no plain text table; None for one that is."""
    if suffix in PARQUET:
        return NotedTable(read_parquet(path))
    if suffix in ARROW:
        return NotedTable(pl.read_ipc(path))
    if suffix in statistics.SPREADSHEETS:
        return NotedTable(statistics.read_spreadsheet(path, part))
    if suffix in statistics.STATISTICS:
        frame, labels, codes = statistics.read_statistics(path, keep_missing=keep_missing)
        return NotedTable(frame, (), labels, codes)
    if suffix in statistics.R_FILES:
        return NotedTable(statistics.read_r(path, part))
    if suffix in JSON_FILES:
        records = [record.cells for record in read_json(path)]
        titles = dict.fromkeys(title for cells in records for title in cells)
        columns = {title: [cells.get(title) for cells in records] for title in titles}
        return NotedTable(as_frame(columns, name=str(path)))
    if suffix == ".dat":
        raise MensuraError(f"{path}: text of fixed width; expected a table. See tools/fixed_width.py")
    return None


def find_table(folder: Path, stem: str) -> Path | None:
    """Return the file of a folder that holds the table ``stem``, in any format; two of them are refused."""
    names = {f"{stem}{suffix}{packed}" for suffix in _SUFFIXES for packed in ("", *PACKED_SUFFIXES)}
    files = sorted(path for path in folder.glob(f"{stem}.*") if path.name.lower() in names and path.is_file())
    if len(files) > 1:
        raise MensuraError(f"{folder}: both {files[0].name} and {files[1].name}; remove one of them")
    return next(iter(files), None)


def read_parquet(path: Path) -> pl.DataFrame:
    """Read one Parquet file after a look at the values it announces: a small file can unpack to any size."""
    lazy = pl.scan_parquet(path, glob=False)
    rows, schema = int(lazy.select(pl.len()).collect().item()), lazy.collect_schema()
    wide = sum(16.0 if dtype.is_nested() or dtype in (pl.String, pl.Binary) else 8.0 for dtype in schema.dtypes())
    refuse_vast(path, rows, len(schema), wide / max(1, len(schema)))
    return pl.read_parquet(path, glob=False)


def as_frame(table: Any, *, name: str = "table") -> pl.DataFrame:
    """Return ``table`` as a polars data frame; ``name`` is the argument named in errors."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, str | Path):
        return read_table(Path(table))
    if isinstance(table, Mapping):
        return _from_mapping(table, name)
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return _from_pandas(table, name)
    if hasattr(table, "__arrow_c_stream__"):
        with suppress(pl.exceptions.PolarsError):  # a single column lends itself as Arrow does too, and is no table
            return pl.DataFrame(table)
    raise MensuraError(f"{name}: cannot read {type(table).__name__}; expected {_ACCEPTED}")


def _from_mapping(table: Mapping[str, Any], name: str) -> pl.DataFrame:
    """Read columns of plain values; whole numbers and fractions may be mixed, lengths may not."""
    try:
        return pl.DataFrame({str(title): values for title, values in table.items()}, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as fault:
        raise MensuraError(
            f"{name}: these columns do not make a table ({fault}); expected columns of one length, each of one kind"
        ) from fault


def _from_pandas(table: Any, name: str) -> pl.DataFrame:
    """Read a pandas table column by column: its own way to Arrow, and polars', need pyarrow installed.

    Missing values (NaN, NaT, None, pandas.NA) become null; an index that is not a plain count becomes a column.
    """
    if any(label is not None for label in table.index.names) or table.index.dtype.kind not in "iu":
        table = table.reset_index()
    titles = [str(title) for title in table.columns]
    refuse_twice(titles, name)
    return pl.DataFrame([_series(title, table.iloc[:, place]) for place, title in enumerate(titles)])


def _series(title: str, column: Any) -> pl.Series:
    missing = column.isna().to_numpy()
    values = column.to_numpy()
    if values.dtype.kind in "iufb" and not missing.any():
        return pl.Series(title, values)
    kept = [None if gone else _python(value) for value, gone in zip(values.tolist(), missing, strict=True)]
    if values.dtype.kind == "M":
        kept = [None if gone else value.to_pydatetime() for value, gone in zip(column, missing, strict=True)]
    return pl.Series(title, kept, strict=False)


def _python(value: Any) -> Any:
    """Return a scalar of numpy as Python's own."""
    return value.item() if hasattr(value, "item") else value


def _read_text(start: TextStart, name: str, infer: bool, codes: Sequence[str], row: str | None) -> NotedTable:
    """Read the rows of a table of text."""
    titles, notes = start.titles, list(start.notes)
    refuse_vast(name, start.data.count(b"\n"), len(titles))
    names = [title or f"\0{place}" for place, title in enumerate(titles, start=1)]
    frame = _parsed(names, memoryview(start.data)[start.end :], start.separator, infer, name, start.row + 1)
    frame = frame.with_row_index(_ROW, offset=start.row + 1)
    if len(names) > 1 and (infer or row):
        frame = frame.filter(pl.any_horizontal(pl.col(names).is_not_null()))
    if infer:
        frame, comma = typed(frame, [word for word in BLANK if word not in map(str.casefold, codes)])
        notes += ["decimal commas"] if comma else []
    frame = _with_titles(frame, titles)
    return NotedTable(frame.rename({_ROW: row}) if row else frame.drop(_ROW), tuple(notes))


def _with_titles(frame: pl.DataFrame, titles: Sequence[str]) -> pl.DataFrame:
    """Drop empty columns without a name; of the others the first keeps its empty name, as a table's index has."""
    spare = [f"\0{place}" for place, title in enumerate(titles, start=1) if not title]
    frame = frame.drop([name for name in spare if frame[name].null_count() == frame.height])
    left = [name for name in spare if name in frame.columns]
    return frame.rename({name: "" if name == left[0] else f"column {name[1:]}" for name in left})


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
    for row, record in records:
        if any(cell.strip() for cell in record[width:]):
            raise MensuraError(
                f"{name}, row {row}: {len(record)} cells under a header of {width}; check for a missing quote"
            )
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
