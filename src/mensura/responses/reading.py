"""Reading responses into memory: any mix of logs, tables and pools becomes one table of counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mensura.people import ItemPool
from mensura.responses.counting import CountLog, CountPart, count_outcomes, count_wide, join_parts
from mensura.responses.rules import CountRules
from mensura.responses.sources import WideTable, fingerprint, log_files, pieces
from mensura.responses.table import ResponseTable


def read_responses(
    sources: Any,  # noqa: ANN401
    *,
    rules: CountRules | None = None,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
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
    given = _unfolded(sources, log)
    given.sort(key=lambda source: not _is_people(source))
    for source in given:
        owner = group or ("models" if _is_people(given[0]) and not _is_people(source) else None)
        parts.append(_counted(source, rules, log, subject, by, owner))
    known = {item for source, part in zip(given, parts, strict=True) if _is_people(source) for item in part.items}
    return join_parts([_shortened(part, known) for part in parts], rules, log)


def _unfolded(sources: Any, log: CountLog) -> list[Any]:  # noqa: ANN401
    """Return every source on its own: folders of logs become their files, copies of a file are dropped."""
    several = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    found: list[Any] = []
    seen: set[str] = set()
    for source in several:
        path = Path(source) if isinstance(source, str | Path) else None
        inside = log_files(path) if path is not None and path.is_dir() and not _is_people(path) else []
        for one in inside or [source]:
            if isinstance(one, str | Path) and Path(one).is_file():
                digest = fingerprint(Path(one))
                if digest in seen:
                    log.note("files with the same content as another", 1, "read once")
                    continue
                seen.add(digest)
            found.append(one)
    return found


def _is_people(source: Any) -> bool:  # noqa: ANN401
    if isinstance(source, str | Path):
        return any((Path(source) / f"items.{ending}").is_file() for ending in ("csv", "parquet"))
    return isinstance(source, ItemPool)


def _counted(
    source: Any,  # noqa: ANN401
    rules: CountRules,
    log: CountLog,
    subject: str | None,
    by: str | None,
    group: str | None,
) -> CountPart:
    found = list(pieces(source, subject=subject, by=by, group=group))
    if isinstance(found[0], WideTable):
        return count_wide(found[0].frame, found[0].who, found[0].groups, rules, log)
    return count_outcomes(pl.concat([piece for piece in found if isinstance(piece, pl.DataFrame)]), rules, log)


def _shortened(part: CountPart, known: set[str]) -> CountPart:
    """Return a part whose TASK:ID are shortened to ID where people know none of the long ids but the short ones."""
    if not known or known & set(part.items):
        return part
    short = [item.partition(":")[2] or item for item in part.items]
    if len(set(short)) < len(short) or not known & set(short):
        return part
    return CountPart(part.subjects, part.groups, short, part.right, part.trials)
