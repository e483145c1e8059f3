"""``mensura evidence``: coverage, checks, export, history and differences of the evidence, and chart policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl

from mensura import ledger
from mensura.cli.findings import say_evidence, say_models
from mensura.cli.inputs import load_evidence
from mensura.cli.options import AddedScores, EvidencePath, Json, Out, arg, inarg, opt
from mensura.cli.output import console, emit, print_note
from mensura.cli.store import DEFAULT_STORE, By, Store, find_update, print_update, short_log, signed
from mensura.cli.tables import print_table, show
from mensura.core.errors import MensuraError, counted
from mensura.evidence import (
    Evidence,
    benchmark_coverage,
    far_below_predecessor,
    load,
    require_subject,
    source_coverage,
    source_disagreement,
)

if TYPE_CHECKING:
    from mensura.study.preview import Preview


def summary(
    models: Annotated[str | None, opt("List the models of this provider instead, or 'all'.", metavar="WHOSE")] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Count the tables, benchmarks and sources of the evidence, and show how far sources disagree.

    With --models: the models, newest first, with the number of benchmarks each was scored on.
    """
    loaded = load_evidence(evidence, add)
    if models is not None:
        _list_models(loaded, models)
        return
    tables = {
        "tables": loaded.summary(),
        "benchmark_coverage": benchmark_coverage(loaded),
        "source_coverage": source_coverage(loaded),
        "source_disagreement": source_disagreement(loaded),
    }
    counts = {name: getattr(loaded, name).height for name in ("models", "benchmarks", "scores")}
    emit(tables, **counts, primary_scores=loaded.primary_scores.height)
    show(tables, "evidence summary", origin=loaded.origin)
    disagreement = tables["source_disagreement"]
    console.print(say_evidence(counts["models"], counts["benchmarks"], loaded.primary_scores, disagreement))


def _list_models(loaded: Evidence, provider: str) -> None:
    scored = loaded.primary_scores.group_by("subject").agg(pl.len().alias("benchmarks"))
    columns = ["subject", "name", "provider", "released", "reasoning", "input_price", "output_price"]
    listed = loaded.models.join(scored, on="subject", how="left").select(*columns, pl.col("benchmarks").fill_null(0))
    listed = listed.sort("released", "subject", descending=[True, False])
    if provider != "all":
        listed = listed.filter(pl.col("provider").str.to_lowercase() == provider.lower())
    emit({"models": listed})
    show({"models": listed}, "evidence models")
    console.print(say_models(listed))


def check(path: Annotated[Path, inarg("Folder of CSV files or SQLite store.")]) -> None:
    """Check a folder or store; every fault is listed with file, row, column, value and what was expected.

    A store with a history is also checked against it: every entry must lead to the cells it left. Scores far below
    those of the model before in the same line are listed, because a version or a mode may have been mixed up.
    """
    loaded = load(path)
    if ledger.has_history(path):
        ledger.open_ledger(path).verify()
    odd = far_below_predecessor(loaded)
    show({"tables": loaded.summary(), "odd": odd}, "evidence check", path=path)
    again = f"; look again at {counted(odd.height, 'score')}" if odd.height else ""
    console.print(f"{path}: no fault found{again}.")


_KINDS = {"captures": "capture", "pending": "update", "history": "change", "entries": "change"}
"""What a row of each list is."""


def log(
    text: Annotated[str | None, arg("Show the changes of rows with this text: a model, benchmark or source.")] = None,
    entry: Annotated[int | None, opt("The cells that one entry changed.")] = None,
    captures: Annotated[bool, opt("List the captures instead.", "--captures")] = False,
    pending: Annotated[bool, opt("List the queued updates instead.", "--pending")] = False,
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show who changed which cells, when, and from which line of which capture."""
    book = ledger.open_ledger(store)
    if captures:
        name, table, title = "captures", book.captures(), "Captures"
    elif pending:
        name, table, title = "pending", book.pending(), "Updates that wait for review"
    elif text is not None or entry is not None:
        name, table, title = "history", book.history(text=text, entry=entry), "Changes of cells, newest first"
        if table.is_empty() and text is not None:
            print_note(f"no entry changed a row with {text!r}: it is as the store began")
    else:
        name, table, title = "entries", book.entries(), "Entries, newest first"
    emit({name: table})
    spare = ("address", "title", "table") if name == "history" else ("fingerprint",)
    shown = short_log(table).drop(spare, strict=False)
    if entry is not None and shown.height:
        made = shown.row(0, named=True)
        title = f"Entry {entry} by {made['by']}, {made['time']}: {table['title'][0]}"
        shown = shown.drop("entry", "by", "time")
    print_table(shown, title=title, rows=100)
    console.print(f"{counted(table.height, _KINDS[name])}{_newest(shown)}.")
    if pending and table.height:
        console.print(f"Look at the first: mensura evidence preview {table['update'][0][:12]}.")


def _newest(shown: pl.DataFrame) -> str:
    """Say when the last change was made, where a table tells."""
    times = shown["time"].drop_nulls().to_list() if "time" in shown.columns else []
    return f"; the newest is of {max(times)}" if times else ""


def diff(
    before: Annotated[str, arg("An entry of the store, a folder or store, or 'embedded'.")],
    after: Annotated[str, arg("The other version; by default the present store.")] = "now",
    effects: Annotated[bool, opt("Score both and show which IQs, ranks and capabilities move.", "--effects")] = False,
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare two versions of the evidence cell by cell; with --effects also IQs, ranks and capabilities."""
    old, new = (_version(given, store) for given in (before, after))
    if effects:
        from mensura.study.preview import preview as score_both

        _print_effects(score_both(old, new))
        return
    cells = ledger.evidence_changes(old, new)
    emit({"cells": cells})
    if cells.is_empty():
        console.print(f"no cell differs: {old.origin} and {new.origin} hold the same")
    else:
        show({"cells": cells}, "evidence diff", before=old.origin, after=new.origin)
        console.print(f"Cells that differ: {cells.height}. --effects shows what that does to the IQs.")


def _version(given: str, store: Path) -> Evidence:
    if given == "embedded":
        return load()
    if given == "now":
        return ledger.open_ledger(store).evidence()
    if given.isascii() and given.isdigit():
        return ledger.open_ledger(store).evidence(int(given[:12]))
    return load(given)


def preview(
    update: Annotated[str, arg("An update file, or the first digits of a queued update.")],
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score a copy with an update applied: which composites, ranks and capabilities would move, through which input."""
    from mensura.study.preview import preview as score_both

    book = ledger.open_ledger(store)
    chosen = find_update(book, update)
    result = score_both(book.evidence(), book.with_update(chosen))
    if not as_json and out is None:
        print_update(chosen)
    _print_effects(result)


def _print_effects(result: Preview) -> None:
    emit(result.tables(), heading=result.heading)
    show(result, "evidence effects")
    console.print(f"{result.heading}.")


def policy(
    model: Annotated[str | None, arg("A model, or chart_rules for the rules; all models where not given.")] = None,
    settings: Annotated[list[str] | None, opt("FIELD=VALUE, blank to clear it; repeatable.", "--set")] = None,
    reason: Annotated[str, opt("Reason, shown with the model.")] = "",
    by: By = None,
    store: Store = DEFAULT_STORE,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show or edit which models charts show: publication, type, tier, line, generation, display, and the rules."""
    book = ledger.open_ledger(store)
    if settings:
        if model is None:
            raise MensuraError("model: --set needs a model, or chart_rules")
        edit = book.policy_edit(model, dict(map(_pair, settings)), reason=reason)
        version = book.apply(edit, **signed(by))
        console.print(f"entry {version.entry}: {'; '.join(map(str, edit.changes))}")
        return
    evidence = book.evidence()
    table = book.policy()
    if model is not None and model != "chart_rules":
        table = table.filter(pl.col("subject") == require_subject(evidence, model))
    tables = {"policy": table, "chart_rules": evidence.chart_rules}
    emit(tables)
    show({"chart_rules": evidence.chart_rules} if model == "chart_rules" else tables, "evidence policy")
    own = evidence.policy.join(table, on="subject", how="semi").height
    rules = f"{evidence.chart_rules.height} rules decide the rest"
    console.print(f"{counted(own, 'model')} with policy fields; {rules}.")


def _pair(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not equals or not field.strip():
        raise MensuraError(f"set: got {text!r}; expected FIELD=VALUE")
    return field.strip(), value
