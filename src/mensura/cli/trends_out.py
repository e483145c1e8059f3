"""What ``mensura trends`` prints: its tables, then the pace, the forecast and how sure they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mensura.cli.output import console, emit
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust

if TYPE_CHECKING:
    import polars as pl

    from mensura.trends.published import PublishedTrends

COMPUTE_TITLES = {
    "families": "Capability per unit of ln(compute), within families",
    "progress": "Compute saved per year at equal capability, as a factor",
    "joint": "Capability on log10(compute) and year",
    "constancy": "Change of k per decade of compute (scale) and per year (date)",
    "fixed_capability": "Decades of compute saved per year at fixed capability",
}
"""Titles of the tables that need the training compute of models."""


def show_published(found: PublishedTrends, out: Path | None, as_json: bool) -> None:
    """Write or print the published analyses."""
    tables = {name: table for name, table in found.tables().items() if table.height}
    if emit(tables, out=out, as_json=as_json, method="rosetta", heading=found.heading):
        return
    titles = {
        "trend": "Slope of capability per year (95%): the line through the records, and that of all releases",
        "forecast": "Forecast of the record line (95%, of its mean)",
        "breaks": "One break in the record line",
        **COMPUTE_TITLES,
        "horizons": "ln(minutes) on capability",
        "doubling": "Doubling and halving times, in months",
        "sensitivity": "Slopes under other weights of the penalty",
    }
    console.print(found.heading)
    for name, title in titles.items():
        if name in tables:
            print_table(tables[name], title=title, rows=20, digits=4)
    line = tables["trend"].row(0, named=True)
    console.print(
        f"Capability of {line['line']} gains {line['slope']:.3f} a year ({line['low']:.3f} to {line['high']:.3f}, 95%)."
    )


def print_trends(tables: dict[str, pl.DataFrame], facts: dict[str, object], level: float) -> None:
    """Print the tables for people; the looks of the watch are summed up in its verdict."""
    titles = {
        "pace": f"Slope per year ({level:.0%}): releases is the pace; records is the line through the best at release",
        "frontier": "Frontier: best at release, newest first",
        "forecast": f"Forecast of the frontier ({level:.0%})",
        "crossings": "When the frontier passed",
        **COMPUTE_TITLES,
        "horizons": "Time horizon in minutes, measured and expected",
    }
    console.print(f"Unit of capability: {facts['unit']}.")
    if "compute" in facts:
        console.print(f"Compute: {facts['compute']}.")
    for name, title in titles.items():
        if name in tables and tables[name].height:
            shown = tables[name].reverse() if name == "frontier" else tables[name]
            print_table(shown, title=title, rows=20, digits=3)
    verdict = facts.get("watch")
    if isinstance(verdict, dict):
        console.print(f"Watch: {verdict['verdict']}")
    console.print(_finding(tables, facts, level))
    print_trust("trends")


def _finding(tables: dict[str, pl.DataFrame], facts: dict[str, object], level: float) -> str:
    """Say the pace and the first forecast in a sentence each, with their intervals."""
    pace = tables["pace"].row(0, named=True)
    ahead = tables["forecast"].row(0, named=True)
    return (
        f"Capability grows by {pace['slope']:.2f} a year ({pace['low']:.2f} to {pace['high']:.2f}, {level:.0%}); "
        f"1 is {facts['unit']}. The best model of {ahead['date']} is expected at {ahead['capability']:.2f} "
        f"({ahead['low']:.2f} to {ahead['high']:.2f})."
    )
