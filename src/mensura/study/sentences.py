"""Plain sentences a journalist could quote, said from the numbers and never stronger than they are."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from mensura.core.arrays import expit
from mensura.core.frames import sort_highest
from mensura.scale.ranking import WIDEST_IQ, say_chance, say_leader
from mensura.study.study import Study
from mensura.study.units import chance, show

_NAMED = 3  # rivals by name; more would make the sentence a list
_WORTH_NAMING = 0.01  # chance of being first from which a rival is named
_EXPLAINED = ("gpqa_diamond", "hle", "swe_bench_pro", "arc_agi_2")
"""Benchmarks that say what capability is worth: known, of four dimensions, hard and easy."""


def leader_sentence(study: Study) -> str:
    """Say who leads, with the chance of being first among all ranked models and the interval of the IQ."""
    ranked = study.ranked_iqs
    if ranked.is_empty():
        return "No model is known well enough to be ranked."
    best = ranked.row(0, named=True)
    said = say_leader(best["name"], best["p_first"], ranked.height)
    return f"{said} Its IQ is {best['iq']} (90% interval {best['iq_low']:.0f} to {best['iq_high']:.0f})."


def ranked_sentence(study: Study) -> str:
    """Say who is ranked, by the rule of the method."""
    if study.iq.method == "published":
        return (
            f"Every model with scores on {study.iq.ranked_from} or more of the {len(study.iq.matrix.benchmarks)} "
            "benchmarks is ranked, by its IQ. Fixed rules fill the gaps of each model."
        )
    return (
        f"Every model whose 90% interval spans at most {WIDEST_IQ:.0f} IQ points is ranked, by its IQ. What was not "
        "measured is estimated from all scores."
    )


def rivals_sentence(study: Study) -> str:
    """Say which other models may be first, with their chances."""
    others = sort_highest(study.ranked.slice(1).filter(pl.col("p_first") >= _WORTH_NAMING), "p_first")
    if others.is_empty():
        return "No other model has a chance of 1% or more."
    said = (f"{row['name']} {chance(row['p_first'])}" for row in others.head(_NAMED).iter_rows(named=True))
    return f"Next: {', '.join(said)}."


def capability_leader_sentence(study: Study) -> str:
    """Say whose capability is highest, with the chance of that. Who leads is said by IQ, everywhere alike."""
    ranked = study.capability_ranks.drop_nulls("rank")
    if ranked.is_empty():
        return "No model is known well enough to be ranked."
    best = ranked.row(0, named=True)
    name = study.rows.facts[best["subject"]]["name"]
    sure = f"with a chance of {say_chance(best['p_first'])} among {ranked.height} models"
    return f"{name} has the highest capability, {sure}."


def pace_sentence(study: Study) -> str:
    """Say how fast capability rises, with all releases and along the records, and whether it is speeding up."""
    pace, watch = study.pace, study.watch
    first = (
        f"Models released since {pace.since:%B %Y} gain {pace.slope:.2f} of capability a year (90% interval "
        f"{pace.low:.2f} to {pace.high:.2f}; 1 is {unit_words(study)}), all releases counted"
    )
    if pace.records is not None:
        first += f"; the line through the records rises by {pace.records:.2f}"
    if watch is None:
        return f"{first}; too few models were released to watch for an acceleration."
    if watch.alarm is None:
        return f"{first}; a watch for acceleration has found none that chance would not explain."
    return f"{first}; a watch for acceleration sounded on {watch.alarm.day} {watch.alarm:%B %Y}."


def unit_words(study: Study) -> str:
    """Say what 1 of capability is, with the names of models."""
    names: dict[str, str] = dict(study.evidence.models.select("subject", "name").iter_rows())
    ends = re.fullmatch(r"(.+ from )(.+) to (.+)", study.pace.unit)
    if ends is None:
        return study.pace.unit
    return ends[1] + " to ".join(names.get(end, end) for end in ends.groups()[1:])


def people_sentence(study: Study) -> str:
    """Say on how many tests with measured, comparable people the best model is ahead, and where it is not."""
    table = study.leaders.filter(pl.col("human_status") == "measured")
    behind = table.filter(pl.col("ahead") != "model")["title"].to_list()
    ahead = table.height - len(behind)
    where = f"; on {' and '.join(behind)} it does not" if behind else ""
    return (
        f"On {ahead} of the {table.height} tests with a measured group of people that can be compared, "
        f"the best model scores above them{where}."
    )


def unit_sentences(study: Study) -> list[str]:
    """Say what 1 of capability is worth in expected scores on known benchmarks, from 1 below the best model up."""
    best = float(study.models["capability"].max())  # type: ignore[arg-type]
    data, at = study.fit.data, study.fit.estimate
    sentences = []
    for benchmark in _EXPLAINED:
        if benchmark not in data.benchmarks:
            continue
        column = data.benchmarks.index(benchmark)
        low, high = float(data.chance[column]), float(data.ceiling[column])
        shares = expit(at.slope[0, column] * (np.array([best - 1, best]) - at.difficulty[0, column]))
        before, after = (show(100 * (low + (high - low) * float(share)), "percent") for share in shares)
        name = study.benchmark_names[benchmark]
        sentences.append(f"{name}: from {before} to {after}")
    return sentences
