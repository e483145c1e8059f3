"""What a journalist could quote: plain sentences, which people were passed and when, who led in each month.

No sentence is stronger than its numbers allow.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit
from mensura.core.frames import read_csv, sort_highest
from mensura.evidence.passing import NOT_PASSED, PASSED, UNKNOWN, UNSURE, verdict_of, why_not_comparable
from mensura.scale.ranking import FEWEST_DIMENSIONS, FEWEST_TESTS, rank_subjects, say_chance
from mensura.study.study import Study
from mensura.study.units import dollars, show

_EXPLAINED = ("gpqa_diamond", "hle", "swe_bench_pro", "arc_agi_2")
"""Benchmarks that say what capability is worth: known, of four dimensions, hard and easy."""
KNOWN_BEST = "hle"
"""Of these, the one whose scores say what a year is worth, where the fit has it."""


def say_lead(study: Study) -> tuple[str, str]:
    """Say who leads and how surely, and on what that rests (empty where nobody knows)."""
    if study.lead is None:
        return "No model is known well enough to be ranked.", ""
    return study.lead.headline(study.evidence), study.lead.basis(study.evidence)


def leader_sentence(study: Study) -> str:
    """Say who leads, with the chance of being first among all ranked models and the interval of the IQ."""
    headline, basis = say_lead(study)
    if study.lead is None:
        return headline
    best = study.ranked_iqs.row(0, named=True)
    ends = f"90% interval {best['iq_low']:.0f} to {best['iq_high']:.0f}"
    return f"{headline} Its IQ is {best['iq']} ({ends}). {basis}"


def ranked_sentence(study: Study) -> str:
    """Say who is ranked, by the rule of the method."""
    if study.iq.method == "published":
        return (
            f"Every model with scores on {study.iq.ranked_from} or more of the {len(study.iq.matrix.benchmarks)} "
            "benchmarks is ranked, by its IQ. Fixed rules fill the gaps of each model."
        )
    return (
        f"Every model with scores on {FEWEST_TESTS} tests in {FEWEST_DIMENSIONS} dimensions is ranked, by its IQ. What "
        "was not measured is estimated from all scores."
    )


def capability_leader_sentence(study: Study) -> str:
    """Say whose capability is highest, with the chance of that. Who leads is decided by IQ, everywhere alike."""
    ranked = study.capability_ranks.drop_nulls("rank")
    if ranked.is_empty():
        return "No model is known well enough to be ranked."
    best = ranked.row(0, named=True)
    name, chance = study.rows.facts[best["subject"]]["name"], say_chance(best["p_first"])
    return f"{name} has the highest capability, with a chance of {chance} among {ranked.height:,} models."


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


def unit_sentences(study: Study) -> list[str]:
    """Say what 1 of capability is worth in expected scores on known benchmarks, from 1 below the best model up.

    The intervals are those of the best model's capability; the fit's difficulties and slopes count as known.
    """
    best = sort_highest(study.fit.capabilities, "capability", "subject").row(0, named=True)
    places = [best[key] - step for step in (1, 0) for key in ("capability", "low", "high")]
    texts = {one: (show(score, "percent") for score in expected_scores(study, one, places)) for one in explained(study)}
    said = "{}: from {} ({} to {}) to {} ({} to {})"
    return [said.format(study.benchmark_names[one], *scores) for one, scores in texts.items()]


def explained(study: Study) -> list[str]:
    """Return the well-known benchmarks of the fit that say what capability is worth."""
    return [one for one in _EXPLAINED if one in study.fit.data.benchmarks]


def expected_scores(study: Study, benchmark: str, capabilities: Sequence[float]) -> list[float]:
    """Return the scores in percent that the fit expects on a benchmark at these capabilities."""
    return [100 * float(share) for share in expected_shares(study, benchmark, np.asarray(capabilities))]


def expected_shares(study: Study, benchmark: str, capabilities: Floats) -> Floats:
    """Return the scores from 0 to 1 that the fit expects on a benchmark at these capabilities."""
    data, at = study.fit.data, study.fit.estimate
    column = data.benchmarks.index(benchmark)
    low, high = float(data.chance[column]), float(data.ceiling[column])
    return low + (high - low) * expit(at.slope[0, column] * (capabilities - at.difficulty[0, column]))


def year_sentence(study: Study) -> str:
    """Say what a year at the present pace is worth, as expected scores on a test that many know."""
    pace, best = study.pace, sort_highest(study.fit.capabilities, "capability", "subject").row(0, named=True)
    tests = sorted(explained(study), key=lambda one: one != KNOWN_BEST)
    if not tests:
        return f"A year brings {pace.slope:.2f} ({pace.low:.2f} to {pace.high:.2f}) of {unit_words(study)}."
    top, test = best["capability"], tests[0]
    places = [top - pace.slope, top - pace.high, top - pace.low, top, best["low"], best["high"]]
    before, low, high, *now = (f"{score:.0f}%" for score in expected_scores(study, test, places))
    return (
        f"At the pace since {pace.since:%Y}, a year lifts the best score expected on {study.benchmark_names[test]} "
        f"from about {before} ({low} to {high}) to {now[0]} ({now[1]} to {now[2]})."
    )


# Which people were passed, when, on which test: for each measured group the first model above it, and how surely.

LEVEL = 0.5
"""Chance from which a model is level with a group."""


@cache
def _short_names() -> dict[tuple[str, str], str]:
    table = read_csv(Path(__file__).parent / "data" / "people_names.csv")
    return {(benchmark, group): short for benchmark, group, short in table.select("benchmark", "group", "short").rows()}


def short_name(benchmark: str, group: str) -> str:
    """Return a few words for a group on a test, those of its source where nobody wrote shorter ones."""
    name = _short_names().get((benchmark, group), group)
    return name[:1].upper() + name[1:]


@dataclass(frozen=True)
class Passed:
    """A group of people on a test, and the models that reached it.

    ``level``: the first model by release that is as likely above the group as below it; ``first``: the first that is
    above it with a chance of 95% or more; ``best``: the one with the highest score today and its chance. Models are
    subjects with their release; None where there is none.
    """

    benchmark: str
    group: str
    status: str
    score: float
    unit: str
    n: int | None
    source: str | None
    level: tuple[str, date] | None
    first: tuple[str, date, float] | None
    best: tuple[str, float] | None

    @property
    def short(self) -> str:
        """A few words for the group."""
        return short_name(self.benchmark, self.group)

    @property
    def verdict(self) -> str:
        """Whether the group was passed, no more surely than the errors of both scores allow."""
        return PASSED if self.first is not None else verdict_of(self.best[1] if self.best else None)


@lru_cache(maxsize=3)
def passed_people(study: Study, statuses: tuple[str, ...] = ("measured",)) -> list[Passed]:
    """Return the groups of people with these statuses, those passed first by date, then the others by chance.

    Groups whose figure is in another metric than the models' are left out; a panel stays and says what it is.
    """
    others = why_not_comparable()
    released = dict(study.evidence.models.drop_nulls("released").select("subject", "released").iter_rows())
    units = dict(study.evidence.benchmarks.select("benchmark", "unit").iter_rows())
    groups = []
    for row in study.people.tests.filter(pl.col("status").is_in(statuses)).iter_rows(named=True):
        key = (row["benchmark"], row["group"])
        if row["status"] == "panel" or key not in others:
            groups.append(_passed(study, row, units[row["benchmark"]], released))
    return sorted(groups, key=_order)


def _order(one: Passed) -> tuple[int, Any]:
    kinds = (PASSED, UNSURE, NOT_PASSED, UNKNOWN)
    if one.verdict == PASSED and one.first is not None:
        return 0, one.first[1].toordinal()
    return kinds.index(one.verdict), -(one.best[1] if one.best else 0.0)


def _passed(study: Study, row: dict[str, Any], unit: str, released: dict[str, date]) -> Passed:
    key = (row["benchmark"], row["group"])
    printed = study.rows.printed_people[key]
    chances = {name: chance for name, chance in study.over_people[key].items() if name in released}
    by_date = sorted(chances, key=lambda name: (released[name], -chances[name]))
    level = next(((name, released[name]) for name in by_date if chances[name] >= LEVEL), None)
    first = (row["first"], row["passed"], chances[row["first"]]) if row["first"] in chances else None
    best = max(chances.items(), key=lambda pair: pair[1], default=None)
    if row["best"] in chances:
        best = (row["best"], chances[row["best"]])
    facts = (*key, row["status"], printed["score"], unit, printed["n"], printed["source"])
    return Passed(*facts, level, first, best)


# Who led in each month: the models that were out by then, judged by today's evidence and the same joint draws.

FIRST = date(2022, 11, 1)
"""The month from which on there is anything to tell: that of ChatGPT."""


@dataclass(frozen=True)
class Month:
    """A month: its first day, the models ranked by its end with their chances of being first, highest IQ first."""

    start: date
    subjects: tuple[str, ...]
    p_first: tuple[float, ...]

    @property
    def name(self) -> str:
        """The month in words."""
        return f"{self.start:%B %Y}"

    @property
    def by_chance(self) -> list[tuple[str, float]]:
        """Models and chances, the likeliest first."""
        return sorted(zip(self.subjects, self.p_first, strict=True), key=lambda pair: -pair[1])


def lead_by_month(study: Study) -> list[Month]:
    """Return every month from the first release (2022 or later) to the newest one, each with who led."""
    ranked = study.ranked.drop_nulls("released")
    if ranked.is_empty():
        return []
    drawn = study.iq.drawn
    released = dict(ranked.select("subject", "released").iter_rows())
    subjects = [name for name in drawn.subjects if name in released]
    draws = np.asarray(drawn.composites)[:, [drawn.places[name] for name in subjects]].astype(np.float64)
    iqs = dict(ranked.select("subject", "exact_iq").iter_rows())
    estimates = np.array([iqs[name] for name in subjects])
    days = np.array([released[name] for name in subjects])
    months, start = [], max(FIRST, days.min().replace(day=1))
    while start <= days.max():
        after = (start + timedelta(days=32)).replace(day=1)
        table = rank_subjects(subjects, estimates, draws, days < after)
        months.append(Month(start, tuple(table["subject"]), tuple(table["p_first"])))
        start = after
    return months


# What capability costs: the cheapest model at or above each IQ.

_FLOORS = range(90, 160, 5)
"""IQs for which the cheapest model is named, as far as any model reaches."""
_PRICED = (115, 125, 135)
"""IQs for which one sentence says what the cheapest model costs."""


def cheapest_rows(
    study: Study, by: str = "effective_cost", floors: Iterable[int] = _FLOORS
) -> tuple[list[dict[str, Any]], int]:
    """Return the cheapest model at or above each IQ by one basis, and how many models have that cost.

    The rule is that of ``mensura cost --at-least`` (:func:`mensura.iq.cheapest`); costs of two kinds are never ranked
    together.
    """
    priced = study.models.drop_nulls(["iq", by]).with_columns(cost=by)
    rows = []
    for floor in floors:
        able = priced.filter(pl.col("iq") >= floor).sort(by, "iq", descending=[False, True])
        if able.height:
            rows.append({"floor": floor, "able": able.height, **able.row(0, named=True)})
    return rows, priced.height


def cheapest_said(study: Study, by: str = "effective_cost") -> str:
    """Say what the cheapest models of some IQs cost by one basis; nothing where no model has that cost."""
    rows, _ = cheapest_rows(study, by, _PRICED)
    parts = [f"{row['floor']} from {dollars(row['cost'])} ({row['name']})" for row in rows]
    return f"IQ {', '.join(parts)}" if parts else ""
