"""The language models a command asks: the options that name and bound them, and the bar that shows how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mensura.errors import MensuraError

if TYPE_CHECKING:
    from mensura.llm import Prices, Standing

DEFAULT_JOURNAL = Path("mensura-journal.sqlite")

Models = Annotated[
    list[str],
    typer.Option(
        "--model", help="Language model, such as openai/NAME or recorded/example; repeatable.", metavar="NAME"
    ),
]
BaseUrl = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible endpoint.", metavar="URL")]
JournalFile = Annotated[
    Path | None,
    typer.Option("--journal", help=f"File that records every answer (default {DEFAULT_JOURNAL})."),
]
Temperature = Annotated[float, typer.Option(help="Sampling temperature.")]
MaxCost = Annotated[float | None, typer.Option(help="Stop before this many US dollars are passed.")]
MaxCalls = Annotated[int | None, typer.Option(help="Stop before this many calls are passed.")]
PriceIn = Annotated[float | None, typer.Option(help="US dollars per million tokens sent.")]
PriceOut = Annotated[float | None, typer.Option(help="US dollars per million tokens received.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be asked and cost; ask nothing.")]


def read_prices(price_in: float | None, price_out: float | None) -> Prices | None:
    """Return the prices given, both or none."""
    from mensura.llm import Prices

    if (price_in is None) != (price_out is None):
        raise MensuraError("prices: give both --price-in and --price-out, in US dollars per million tokens")
    return None if price_in is None or price_out is None else Prices(price_in, price_out)


def choose_journal(journal: Path | None, models: list[str]) -> Path | None:
    """Return the journal: the one named, else the default one, else none where every model is a recording."""
    recorded = all(model.startswith("recorded/") for model in models)
    return journal or (None if recorded else DEFAULT_JOURNAL)


@contextmanager
def asking_bar(label: str) -> Iterator[Callable[[Standing], None]]:
    """Yield what an asker reports to: a bar with the rate, the cost so far and the time left, on a terminal only."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None, told="")

        def show(standing: Standing) -> None:
            told = f"{standing.rate:.1f} calls/s, {standing.cost:.2f} $, {standing.stored} stored"
            settings: dict[str, Any] = {"completed": standing.done, "total": standing.total, "told": told}
            progress.update(task, **settings)

        yield show
