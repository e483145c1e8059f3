"""What the best model of the coming months may do, in people's terms: groups it would pass, scores, IQ.

The frontier of capability is simulated as for every forecast (:mod:`mensura.trends.pace`). A simulated capability
becomes a score by the curve of the test and the scatter of models around it, and an IQ by the line through the ranked
models.
"""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.evidence.passing import MODEL_ERROR
from mensura.scale import Z90
from mensura.scale.ranking import say_chance
from mensura.stitching import to_years
from mensura.study.headlines import expected_shares, explained, passed_people, short_name
from mensura.study.slow_parts import quarters_after
from mensura.study.study import Study
from mensura.study.units import show, show_range
from mensura.trends.capabilities import read_with_draws
from mensura.trends.pace import simulate_frontier

_ENDS = (0.05, 0.5, 0.95)
TOP = 160
"""IQ at which the ladders end: higher ones cannot be told from it."""


@dataclass(frozen=True)
class Outlook:
    """What to expect of the best model on a day; ranges are 90%, low, middle, high.

    ``capability`` and ``iq`` are ranges, ``scores`` ranges in percent by benchmark; ``groups`` has the chance that a
    group not passed yet is passed by then, by benchmark and group, the likeliest first. Of these, ``untold`` are groups
    that the test cannot show as passed: the score that would lies above the end of the test.
    """

    day: date
    capability: Floats
    iq: Floats
    scores: dict[str, Floats]
    groups: dict[tuple[str, str], float]
    untold: frozenset[tuple[str, str]] = frozenset()


def look_ahead(study: Study, days: list[date]) -> list[Outlook]:
    """Simulate the best model of each day."""
    dated = study.fit.capabilities.select("subject", "capability").join(
        study.evidence.models.select("subject", "released"), on="subject"
    )
    frame, draws = read_with_draws(dated, study.fit.laplace)
    years, values = to_years(frame["released"]), frame["capability"].to_numpy()
    rng = np.random.default_rng(0)
    futures = simulate_frontier(years, values, to_years(pl.Series(days, dtype=pl.Date)), rng, draws=draws)
    noise = rng.standard_normal(len(futures))
    open_groups = [one for one in passed_people(study) if one.first is None]
    people = {(row["benchmark"], row["group"]): row for row in study.people.tests.iter_rows(named=True)}
    outlooks = []
    for place, day in enumerate(days):
        best = futures[:, place]
        scores = {test: np.quantile(100 * _taken(study, test, best, noise), _ENDS) for test in explained(study)}
        groups, untold = {}, set()
        for one in open_groups:
            row = people[one.benchmark, one.group]
            needed = row["score"] + Z90 * np.hypot(MODEL_ERROR, row["stderr"])
            if needed > study.fit.data.ceiling[study.fit.data.benchmarks.index(one.benchmark)]:
                untold.add((one.benchmark, one.group))
            groups[one.benchmark, one.group] = float((_taken(study, one.benchmark, best, noise) >= needed).mean())
        ordered = dict(sorted(groups.items(), key=lambda pair: -pair[1]))
        iq = np.quantile(_iqs(study, best, noise), _ENDS)
        outlooks.append(Outlook(day, np.quantile(best, _ENDS), iq, scores, ordered, frozenset(untold)))
    return outlooks


def _taken(study: Study, benchmark: str, capability: Floats, noise: Floats) -> Floats:
    """Return scores (0 to 1) of models of these capabilities on a test, scattered around its curve as models are."""
    column = study.fit.data.benchmarks.index(benchmark)
    expected = expected_shares(study, benchmark, capability)
    spread = np.sqrt(study.fit.model.noise(expected, np.full(expected.size, column)))
    return np.clip(expected + spread * noise, study.fit.data.chance[column], study.fit.data.ceiling[column])


def _iqs(study: Study, capability: Floats, noise: Floats) -> Floats:
    """Return the IQs of models of these capabilities, by the line through the upper half of the ranked models."""
    ranked = (
        study.ranked.drop_nulls(["capability", "exact_iq"]).sort("capability").tail(max(8, study.ranked.height // 2))
    )
    x, y = ranked["capability"].to_numpy(), ranked["exact_iq"].to_numpy()
    slope, intercept = np.polyfit(x, y, 1)
    drawn = intercept + slope * capability + np.std(y - intercept - slope * x) * noise
    return np.asarray(np.minimum(drawn, TOP))


@lru_cache(maxsize=1)
def next_year_words(study: Study) -> dict[str, Any]:
    """Say what the best model a year after the newest release may be: IQ, groups it would pass, known tests."""
    day = quarters_after(study.pace.until, 4)[-1]
    ahead = look_ahead(study, [day])[0]
    low, middle, high = ahead.iq
    names = {
        (test, group): f"{short_name(test, group)} on {study.benchmark_names[test]}" for test, group in ahead.groups
    }
    chances = [f"{names[key]} {say_chance(chance)}" for key, chance in ahead.groups.items() if key not in ahead.untold]
    untold = [names[key] for key in ahead.groups if key in ahead.untold]
    groups = [f"Groups it would pass, with the chance: {', '.join(chances)}."] if chances else []
    if untold:
        groups.append(f"Their tests end too low to show whether it passes these groups: {', '.join(untold)}.")
    scores = [
        f"{study.benchmark_names[test]} {show(ends[1], 'percent')} ({show_range(ends[0], ends[2], 'percent')})"
        for test, ends in ahead.scores.items()
    ]
    span = f"{low:.0f} to {high:.0f}" if high < TOP else f"{low:.0f} or more" if low < TOP else f"{TOP} or more"
    number = f"of {middle:.0f} (90%: {span})" if middle < TOP else f"of {span}, where these tests end"
    sentence = f"In {day:%B %Y} the best model may have an IQ {number}."
    return {
        "day": day,
        "sentence": sentence,
        "iq": [round(float(end)) for end in ahead.iq],
        "groups": " ".join(groups),
        "scores": f"Scores expected of it: {', '.join(scores)}.",
    }
