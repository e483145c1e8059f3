"""``mensura evidence log|diff|preview|policy``: where numbers came from, what changes do, who is drawn on charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.evidence_in import DEFAULT_STORE, By, Store, find_update, now, print_update, short_log, signature
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError, counted

if TYPE_CHECKING:
    import polars as pl

    from mensura.evidence import Evidence
    from mensura.study.preview import Preview

Effects = Annotated[
    bool, typer.Option("--effects", help="Score both (some ten seconds) and say which IQs, ranks, capabilities move.")
]

_KINDS = {"captures": "capture", "history": "change", "entries": "change"}
"""What a row of each list is."""


def log(
    text: Annotated[
        str | None, typer.Argument(help="History of the cells whose row holds this: a model, benchmark or source.")
    ] = None,
    entry: Annotated[int | None, typer.Option(help="The cells that one entry changed.")] = None,
    captures: Annotated[bool, typer.Option("--captures", help="List the captures instead.")] = False,
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say who changed what when, and from which line of which capture a number came."""
    from mensura.ledger import open_ledger

    ledger = open_ledger(store)
    if captures:
        tables, title = {"captures": ledger.captures()}, "Captures"
    elif text is not None or entry is not None:
        cells = ledger.history(text=text, entry=entry)
        tables, title = {"history": cells}, "Changes of cells, newest first"
        if cells.is_empty() and text is not None:
            print_note(f"no entry changed a row with {text!r}: what it holds stands as the store began", kind="note")
    else:
        tables, title = {"entries": ledger.entries()}, "Entries, newest first"
    if not emit(tables, out=out, as_json=as_json):
        [table] = tables.values()
        spare = ("address", "title", "table") if "history" in tables else ("fingerprint",)
        shown = short_log(table).drop(spare, strict=False)
        if entry is not None and shown.height:
            made = shown.row(0, named=True)
            title = f"Entry {entry} by {made['by']}, {made['time']}: {table['title'][0]}"
            shown = shown.drop("entry", "by", "time")
        print_table(shown, title=title, rows=100)
        console.print(f"{counted(table.height, _KINDS[next(iter(tables))])}{_newest(shown)}.")


def _newest(shown: pl.DataFrame) -> str:
    """Say when the last change was made, where a table tells."""
    times = shown["time"].drop_nulls().to_list() if "time" in shown.columns else []
    return f"; the newest is of {max(times)}" if times else ""


def diff(
    before: Annotated[str, typer.Argument(help="An entry of the store, a folder or store, or 'embedded'.")],
    after: Annotated[str, typer.Argument(help="The other one; the store as it is where not given.")] = "now",
    effects: Effects = False,
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say what two versions of the evidence differ in; with --effects, what that does to IQs, ranks, capabilities."""
    from mensura.ledger import evidence_changes

    old, new = (_version(given, store) for given in (before, after))
    if effects:
        from mensura.study.preview import preview as score_both

        _print_effects(score_both(old, new), out=out, as_json=as_json)
        return
    cells = evidence_changes(old, new)
    if emit({"cells": cells}, out=out, as_json=as_json):
        return
    if cells.is_empty():
        console.print(f"no cell differs: {old.origin} and {new.origin} hold the same")
    else:
        print_table(cells, title=f"Cells that differ: {old.origin} → {new.origin}", rows=200)
        console.print(f"Cells that differ: {cells.height}. --effects shows what that does to the IQs.")


def _version(given: str, store: Path) -> Evidence:
    from mensura.evidence import load
    from mensura.ledger import open_ledger

    if given == "embedded":
        return load()
    if given == "now":
        return open_ledger(store).evidence()
    if given.isascii() and given.isdigit():
        return open_ledger(store).evidence(int(given[:12]))
    return load(given)


def preview(
    update: Annotated[str, typer.Argument(help="An update file, or the first digits of an update that waits.")],
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score a copy with an update applied: which composites, ranks and capabilities would move, through which input."""
    from mensura.ledger import open_ledger
    from mensura.study.preview import preview as score_both

    ledger = open_ledger(store)
    found = find_update(ledger, update)
    result = score_both(ledger.evidence(), ledger.with_update(found))
    if not as_json and out is None:
        print_update(found)
    _print_effects(result, out=out, as_json=as_json)


def _print_effects(result: Preview, *, out: Path | None, as_json: bool) -> None:
    if emit(result.tables(), out=out, as_json=as_json, heading=result.heading):
        return
    titles = {
        "composites": "Composite IQs and ranks that move",
        "inputs": "Through which input",
        "capabilities": "Stitched capabilities that move",
    }
    for name, title in titles.items():
        if getattr(result, name).height:
            print_table(getattr(result, name), title=title, rows=30)
    console.print(f"{result.heading}.")


def policy(
    model: Annotated[
        str | None, typer.Argument(help="A model, or chart_rules for the rules; all models where not given.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="FIELD=VALUE, blank to clear it; repeatable.", metavar="FIELD=VALUE"),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; shown with the model.")] = "",
    by: By = None,
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show or edit which models charts show: publication, type, tier, line, generation, display, and the rules."""
    import polars as pl

    from mensura.ledger import open_ledger

    ledger = open_ledger(store)
    if settings:
        if model is None:
            raise MensuraError("model: --set needs a model, or chart_rules")
        edit = ledger.policy_edit(model, dict(map(_pair, settings)), reason=reason)
        version = ledger.apply(edit, by=signature(by), when=now())
        console.print(f"entry {version.entry}: {'; '.join(map(str, edit.changes))}")
        return
    evidence = ledger.evidence()
    table = ledger.policy()
    if model is not None and model != "chart_rules":
        from mensura.evidence import require_subject

        table = table.filter(pl.col("subject") == require_subject(evidence, model))
    tables = {"policy": table, "chart_rules": evidence.chart_rules}
    if not emit(tables, out=out, as_json=as_json):
        if model != "chart_rules":
            print_table(table, title="Policy fields (blank: the rules decide)")
        print_table(evidence.chart_rules, title="Chart rules")
        own = table.select(pl.any_horizontal(pl.exclude("subject").is_not_null())).to_series().to_list().count(True)
        console.print(
            f"{counted(own, 'model')} with fields of its own; {evidence.chart_rules.height} rules decide the rest."
        )


def _pair(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not equals or not field.strip():
        raise MensuraError(f"set: got {text!r}; expected FIELD=VALUE")
    return field.strip(), value
