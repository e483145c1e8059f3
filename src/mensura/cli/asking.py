"""The options, prices, progress and dry run that all commands share that ask a language model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from mensura import llm
from mensura.cli.options import check_output, opt
from mensura.cli.output import console, exit_codes, notices, terminal_bar
from mensura.cli.settings import split_names
from mensura.core.errors import MensuraError

JOURNAL = "journal.sqlite"
INCOMPLETE = 3
"""Exit code of a command whose results lack answers, because of --max-cost or max_calls."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells use it."""
_PASSED_ON = ("journal", "base_url", "temperature", "max_tokens", "max_calls", "concurrency", "batch")
_LONG_WAIT = 5.0
"""Seconds from which a wait for the provider is reported."""

Models = Annotated[list[str] | None, opt("Language model, such as openai/gpt-5 or recorded/NAME.", "--model")]
MaxCost = Annotated[float | None, opt("Stop before more US dollars are spent.")]
DryRun = Annotated[bool, opt("Print calls, tokens and cost; ask nothing.", "--dry-run")]


@dataclass(frozen=True, kw_only=True)
class AskingSettings:
    """The rarer settings of a command that asks a language model."""

    base_url: Annotated[str | None, "Address of an OpenAI-compatible endpoint."] = None
    journal: Annotated[Path | None, f"File that records every call; {JOURNAL} in --out when left out."] = None
    max_calls: Annotated[int | None, "Stop before more requests than this are sent."] = None
    price_in: Annotated[float | None, "US dollars per million tokens in."] = None
    price_out: Annotated[float | None, "US dollars per million tokens out."] = None
    concurrency: Annotated[int, "Most calls under way at once."] = 32
    batch: Annotated[bool, "Send batches: half price, within a day. Keep the command running."] = False
    retry: Annotated[str, "Ask again: refused, unreadable, batched, or several separated by a comma."] = ""
    temperature: Annotated[float, "Sampling temperature; recorded with every answer."] = 0.0
    max_tokens: Annotated[int | None, "Most tokens of an answer; fitted to the question when left out."] = None


@dataclass(frozen=True)
class Asking:
    """Who is asked, at what cost and how; only a recording can do without a journal."""

    model: list[str] | None
    max_cost: float | None = None
    dry_run: bool = False
    rare: AskingSettings = AskingSettings()

    def each(self, out: Path | None, max_tokens: int) -> list[Asking]:
        """Return the options once per model, with the place of the journal and the length of answers settled."""
        check_output(self.rare.journal)
        tokens = self.rare.max_tokens or max_tokens
        return [
            replace(self, model=[one], rare=replace(self.rare, journal=place, max_tokens=tokens))
            for one in dict.fromkeys(self.model or [])
            for place in [place_journal(self.rare.journal, out, one)]
        ]

    def one(self, out: Path | None, max_tokens: int) -> Asking:
        """Return the options of the one model that a command asks, as :meth:`each` does."""
        models = self.each(out, max_tokens)
        if not models:
            raise MensuraError("give --model, such as openai/NAME, or recorded/example to try it offline")
        if len(models) > 1:
            raise MensuraError(f"--model: got {len(models)}; this command asks one. Run it once for each")
        return models[0]

    @property
    def name(self) -> str:
        """The one model, once :meth:`each` has separated them."""
        return (self.model or [""])[0]

    @property
    def prices(self) -> llm.Prices | None:
        """The user's prices, or else the list prices of the evidence tables."""
        return prices_of(self.name, self.rare.price_in, self.rare.price_out)

    @contextmanager
    def open(self, label: str) -> Iterator[llm.Asker]:
        """Open the model, with a progress bar.

        A run without some of its answers ends with exit code :data:`INCOMPLETE`, after its results are written. Ctrl-C
        ends it with :data:`INTERRUPTED`. Both print the command that goes on.
        """
        shared: dict[str, Any] = {
            "max_cost": self.max_cost,
            "prices": self.prices,
            **{name: getattr(self.rare, name) for name in _PASSED_ON},
        }
        with (
            redirect_stdout(sys.stderr if self.rare.batch else sys.stdout),  # inspect-ai prints the state of batches
            asking_bar(label, self.name) as advance,
            llm.open_asker(self.name, advance=advance, retry=split_names(self.rare.retry), **shared) as asker,
        ):
            try:
                yield asker
            except KeyboardInterrupt:
                notices.print("stopping; waiting up to 10 seconds for the calls under way", style="yellow")
                asker.close()
                self._interrupted(asker.answered)
            stopped = asker.stopped
        if stopped:
            self._incomplete(stopped)

    def _incomplete(self, reason: str) -> None:
        """Report missing answers, and end the command with its own exit code once its results are written."""
        notices.print(f"stopped early: {reason}; run the command again to go on: {this_command()}", style="yellow")
        exit_codes.append(INCOMPLETE)

    def _interrupted(self, answered: int) -> None:
        place = self.rare.journal
        kept = f"{answered:,} answers are kept in {place}" if place else "a recording keeps no journal"
        notices.print(f"stopped: {kept}. Go on with: {this_command()}", style="yellow")
        raise typer.Exit(INTERRUPTED)

    def print_estimate(self, questions: Sequence[llm.Question], tokens_out: int | None = None) -> None:
        """Print what asking these questions would take."""
        tokens_and_cost = llm.estimate(
            questions,
            self.name,
            journal=self.rare.journal,
            temperature=self.rare.temperature,
            max_tokens=self.rare.max_tokens or 0,
            prices=self.prices,
            tokens_out=tokens_out,
        )
        console.print(str(tokens_and_cost))


def place_journal(journal: Path | None, out: Path | None, model: str) -> Path | None:
    """Return the journal: the one named, else one in the folder written to, else here; a recording needs none."""
    if journal is not None:
        return journal
    if out is None and model.startswith("recorded/"):
        return None
    return (out or Path()) / JOURNAL


def prices_of(model: str, price_in: float | None, price_out: float | None) -> llm.Prices | None:
    """Return the prices given, or the list prices of the model in the evidence tables, or None."""
    prices = given_prices(price_in, price_out)
    if prices is not None or model.startswith("recorded/"):
        return prices
    import polars as pl

    from mensura.evidence import load

    name = model.rpartition("/")[2].lower()
    listed = load().models.filter(
        (pl.col("subject").str.to_lowercase() == name) | (pl.col("name").str.to_lowercase() == name)
    )
    priced = listed.select("input_price", "output_price").drop_nulls()
    return llm.Prices(*priced.row(0)) if priced.height == 1 else None


def given_prices(price_in: float | None, price_out: float | None) -> llm.Prices | None:
    """Return the prices given, None for none; one alone is refused."""
    if (price_in is None) != (price_out is None):
        raise MensuraError("give both price_in and price_out (US dollars per million tokens), or neither")
    return None if price_in is None or price_out is None else llm.Prices(price_in, price_out)


def this_command() -> str:
    """Return the command line that runs this command again."""
    return shlex.join(["mensura", *sys.argv[1:]])


@contextmanager
def asking_bar(label: str, model: str = "the provider") -> Iterator[Callable[[llm.Standing], None]]:
    """Yield ``advance(standing)``: a bar with rate, cost so far and time left, on a terminal; silent in a pipe.

    A long wait for the provider is reported everywhere, once.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"))
    with terminal_bar(*columns) as progress:
        task = progress.add_task(label, total=None, state="")
        reported = datetime.min

        def advance(standing: llm.Standing) -> None:
            nonlocal reported
            progress.update(task, completed=standing.done, total=standing.total, state=describe(standing))
            until = datetime.now() + timedelta(seconds=standing.waiting)
            if standing.waiting > _LONG_WAIT and until > reported + timedelta(seconds=1):
                reported = until
                notices.print(
                    f"{model} asks for a pause: waiting until {until:%H:%M:%S}. Ctrl-C stops; all answers are kept.",
                    style="yellow",
                )

        yield advance


def describe(standing: llm.Standing) -> str:
    """Describe a run in a few words: rate, cost, time left or wait, failures."""
    parts = [f"{standing.rate:.1f}/s", "cost unknown" if standing.cost is None else f"${standing.cost:.2f}"]
    if standing.waiting > _LONG_WAIT:
        parts.append(f"waiting {standing.waiting:.0f} s")
    elif standing.seconds_left is not None:
        minutes, seconds = divmod(round(standing.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    if standing.failed:
        parts.append(f"{standing.failed} failed")
    return " · ".join(parts)


def money(dollars: float | None) -> str:
    """Return an amount for people; None where no price is known."""
    if dollars is None:
        return "cost unknown (no price is known; give price_in and price_out)"
    return f"{dollars:.2f} US dollars"
