"""``mensura llm``, ``cite`` and ``cache``: journals of model calls, citations, and results that are kept."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import polars as pl

from mensura import __version__, llm
from mensura.cli.asking import JOURNAL, given_prices
from mensura.cli.findings import say_journal
from mensura.cli.inputs import load_evidence
from mensura.cli.options import EvidencePath, Json, Out, inarg, opt
from mensura.cli.output import console, emit, notices
from mensura.cli.tables import show
from mensura.core.errors import check_choice, counted

AUTHOR, YEAR = "The Mensura founders", 2026
TITLE = "Mensura: human-anchored scales for AI models, benchmarks, test items and groups of people"
FORMATS = ("bibtex", "apa")
JournalFile = Annotated[Path, inarg("The journal.")]


def status(
    journal: JournalFile = Path(JOURNAL),
    price_in: Annotated[float | None, opt("US dollars per million tokens in, for calls without a price.")] = None,
    price_out: Annotated[float | None, opt("US dollars per million tokens out.")] = None,
    recover: Annotated[
        bool, opt("First replace a damaged journal by all that can be read; the damaged file is kept.", "--recover")
    ] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show how many questions are answered, failed or open, and what they cost in US dollars."""
    if recover:
        notices.print(llm.recover_journal(journal))
    models = llm.journal_status(journal, given_prices(price_in, price_out))
    total = float(models["cost"].sum()) if models["cost"].count() else None
    emit({"models": models}, total=total)
    show({"models": models}, "llm status", journal=journal)
    console.print(say_journal(models))
    if total is None:
        console.print("The total cost is unknown, because no price is known. Give --price-in and --price-out.")
        return
    unpriced = int(models["unpriced"].sum())
    rest = f", without {unpriced:,} answers of unknown price" if unpriced else ""
    console.print(f"${total:.4f} in all{rest}.")


def cite(
    style: Annotated[str | None, opt("Print only this form: bibtex or apa.", "--format", metavar="NAME")] = None,
    evidence: EvidencePath = None,
    as_json: Json = False,
) -> None:
    """Print how to cite Mensura: BibTeX, APA, and the version, edition and fingerprint of the evidence."""
    from mensura.iq import IQ_SCALES

    if style is not None:
        check_choice("--format", style, FORMATS)
    edition = load_evidence(evidence).edition
    scale = next(reversed(IQ_SCALES))
    name = f"evidence edition {edition['edition']}" if edition["edition"] else "evidence of one's own"
    base = f"{name}, fingerprint {edition['fingerprint']}"
    note = f"Version {__version__}, {base}"
    fields = {"author": f"{{{AUTHOR}}}", "title": f"{{{TITLE}}}", "year": YEAR, "version": __version__, "note": note}
    lines = [f"  {key} = {{{value}}}" for key, value in fields.items()]
    forms = {
        "bibtex": "\n".join(["@software{mensura,", ",\n".join(lines), "}"]),
        "apa": f"{AUTHOR}. ({YEAR}). {TITLE} (Version {__version__}) [Computer software]. {base.capitalize()}.",
    }
    emit({}, **forms, version=__version__, **edition, scale=scale)
    if style is not None:
        print(forms[style])  # as it is: a file of references is no prose to wrap
        return
    for text in forms.values():
        print(text, end="\n\n")
    console.print(f"{note}; newest frozen scale {scale} (mensura iq --scale {scale} gives numbers that stay the same).")


def cache(
    clear: Annotated[bool, opt("Remove what is kept; it is computed again when needed.", "--clear")] = False,
    as_json: Json = False,
) -> None:
    """Show what is kept between runs: studies, each computed once per evidence by this version of the code.

    Safe to delete at any time. The environment variable MENSURA_CACHE names another folder, or says off.
    """
    from mensura.core.cache import cache_folder, clear_cache, kept_results

    folder = cache_folder()
    if folder is None:
        emit({}, folder=None)
        console.print("Nothing is kept: MENSURA_CACHE is off.")
        return
    if clear:
        removed = clear_cache(folder)
        emit({}, folder=folder, removed=removed)
        console.print(f"removed {counted(removed, 'result')} from {folder}")
        return
    entries = [
        (entry.name, entry.size / 1e6, f"{datetime.fromtimestamp(entry.used, UTC):%Y-%m-%d %H:%M}", entry.file.name)
        for entry in kept_results(folder)
    ]
    schema = {"result": pl.String, "megabytes": pl.Float64, "used": pl.String, "file": pl.String}
    kept = pl.DataFrame(entries, schema=schema, orient="row")
    emit({"kept": kept}, folder=folder)
    show({"kept": kept}, "cache", folder=folder)
