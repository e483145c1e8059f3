"""``mensura llm``: where a journal stands, what it cost, and what was asked and answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.asking import JOURNAL
from mensura.cli.findings import say_journal
from mensura.cli.output import Json, Out, console, emit
from mensura.cli.paths import check_input, check_output
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

app = typer.Typer(
    help="The journal of questions to language models: state, cost, export, recovery.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

JournalFile = Annotated[Path, typer.Argument(help="The journal.", callback=check_input)]


@app.command(epilog="Example: mensura llm status out/journal.sqlite")
def status(journal: JournalFile = Path(JOURNAL), out: Out = None, as_json: Json = False) -> None:
    """Show how many questions are answered, failed, open or in a batch, per model and settings."""
    from mensura.llm import journal_status

    tables = journal_status(journal)
    if emit(tables, out=out, as_json=as_json):
        return
    print_table(tables["models"], title=f"Journal {journal}", digits=4)
    if tables["batches"].height:
        print_table(tables["batches"], title="Batches")
    console.print(say_journal(tables["models"]))


@app.command(epilog="Example: mensura llm cost out/journal.sqlite --price-in 1.25 --price-out 10")
def cost(
    journal: JournalFile = Path(JOURNAL),
    price_in: Annotated[float | None, typer.Option(help="US dollars per million tokens in.")] = None,
    price_out: Annotated[float | None, typer.Option(help="US dollars per million tokens out.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show tokens and US dollars per model; with prices, also of calls recorded without any."""
    from mensura.llm import Prices, journal_cost

    if (price_in is None) != (price_out is None):
        raise MensuraError("give both --price-in and --price-out (US dollars per million tokens), or neither")
    prices = None if price_in is None or price_out is None else Prices(price_in, price_out)
    table = journal_cost(journal, prices)
    unpriced = int(table["unpriced"].sum())
    total = float(table["cost"].sum()) if table["cost"].count() else None
    if emit({"cost": table}, out=out, as_json=as_json, total=total):
        return
    print_table(table, title=f"Journal {journal}", digits=4)
    if total is None:
        console.print("The total cost is unknown, because no price is known. Give --price-in and --price-out.")
        return
    rest = f", without {unpriced:,} answers of unknown price" if unpriced else ""
    console.print(f"${total:.4f} in all{rest}.")


@app.command(epilog="Example: mensura llm export out/journal.sqlite audit.html")
def export(
    journal: JournalFile,
    target: Annotated[
        Path,
        typer.Argument(help="File to write: .csv, .parquet, or .html for a browsable page.", callback=check_output),
    ],
    recording: Annotated[
        bool,
        typer.Option("--recording", help="Write the answers as a recording that --model recorded/FILE answers from."),
    ] = False,
) -> None:
    """Write every question with its answer, rationale and value."""
    from mensura.llm import write_audit

    rows = write_audit(journal, target, recording=recording)
    console.print(f"wrote {rows} rows to {target}")


@app.command(epilog="Example: mensura llm recover out/journal.sqlite")
def recover(journal: JournalFile) -> None:
    """Replace a damaged journal by all that can still be read; the damaged file is kept."""
    from mensura.llm import recover_journal

    console.print(str(recover_journal(journal)))
