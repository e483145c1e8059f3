"""From a capture to an update: rows are kept or left out by the mapping's rules, named, and compared cell by cell."""

from collections import Counter
from collections.abc import Sequence

from mensura.core.errors import EvidenceError, Fault, MensuraError
from mensura.evidence.schema import UNIT_RANGES
from mensura.evidence.store import Cells
from mensura.intake.documents import RowLayout, SourceRow, checked_rows, clean_text, csv_rows, pasted_rows
from mensura.intake.figures import read_figure, uses_decimal_commas
from mensura.intake.html_rows import html_rows
from mensura.intake.json_rows import json_rows
from mensura.intake.text import decoded_text
from mensura.ledger.captures import Capture
from mensura.ledger.mapping import IN_BRACES, FigureRule, SourceMapping
from mensura.ledger.naming import (
    NamedRow,
    ReadFigure,
    at_best_effort,
    benchmark_proposals,
    best_rows,
    changes_of,
    kept_rows,
    model_proposals,
    named_rows,
    names_of_models,
    source_changes,
    unmatched_names,
)
from mensura.ledger.update import Update

_LONGEST_NOTE = 300
_LONGEST_TITLE = 200


def extract_update(capture: Capture, mapping: SourceMapping, cells: Cells) -> Update:
    """Read a capture by a mapping and propose changes of the evidence.

    Names that stand for nothing are listed with the nearest candidates; new models and benchmarks are proposed. Every
    row that is left out is listed with the reason.

    Parameters
    ----------
    capture : Capture
        The raw text.
    mapping : SourceMapping
        How to read it.
    cells : Cells
        The present evidence (:meth:`Ledger.cells`).

    Returns
    -------
    Update
        The changes, for review.

    Raises
    ------
    EvidenceError
        If a figure cannot be read.
    MensuraError
        If the mapping expects another format.

    Examples
    --------
    >>> update = extract_update(ledger.capture("1f0c9a"), read_mapping("mine.toml"), ledger.cells())  # doctest: +SKIP

    """
    if capture.form not in (None, mapping.layout.form):
        raise MensuraError(
            f"mapping {mapping.name} expects {mapping.layout.form}, but the capture is {capture.form}; choose another "
            "--mapping"
        )
    name = f"capture {capture.capture[:12]}"
    rows = read_rows(capture.data, mapping.layout, mapping.columns, name)
    kept, skipped = kept_rows(rows, mapping)
    names = names_of_models(cells)
    named, strange, left = named_rows(kept, mapping, names)
    chosen, lower = at_best_effort(named, mapping)
    chosen, worse = best_rows(chosen, mapping, name)
    readings = _readings(chosen, mapping, name)
    fresh, _ = at_best_effort([row._replace(subject=row.base) for row in strange], mapping)
    proposals = model_proposals(fresh, mapping, capture, _figures_of(fresh, mapping, name), cells)
    made, waiting = changes_of(readings, mapping, capture, cells)
    return Update(
        title=f"{mapping.source['name'][:_LONGEST_TITLE]}, {capture.day}",
        source=mapping.source["source"],
        capture=capture.capture,
        mapping=f"{mapping.name} {mapping.digest}",
        made=capture.day,
        changes=(*(source_changes(mapping, capture, cells) if made or waiting or proposals else ()), *made),
        proposals=(*benchmark_proposals(waiting, mapping), *proposals),
        unmatched=unmatched_names(strange, names),
        skipped=tuple(sorted([*skipped, *left, *lower, *worse])),
        notes=(f"{len(rows)} rows read, {len(chosen)} models, {len(readings)} figures",),
    )


def read_rows(data: bytes, layout: RowLayout, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Return the rows of a capture; ``columns`` are those the mapping reads, by which its table is found."""
    text, _ = decoded_text(data, name)
    if layout.form == "json":
        rows = json_rows(text, layout.path, columns, name)
    elif layout.form == "text":
        rows = pasted_rows(text, layout, columns, name)
    else:
        rows = (html_rows if layout.form == "html" else csv_rows)(text, columns, name)
    return checked_rows(rows, name)


def _readings(rows: Sequence[NamedRow], mapping: SourceMapping, name: str) -> list[ReadFigure]:
    """Read every figure of the chosen rows; those that cannot be one are refused together."""
    readings, faults = _figures(rows, mapping, name)
    for rule in mapping.figures:
        faults += _wrong_scale([reading for reading in readings if reading.rule == rule], rule, name)
    if faults:
        raise EvidenceError(faults)
    return readings


def _figures(rows: Sequence[NamedRow], mapping: SourceMapping, name: str) -> tuple[list[ReadFigure], list[Fault]]:
    readings: list[ReadFigure] = []
    faults: list[Fault] = []
    for rule in mapping.figures:
        texts = [(row, row.row.cells[rule.column]) for row in rows if rule.column in row.row.cells]
        comma = uses_decimal_commas(text for _, text in texts)
        for row, text in texts:
            value, expected = _value(text, rule, decimal_comma=comma)
            if value is None:
                faults.append(Fault(name, row.row.line, rule.column, text[:80], expected))
            else:
                readings.append(ReadFigure(rule, row.subject, value, row.row.line, _note(row, rule, mapping)))
    return readings, faults


def _value(text: str, rule: FigureRule, *, decimal_comma: bool) -> tuple[str | None, str]:
    """Return a figure as the evidence writes it, or None and what was expected."""
    figure = read_figure(text.removeprefix("$"), decimal_comma=decimal_comma)
    if figure is None:
        return None, "a number such as 70.4 or 70.4%"
    if figure.percent and rule.unit != "percent":
        return None, f"a figure in the unit of the mapping ({rule.unit or 'none'}), without a percent sign"
    low, high = UNIT_RANGES.get(rule.unit, (0.0, float("inf")))
    if not low <= figure.value <= high or abs(figure.value) > 1e300:
        return None, f"a {rule.unit or 'number'} from {low:g} to {high:g}"
    return f"{figure.value:.12g}", ""


def _wrong_scale(readings: Sequence[ReadFigure], rule: FigureRule, name: str) -> list[Fault]:
    """Refuse percents that all lie within 0 to 1: the source has changed to fractions, or the mapping is wrong."""
    values = [float(reading.value) for reading in readings]
    if rule.unit != "percent" or not any(values) or max(values) > 1:
        return []
    first = readings[0]
    expected = "percents; every figure of this column lies within 0 to 1, as fractions do (unit in the mapping)"
    return [Fault(name, first.line, rule.column, first.value, expected)]


def _note(row: NamedRow, rule: FigureRule, mapping: SourceMapping) -> str:
    """Return the note of a score: the mapping's words with cells put in, whose row it is, the effort.

    The words are left out where a cell they name is blank.
    """
    cells = row.row.cells
    is_complete = all(cells.get(column) for column in rule.note_columns)
    parts = [IN_BRACES.sub(lambda match: cells[match[1]], rule.note) if is_complete else ""]
    if mapping.named:
        parts.append(f"best row: {row.row.cells.get(mapping.named, 'nobody named')}")
    if row.effort:
        parts.append(f"effort: {row.effort}")
    return clean_text("; ".join(filter(None, parts)))[:_LONGEST_NOTE].strip()


def _figures_of(fresh: Sequence[NamedRow], mapping: SourceMapping, name: str) -> dict[str, list[ReadFigure]]:
    """Read the figures of rows whose model is not known, for proposals; names with several rows are left out."""
    counts = Counter(row.subject for row in fresh)
    once = [row for row in fresh if counts[row.subject] == 1]
    by_name: dict[str, list[ReadFigure]] = {row.subject: [] for row in once}
    for reading in _figures(once, mapping, name)[0]:
        by_name[reading.subject].append(reading)
    return by_name
