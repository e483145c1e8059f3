"""What commands found, in words, and how sure it is.

Each function reads the tables that its command printed and returns a sentence. ``trust.toml`` has measured coverages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mensura.cli.output import console
from mensura.core.errors import counted
from mensura.core.frames import first_row, sort_highest

if TYPE_CHECKING:
    import polars as pl


def interval(row: Mapping[str, float], form: str = ".2f", level: str = "90%") -> str:
    """Return the interval of a row in words."""
    return f"({row['low']:{form}} to {row['high']:{form}}, {level})"


def say_counts(scores: pl.DataFrame) -> str:
    """Say for how many scores of a file the IQ and the capability have a use."""
    uses = scores["counts_for"].to_list()
    parts = [f"{uses.count(use)} for {use}" for use in dict.fromkeys(uses)]
    return f"Of {counted(len(uses), 'score')}, these count: {', '.join(parts)}." if uses else "No score is new."


def say_evidence(models: int, benchmarks: int, scores: pl.DataFrame, disagreement: pl.DataFrame) -> str:
    """Say how much was observed, and how far second sources are from the first."""
    full = f"{scores.height / (models * benchmarks):.0%}" if models and benchmarks else "none"
    count = f"{models} models have {scores.height:,} scores on {benchmarks} benchmarks: {full} of the possible ones."
    percent = disagreement.filter(unit="percent")
    if not percent.height:
        return count
    pairs = int(percent["pairs"].sum())
    mean = sum(percent["pairs"] * percent["median_gap"]) / pairs
    return f"{count} Where two sources have a score in percent, they differ by {mean:.1f} points ({pairs} pairs)."


def say_models(listed: pl.DataFrame) -> str:
    """Say how many models there are, and which is the newest."""
    if not listed.height:
        return "No model is of this provider. mensura evidence summary --models all lists all."
    newest = listed.row(0, named=True)
    return f"{counted(listed.height, 'model')}; the newest is {newest['name']} ({newest['released']})."


def say_populations(table: pl.DataFrame) -> str:
    """Say how many populations have a name, and how many of them have a known ability."""
    count = f"{table.height} populations have a name, and {table['ability_mean'].count()} of them a stated ability."
    return f"{count} Any country is a population too, by its ISO code or English name."


def say_pools(table: pl.DataFrame) -> str:
    """Say how many pools stand behind each calibration."""
    counts = table.group_by("origin", maintain_order=True).len().iter_rows()
    parts = [f"{count} behind the {origin} one" for origin, count in counts]
    return f"{counted(table.height, 'pool')}: {', '.join(parts)}."


def say_pool(name: str, domains: pl.DataFrame) -> str:
    """Say how well the whole sample did, and on which domain least."""
    items = int(domains["n_items"].sum())
    mean = sum(domains["n_items"] * domains["rate"]) / items
    least = domains.sort("rate", "domain").row(0, named=True)
    hardest = f"; least in {least['domain']} ({least['rate']:.1%})" if domains.height > 1 else ""
    return f"{name}: {mean:.1%} right on average over {counted(items, 'item')}{hardest}."


def say_import(name: str, items: int, persons: int, excluded: pl.DataFrame) -> str:
    """Say what became of a file."""
    kept = f"{name} has {counted(items, 'item')} and {counted(persons, 'person')}"
    left = f"; {counted(excluded.height, 'item')} left out, with the reason in exclusions.csv"
    return f"{kept}{left if excluded.height else ''}."


def say_levels(demands: pl.DataFrame) -> str:
    """Say how many levels there are, and which dimension is asked for most."""
    levels = demands.drop_nulls("level").select("dimension", "level")
    top = sort_highest(levels.group_by("dimension").mean(), "level", "dimension").row(0, named=True)
    count = f"{demands.height} levels of {counted(demands['item'].n_unique(), 'item')}"
    return f"{count}; most is demanded in {top['dimension']}, {top['level']:.1f} on average."


def say_verdicts(verdicts: pl.DataFrame) -> str:
    """Say whether levels predict people's success on pools left out."""
    if not verdicts.height:
        return "With fewer pools than three, nobody can say whether the levels predict a new pool. Add pools."
    row = verdicts.row(0, named=True)
    does = "predict" if row["low"] > 0 else "do not surely predict"
    return (
        f"The levels {does} the rates of a pool left out: the error is {row['mae']:.3f}, without levels "
        f"{row['mae_baseline']:.3f} (gain {row['low']:.3f} to {row['high']:.3f}, 90%)."
    )


def say_bases(bases: pl.DataFrame) -> str:
    """Say in which dimension success falls fastest per level."""
    top = first_row(sort_highest(bases.drop_nulls("base"), "base", "dimension"))
    if top is None:
        return "No dimension has enough items for a base. Add items with higher levels."
    factor = f"{top['base']:.1f} per level {interval(top, '.1f')}"
    return f"Success falls fastest in {top['dimension']}: by a factor of {factor}."


def say_journal(models: pl.DataFrame) -> str:
    """Say how many questions of a journal are answered, and how many are not."""
    answered, failed, waiting = (int(models[name].sum()) for name in ("answered", "failed", "open"))
    rest = f"; {failed} failed and {waiting} are open" if failed or waiting else "; none failed and none is open"
    return f"{counted(answered, 'question')} answered by {counted(models['model'].n_unique(), 'model')}{rest}."


def say_comparison(comparison: pl.DataFrame) -> str:
    """Say which model was right most often, and how that compares with people."""
    best = first_row(sort_highest(comparison.filter(kind="models"), "rate", "subject"))
    if best is None:
        return "No model has sat the exam yet. mensura exam sit EXAM --model NAME lets one."
    right = f"{best['subject']} is right in {best['rate']:.0%} {interval(best, '.0%')}"
    if best["people_rate"] is None:
        return f"{right}; no people to compare with yet."
    more = 100 * best["difference"]
    points = "point" if round(abs(more)) == 1 else "points"
    return f"{right}, people in {best['people_rate']:.0%}: {abs(more):.0f} {points} {'more' if more >= 0 else 'less'}."


def say_dimensions(items: pl.DataFrame, correlations: pl.DataFrame, effects: pl.DataFrame | None) -> str:
    """Say what each ability rests on and how the closest two correlate; with a regression, its clearest effect."""
    if effects is not None:
        rows = [row for row in effects.iter_rows(named=True) if row["term"] != "intercept"]
        best = max(rows, key=lambda row: abs(row["estimate"]) / row["se"])
        effect = f"{best['term']} changes {best['dimension']} by {best['estimate']:.2f} standard deviations"
        return f"The clearest effect: {effect} {interval(best)}."
    ranked = sort_highest(items, "loading", "item").partition_by("dimension", maintain_order=True)
    best_items = [part.row(0, named=True) for part in ranked]
    loadings = ", ".join(f"{row['dimension']} on {row['item']} ({row['loading']:.2f})" for row in best_items)
    highest = f"Highest loadings: {loadings}."
    pair = max(correlations.iter_rows(named=True), key=lambda row: abs(row["correlation"]), default=None)
    if pair is None:
        return highest
    if abs(pair["correlation"]) < 1e-9:
        return f"{highest} The abilities are uncorrelated by design."
    ends = "" if pair["low"] is None else f" {interval(pair)}"
    return f"{highest} {pair['dimension']} and {pair['other']} correlate by {pair['correlation']:.2f}{ends}."


def print_trust(command: str) -> None:
    """Print how often intervals of this command contained the truth."""
    measured = tomllib.loads((Path(__file__).parent / "trust.toml").read_text(encoding="utf-8"))[command]
    coverage, how = "".join(measured["text"]), measured["command"]
    console.print(f"Can I trust this interval? {coverage} ({how}; docs/trust.md).", style="dim")
