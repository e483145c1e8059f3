"""Read answers of people and models to the items of a test: evaluation logs, and tables in either shape.

A long table has one row per answer, a wide one a row per subject and a column per item. Names of columns say which is
which; where they do not, the user maps fields to columns: ``subject=pupil,item=task,correct=points``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.addresses import address_of, is_address, parquet_files, read_parquet
from mensura.core.errors import MensuraError
from mensura.intake.columns import NAMES, facts_about_people, find_columns, parse_map
from mensura.intake.matrices import WideCsv, read_matrix
from mensura.intake.samples import is_sample_log, read_samples
from mensura.intake.score_columns import refuse_others
from mensura.intake.tables import NotedTable, as_frame, read_noted
from mensura.intake.text import BLANK, typed

FIELDS: Mapping[str, Sequence[str]] = NAMES["answers"]
"""Columns by meaning, in simple spelling; the first that a table has counts."""
OUTCOMES = {"subject": pl.String, "group": pl.String, "item": pl.String, "value": pl.Float64, "n": pl.Int64}
"""Columns of long answers: ``value`` is the outcome, a share of ``n`` trials; null where it is missing."""
BATCH = 200_000
"""Outcomes of a log, or some more of a wide table, that are in memory at a time as long answers."""
MODELS, PEOPLE, ALL = "models", "people", "all"
"""Groups of subjects of logs, and of tables that name no group."""
CODES = frozenset(
    sign * code for code in (7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9999) for sign in (1, -1)
)
"""Numbers that surveys write for a missing answer."""
_OUTSIDE = 2
"""A code is a missing answer where it is further than this from all other numbers."""
_BLOCK = 1_000_000
"""Values of a wide frame that are converted at a time."""
_EXAMPLE = "subject=pupil,item=task,correct=points"
_UNNAMED = "If each row is one subject and each column one item, say: mensura responses read {} --set header=false"
LOG_SCHEMA = {"what": pl.String, "count": pl.Int64, "rule": pl.String}


class AnswerLog:
    """What reading and counting met, counted."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._grouped: set[str] = set()
        self._numbered = ""

    def number(self, name: str, rows: int) -> None:
        """Note that rows stand for subjects; row 1 of two sources would be taken for one subject."""
        if self._numbered:
            raise MensuraError(f"{name}: no column says who answered, nor in {self._numbered}. Add subject to both")
        self._numbered = name
        self.note("subjects", rows, "no column names them: each row is one, by its number")

    def group(self, by: str, without: int, what: str) -> None:
        """Note that a source has the column that makes groups, and how many of ``what`` lack a value of it."""
        self._grouped.add(by)
        self.note(f"{what} without {by}", without, "left out")

    def require_group(self, by: str | None) -> None:
        """Refuse a column of groups that no source has."""
        if by is not None and by not in self._grouped:
            raise MensuraError(
                f"by: no source has a column {by!r}; expected one of a table or of a pool's persons. Correct the name"
            )

    def note(self, what: str, count: int, rule: str) -> None:
        """Add to a count; nothing is noted where there was nothing."""
        if count:
            self._counts[what, rule] = self._counts.get((what, rule), 0) + count

    def frame(self) -> pl.DataFrame:
        """Return what, count, rule."""
        rows = [(what, count, rule) for (what, rule), count in self._counts.items()]
        return pl.DataFrame(rows, schema=LOG_SCHEMA, orient="row")


@dataclass(frozen=True)
class WideAnswers:
    """One row per subject and one column per item: outcomes, NaN where one is missing."""

    subjects: pl.Series
    groups: list[str]
    items: list[str]
    values: np.ndarray[Any, np.dtype[np.float32]]

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, who: str, groups: list[str]) -> WideAnswers:
        """Convert a frame of subjects and columns of outcomes, some columns at a time."""
        items = [title for title in frame.columns if title != who]
        values = np.empty((frame.height, len(items)), dtype=np.float32)
        width = max(1, _BLOCK // max(1, frame.height))
        for start in range(0, len(items), width):
            values[:, start : start + width] = frame.select(items[start : start + width]).cast(pl.Float32).to_numpy()
        return cls(frame[who].cast(pl.String), groups, items, values)

    def long(self) -> Iterator[pl.DataFrame]:
        """Yield the same as long answers of bounded size."""
        rows, items = max(1, 10 * BATCH // max(1, len(self.items))), pl.Series("item", self.items, dtype=pl.String)
        for start in range(0, len(self.groups), rows):
            some = self.values[start : start + rows]
            subject, item = (places.ravel().astype(np.uint32) for places in np.indices(some.shape))
            yield pl.DataFrame(
                {
                    "subject": self.subjects[start : start + rows].gather(subject),
                    "group": pl.Series(self.groups[start : start + rows], dtype=pl.String).gather(subject),
                    "item": items.gather(item),
                    "value": pl.Series(some.ravel(), dtype=pl.Float64).fill_nan(None),
                }
            ).with_columns(n=pl.lit(1, pl.Int64))


Answers = pl.DataFrame | WideAnswers


def read_answers(
    source: Any,
    *,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
    header: bool = True,
    columns: str | None = None,
    log: AnswerLog | None = None,
) -> Iterator[Answers]:
    """Yield the answers of a source: long ones (columns of ``OUTCOMES``) in batches, or one wide table.

    Parameters
    ----------
    source
        A file (any table that :func:`read_noted` reads, or an evaluation log), a folder or an address of Parquet
        files, a table of any library, or a NumPy matrix. A table of items alone has one subject per row, by its number.
    subject
        Whose samples a log holds that does not say so itself.
    by
        The column of a table that makes groups; rows without it are left out.
    group
        The group of subjects for whom nothing else says it.
    header
        Whether a table of text names its columns; without names each row is one subject.
    columns
        Fields and their columns where names alone do not say it, such as ``subject=pupil,correct=points``.
    log
        Takes what was left out or chosen.

    """
    log = log or AnswerLog()
    mapped = parse_map(columns, FIELDS, _EXAMPLE)
    table = None if isinstance(source, str | Path) else read_answer_table(source)
    if table is not None:
        yield _of_table(table, mapped, by, group, "responses", log)
        return
    path, files = Path(source), _parquet_files(source)
    for file in files:
        piece = _of_table(NotedTable(read_parquet(file)), mapped, by, group, str(file), log)
        if isinstance(piece, WideAnswers) and len(files) > 1:
            raise MensuraError(
                f"{file}: no columns subject, item and correct; expected them in each file of a folder. Give wide "
                "tables one by one"
            )
        yield piece
    if files:
        return
    if path.is_dir():
        raise MensuraError(
            f"{path}: unknown folder; expected a pool of people (items.csv) or a folder of evaluation logs"
        )
    if is_sample_log(path, FIELDS["subject"]):
        yield from _of_log(path, subject, group)
        return
    unnamed = _UNNAMED.format(path)
    text_columns = [by or "", *mapped.values(), *FIELDS["subject"], *FIELDS["group"]]
    matrix = read_matrix(path, texts=text_columns, header=header, unnamed=unnamed)
    wide = None if matrix is None else _of_matrix(matrix, mapped, by, group, header, str(path), log)
    if wide is not None:
        yield wide
        return
    yield _of_table(_read_table(path, header, unnamed, log), mapped, by, group, str(source), log)


def read_answer_table(source: Any, *, header: bool = True) -> NotedTable | None:
    """Return a source as one table; None where it is none, such as an evaluation log or a folder."""
    if isinstance(source, np.ndarray) and source.ndim == 2:
        source = {f"item {place}": column for place, column in enumerate(source.T, start=1)}
    if not isinstance(source, str | Path):
        return source if isinstance(source, NotedTable) else NotedTable(as_frame(source, name="responses"))
    path = Path(source)
    if is_address(source) or path.is_dir() or is_sample_log(path, FIELDS["subject"]):
        return None
    return _read_table(path, header, _UNNAMED.format(path), AnswerLog())


def _read_table(path: Path, header: bool, unnamed: str, log: AnswerLog) -> NotedTable:
    table = read_noted(path, header=header, unnamed=unnamed)
    return table if header else replace(table, frame=_numbered(table.frame, str(path), log))


def subject_column(titles: Sequence[str], name: str, columns: str | None = None) -> str:
    """Return the column of a table that says whom a row is about; ``columns`` as in :func:`read_answers`."""
    who = find_columns(titles, FIELDS, parse_map(columns, FIELDS, _EXAMPLE), name)["subject"]
    if who is None:
        some = ", ".join(titles[:8]) + (" …" if len(titles) > 8 else "")
        raise MensuraError(
            f"{name}: no column says who answered; expected one of {', '.join(FIELDS['subject'])}, it has {some}. "
            "Rename it to subject (responses fit: --map subject=COLUMN); a subject is a row, an item a column"
        )
    return who


def _parquet_files(source: str | Path) -> list[Path | str]:
    """Return the Parquet files of a folder or address; an address may also be one file."""
    if not is_address(source):
        return parquet_files(source, "**/*.parquet") if Path(source).is_dir() else []
    whole = address_of(source)
    files: list[Path | str] = [whole] if whole.endswith(".parquet") else parquet_files(whole, "**/*.parquet")
    if not files:
        raise MensuraError(f"{whole}: no Parquet file; check the address")
    return files


def _of_log(path: Path, subject: str | None, group: str | None) -> Iterator[pl.DataFrame]:
    samples, empty = read_samples(path, subject=subject), True
    while batch := list(islice(samples, BATCH)):
        empty = False
        rows = [
            (sample.subject, group or (PEOPLE if sample.of_person else MODELS), sample.item, sample.value, 1)
            for sample in batch
        ]
        yield pl.DataFrame(rows, schema=OUTCOMES, orient="row")
    if empty:
        raise MensuraError(f"{path}: no sample with an outcome; check that the evaluation was scored")


def _numbered(frame: pl.DataFrame, name: str, log: AnswerLog) -> pl.DataFrame:
    """Name the subjects of a table without names: its first column where that is text, else the number of the row."""
    first = frame.columns[0]
    if frame[first].dtype == pl.String:
        return frame.rename({first: "subject"})
    log.number(name, frame.height)
    return frame.select(pl.int_range(1, pl.len() + 1).cast(pl.String).alias("subject"), pl.all())


def _row_by_row(frame: pl.DataFrame, name: str, log: AnswerLog) -> pl.DataFrame:
    """Number the subjects of a table of items alone; a column of only different values may be their names."""
    frame = typed(frame, BLANK)[0]
    if any(not (one.dtype.is_numeric() or one.dtype == pl.Boolean) or one.n_unique() == len(one) for one in frame):
        subject_column(frame.columns, name)
    return _numbered(frame, name, log)


def _of_matrix(
    matrix: WideCsv, mapped: dict[str, str], by: str | None, group: str | None, header: bool, name: str, log: AnswerLog
) -> WideAnswers | None:
    """Return the answers in a matrix; None where a general reader has to find out more, or what is wrong."""
    texts = {title: pl.Series(cells, dtype=pl.String) for title, cells in matrix.texts.items()}
    if not header:
        if "V1" not in texts:
            log.number(name, len(matrix.values))
            texts["V1"] = pl.int_range(1, len(matrix.values) + 1, dtype=pl.Int64, eager=True).cast(pl.String)
        texts = {"subject": texts.pop("V1"), **texts}
    chosen = find_columns(list(texts), FIELDS, mapped, name)
    who, grouped = chosen["subject"], by if by in texts else chosen["group"]
    if who is None or set(texts) - {who, grouped}:
        return None
    _note(matrix.notes, log)
    owners = texts[grouped] if grouped else pl.Series([None] * len(matrix.values), dtype=pl.String)
    values, names = _without_codes(matrix.values, log), texts[who]
    if by in texts:
        kept = owners.is_not_null()
        log.group(str(by), int((~kept).sum()), "rows")
        owners, names, values = owners.filter(kept), names.filter(kept), values[kept.to_numpy()]
    return WideAnswers(names, owners.fill_null(group or ALL).to_list(), matrix.titles, values)


def _note(notes: tuple[str, ...], log: AnswerLog) -> None:
    for note in notes:
        log.note("files", 1, note)


def _of_table(
    table: NotedTable, mapped: dict[str, str], by: str | None, group: str | None, name: str, log: AnswerLog
) -> Answers:
    frame = table.frame
    _note(table.notes, log)
    chosen = find_columns(frame.columns, FIELDS, mapped, name)
    if by is not None and by in frame.columns:
        chosen["group"] = by
        log.group(by, frame[by].null_count(), "rows")
        frame = frame.filter(pl.col(by).is_not_null())
    who, item, value, n, grouped = (chosen[field] for field in FIELDS)
    if who is None:
        frame, who = _row_by_row(frame, name, log), "subject"
    owner = pl.lit(group or ALL) if grouped is None else pl.col(grouped).cast(pl.String).fill_null(group or ALL)
    if item is None or value is None:
        if {"item", "correct"} & set(mapped):
            raise MensuraError(f"{name}: a row per answer needs both: --map item=COLUMN,correct=COLUMN")
        owners = frame.select(pl.repeat(group or ALL, pl.len()) if grouped is None else owner).to_series().to_list()
        others = [title for title in frame.columns if title not in (who, grouped)]
        facts = [] if table.chosen else facts_about_people(others)
        for title in facts:
            log.note(f"column {title}", 1, "named like a fact about people: left out; if an item, say --set items=…")
        return _wide(frame.drop({*facts, *([grouped] if grouped else [])}), who, owners, name, log)
    numbers = typed(frame.select([title for title in (value, n) if title is not None]), BLANK)[0]
    _check_numbers(numbers[value], pl.Float64(), "outcomes are no numbers", "0 (wrong) to 1 (right) or blank")
    if n is not None:
        _check_numbers(numbers[n], pl.Int64(), "counts are no whole numbers", "how often an item was tried")
    outcomes = numbers[value].cast(pl.Float64).to_numpy()
    return frame.select(
        pl.col(who).cast(pl.String).alias("subject"),
        owner.alias("group"),
        pl.col(item).cast(pl.String).alias("item"),
        pl.Series("value", _without_codes(outcomes, log)).fill_nan(None),
        (pl.lit(1) if n is None else numbers[n]).cast(pl.Int64).alias("n"),
    )


def _wide(frame: pl.DataFrame, who: str, groups: list[str], name: str, log: AnswerLog) -> WideAnswers:
    items = typed(frame.drop(who), BLANK)[0]
    words = [
        title
        for title, dtype in items.schema.items()
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null) or items[title].null_count() == items.height)
    ]
    if words:
        refuse_others(frame.columns, Path(name))
        raise MensuraError(
            f"{name}: column {words[0]!r} holds no outcomes; a wide table has {who!r} (and group) and one column of "
            "0, 1 or blank per item, a long one the columns subject, item, correct. If other columns describe people, "
            f"say which are items: mensura people import {name} --person {who} --items 'q*' --by {words[0]} --out pool"
        )
    if not items.width:
        raise MensuraError(f"{name}: no column of an item next to {who!r}; add one per item")
    answers = WideAnswers.of_frame(items.with_columns(frame[who]), who, groups)
    return replace(answers, values=_without_codes(answers.values, log))


def _check_numbers(column: pl.Series, kind: pl.DataType, what: str, expected: str) -> None:
    """Refuse words where numbers are expected, with one of them."""
    wrong = column.filter(column.is_not_null() & column.cast(kind, strict=False).is_null())
    if wrong.len():
        raise MensuraError(f"{column.name}: {wrong.len()} {what}, such as {wrong[0]!r}; expected {expected}")


def _without_codes(values: np.ndarray[Any, Any], log: AnswerLog) -> np.ndarray[Any, Any]:
    """Return outcomes with NaN in place of codes for missing answers, such as 99 beside ratings from 1 to 5."""
    ends = [float(end.reduce(values, axis=None, initial=0.0)) for end in (np.fmin, np.fmax)]
    if ends[0] >= 0.0 and ends[1] <= 1.0:
        return values
    kinds = np.unique(values[~np.isnan(values)])
    ratings = kinds[~np.isin(kinds, list(CODES))]
    if not len(ratings):
        return values
    low, high, codes = float(ratings[0]), float(ratings[-1]), []
    for code in sorted(set(kinds.tolist()) & CODES, key=abs):
        if low - _OUTSIDE <= code <= high + _OUTSIDE:
            low, high = min(low, code), max(high, code)
        else:
            codes.append(code)
    coded = np.isin(values, codes)
    for code in codes:
        rule = f"outside the other outcomes ({low:g} to {high:g}): read as missing"
        log.note(f"outcomes of {code:g}", int(np.sum(values == code)), rule)
    return np.where(coded, np.nan, values).astype(values.dtype) if codes else values
