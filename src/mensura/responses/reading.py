"""Read responses into memory: any mix of logs, tables and pools becomes one table of counts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.intake.answers import FIELDS, MODELS, AnswerLog, Answers, WideAnswers, read_answer_table, read_answers
from mensura.intake.columns import find_columns, parse_map
from mensura.intake.persons import choose_columns
from mensura.intake.tables import NotedTable, as_frame
from mensura.people import ItemPool
from mensura.people.pool import is_pool
from mensura.responses.counting import CountPart, CountRules, count_outcomes, count_wide, join_parts
from mensura.responses.table import ResponseTable

_INSPECT_JSON = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_.+_[0-9A-Za-z]{22}\.json$")
"""Inspect's names of logs that are one JSON file: time, task and a short unique id."""
_LOGS = ("*.eval", "per_instance_stats.json", "samples_*.jsonl")


def read_responses(
    sources: Any,
    *,
    rules: CountRules | None = None,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
    header: bool = True,
    columns: str | None = None,
    choice: AnswerChoice | None = None,
) -> ResponseTable:
    """Read the responses of one source or a list of them.

    Parameters
    ----------
    sources
        A source is a file (a table of any form, long or wide; Inspect .eval or .json; harness samples .jsonl; HELM's
        per_instance_stats.json), a folder of logs, a pool of people (:class:`mensura.ItemPool` or its folder), or a
        frame. Each file is one run. People among the sources come first: they are the measure.
    rules
        How repeats, duplicate runs, gaps and partial credit are counted.
    subject
        Whose samples a log holds that does not say so itself.
    by
        The column of a pool's persons, or of a table, that makes groups; subjects without it are left out.
    group
        The group of subjects for whom nothing else says it.
    header
        Whether a table of text names its columns; without names each row is one subject.
    columns
        Fields and their columns where names alone do not say it, such as ``subject=pupil,item=task,correct=points``.
    choice
        Which columns are items, which outcomes are missing, and the key of the right answers.

    Returns
    -------
    ResponseTable
        Counts of right answers and trials, subjects × items, and a log of what rules decided.

    Raises
    ------
    MensuraError
        If a source cannot be read, or says nothing about who answered what.

    Examples
    --------
    >>> from mensura.responses import read_responses
    >>> table = read_responses({"subject": ["a", "b"], "q1": [1, 0], "q2": [1, 99]})
    >>> table.heading
    '3 responses: 2 subjects (2 all) × 2 items'

    """
    rules, log = rules or CountRules(), AnswerLog()
    how = {"subject": subject, "by": by, "header": header, "columns": columns, "choice": choice}
    given = owned(sources, group, log)
    parts = [_counted(source, rules, log, group=owner, **how) for source, owner in given]
    log.require_group(by)
    of_people = {item for (source, _), part in zip(given, parts, strict=True) if is_pool(source) for item in part.items}
    return join_parts([_shortened(part, of_people) for part in parts], rules, log)


def owned(sources: Any, group: str | None, log: AnswerLog) -> list[tuple[Any, str | None]]:
    """Return every source on its own, people first, each with the group of subjects for whom nothing else says it.

    Folders of logs become their files, and a copy of a file is left out: the same run given twice is one run.
    """
    several = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    chosen: list[Any] = []
    digests: set[str] = set()
    for source in several:
        folder = isinstance(source, str | Path) and Path(source).is_dir() and not is_pool(source)
        for one in (_log_files(Path(source)) if folder else []) or [source]:
            if isinstance(one, str | Path) and Path(one).is_file():
                with Path(one).open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                if digest in digests:
                    log.note("files with the same content as another", 1, "read once")
                    continue
                digests.add(digest)
            chosen.append(one)
    chosen.sort(key=lambda source: not is_pool(source))
    among_people = bool(chosen) and is_pool(chosen[0])
    return [(source, group or (MODELS if among_people and not is_pool(source) else None)) for source in chosen]


def _log_files(folder: Path) -> list[Path]:
    """Return the evaluation logs under a folder, sorted; summaries beside them are not samples."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if any(map(path.match, _LOGS)) or _INSPECT_JSON.match(path.name)]


@dataclass(frozen=True)
class AnswerChoice:
    """Choose the items of a table, which outcomes are missing, and which answers are right.

    Parameters
    ----------
    items
        Columns of a wide table, or items of a long one: names or wildcards such as ``q*``, parted by commas.
    absent
        Outcomes that stand for a missing answer, such as ``9,99``.
    key
        A table of ``item`` and ``key`` (or ``answer``): each answer becomes 1 where it is the key, else 0.
    rater
        Column of a long table that names who rated: an item becomes one item per rater, such as ``essay by anna``.

    """

    items: str | None = None
    absent: str | None = None
    key: Any = None
    rater: str | None = None

    def of(self, source: Any, by: str | None, header: bool, columns: str | None) -> NotedTable:
        """Return a table with the chosen items alone, missing answers blank, right ones 1."""
        name = str(source) if isinstance(source, str | Path) else "answers"
        table = read_answer_table(source, header=header)
        if table is None:
            raise MensuraError(f"{name}: a log or folder has no columns to choose; leave items, absent and key out")
        frame, mapped = table.frame, parse_map(columns, FIELDS, "subject=pupil,item=task,correct=points")
        fields = find_columns(frame.columns, FIELDS, mapped, name)
        item, value = fields["item"], fields["correct"]
        if self.rater is not None:
            require_columns(frame, [self.rater, *([] if item else ["item"])], name=name)
            frame = frame.drop_nulls(self.rater).with_columns(
                pl.format("{} by {}", str(item), self.rater).alias(str(item))
            )
        if item is not None and value is not None:
            if self.items:
                names = frame[item].cast(pl.String).unique(maintain_order=True).to_list()
                frame = frame.filter(pl.col(item).cast(pl.String).is_in(choose_columns(self.items, names)))
            parts = [
                part.with_columns(self._scored(part[value], str(part[item][0])))
                for part in frame.partition_by(item, maintain_order=True)
            ]
            return replace(table, frame=pl.concat(parts, how="vertical_relaxed"), chosen=True)
        about = [title for title in (fields["subject"], by or fields["group"]) if title in frame.columns]
        rest = [title for title in frame.columns if title not in about]
        chosen = choose_columns(self.items, rest) if self.items else rest
        scored = [self._scored(frame[title], title) for title in chosen]
        return replace(table, frame=frame.select(*about, *scored), chosen=self.items is not None)

    def _scored(self, answers: pl.Series, item: str) -> pl.Series:
        absent = [code for code in (self.absent or "").split(",") if code.strip()]
        missing = pl.any_horizontal([pl.lit(value=False), *(_is_answer(answers, code) for code in absent)])
        kept = answers.to_frame().select(pl.when(~missing).then(pl.first())).to_series().rename(answers.name)
        if self.key is None:
            return kept
        right = self._keys.get(item)
        if right is None:
            raise MensuraError(f"key: no row for item {item!r}; expected one for each. Add it, or say --set items=…")
        return kept.to_frame().select(_is_answer(kept, right).cast(pl.Float64)).to_series().rename(answers.name)

    @property
    def _keys(self) -> dict[str, str]:
        table = as_frame(self.key, name="key")
        title = next((name for name in ("key", "answer", "correct") if name in table.columns), "key")
        require_columns(table, ["item", title], name="key")
        return dict(table.select(pl.col("item", title).cast(pl.String)).iter_rows())


def only_items(sources: Any, items: Collection[str]) -> list[Any]:
    """Return sources with the answers to these items: columns of a wide table, or items by raters of a long one."""
    several = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    for place, source in enumerate(several):
        table = None if isinstance(source, ItemPool) or is_pool(source) else read_answer_table(source)
        if table is None:
            continue
        frame, fields = table.frame, find_columns(table.frame.columns, FIELDS, {}, "answers")
        if set(items) & set(frame.columns):
            kept = {fields["subject"], fields["group"], *items}
            several[place] = replace(
                table, frame=frame.select(name for name in frame.columns if name in kept), chosen=True
            )
        for rater in frame.columns if fields["item"] else ():
            rated = frame.select(pl.format("{} by {}", str(fields["item"]), rater)).to_series()
            if rated.is_in(list(items)).any():
                several[place] = replace(table, frame=frame.with_columns(rated.alias(str(fields["item"]))))
    return several


def _is_answer(answers: pl.Series, text: str) -> pl.Expr:
    """Return whether answers are that number or, without regard to case, that text; blank where there is none."""
    if answers.dtype.is_numeric():
        try:
            return pl.lit(answers) == float(text)
        except ValueError:
            return pl.lit(answers).is_null() & False
    return pl.lit(answers).cast(pl.String).str.strip_chars().str.to_lowercase() == text.strip().lower()


def pieces(
    source: Any, *, by: str | None, log: AnswerLog, choice: AnswerChoice | None = None, **how: Any
) -> Iterator[Answers]:
    """Yield the answers of a pool of people, or what :func:`read_answers` finds; ``how``: its other arguments."""
    if choice is not None and choice != AnswerChoice() and not is_pool(source):
        source = choice.of(source, by, how.get("header", True), how.get("columns"))
    if isinstance(source, ItemPool) or is_pool(source):
        answers: Any = [_of_pool(source if isinstance(source, ItemPool) else ItemPool.read(Path(source)), by, log)]
    else:
        answers = read_answers(source, by=by, log=log, **how)
    for piece in answers:
        if isinstance(piece, WideAnswers):
            _refuse_unnamed(piece.subjects, piece.items)
        yield piece


def _refuse_unnamed(subjects: pl.Series, items: list[str]) -> None:
    """Refuse rows of a wide table without a subject or with the same one, and columns without a name."""
    if subjects.null_count():
        raise MensuraError(f"responses: {subjects.null_count()} rows have no subject; every row needs one")
    for name in subjects.filter(subjects.is_duplicated()):
        raise MensuraError(
            f"responses: subject {name!r} has several rows; give repeats as a long table (subject, item, correct)"
        )
    if not all(map(str.strip, items)):
        raise MensuraError("responses: a column of answers has no name; every item needs one. Name or drop the column")


def _of_pool(pool: ItemPool, by: str | None, log: AnswerLog) -> WideAnswers:
    if pool.responses is None:
        raise MensuraError(f"pool {pool.name!r}: it has rates but no answers of persons; use place with rates instead")
    if by is None:
        return WideAnswers.of_frame(pool.responses, "person", [pool.name] * pool.responses.height)
    if pool.persons is None or by not in pool.persons.columns:
        columns = ", ".join(pool.persons.columns) if pool.persons is not None else "none"
        raise MensuraError(f"by: pool {pool.name!r} has no column {by!r}; expected a column of persons: {columns}")
    groups = pool.persons[by].cast(pl.String)
    log.group(by, groups.null_count(), "people")
    owners = [f"{pool.name}:{value}" for value in groups.drop_nulls()]
    if not owners:
        raise MensuraError(f"by: nobody in pool {pool.name!r} has a value of {by!r}; choose another column")
    return WideAnswers.of_frame(pool.responses.filter(groups.is_not_null()), "person", owners)


def _counted(source: Any, rules: CountRules, log: AnswerLog, **how: Any) -> CountPart:
    answers = pieces(source, log=log, **how)
    first = next(answers)
    if isinstance(first, WideAnswers):
        return count_wide(first, rules, log)
    return count_outcomes(chain([first], (one for one in answers if isinstance(one, pl.DataFrame))), rules, log)


def _shortened(part: CountPart, of_people: set[str]) -> CountPart:
    """Return a part whose TASK:ID are shortened to ID where people know none of the long ids but the short ones."""
    short = [item.partition(":")[2] or item for item in part.items]
    if of_people & set(part.items) or len(set(short)) < len(short) or not of_people & set(short):
        return part
    return replace(part, items=short)
