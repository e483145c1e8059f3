"""``mensura annotate`` and ``demands``: levels of items by language models and people, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from mensura.cli.asking import Asking, AskingSettings, DryRun, MaxCost, Models, money
from mensura.cli.estimating import read_pool
from mensura.cli.findings import say_levels, say_verdicts
from mensura.cli.options import ItemColumns, Json, Out, arg, check_input, inarg, infile, opt
from mensura.cli.output import console, emit, print_notes
from mensura.cli.settings import Settings, read_settings, split_names, takes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError, counted
from mensura.core.frames import sort_highest

if TYPE_CHECKING:
    from mensura.demands import Annotation


Tables = Annotated[list[Path], inarg("Files of levels or filled sheets.")]


@dataclass(frozen=True, kw_only=True)
class AnnotateSettings(AskingSettings):
    """The rarer settings of ``mensura annotate``."""

    items_per_call: Annotated[int, "Items in one call (bundle)."] = 25
    seed: Annotated[int, "Seed of the intervals."] = 0
    aggregate: Annotated[str, "One level from several readings: median or ordinal."] = "median"


Pool = Annotated[str, arg("Folder or items file with texts, or 'example' for the shipped pool.")]
Rubrics = Annotated[Path | None, infile("Folder of rubrics CODE.txt that replace or extend ours.", file_okay=False)]
Dimensions = Annotated[str, opt("Dimensions to annotate, separated by commas; all when left out.")]


@takes(AnnotateSettings)
def annotate(
    pool: Pool,
    model: Models = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    protocol: Annotated[str, opt("One call for a bundle of items, an item, or a cell (one level).")] = "bundle",
    repeats: Annotated[int, opt("How often everything is asked.")] = 1,
    rubrics: Rubrics = None,
    dimensions: Dimensions = "",
    columns: ItemColumns = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Annotate the items of a pool with demand levels, 0 to 5 in eighteen dimensions."""
    from mensura.demands import carry_out, plan_annotation
    from mensura.demands.views import item_table

    rare = read_settings(settings, AnnotateSettings)
    how: dict[str, Any] = {"items_per_call": rare.items_per_call, "rubrics": rubrics}
    how["dimensions"] = split_names(dimensions) or None
    items, questions = item_table(pool, columns), Asking(model, max_cost, dry_run, rare)
    plan = plan_annotation(items, protocol=protocol, repeats=repeats, **how)
    asking = questions.one(out, plan.max_tokens)
    if asking.dry_run:
        asking.print_estimate(plan.questions, plan.usual_tokens)
        return
    with asking.open("annotating") as asker:
        result = carry_out(plan, [asker], aggregate=rare.aggregate, seed=rare.seed)
    emit(result, protocol=result.protocol, calls=result.calls, stored=result.stored, cost=result.cost)
    _print(result)


def _read_levels(tables: list[Path], rubrics: Path | None) -> pl.DataFrame:
    """Read files of levels on the dimensions of the rubrics."""
    from mensura.demands import combine, load_rubrics, read_demands

    codes = list(load_rubrics(rubrics))
    return combine([read_demands(path, codes=codes) for path in tables])


def _shown_agreement(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row per dimension: each statistic, kappa with its interval, and the notes."""
    wide = table.pivot("statistic", index="dimension", values="value", maintain_order=True)
    kappa = table.filter(pl.col("statistic") == "kappa")
    return wide.join(
        kappa.select("dimension", kappa_low="low", kappa_high="high", n="n", note="note"), on="dimension", how="left"
    )


def _print(result: Annotation) -> None:
    named_levels = pl.concat_str("dimension", pl.col("level").cast(pl.String), separator=" ")
    asked = result.demands.filter(pl.col("level") > 0).sort("level", descending=True, maintain_order=True)
    levels = asked.group_by("item").agg(levels=named_levels.str.join(", "))
    items = result.demands.select("item").unique(maintain_order=True)
    above = items.join(levels, on="item", how="left", maintain_order="left").fill_null("")
    unparsed = result.unparsed.group_by("reason", maintain_order=True)
    counts = unparsed.agg(cells=pl.len(), items=pl.col("item").n_unique(), first=pl.col("item").first())
    tables = {"levels": above, "unparsed": sort_highest(counts, "cells", "reason")}
    if result.agreement.height:
        tables["agreement"] = _shown_agreement(result.agreement)
    show(tables, "annotate", heading=result.heading)
    stored = f"{counted(result.stored, 'answer')} from the journal"
    console.print(f"{counted(result.calls, 'call')}, {stored}, {money(result.cost)}")
    print_notes(result.warnings)
    if result.demands.height:
        console.print(say_levels(result.demands))


def dimensions(
    rubric: Annotated[str | None, opt("Print the rubric of one dimension.", metavar="CODE")] = None,
    rubrics: Rubrics = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List the dimensions and where borderline subjects belong, or show one rubric."""
    from mensura.demands import boundary_table, dimension_table, load_rubrics

    chosen = load_rubrics(rubrics, None if rubric is None else [rubric])
    rows = [
        (code, level.level, level.label, level.text, " / ".join(level.examples))
        for code, one in chosen.items()
        for level in one.levels
    ]
    levels = pl.DataFrame(rows, schema=["dimension", "level", "label", "text", "examples"], orient="row")
    of = [(one, one.dimension) for one in chosen.values()]
    own = [(one.code, part.group, part.group_name, part.name, part.kind, one.about) for one, part in of]
    named = dimension_table()
    both = [named.filter(pl.col("dimension").is_in([*chosen, "UG"])), pl.DataFrame(own, named.columns, orient="row")]
    table = pl.concat(both).unique("dimension", keep="first", maintain_order=True)
    tables = {"dimensions": table, "levels": levels, "boundaries": boundary_table()}
    emit(tables)
    if rubric is not None:
        console.print(chosen[rubric].as_text())
        return
    show(tables, "demands dimensions")
    example = f"mensura demands dimensions --rubric {next(iter(chosen))}"
    console.print(f"{len(chosen)} dimensions have a rubric. {example} shows one.")


def sheet(
    pool: Pool,
    dimensions: Dimensions = "",
    rubrics: Rubrics = None,
    columns: ItemColumns = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Make an annotation sheet for people: items as a language model sees them, levels to fill in."""
    from mensura.demands import annotation_sheet
    from mensura.demands.views import item_table

    table = annotation_sheet(item_table(pool, columns), rubrics=rubrics, dimensions=split_names(dimensions) or None)
    emit({"sheet": table})
    show({"sheet": table}, "demands sheet")
    console.print(f"{counted(table.height, 'item')} to annotate: write a level from 0 to 5 into each column.")


def agreement(
    tables: Tables,
    merge: Annotated[str | None, opt("Also make one level per item and dimension: median or ordinal.")] = None,
    rubrics: Rubrics = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Measure how far annotators, repeats or people agree: kappa, alpha, exact, within one level.

    With --merge also one level per item and dimension from the readings of all, in demands.csv of --out.
    """
    from mensura.demands import measure_agreement, pool_readings

    levels = _read_levels(tables, rubrics)
    result = measure_agreement(levels)
    merged = None if merge is None else pool_readings(levels, merge)
    parts = {} if merged is None else {"demands": merged.demands, "annotators": merged.annotators}
    filled = {name: table for name, table in parts.items() if table.height}
    emit(result.tables() | filled, raters=list(result.raters), items=result.items)
    shown = _shown_agreement(result.agreement)
    show({"agreement": shown, "pairs": result.pairs}, "demands agreement", heading=result.heading)
    console.print(_agreed(shown))
    if merged is not None:
        show(parts, "demands merge")
        console.print(say_levels(merged.demands))


def _check_pools(paths: list[Path]) -> list[Path]:
    """Check every path; the shipped pool has a name and no folder."""
    from mensura.extrapolation.methods import EXAMPLE_NAME

    check_input([path for path in paths if str(path) != EXAMPLE_NAME])
    return paths


def check(
    pools_and_demands: Annotated[list[Path], arg("Pools with rates, last the file of levels.", callback=_check_pools)],
    group: Annotated[str, opt("Group whose rates are used, such as country=JPN.")] = "all",
    rubrics: Rubrics = None,
    draws: Annotated[int, opt("Bootstrap draws.", min=1)] = 1000,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Check levels against the success rates of people, within pools and on pools left out."""
    from mensura.demands import check_demands, pool_rates

    *folders, demands = pools_and_demands
    if not folders or demands.is_dir():
        raise MensuraError("check: give the folders of one or more pools, and last the file of levels (demands.csv)")
    rates = pool_rates([read_pool(folder)[0] for folder in folders], group)
    result = check_demands(rates, _read_levels([demands], rubrics), draws=draws)
    emit(result, pools=result.pools, items=result.items)
    sums = result.correlations.filter(dimension="sum").drop("dimension")
    show(result.tables() | {"sums": sums}, "demands check", heading=result.heading)
    print_notes(result.warnings)
    console.print(say_verdicts(result.verdicts))


def _agreed(shown: pl.DataFrame) -> str:
    """Say the mean agreement and its interval."""
    row = shown.row(-1, named=True)
    low, high = row["kappa_low"], row["kappa_high"]
    if row["kappa"] is None:
        return "Kappa is unknown: the levels do not vary."
    sure = "" if low is None or high is None else f" ({low:.2f} to {high:.2f}, 90%)"
    return f"Mean kappa {row['kappa']:.2f}{sure}; 1 is full agreement, 0 is chance."
