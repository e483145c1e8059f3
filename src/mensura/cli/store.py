"""``mensura evidence init|capture|extract|apply|undo|mappings``: new evidence gets in, reviewed."""

import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from mensura import ledger
from mensura.cli.options import Json, Out, arg, infile, opt, outfile
from mensura.cli.output import console, emit, print_note, print_notes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError
from mensura.ledger.toml_parts import read_utf8

Store = Annotated[Path, opt("SQLite file with the whole history.", "--store", envvar="MENSURA_STORE")]
By = Annotated[str | None, opt("Name for the log; by default that of the user.", "--by")]
DEFAULT_STORE = Path("evidence.sqlite")
SHORTEST_HASH = 6
"""Digits from which on a number names a queued update, and no entry."""


def signed(by: str | None) -> dict[str, Any]:
    """Return who makes an entry, and when."""
    try:
        return {"by": by if by is not None else getpass.getuser(), "when": datetime.now(UTC)}
    except (KeyError, OSError):
        raise MensuraError("by: the system does not know who you are; say so with --by NAME") from None


def init(
    store: Store = DEFAULT_STORE,
    origin: Annotated[Path | None, infile("Folder or store to begin with.", "--from")] = None,
    by: By = None,
) -> None:
    """Make a store that records every change, from the embedded evidence or from your own."""
    if origin is not None and ledger.is_ledger_folder(origin):
        made = ledger.import_ledger(store, origin)
    else:
        made = ledger.init_ledger(store, origin, **signed(by))
    version = made.version()
    console.print(f"{store}: entry {version.entry}, fingerprint {version.fingerprint[:16]}")


def capture(
    source: Annotated[str, arg("Short key of the source, such as the name of its mapping.")],
    text: Annotated[str, arg("File, http(s) address, or - for standard input.")],
    store: Store = DEFAULT_STORE,
    address: Annotated[str | None, opt("Where the text was copied from; by default the file or address.")] = None,
    form: Annotated[str | None, opt("csv, json, html or text.", "--format")] = None,
    allow_private: Annotated[bool, opt("Fetch also from private and loopback addresses.", "--allow-private")] = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Store the raw text of a source with its address and time; it is never edited."""
    book = ledger.open_ledger(store)
    data = _text_of(text, allow_private=allow_private)
    origin = address or (text if "://" in text else "standard input" if text == "-" else Path(text).name)
    ident = book.add_capture(data, source=source, address=origin, **signed(by), form=form)
    kept = book.capture(ident)
    emit({}, capture=ident, bytes=len(data), source=kept.source, time=kept.time)
    console.print(f"kept {len(data):,} bytes as capture {ident[:12]}")
    if (kept.source, kept.address) != (source, origin):
        print_note(f"the same bytes were kept before, {kept.time}, from {kept.source}, {kept.address}: that stands")
    console.print(f"next: mensura evidence extract {ident[:12]}", style="dim")


def _text_of(text: str, *, allow_private: bool) -> bytes:
    if "://" in text:
        return ledger.fetch(text, allow_private=allow_private)
    if text == "-":
        return sys.stdin.buffer.read(ledger.MOST_BYTES + 1)
    path = Path(text)
    if not path.is_file():
        raise MensuraError(f"text: no file {path}; expected a file, an http(s) address, or - for standard input")
    with path.open("rb") as file:
        return file.read(ledger.MOST_BYTES + 1)


def extract(
    capture: Annotated[str, arg("The capture, by the first digits of its hash.")],
    mapping: Annotated[str | None, opt("A mapping file, or the name of a shipped one.")] = None,
    file: Annotated[Path | None, outfile("Also write the update as a file to review.", "--file")] = None,
    store: Store = DEFAULT_STORE,
    by: By = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Turn a capture into an update, the list of cells that would change, and queue it for review."""
    from mensura.core.files import write_text

    if file is not None and file.exists():
        raise MensuraError(f"{file}: exists; choose another name, or move it away first")
    book = ledger.open_ledger(store)
    kept = book.capture(capture)
    update = ledger.extract_update(kept, ledger.read_mapping(mapping or kept.source), book.cells())
    if update.changes or update.proposals:
        book.propose(update, **signed(by))
    if file is not None:
        write_text(file, update.text())
    emit(ledger.update_tables(update), update=update.id, title=update.title)
    print_update(update)
    if update.changes or update.proposals:
        hint = f"next: mensura evidence preview {update.id}, then mensura evidence apply {update.id}"
        console.print(hint, style="dim")


def print_update(update: ledger.Update) -> None:
    """Print what an update changes and what it leaves."""
    console.print(f"update {update.id}: {update.title}")
    print_notes(update.notes)
    show(ledger.update_tables(update), "evidence update")
    if not update.changes:
        print_note("no cell changes")


def short_log(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of the ledger for a terminal: hashes shortened, times to the minute."""
    short = [pl.col(name).str.slice(0, 12) for name in ("capture", "update") if name in table.columns]
    return table.with_columns(*short, pl.col("time").str.slice(0, 16).str.replace("T", " "))


def find_update(book: ledger.Ledger, given: str) -> ledger.Update:
    """Return an update by its file or id."""
    path = Path(given)
    if path.is_file():
        return ledger.Update.parse(read_utf8(path), name=str(path))
    return book.update(given)


def apply(
    update: Annotated[str, arg("An update file, or the first digits of a queued update.")],
    store: Store = DEFAULT_STORE,
    expect: Annotated[str | None, opt("Apply only to evidence with this fingerprint.")] = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Apply an update: all of its cells or none. Refuse it if one of its cells has changed since."""
    book = ledger.open_ledger(store)
    chosen = find_update(book, update)
    version = book.apply(chosen, **signed(by), expected=expect)
    emit({}, entry=version.entry, fingerprint=version.fingerprint, changes=len(chosen.effective))
    console.print(f"entry {version.entry}: {len(chosen.effective)} cells changed ({chosen.title})")


def undo(
    entry: Annotated[str, arg("Number of an entry, or first digits (6 or more) of a queued update.")],
    store: Store = DEFAULT_STORE,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Undo one entry and keep later ones; if later ones depend on it, name them and change nothing.

    An update that still waits for review leaves the queue; its capture stays.
    """
    book = ledger.open_ledger(store)
    if not (entry.isascii() and entry.isdigit() and len(entry) < SHORTEST_HASH):
        update = book.discard(entry)
        emit({}, discarded=update)
        console.print(f"update {update} is discarded")
        return
    version = book.undo(int(entry), **signed(by))
    emit({}, entry=version.entry, fingerprint=version.fingerprint)
    console.print(f"entry {version.entry}: entry {entry} is undone")


def mappings(
    name: Annotated[str | None, arg("Print one mapping as its file has it.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List the mappings that come with Mensura, or print one to start your own from."""
    if name is not None:
        typer.echo(ledger.mapping_file(name).read_text(encoding="utf-8"), nl=False)
        return
    shipped = [ledger.read_mapping(name) for name in ledger.shipped_names()]
    rows = [(m.name, m.layout.form, ", ".join(rule.target for rule in m.figures), m.about) for m in shipped]
    table = pl.DataFrame(rows, schema=["mapping", "format", "figures", "about"], orient="row")
    emit({"mappings": table})
    show({"mappings": table}, "evidence mappings")
    example = f"mensura evidence mappings {shipped[0].name}"
    console.print(f"{table.height} mappings. {example} prints one to start your own from.")
