"""``mensura people``: item pools, rates of groups, import of published files, populations and world tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.findings import say_import, say_pool, say_pools, say_populations, say_strata
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_input, check_output
from mensura.cli.people_files import (
    crossings_in,
    edges_in,
    item_table,
    labels_in,
    names_in,
    renamed,
    require_columns,
    widened,
)
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError, counted, listed_names

if TYPE_CHECKING:
    import polars as pl

    from mensura.people import ItemPool

app = typer.Typer(
    help="Item pools and populations: rates of any group, import of published files, world tables.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Folder = Annotated[Path, typer.Argument(help="Folder of an item pool in the tidy form.", callback=check_input)]
Names = Annotated[str, typer.Option(help="Covariates, separated by commas; + crosses them: age_band,country+sex.")]


@app.command(epilog="Example: mensura people summary pools/pisa2009")
def summary(folder: Folder, out: Out = None, as_json: Json = False) -> None:
    """Show what a pool holds: items by domain, groups, and who was tested."""
    import polars as pl

    from mensura.people import ItemPool, screen

    pool = ItemPool.read(folder)
    whole = pool.rates_of("all").join(pool.items.select("item", "domain"), on="item", how="left")
    domains = (
        whole.group_by("domain", maintain_order=True)
        .agg(
            n_items=pl.len(),
            n=pl.col("n").median().round().cast(pl.Int64),
            rate=pl.col("rate").mean(),
            low=pl.col("rate").min(),
        )
        .join(whole.group_by("domain").agg(high=pl.col("rate").max()), on="domain", nulls_equal=True)
    )
    tables = {"domains": domains, "groups": pool.groups, "exclusions": screen(pool).exclusions}
    persons = None if pool.persons is None else pool.persons.height
    facts = {
        "pool": pool.name,
        "items": pool.items.height,
        "persons": persons,
        **pool.administration.table().row(0, named=True),
    }
    if emit(tables, out=out, as_json=as_json, **facts):
        return
    counted = "published rates only" if persons is None else f"{persons:,} persons"
    given = f" ({pool.administration})" if pool.administration.known else ""
    print_table(domains, title=f"{pool.name}{given}: {pool.items.height} items, {counted}; rates of the whole sample")
    print_table(pool.groups, title="Groups (n: median answers per item)", rows=40, digits=0)
    if tables["exclusions"].height:
        print_table(tables["exclusions"], title="Items that a text-only study with 30 answers each would leave out")
    for warning in pool.warnings:
        print_note(warning)
    console.print(say_pool(pool.name, domains))


@app.command(epilog="Example: mensura people rates pools/viqt --by age_band,sex+education --out rates")
def rates(
    folder: Folder,
    by: Names = "",
    weight: Annotated[str | None, typer.Option(help="Covariate that holds survey weights.")] = None,
    bands: Annotated[list[str] | None, typer.Option(help="Bands of a number: age=18,25,50; repeatable.")] = None,
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
        covariate, edges = edges_in(entry)
        pool = replace(pool, persons=add_bands(pool.persons, covariate, edges))
    table = pool.tabulate(crossings_in(by), weight=weight)
    if not emit({"rates": table}, out=out, as_json=as_json):
        print_table(table, title=f"{pool.name}: success rates", rows=40, digits=3)
        console.print(_mean_rate(pool, table))


@app.command(
    "import",
    epilog="Example: mensura people import COG09.txt --layout COG09.sps --items '^[MRS][0-9]' --person "
    "CNT,SCHOOLID,STIDSTD --covariates CNT --absent 7,8 --out pools/pisa2009",
)
def import_(
    file: Annotated[
        Path, typer.Argument(help="CSV, Parquet, SPSS, R, or fixed-width text with --layout.", callback=check_input)
    ],
    out: Annotated[Path, typer.Option(help="Folder to write the pool into.", callback=check_output)],
    items: Annotated[
        str,
        typer.Option(
            help="Item columns: a wildcard ('q*'), names (q1,q2), a regular expression ('^q[0-9]$') or a CSV of items."
        ),
    ],
    long: Annotated[
        str | None,
        typer.Option("--long", help="One row per answer: its columns of item and answer, such as item,correct."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Names for codes of a covariate: sex=1:female,2:male; SPSS brings its own. Repeatable."),
    ] = None,
    layout: Annotated[
        Path | None, typer.Option(help="Control file of fixed-width text (SPSS or SAS).", callback=check_input)
    ] = None,
    object_name: Annotated[str | None, typer.Option("--object", help="Object in an R file.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of text files; found by itself if not given.")] = None,
    header: Annotated[
        bool, typer.Option("--header/--no-header", help="Whether a CSV names its columns; else V1, V2, ….")
    ] = True,
    rename: Annotated[
        list[str] | None, typer.Option(help="New name of a column, before all else: CNT=country. Repeatable.")
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Domain of items that have none, such as mathematics or reading.")
    ] = None,
    person: Annotated[str, typer.Option(help="Columns that identify a person, separated by commas.")] = "",
    covariates: Annotated[str, typer.Option(help="Columns to keep as covariates, besides those of --by.")] = "",
    by: Names = "",
    weight: Annotated[str | None, typer.Option(help="Covariate that holds survey weights.")] = None,
    absent: Annotated[str, typer.Option(help="Codes of questions not given or not reached: no answer.")] = "",
    omitted: Annotated[str, typer.Option(help="Codes of questions left out or spoilt: wrong.")] = "",
    credit: Annotated[str, typer.Option(help="Partial credit is right when full, half or any.")] = "full",
    points: Annotated[
        Path | None,
        typer.Option(
            help="Also write the points of all items into this CSV, for mensura responses fit --model graded.",
            metavar="CSV",
            callback=check_output,
        ),
    ] = None,
    min_answers: Annotated[int, typer.Option(help="Fewer answers make an item thin; it goes.")] = 30,
    pictures: Annotated[bool, typer.Option("--pictures", help="Keep items that need a picture.")] = False,
    year: Annotated[int | None, typer.Option(help="Year of the test.")] = None,
    language: Annotated[str | None, typer.Option(help="Language of the test.")] = None,
    mode: Annotated[str | None, typer.Option(help="How it was given: paper, computer, web, interview, mixed.")] = None,
    as_json: Json = False,
) -> None:
    """Turn a published file into a pool: scored 0/1, exclusions logged, rates of groups."""
    from dataclasses import replace

    import polars as pl

    from mensura.intake.persons import split_persons
    from mensura.intake.tables import read_noted
    from mensura.people import Administration, HarmonisingRules, harmonise, read_points
    from mensura.people.tidy import check_items

    administration = Administration(year, language, mode)
    codes = [*names_in(absent), *names_in(omitted)]
    raw = read_noted(
        file,
        layout=layout,
        part=object_name,
        encoding=encoding,
        header=header,
        codes=codes,
        unnamed="Say --no-header: columns are then V1, V2, … (--items 'V*')",
        keep_missing=True,
    )
    raw = renamed(raw, rename or [])
    raw = replace(raw, codes={**raw.codes, **labels_in(label or [], names_in(covariates))})
    grouped = [name for names in crossings_in(by) for name in names]
    require_columns("--by", [name for name in grouped if name not in names_in(covariates)], raw)
    kept = list(dict.fromkeys([*names_in(covariates), *grouped, *([weight] if weight else [])]))
    if long is not None:
        raw = widened(raw, long, names_in(person), kept)
    used = [*names_in(person), *kept]
    table, notes = item_table(items, raw, used)
    if domain is not None:
        table = check_items(table, name=items).with_columns(pl.col("domain").cast(pl.String).fill_null(domain))
    columns = dict.fromkeys(raw.frame.columns)  # asked once: there may be many thousands
    named = [name for name in table["item"] if name in columns]
    taken = {*named, *used}
    unused = [name for name in columns if name not in taken]
    notes = [*raw.notes, *notes, *([f"columns not used: {listed_names(unused)}"] if unused else [])]
    answers, persons = split_persons(raw, named, names_in(person), kept)
    rules = HarmonisingRules(credit, names_in(absent), names_in(omitted), min_answers, pictures)
    groups = crossings_in(by) if by else None
    pool = harmonise(out.name, table, answers, persons, rules=rules, by=groups, weight=weight)
    pool = replace(pool, administration=administration)
    pool.write(out)
    notes += _about_points(read_points(answers, rules), points)
    facts = {"pool": str(out), "items": pool.items.height, "persons": answers.height, "notes": notes}
    if not emit({"groups": pool.groups, "exclusions": pool.exclusions}, out=None, as_json=as_json, **facts):
        print_table(pool.groups, title=f"{pool.heading}; n: median answers per item", rows=40, digits=0)
        for note in notes:
            print_note(note)
        if pool.exclusions.height:
            print_table(pool.exclusions, title="Left out", rows=20)
        console.print(say_import(str(out), pool.items.height, answers.height, pool.exclusions))


@app.command(epilog="Example: mensura people populations")
def populations(out: Out = None, as_json: Json = False) -> None:
    """List the populations known by name; any country is one too."""
    from mensura.people import World

    table = World.load().populations
    if not emit({"populations": table}, out=out, as_json=as_json):
        columns = ["population", "prose", "age_low", "age_high", "ability_mean", "ability_low", "ability_high"]
        title = "Populations (ability: 0 = 500 points of PISA, 1 = 100 points)"
        print_table(table.select(columns), title=title, spare=("ability_high", "ability_low"))
        console.print(say_populations(table))


@app.command(epilog="Example: mensura people pools")
def pools(out: Out = None, as_json: Json = False) -> None:
    """List the pools behind the calibrations: test, coverage and subset used."""
    from mensura.calibration import list_pools

    table = list_pools()
    if not emit({"pools": table}, out=out, as_json=as_json):
        print_table(table, title="Pools of the published calibration (its Table 1) and of the open one", keys=2)
        console.print(say_pools(table))


@app.command(epilog="Example: mensura people strata raw_tables --out my_world_tables")
def strata(
    folder: Annotated[
        Path, typer.Argument(help="Folder of country tables (see docs/extrapolation-world.md).", callback=check_input)
    ],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Sum country tables of population, attainment and learning to world strata of your own."""
    from mensura.people import World
    from mensura.people.strata import build_world

    tables = build_world(folder, World.load().countries)
    if not emit(tables, out=out, as_json=as_json):
        print_table(
            tables["strata"],
            title="World strata (thousands of people; learning 0 = 500 points)",
            rows=20,
            spare=("spread", "learning"),
        )
        console.print(say_strata(tables["strata"], tables["countries"]))


def _about_points(found: pl.DataFrame, to: Path | None) -> list[str]:
    """Write the points of items where that was asked for; say which items have partial credit."""
    from mensura.core.files import write_csv

    if to is not None:
        write_csv(found, to)
        return [f"wrote the points of {counted(found.width - 1, 'item')} to {to}"]
    partial = [name for name in found.columns[1:] if (found[name].max() or 0) > 1]  # type: ignore[operator]
    told = f"partial credit: {listed_names(partial)}. --points FILE keeps their points for responses fit --model graded"
    return [told] if partial else []


def _mean_rate(pool: ItemPool, table: pl.DataFrame) -> str:
    """Say the mean rate of the whole sample, the hardest item and the easiest."""
    whole = table.filter(covariate="all").sort("rate")
    hardest, easiest = whole.row(0, named=True), whole.row(-1, named=True)
    mean = sum(whole["rate"]) / whole.height
    return (
        f"{pool.name}: {mean:.1%} right on average, from {hardest['rate']:.1%} ({hardest['item']}) to "
        f"{easiest['rate']:.1%} ({easiest['item']})."
    )
