"""Which rows of a source count, and which model each speaks of: rules in, rows with ids out, the rest listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mensura.intake.faults import EvidenceError, Fault
from mensura.intake.figures import read_figure
from mensura.intake.names import KnownNames
from mensura.intake.source_rows import SourceRow
from mensura.ledger.mapping import Condition, SourceMapping
from mensura.ledger.update import Skipped, Unmatched

_MOST_COMPARED = 500
"""Unknown names for which the nearest are looked up; a page of thousands of them shall not keep us busy for minutes."""


class NamedRow(NamedTuple):
    """A row, the id of its model (blank where nobody knows it), its name as written and without the effort in it."""

    row: SourceRow
    subject: str
    written: str
    base: str
    effort: str


def kept_rows(rows: Iterable[SourceRow], mapping: SourceMapping) -> tuple[list[SourceRow], list[Skipped]]:
    """Part the rows that count from those that the mapping leaves out."""
    kept, skipped = [], []
    for row in rows:
        written = row.cells.get(mapping.model, "")
        why = next((rule.why for rule in mapping.keep if not _holds(row, rule)), None)
        why = why or next((rule.why for rule in mapping.skip if _holds(row, rule)), None)
        if not written:
            why = why or "no model is named"
        elif why is None and any(sign in written for sign in mapping.single):
            why = "several models; only a row of one model speaks of it"
        if why is None:
            kept.append(row)
        else:
            skipped.append(Skipped(row.line, written, why))
    return kept, skipped


def _holds(row: SourceRow, rule: Condition) -> bool:
    text = row.cells.get(rule.column, "").casefold()
    if rule.test in ("at_least", "below"):
        figure = read_figure(text)
        enough = figure is not None and figure.value >= float(rule.values[0])
        return enough if rule.test == "at_least" else not enough
    compare = {"equals": str.__eq__, "contains": str.__contains__, "begins": str.startswith, "ends": str.endswith}
    return any(compare[rule.test](text, value) for value in rule.values)


def named_rows(
    rows: Sequence[SourceRow], mapping: SourceMapping, known: KnownNames
) -> tuple[list[NamedRow], list[NamedRow], list[Skipped]]:
    """Part rows whose model is known, rows whose name stands for nothing, and what only the source has."""
    named: list[NamedRow] = []
    strange: list[NamedRow] = []
    left: list[Skipped] = []
    aliases = {written.casefold(): subject for written, subject in mapping.names.items()}
    only = {written.casefold() for written in mapping.source_only}
    for row in rows:
        written = row.cells[mapping.model]
        if written.casefold() in only:
            left.append(Skipped(row.line, written, "the source's own; no model of the evidence"))
            continue
        base, effort = _effort(row, mapping)
        tried = (written, base, *(row.cells.get(column, "") for column in mapping.also))
        subject = next((ident for text in tried if (ident := _subject(text, aliases, known))), None)
        exact = _subject(written, aliases, known) is not None and not mapping.effort
        found = NamedRow(row, subject or "", written, base, "" if exact else effort)
        (named if subject else strange).append(found)
    return named, strange, left


def _subject(text: str, aliases: Mapping[str, str], known: KnownNames) -> str | None:
    if not text:
        return None
    if text.casefold() in aliases:
        return known.ident(aliases[text.casefold()])
    return known.ident(text)


def _effort(row: SourceRow, mapping: SourceMapping) -> tuple[str, str]:
    """Return a name without the effort at its end, in brackets or after the mapping's sign, and that effort.

    What the effort's column says goes before what the name does.
    """
    written = row.cells[mapping.model]
    said = row.cells.get(mapping.effort, "").casefold() if mapping.effort else ""
    if mapping.effort_after:
        head, _, tail = written.rpartition(mapping.effort_after)
        if head and tail.casefold() in mapping.efforts:
            return head.strip(), said or tail.casefold()
    head, bracket, tail = written.rpartition("(")
    if bracket and tail.rstrip().endswith(")"):
        words = [word.strip() for word in tail.rstrip().removesuffix(")").casefold().split(",")]
        found = next((effort for effort in mapping.efforts if any(effort in (w, *w.split()) for w in words)), "")
        if found:
            return head.strip(), said or found
    return written, said if said in mapping.efforts else ""


def at_best_effort(named: Sequence[NamedRow], mapping: SourceMapping) -> tuple[list[NamedRow], list[Skipped]]:
    """Keep the rows of each model at its highest effort; a row that names none stands for the model itself."""
    ranks = {"": -1} | {effort: place for place, effort in enumerate(mapping.efforts)}
    best: dict[str, NamedRow] = {}
    for found in named:
        if found.subject not in best or ranks[found.effort] < ranks[best[found.subject].effort]:
            best[found.subject] = found
    kept, skipped = [], []
    for found in named:
        top = best[found.subject]
        if ranks[found.effort] > ranks[top.effort]:
            why = f"a lower effort ({found.effort}) of {found.subject}; line {top.row.line} has it at its highest"
            skipped.append(Skipped(found.row.line, found.written, why))
        elif ranks[found.effort] > ranks[mapping.least]:
            why = f"{found.subject} at {found.effort} effort alone; only {mapping.least} or more stands for the model"
            skipped.append(Skipped(found.row.line, found.written, why))
        else:
            kept.append(found)
    return kept, skipped


def best_rows(named: Sequence[NamedRow], mapping: SourceMapping, name: str) -> tuple[list[NamedRow], list[Skipped]]:
    """Choose one row per model: the best by the mapping's column, else the only one; two that differ are refused."""
    by_subject: dict[str, list[NamedRow]] = {}
    for found in named:
        by_subject.setdefault(found.subject, []).append(found)
    chosen, skipped, faults = [], [], []
    for subject, rows in by_subject.items():
        top = rows[0]
        if mapping.best:
            top = max(rows, key=lambda found: _rank_value(found.row, mapping.best))
        elif len({tuple(row.row.cells.get(rule.column) for rule in mapping.figures) for row in rows}) > 1:
            lines = ", ".join(str(row.row.line) for row in rows)
            expected = f"one row for {subject}; lines {lines} differ ([best], or [model.names], says which counts)"
            faults.append(Fault(name, rows[1].row.line, mapping.model, rows[1].written, expected))
        chosen.append(top)
        whose = f", by {top.row.cells.get(mapping.named, 'nobody named')}" if mapping.named else ""
        skipped += [
            Skipped(row.row.line, row.written, f"{subject} has a better row, line {top.row.line}{whose}")
            for row in rows
            if row is not top
        ]
    if faults:
        raise EvidenceError(faults)
    return chosen, skipped


def _rank_value(row: SourceRow, column: str) -> float:
    figure = read_figure(row.cells.get(column, ""))
    return float("-inf") if figure is None else figure.value


def unmatched_names(strange: Sequence[NamedRow], known: KnownNames) -> tuple[Unmatched, ...]:
    """List each name that stands for nothing once, with its lines and the nearest ids."""
    lines: dict[str, list[int]] = {}
    near: dict[str, tuple[str, ...]] = {}
    for row in strange:
        lines.setdefault(row.written, []).append(row.row.line)
        if row.written not in near and len(near) < _MOST_COMPARED:
            near[row.written] = known.match(row.base).near
    return tuple(Unmatched("model", name, tuple(found), near.get(name, ())) for name, found in lines.items())
