"""Read text of fixed width by its control file: ``python -m tools.fixed_width COG09.txt COG09.sps FOLDER``.

The control file is an SPSS ``DATA LIST`` or a SAS ``INPUT``, as PISA published them until 2012. FOLDER gets
``answers.parquet`` for ``mensura people import``, and ``items.csv`` with the labels of the variables (item, text).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.files import write_csv

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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.fixed_width", description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path, metavar="FILE", help="text of fixed width")
    parser.add_argument("layout", type=Path, metavar="LAYOUT", help="its control file (SPSS or SAS)")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder for answers.parquet and items.csv")
    parser.add_argument("--encoding", default="utf-8", help="of both files, such as latin-1")
    given = parser.parse_args()
    try:
        layout = read_layout(given.layout, encoding=given.encoding)
        table = read_fixed_width(given.records, layout, encoding=given.encoding)
    except MensuraError as fault:
        parser.error(str(fault))
    given.folder.mkdir(parents=True, exist_ok=True)
    table.write_parquet(given.folder / "answers.parquet")
    names = pl.DataFrame({"item": table.columns, "text": [layout.labels.get(name) for name in table.columns]})
    write_csv(names, given.folder / "items.csv")
    print(f"{given.folder / 'answers.parquet'}: {table.height:,} records of {table.width} variables")


if __name__ == "__main__":
    main()
