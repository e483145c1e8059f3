"""What every command that asks a language model shares: its options, prices, progress and dry run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from mensura.cli.output import console, notices
from mensura.cli.paths import check_output
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.llm import Asker, ModelAsker, Prices, Question, Standing

JOURNAL = "journal.sqlite"

ModelName = Annotated[
    str | None,
    typer.Option("--model", help="Language model, such as openai/gpt-5, openai-api/SERVICE/MODEL or recorded/NAME."),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Address of an OpenAI-compatible endpoint.")]
JournalPath = Annotated[
    Path | None,
    typer.Option(
        "--journal", help=f"File that records every call (default: {JOURNAL} in --out).", callback=check_output
    ),
]
Temperature = Annotated[float, typer.Option("--temperature", help="Sampling temperature; recorded with every answer.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", help="Stop before US dollars spent pass this.")]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", help="Stop before more requests than this are sent.")]
PriceIn = Annotated[float | None, typer.Option("--price-in", help="US dollars per million tokens in.")]
PriceOut = Annotated[float | None, typer.Option("--price-out", help="US dollars per million tokens out.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print calls, tokens and money; ask nothing.")]
Batch = Annotated[bool, typer.Option("--batch", help="Use the provider's batch interface: half price, within a day.")]
Concurrency = Annotated[int, typer.Option("--concurrency", help="Most calls under way at once.")]


@dataclass(frozen=True)
class Asking:
    """The options of a command that asks, as they were given; only a recording can do without a journal."""

    model: str
    journal: Path | None
    base_url: str | None = None
    temperature: float = 0.0
    max_tokens: int = 2048
    max_cost: float | None = None
    max_calls: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    concurrency: int = 32
    batch: bool = False

    @property
    def prices(self) -> Prices | None:
        """The user's prices, or else the list prices of the evidence tables."""
        return prices_of(self.model, self.price_in, self.price_out)

    @contextmanager
    def open(self, label: str) -> Iterator[Asker]:
        """Open the model, with a progress bar; says why it stopped early, if it did."""
        from mensura.llm import BatchAsker, open_asker

        shared = {
            "journal": self.journal,
            "base_url": self.base_url,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "max_cost": self.max_cost,
            "max_calls": self.max_calls,
            "prices": self.prices,
        }
        if self.batch:
            yield BatchAsker(self.model, wait=0.0, **shared)  # type: ignore[arg-type]
            return
        with asking_bar(label) as advance:
            asker: ModelAsker
            with open_asker(self.model, concurrency=self.concurrency, advance=advance, **shared) as asker:  # type: ignore[arg-type]
                yield asker
                stopped = asker.stopped
        if stopped:
            notices.print(f"stopped early: {stopped}; run the command again to go on", style="yellow")

    def print_estimate(self, questions: Sequence[Question], tokens_out: int | None = None) -> None:
        """Print what asking these questions would take."""
        from mensura.llm import estimate

        told = estimate(
            questions,
            self.model,
            journal=self.journal,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            prices=self.prices,
            tokens_out=tokens_out,
        )
        console.print(str(told))


def place_journal(journal: Path | None, out: Path | None, model: str) -> Path | None:
    """Return the journal: the one named, else one in the folder written to, else here; a recording needs none."""
    if journal is not None:
        return journal
    if out is None and model.startswith("recorded/"):
        return None
    return (out or Path()) / JOURNAL


def prices_of(model: str, price_in: float | None, price_out: float | None) -> Prices | None:
    """Return the prices given, or the list prices of the model in the evidence tables, or None."""
    from mensura.llm import Prices

    if (price_in is None) != (price_out is None):
        raise MensuraError("give both --price-in and --price-out (US dollars per million tokens), or neither")
    if price_in is not None and price_out is not None:
        return Prices(price_in, price_out)
    if model.startswith("recorded/"):
        return None
    import polars as pl

    from mensura.evidence import load

    name = model.rpartition("/")[2].lower()
    listed = load().models.filter(
        (pl.col("subject").str.to_lowercase() == name) | (pl.col("name").str.to_lowercase() == name)
    )
    known = listed.drop_nulls(["input_price", "output_price"])
    if known.height != 1:
        return None
    return Prices(*known.select("input_price", "output_price").row(0))


@contextmanager
def asking_bar(label: str) -> Iterator[Callable[[Standing], None]]:
    """Yield ``advance(standing)``: a bar with rate, cost so far and time left, on a terminal; silent in a pipe."""
    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task(label, total=None, told="")

        def advance(standing: Standing) -> None:
            progress.update(task, completed=standing.done, total=standing.total, told=told_of(standing))

        yield advance


def told_of(standing: Standing) -> str:
    """Say in a few words how the asking goes: rate, cost, time left, failures."""
    parts = [f"{standing.rate:.1f}/s", f"${standing.cost:.2f}"]
    if standing.seconds_left is not None:
        minutes, seconds = divmod(round(standing.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    if standing.failed:
        parts.append(f"{standing.failed} failed")
    return " · ".join(parts)
