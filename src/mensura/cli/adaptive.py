"""``mensura responses select`` and ``next``: short forms, and which items to run next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_input
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.responses import ItemBank

Items = Annotated[Path, typer.Argument(help="items.csv of a fit, or the folder that holds it.", callback=check_input)]
Mean = Annotated[float, typer.Option(help="Mean ability of those to be placed, on the scale of the fit.")]
Sd = Annotated[float, typer.Option(help="Their standard deviation.")]
Choice = Annotated[str, typer.Option(help="spread (from hard to easy, by information) or best (most information).")]
Subject = Annotated[str | None, typer.Option(help="Whose samples a log holds that does not say so itself.")]


def select(
    items: Items,
    size: Annotated[int, typer.Option(help="How many items.", min=1)] = 30,
    mean: Mean = 0.0,
    sd: Sd = 1.5,
    content: Annotated[str | None, typer.Option(help="Column of items.csv whose shares the form keeps.")] = None,
    choice: Choice = "spread",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Choose a fixed short form: the items that place a group best."""
    from mensura.responses import Aim, select_items

    bank, contents = _bank(items, content)
    form = select_items(bank, size, aim=Aim(mean, sd), content=contents, choice=choice)
    if emit(form.tables(), out=out, as_json=as_json, warnings=list(form.warnings)):
        return
    print_table(form.form, title="The form, item by item (error: with the items so far)", rows=40)
    for warning in form.warnings:
        print_note(warning, kind="warning")
    console.print(f"{form.heading}.")


def next_(
    items: Items,
    log: Annotated[
        Path | None,
        typer.Argument(help="Answers so far: a log or table; none yet where left out.", callback=check_input),
    ] = None,
    count: Annotated[int, typer.Option(help="How many items to run next.", min=1)] = 5,
    within: Annotated[float, typer.Option(help="Stop when the 90% interval is this far to either side.")] = 0.3,
    mean: Mean = 0.0,
    sd: Sd = 1.5,
    content: Annotated[str | None, typer.Option(help="Column of items.csv whose shares are kept.")] = None,
    choice: Choice = "spread",
    subject: Subject = None,
    exposure: Annotated[
        int | None, typer.Option(help="Draw among the best with this seed, so that items wear less.")
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say where a subject stands after some answers, which items to run next, and when to stop."""
    import numpy as np

    from mensura.responses import Aim, next_items

    bank, contents = _bank(items, content)
    answers = {} if log is None else _answers(log, subject, bank)
    rng = None if exposure is None else np.random.default_rng(exposure)
    found = next_items(
        bank, answers, count=count, aim=Aim(mean, sd, within), content=contents, exposure=rng, choice=choice
    )
    if emit(found.tables(), out=out, as_json=as_json, warnings=list(found.warnings)):
        return
    if not found.standing["done"][0]:
        print_table(found.next, title="Run next")
    for warning in found.warnings:
        print_note(warning, kind="warning")
    console.print(f"{found.heading}.")


def _bank(items: Path, content: str | None) -> tuple[ItemBank, dict[str, str] | None]:
    from mensura.core.frames import require_columns
    from mensura.intake.tables import read_table
    from mensura.responses import ItemBank

    table = read_table(items / "items.csv" if items.is_dir() else items)
    bank = ItemBank.from_table(table)
    if content is None:
        return bank, None
    require_columns(table, [content], name="items")
    return bank, dict(zip(bank.items, map(str, table[content]), strict=True))


def _answers(log: Path, subject: str | None, bank: ItemBank) -> dict[str, tuple[float, float]]:
    """Return item → (right, trials) of the one subject of a log, or the one that is named."""
    from mensura.responses import read_responses
    from mensura.responses.among import counts_in_bank, foreign_items

    table = read_responses(log, subject=subject)
    names = table.subjects["subject"].to_list()
    if len(names) > 1 and subject not in names:
        raise MensuraError(
            f"{log}: {len(names)} subjects; say with --subject who is to be placed, such as {names[0]!r}"
        )
    row = names.index(subject) if subject in names else 0
    right, trials = counts_in_bank(table, bank)
    taken = ((item, right[row, at], trials[row, at]) for at, item in enumerate(bank.items))
    found = {item: (float(good), float(n)) for item, good, n in taken if n > 0}
    if not found:
        raise foreign_items(str(log), bank)
    return found
