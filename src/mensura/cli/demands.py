"""``mensura demands``: dimensions, sheets for people, agreement, protocols, and the check against people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.annotate import BundleSettings, Dimensions, Pool, Rubrics, shown_agreement, split_codes
from mensura.cli.asking import Asking, BaseUrl, DryRun, MaxCost, Models
from mensura.cli.estimating import read_pool
from mensura.cli.findings import say_levels, say_verdicts
from mensura.cli.options import Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_inputs
from mensura.cli.tables import print_table
from mensura.core.errors import counted

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(
    help="What items demand: dimensions and rubrics, sheets for people, agreement, and what levels are worth.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Tables = Annotated[
    list[Path],
    typer.Argument(help="Files of levels: demands.csv, readings.csv or filled sheets.", callback=check_inputs),
]


@app.command(epilog="Example: mensura demands dimensions --rubric QLl")
def dimensions(
    rubric: Annotated[str | None, typer.Option(help="Print the rubric of one dimension.", metavar="CODE")] = None,
    rubrics: Rubrics = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List the dimensions and where borderline subjects belong, or show one rubric."""
    import polars as pl

    from mensura.demands import boundary_table, dimension_table, load_rubrics

    found = load_rubrics(rubrics, None if rubric is None else [rubric])
    levels = pl.DataFrame(
        [
            (code, level.level, level.label, level.text, " / ".join(level.examples))
            for code, one in found.items()
            for level in one.levels
        ],
        schema=["dimension", "level", "label", "text", "examples"],
        orient="row",
    )
    own = [
        (one.code, one.dimension.group, one.dimension.group_name, one.dimension.name, one.dimension.kind, one.about)
        for one in found.values()
    ]
    named = dimension_table()
    listed = pl.DataFrame(own, schema=named.columns, orient="row")
    table = pl.concat([named.filter(pl.col("dimension").is_in([*found, "UG"])), listed]).unique(
        "dimension", keep="first", maintain_order=True
    )
    tables = {"dimensions": table, "levels": levels, "boundaries": boundary_table()}
    if emit(tables, out=out, as_json=as_json):
        return
    if rubric is not None:
        console.print(found[rubric].as_text())
        return
    print_table(table.drop("group_name"), title="Dimensions (UG is computed from the number of options)")
    print_table(boundary_table(), title="Where things belong")
    console.print(
        f"{len(found)} dimensions have a rubric. mensura demands dimensions --rubric {next(iter(found))} shows one."
    )


@app.command(epilog="Example: mensura demands sheet example --dimensions QLl,KNc --out sheets")
def sheet(
    pool: Pool, dimensions: Dimensions = "", rubrics: Rubrics = None, out: Out = None, as_json: Json = False
) -> None:
    """Make an annotation sheet for people: items as a language model sees them, levels to fill in."""
    from mensura.demands import annotation_sheet

    table = annotation_sheet(pool, rubrics=rubrics, dimensions=split_codes(dimensions))
    if not emit({"sheet": table}, out=out, as_json=as_json):
        print_table(table.select("item", "text"), title="Items of the sheet (write it with --out)", rows=20)
        console.print(f"{counted(table.height, 'item')} to annotate: write a level from 0 to 5 into each column.")


@app.command(epilog="Example: mensura demands agreement out/readings.csv sheets/anna.csv --out agreement")
def agreement(
    tables: Tables,
    rubrics: Rubrics = None,
    draws: Annotated[int, typer.Option(help="Bootstrap draws of items.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Measure how far annotators, repeats or people agree: kappa, alpha, exact, within one level."""
    from mensura.demands import combine, load_rubrics, measure_agreement, read_demands

    codes = list(load_rubrics(rubrics))
    result = measure_agreement(combine([read_demands(path, codes=codes) for path in tables]), draws=draws, seed=seed)
    if emit(result.tables(), out=out, as_json=as_json, raters=list(result.raters), items=result.items):
        return
    shown = shown_agreement(result.agreement)
    print_table(shown, title=result.heading, spare=("alpha_interval", "alpha_ordinal", "n"))
    print_table(
        result.pairs,
        title="Pairs of raters, all dimensions (shift: second less first, in levels)",
        rows=20,
        keys=2,
        spare=("cells", "exact"),
    )
    console.print(_agreed(shown))


@app.command(epilog="Example: mensura demands merge one/readings.csv two/readings.csv --aggregate ordinal --out both")
def merge(
    tables: Tables,
    aggregate: Annotated[str, typer.Option(help="median or ordinal.")] = "median",
    rubrics: Rubrics = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Make one level per item and dimension from the readings of several annotators."""
    from mensura.demands import combine, load_rubrics, pool_readings, read_demands

    codes = list(load_rubrics(rubrics))
    pooled = pool_readings(combine([read_demands(path, codes=codes) for path in tables]), aggregate)
    parts = {"demands": pooled.demands}
    if pooled.annotators.height:
        parts["annotators"] = pooled.annotators
    if emit(parts, out=out, as_json=as_json):
        return
    print_table(pooled.demands, title="Levels", rows=20)
    if pooled.annotators.height:
        print_table(pooled.annotators, title="Annotators: leaning and error in levels", rows=40)
    console.print(say_levels(pooled.demands))


@app.command(
    epilog="Example: mensura demands protocols pools/mine --model openai/NAME --max-cost 5 --out compared\n\n"
    + list_settings(BundleSettings)
)
def protocols(
    pool: Pool,
    model: Models = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    repeats: Annotated[int, typer.Option(help="Repeats of each protocol, two or more.")] = 2,
    rubrics: Rubrics = None,
    dimensions: Dimensions = "",
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare the protocols on your items and model: cost, and agreement with one call per cell."""
    from mensura.demands.plan import compare_plans, plan_protocols

    rare = read_settings(settings, BundleSettings)
    plans = plan_protocols(
        pool,
        repeats=repeats,
        items_per_call=rare.items_per_call,
        rubrics=rubrics,
        dimensions=split_codes(dimensions),
    )
    asking = Asking(model, base_url, max_cost, dry_run, rare).one(out, max(plan.max_tokens for plan in plans.values()))
    if asking.dry_run:
        for plan in plans.values():
            asking.print_estimate(plan.questions, plan.usual_tokens)
        return
    with asking.open("comparing") as asker:
        result = compare_plans(plans, asker, seed=rare.seed)
    facts = {"recommended": result.recommended, "model": result.model, "items": result.items}
    if emit(result.tables(), out=out, as_json=as_json, **facts, warnings=list(result.warnings)):
        return
    print_table(result.protocols, title=f"Protocols on {result.items} items by {result.model}")
    for warning in result.warnings:
        print_note(warning)
    console.print(f"The cheapest protocol that is as good as one call per cell: {result.recommended}.")


def _check_pools(paths: list[Path]) -> list[Path]:
    """Check every path; the shipped pool has a name and no folder."""
    from mensura.extrapolation.extrapolate import EXAMPLE_NAME

    check_inputs([path for path in paths if str(path) != EXAMPLE_NAME])
    return paths


@app.command(epilog="Example: mensura demands check pools/one pools/two pools/three out/demands.csv --out checked")
def check(
    pools_and_demands: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of pools with rates, or 'example', and last the file of levels.",
            metavar="POOL... DEMANDS",
            callback=_check_pools,
        ),
    ],
    group: Annotated[str, typer.Option(help="Group whose rates are used, such as country=JPN.")] = "all",
    rubrics: Rubrics = None,
    draws: Annotated[int, typer.Option(help="Bootstrap draws.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Ask whether levels mean anything: against human rates within pools, and on pools left out."""
    from mensura.core.errors import MensuraError
    from mensura.demands import check_demands, load_rubrics, pool_rates, read_demands

    *folders, demands = pools_and_demands
    if not folders or demands.is_dir():
        raise MensuraError("check: give the folders of one or more pools, and last the file of levels (demands.csv)")
    readings = read_demands(demands, codes=list(load_rubrics(rubrics)))
    rates = pool_rates([read_pool(folder)[0] for folder in folders], group)
    result = check_demands(rates, readings, draws=draws, seed=seed)
    facts = {"pools": result.pools, "items": result.items, "warnings": list(result.warnings)}
    if emit(result.tables(), out=out, as_json=as_json, **facts):
        return
    print_table(result.overall, title=f"{result.heading}; negative: more demand, fewer succeed")
    print_table(
        result.correlations.filter(dimension="sum").drop("dimension"), title="Sum of levels, pool by pool", rows=40
    )
    if result.verdicts.height:
        title = "Predicting pools left out (mean absolute error of rates; gain over the baseline)"
        print_table(result.verdicts, title=title, digits=3)
    for warning in result.warnings:
        print_note(warning)
    console.print(say_verdicts(result.verdicts))


def _agreed(shown: pl.DataFrame) -> str:
    """Say the mean agreement and its interval."""
    row = shown.row(-1, named=True)
    low, high = row["kappa_low"], row["kappa_high"]
    if row["kappa"] is None:
        return "Kappa is unknown: the levels do not vary."
    sure = "" if low is None or high is None else f" ({low:.2f} to {high:.2f}, 90%)"
    return f"Mean kappa {row['kappa']:.2f}{sure}; 1 is full agreement, 0 is chance."
