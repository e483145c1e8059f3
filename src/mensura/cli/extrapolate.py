"""``mensura extrapolate``: what another population would score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.asking import Asking, BaseUrl, DryRun, MaxCost, Models
from mensura.cli.estimating import MethodSettings, choose_estimating, pool_models, read_pool, stack_models
from mensura.cli.options import Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, notices, print_note
from mensura.cli.paths import check_input
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

    from mensura.extrapolation import Extrapolation
    from mensura.people import ItemPool, Population, World

EXAMPLES = """
[bold]Examples[/]

  mensura extrapolate --rate 0.19 --from pisa --to world --domain mathematics
  mensura extrapolate --rate 0.62 --n 500 --options 4 --from DEU --ages 15-15 --pupils --domain reading
  mensura extrapolate --rate 0.55 --from USA --ages 18-120 --to IND --to-ages 18-120 --domain knowledge
  mensura extrapolate pools/pisa2009 --group country=JPN --to world --out rates
  mensura extrapolate pools/mine --from icar --by age --tables my_world_tables
  mensura extrapolate pools/mine --from DEU --to FRA --method linked --links known_rates.csv
  mensura extrapolate example --model recorded/example-rates --out rates           a language model, offline
  mensura extrapolate pools/mine --model openai/NAME --method item-by-item --set width=0.05 --set budget=9
"""


@dataclass(frozen=True, kw_only=True)
class ExtrapolateSettings(MethodSettings):
    """The rarer settings of ``mensura extrapolate``."""

    seed: Annotated[int | None, "Seed of the draws (poststratification)."] = None


EXAMPLES += list_settings(ExtrapolateSettings)


def extrapolate(
    pool: Annotated[Path | None, typer.Argument(help="Folder of an item pool in the tidy form, or 'example'.")] = None,
    rate: Annotated[float | None, typer.Option(help="Instead of a pool: one item's success rate.")] = None,
    n: Annotated[int | None, typer.Option(help="How many people answered it, for its sampling error.")] = None,
    options: Annotated[int | None, typer.Option(help="Its number of answer options (none: open).")] = None,
    domain: Annotated[str | None, typer.Option(help="Domain, such as mathematics, reading, reasoning.")] = None,
    focal: Annotated[str | None, typer.Option("--from", help="Population observed: a name or a country.")] = None,
    reference: Annotated[str, typer.Option("--to", help="Population wanted: a name or a country.")] = "world",
    ages: Annotated[str | None, typer.Option(help="Ages of the population observed, such as 15-16.")] = None,
    pupils: Annotated[bool, typer.Option("--pupils", help="Those observed are all at school.")] = False,
    to_ages: Annotated[str | None, typer.Option(help="Ages of the population wanted, such as 15-120.")] = None,
    to_pupils: Annotated[bool, typer.Option("--to-pupils", help="Those wanted are all at school.")] = False,
    group: Annotated[str, typer.Option(help="Group of the pool, such as country=JPN.")] = "all",
    method: Annotated[
        str | None,
        typer.Option(help="Method by name, such as linked; poststratification when left out, whole-pool with --model."),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(help="CSV of items with known reference rates: item, rate, n (linked).", callback=check_input),
    ] = None,
    by: Annotated[str, typer.Option(help="Break down by region, subregion, age, attainment, country.")] = "region",
    draws: Annotated[
        int | None, typer.Option(help="Draws of the assumptions (poststratification; 1000 when left out).")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Folder with world tables of your own.", callback=check_input)
    ] = None,
    model: Models = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Carry success rates to another population, with intervals and what they depend on."""
    from mensura.extrapolation import PostStratification, extrapolate as carry, make_method
    from mensura.people import World

    rare = read_settings(settings, ExtrapolateSettings)
    world = World.load(tables)
    items, told = _pool(pool, rate, n, options, domain)
    if rate is not None and focal is None:
        raise MensuraError("extrapolate: --rate needs --from, the population it was observed in (for example pisa)")
    observed = None if focal is None else _narrowed(world.population(focal), ages, pupils)
    statistical = {"draws": draws, "seed": rare.seed}
    estimating = choose_estimating(method, Asking(model, base_url, max_cost, dry_run, rare), out, rare, statistical)
    wanted = _narrowed(world.population(reference), to_ages, to_pupils)
    run = partial(carry, items, to=wanted, group=group, focal=observed, links=links, world=world, description=told)
    if estimating:
        if dry_run:
            for one in estimating:
                one.print_estimate(lambda chosen: run(method=chosen))
            return
        results = {}
        for one in estimating:
            with one.open("estimating") as asked:
                results[one.asking.name] = run(method=asked)
        _emit_models(results, by, out=out, as_json=as_json)
        return
    method = method or "poststratification"
    if method == "poststratification":
        domain = _settled_domain(items, domain, world, pool is not None)
    given: dict[str, object] = {**statistical, "domain": None if pool is None else domain}
    given = {name: value for name, value in given.items() if value is not None}
    if method == "poststratification":
        given["world"] = world
    chosen = make_method(method, **given)
    result = run(method=chosen)
    extra: dict[str, pl.DataFrame] = {}
    if isinstance(chosen, PostStratification):
        extra = {"breakdown": chosen.breakdown(result.task, by=by), "drivers": chosen.drivers(result.task)}
    _emit(result, extra, by, out=out, as_json=as_json)


def _emit_models(results: dict[str, Extrapolation], by: str, *, out: Path | None, as_json: bool) -> None:
    """Emit the rates of one model, or those of several below each other with their mean."""
    for result in results.values():
        if not result.table["rate"].count():
            raise MensuraError(f"extrapolate: {result.warnings[0]}")
    first = next(iter(results.values()))
    if len(results) == 1:
        _emit(first, {}, by, out=out, as_json=as_json)
        return
    parts = stack_models({model: result.tables() for model, result in results.items()})
    parts["pooled"] = pool_models(parts["rates"])
    told = list(dict.fromkeys(text for result in results.values() for text in result.warnings))
    facts = {"method": first.method, "from": first.focal.name, "to": first.reference.name, "level": first.level}
    if emit(parts, out=out, as_json=as_json, **facts, models=list(results), warnings=told):
        return
    for warning in told:
        print_note(warning)
    title = f"{first.focal.name} → {first.reference.name}, mean of {len(results)} models on the logit scale"
    print_table(parts["pooled"], title=title, rows=30, digits=4)
    print_table(parts["rates"].drop("method"), title="Each model", rows=30, digits=4)
    print_trust("extrapolate")


def _emit(result: Extrapolation, extra: dict[str, pl.DataFrame], by: str, *, out: Path | None, as_json: bool) -> None:
    """Write and print the rates, the distance to the world where that is who is wanted, and the tables of a method."""
    import polars as pl

    from mensura.extrapolation import measure_distance

    parts = {**result.tables(), **extra}
    if result.reference.name == "world" and result.table["rate"].count():
        observed = pl.DataFrame({"item": result.task.names, "rate": result.task.rate})
        parts["distance"] = measure_distance(observed, {result.method: result})
    facts = {"method": result.method, "from": result.focal.name, "to": result.reference.name, "level": result.level}
    if not emit(parts, out=out, as_json=as_json, **facts, warnings=list(result.warnings)):
        _print(result, parts, by)


def _pool(
    folder: Path | None, rate: float | None, n: int | None, options: int | None, domain: str | None
) -> tuple[ItemPool, str]:
    """Return the pool and what its folder says of it, or a pool of a single item made of the options."""
    import polars as pl

    from mensura.people import ItemPool

    if (folder is None) == (rate is None):
        raise MensuraError("extrapolate: give the folder of a pool, or --rate, and not both")
    if folder is not None:
        return read_pool(folder)
    items = pl.DataFrame({"item": ["item"], "domain": [domain], "n_options": [options]}, strict=False)
    row = {"item": "item", "covariate": "all", "group": "all", "n": n, "correct": None, "rate": rate, "se": None}
    types = {"n": pl.Int64, "correct": pl.Int64, "rate": pl.Float64, "se": pl.Float64}
    return ItemPool("item", items, pl.DataFrame([row], schema_overrides=types)), ""


def _settled_domain(pool: ItemPool, domain: str | None, world: World, needed: bool) -> str | None:
    """Return the domain that counts for all items, or None where each has its own; refuse a domain nobody stated.

    Items without a domain take the one that all other items of the pool have. ``needed``: refuse a pool without one.
    """
    import polars as pl

    known = ", ".join(world.domains["word"])
    if domain is not None:
        if world.domain(domain) is None:
            raise MensuraError(f"--domain {domain}: not known; expected a word among {known}")
        return domain
    words = pool.items["domain"].cast(pl.String)
    silent = sum(world.domain(word) is None for word in words)
    stated = {word: world.domain(word) for word in words.drop_nulls().unique(maintain_order=True)}
    domains = {found: word for word, found in reversed(stated.items()) if found is not None}
    if not silent or not needed:
        return None
    if len(domains) == 1:
        word = next(iter(domains.values()))
        notices.print(f"domain of {silent} items without one: {word}, as that of all others")
        return str(word)
    raise MensuraError(
        f"extrapolate: {silent} of {words.len()} items of pool {pool.name!r} have no domain that is known. "
        f"Say --domain with a word among {known}, or fill in the column domain of items.csv"
    )


def _narrowed(population: Population, ages: str | None, pupils: bool) -> Population:
    from mensura.people import parse_ages

    changes: dict[str, object] = {"ages": parse_ages(ages)} if ages else {}
    if pupils:
        changes["in_school"] = True
    return population.with_(**changes) if changes else population


def _print(result: Extrapolation, parts: dict[str, pl.DataFrame], by: str) -> None:
    import numpy as np

    from mensura.scale import Position, say_rarity

    for word, who in (("Observed", result.focal), ("Wanted", result.reference)):
        ages = "–".join(map(str, dict.fromkeys(who.ages)))
        console.print(f"{word}: {who.name}, ages {ages}{', at school' if who.in_school else ''}")
    for warning in result.warnings:
        print_note(warning)
    title = f"{result.focal.name} → {result.reference.name}, {result.level:.0%} intervals"
    print_table(result.table.drop("method"), title=title, rows=30, digits=4)
    if "distance" in parts and result.table.height > 1:
        title = "Distance to the world: estimate against observed rate. No error: nobody knows the world's rates"
        print_table(parts["distance"], title=title, digits=4, spare=("spearman",))
    if "breakdown" in parts:
        print_table(parts["breakdown"], title=f"Mean rate by {by}", digits=4)
    if "drivers" in parts and parts["drivers"].height:
        print_table(parts["drivers"], title="What moves the mean rate from one population to the other", digits=4)
    if result.sensitivity.height:
        print_table(result.sensitivity.drop("value"), title="What the rates depend on", rows=8, digits=4)
    if result.table.height > 1:
        console.print(
            f"{result.reference.name}: {np.mean(result.table['rate'].to_numpy()):.1%} right on average over "
            f"{result.table.height} items; {result.focal.name}: {np.mean(result.task.rate):.1%}."
        )
    else:
        rate, low, high = result.table.select("rate", "low", "high").row(0)
        told = f"{result.reference.name}: {rate:.1%} ({low:.1%} to {high:.1%})"
        if result.reference.name == "world":
            place, tested = Position(rate, low, high), float(result.task.n[0])
            told += f": {say_rarity(rate, tested if np.isfinite(tested) else None)}"
            told += f", an IQ-equivalent of {place.iq.value:.0f} ({place.iq.low:.0f} to {place.iq.high:.0f})"
        console.print(f"{told}.")
    print_trust("extrapolate")
