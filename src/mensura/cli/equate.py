"""``mensura equate``: levels and scores of one test in those of another, through the world population."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.output import Json, Out, console, emit
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = """
[bold]Examples[/]

  mensura equate enem naep                    two pools of the embedded items
  mensura equate mine.csv naep --out equated  a test of your own: item, observed, rate[, low, high, options]
"""
Test = Annotated[str, typer.Argument(help="A pool of the embedded items, or a CSV with item, observed, rate.")]


def equate(
    one: Test,
    other: Test,
    estimate: Annotated[
        str | None, typer.Option(help="World rates of embedded pools: both (default), asked or carried.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Bootstrap samples of items.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Read one test's levels and scores in another's."""
    from mensura.calibration import equate as equated

    if estimate is not None and Path(one).is_file() and Path(other).is_file():
        raise MensuraError("estimate: it chooses the world rates of embedded pools; leave --estimate out for files")
    result = equated(
        _tested(one, estimate), _tested(other, estimate), names=(_name(one), _name(other)), draws=draws, seed=seed
    )
    if emit(result.tables(), out=out, as_json=as_json, tests=list(result.tests), items=list(result.items)):
        return
    print_table(result.levels, title=f"Levels. {result.heading}")
    print_table(result.scores, title=f"Scores (share correct) of {result.tests[0]} in those of {result.tests[1]}")
    if result.scores.height:
        like = result.scores.row(result.scores.height // 2, named=True)
        console.print(
            f"{like['score']:.0%} right in {result.tests[0]} is like {like['other_score']:.0%} in {result.tests[1]} "
            f"(90%: {like['low']:.0%} to {like['high']:.0%})."
        )
    console.print(
        "A level is −log10(rate/√10) among those who took the test; covered: both tests have items there. "
        "World rates are extrapolated, so is what follows from them.",
        style="dim",
    )


def _name(test: str) -> str:
    return Path(test).name.partition(".")[0] if Path(test).is_file() else test


def _tested(test: str, estimate: str | None) -> pl.DataFrame:
    """Return item, observed, rate, low, high, options of a file or an embedded pool."""
    import polars as pl

    from mensura.calibration import open_items, open_rates
    from mensura.intake.tables import read_table

    if test.endswith(".csv") or Path(test).is_file():
        return read_table(Path(test))
    items = open_items()
    if test not in items["pool"]:
        known = ", ".join(items["pool"].unique().sort())
        raise MensuraError(f"equate: {test!r} is unknown; expected a CSV file or an embedded pool ({known})")
    return (
        items.filter(pl.col("pool") == test)
        .select("item", observed="rate")
        .join(open_rates(estimate or "both").drop("pool"), on="item")
    )
