"""``mensura cost``: what capability costs, the frontier of IQ against each cost, and the cheapest model at an IQ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.output import Json, Out, console, emit
from mensura.cli.tables import print_table
from mensura.core.cache import keep

if TYPE_CHECKING:
    import polars as pl

_UNITS = {
    "sticker_price": "US dollars for a million tokens in and a million out",
    "effective_cost": "US dollars: list price times usage",
    "usage_multiplier": "tokens used, 1 is usual",
    "response_time": "seconds to an answer",
}
EXAMPLES = """
[bold]Examples[/]

  mensura cost
  mensura cost --frontier
  mensura cost --at-least 120 --by effective_cost
"""


def cost(
    frontier: Annotated[bool, typer.Option(help="Show the Pareto frontier of IQ against each cost.")] = False,
    at_least: Annotated[
        float | None, typer.Option(help="Models with this IQ or more, cheapest first.", metavar="IQ")
    ] = None,
    by: Annotated[
        str, typer.Option(help="Cost to sort by: sticker_price, effective_cost, usage_multiplier or response_time.")
    ] = "effective_cost",
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show list price, effective cost, task efficiency and response time of every model, beside its IQ."""
    from mensura.iq import (
        COST_AXES,
        COUNTS,
        EFFECTIVE_COST_NOTE,
        cheapest,
        frontier as pareto,
        require_axis,
        score_costs,
        score_iq,
    )

    require_axis(by)
    loaded = load_evidence(evidence, add, released)
    costs, iqs = keep(
        "costs",
        loaded,
        {},
        lambda: (score_costs(loaded), score_iq(loaded).composites.select("subject", "iq", *COUNTS)),
    )
    if frontier:
        tables = {f"frontier_{axis}": pareto(iqs, costs.costs, axis) for axis in COST_AXES}
    elif at_least is not None:
        tables = {"cheapest": cheapest(iqs, costs.costs, at_least, by)}
    else:
        beside = costs.costs.join(iqs, on="subject", how="left", maintain_order="left")
        tables = {"costs": beside, "signals": costs.signals, "fits": costs.fits}
    if emit(tables, out=out, as_json=as_json, note=EFFECTIVE_COST_NOTE):
        return
    if frontier:
        for axis in COST_AXES:
            shown = tables[f"frontier_{axis}"].select("subject", "iq", axis)
            print_table(shown, title=f"No model is better for less {axis.replace('_', ' ')} ({_UNITS[axis]})")
    elif at_least is not None:
        words = f"{by.replace('_', ' ')} ({_UNITS[by]})"
        spare = ("basis", "inherited", "estimated", *(axis for axis in reversed(COST_AXES) if axis != by))
        print_table(tables["cheapest"], title=f"IQ of at least {at_least:g}, lowest {words} first", spare=spare)
    else:
        columns = [
            "subject",
            "iq",
            "measured",
            "sticker_price",
            "usage_multiplier",
            "effective_cost",
            "response_time",
            "status",
        ]
        shown = tables["costs"].select(columns).sort(by, nulls_last=True)
        print_table(shown, title="Cost (US dollars for 1M tokens in and 1M out; seconds to an answer)")
    if not frontier:
        console.print(_finding(tables["cheapest"] if at_least is not None else shown, by))
    console.print(EFFECTIVE_COST_NOTE, style="dim")


def _finding(sorted_by: pl.DataFrame, axis: str) -> str:
    """Say which model is the cheapest of the table."""
    known = sorted_by.drop_nulls(axis)
    if not known.height:
        return f"No model here has a {axis.replace('_', ' ')}."
    first = known.row(0, named=True)
    iq = "no IQ yet" if first["iq"] is None else f"an IQ of {first['iq']:.0f}"
    return f"{first['subject']} has the lowest {axis.replace('_', ' ')}: {first[axis]:.2f} ({_UNITS[axis]}), with {iq}."
