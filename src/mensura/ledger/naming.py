"""Which rows of a source count, and which model each speaks of: rules in, rows with ids out, the rest listed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mensura.core.errors import EvidenceError, Fault
from mensura.evidence.checks import id_fault
from mensura.evidence.schema import TABLES
from mensura.evidence.store import Cells
from mensura.intake.documents import SourceRow
from mensura.intake.figures import read_figure
from mensura.intake.model_names import ModelNames, model_names
from mensura.intake.names import KnownNames, spelling
from mensura.ledger.captures import Capture
from mensura.ledger.mapping import Condition, FigureRule, SourceMapping
from mensura.ledger.update import CellChange, Proposal, Skipped, Unmatched

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
    rows: Sequence[SourceRow], mapping: SourceMapping, names: KnownNames
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
        subject = next((ident for text in tried if (ident := _subject(text, aliases, names))), None)
        exact = _subject(written, aliases, names) is not None and not mapping.effort
        (named if subject else strange).append(NamedRow(row, subject or "", written, base, "" if exact else effort))
    return named, strange, left


def names_of_models(cells: Cells) -> ModelNames:
    """Return the names by which the models of a ledger are called."""
    models = ({"subject": key[0], **row} for key, row in cells["models"].items())
    return model_names(models, ({"alias": key[0], **row} for key, row in cells.get("aliases", {}).items()))


def _subject(text: str, aliases: Mapping[str, str], names: KnownNames) -> str | None:
    return names.ident(aliases.get(text.casefold(), text)) if text else None


def _effort(row: SourceRow, mapping: SourceMapping) -> tuple[str, str]:
    """Return a name without the effort at its end, in brackets or after the mapping's sign, and that effort.

    What the effort's column says goes before what the name does.
    """
    written = row.cells[mapping.model]
    stated = row.cells.get(mapping.effort, "").casefold() if mapping.effort else ""
    if mapping.effort_after:
        head, _, tail = written.rpartition(mapping.effort_after)
        if head and tail.casefold() in mapping.efforts:
            return head.strip(), stated or tail.casefold()
    head, bracket, tail = written.rpartition("(")
    if bracket and tail.rstrip().endswith(")"):
        words = [word.strip() for word in tail.rstrip().removesuffix(")").casefold().split(",")]
        word = next((effort for effort in mapping.efforts if any(effort in (w, *w.split()) for w in words)), "")
        if word:
            return head.strip(), stated or word
    return written, stated if stated in mapping.efforts else ""


def at_best_effort(named: Sequence[NamedRow], mapping: SourceMapping) -> tuple[list[NamedRow], list[Skipped]]:
    """Keep the rows of each model at its highest effort; a row that names none stands for the model itself."""
    ranks = {"": -1} | {effort: place for place, effort in enumerate(mapping.efforts)}
    best: dict[str, NamedRow] = {}
    for row in sorted(named, key=lambda row: ranks[row.effort]):
        best.setdefault(row.subject, row)
    kept, skipped = [], []
    for row in named:
        top, why = best[row.subject], ""
        if ranks[row.effort] > ranks[top.effort]:
            why = f"a lower effort ({row.effort}) of {row.subject}; line {top.row.line} has it at its highest"
        elif ranks[row.effort] > ranks[mapping.least]:
            why = f"{row.subject} at {row.effort} effort alone; only {mapping.least} or more stands for the model"
        if why:
            skipped.append(Skipped(row.row.line, row.written, why))
        else:
            kept.append(row)
    return kept, skipped


def best_rows(named: Sequence[NamedRow], mapping: SourceMapping, name: str) -> tuple[list[NamedRow], list[Skipped]]:
    """Choose one row per model: the best by the mapping's column, else the only one; two that differ are refused."""
    by_subject: dict[str, list[NamedRow]] = {}
    for row in named:
        by_subject.setdefault(row.subject, []).append(row)
    chosen, skipped, faults = [], [], []
    for subject, rows in by_subject.items():
        top = rows[0]
        if mapping.best:
            figures = [read_figure(row.row.cells.get(mapping.best, "")) for row in rows]
            top = max(zip(rows, figures, strict=True), key=lambda pair: pair[1].value if pair[1] else float("-inf"))[0]
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


def unmatched_names(strange: Sequence[NamedRow], names: KnownNames) -> tuple[Unmatched, ...]:
    """List each name that stands for nothing once, with its lines and the nearest ids."""
    lines: dict[str, list[int]] = {}
    near: dict[str, tuple[str, ...]] = {}
    for row in strange:
        lines.setdefault(row.written, []).append(row.row.line)
        if row.written not in near and len(near) < _MOST_COMPARED:
            near[row.written] = names.match(row.base).near
    return tuple(Unmatched("model", name, tuple(at), near.get(name, ())) for name, at in lines.items())


# Figures that were read, against the cells of the evidence: the changes they make, and the rows they would need.

_FLAGS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


class ReadFigure(NamedTuple):
    """One figure of a source: the rule it was read by, whose it is, value, line and note."""

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
    others = {
        other: cell["primary"]
        for other, cell in cells["scores"].items()
        if other[:2] == key[:2] and other != key and _FLAGS.get(cell.get("primary", "").lower()) == "yes"
    }
    takes = rule == "always" or (rule == "when-none" and not others)
    mine = "yes" if takes or (_FLAGS.get(row.get("primary", "").lower()) == "yes") else "no"
    yield from _differing("scores", key, row, {"primary": mine}, line)
    if takes:
        for other, flag in others.items():
            yield CellChange("scores", other, "primary", flag, "no", line)


def _differing(
    table: str, key: tuple[str, ...], row: Mapping[str, str], wanted: Mapping[str, str], line: int
) -> Iterator[CellChange]:
    for field, value in wanted.items():
        old = row.get(field)
        if old != (value or None) and not _same(old, value) and _FLAGS.get((old or "").lower()) != value:
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
        for field, value in {"date": capture.day, **mapping.source}.items():
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
        subject = "-".join(row.base.lower().replace("(", " ").replace(")", " ").split())
        if not mapping.new or row.base not in readings or id_fault(subject) or spelling(subject) in taken:
            continue
        taken.add(spelling(subject))
        columns = {field: row.row.cells.get(column, "") for field, column in mapping.new.items()}
        facts = {"subject": subject, "name": row.base, **columns}
        required = [column.name for column in TABLES["models"].columns if column.required]
        facts = {name: facts.get(name, "") for name in dict.fromkeys((*required, *facts))}
        mine = [reading._replace(subject=subject) for reading in readings[row.base]]
        changes, _ = changes_of(mine, mapping, capture, cells)
        yield Proposal("models", False, facts, (row.row.line,), tuple(changes))
