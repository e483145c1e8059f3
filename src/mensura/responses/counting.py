"""From outcomes to counts, by the rules: long tables and wide ones, and several of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.responses.irt.shards import is_sparse
from mensura.responses.rules import MOST_TRIALS, CountRules
from mensura.responses.table import LOG_SCHEMA, Counts, Places, ResponseTable, build_table, counts_at

OUTCOMES = {"subject": pl.String, "group": pl.String, "item": pl.String, "value": pl.Float64, "n": pl.Int64}
"""Columns of outcomes: ``value`` is the share right of ``n`` trials, null where the outcome is missing."""
_BLOCK = 8_000_000
"""Values of a wide table that are counted at a time."""


class CountLog:
    """What the rules met, counted."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], int] = {}
        self._grouped: set[str] = set()

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
            self._found[what, rule] = self._found.get((what, rule), 0) + count

    def frame(self) -> pl.DataFrame:
        """Return what, count, rule."""
        rows = [(what, count, rule) for (what, rule), count in self._found.items()]
        return pl.DataFrame(rows, schema=LOG_SCHEMA, orient="row")


@dataclass(frozen=True)
class WideTable:
    """One row per subject and one column per item: outcomes from 0 to 1, NaN where one is missing."""

    subjects: pl.Series
    groups: list[str]
    items: list[str]
    values: np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class CountPart:
    """Counts of one run (one file): subjects, their groups, items, right answers and trials."""

    subjects: list[str]
    groups: list[str]
    items: list[str]
    right: Counts
    trials: Counts | None


def count_outcomes(
    outcomes: Iterable[pl.DataFrame], rules: CountRules, log: CountLog, items: Sequence[str] = ()
) -> CountPart:
    """Count long tables (see ``OUTCOMES``), which are pieces of one run; ``items`` are the first columns."""
    owners: dict[str, str] = {}
    subjects: dict[str, int] = {}
    columns = {item: place for place, item in enumerate(items)}
    found = [_coded(piece, rules, log, owners, subjects, columns) for piece in outcomes]
    row, column, right, n = (np.concatenate(parts) for parts in zip(*found, strict=True))
    cell = row.astype(np.int64) * len(columns) + column
    del row, column, found
    order = np.argsort(cell, kind="stable")
    cell, right, n = cell[order], right[order], n[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    if len(first) < len(cell):
        cell, right, n = cell[first], np.add.reduceat(right, first), np.add.reduceat(n, first)
    log.note(
        "items repeated by a subject",
        int((n > 1).sum()),
        "counted as k of n" if rules.repeats == "count" else "averaged",
    )
    if rules.repeats == "average":
        right, n = right / n, np.ones_like(n)
    n, right = _bounded(n, right, log)
    shape = (len(subjects), len(columns))
    row, column = np.divmod(cell, max(1, len(columns)))
    tables = counts_at(row, column, _small(right), n.astype(np.uint8), shape)
    return CountPart(list(subjects), [owners[name] for name in subjects], list(columns), *tables)


def _coded(
    outcomes: pl.DataFrame,
    rules: CountRules,
    log: CountLog,
    owners: dict[str, str],
    subjects: dict[str, int],
    columns: dict[str, int],
) -> tuple[Places, Places, Places, Places]:
    """Return row, column, right answers and trials of outcomes, and add their names to those known."""
    outcomes = _by_rules(outcomes, rules, log)
    for subject, group in outcomes.select("subject", "group").unique(maintain_order=True).iter_rows():
        if owners.setdefault(subject, group) != group:
            raise MensuraError(f"responses: subject {subject!r} is in two groups; give each subject one group")
    row, column = _codes(outcomes["subject"], subjects), _codes(outcomes["item"], columns)
    n = outcomes["n"].to_numpy()
    return row, column, outcomes["value"].to_numpy() * n, n


def count_wide(wide: WideTable, rules: CountRules, log: CountLog) -> CountPart:
    """Count a wide table."""
    subjects, items = wide.subjects, wide.items
    if subjects.null_count():
        raise MensuraError(f"responses: {subjects.null_count()} rows have no subject; every row needs one")
    if subjects.n_unique() < subjects.len():
        name = subjects.filter(subjects.is_duplicated())[0]
        raise MensuraError(
            f"responses: subject {name!r} has several rows; give repeats as a long table (subject, item, correct)"
        )
    right = np.zeros(wide.values.shape, dtype=np.float32 if _has_shares(wide.values) else np.uint8)
    trials = np.ones(right.shape, dtype=np.uint8)
    for rows in _row_blocks(wide.values):
        given = wide.values[rows]
        gone = np.isnan(given)
        beyond = np.argwhere((given < 0.0) | (given > 1.0))
        for row, place in beyond[:1]:
            _refuse_outcome(items[place], float(given[row, place]))
        log.note("missing outcomes", int(gone.sum()), _missing_rule(rules))
        trials[rows][gone] = 0 if rules.missing == "ignore" else 1
        right[rows] = _credited(np.where(gone, 0.0, given), rules, log)
    return CountPart(subjects.to_list(), wide.groups, items, _small(right), trials)


def _row_blocks(values: Counts) -> Iterator[slice]:
    """Yield slices of rows with about ``_BLOCK`` values each."""
    step = max(1, _BLOCK // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        yield slice(start, start + step)


def join_parts(parts: Sequence[CountPart], rules: CountRules, log: CountLog) -> ResponseTable:
    """Put several runs together; subjects and items that occur in several are the same ones."""
    if not parts:
        raise MensuraError("responses: nothing was given; give files, tables or pools")
    if len(parts) == 1:
        part = parts[0]
        return build_table(part.subjects, part.groups, part.items, part.right, part.trials, log.frame())
    groups: dict[str, str] = {}
    for part in parts:
        for subject, group in zip(part.subjects, part.groups, strict=True):
            if groups.setdefault(subject, group) != group:
                raise MensuraError(
                    f"responses: subject {subject!r} is in the groups {groups[subject]!r} and {group!r}; give each "
                    "subject one group"
                )
    subjects, items = list(groups), list(dict.fromkeys(item for part in parts for item in part.items))
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (subjects, items))
    join = _join_cells if any(is_sparse(part.right) for part in parts) else _join_arrays
    right, trials = join(parts, rows, columns, rules, log)
    return build_table(subjects, list(groups.values()), items, right, trials, log.frame())


def _join_arrays(
    parts: Sequence[CountPart], rows: dict[str, int], columns: dict[str, int], rules: CountRules, log: CountLog
) -> tuple[Counts, Counts]:
    """Return right answers and trials of several runs, laid over one another in one table."""
    shares = any(part.right.dtype.kind == "f" for part in parts)
    right = np.zeros((len(rows), len(columns)), dtype=np.float32 if shares else np.uint16)
    trials = np.zeros(right.shape, dtype=np.uint16)
    for part in parts:
        at = np.ix_([rows[name] for name in part.subjects], [columns[name] for name in part.items])
        given = np.ones(part.right.shape, dtype=np.uint16) if part.trials is None else part.trials
        again = (given > 0) & (trials[at] > 0)
        _note_again(int(again.sum()), rules, log)
        kept, before = ~(again & (rules.duplicates == "first")), ~(again & (rules.duplicates == "last"))
        right[at] = right[at] * before + part.right * kept
        trials[at] = trials[at] * before + given * kept
    return _joined(trials, right, rules, log)


def _join_cells(
    parts: Sequence[CountPart], rows: dict[str, int], columns: dict[str, int], rules: CountRules, log: CountLog
) -> tuple[Counts, Counts]:
    """Return right answers and trials of several runs of which most items were not taken, cell by cell."""
    cells = pl.concat([_cells(part, rows, columns) for part in parts])
    both = pl.col("right", "n")
    total = {"first": both.first(), "last": both.last()}.get(rules.duplicates, both.sum())
    once = cells.group_by("cell", maintain_order=True).agg(total).sort("cell")
    _note_again(cells.height - once.height, rules, log)
    right, trials = _joined(once["n"].to_numpy(), once["right"].to_numpy(), rules, log)
    row, column = np.divmod(once["cell"].to_numpy(), len(columns))
    return counts_at(row, column, right, trials, (len(rows), len(columns)))


def _joined(n: Counts, k: Counts, rules: CountRules, log: CountLog) -> tuple[Counts, Counts]:
    """Return right answers and trials in the sizes that counts have."""
    if n.max(initial=0) > MOST_TRIALS:
        n, k = _bounded(n.astype(np.int64), k.astype(np.float64), log)
    if rules.repeats == "average":
        n, k = np.minimum(n, 1), k / np.maximum(n, 1)
    return _small(k), n.astype(np.uint8)


def _cells(part: CountPart, rows: dict[str, int], columns: dict[str, int]) -> pl.DataFrame:
    """Return cell (its number in the joint table), right answers and trials of all items taken in a run."""
    trials = np.ones(part.right.shape, dtype=np.uint8) if part.trials is None else part.trials
    row, column = trials.nonzero()
    of_subject, of_item = (
        np.array([places[name] for name in names], dtype=np.int64)
        for places, names in ((rows, part.subjects), (columns, part.items))
    )
    values = {"right": np.asarray(part.right[row, column]).ravel(), "n": np.asarray(trials[row, column]).ravel()}
    return pl.DataFrame({"cell": of_subject[row] * len(columns) + of_item[column], **values}).cast(
        {"right": pl.Float64, "n": pl.Int64}
    )


def _note_again(count: int, rules: CountRules, log: CountLog) -> None:
    """Note, or refuse, outcomes that several runs have."""
    if count and rules.duplicates == "refuse":
        raise MensuraError(f"responses: {count} outcomes are there in two runs; choose duplicates pool, first or last")
    words = {"pool": "pooled as repeats", "first": "the first run kept", "last": "the last run kept"}
    log.note("outcomes in several runs", count, words.get(rules.duplicates, ""))


def _by_rules(outcomes: pl.DataFrame, rules: CountRules, log: CountLog) -> pl.DataFrame:
    """Apply the rules for missing outcomes and partial credit."""
    nameless = outcomes["subject"].is_null() | outcomes["item"].is_null()
    log.note("outcomes without subject or item", int(nameless.sum()), "left out")
    outcomes = outcomes.filter(~nameless) if nameless.any() else outcomes
    log.note("missing outcomes", outcomes["value"].null_count(), _missing_rule(rules))
    if rules.missing == "ignore":
        outcomes = outcomes.filter(pl.col("value").is_not_null())
    outcomes = outcomes.with_columns(pl.col("value").fill_null(0.0))
    _check_range(outcomes["value"], "correct")
    if outcomes.filter(pl.col("n") < 1).height:
        raise MensuraError("responses: column 'n' has counts below 1; expected how often an item was tried, at least 1")
    single = (outcomes["n"] == 1).to_numpy()
    values = outcomes["value"].to_numpy().copy()
    values[single] = _credited(values[single], rules, log)
    return outcomes.with_columns(value=pl.Series(values, dtype=pl.Float64))


def _credited(values: np.ndarray[Any, Any], rules: CountRules, log: CountLog) -> np.ndarray[Any, Any]:
    partial = (values > 0.0) & (values < 1.0)
    if not partial.any():
        return values
    words = {"share": "kept as shares", "full": "counted as wrong", "half": "right from a half on"}
    log.note("outcomes with partial credit", int(partial.sum()), words[rules.partial])
    if rules.partial == "share":
        return values
    return (values >= (1.0 if rules.partial == "full" else 0.5)).astype(np.float64)


def _missing_rule(rules: CountRules) -> str:
    return "left out" if rules.missing == "ignore" else "counted as wrong"


def _has_shares(values: Counts) -> bool:
    return any(bool(np.any(values[rows] % 1.0 > 0.0)) for rows in _row_blocks(values))


def _check_range(column: pl.Series, name: str) -> None:
    wrong = column.filter(column.is_not_null() & ~column.is_between(0.0, 1.0))
    if wrong.len():
        _refuse_outcome(name, wrong[0])


def _refuse_outcome(name: str, value: float) -> None:
    raise MensuraError(f"responses: {name!r} holds {value:g}; expected outcomes from 0 (wrong) to 1 (right)")


def _bounded(n: np.ndarray[Any, Any], k: np.ndarray[Any, Any], log: CountLog) -> tuple[Any, Any]:
    """Scale counts that are too large for a byte; the share stays."""
    large = n > MOST_TRIALS
    log.note(f"items repeated more than {MOST_TRIALS} times", int(large.sum()), f"scaled to {MOST_TRIALS} trials")
    return np.where(large, MOST_TRIALS, n), np.where(large, np.round(k * MOST_TRIALS / np.maximum(n, 1)), k)


def _small(right: Counts) -> Counts:
    """Return whole counts as bytes; shares stay single precision."""
    if right.dtype == np.uint8:
        return right
    whole = right.dtype.kind != "f" or not bool(np.any(right != np.round(right)))
    return right.astype(np.uint8) if whole else right.astype(np.float32)


def _codes(names: pl.Series, known: dict[str, int]) -> Places:
    """Return the number of every name; new names get the next ones."""
    new = names.unique(maintain_order=True)
    numbers = pl.Series([known.setdefault(name, len(known)) for name in new], dtype=pl.Int32)
    if not new.len():
        return np.zeros(0, dtype=np.int32)
    return names.replace_strict(new, numbers, return_dtype=pl.Int32).to_numpy()
