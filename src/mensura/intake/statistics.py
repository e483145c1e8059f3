"""Files of statistics programs and spreadsheets, read by packages of the extra ``readers``."""

import warnings
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.packed import measure, refuse_vast
from mensura.intake.records import simple_name

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
R_FILES = (".rda", ".rdata", ".rds")
WHOLE = 2.0**53
"""Below this every whole number is itself as a float; a larger one in a file is an accident, and stays a float."""

_BYTES_OF_VALUE = 32.0  # a value as an object of Python
_MOST_UNSTATED = 20_000_000
"""Values of a file that does not state its number of rows."""
Labelled = tuple[pl.DataFrame, dict[str, str], dict[str, dict[str, str]]]
"""A table, the labels of its columns, and the meanings of their codes."""


def read_statistics(path: Path, *, keep_missing: bool = False) -> Labelled:
    """Read a file of SPSS, Stata or SAS.

    Values that the file declares as missing become blank; with ``keep_missing`` those of SPSS stay as they are, so that
    omitted and not reached stay different.
    """
    reader, suffix = _library("pyreadstat"), path.suffix.lower()
    read: Callable[..., Any] = {
        ".por": reader.read_por,
        ".dta": reader.read_dta,
        ".sas7bdat": reader.read_sas7bdat,
        ".xpt": reader.read_xport,
    }.get(suffix, reader.read_sav)
    extra: dict[str, Any] = {"user_missing": True} if keep_missing and suffix in (".sav", ".zsav") else {}
    try:
        _, head = read(str(path), metadataonly=True)
        rows = head.number_rows if head.number_rows is not None else -1
        refuse_vast(path, max(rows, 0), head.number_columns, _BYTES_OF_VALUE)
        if rows < 0:  # the file does not state how many: read as many as a file may have, and one more
            extra["row_limit"] = most = _MOST_UNSTATED // max(1, head.number_columns) + 1
        columns, about = read(str(path), output_format="dict", **extra)
        if rows < 0 and len(next(iter(columns.values()), ())) >= most:
            raise MensuraError(
                f"{path}: does not state its rows and has {most:,} or more; save it again with their number"
            )
    except MensuraError:
        raise
    except Exception as fault:
        raise MensuraError(f"{path}: not a readable {suffix} file ({fault}); download or export it again") from fault
    labels = {name: text for name, text in about.column_names_to_labels.items() if text}
    codes = {
        name: {_code(value): str(text) for value, text in meanings.items()}
        for name, meanings in about.variable_value_labels.items()
    }
    return pl.DataFrame([_series(name, values) for name, values in columns.items()]), labels, codes


def read_spreadsheet(path: Path, sheet: str | None = None, titles: Collection[str] = ()) -> pl.DataFrame:
    """Read one sheet of a spreadsheet: the one named, else the only filled one, or the only one with such titles."""
    _library("fastexcel")
    try:
        sheets: dict[str, pl.DataFrame] = pl.read_excel(
            path, sheet_id=0, raise_if_empty=False, infer_schema_length=None
        )
    except Exception as fault:
        raise MensuraError(
            f"{path}: not a readable spreadsheet ({str(fault).splitlines()[0]}); save it again, or as CSV"
        ) from fault
    filled = {name: frame for name, frame in sheets.items() if frame.height and frame.width}
    titled = {name: frame for name, frame in filled.items() if {*map(simple_name, frame.columns)} & {*titles}}
    filled = titled if len(titled) == 1 else filled
    if sheet is not None and sheet not in sheets:
        raise MensuraError(f"{path}: no sheet {sheet!r}; expected one of {', '.join(sheets)}")
    if sheet is None and len(filled) != 1:
        raise MensuraError(
            f"{path}: {len(filled)} sheets hold a table ({', '.join(filled) or 'none'}); save one sheet as CSV"
        )
    frame = sheets[sheet] if sheet is not None else next(iter(filled.values()))
    refuse_vast(path, frame.height, frame.width)
    return pl.DataFrame([_series(column.name, column.to_list()) for column in frame])


def _code(value: object) -> str:
    """Return a code as the text it has in a column: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_r(path: Path, object_name: str | None = None) -> pl.DataFrame:
    """Read a table from a file of R; ``object_name`` picks one of several objects."""
    reader = _library("rdata")
    measure(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes it does not know; what is not a table is refused below
            content = reader.read_rds(path) if path.suffix.lower() == ".rds" else reader.read_rda(path)
    except Exception as fault:
        raise MensuraError(f"{path}: not a readable R data file ({fault}); save it again with saveRDS") from fault
    if path.suffix.lower() != ".rds":
        content = _pick(content, path, object_name)
    if hasattr(content, "dims") and hasattr(content, "to_pandas"):
        content = content.to_pandas()
    if hasattr(content, "ndim") and not hasattr(content, "columns") and content.ndim == 2:
        return pl.DataFrame({f"V{index + 1}": content[:, index] for index in range(content.shape[1])})
    if not hasattr(content, "columns"):
        raise MensuraError(f"{path}: contains a {type(content).__name__}; expected a data frame or matrix")
    columns = {str(name): content[name] for name in content.columns}
    return pl.DataFrame(
        [_series(name, column.astype(object).where(column.notna(), None)) for name, column in columns.items()]
    )


def _pick(content: Mapping[str, Any], path: Path, object_name: str | None) -> Any:
    tables = {name: value for name, value in content.items() if hasattr(value, "columns") or hasattr(value, "ndim")}
    if object_name is not None:
        if object_name not in content:
            raise MensuraError(f"{path}: no object {object_name!r}; expected one of {', '.join(content)}")
        return content[object_name]
    if len(tables) != 1:
        raise MensuraError(f"{path}: holds {', '.join(content)}; say which object is the table of answers")
    return next(iter(tables.values()))


def _series(name: str, values: Any) -> pl.Series:
    """Return a column, with not-a-number as null and whole numbers as integers."""
    plain = [None if value is None or value != value else value for value in list(values)]
    series = pl.Series(name, plain, strict=False)
    if series.dtype.is_float() and ((series.drop_nulls() % 1 == 0) & (series.drop_nulls().abs() < WHOLE)).all():
        return series.cast(pl.Int64)
    return series.set(series == "", None) if series.dtype == pl.String else series


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as fault:
        raise MensuraError(
            f"this format needs the package {name!r}: install Mensura with its extra 'readers'"
        ) from fault
