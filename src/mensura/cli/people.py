"""``mensura people summary|rates|populations|strata``: item pools, rates of groups, populations and world tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mensura.cli.findings import say_pool, say_pools, say_populations, say_strata
from mensura.cli.options import Json, Out, arg, check_input, opt
from mensura.cli.output import console, emit, print_notes
from mensura.cli.people_import import split_crossings
from mensura.cli.settings import split_names
from mensura.cli.tables import print_filled, print_table
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

    from mensura.people import ItemPool


Folder = Annotated[Path, arg("Folder of an item pool in the tidy form.", callback=check_input)]
Names = Annotated[str, opt("Covariates, separated by commas; + crosses them: age_band,country+sex.")]


def summary(
    folder: Annotated[Path | None, arg("Folder of a pool; by default the shipped ones.", callback=check_input)] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show the items of a pool by domain, its groups and who was tested; or list the pools behind the calibrations."""
    import polars as pl

    from mensura.people import ItemPool, screen

    if folder is None:
        _list_pools(out, as_json)
        return
    pool = ItemPool.read(folder)
    whole = pool.rates_of("all").join(pool.items.select("item", "domain"), on="item", how="left")
    rate = pl.col("rate")
    median = pl.col("n").median().round().cast(pl.Int64)
    domains = whole.group_by("domain", maintain_order=True).agg(
        n_items=pl.len(), n=median, rate=rate.mean(), low=rate.min(), high=rate.max()
    )
    tables = {"domains": domains, "groups": pool.groups, "exclusions": screen(pool).exclusions}
    persons = None if pool.persons is None else pool.persons.height
    facts = {"pool": pool.name, "items": pool.items.height, "persons": persons}
    if emit(tables, out, as_json, **facts, **pool.administration.table().row(0, named=True)):
        return
    who = "published rates only" if persons is None else f"{persons:,} persons"
    given = f" ({pool.administration})" if pool.administration.known else ""
    print_table(domains, title=f"{pool.name}{given}: {pool.items.height} items, {who}; rates of the whole sample")
    print_table(pool.groups, title="Groups (n: median answers per item)", rows=40, digits=0)
    print_filled(tables["exclusions"], title="Items that a text-only study with 30 answers each would leave out")
    print_notes(pool.warnings)
    console.print(say_pool(pool.name, domains))


def _list_pools(out: Path | None, as_json: bool) -> None:
    from mensura.calibration import list_pools

    table = list_pools()
    if not emit({"pools": table}, out, as_json):
        print_table(table, title="Pools of the published calibration (its Table 1) and of the open one", keys=2)
        console.print(say_pools(table))


def rates(
    folder: Folder,
    by: Names = "",
    weight: Annotated[str | None, opt("Covariate that holds survey weights.")] = None,
    bands: Annotated[list[str] | None, opt("Bands of a number: age=18,25,50; repeatable.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Count success rates of the whole sample and of any groups from the persons' answers."""
    from dataclasses import replace

    from mensura.people import ItemPool, add_bands

    pool = ItemPool.read(folder)
    for entry in bands or []:
        if pool.persons is None:
            raise MensuraError(f"{folder}: --bands needs a table of persons; add persons.csv or omit --bands")
        covariate, _, edges = entry.partition("=")
        try:
            numbers = [int(edge) for edge in split_names(edges)]
        except ValueError as fault:
            raise MensuraError(f"--bands {entry}: expected NAME=EDGE,EDGE,… such as age=18,25,50") from fault
        pool = replace(pool, persons=add_bands(pool.persons, covariate, numbers))
    table = pool.tabulate(split_crossings(by), weight=weight)
    if not emit({"rates": table}, out, as_json):
        print_table(table, title=f"{pool.name}: success rates", rows=40, digits=3)
        console.print(_mean_rate(pool, table))


def populations(out: Out = None, as_json: Json = False) -> None:
    """List the populations known by name; any country is one too."""
    from mensura.people import World

    table = World.load().populations
    if not emit({"populations": table}, out, as_json):
        columns = ["population", "prose", "age_low", "age_high", "ability_mean", "ability_low", "ability_high"]
        title = "Populations (ability: 0 = 500 points of PISA, 1 = 100 points)"
        print_table(table.select(columns), title=title, spare=("ability_high", "ability_low"))
        console.print(say_populations(table))


def strata(
    folder: Annotated[Path, arg("Folder of country tables (see docs/extrapolation-world.md).", callback=check_input)],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Sum country tables of population, attainment and learning to world strata of your own."""
    from mensura.people import World
    from mensura.people.strata import build_world

    tables = build_world(folder, World.load().countries)
    if not emit(tables, out, as_json):
        title = "World strata (thousands of people; learning 0 = 500 points)"
        print_table(tables["strata"], title=title, rows=20, spare=("spread", "learning"))
        console.print(say_strata(tables["strata"], tables["countries"]))


def _mean_rate(pool: ItemPool, table: pl.DataFrame) -> str:
    """Say the mean rate of the whole sample, the hardest item and the easiest."""
    whole = table.filter(covariate="all").sort("rate")
    hardest, easiest = whole.row(0, named=True), whole.row(-1, named=True)
    mean = sum(whole["rate"]) / whole.height
    return (
        f"{pool.name}: {mean:.1%} right on average, from {hardest['rate']:.1%} ({hardest['item']}) to "
        f"{easiest['rate']:.1%} ({easiest['item']})."
    )
