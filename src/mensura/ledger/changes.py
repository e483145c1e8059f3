"""Figures that were read, against the cells of the evidence: the changes they make, and the rows they would need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mensura.evidence.edition import Cells
from mensura.evidence.ids import id_fault
from mensura.evidence.schema import TABLES
from mensura.intake.names import spelling
from mensura.ledger.captures import Capture
from mensura.ledger.mapping import FigureRule, SourceMapping
from mensura.ledger.naming import NamedRow
from mensura.ledger.update import CellChange, Proposal

_FLAGS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


class ReadFigure(NamedTuple):
    """One figure of a source: the rule it was read by, whose it is, value, line and what is said with it."""

    rule: FigureRule
    subject: str
    value: str
    line: int
    note: str


def changes_of(
    readings: Sequence[ReadFigure], mapping: SourceMapping, capture: Capture, cells: Cells
) -> tuple[list[CellChange], dict[str, list[CellChange]]]:
    """Return the changes that figures make, and apart those that wait for a benchmark nobody knows, by its id.

    A figure that equals what stands there changes nothing, whatever its date.
    """
    made: list[CellChange] = []
    waiting: dict[str, list[CellChange]] = {}
    for reading in readings:
        changes = list(_changes(reading, mapping, capture, cells))
        if reading.rule.into == "scores" and (reading.rule.target,) not in cells["benchmarks"]:
            waiting.setdefault(reading.rule.target, []).extend(changes)
        else:
            made += changes
    return made, waiting


def _changes(reading: ReadFigure, mapping: SourceMapping, capture: Capture, cells: Cells) -> Iterator[CellChange]:
    rule, source = reading.rule, mapping.source["source"]
    if rule.into == "models":
        row = cells["models"].get((reading.subject,), {})
        yield from _differing("models", (reading.subject,), row, {rule.target: reading.value}, reading.line)
        return
    key = (reading.subject, rule.target, source)
    row = cells[rule.into].get(key, {})
    field = "score" if rule.into == "scores" else "value"
    if _same(row.get(field), reading.value) and row.get("unit") == rule.unit:
        return
    wanted = {field: reading.value, "unit": rule.unit, "date": capture.day}
    if reading.note or row.get("note"):
        wanted["note"] = reading.note
    yield from _differing(rule.into, key, row, wanted, reading.line)
    if rule.into == "scores":
        yield from _primary(key, row, mapping.primary, cells, reading.line)


def _primary(key: tuple[str, ...], row: Mapping[str, str], rule: str, cells: Cells, line: int) -> Iterator[CellChange]:
    """Say which score of a model and benchmark instruments use once this one is there."""
    others = [
        (other, found)
        for other, found in cells["scores"].items()
        if other[:2] == key[:2] and other != key and _FLAGS.get(found.get("primary", "").lower()) == "yes"
    ]
    takes = rule == "always" or (rule == "when-none" and not others)
    mine = "yes" if takes or (_FLAGS.get(row.get("primary", "").lower()) == "yes") else "no"
    yield from _differing("scores", key, row, {"primary": mine}, line)
    if takes:
        for other, found in others:
            yield CellChange("scores", other, "primary", found["primary"], "no", line)


def _differing(
    table: str, key: tuple[str, ...], row: Mapping[str, str], wanted: Mapping[str, str], line: int
) -> Iterator[CellChange]:
    for field, value in wanted.items():
        old = row.get(field)
        if old != (value or None) and not _same(old, value) and _FLAGS.get((old or "").lower(), "") != value:
            yield CellChange(table, key, field, old, value or None, line)


def _same(old: str | None, new: str) -> bool:
    """Say whether two cells are one number, however each is written."""
    try:
        return old is not None and float(old) == float(new)
    except ValueError:
        return False


def source_changes(mapping: SourceMapping, capture: Capture, cells: Cells) -> Iterator[CellChange]:
    """Yield the cells of the mapping's source where the evidence does not know it."""
    key = (mapping.source["source"],)
    if key not in cells["sources"]:
        facts = {"date": capture.day, **mapping.source}
        for field, value in facts.items():
            if field != "source":
                yield CellChange("sources", key, field, None, value)


def benchmark_proposals(waiting: Mapping[str, Sequence[CellChange]], mapping: SourceMapping) -> Iterator[Proposal]:
    """Yield a proposal for each benchmark that the mapping names and the evidence does not know."""
    units = {rule.target: rule.unit for rule in mapping.figures}
    for benchmark, changes in waiting.items():
        row = {"benchmark": benchmark, "name": "", "kind": "tracked", "unit": units[benchmark], "in_composite": "no"}
        yield Proposal("benchmarks", False, row, tuple(sorted({c.line or 0 for c in changes})), tuple(changes))


def model_proposals(
    fresh: Sequence[NamedRow],
    mapping: SourceMapping,
    capture: Capture,
    readings: Mapping[str, Sequence[ReadFigure]],
    cells: Cells,
) -> Iterator[Proposal]:
    """Yield a proposal for each model that the source names once and the evidence does not know.

    Only where the mapping says which columns speak of new models. What they do not say stays blank for the reviewer.
    """
    taken = {spelling(key[0]) for key in cells["models"]}
    for row in fresh:
        subject = _proposed_id(row.base)
        if not mapping.new or row.base not in readings or subject is None or spelling(subject) in taken:
            continue
        taken.add(spelling(subject))
        said = {field: row.row.cells.get(column, "") for field, column in mapping.new.items()}
        facts = {"subject": subject, "name": row.base, **said}
        required = [column.name for column in TABLES["models"].columns if column.required]
        facts = {name: facts.get(name, "") for name in dict.fromkeys((*required, *facts))}
        mine = [reading._replace(subject=subject) for reading in readings[row.base]]
        changes, _ = changes_of(mine, mapping, capture, cells)
        yield Proposal("models", False, facts, (row.row.line,), tuple(changes))


def _proposed_id(written: str) -> str | None:
    """Return a name as an id in the manner of the others: small letters, hyphens for spaces."""
    ident = "-".join(written.lower().replace("(", " ").replace(")", " ").split())
    return None if id_fault(ident) else ident
