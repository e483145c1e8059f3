"""What ``mensura stitch`` prints: capabilities, benchmarks, people, then who leads and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mensura.cli.inputs import new_names
from mensura.cli.output import console, emit
from mensura.cli.tables import print_own_first, print_table
from mensura.cli.trust import print_trust
from mensura.core.errors import MensuraError, counted

if TYPE_CHECKING:
    import polars as pl

_TOLD = 3  # of one's own subjects in a sentence
_LAYOUT: dict[str, Any] = {
    "people": {"keys": 2, "spare": ("score", "status", "first")},
    "people_classes": {"spare": ("benchmarks", "spread", "status", "passed_low", "passed_high")},
    "floors": {"spare": ("ceiling_error", "weight")},
}
"""How tables are laid out on a narrow terminal: columns that stand in every part, and those that may stay out."""


def print_stitch(tables: Mapping[str, pl.DataFrame], title: str, own: Collection[str]) -> None:
    """Print the tables for people, ``own`` subjects first, and the finding; ``title`` is that of the capabilities."""
    import polars as pl

    from mensura.core.frames import sort_highest
    from mensura.stitching.people import SHOWN

    print_own_first(tables["capabilities"], own, title=title, rows=30)
    tests = sort_highest(tables["benchmarks"], "difficulty", "benchmark")
    mine = tests["benchmark"].is_in(new_names("benchmark")) if own else pl.repeat(False, tests.height, eager=True)
    first = "yours first, then the hardest" if mine.any() else "hardest first"
    print_table(pl.concat([tests.filter(mine), tests.filter(~mine)]), title=f"Benchmarks, {first}")
    for name, table in tables.items():
        if name == "ranks":
            _print_ranks(table, own)
        elif name not in ("capabilities", "benchmarks") and table.height:
            shown = table.select(SHOWN) if name == "people" else table
            if name == "people_classes":
                shown = table.select("group", "passed", "probability", pl.exclude("group", "passed", "probability"))
            most = None if name.startswith("people") else 15
            print_table(shown, title=_title(name), rows=most, digits=3, **_LAYOUT.get(name, {}))
    console.print(_finding(tables, own))
    for row in tests.filter(mine).head(_TOLD).iter_rows(named=True):
        harder = tests.filter(tests["difficulty"] > row["difficulty"]).height
        told = f"{row['benchmark']}: difficulty {row['difficulty']:.2f}, slope {row['slope']:.2f}"
        console.print(f"{told}; {harder} of {counted(tests.height, 'benchmark')} are harder.")
    print_trust("stitch")


def _print_ranks(ranks: pl.DataFrame, own: Collection[str]) -> None:
    if ranks["rank"].count():
        print_own_first(ranks, own, title="Ranks (p_first: chance of being first)", rows=15, digits=3)


def _finding(tables: Mapping[str, pl.DataFrame], own: Collection[str]) -> str:
    """Say where one's own subject is, who leads, or which people the best model is above, and how sure that is."""
    from mensura.scale.ranking import say_chance

    classes = tables.get("people_classes")
    if classes is not None:
        chances = classes.select("group", "probability").drop_nulls().iter_rows()
        said = "; ".join(f"{group} {say_chance(chance)}" for group, chance in chances)
        return f"Chance that the best model is above people: {said}."
    named = new_names("model") if own and new_names("model") else own
    mine = [row for row in tables["capabilities"].iter_rows(named=True) if row["subject"] in named]
    if 0 < len(mine) <= _TOLD:
        places = (f"{row['subject']} {row['capability']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in mine)
        return f"Capability, with its 90% interval: {'; '.join(places)}."
    ranked = tables["ranks"].drop_nulls("rank")
    if not ranked.height:
        return "No interval is narrow enough for a rank. More scores of each subject narrow it."
    best = ranked.row(0, named=True)
    chance = "" if best["p_first"] is None else f", with a chance of {say_chance(best['p_first'])}"
    return f"{best['subject']} has the highest capability{chance} among {counted(ranked.height, 'model')}."


def explain_capability(name: str | None, capability: float, out: Path | None, as_json: bool) -> None:
    """Print what a capability means on a frozen scale."""
    from mensura.stitching import load_scale

    if name is None:
        raise MensuraError("--at goes with --scale NAME: a number has a meaning on a scale that stands still")
    frozen = load_scale(name)
    tables = {"expected": frozen.expected_at(capability), "neighbours": frozen.neighbours_of(capability)}
    if emit(tables, out=out, as_json=as_json, scale=frozen.name, capability=capability):
        return
    print_table(tables["neighbours"], title=f"Nearest to {capability:g} on the scale {frozen.name}")
    print_table(tables["expected"], title=f"Expected at {capability:g}, and one unit above (no special strengths)")
    near = tables["neighbours"].sort((tables["neighbours"]["capability"] - capability).abs())["subject"][0]
    console.print(f"The model nearest to {capability:g} is {near}.")


def show_frozen(name: str, data: object, out: Path | None, as_json: bool) -> None:
    """Print or write everybody's place on a frozen scale."""
    from mensura.core.frames import sort_highest
    from mensura.stitching import load_scale

    frozen = load_scale(name)
    tables = {"capabilities": frozen.place(data), "benchmarks": frozen.benchmarks}
    if emit(tables, out=out, as_json=as_json, scale=frozen.name, settings=frozen.settings):
        return
    placed = tables["capabilities"].filter(tables["capabilities"]["status"] == "placed")
    if placed.height:
        print_table(placed, title=f"Placed on the scale {frozen.name} (90% intervals)")
    title = f"Everybody on the scale {frozen.name}"
    print_own_first(tables["capabilities"], placed["subject"].to_list(), title=title, rows=30)
    print_table(sort_highest(tables["benchmarks"], "difficulty", "benchmark"), title="Benchmarks, hardest first")
    best = sort_highest(tables["capabilities"], "capability", "subject").row(0, named=True)
    console.print(
        f"{best['subject']} is highest on the scale {frozen.name}: {best['capability']:.2f} ({best['low']:.2f} to "
        f"{best['high']:.2f}, 90%); {counted(placed.height, 'model')} placed without moving the others."
    )


def _title(name: str) -> str:
    words = {
        "people": "People, test by test: who scored above them first, and the chance that the best model does",
        "people_classes": "Classes of people on the scale: when a model passed them, and the probability that the best "
        "is above them (90% intervals hold the spread between tests)",
        "floors": "Chance level and ceiling of each benchmark, with their errors",
        "capability_bars": "Capabilities with bars of 5% more squared error",
        "difficulty_bars": "Difficulties with bars of 5% more squared error",
        "batteries": "Capabilities with 90% intervals over other domains of tests (battery_low, battery_high)",
        "suspicious": "Suspicious scores: more than ordinary noise apart from what all other scores predict",
        "residuals": "Measured minus fitted (residual) and minus what capability alone predicts (above)",
    }
    return words.get(name, name.replace("_", " ").capitalize())
