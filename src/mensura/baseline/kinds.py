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

from mensura.core.errors import MensuraError, check_choice
from mensura.people import Population, World

if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR = -0.3
"""Learning score (0 = 500 points, 1 unit = 100) from which people are near to those that models read most about."""
POOR = 1.0
"""Least distance of people described as poor, rural or unschooled where no country is named."""
FAR = 0.5
"""Distance from which the answer warns: about 80 points below the mean of rich countries."""
_SHORTEST = 3  # letters of a description of people
PEOPLE_KINDS = ("experts", "pupils", "students", "crowd", "people")
"""What ``kind`` takes; the last are people at large."""
_WORDS = tomllib.loads((Path(__file__).parent / "data" / "descriptions.toml").read_text(encoding="utf-8"))
_KINDS = {kind: re.compile("|".join(words)) for kind, words in _WORDS["kinds"].items()}
_RATERS = {trait: re.compile("|".join(words)) for trait, words in _WORDS["traits_of_raters"].items()}
_NUMBERS = {name: place for place, name in enumerate(("two", "three", "four", "five", "six", "seven"), start=2)}
_VOTERS = re.compile(
    rf"\b(?:of|by) (\d\d?|{'|'.join(_NUMBERS)})\b(?!%)|"
    rf"\b(\d\d?|{'|'.join(_NUMBERS)}) (?:\w+ )?(?:votes|annotators|(?:crowd[- ]?)?workers|raters|people|judges)\b"
)
USUAL_VOTERS = 3
"""People behind a majority whose number is not stated."""
_TRAIT_WORDS: dict[str, str] = _WORDS["trait_words"]
"""Traits of people who answer for a benchmark, in words."""
_UNTIMED, _TIMED, _OTHER_LANGUAGE, _POOR = (
    re.compile("|".join(_WORDS[name])) for name in ("untimed", "timed", "other_language", "poor")
)
_NEGATED = re.compile(
    rf"\b(?:{'|'.join(_WORDS['negations'])})\b[\s-]*(?:(?:worked|been|served|acted) as[\s-]+)?"
    rf"(?:\w+[\s-]+(?:(?!(?:{'|'.join(_WORDS['ends'])})\b)\w+[\s-]+){{0,2}})?$"
)
"""A negation up to four words before the end of a text."""
_CLAUSES = re.compile(r"[,;:.()]")
_CLAIMED = r"self[- ]?report|checklist|claim|awareness"
_DOMAINS: dict[str, str] = _WORDS["domains"]
_PRIOR = ["speakers of", "tested in", "speak", "latin", "south", "central", "north", "northern", "new", "equatorial"]
_BEFORE, _AFTER = "".join(f"(?<!{word} )" for word in _PRIOR) + r"\b", r"\b(?![- ](?:speak|language|native))"
"""Around a name that is neither of a language nor the end of another country's name."""
_CODES = re.compile(r"\b[A-Z]{3}\b|\bUS\b|(?<=[;(] )[A-Z]{2}(?=[,;)])|^[A-Z]{2}$")
"""Country codes in a text: three letters, or two that stand apart (IT and AI are words, too)."""


@dataclass(frozen=True)
class PeopleKind:
    """What the estimator knows of the people: their kind, time pressure, and distance from well-described people.

    ``distance``: by how many hundred points their learning score is below :data:`NEAR`; 0 for people near it.
    ``distance_words``: the same for readers. ``read``: how the description was understood, in words. ``traits``: of
    people who answer for a benchmark. ``votes``: people behind one answer, where the majority counts.
    """

    kind: str
    timed: bool
    distance: float
    distance_words: str
    read: str = ""
    traits: tuple[str, ...] = ()
    votes: int = 1


def find_people(who: str | Population, world: World) -> Population:
    """Find a population by its name, its country or a description.

    Parameters
    ----------
    who : str or Population
        A named population, a country, or a sentence about people; a population is returned as it is.
    world : World
        The world tables.

    Returns
    -------
    Population
        The population; a sentence becomes one of its own.

    Raises
    ------
    MensuraError
        If the text is no name and describes nobody.

    Examples
    --------
    >>> from mensura.baseline import find_people
    >>> from mensura.people import World
    >>> find_people("DEU", World.load()).countries
    ('DEU',)

    """
    if isinstance(who, Population):
        return who
    text = who.strip()
    try:
        return world.population(text)
    except MensuraError as fault:
        if " " not in text or len(text) < _SHORTEST:
            raise MensuraError(
                f"people {who!r}: a population that nobody described; expected a name (mensura people summary "
                "lists them), a country, or a sentence such as 'university students in Germany'"
            ) from fault
    return Population(name=text, prose=text)


def list_people(people: str | Population | Sequence[str | Population], world: World) -> list[str | Population]:
    """List populations one by one.

    Parameters
    ----------
    people : str, Population, or a sequence of them
        Names and countries may be joined by commas; a sentence stays whole.
    world : World
        The world tables.

    Returns
    -------
    list of str or Population
        One entry per population.

    Raises
    ------
    MensuraError
        If nobody is named.

    Examples
    --------
    >>> from mensura.baseline import list_people
    >>> from mensura.people import World
    >>> list_people("DEU, IND", World.load())
    ['DEU', 'IND']

    """
    listed = [people] if isinstance(people, str | Population) else list(people)
    if not listed:
        raise MensuraError("people: nobody is named; give a population, a country or a sentence")
    names = world.populations["population"].to_list()
    populations: list[str | Population] = []
    for who in listed:
        parts = [part.strip() for part in who.split(",")] if isinstance(who, str) else []
        named = [part.lower() in names or world.knows(part) for part in parts]
        populations += parts if len(parts) > 1 and all(named) else [who]
    return populations


def describe_people(
    people: Population | str, world: World, *, kind: str | None = None, timed: bool | None = None
) -> PeopleKind:
    """Return the kind of a population or of people in prose; ``kind`` and ``timed`` say outright what prose would."""
    if kind is not None:
        check_choice("kind", kind, PEOPLE_KINDS)
    prose = people if isinstance(people, str) else f"{people.name}: {people.prose}"
    learning, where = _learning(people, prose, world)
    distance = 0.0 if learning is None else max(0.0, NEAR - learning)
    if _mentions(_POOR, prose.casefold()):
        distance = max(distance, POOR)
    in_school = isinstance(people, Population) and people.in_school
    read_kind = kind or ("pupils" if in_school else kind_of_people(prose) or PEOPLE_KINDS[-1])
    hurried = timed if timed is not None else is_timed(prose)
    words = [
        "people at large" if read_kind == PEOPLE_KINDS[-1] else read_kind,
        "time limit not stated" if hurried is None else "time limit" if hurried else "no time limit",
        *(["home language differs"] if _OTHER_LANGUAGE.search(prose.casefold()) else []),
    ]
    traits, votes = read_traits(prose, expert=read_kind == "experts")
    rating = ", ".join(_TRAIT_WORDS[trait].format(votes=votes) for trait in traits)
    return PeopleKind(
        "" if read_kind == PEOPLE_KINDS[-1] else read_kind,
        bool(hurried),
        round(distance, 3),
        _distance_words(distance, learning, where),
        "; ".join(filter(None, [", ".join(words), rating])),
        traits,
        votes,
    )


def read_traits(prose: str, *, expert: bool = False) -> tuple[tuple[str, ...], int]:
    """Return the traits of raters that a description names, and how many people vote on one answer.

    Experts were chosen for the task, as raters are. Raters who are said not to be screened for the skill were not.
    """
    text = prose.casefold()
    rest, unscreened = _RATERS["unscreened"].subn(" ", text)
    named = {trait for trait, words in _RATERS.items() if _mentions(words, rest)}
    if expert:
        named |= {"rater", "expert"}
    if unscreened:
        named = named - {"rater", "qualified"} | {"unscreened"}
    number = next(filter(None, (_VOTERS.findall(text) or [("",)])[0]), "") if "majority" in named else "1"
    votes = _NUMBERS.get(number) or (int(number) if number else USUAL_VOTERS)
    return tuple(trait for trait in _TRAIT_WORDS if trait in named), votes


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
    return next((domain for domain, pattern in _DOMAINS.items() if re.search(pattern, (words or "").casefold())), "")


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
    codes = _countries(prose, world)
    return (_mean_learning(codes, (), world), ", ".join(codes[:3])) if codes else (None, "")


def _countries(prose: str, world: World) -> list[str]:
    """Return the codes of the countries that a text names, in words or as capital codes; else by their people."""
    text = prose.casefold()
    codes = [code for name, code in world.names.items() if re.search(_BEFORE + re.escape(name) + _AFTER, text)]
    codes += [world.country(word) for word in _CODES.findall(prose) if world.knows(word)]
    peoples = [code for word, code in _WORDS["countries"].items() if re.search(_BEFORE + word + _AFTER, text)]
    return list(dict.fromkeys(codes or peoples))


def _mean_learning(codes: Sequence[str], shares: Sequence[float], world: World) -> float:
    return float(np.average([world.learning(code) for code in codes], weights=shares or None))


def _distance_words(distance: float, learning: float | None, where: str) -> str:
    if learning is None and distance == 0:
        return "no country is named, so the people count as near to those the method was learned on"
    place = f" ({where})" if where else ""
    if distance < FAR:
        return f"the people{place} are near to those the method was learned on"
    return (
        f"the people{place} are far from those that language models describe best: learning score {distance:.1f} "
        "standard deviations below theirs. The interval is wider for it"
    )
