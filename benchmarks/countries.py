"""From one country to another: error and coverage of the procedure that ships, on surveys and countries left out.

``python -m benchmarks.countries [--pairs N]``. Ordered pairs of countries of one survey: the first's rates are carried
to the second as ``mensura extrapolate --rate … --from A --to B`` does (method poststratification). The departures of
knowledge (``tools.embed_departures``) are learned again: without the whole survey, and without a fifth of the countries
of all surveys, from which and to which the rates then go; and without all surveys of a kind (national samples, web
visitors, online panels), which is nearest to a survey that nobody has seen. What school surveys need was learned on
none of these pools. Copying the rate is the comparison; each survey counts alike. ``before`` uses no departures by
domain.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from benchmarks import run
from benchmarks.country_surveys import Survey, read_surveys
from benchmarks.measured import record
from mensura.core.frames import text_table
from mensura.extrapolation import PostStratification, make_task
from mensura.people import World
from tools.embed_departures import adults, learn, with_learned

PAIRS, DRAWS, FOLDS = 150, 200, 5
LEAST_COVERAGE, MOST_OF_COPYING = 0.85, 0.85
BEFORE = {
    "follow_knowledge": 1.0,
    "income_knowledge": 0.0,
    "reading_knowledge": 1.0,
    **{f"departures_{domain}": 1.0 for domain in ("literacy", "quantitative", "fluid", "knowledge")},
}


def carry(survey: Survey, pairs: list[tuple[str, str]], world: World) -> pl.DataFrame:
    """Return one row per pair and item: the focal rate, the true rate, and the predicted one with its interval."""
    model = PostStratification(world=world, draws=DRAWS)
    parts = []
    for focal, reference in pairs:
        here = survey.rates.filter((pl.col("country") == focal) & pl.col("rate").is_between(0, 1, closed="none"))
        there = survey.rates.filter(pl.col("country") == reference).select("item", truth="rate")
        both = here.join(there, on="item", maintain_order="left")
        items = both.select("item", domain=pl.lit(survey.domain), n_options=pl.lit(survey.n_options, dtype=pl.Int64))
        people = [
            world.population(name).with_(ages=survey.ages, in_school=survey.pupils) for name in (focal, reference)
        ]
        found = model.predict(make_task(items, both.select("item", "rate", "n"), *people))
        rows = both.select(
            "item", "truth", survey=pl.lit(survey.name), focal=pl.lit(focal), to=pl.lit(reference), copied="rate"
        )
        columns = {"rate": found.rate[0], "low": found.low[0], "high": found.high[0]}
        parts.append(rows.with_columns(**{name: pl.Series(values) for name, values in columns.items()}))
    return pl.concat(parts)


def some_pairs(survey: Survey, most: int, countries: list[str] | None = None) -> list[tuple[str, str]]:
    """Return ordered pairs of countries, a random part of them where there are more than ``most``."""
    pairs = list(permutations(survey.countries if countries is None else countries, 2))
    rng = np.random.default_rng(0)
    return [pairs[k] for k in sorted(rng.choice(len(pairs), most, replace=False))] if len(pairs) > most else pairs


def surveys_left_out(surveys: dict[str, Survey], world: World, most: int, *, kinds: bool = False) -> pl.DataFrame:
    """Return predictions for each survey with what all others teach, or with ``kinds`` all of another kind."""
    parts = []
    for name, survey in surveys.items():
        left_out = {other for other, found in surveys.items() if other == name or (kinds and found.kind == survey.kind)}
        others = adults({other: found for other, found in surveys.items() if other not in left_out})
        parts.append(carry(survey, some_pairs(survey, most), with_learned(world, learn(others, world))))
    return pl.concat(parts)


def countries_left_out(surveys: dict[str, Survey], world: World, most: int) -> pl.DataFrame:
    """Return predictions between countries that nothing was learned from."""
    every = sorted({country for survey in surveys.values() for country in survey.countries})
    fold = dict(zip(every, np.random.default_rng(1).permutation(len(every)) % FOLDS, strict=True))
    parts = []
    for k in range(FOLDS):
        kept = pl.col("country").is_in([country for country in every if fold[country] != k])
        others = adults({name: replace(found, rates=found.rates.filter(kept)) for name, found in surveys.items()})
        learned = with_learned(world, learn(others, world))
        for survey in surveys.values():
            held = [country for country in survey.countries if fold[country] == k]
            if pairs := some_pairs(survey, max(most // FOLDS, 1), held):
                parts.append(carry(survey, pairs, learned))
    return pl.concat(parts)


def summarise(table: pl.DataFrame, world: World) -> pl.DataFrame:
    """Return error, that of copying, their ratio, bias from rich to poor, coverage and width per survey."""
    income = dict(world.countries.select("country", "income").iter_rows())
    poorer = pl.Series([(income[a] or 0) > (income[b] or 0) for a, b in table.select("focal", "to").iter_rows()])
    off = pl.col("rate") - pl.col("truth")
    inside = pl.col("truth").is_between("low", "high")
    return (
        table.with_columns(poorer=poorer)
        .group_by("survey", maintain_order=True)
        .agg(
            predictions=pl.len(),
            copying=(pl.col("copied") - pl.col("truth")).abs().mean(),
            error=off.abs().mean(),
            bias_to_poorer=off.filter(pl.col("poorer")).mean(),
            coverage=inside.mean(),
            width=(pl.col("high") - pl.col("low")).mean(),
        )
        .with_columns(of_copying=pl.col("error") / pl.col("copying"))
    )


def in_hindsight(survey: Survey, pairs: list[tuple[str, str]], world: World) -> tuple[float, float]:
    """Return the mean error of copying, and that of a line fitted to the survey itself.

    The line gives a country's mean probit from its learning score and its income; the mean stands for a missing one.
    """
    rates, places = survey.table(), {country: at for at, country in enumerate(survey.countries)}
    probits = ndtri(np.clip(rates, 0.005, 0.995))
    means = np.nanmean(probits - np.nanmean(probits, axis=1, keepdims=True), axis=0)
    facts = pl.DataFrame({"country": survey.countries}).join(
        world.countries, on="country", how="left", maintain_order="left"
    )
    known = facts.select(pl.col("learning_score", "income").fill_null(strategy="mean")).to_numpy()
    design = np.column_stack([known, np.ones(len(known))])
    level = design @ np.linalg.lstsq(design, means)[0]
    here, there = (np.array([places[pair[end]] for pair in pairs]) for end in (0, 1))
    copied = np.abs(rates[:, here] - rates[:, there])
    moved = np.abs(ndtr(probits[:, here] + level[there] - level[here]) - rates[:, there])
    return float(np.nanmean(copied)), float(np.nanmean(moved))


def figures(title: str, table: pl.DataFrame, *, surveys: list[str], bars: bool = True) -> dict[str, float]:
    """Print one comparison with its bars; return coverage and the error as a part of that of copying."""
    part = table.filter(pl.col("survey").is_in(surveys))
    coverage, of_copying = float(part["coverage"].mean()), part["error"].sum() / part["copying"].sum()  # type: ignore[arg-type]
    print(f"\n{title}")
    print(text_table(part, digits=3))
    told = f"coverage {coverage:.3f}"
    if bars:
        told += f" (bar {LEAST_COVERAGE}), error {of_copying:.3f} of copying (bar {MOST_OF_COPYING})"
    print(f"each survey alike: {told if bars else f'{told}, error {of_copying:.3f} of copying'}")
    return {"coverage": coverage, "of_copying": of_copying}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="Most pairs of countries of a survey.")
    most = parser.parse_args().pairs
    world, surveys = World.load(), read_surveys()
    grown = [name for name, survey in surveys.items() if not survey.pupils]
    school = [name for name, survey in surveys.items() if survey.pupils]
    plain = world.assume(**BEFORE, schooling_knowledge=1.1)
    before = summarise(pl.concat([carry(one, some_pairs(one, most), plain) for one in surveys.values()]), world)
    without_survey = summarise(surveys_left_out(surveys, world, most), world)
    adult_surveys = {name: surveys[name] for name in grown}
    without_kind = summarise(surveys_left_out(adult_surveys, world, most, kinds=True), world)
    without_countries = summarise(countries_left_out(adult_surveys, world, most), world)
    found = {
        "before_adults": figures("Adults, knowledge, before", before, surveys=grown, bars=False),
        "before_school": figures("School surveys, before", before, surveys=school, bars=False),
        "surveys_left_out": figures("Adults, knowledge, whole surveys left out", without_survey, surveys=grown),
        "countries_left_out": figures("Adults, knowledge, countries left out", without_countries, surveys=grown),
        "kinds_left_out": figures("Adults, knowledge, whole kinds of surveys left out", without_kind, surveys=grown),
        "school": figures("School surveys, by descriptions alone", without_survey, surveys=school),
    }
    best = [in_hindsight(one, some_pairs(one, most), world) for one in adult_surveys.values()]
    copied, moved = (sum(part) for part in zip(*best, strict=True))
    print(f"\nAdults, knowledge, a line fitted to each survey in hindsight: {moved / copied:.3f} of copying")
    record("countries.hindsight_of_copying", f"{moved / copied:.2f}")
    least = without_survey.filter(pl.col("survey").is_in(school))["coverage"].min()
    print(json.dumps({**found, "school_least_coverage": least}))
    record("countries.kind_least_coverage", f"{without_kind['coverage'].min():.2f}")
    kinds = [("survey", "surveys_left_out"), ("kind", "kinds_left_out")]
    for key, part in (*kinds, ("country", "countries_left_out"), ("school", "school")):
        record(f"countries.{key}_coverage", f"{found[part]['coverage']:.2f}")
        record(f"countries.{key}_of_copying", f"{found[part]['of_copying']:.2f}")


if __name__ == "__main__":
    run(main)
