"""From outcomes to counts, by rules for repeats, duplicate runs, gaps and partial credit, stated and logged."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.intake.answers import AnswerLog, WideAnswers
from mensura.responses.table import Counts, Places, ResponseTable, build_table, counts_at

MOST_TRIALS = 255
"""Repeats of one item by one subject that a count holds; more are scaled down to that many."""
CHOICES = {
    "partial": {"share": "kept as shares", "full": "counted as wrong", "half": "right from a half on"},
    "missing": {"ignore": "left out", "wrong": "counted as wrong"},
    "duplicates": {
        "pool": "pooled as repeats",
        "first": "the first run kept",
        "last": "the last run kept",
        "refuse": "refused",
    },
    "repeats": {"count": "counted as k of n", "average": "averaged"},
}
"""The rules, and what each choice does, in the words of the log."""


@dataclass(frozen=True)
class CountRules:
    """State the rules by which outcomes are counted.

    Parameters
    ----------
    partial
        Credit between 0 and 1: ``share`` keeps it as that share of a right answer (intervals come out on the safe
        side), ``full`` counts full credit alone as right, ``half`` counts a half or more.
    missing
        A blank cell, a sample without score: ``ignore`` leaves it out, ``wrong`` counts it as wrong. Items a subject
        was never given are always left out.
    duplicates
        The same subject and item in several runs (files): ``pool`` counts all as repeats, ``first`` and ``last`` keep
        one run, ``refuse`` stops.
    repeats
        Of an item by a subject: ``count`` takes them as k of n independent trials, ``average`` as one trial with
        their share, which is right where repeats hardly differ (the same question in another order).

    """

    partial: str = "share"
    missing: str = "ignore"
    duplicates: str = "pool"
    repeats: str = "count"

    def __post_init__(self) -> None:
        for field in fields(self):
            check_choice(field.name, getattr(self, field.name), CHOICES[field.name])


_BLOCK = 1_000_000
"""Values of a wide table that are counted at a time."""


@dataclass(frozen=True)
class CountPart:
    """Counts of one run (one file): subjects, their groups, items, right answers and trials."""

    subjects: list[str]
    groups: list[str]
    items: list[str]
    right: Counts
    trials: Counts | None


def count_outcomes(
    outcomes: Iterable[pl.DataFrame], rules: CountRules, log: AnswerLog, items: Sequence[str] = ()
) -> CountPart:
    """Count long answers (columns of ``OUTCOMES``), which are pieces of one run; ``items`` are the first columns."""
    owners: dict[str, str] = {}
    subjects: dict[str, int] = {}
    columns = {item: place for place, item in enumerate(items)}
    coded = [_coded(piece, rules, log, owners, subjects, columns) for piece in outcomes]
    row, column, right, n = (np.concatenate(parts) for parts in zip(*coded, strict=True))
    cell = row.astype(np.int64) * len(columns) + column
    del row, column, coded
    order = np.argsort(cell, kind="stable")
    cell, right, n = cell[order], right[order], n[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    if len(first) < len(cell):
        cell, right, n = cell[first], np.add.reduceat(right, first), np.add.reduceat(n, first)
    log.note("items repeated by a subject", int((n > 1).sum()), CHOICES["repeats"][rules.repeats])
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
    log: AnswerLog,
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


def count_wide(wide: WideAnswers, rules: CountRules, log: AnswerLog) -> CountPart:
    """Count a wide table."""
    subjects, items, values = wide.subjects, wide.items, wide.values
    step = max(1, _BLOCK // max(1, len(items)))
    blocks = [slice(start, start + step) for start in range(0, len(values), step)]
    shares = any(bool(np.any(values[rows] % 1.0 > 0.0)) for rows in blocks)
    right = np.zeros(values.shape, dtype=np.float32 if shares else np.uint8)
    trials = np.ones(right.shape, dtype=np.uint8)
    for rows in blocks:
        given = values[rows]
        missing = np.isnan(given)
        _refuse_beyond(given, items.__getitem__)
        log.note("missing outcomes", int(missing.sum()), CHOICES["missing"][rules.missing])
        trials[rows][missing] = rules.missing != "ignore"
        right[rows] = _credited(np.where(missing, 0.0, given), rules, log)
    return CountPart(subjects.to_list(), wide.groups, items, _small(right), trials)


def join_parts(parts: Sequence[CountPart], rules: CountRules, log: AnswerLog) -> ResponseTable:
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
    right, trials = _join_cells(parts, rows, columns, rules, log)
    return build_table(subjects, list(groups.values()), items, right, trials, log.frame())


def _join_cells(
    parts: Sequence[CountPart], rows: dict[str, int], columns: dict[str, int], rules: CountRules, log: AnswerLog
) -> tuple[Counts, Counts]:
    """Return right answers and trials of several runs, cell by cell."""
    cells = pl.concat([_cells(part, rows, columns) for part in parts])
    both = pl.col("right", "n")
    total = {"first": both.first(), "last": both.last()}.get(rules.duplicates, both.sum())
    once = cells.group_by("cell", maintain_order=True).agg(total).sort("cell")
    again = cells.height - once.height
    if again and rules.duplicates == "refuse":
        raise MensuraError(f"responses: {again} outcomes are there in two runs; choose duplicates pool, first or last")
    log.note("outcomes in several runs", again, CHOICES["duplicates"][rules.duplicates])
    n, right = _bounded(once["n"].to_numpy(), once["right"].to_numpy(), log)
    if rules.repeats == "average":
        n, right = np.minimum(n, 1), right / np.maximum(n, 1)
    row, column = np.divmod(once["cell"].to_numpy(), len(columns))
    return counts_at(row, column, _small(right), n.astype(np.uint8), (len(rows), len(columns)))


def _cells(part: CountPart, rows: dict[str, int], columns: dict[str, int]) -> pl.DataFrame:
    """Return cell (its number in the joint table), right answers and trials of all items taken in a run."""
    trials = np.ones(part.right.shape, dtype=np.uint8) if part.trials is None else part.trials
    row, column = trials.nonzero()
    of_subject = np.array([rows[name] for name in part.subjects], dtype=np.int64)
    of_item = np.array([columns[name] for name in part.items], dtype=np.int64)
    right, n = (np.asarray(counts[row, column]).ravel() for counts in (part.right, trials))
    cells = {"cell": of_subject[row] * len(columns) + of_item[column], "right": right, "n": n}
    return pl.DataFrame(cells).cast({"right": pl.Float64, "n": pl.Int64})


def _by_rules(outcomes: pl.DataFrame, rules: CountRules, log: AnswerLog) -> pl.DataFrame:
    """Apply the rules for missing outcomes and partial credit."""
    nameless = outcomes["subject"].is_null() | outcomes["item"].is_null()
    log.note("outcomes without subject or item", int(nameless.sum()), "left out")
    outcomes = outcomes.filter(~nameless) if nameless.any() else outcomes
    log.note("missing outcomes", outcomes["value"].null_count(), CHOICES["missing"][rules.missing])
    if rules.missing == "ignore":
        outcomes = outcomes.filter(pl.col("value").is_not_null())
    values, n = outcomes["value"].fill_null(0.0).to_numpy().copy(), outcomes["n"].to_numpy()
    _refuse_beyond(values, lambda _: "correct")
    if np.any(n < 1):
        raise MensuraError("responses: column 'n' has counts below 1; expected how often an item was tried, at least 1")
    values[n == 1] = _credited(values[n == 1], rules, log)
    return outcomes.with_columns(value=pl.Series(values, dtype=pl.Float64))


def _refuse_beyond(values: Counts, name: Callable[[int], str]) -> None:
    """Refuse outcomes below 0 or above 1; ``name``: of the last axis' places."""
    for at in np.argwhere((values < 0.0) | (values > 1.0))[:1]:
        value = float(values[tuple(at)])
        raise MensuraError(
            f"responses: {name(int(at[-1]))!r} holds {value:g}; expected outcomes from 0 (wrong) to 1 (right)"
        )


def _credited(values: np.ndarray[Any, Any], rules: CountRules, log: AnswerLog) -> np.ndarray[Any, Any]:
    partial = (values > 0.0) & (values < 1.0)
    log.note("outcomes with partial credit", int(partial.sum()), CHOICES["partial"][rules.partial])
    if rules.partial == "share" or not partial.any():
        return values
    return (values >= (1.0 if rules.partial == "full" else 0.5)).astype(np.float64)


def _bounded(n: np.ndarray[Any, Any], k: np.ndarray[Any, Any], log: AnswerLog) -> tuple[Any, Any]:
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


def _codes(names: pl.Series, numbers: dict[str, int]) -> Places:
    """Return the number of every name; new names get the next ones."""
    new = names.unique(maintain_order=True)
    codes = pl.Series([numbers.setdefault(name, len(numbers)) for name in new], dtype=pl.Int32)
    if not new.len():
        return np.zeros(0, dtype=np.int32)
    return names.replace_strict(new, codes, return_dtype=pl.Int32).to_numpy()
