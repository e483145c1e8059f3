"""``mensura evidence init|capture|extract|apply|undo|pending|discard|mappings``: new evidence gets in, reviewed."""

from __future__ import annotations

import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_input, check_output
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError, counted

if TYPE_CHECKING:
    import polars as pl

    from mensura.ledger import Ledger, Update

Store = Annotated[
    Path,
    typer.Option(
        "--store", help="The store: one SQLite file with its whole history.", metavar="FILE", envvar="MENSURA_STORE"
    ),
]
By = Annotated[str | None, typer.Option("--by", help="Who does this; the name of the user where not given.")]
DEFAULT_STORE = Path("evidence.sqlite")
_WEB = ("http://", "https://")


def signature(by: str | None) -> str:
    """Return the name that an entry is signed with."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise MensuraError("by: the system does not know who you are; say so with --by NAME") from None


def now() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


def init(
    store: Store = DEFAULT_STORE,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Evidence to begin with: a folder or plain store, or an exported folder with its history; "
            "the embedded evidence where not given.",
            metavar="PATH",
            callback=check_input,
        ),
    ] = None,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Bring a store of an older Mensura up to date, after a backup.")
    ] = False,
    by: By = None,
) -> None:
    """Make a store that remembers every change, from the embedded evidence or from your own."""
    from mensura.ledger import import_ledger, init_ledger, is_ledger_folder, open_ledger

    if upgrade:
        made = open_ledger(store, writing=True)
    elif origin is not None and is_ledger_folder(origin):
        made = import_ledger(store, origin)
    else:
        made = init_ledger(store, origin, by=signature(by), when=now())
    version = made.version()
    console.print(f"{store}: entry {version.entry}, fingerprint {version.fingerprint[:16]}")


def capture(
    source: Annotated[str, typer.Argument(help="Short key of the source, such as the name of its mapping.")],
    text: Annotated[str, typer.Argument(help="A file, an http(s) address, or - for what is piped in.")],
    store: Store = DEFAULT_STORE,
    address: Annotated[
        str | None, typer.Option(help="Where the text was copied from; the file or address itself where not given.")
    ] = None,
    form: Annotated[str | None, typer.Option("--format", help="csv, json, html or text.")] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch also from private and loopback addresses.")
    ] = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Keep the raw text of a source, byte for byte, with where and when; it is never edited and can be read again."""
    from mensura.cli.output import print_json
    from mensura.ledger import open_ledger

    ledger = open_ledger(store)
    data = _text_of(text, allow_private=allow_private)
    origin = address or (text if text.startswith(_WEB) else "standard input" if text == "-" else Path(text).name)
    time = now()
    ident = ledger.add_capture(data, source=source, address=origin, by=signature(by), when=time, form=form)
    kept = ledger.capture(ident)
    if as_json:
        print_json({"capture": ident, "bytes": len(data), "source": kept.source, "time": kept.time})
    else:
        console.print(f"kept {len(data):,} bytes as capture {ident[:12]}")
        if (kept.source, kept.address) != (source, origin):
            print_note(f"the same bytes were kept before, {kept.time}, from {kept.source}, {kept.address}: that stands")
        console.print(f"next: mensura evidence extract {ident[:12]}", style="dim")


def _text_of(text: str, *, allow_private: bool) -> bytes:
    from mensura.ledger import MOST_BYTES, fetch

    if text.startswith(_WEB) or "://" in text:
        return fetch(text, allow_private=allow_private)
    if text == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    path = Path(text)
    if not path.is_file():
        raise MensuraError(f"text: no file {path}; expected a file, an http(s) address, or - for standard input")
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def extract(
    capture: Annotated[str, typer.Argument(help="The capture, by the first digits of its hash.")],
    mapping: Annotated[
        str | None,
        typer.Option(help="A mapping file, or the name of a shipped one; the capture's source where not given."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Also write the update as a file to review.", callback=check_output)
    ] = None,
    store: Store = DEFAULT_STORE,
    by: By = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Turn a capture into an update: exactly which cells would change; it waits for review, nothing is applied."""
    from mensura.core.files import write_text
    from mensura.ledger import extract_update, open_ledger, read_mapping, update_tables

    if file is not None and file.exists():
        raise MensuraError(f"{file}: exists; choose another name, or move it away first")
    ledger = open_ledger(store)
    kept = ledger.capture(capture)
    update = extract_update(kept, read_mapping(mapping or kept.source), ledger.cells())
    if update.changes or update.proposals:
        ledger.propose(update, by=signature(by), when=now())
    if file is not None:
        write_text(file, update.text())
    if not emit(update_tables(update), out=out, as_json=as_json, update=update.id, title=update.title):
        print_update(update)
        if update.changes or update.proposals:
            hint = f"next: mensura evidence preview {update.id}, then mensura evidence apply {update.id}"
            console.print(hint, style="dim")


def print_update(update: Update) -> None:
    """Print what an update changes and what it leaves."""
    from mensura.ledger import update_tables

    titles = {
        "changes": "Cells that change",
        "unmatched": "Names that stand for nothing known, with the nearest",
        "skipped": "Rows left out",
        "proposals": "New rows proposed (accept = true in the update's file takes one)",
    }
    console.print(f"update {update.id}: {update.title}")
    for note in update.notes:
        print_note(note)
    for name, frame in update_tables(update).items():
        if frame.height:
            print_table(frame, title=titles[name], rows=60)
    if not update.changes:
        print_note("no cell changes")


def short_log(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of the ledger for a terminal: hashes shortened, times to the minute."""
    import polars as pl

    short = [pl.col(name).str.slice(0, 12) for name in ("capture", "update") if name in table.columns]
    return table.with_columns(*short, pl.col("time").str.slice(0, 16).str.replace("T", " "))


def find_update(ledger: Ledger, given: str) -> Update:
    """Return an update by its file or id."""
    from mensura.ledger import Update

    path = Path(given)
    if path.is_file():
        try:
            return Update.parse(path.read_bytes().decode("utf-8"), name=str(path))
        except UnicodeDecodeError as fault:
            raise MensuraError(f"{path}: not UTF-8 ({fault}); save the file as UTF-8") from fault
    return ledger.update(given)


def apply(
    update: Annotated[str, typer.Argument(help="An update file, or the first digits of an update that waits.")],
    store: Store = DEFAULT_STORE,
    expect: Annotated[
        str | None, typer.Option(help="Apply only where the evidence still has this fingerprint.", metavar="HASH")
    ] = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Write an update into the store: every cell of it or none; one that others overtook is refused and says so."""
    from mensura.cli.output import print_json
    from mensura.ledger import open_ledger

    ledger = open_ledger(store)
    found = find_update(ledger, update)
    version = ledger.apply(found, by=signature(by), when=now(), expected=expect)
    if as_json:
        print_json({"entry": version.entry, "fingerprint": version.fingerprint, "changes": len(found.effective)})
    else:
        console.print(f"entry {version.entry}: {len(found.effective)} cells changed ({found.title})")


def undo(
    entry: Annotated[int, typer.Argument(help="Number of the entry to take back (mensura evidence log).")],
    store: Store = DEFAULT_STORE,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Take one entry back and keep those after it; where later ones stand on it they are named and nothing changes."""
    from mensura.cli.output import print_json
    from mensura.ledger import open_ledger

    version = open_ledger(store).undo(entry, by=signature(by), when=now())
    if as_json:
        print_json({"entry": version.entry, "fingerprint": version.fingerprint})
    else:
        console.print(f"entry {version.entry}: entry {entry} is undone")


def pending(store: Store = DEFAULT_STORE, out: Out = None, as_json: Json = False) -> None:
    """List the updates that wait for review."""
    from mensura.ledger import open_ledger

    table = open_ledger(store).pending()
    if not emit({"pending": table}, out=out, as_json=as_json):
        print_table(short_log(table), title="Updates that wait for review")
        first = f" Look at the first: mensura evidence preview {table['update'][0][:12]}." if table.height else ""
        console.print(f"{counted(table.height, 'update')} to review.{first}")


def discard(
    update: Annotated[str, typer.Argument(help="First digits of an update that waits.")], store: Store = DEFAULT_STORE
) -> None:
    """Take an update that waits off the list; its capture stays."""
    from mensura.ledger import open_ledger

    console.print(f"update {open_ledger(store).discard(update)} is discarded")


def mappings(
    name: Annotated[str | None, typer.Argument(help="Print one mapping as its file has it.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List the mappings that come with Mensura, or print one to start your own from."""
    import polars as pl

    from mensura.ledger import mapping_file, read_mapping, shipped_names

    if name is not None:
        typer.echo(mapping_file(name).read_text(encoding="utf-8"), nl=False)
        return
    found = [read_mapping(shipped) for shipped in shipped_names()]
    rows = [(m.name, m.layout.form, ", ".join(rule.target for rule in m.figures), m.about) for m in found]
    table = pl.DataFrame(rows, schema=["mapping", "format", "figures", "about"], orient="row")
    if not emit({"mappings": table}, out=out, as_json=as_json):
        print_table(table, title="Mappings")
        console.print(
            f"{table.height} mappings. mensura evidence mappings {found[0].name} prints one to start your own from."
        )
