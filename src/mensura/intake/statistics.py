"""Files of statistics programs and spreadsheets, read by packages of the extra ``readers``."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.packed import measure, refuse_vast

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


def read_spreadsheet(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """Read one sheet of a spreadsheet: the one named, else the only one that holds anything."""
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


def _pick(content: Mapping[str, Any], path: Path, object_name: str | None) -> Any:  # noqa: ANN401
    tables = {name: value for name, value in content.items() if hasattr(value, "columns") or hasattr(value, "ndim")}
    if object_name is not None:
        if object_name not in content:
            raise MensuraError(f"{path}: no object {object_name!r}; expected one of {', '.join(content)}")
        return content[object_name]
    if len(tables) != 1:
        raise MensuraError(f"{path}: holds {', '.join(content)}; say which object is the table of answers")
    return next(iter(tables.values()))


def _series(name: str, values: Any) -> pl.Series:  # noqa: ANN401
    """Return a column, with not-a-number as null and whole numbers as integers."""
    plain = [None if value is None or value != value else value for value in list(values)]
    series = pl.Series(name, plain, strict=False)
    if series.dtype.is_float() and ((series.drop_nulls() % 1 == 0) & (series.drop_nulls().abs() < WHOLE)).all():
        return series.cast(pl.Int64)
    return series.set(series == "", None) if series.dtype == pl.String else series


def _library(name: str) -> Any:  # noqa: ANN401
    try:
        return import_module(name)
    except ImportError as fault:
        raise MensuraError(
            f"this format needs the package {name!r}: install Mensura with its extra 'readers'"
        ) from fault


# Fixed-width text and its control file, as PISA publishes them: SPSS ``DATA LIST`` or SAS ``INPUT``.

_NAME = r"[A-Za-z_@#$][\w@#$.]{0,127}"
_SPSS_FIELD = re.compile(rf"({_NAME})\s+(\d+)(?:\s*-\s*(\d+))?(?:\s*\(\s*([A-Za-z]+)\d*\s*(?:,\s*(\d+))?\s*\))?")
_SAS_COLUMNS = re.compile(rf"({_NAME})\s+(\$)?\s*(\d+)\s*(?:-\s*(\d+))?(?:\s+\.(\d+))?(?=\s|$)")
_SAS_POINTER = re.compile(rf"@\s*(\d+)\s+({_NAME})\s+(\$)?(?:char)?\s*(\d+)\.(\d*)", re.IGNORECASE)
MOST_SYNTAX = 16 * 2**20
"""Bytes of a control file; that of PISA 2009 has about 0.2 million."""
_LABEL = re.compile(rf"({_NAME})\s*=?\s*(\"[^\"]*\"|'[^']*')")


@dataclass(frozen=True)
class FixedField:
    """One variable of a fixed-width record: columns ``start`` to ``end``, counted from 1, both included."""

    name: str
    start: int
    end: int
    text: bool
    decimals: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.start <= self.end:
            raise MensuraError(
                f"variable {self.name!r} has columns {self.start} to {self.end}; 1 ≤ start ≤ end is needed"
            )


@dataclass(frozen=True)
class FixedLayout:
    """The variables of a record, in order, and their labels: at least one, all named differently."""

    fields: tuple[FixedField, ...]
    labels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.fields:
            raise MensuraError("the control file lists no variables with columns; expected lines such as NAME 1-4")
        name, times = Counter(entry.name for entry in self.fields).most_common(1)[0]
        if times > 1:
            raise MensuraError(f"variable {name!r} is listed twice; remove one")

    @property
    def width(self) -> int:
        """How many characters a record has at least."""
        return max(entry.end for entry in self.fields)


def read_layout(path: Path, *, encoding: str = "utf-8") -> FixedLayout:
    """Read a control file; the commands show whether it is of SPSS or SAS."""
    if path.is_file() and path.stat().st_size > MOST_SYNTAX:
        raise MensuraError(f"{path}: {path.stat().st_size:,} bytes; a control file has at most {MOST_SYNTAX:,}")
    source = _squeezed(decoded(path, encoding))
    listing = re.search(r"\bDATA\s+LIST\b(.*?)(?:^\s*\.\s*$|\.\s*$|\bEXECUTE\b)", source, re.S | re.I | re.M)
    if listing is not None:
        body = re.sub(r"^.*?/", "", re.sub(r"(\"[^\"]*\"|'[^']*')", "", listing.group(1)), count=1, flags=re.S)
        read, text = _spss_fields, body
        labels = re.search(r"\bVARIABLE\s+LABELS?\b(.*?)(?:^\s*\.\s*$|\.\s*$|\bVALUE\b)", source, re.S | re.I | re.M)
    else:
        statement = re.search(r"(?:^|;)\s*INPUT\b(.*?);", source, re.S | re.I | re.M)
        if statement is None:
            raise MensuraError(f"{path}: not a control file; expected an SPSS DATA LIST or a SAS INPUT statement")
        read, text = _sas_fields, statement.group(1)
        labels = re.search(r"(?:^|;)\s*LABEL\b(.*?);", source, re.S | re.I | re.M)
    texts = dict(_LABEL.findall(labels.group(1))) if labels else {}
    try:
        return FixedLayout(read(text), {name: quoted[1:-1].strip() for name, quoted in texts.items()})
    except MensuraError as fault:
        raise MensuraError(f"{path}: {fault}") from fault


def _squeezed(source: str) -> str:
    """Return a text without empty lines and with single spaces: patterns then take time in proportion to its length."""
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in source.split("\n"))
    return "\n".join(line for line in lines if line)


def read_fixed_width(path: Path, layout: FixedLayout, *, encoding: str = "utf-8") -> pl.DataFrame:
    """Read the records of a fixed-width file; a record too short for the layout is an error, not a guess.

    Records end at line feeds alone: other characters that Unicode calls line breaks may stand inside one.
    """
    lines = pl.Series("line", decoded(path, encoding).split("\n"), dtype=pl.String)
    while lines.len() and not lines[-1].strip():
        lines = lines.head(lines.len() - 1)
    if lines.is_empty():
        raise MensuraError(f"{path}: no records; expected one line per person. Check the file")
    short = (lines.str.len_chars() < layout.width).arg_true()
    if short.len():
        raise MensuraError(
            f"{path}: line {short[0] + 1} has {len(lines[int(short[0])])} characters and the layout needs "
            f"{layout.width}; the file is cut short, or this is another file's layout"
        )
    return pl.DataFrame([_column(lines, entry, path) for entry in layout.fields])


def _column(lines: pl.Series, entry: FixedField, path: Path) -> pl.Series:
    text = lines.str.slice(entry.start - 1, entry.end - entry.start + 1).str.strip_chars().rename(entry.name)
    text = text.set(text == "", None)
    if entry.text:
        return text
    number = text.set(text == ".", None).cast(pl.Float64, strict=False)
    unread = (number.is_null() & text.is_not_null() & (text != ".")).arg_true()
    if unread.len():
        line = int(unread[0])
        raise MensuraError(
            f"{path}: line {line + 1}, {entry.name}: {text[line]!r} is not a number; correct it or the columns in the "
            "control file"
        )
    implied = entry.decimals and not text.str.contains(".", literal=True).fill_null(False).any()
    return number / 10**entry.decimals if implied else number


def _spss_fields(body: str) -> tuple[FixedField, ...]:
    return tuple(
        FixedField(name, int(start), int(end or start), kind.upper().startswith("A"), int(decimals or 0))
        for name, start, end, kind, decimals in _SPSS_FIELD.findall(body)
    )


def _sas_fields(body: str) -> tuple[FixedField, ...]:
    pointed = _SAS_POINTER.findall(body)
    if pointed:
        return tuple(
            FixedField(name, int(at), int(at) + int(width) - 1, text=bool(dollar), decimals=int(decimals or 0))
            for at, name, dollar, width, decimals in pointed
        )
    return tuple(
        FixedField(name, int(start), int(end or start), text=bool(dollar), decimals=int(decimals or 0))
        for name, dollar, start, end, decimals in _SAS_COLUMNS.findall(body)
    )


def decoded(path: Path, encoding: str) -> str:
    """Return the text of a file, or say that it is not in this encoding."""
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the path")
    try:
        return path.read_text(encoding=encoding)
    except (UnicodeDecodeError, LookupError) as fault:
        raise MensuraError(f"{path}: not {encoding} text ({fault}); name its encoding, for example latin-1") from fault
