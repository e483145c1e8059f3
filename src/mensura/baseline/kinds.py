"""Sort people, items and conditions into the few kinds whose typical errors were learned.

A kind that no recorded pool has is no error: its effect is then unknown, and the interval says so by its width.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mensura import extrapolation
from mensura.core.errors import MensuraError
from mensura.intake.tables import read_table
from mensura.people import Population, World

if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR = -0.3
"""Learning score (0 = 500 points, 1 unit = 100) from which people are near to those that models read most about."""
POOR = 1.0
"""Least distance of people described as poor, rural or unschooled where no country is named."""
FAR = 0.5
"""Distance from which the answer warns: about 80 points below the mean of rich countries."""
PEOPLE_KINDS = ("experts", "pupils", "students", "crowd", "people")
"""What ``kind`` takes; the last are people at large."""
_WORDS = tomllib.loads((Path(__file__).parent / "data" / "descriptions.toml").read_text(encoding="utf-8"))
_KINDS = {kind: re.compile("|".join(words)) for kind, words in _WORDS["kinds"].items()}
_UNTIMED, _TIMED, _OTHER_LANGUAGE, _POOR = (
    re.compile("|".join(_WORDS[name])) for name in ("untimed", "timed", "other_language", "poor")
)
_NEGATED = re.compile(
    rf"\b(?:{'|'.join(_WORDS['negations'])})\b[\s-]*"
    rf"(?:\w+[\s-]+(?:(?!(?:{'|'.join(_WORDS['ends'])})\b)\w+[\s-]+){{0,2}})?$"
)
"""A negation up to four words before the end of a text."""
_CLAUSES = re.compile(r"[,;:.()]")
_CLAIMED = r"self[- ]?report|checklist|claim|awareness"
_DOMAINS = {
    "vocabulary": r"vocab|synonym|\bwords?\b|spelling",
    "reasoning": r"reason|logic|matri|series|rotation|spatial|puzzle|abstract|fluid|associat|pragmat|syllog|relation",
    "school": r"math|algebra|geometr|arithm|number|reading|literacy|comprehen|science|physic|chemi|biolog|exam|school",
    "knowledge": r"knowledge|trivia|fact|histor|geograph|politic|econom|culture|capital|health|law|medic",
}
_ALIASES = Path(extrapolation.__file__).parent / "data" / "country_aliases.csv"
_MORE = {
    "u\\.s\\.": "USA",
    "united states": "USA",
    "american": "USA",
    "british": "GBR",
    "brazilian": "BRA",
    "indian": "IND",
}
_CODES = re.compile(r"\b[A-Z]{3}\b|\bUS\b|(?<=[;(] )[A-Z]{2}(?=[,;)])|^[A-Z]{2}$")
"""Country codes in a text: three letters, or two that stand apart (IT and AI are words, too)."""


@dataclass(frozen=True)
class PeopleKind:
    """What the estimator knows of the people: their kind, time pressure, and distance from well-described people.

    ``distance``: by how many hundred points their learning score is below :data:`NEAR`; 0 for people near it.
    ``told``: the same for readers. ``read``: how the description was understood, in words.
    """

    kind: str
    timed: bool
    distance: float
    told: str
    read: str = ""


def describe_people(
    people: Population | str, world: World, *, kind: str | None = None, timed: bool | None = None
) -> PeopleKind:
    """Return the kind of a population or of people in prose; ``kind`` and ``timed`` say outright what prose would."""
    if kind is not None and kind not in PEOPLE_KINDS:
        raise MensuraError(f"kind {kind!r}: unknown; expected one of {', '.join(PEOPLE_KINDS)}")
    prose = people if isinstance(people, str) else f"{people.name}: {people.prose}"
    learning, where = _learning(people, prose, world)
    distance = 0.0 if learning is None else max(0.0, NEAR - learning)
    if _mentions(_POOR, prose.casefold()):
        distance = max(distance, POOR)
    in_school = isinstance(people, Population) and people.in_school
    found = kind or ("pupils" if in_school else kind_of_people(prose) or PEOPLE_KINDS[-1])
    hurried = timed if timed is not None else is_timed(prose)
    words = [
        "people at large" if found == PEOPLE_KINDS[-1] else found,
        "time limit not stated" if hurried is None else "time limit" if hurried else "no time limit",
        *(["home language differs"] if speaks_another_language(prose) else []),
    ]
    return PeopleKind(
        "" if found == PEOPLE_KINDS[-1] else found,
        bool(hurried),
        round(distance, 3),
        _told(distance, learning, where),
        ", ".join(words),
    )


def kind_of_people(prose: str) -> str:
    """Return experts, pupils, students, crowd (people on the web), or nothing for people at large.

    Traits count for nothing: a school that adults left, a working class, workers of a trade, aids that are allowed. Nor
    does a kind that the description denies. Too few recorded pools are about people at large, so that no effect of
    theirs is learned; they widen the interval.
    """
    text = _UNTIMED.sub(" ", _OTHER_LANGUAGE.sub(" ", prose.casefold()))
    for trait in _WORDS["traits"]:
        text = re.sub(trait, " ", text)
    return next((kind for kind, words in _KINDS.items() if _mentions(words, text)), "")


def is_timed(prose: str) -> bool | None:
    """Return whether people answer under time pressure; None where the description does not say."""
    text = prose.casefold()
    without = _UNTIMED.sub(" ", text)
    return True if _TIMED.search(without) else False if without != text else None


def speaks_another_language(prose: str) -> bool:
    """Return whether the people are tested in a language other than that of their home."""
    return bool(_OTHER_LANGUAGE.search(prose.casefold()))


def _mentions(words: re.Pattern[str], text: str) -> bool:
    """Return whether a text names one of these words without a negation before it in the clause."""
    clauses = _CLAUSES.split(text)
    return any(
        not _NEGATED.search(clause[: match.start()]) for clause in clauses for match in re.finditer(words, clause)
    )


def kind_of_format(options: int | None) -> str:
    """Return two, many or open by the number of options; nothing where it is unknown."""
    if options is None:
        return ""
    return "open" if options < 2 else "two" if options == 2 else "many"


def kind_of_report(form: str | None) -> str:
    """Return ``claimed`` where people only say that they know (a checklist, self-report), else ``tested``."""
    return "claimed" if re.search(_CLAIMED, form or "", re.IGNORECASE) else "tested"


def kind_of_domain(words: str | None) -> str:
    """Return vocabulary, reasoning, school or knowledge; nothing where no word is known."""
    text = (words or "").casefold()
    return next((domain for domain, known in _DOMAINS.items() if re.search(known, text)), "")


def _learning(people: Population | str, prose: str, world: World) -> tuple[float | None, str]:
    """Return the mean learning score of the people, and where they live; None where nobody says."""
    if isinstance(people, Population):
        if people.ability is not None:
            return people.ability.mean, people.name
        if people.countries:
            return _mean_learning(people.countries, people.shares, world), ", ".join(people.countries[:3])
        if people.name.startswith("world"):
            strata = world.strata
            weights = strata["population"].to_numpy()
            return float(np.average(strata["learning"].to_numpy(), weights=weights)), "the world"
    found = _countries(prose, world)
    return (_mean_learning(found, (), world), ", ".join(found[:3])) if found else (None, "")


def _countries(prose: str, world: World) -> list[str]:
    """Return the codes of the countries that a text names, in words or as capital codes."""
    text = prose.casefold()
    found = []
    for name, code in zip(world.countries["name"], world.countries["country"], strict=True):
        if name and re.search(rf"\b{re.escape(name.casefold())}\b", text):
            found.append(code)
    aliases = {re.escape(alias): code for alias, code in read_table(_ALIASES).iter_rows()} | _MORE
    found += [code for words, code in aliases.items() if re.search(rf"\b{words}\b", text)]
    found += [world.country(word) for word in _CODES.findall(prose) if world.knows(word)]
    return list(dict.fromkeys(found))


def _mean_learning(codes: Sequence[str], shares: Sequence[float], world: World) -> float:
    return float(np.average([world.learning(code) for code in codes], weights=shares or None))


def _told(distance: float, learning: float | None, where: str) -> str:
    if learning is None and distance == 0:
        return "no country is named, so the people count as near to those the method was learned on"
    place = f" ({where})" if where else ""
    if distance < FAR:
        return f"the people{place} are near to those the method was learned on"
    return (
        f"the people{place} are far from those that language models describe best: learning score {distance:.1f} "
        "standard deviations below theirs. The interval is wider for it"
    )
