"""Reading responses into memory: any mix of logs, tables and pools becomes one table of counts."""

from __future__ import annotations

from itertools import chain
from typing import Any

import polars as pl

from mensura.people.pool import is_pool
from mensura.responses.counting import CountLog, CountPart, WideTable, count_outcomes, count_wide, join_parts
from mensura.responses.rules import CountRules
from mensura.responses.sources import owned, pieces
from mensura.responses.table import ResponseTable


def read_responses(
    sources: Any,  # noqa: ANN401
    *,
    rules: CountRules | None = None,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
    header: bool = True,
) -> ResponseTable:
    """Return the responses of one source or a list of them.

    A source is a file (CSV or Parquet, long or wide; Inspect .eval or .json; harness samples .jsonl; HELM's
    per_instance_stats.json), a folder of logs, a pool of people (:class:`mensura.ItemPool` or its folder), or a
    frame. Each file is one run. See :class:`CountRules` for how repeats, duplicate runs, gaps and partial credit are
    counted, :func:`mensura.responses.sources.pieces` for the other settings. Where people are among the sources they
    come first: they are the measure.
    """
    rules, log = rules or CountRules(), CountLog()
    parts: list[CountPart] = []
    given = owned(sources, group, log)
    for source, owner in given:
        parts.append(_counted(source, rules, log, subject=subject, by=by, group=owner, header=header))
    log.require_group(by)
    people = [is_pool(source) for source, _ in given]
    known = {item for person, part in zip(people, parts, strict=True) if person for item in part.items}
    return join_parts([_shortened(part, known) for part in parts], rules, log)


def _counted(source: Any, rules: CountRules, log: CountLog, **settings: Any) -> CountPart:  # noqa: ANN401
    found = pieces(source, log=log, **settings)
    first = next(found)
    if isinstance(first, WideTable):
        return count_wide(first, rules, log)
    others = (piece for piece in found if isinstance(piece, pl.DataFrame))
    return count_outcomes(chain([first], others), rules, log)


def _shortened(part: CountPart, known: set[str]) -> CountPart:
    """Return a part whose TASK:ID are shortened to ID where people know none of the long ids but the short ones."""
    if not known or known & set(part.items):
        return part
    short = [item.partition(":")[2] or item for item in part.items]
    if len(set(short)) < len(short) or not known & set(short):
        return part
    return CountPart(part.subjects, part.groups, short, part.right, part.trials)
