"""``mensura extrapolate`` and ``validate``: what another population would score, and how well that is predicted."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from mensura import extrapolation, people
from mensura.cli.asking import Asking, DryRun, MaxCost, Models
from mensura.cli.estimating import MethodSettings, choose_estimating, pool_models, read_pool, stack_models
from mensura.cli.findings import print_trust
from mensura.cli.options import Json, Out, arg, check_input, infile, opt
from mensura.cli.output import console, emit, notices, print_notes, progress_bar
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError


@dataclass(frozen=True, kw_only=True)
class ExtrapolateSettings(MethodSettings):
    """The rarer settings of ``mensura extrapolate``."""

    tables: Annotated[Path | None, "Folder with world tables of your own."] = None
    options: Annotated[int | None, "Answer options of the item of --rate (none: open)."] = None
    draws: Annotated[int | None, "Draws of the assumptions (poststratification; 1000 when left out)."] = None
    seed: Annotated[int | None, "Seed of the draws (poststratification)."] = None


@takes(ExtrapolateSettings)
def extrapolate(
    pool: Annotated[Path | None, arg("Folder of an item pool in the tidy form, or 'example'.")] = None,
    rate: Annotated[float | None, opt("Instead of a pool: one item's success rate.")] = None,
    n: Annotated[int | None, opt("How many people answered it, for its sampling error.")] = None,
    domain: Annotated[str | None, opt("Domain, such as mathematics, reading, reasoning.")] = None,
    focal: Annotated[str | None, opt("Population observed, such as pisa or 'DEU, 15-16, pupils'.", "--from")] = None,
    reference: Annotated[str, opt("Population wanted, written like that of --from.", "--to")] = "world",
    group: Annotated[str, opt("Group of the pool, such as country=JPN.")] = "all",
    method: Annotated[str | None, opt("Method, such as linked (default: poststratification).")] = None,
    links: Annotated[Path | None, infile("CSV of items with known reference rates: item, rate, n (linked).")] = None,
    by: Annotated[str, opt("Break down by region, subregion, age, attainment, country.")] = "region",
    model: Models = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Carry success rates to another population, with intervals and what they depend on."""
    from mensura.extrapolation.methods import single_item

    rare = read_settings(settings, ExtrapolateSettings)
    check_input(rare.tables)
    world = people.World.load(rare.tables)
    if (pool is None) == (rate is None):
        raise MensuraError("extrapolate: give the folder of a pool, or --rate, and not both")
    items, description = (single_item(rate, n, rare.options, domain), "") if pool is None else read_pool(pool)
    if rate is not None and focal is None:
        raise MensuraError("extrapolate: --rate needs --from, the population it was observed in (for example pisa)")
    observed = None if focal is None else _population(world, focal)
    statistical = {"draws": rare.draws, "seed": rare.seed}
    estimating = choose_estimating(method, Asking(model, max_cost, dry_run, rare), out, rare, statistical)
    target: dict[str, Any] = {"to": _population(world, reference), "group": group, "focal": observed}
    run = partial(extrapolation.extrapolate, items, **target, links=links, world=world, description=description)
    if estimating:
        if dry_run:
            for one in estimating:
                one.print_estimate(lambda chosen: run(method=chosen))
            return
        results = {}
        for one in estimating:
            with one.open("estimating") as asked:
                results[one.asking.name] = run(method=asked)
        _emit_models(results, by)
        return
    method = method or "poststratification"
    is_default = method == "poststratification"
    if is_default:
        domain = _settled_domain(items, domain, world, pool is not None)
    given = {**statistical, "domain": None if pool is None else domain, "world": world if is_default else None}
    chosen = extrapolation.make_method(method, **{name: value for name, value in given.items() if value is not None})
    result = run(method=chosen)
    extra: dict[str, pl.DataFrame] = {}
    if isinstance(chosen, extrapolation.PostStratification):
        extra = {"breakdown": chosen.breakdown(result.task, by=by), "drivers": chosen.drivers(result.task)}
    _emit(result, extra, by)


def _emit_models(results: dict[str, extrapolation.Extrapolation], by: str) -> None:
    """Emit the rates of one model, or those of several below each other with their mean."""
    for result in results.values():
        if not result.table["rate"].count():
            raise MensuraError(
                f"extrapolate: no rate could be estimated; {result.warnings[0]}. Give other items or options"
            )
    first = next(iter(results.values()))
    if len(results) == 1:
        _emit(first, {}, by)
        return
    parts = stack_models({model: result.tables() for model, result in results.items()})
    parts["pooled"] = pool_models(parts["rates"])
    warnings = list(dict.fromkeys(text for result in results.values() for text in result.warnings))
    facts = {"method": first.method, "from": first.focal.name, "to": first.reference.name, "level": first.level}
    emit(parts, **facts, models=list(results), warnings=warnings)
    print_notes(warnings)
    words = {"focal": first.focal.name, "reference": first.reference.name, "models": len(results)}
    show(parts, "extrapolate models", **words)
    print_trust("extrapolate")


def _emit(result: extrapolation.Extrapolation, extra: dict[str, pl.DataFrame], by: str) -> None:
    """Write and print the rates, the distance to the world where that is who is wanted, and the tables of a method."""
    parts = {**result.tables(), **extra}
    if result.reference.name == "world" and result.table["rate"].count():
        observed = pl.DataFrame({"item": result.task.names, "rate": result.task.rate})
        parts["distance"] = extrapolation.measure_distance(observed, {result.method: result})
    facts = {"method": result.method, "from": result.focal.name, "to": result.reference.name, "level": result.level}
    emit(parts, **facts, warnings=list(result.warnings))
    _print(result, parts, by)


def _settled_domain(pool: people.ItemPool, domain: str | None, world: people.World, needed: bool) -> str | None:
    """Return the domain that counts for all items, or None where each has its own; refuse a domain nobody stated.

    Items without a domain take the one that all other items of the pool have. ``needed``: refuse a pool without one.
    """
    words_known = ", ".join(world.domains["word"])
    if domain is not None:
        if world.domain(domain) is None:
            raise MensuraError(f"--domain {domain}: not known; expected a word among {words_known}")
        return domain
    words = pool.items["domain"].cast(pl.String)
    silent = sum(world.domain(word) is None for word in words)
    stated = {word: world.domain(word) for word in words.drop_nulls().unique(maintain_order=True)}
    domains = {domain: word for word, domain in reversed(stated.items()) if domain is not None}
    if not silent or not needed:
        return None
    if len(domains) == 1:
        word = next(iter(domains.values()))
        notices.print(f"domain of {silent} items without one: {word}, as that of all others")
        return str(word)
    raise MensuraError(
        f"extrapolate: {silent} of {words.len()} items of pool {pool.name!r} have no domain that is known. "
        f"Say --domain with a word among {words_known}, or fill in the column domain of items.csv"
    )


def _population(world: people.World, text: str) -> people.Population:
    """Return a population by its name or country, narrowed by the ages and the word pupils behind its name."""
    changes: dict[str, object] = {}
    while match := re.search(r",\s*(pupils|\d[^,]*)$", text):
        changes |= {"in_school": True} if match[1] == "pupils" else {"ages": people.parse_ages(match[1])}
        text = text[: match.start()]
    population = world.population(text)
    return population.with_(**changes) if changes else population


def _print(result: extrapolation.Extrapolation, parts: dict[str, pl.DataFrame], by: str) -> None:
    import numpy as np

    from mensura.scale import Position, say_rarity

    for word, who in (("Observed", result.focal), ("Wanted", result.reference)):
        ages = "–".join(map(str, dict.fromkeys(who.ages)))
        console.print(f"{word}: {who.name}, ages {ages}{', at school' if who.in_school else ''}")
    print_notes(result.warnings)
    of_one_item = ("distance",) if result.table.height == 1 else ()
    words = {"focal": result.focal.name, "reference": result.reference.name, "level": result.level, "by": by}
    show({name: part for name, part in parts.items() if name not in of_one_item}, "extrapolate", **words)
    if result.table.height > 1:
        console.print(
            f"{result.reference.name}: {np.mean(result.table['rate'].to_numpy()):.1%} right on average over "
            f"{result.table.height} items; {result.focal.name}: {np.mean(result.task.rate):.1%}."
        )
    else:
        rate, low, high = result.table.select("rate", "low", "high").row(0)
        finding = f"{result.reference.name}: {rate:.1%} ({low:.1%} to {high:.1%})"
        if result.reference.name == "world":
            place, tested = Position(rate, low, high), float(result.task.n[0])
            finding += f": {say_rarity(rate, tested if np.isfinite(tested) else None)}"
            finding += f", an IQ-equivalent of {place.iq.value:.0f} ({place.iq.low:.0f} to {place.iq.high:.0f})"
        console.print(f"{finding}.")
    print_trust("extrapolate")


@dataclass(frozen=True, kw_only=True)
class ValidateSettings(MethodSettings):
    """The rarer settings of ``mensura validate``."""

    draws: Annotated[int | None, "Draws of linking items (linked; 200 when left out)."] = None
    seed: Annotated[int, "Seed of draws and folds."] = 0


@takes(ValidateSettings)
def validate(
    pool_folder: Annotated[Path, arg("Folder with items.csv and group_rates.csv (tidy form), or example.")],
    situation: Annotated[str, opt("Known data: described, linked or slices.")] = "described",
    links: Annotated[int | None, opt("Items with known reference rates (linked; default 3).", min=1)] = None,
    method: Annotated[str | None, opt("Method by name; the best of the situation when left out.")] = None,
    model: Models = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Hide the whole sample's rates, predict them from each group, and score the predictions."""
    rare = read_settings(settings, ValidateSettings)
    pool, description = read_pool(pool_folder)
    estimating = choose_estimating(method, Asking(model, max_cost, dry_run, rare), out, rare, {})
    judge = partial(
        extrapolation.validate, pool, situation, links=links, description=description, draws=rare.draws, seed=rare.seed
    )
    models = None
    if not estimating:
        with progress_bar("groups", pool.groups.height - 1) as advance:
            result = judge(method=method, advance=advance)
    else:
        cases = extrapolation.cases_of(pool, description)
        if dry_run:
            for one in estimating:
                one.print_estimate(lambda chosen: [chosen.predict(case.task) for case in cases])
            return
        by_model = {}
        for one in estimating:
            with one.open("estimating") as chosen:
                result, models = judge(method=chosen), extrapolation.score_answers(chosen, cases)
            by_model[one.asking.name] = {**result.tables(), "models": models}
        if len(by_model) > 1:
            _emit_validations(by_model, result.pool, situation)
            return
    parts = result.tables() if models is None else {**result.tables(), "models": models}
    facts: dict[str, object] = {"pool": result.pool, "situation": situation, "method": result.method}
    facts["warnings"] = list(result.warnings)
    if models is not None:
        facts["variants"] = _variants(result)
    emit(parts, **facts)
    if models is not None:
        by = ", ".join(result.summary["covariate"].unique(maintain_order=True))
        console.print(f"Prompt variants per item: {_variants(result)}; errors by {by} are in 'By focal group'.")
    shift = ["mae_shift"] if situation == "linked" else []
    errors = result.overall.select("covariate", "groups", "mae", "rmse", "bias", "coverage", "mae_identity", *shift)
    show({**parts, "errors": errors}, "validate", level=result.level, **facts)
    print_notes(result.warnings, "warning")
    row = result.overall.row(-1, named=True)  # all groups, or the only covariate
    sure = f"; {result.level:.0%} intervals contained {row['coverage']:.0%} of them" if row["coverage"] else ""
    console.print(f"Predictions missed the hidden rates by {row['mae']:.3f} on average{sure}.")


def _variants(result: extrapolation.Validation) -> int:
    """Return how many variants of the prompt a language model was asked in; whole pools have one."""
    settings = result.settings.get("method")
    return int(settings.get("variants", 1)) if isinstance(settings, dict) else 1


def _emit_validations(by_model: dict[str, dict[str, pl.DataFrame]], pool: str, situation: str) -> None:
    """Emit the validations of several models below each other."""
    parts = stack_models(by_model)
    emit(parts, pool=pool, situation=situation, models_asked=list(by_model))
    show(parts, "validate models", pool=pool, situation=situation, models=len(by_model))
