"""``mensura validate``: how well the whole of a pool is predicted from its groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.output import Json, Out, emit, print_note, print_table
from mensura.cli.progress import progress_bar

EXAMPLES = """
[bold]Examples[/]

  mensura validate pools/pisa2009 --situation described --out result   descriptions and public facts only
  mensura validate pools/pisa2009 --situation linked --links 5         five items with known reference rates
  mensura validate pools/pisa2009 --situation slices --json            the other groups of the pool known
"""


def validate(
    pool_folder: Annotated[Path, typer.Argument(help="Folder with items.csv and group_rates.csv (tidy form).")],
    situation: Annotated[str, typer.Option(help="What is known: described, linked or slices.")] = "described",
    links: Annotated[int, typer.Option(help="Linking items with known reference rates (linked).", min=1)] = 3,
    method: Annotated[str | None, typer.Option(help="Method by name; the best of the situation when left out.")] = None,
    draws: Annotated[int, typer.Option(help="Draws of linking items (linked).", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of draws, folds and bootstrap.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Hide the whole sample's rates, predict them from each group, and score the predictions."""
    from mensura.extrapolation import validate as run
    from mensura.extrapolation.line.descriptions import read_description
    from mensura.people import ItemPool

    pool = ItemPool.read(pool_folder)
    with progress_bar("groups", pool.groups.height - 1) as advance:
        result = run(
            pool,
            situation,
            links=links,
            method=method,
            description=read_description(pool_folder),
            draws=draws,
            seed=seed,
            advance=advance,
        )
    facts = {"pool": result.pool, "situation": situation, "method": result.method, "warnings": list(result.warnings)}
    if emit(result.tables(), out=out, as_json=as_json, **facts):
        return
    errors = ["groups", "mae", "rmse", "bias", "coverage", "mae_identity"]
    plain = ["mae_shift"] if situation == "linked" else []
    title = f"{result.pool}: {situation}, method {result.method}, {result.level:.0%} intervals"
    print_table(result.overall.select("covariate", *errors, *plain), title=title, digits=3)
    kinds = ["pearson_within", "pearson_pooled", "spearman_within", "spearman_pooled"]
    print_table(result.overall.select("covariate", *kinds), title="Correlations within groups and pooled", digits=3)
    print_table(result.summary, title="By focal group", rows=20, digits=3)
    if result.comparison.height:
        print_table(
            result.comparison.drop("note"), title="Beside the paper's models (other items and countries)", digits=3
        )
    if result.clusters.height:
        print_table(result.clusters, title="Countries by alignment (k-means, 2 clusters)", digits=3)
    if result.dif.height:
        print_table(result.dif, title="Items that behave differently in a group (largest first)", rows=8, digits=2)
    for warning in result.warnings:
        print_note(warning, kind="warning")
