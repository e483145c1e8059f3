"""``mensura people``: item pools, files that become pools, rates of groups, populations and world tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from mensura.cli.findings import say_import, say_pool, say_pools, say_populations
from mensura.cli.options import Json, Out, inarg, opt, outfile
from mensura.cli.output import console, emit, print_notes
from mensura.cli.settings import Settings, read_settings, split_names, takes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError, counted, listed_names
from mensura.core.frames import sort_highest
from mensura.intake.tables import read_noted

if TYPE_CHECKING:
    from mensura.people import ItemPool


Folder = Annotated[Path, inarg("Folder of an item pool in the tidy form.")]
Names = Annotated[str, opt("Covariates, separated by commas; + crosses them: age_band,country+sex.")]


def summary(
    folder: Annotated[Path | None, inarg("Folder of a pool.")] = None, out: Out = None, as_json: Json = False
) -> None:
    """Show the items of a pool by domain, its groups and who was tested.

    Without a folder: the populations known by name, and the pools behind the calibrations.
    """
    from mensura.people import ItemPool, screen

    if folder is None:
        _list_known()
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
    emit(tables, **facts, **pool.administration.table().row(0, named=True))
    who = "published rates only" if persons is None else f"{persons:,} persons"
    given = f" ({pool.administration})" if pool.administration.known else ""
    show(tables, "people summary", pool=f"{pool.name}{given}", items=pool.items.height, who=who)
    print_notes(pool.warnings)
    console.print(say_pool(pool.name, domains))


def _list_known() -> None:
    """List the populations that have a name, and the pools behind the calibrations."""
    from mensura.calibration import list_pools
    from mensura.people import World

    tables = {"populations": World.load().populations, "pools": list_pools()}
    emit(tables)
    show(tables, "people populations")
    console.print(say_populations(tables["populations"]))
    show(tables, "people pools")
    console.print(say_pools(tables["pools"]))


def rates(
    folder: Folder,
    by: Names = "",
    weight: Annotated[str | None, opt("Covariate that holds survey weights.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Count success rates of the whole sample and of any groups from the persons' answers."""
    from mensura.people import ItemPool

    pool = ItemPool.read(folder)
    table = pool.tabulate(split_crossings(by), weight=weight)
    emit({"rates": table})
    show({"rates": table}, "people rates", pool=pool.name)
    console.print(_mean_rate(pool, table))


def _mean_rate(pool: ItemPool, table: pl.DataFrame) -> str:
    """Say the mean rate of the whole sample, the hardest item and the easiest."""
    whole = sort_highest(table.filter(covariate="all"), -pl.col("rate"), "item")
    hardest, easiest = whole.row(0, named=True), whole.row(-1, named=True)
    mean = sum(whole["rate"]) / whole.height
    return (
        f"{pool.name}: {mean:.1%} right on average, from {hardest['rate']:.1%} ({hardest['item']}) to "
        f"{easiest['rate']:.1%} ({easiest['item']})."
    )


_UNNAMED = "Say --set header=false: columns are then V1, V2, … (--items 'V*')"


@dataclass(frozen=True, kw_only=True)
class ImportSettings:
    """The rarer settings of ``mensura people import``."""

    header: Annotated[bool, "Whether a CSV names its columns; else they are V1, V2, …."] = True
    encoding: Annotated[str | None, "Encoding of text files; detected when left out."] = None
    part: Annotated[str | None, "Object in an R file."] = None
    domain: Annotated[str | None, "Domain of items that have none, such as mathematics or reading."] = None
    credit: Annotated[str, "Partial credit is right when full, half or any."] = "full"
    min_answers: Annotated[int, "Exclude items with fewer answers than this."] = 30
    pictures: Annotated[bool, "Keep items that need a picture."] = False
    year: Annotated[int | None, "Year of the test."] = None
    language: Annotated[str | None, "Language of the test."] = None
    mode: Annotated[str | None, "How it was given: paper, computer, web, interview, mixed."] = None


@takes(ImportSettings)
def import_(
    file: Annotated[Path, inarg("CSV, Parquet, SPSS, Stata, SAS, R and others.")],
    target: Annotated[Path, outfile("Folder to write the pool into.", "--out")],
    items: Annotated[str, opt("Item columns: a wildcard ('q*'), names (q1,q2), a regular expression, or a CSV.")],
    person: Annotated[str, opt("Columns that identify a person, separated by commas.")] = "",
    covariates: Annotated[str, opt("Columns to keep as covariates, besides those of --by.")] = "",
    by: Names = "",
    weight: Annotated[str | None, opt("Covariate that holds survey weights.")] = None,
    absent: Annotated[str, opt("Codes of questions not given or not reached; they do not count.")] = "",
    omitted: Annotated[str, opt("Codes of omitted or invalid answers; they count as wrong.")] = "",
    long: Annotated[str | None, opt("One row per answer: its columns, such as item,correct.", "--long")] = None,
    label: Annotated[list[str] | None, opt("Names for codes: sex=1:female,2:male; repeatable.")] = None,
    rename: Annotated[list[str] | None, opt("New name of a column, before all else: CNT=country; repeatable.")] = None,
    points: Annotated[Path | None, outfile("Also write the points of all items as CSV, for graded models.")] = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Turn a published file into a pool: scored 0/1, exclusions logged, rates of groups."""
    from mensura.people import Administration, HarmonisingRules, read_points
    from mensura.people.importing import Columns, import_pool, rename_columns

    rare = read_settings(settings, ImportSettings)
    administration = Administration(rare.year, rare.language, rare.mode)
    rules = HarmonisingRules(rare.credit, split_names(absent), split_names(omitted), rare.min_answers, rare.pictures)
    how: dict[str, Any] = {name: getattr(rare, name) for name in ("part", "encoding", "header")}
    raw = read_noted(file, codes=[*rules.absent, *rules.omitted], unnamed=_UNNAMED, keep_missing=True, **how)
    halves = (entry.partition("=") for entry in rename or ())
    raw = rename_columns(raw, {old.strip(): new.strip() for old, _, new in halves})
    raw = replace(raw, codes={**raw.codes, **_labels(label or [], split_names(covariates))})
    pair = split_names(long or "")
    if long is not None and len(pair) != 2:
        raise MensuraError(f"--long {long}: expected two columns, the item's and the answer's, such as item,correct")
    columns = Columns(
        items=items,
        person=split_names(person),
        covariates=split_names(covariates),
        by=split_crossings(by),
        weight=weight,
        long=pair,
    )
    made = import_pool(target.name, raw, columns, rules=rules, administration=administration, domain=rare.domain)
    pool, persons = made.pool, made.answers.height
    pool.write(target)
    notes = [*made.notes, *_about_points(read_points(made.answers, rules), points)]
    facts = {"pool": str(target), "items": pool.items.height, "persons": persons, "notes": notes}
    tables = {"groups": pool.groups, "exclusions": pool.exclusions}
    emit(tables, **facts)
    show(tables, "people import", heading=pool.heading)
    print_notes(notes)
    show(tables, "people exclusions")
    console.print(say_import(str(target), pool.items.height, persons, pool.exclusions))


def split_crossings(text: str) -> list[tuple[str, ...]]:
    """Return groups of covariates: commas separate them, + crosses them."""
    return [tuple(name.split("+")) for name in split_names(text)]


def _labels(entries: list[str], covariates: list[str]) -> dict[str, dict[str, str]]:
    """Return what the codes of each covariate mean, as --label says."""
    meanings = {}
    for entry in entries:
        covariate, _, pairs = entry.partition("=")
        codes = [pair.partition(":") for pair in split_names(pairs)]
        if covariate not in covariates or not codes or not all(code and name for code, _, name in codes):
            raise MensuraError(
                f"--label {entry}: expected COVARIATE=CODE:NAME,CODE:NAME such as sex=1:female,2:male, "
                f"of a covariate that is kept ({', '.join(covariates) or 'none: see --covariates'})"
            )
        meanings[covariate] = {code: name for code, _, name in codes}
    return meanings


def _about_points(table: pl.DataFrame, to: Path | None) -> list[str]:
    """Write the points of items where that was asked for; say which items have partial credit."""
    from mensura.core.files import write_csv

    if to is not None:
        write_csv(table, to)
        return [f"wrote the points of {counted(table.width - 1, 'item')} to {to}"]
    partial = [name for name in table.columns[1:] if (table[name].cast(pl.Float64) > 1).any()]
    note = f"partial credit: {listed_names(partial)}. --points FILE keeps their points for responses fit --model graded"
    return [note] if partial else []
