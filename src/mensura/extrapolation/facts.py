"""Public facts on the ability of described groups, on the learning scale.

0 = 500, one unit = 100 points of TIMSS, PISA, PIRLS or HLO, about one SD of pupils within a country. Country means
come from the same test, subject, school level and epoch where there is one, else from the country's general
learning score; schooling and age from the world tables; other gaps from ``data/group_gaps.csv``. What has no
fact has no ability (NaN), and then no shift is expected. Ethnicity never shifts a prediction; how far groups lie apart
in published figures makes its interval wide (``data/group_spreads.csv``).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from mensura.extrapolation.descriptions import (
    ABROAD,
    ACADEMIC,
    NATIVE,
    NEWCOMERS,
    OTHER_TRACK,
    Assessment,
    age_of,
    kind_of,
    percentile_of,
    rank_of,
    schooling_of,
    truth_of,
    words,
)
from mensura.intake.tables import read_table
from mensura.people.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.core.arrays import Floats
    from mensura.extrapolation.protocol import Task
    from mensura.people import Population

DATA = Path(__file__).parent / "data"
ADULT = 20  # age from which the adult curves hold, and below which ability still grows
TRANSFER = {"matched": 1.0, "general": 0.6, "none": 0.0}
"""Part of an expected shift to believe: a mean of the same test, a mean of another kind, no fact."""
LOGITS_PER_PROBIT = 1.7
LATE_EPOCH = 2009  # first year of the later epoch of country means
_NOTHING = r"(?!)"  # a pattern that fits no label


def expected(task: Task) -> tuple[Floats, str]:
    """Return the logit shift per item that public facts predict, and the basis of those facts.

    As the task states it; else from the mean abilities of its two populations.
    """
    if task.offset is not None:
        return task.offset, task.basis
    gap = population_ability(task.reference) - population_ability(task.focal)
    stated = task.focal.ability is not None and task.reference.ability is not None
    basis = "none" if np.isnan(gap) else "matched" if stated else "general"
    return shift_for(np.full(task.size, gap), basis), basis


def shift_for(gap: Floats, basis: str) -> Floats:
    """Return the logit shift to expect of a gap in ability: 0 where it is unknown, damped by the basis of the fact."""
    return np.asarray(TRANSFER[basis] * logits_per_unit() * np.nan_to_num(gap))


def concentration_of(task: Task) -> float:
    """Return the Σ of squared shares of the groups in the reference: as the task states it, else of its countries."""
    if task.concentration is not None:
        return task.concentration
    if not task.reference.countries:
        return 0.0
    shares = np.array(task.reference.shares or (1.0,) * len(task.reference.countries))
    return float((shares**2).sum() / shares.sum() ** 2)


def population_ability(population: Population) -> float:
    """Return a population's mean ability: its own, else that of its countries by share; NaN where unknown."""
    if population.ability is not None:
        return population.ability.mean
    if not population.countries:
        return np.nan
    shares = population.shares or (1.0,) * len(population.countries)
    scores = [country_ability(country_of(country), None, None)[0] for country in population.countries]
    return float(np.average(scores, weights=shares))


def ability_of(
    parts: Sequence[tuple[str, str]], domains: Sequence[str | None], assessment: Assessment | None, n_levels: int
) -> tuple[Floats, str]:
    """Return the ability that public facts give a group on each item, and the basis of the facts.

    ``parts``: covariates and labels (:func:`~mensura.extrapolation.descriptions.split_crossing`);
    ``n_levels``: number of groups of the covariate, for labels that are ranks. Basis: ``matched`` (the same test,
    or a fact on this kind of group), ``general`` (a country's score in other tests), ``none``.
    """
    theta, bases = np.zeros(len(domains)), []
    for covariate, label in parts:
        part, basis = _ability(kind_of(covariate), covariate, label, domains, assessment, n_levels)
        if basis != "none":
            theta = theta + part
            bases.append(basis)
        elif kind_of(covariate) == "country":
            bases.clear()
            break
    if not bases:
        return np.full(len(domains), np.nan), "none"
    return theta, "general" if "general" in bases else "matched"


def country_of(label: str) -> str | None:
    """Return the ISO 3166 alpha-3 code for a code or an English name of a country, or None."""
    return world_tables().codes.get(words(label))


def country_ability(code: str | None, domain: str | None, assessment: Assessment | None) -> tuple[float, str]:
    """Return a country's ability on an item of ``domain`` (NaN: unknown) and its basis."""
    if code is None:
        return np.nan, "none"
    subject = assessment.subject_of(domain) if assessment is not None else None
    if assessment is not None and subject is not None:
        late = assessment.year is None or assessment.year >= LATE_EPOCH
        for epoch in ("late", "early") if late else ("early", "late"):
            score = _test_scores().get((code, assessment.test, subject, assessment.level, epoch))
            if score is not None:
                return score, "matched"
    return world_tables().learning(code), "general"


def logits_per_unit() -> float:
    """Return the logit shift per unit of ability under the world model: 1.7 / √(pupil SD² + 1/slope²).

    Not fitted to the pools: the SD of pupils and the slope of items are those of the post-stratification.
    """
    return LOGITS_PER_PROBIT / float(np.hypot(_assumption("pupil_sd"), 1 / _assumption("slope")))


def _ability(
    kind: str, covariate: str, label: str, domains: Sequence[str | None], assessment: Assessment | None, n_levels: int
) -> tuple[Floats, str]:
    if kind == "country":
        code = country_of(label)
        facts = [country_ability(code, domain, assessment) for domain in domains]
        bases = {basis for _, basis in facts}
        return np.array([ability for ability, _ in facts]), bases.pop() if len(bases) == 1 else "general"
    if kind == "sex":
        theta = np.array([_sex(label, domain, assessment) for domain in domains])
    elif kind == "age":
        theta = np.array([_age(label, domain) for domain in domains])
    else:
        theta = np.full(len(domains), _one_value(kind, covariate, label, n_levels))
    return theta, "none" if np.isnan(theta).all() else "matched"


def _one_value(kind: str, covariate: str, label: str, n_levels: int) -> float:
    """Return the ability of a label that is the same for all items; NaN where there is no fact."""
    if kind in {"education", "parents"}:
        level = schooling_of(label)
        share = _gap("parents", "share_of_own") if kind == "parents" else 1.0
        if level is None or level == "upper_secondary":
            return np.nan if level is None else 0.0
        return share * (_gap("education", level) if level == "graduate" else _assumption(f"gap_{level}"))
    if kind == "ses":
        rank = rank_of(label, n_levels)
        return np.nan if rank is None or n_levels < 2 else _gap("ses", "per_sd") * _part_mean(rank, n_levels)
    if kind == "language":
        native = truth_of(label, yes=r"native|test|same|first", no=r"other|foreign|second|different|non")
        return np.nan if native is None else 0.0 if native else _gap("language", "other")
    if kind == "ability":
        below, rank = percentile_of(label), rank_of(label, n_levels)
        if below is not None:
            return _assumption("pupil_sd") * NormalDist().inv_cdf(below)
        return np.nan if rank is None or n_levels < 2 else _assumption("pupil_sd") * _part_mean(rank, n_levels)
    if kind == "migration":
        abroad = _born_abroad(covariate, label)
        return np.nan if abroad is None else _gap("migration", "born_abroad") if abroad else 0.0
    if kind == "grade":
        digits = "".join(filter(str.isdigit, label.split("_")[0]))
        return _gap("grade", "per_grade") * int(digits) if digits else np.nan
    if kind == "school":
        bare = truth_of(covariate, yes=ACADEMIC, no=OTHER_TRACK, bare=False) is True
        academic = truth_of(label, yes=ACADEMIC, no=OTHER_TRACK, bare=bare)
        return np.nan if academic is None else _gap("track", "academic") if academic else 0.0
    return np.nan


def _born_abroad(covariate: str, label: str) -> bool | None:
    """Tell whether a label of a covariate such as ``born_in_country`` or ``immigrant`` means born elsewhere."""
    stated = truth_of(label, yes=ABROAD, no=NATIVE, bare=False)
    if stated is not None:
        return stated
    plain = truth_of(label, yes=_NOTHING, no=_NOTHING)
    return None if plain is None else plain == bool(re.search(NEWCOMERS, words(covariate)))


def _part_mean(rank: int, parts: int) -> float:
    """Return the mean of a standard normal within one of ``parts`` equal parts."""
    normal = NormalDist()
    low, high = (0.0 if k in {0, parts} else normal.pdf(normal.inv_cdf(k / parts)) for k in (rank - 1, rank))
    return parts * (low - high)


def _sex(label: str, domain: str | None, assessment: Assessment | None) -> float:
    """Return half the published sex gap of the test and subject; a gap whose range includes 0 counts as 0."""
    female = truth_of(label, yes=r"^(f|girl|w)", no=r"^(m|boy)", bare=False)
    if female is None or assessment is None:
        return np.nan
    key = "sex", f"{assessment.test} {assessment.subject_of(domain)} {assessment.level}"
    if key not in _gaps():
        return np.nan
    gap, low, high = _gaps()[key]
    return 0.0 if low < 0 < high else gap / 2 if female else -gap / 2


def _age(label: str, domain: str | None) -> float:
    age = age_of(label)
    if age is None:
        return np.nan
    if age < ADULT:
        return float(np.interp(age, *_growth()))
    by_age = world_tables().domain(domain)
    return np.nan if by_age is None else float(np.interp(age, *_curve(by_age[0])))


def _gap(kind: str, level: str) -> float:
    return _gaps()[kind, level][0]


@cache
def world_tables() -> World:
    """Return the packaged world tables, read once."""
    return World.load()


@cache
def _assumption(name: str) -> float:
    return dict[str, float](world_tables().assumptions.select("assumption", "value").iter_rows())[name]


@cache
def _test_scores() -> dict[tuple[str, str, str, str, str], float]:
    rows = read_table(DATA / "country_scores.csv").select("country", "test", "subject", "level", "epoch", "score")
    return {row[:5]: (row[5] - 500) / 100 for row in rows.iter_rows()}


@cache
def _gaps() -> dict[tuple[str, str], tuple[float, float, float]]:
    rows = read_table(DATA / "group_gaps.csv").select("kind", "level", "theta", "low", "high")
    return {row[:2]: row[2:] for row in rows.iter_rows()}


@cache
def _curve(name: str) -> tuple[list[float], list[float]]:
    table = world_tables().curves.filter(world_tables().curves["curve"] == name).sort("age")
    return table["age"].to_list(), table["value"].to_list()


@cache
def _growth() -> tuple[list[float], list[float]]:
    """Return ability by age up to 20: the gains still to come, with the youth gain twice between 15 and 20."""
    ages, gains = _curve("growth")
    at_15 = -2 * _assumption("youth_gain")
    left = [at_15 - sum(gains[k:]) for k in range(len(gains))]
    return [*ages, 15.0, float(ADULT)], [*left, at_15, 0.0]
