"""What the description of a group tells about its ability: public facts, looked up by words and codes.

A pool says who was tested (its name, the title of its README, the domains of its items), a group says how it
differs (``country=JPN``, ``education=high_school``). Abilities are on the learning scale: 0 = 500, one unit =
100 points of TIMSS, PISA, PIRLS or HLO, about one SD of students within a country. Facts are shipped tables (see
``data/README.md``); what has no fact has no ability (NaN), and then no shift is expected. Ethnicity is never used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.extrapolation.line import Floats
from mensura.frames import read_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DATA = Path(__file__).parent / "data"

KINDS = {
    "country": r"country|countries|nation|^cnt|iso3|iso2",
    "sex": r"sex|gender",
    "parents": r"(parent|mother|father)s?.*(educ|school|degree)",
    "education": r"educ|degree|attainment|qualification",
    "ses": r"escs|\bses\b|socio|income|wealth",
    "language": r"language|native|mother tongue",
    "age": r"\bage\b|age (band|group)",
    "grade": r"\bgrade\b",
    "school": r"school|gymnasium|track|stream|attempt|programme|program|course",
}
_SUBJECTS = {
    "reading": r"read|literacy|comprehension",
    "science": r"scien|physic|chemi|biolog|earth",
    "math": r"math|algebra|number|geometr|arithm|statist|\bdata\b|measure|probab|quantit|calculus",
}
_ABILITIES = {
    "knowledge": r"vocab|knowledge|word|politic|histor|cultur|econom|geograph|fact|synonym",
    "fluid": r"series|matri|rotat|reason|pattern|logic|spatial",
    "literacy": r"read|literacy|comprehension",
    "quantitative": _SUBJECTS["math"],
}
_AGES = (20, 30, 40, 50, 60, 70, 80, 90)
_AGE_CURVES = {
    "literacy": (0, -0.04, -0.12, -0.25, -0.40, -0.65, -1.0, -1.4),
    "quantitative": (0, -0.04, -0.12, -0.25, -0.40, -0.65, -1.0, -1.4),
    "fluid": (0, -0.12, -0.32, -0.52, -0.72, -0.95, -1.35, -1.8),
    "knowledge": (0, 0.15, 0.30, 0.45, 0.50, 0.45, 0.20, -0.20),
}
_GROWTH_AGES = (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20)
_GROWTH = (-5.55, -4.35, -3.35, -2.6, -2.1, -1.65, -1.25, -0.95, -0.67, -0.42, -0.2, 0.0)
_SCHOOLING = (
    ("upper_secondary", r"^(high school|upper sec)|high school grad|^12"),
    ("graduate", r"\bgraduate|postgrad|master|doctor|phd"),
    ("none", r"^none|no (formal )?(school|educ)|illiterate"),
    ("lower_secondary", r"less than|below|under 1[0-2]|lower sec|middle|no (high|upper)|dropout|compulsory"),
    ("post_secondary", r"univers|college|bachelor|tertiary|degree|higher|post sec|^1[5-9]|vocational college"),
    ("primary", r"primary|elementary"),
    ("upper_secondary", r"high school|upper|secondary|matura|a level|vocational"),
)
_ACADEMIC = r"gymnasium|grammar|academic|lyceum|lycee|college prep"
_OTHER_TRACK = r"vocation|technical|hauptschule|realschule|secondary modern|apprentice"


@dataclass(frozen=True)
class Assessment:
    """The international assessment a pool comes from: TIMSS, PISA or PIRLS, school level and year."""

    test: str
    level: str
    year: int | None


def read_description(folder: Path) -> str:
    """Return what a pool folder says of itself: its name and the title of its README."""
    readme = folder / "README.md"
    title = ""
    if readme.is_file():
        lines = readme.read_text(encoding="utf-8", errors="replace").splitlines()
        title = next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
    return f"{folder.resolve().name} {title}".strip()


def assessment_of(description: str) -> Assessment | None:
    """Recognise the assessment in a pool's description, or return None."""
    words = _words(description)
    test = re.search(r"(?<![a-z])(timss|pisa|pirls)", words)
    if test is None:
        return None
    year = re.search(r"(19|20)\d\d", words)
    fourth = re.search(r"grade ?4|\bg4|4th|fourth|primary", words)
    primary = test[1] == "pirls" or (test[1] == "timss" and fourth is not None)
    return Assessment(test[1].upper(), "pri" if primary else "sec", int(year[0]) if year else None)


def subject_of(domain: str | None) -> str | None:
    """Return reading, math or science, where the item's domain says so."""
    return _first(_SUBJECTS, domain)


def kind_of(covariate: str) -> str:
    """Return what kind of covariate a name speaks of; ``other`` when no pattern knows it."""
    return _first(KINDS, covariate) or "other"


def country_of(label: str) -> str | None:
    """Return the ISO 3166 alpha-3 code for a code or English name of a country, or None."""
    return _country_codes().get(_words(label))


def split_crossing(
    covariate: str, label: str, levels: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Take a crossing such as ``country_sex=AUS_female`` apart into its covariates and labels.

    ``levels``: the labels of every covariate of the pool. What is no crossing of them is returned whole.
    """
    for first, known in levels.items():
        if covariate.startswith(f"{first}_") and first != covariate:
            for start in sorted(known, key=len, reverse=True):
                if label.startswith(f"{start}_"):
                    rest = covariate[len(first) + 1 :], label[len(start) + 1 :]
                    return [(first, start), *split_crossing(*rest, levels)]
    return [(covariate, label)]


def ability_of(
    parts: Sequence[tuple[str, str]],
    domains: Sequence[str | None],
    assessment: Assessment | None,
    n_levels: int,
) -> tuple[Floats, bool]:
    """Return the ability that public facts give a group on each item, and whether from the very same test.

    NaN where there is no fact. ``parts``: covariates and labels, see :func:`split_crossing`; ``n_levels``:
    number of groups of the covariate, for labels that are ranks.
    """
    theta, known, matched = np.zeros(len(domains)), False, True
    for covariate, label in parts:
        kind = kind_of(covariate)
        part, same_test = _ability(kind, covariate, label, domains, assessment, n_levels)
        if kind == "country" or not np.isnan(part).all():
            theta, known, matched = theta + part, True, matched and same_test
    return (theta if known else np.full(len(domains), np.nan)), matched and known


def _ability(
    kind: str,
    covariate: str,
    label: str,
    domains: Sequence[str | None],
    assessment: Assessment | None,
    n_levels: int,
) -> tuple[Floats, bool]:
    if kind == "country":
        code = country_of(label)
        found = [country_score(code, subject_of(domain), assessment) for domain in domains]
        return np.array([score for score, _ in found]), all(same for _, same in found)
    if kind == "sex":
        return np.array([_sex(label, subject_of(domain), assessment) for domain in domains]), True
    if kind == "age":
        return np.array([_age(label, _first(_ABILITIES, domain)) for domain in domains]), True
    return np.full(len(domains), _one_value(kind, covariate, label, n_levels)), True


def country_score(
    code: str | None, subject: str | None, assessment: Assessment | None
) -> tuple[float, bool]:
    """Return a country's ability and whether it is its mean in the same test, subject and school level."""
    table = _country_scores()
    if assessment is not None and subject is not None:
        late = assessment.year is None or assessment.year >= 2009
        for epoch in ("late", "early") if late else ("early", "late"):
            score = table.get((code, assessment.test, subject, assessment.level, epoch))
            if score is not None:
                return score, True
    return table.get((code, "HLO", "general", "any", "late"), np.nan), False


def _one_value(kind: str, covariate: str, label: str, n_levels: int) -> float:
    words, gaps = _words(label), _gaps()
    if kind in {"education", "parents"}:
        level = next((level for level, pattern in _SCHOOLING if re.search(pattern, words)), None)
        share = gaps["parents", "share_of_own"] if kind == "parents" else 1.0
        return np.nan if level is None else share * gaps["education", level]
    if kind == "ses":
        return gaps["ses", "per_sd"] * _quantile_mean(words, n_levels)
    if kind == "language":
        truth = _yes_or_no(words, yes=r"native|test|same|first", no=r"other|foreign|second|different|non")
        return {True: 0.0, False: gaps["language", "other"]}.get(truth, np.nan)  # type: ignore[arg-type]
    if kind == "grade":
        number = re.search(r"\d+", words)
        return gaps["grade", "per_grade"] * int(number[0]) if number else np.nan
    if kind == "school":
        named = re.search(_ACADEMIC, _words(covariate)) is not None
        truth = _yes_or_no(words, yes=_ACADEMIC, no=_OTHER_TRACK, bare=named)
        return {True: gaps["track", "academic"], False: 0.0}.get(truth, np.nan)  # type: ignore[arg-type]
    return np.nan


def _yes_or_no(words: str, *, yes: str, no: str, bare: bool = True) -> bool | None:
    """Read a label as true or false; plain yes and no count only where ``bare``."""
    if re.search(no, words) or (bare and re.fullmatch(r"no?|0|false", words)):
        return False
    if re.search(yes, words) or (bare and re.fullmatch(r"y(es)?|1|true", words)):
        return True
    return None


def _quantile_mean(words: str, n_levels: int) -> float:
    """Return the mean of a standard normal in one of ``n_levels`` equal parts, named by rank or low and high."""
    number = re.search(r"\d+", words)
    named = {"low": 1, "bottom": 1, "high": n_levels, "top": n_levels}
    rank = int(number[0]) if number else next((r for word, r in named.items() if word in words), 0)
    if not rank and re.search("mid|medium|average", words):
        return 0.0
    if not 1 <= rank <= n_levels or n_levels < 2:
        return np.nan
    normal = NormalDist()
    edges = [0.0 if k in {0, n_levels} else normal.pdf(normal.inv_cdf(k / n_levels)) for k in (rank - 1, rank)]
    return n_levels * (edges[0] - edges[1])


def _sex(label: str, subject: str | None, assessment: Assessment | None) -> float:
    words = _words(label)
    side = 0.5 if re.match(r"f|girl|w", words) else -0.5 if re.match(r"m|boy", words) else np.nan
    if assessment is None or subject is None:
        return np.nan
    return side * _gaps().get(("sex", f"{assessment.test} {subject} {assessment.level}"), np.nan)


def _age(label: str, ability: str | None) -> float:
    ages = [int(number) for number in re.findall(r"\d+", label)]
    if not ages or max(ages) > 120:
        return np.nan
    below = re.search(r"under|below|<|younger", label.lower()) is not None
    age = sum(ages[:2]) / 2 if len(ages) > 1 else ages[0] - 4 if below else ages[0] + 8
    if age < _AGES[0]:
        return float(np.interp(age, _GROWTH_AGES, _GROWTH))
    return float(np.interp(age, _AGES, _AGE_CURVES[ability])) if ability else np.nan


def _words(text: str) -> str:
    return re.sub(r"[\s_]+", " ", text).strip().lower()


def _first(patterns: Mapping[str, str], text: str | None) -> str | None:
    words = _words(text or "")
    return next((name for name, pattern in patterns.items() if re.search(pattern, words)), None)


@cache
def _country_codes() -> dict[str, str]:
    codes: dict[str, str] = {}
    for iso3, iso2, names in read_frame(DATA / "countries.csv").iter_rows():
        for name in (iso3, iso2, *names.split(";")):
            codes[_words(name)] = iso3
    return codes


@cache
def _country_scores() -> dict[tuple[str | None, str, str, str, str], float]:
    rows = read_frame(DATA / "country_scores.csv")
    keys = rows.select("iso3", "test", "subject", "level", "epoch").iter_rows()
    return {key: (score - 500) / 100 for key, score in zip(keys, rows["score"], strict=True)}


@cache
def _gaps() -> dict[tuple[str, str], float]:
    """Return the facts by kind and level; a sex gap whose range includes 0 predicts nothing."""
    rows = facts().select("kind", "level", "theta", "low", "high").iter_rows()
    return {
        (kind, level): 0.0 if kind == "sex" and low < 0 < high else theta for kind, level, theta, low, high in rows
    }


def facts() -> pl.DataFrame:
    """Return the shipped facts on groups other than countries: kind, level, theta, low, high, source."""
    return read_frame(DATA / "group_gaps.csv")
