"""What ``mensura responses`` prints of a fit: abilities, items, groups, checks, and then the finding."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mensura.cli.output import console, emit, print_note
from mensura.cli.tables import print_own_first, print_table

if TYPE_CHECKING:
    import polars as pl

    from mensura.core.results import Result
    from mensura.responses import AbilityRegression, AmongPeople, CategoryFit, ResponseFit

SHOWN = 20
"""Rows of subjects that a command prints."""
ITEMS = "Items (fit: distance of the answers from the curve; se: standard error)"
_SPARE = ("se_guessing", "fit_p", "fit_q", "n", "se_discrimination", "guessing", "se_difficulty")


def print_fit(result: ResponseFit, more: Sequence[Result | None]) -> None:
    """Print a fit of right and wrong answers, and the tables that were asked for beside it."""
    from mensura.core.frames import sort_highest

    ranked = sort_highest(result.subjects, "ability", "subject")
    title = f"Abilities (90% intervals; unit: one sd of {result.reference}). {result.heading}"
    print_own_first(ranked, few_beside_many(result), title=title, rows=SHOWN)
    print_table(result.items, title=ITEMS, rows=10, spare=_SPARE)
    if result.groups.height > 1:
        print_table(result.groups, title="Groups")
    _print_more(more)
    flagged = result.dif.filter("flagged")
    if flagged.height:
        print_table(flagged, title="Items that differ between groups", rows=10)
    if result.log.height:
        print_table(result.log, title="What rules decided")
    for row in result.checks["said"]:
        print_note(row, kind="check")
    for warning in result.warnings:
        print_note(warning, kind="warning")
    console.print(_highest(ranked, result.reference))


def _print_more(more: Sequence[Result | None]) -> None:
    """Print the first table of each result."""
    for found in more:
        if found is not None:
            print_table(next(iter(found.tables().values())), title=found.heading, rows=SHOWN, digits=3)


def _highest(ranked: pl.DataFrame, group: str) -> str:
    """Say whose ability is highest, and how sure that is."""
    best = ranked.row(0, named=True)
    return (
        f"{best['subject']} has the highest ability: {best['ability']:.2f} ({best['low']:.2f} to {best['high']:.2f}, "
        f"90%), where 0 is the mean of {group} and 1 their standard deviation."
    )


def print_placed(placed: AmongPeople, own: Collection[str]) -> None:
    """Print subjects among people, those of small groups first."""
    from mensura.core.frames import sort_highest

    ranked = sort_highest(placed.subjects, "ability", "subject")
    spare = ("population", "status", "rate", "low", "high", "group")
    print_own_first(ranked, own, title=placed.heading, rows=SHOWN, spare=spare)
    for warning in placed.warnings:
        print_note(warning, kind="warning")
    first = next((row for row in ranked.iter_rows(named=True) if row["subject"] in own), ranked.row(0, named=True))
    ends = f"({first['iq_low']:.0f} to {first['iq_high']:.0f}, 90%)"
    iq = (
        f"at least {first['iq']:.0f}, as far as their number can tell,"
        if first["at_least"]
        else f"{first['iq']:.0f} {ends}"
    )
    console.print(f"{first['subject']}: IQ-equivalent {iq} among {first['population']}.")


def show_categories(result: CategoryFit, regression: AbilityRegression | None, out: Path | None, as_json: bool) -> None:
    """Show or write a fit of items with several categories, and the regression of its abilities."""
    from mensura.core.frames import sort_highest

    facts = {"model": result.model, "log_likelihood": result.log_likelihood, "reliability": result.reliability}
    facts |= {"passes": result.passes, "converged": result.converged}
    tables = result.tables() | (regression.tables() if regression else {})
    if emit(tables, out=out, as_json=as_json, **facts, warnings=list(result.warnings)):
        return
    ranked = sort_highest(result.subjects, "ability", "subject")
    print_table(
        ranked,
        title=f"Abilities (90% intervals; unit: one sd of {result.groups['group'][0]}). {result.heading}",
        rows=SHOWN,
    )
    print_table(result.items, title=ITEMS, rows=10, spare=_SPARE)
    print_table(result.categories, title="Categories above the lowest", rows=SHOWN)
    if result.groups.height > 1:
        print_table(result.groups, title="Groups")
    _print_more([regression])
    if result.log.height:
        print_table(result.log, title="What rules decided")
    for warning in result.warnings:
        print_note(warning, kind="warning")
    console.print(_highest(ranked, result.groups["group"][0]))


def few_beside_many(result: ResponseFit) -> list[str]:
    """Return the subjects of small groups beside a large one: a few models, whom a user looks for among many people."""
    import polars as pl

    sizes = result.subjects.group_by("group").len()
    small = sizes.filter((pl.col("group") != result.reference) & (pl.col("len") <= SHOWN))["group"]
    return result.subjects.filter(pl.col("group").is_in(small.implode()))["subject"].to_list()
