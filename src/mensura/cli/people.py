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
from mensura.intake.tables import NotedTable, read_noted, read_table

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
    from mensura.intake.persons import split_persons
    from mensura.people import Administration, HarmonisingRules, harmonise, read_points
    from mensura.people.tidy import check_items

    rare = read_settings(settings, ImportSettings)
    administration = Administration(rare.year, rare.language, rare.mode)
    rules = HarmonisingRules(rare.credit, split_names(absent), split_names(omitted), rare.min_answers, rare.pictures)
    how: dict[str, Any] = {name: getattr(rare, name) for name in ("part", "encoding", "header")}
    codes = [*rules.absent, *rules.omitted]
    raw = read_noted(file, codes=codes, unnamed=_UNNAMED, keep_missing=True, **how)
    raw = _named(raw, rename or [])
    raw = replace(raw, codes={**raw.codes, **_labels(label or [], split_names(covariates))})
    groups, who = split_crossings(by), split_names(person)
    kept = list(dict.fromkeys([*split_names(covariates), *(name for names in groups for name in names)]))
    for name in (name for name in kept if name not in raw.frame.columns and name not in split_names(covariates)):
        there = listed_names(raw.frame.columns)
        raise MensuraError(f"--by {name}: no such column; expected one of {there}. Correct the name.")
    kept += [weight] if weight and weight not in kept else []
    raw = raw if long is None else _widened(raw, long, who, kept)
    table, notes = _item_table(items, raw, [*who, *kept])
    if rare.domain is not None:
        table = check_items(table, name=items).with_columns(pl.col("domain").cast(pl.String).fill_null(rare.domain))
    columns = dict.fromkeys(raw.frame.columns)  # asked once: there may be many thousands
    named = [name for name in table["item"] if name in columns]
    taken = {*named, *who, *kept}
    unused = [name for name in columns if name not in taken]
    notes = [*raw.notes, *notes, *([f"columns not used: {listed_names(unused)}"] if unused else [])]
    answers, persons = split_persons(raw, named, who, kept)
    pool = harmonise(target.name, table, answers, persons, rules=rules, by=groups or None, weight=weight)
    pool = replace(pool, administration=administration)
    pool.write(target)
    notes += _about_points(read_points(answers, rules), points)
    facts = {"pool": str(target), "items": pool.items.height, "persons": answers.height, "notes": notes}
    tables = {"groups": pool.groups, "exclusions": pool.exclusions}
    emit(tables, **facts)
    show(tables, "people import", heading=pool.heading)
    print_notes(notes)
    show(tables, "people exclusions")
    console.print(say_import(str(target), pool.items.height, answers.height, pool.exclusions))


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


def _widened(raw: NotedTable, long: str, person: list[str], kept: list[str]) -> NotedTable:
    """Return a table of one row per answer as one of a row per person."""
    from mensura.intake.persons import widen_answers

    columns = split_names(long)
    if len(columns) != 2:
        raise MensuraError(f"--long {long}: expected two columns, the item's and the answer's, such as item,correct")
    return widen_answers(raw, columns[0], columns[1], person, kept)


def _named(raw: NotedTable, entries: list[str]) -> NotedTable:
    """Return a table with the column names that --rename gives."""
    pairs = {old.strip(): new.strip() for old, _, new in (entry.partition("=") for entry in entries)}
    for old, new in pairs.items():
        if not old or not new or old not in raw.frame.columns:
            there = listed_names(raw.frame.columns)
            raise MensuraError(f"--rename {old}={new}: expected OLD=NEW of a column that is there; there are {there}")
        if new in raw.frame.columns and new not in pairs:
            raise MensuraError(f"--rename {old}={new}: there is a column {new!r} already; choose another name")
    labels = {pairs.get(name, name): label for name, label in raw.labels.items()}
    codes = {pairs.get(name, name): meanings for name, meanings in raw.codes.items()}
    return replace(raw, frame=raw.frame.rename(pairs), labels=labels, codes=codes)


def _item_table(items: str, raw: NotedTable, used: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the item table, a CSV by its name, else one row per column that matches the pattern, and notes.

    A column that names or describes persons (``used``), or holds words, is no item.
    """
    from mensura.intake.persons import choose_columns

    if Path(items).is_file() or items.endswith(".csv"):
        return read_table(Path(items)), []
    matched = choose_columns(items, raw.frame.columns)
    words = [name for name in matched if name not in used and _holds_words(raw.frame[name])]
    others = {*used, *words}
    named = [name for name in matched if name not in others]
    if not named:
        why = f"{words[0]!r} holds {raw.frame[words[0]].drop_nulls().first()!r}" if words else "they describe persons"
        raise MensuraError(
            f"--items {items!r}: the {len(matched)} columns that match hold no points ({why}). "
            "Give a CSV of items with the columns item, answer and scoring (choice)"
        )
    no_items = [name for name in matched if name in others]
    notes = [f"columns that match --items but are no items: {listed_names(no_items)}"] if no_items else []
    rows = {"item": named, "label": [raw.labels.get(name) for name in named]}
    return pl.DataFrame(rows, strict=False), notes


def _holds_words(column: pl.Series) -> bool:
    """Return whether a column of text holds no number at all."""
    return column.dtype == pl.String and column.count() > 0 and column.cast(pl.Float64, strict=False).count() == 0


def _about_points(table: pl.DataFrame, to: Path | None) -> list[str]:
    """Write the points of items where that was asked for; say which items have partial credit."""
    from mensura.core.files import write_csv

    if to is not None:
        write_csv(table, to)
        return [f"wrote the points of {counted(table.width - 1, 'item')} to {to}"]
    partial = [name for name in table.columns[1:] if (table[name].max() or 0) > 1]  # type: ignore[operator]
    note = f"partial credit: {listed_names(partial)}. --points FILE keeps their points for responses fit --model graded"
    return [note] if partial else []
