"""The design of an exam: who gets which items in which order, the time limits, and how many people are needed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints, logit
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.exam.adaptive import next_names
from mensura.exam.file import Exam
from mensura.exam.settings import ExamTexts
from mensura.scale import Z90

Taken = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class ExamForm:
    """List the items of one sitting.

    Attributes
    ----------
    seed : tuple[int, int]
        Seed of the exam and number of the sitting.
    items : tuple of str
        The items in order.
    options : dict[str, list[int]]
        For each item the places of its options as they are shown.

    """

    seed: tuple[int, int]
    items: tuple[str, ...]
    options: dict[str, list[int]]


def choose_items(taken: Taken, k: int, rng: np.random.Generator) -> Ints:
    """Return k of n items for the next person.

    ``taken`` is persons × items: what was answered, or will be. Items given least often come first; among those, the
    ones that shared fewest forms with the items already chosen. So items, and pairs of items, are given about equally
    often whenever the exam ends.
    """
    count = taken.sum(axis=0)
    pairs = taken.T @ taken
    chosen: list[int] = []
    met = np.zeros(taken.shape[1])
    free = np.ones(taken.shape[1], dtype=bool)
    for _ in range(k):
        rank = np.where(free, count, np.inf)
        near = np.flatnonzero(rank <= rank.min() + 0.5)
        order = rng.permutation(near)
        best = int(order[np.argmin(met[order])])
        chosen.append(best)
        free[best] = False
        met += pairs[best]
    return np.asarray(chosen)


def make_form(exam: Exam, number: int, taken: Sequence[Sequence[str]] = ()) -> ExamForm:
    """Draw the form of a person: items, and pairs of items, are given about equally often.

    Parameters
    ----------
    exam : Exam
        The exam.
    number : int
        Number of the sitting; with the exam's seed it repeats the form.
    taken : Sequence[Sequence[str]]
        Items of the sittings before.

    Returns
    -------
    ExamForm
        The items in order.

    Examples
    --------
    >>> exam = read_exam("example")
    >>> len(make_form(exam, 1).items) == exam.per_person + len(exam.checks)
    True

    """
    rng = np.random.default_rng([exam.settings.seed, number])
    names = [item.item for item in exam.scored]
    if exam.per_person < len(names):
        places = {name: place for place, name in enumerate(names)}
        matrix = np.zeros((len(taken), len(names)), dtype=np.float32)
        for row, form in enumerate(taken):
            matrix[row, [places[name] for name in form if name in places]] = 1.0
        picked = {names[place] for place in choose_items(matrix, exam.per_person, rng)}
        names = [name for name in names if name in picked]
    return _arranged(exam, number, names, [check.item for check in exam.checks], rng)


def full_form(exam: Exam, number: int) -> ExamForm:
    """Return all items that count, for a model; shuffled alike. Attention checks are for people."""
    rng = np.random.default_rng([exam.settings.seed, number])
    return _arranged(exam, number, [item.item for item in exam.scored], [], rng, for_people=False)


def first_form(exam: Exam, number: int) -> ExamForm:
    """Return the start of an adaptive sitting: practice and the first item, with the options of all items."""
    rng = np.random.default_rng([exam.settings.seed, number])
    whole = _arranged(exam, number, [item.item for item in exam.scored], [check.item for check in exam.checks], rng)
    practice = tuple(name for name in whole.items if exam.by_name[name].practice)
    return grown_form(exam, replace(whole, items=practice), {})


def grown_form(exam: Exam, form: ExamForm, earned: Mapping[str, float]) -> ExamForm:
    """Return the form of an adaptive sitting with its next items: the ratings in the end, the same form after them.

    ``earned``: share of full credit by item; an item without one earned nothing.
    """
    ratings = [item.item for item in exam.ratings]
    more = [] if set(ratings) & set(form.items) else next_names(exam, form.seed[1], form.items, earned) or ratings
    return replace(form, items=(*form.items, *more))


def _arranged(
    exam: Exam, number: int, names: list[str], checks: list[str], rng: np.random.Generator, *, for_people: bool = True
) -> ExamForm:
    if exam.settings.order == "shuffled":
        names = [names[place] for place in rng.permutation(len(names))]
    ranks = {section.name: rank for rank, section in enumerate(exam.settings.sections)}
    names.sort(key=lambda name: ranks.get(exam.by_name[name].section, 0))
    for check in checks:
        names.insert(int(rng.integers(min(1, len(names)), len(names) + 1)), check)
    practice = [item.item for item in exam.items if item.practice and not item.check] if for_people else []
    names = [*practice, *names, *(item.item for item in exam.ratings)]
    options = {}
    for name in names:
        item, count = exam.by_name[name], len(exam.by_name[name].options)
        is_mixed = exam.settings.shuffle_options and not item.keep_order and not item.is_rating
        options[name] = [int(place) for place in (rng.permutation(count) if is_mixed else range(count))]
    return ExamForm((exam.settings.seed, number), tuple(names), options)


# Time limits: of the whole, of a section, of an item; pure functions of times in seconds.


def deadline(exam: Exam, started: float, shown: Mapping[str, float], item: str) -> float:
    """Return the time after which an answer to an item is late; infinite without limits.

    ``shown``: when each item was first shown. A section's time begins with the first of its items.
    """
    rules, section = exam.settings.time, exam.by_name[item].section
    ends = [math.inf]
    if rules.minutes is not None:
        ends.append(started + 60.0 * rules.minutes)
    if rules.seconds_per_item is not None and item in shown:
        ends.append(shown[item] + rules.seconds_per_item)
    minutes = {one.name: one.minutes for one in exam.settings.sections}.get(section)
    opened = [at for name, at in shown.items() if exam.by_name[name].section == section]
    if minutes is not None and opened:
        ends.append(min(opened) + 60.0 * minutes)
    return min(ends)


def rules_text(exam: Exam, texts: ExamTexts | None = None) -> str:
    """Return the time rules in words, the same for people and models; in the exam's language without ``texts``."""
    rules, texts = exam.settings.time, texts or exam.texts
    sentences = [texts("minutes", n=f"{rules.minutes:g}")] if rules.minutes else []
    sentences += [texts("seconds", n=f"{rules.seconds_per_item:g}")] if rules.seconds_per_item else []
    sentences += [
        texts("section_minutes", n=f"{one.minutes:g}", title=one.title) for one in exam.settings.sections if one.minutes
    ]
    return " ".join(sentences) or texts("no_limit")


def tools_text(exam: Exam) -> str:
    """Return which tools are allowed, in words."""
    tools = exam.settings.tools
    return exam.texts("tools", tools=exam.texts("no_tools") if tools == "none" else tools)


# How many people and items a wanted precision takes, from estimated rates and the planned design.
#
# A person with ability θ answers an item rightly with a logistic chance; abilities are normal. The mean rate of P
# people, each with k items, has variance (V + W / k) / P: V is the variance of people's true means, W the mean variance
# of single answers. Items that nobody answers add the variance of their departures from the estimates.

_NODES, _MASS = np.polynomial.hermite_e.hermegauss(61)
DEPARTURE = 0.6
"""Usual spread, in logits, of real rates about a line in a language model's estimates."""
PEOPLE_SD = 1.0
"""Spread of people's abilities, in logits."""
MOST_PEOPLE = 100_000
ENTERING = 2.0
"""Minutes that a person needs for consent, questions and instructions."""


@dataclass(frozen=True)
class PlanTerms:
    """State what a plan is made for.

    Attributes
    ----------
    precision : float
        Half of the 90% interval of the mean rate, between 0 and 0.5.
    seconds_per_item : float
        Time that a person needs for an item.
    pay_per_hour, fee : float
        Pay of people, and what the panel adds to it (0.3 for 30%).

    """

    precision: float
    seconds_per_item: float = 45.0
    pay_per_hour: float | None = None
    fee: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.precision < 0.5:
            raise MensuraError(f"precision: got {self.precision}; expected a half width from 0 to 0.5, such as 0.03")
        if self.fee and self.pay_per_hour is None:
            raise MensuraError(f"fee: got {self.fee}, a share of pay_per_hour; give pay_per_hour too, or omit fee")


@dataclass(frozen=True, eq=False, repr=False)
class ExamPlan(Result):
    """List designs that reach the precision, the cheapest first.

    Attributes
    ----------
    plan : pl.DataFrame
        items given to people, items_per_person, people, answers_per_item, half_width, minutes per person, hours of
        all, cost.
    precision : float
        The precision asked for.
    source : str
        Where the rates come from.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("plan",)

    plan: pl.DataFrame
    precision: float
    source: str

    @property
    def heading(self) -> str:
        """The best design in one line."""
        if not self.plan.height:
            return f"No design reaches ±{self.precision:g} with fewer than {MOST_PEOPLE:,} people"
        best = self.plan.row(0, named=True)
        cost = "" if best["cost"] is None else f", cost {best['cost']:,.0f}"
        return (
            f"±{self.precision:g} (90%): {best['people']} people with {best['items_per_person']} of {best['items']} "
            f"items each, {best['hours']:.1f} hours{cost}; rates {self.source}"
        )


def plan_exam(exam: Exam, terms: PlanTerms, rates: dict[str, float] | None = None) -> ExamPlan:
    """Plan how many people and items a precision takes.

    Parameters
    ----------
    exam : Exam
        The exam.
    terms : PlanTerms
        The precision and the terms of the panel.
    rates : dict[str, float], optional
        Estimates of people's rates by item; 0.5 where there are none.

    Returns
    -------
    ExamPlan
        The designs.

    Raises
    ------
    MensuraError
        If a rate is not between 0 and 1.

    Examples
    --------
    >>> plan_exam(read_exam("example"), PlanTerms(precision=0.05)).plan["half_width"].max() <= 0.05
    True

    """
    given = [(rates or {}).get(item.item) for item in exam.scored]
    shares = np.array([0.5 if rate is None else rate for rate in given])
    if np.any((shares <= 0.0) | (shares >= 1.0)):
        raise MensuraError("rates: one is not between 0 and 1; expected the share of people who are right")
    n = len(shares)
    estimated = all(rate is not None for rate in given)
    subsets = sorted(
        {n, *(round(n * share) for share in (0.5, 0.25) if estimated and round(n * share) >= 10)}, reverse=True
    )
    each = sorted(
        {exam.per_person, *(k for k in (5, 10, 12, 15, 20, 30, 40, 60) if k <= n), n if n <= 100 else exam.per_person}
    )
    rows = [row for m in subsets for k in each if k <= m and (row := _design(shares, m, k, terms)) is not None]
    schema = ["items", "items_per_person", "people", "answers_per_item", "half_width", "minutes", "hours", "cost"]
    table = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
    by = "cost" if table.height and table["cost"].null_count() == 0 else "hours"
    source = "estimated" if estimated else "unknown, taken as 0.5"
    return ExamPlan(table.sort(by, "people") if table.height else table, terms.precision, source)


def _design(rates: Floats, m: int, k: int, terms: PlanTerms) -> tuple[float | int | None, ...] | None:
    """Return one row of the plan; None where no number of people is enough."""
    per_person = person_variance(rates, k)
    departures = float(((DEPARTURE * (rates * (1.0 - rates))) ** 2).mean())
    unseen = (1.0 - m / len(rates)) * departures / m
    room = (terms.precision / Z90) ** 2 - unseen
    if room <= 0.0 or per_person / room > MOST_PEOPLE:
        return None
    people = max(2, int(np.ceil(per_person / room)))
    minutes = ENTERING + k * terms.seconds_per_item / 60.0
    hours = people * minutes / 60.0
    cost = None if terms.pay_per_hour is None else hours * terms.pay_per_hour * (1.0 + terms.fee)
    half = float(Z90 * np.sqrt(per_person / people + unseen))
    return m, k, people, round(people * k / m, 1), half, minutes, hours, cost


def person_variance(rates: Floats, k: int) -> float:
    """Return the variance of one person's mean over k items about the items' rates."""
    difficulty = -logit(rates) * np.sqrt(1.0 + PEOPLE_SD**2 * np.pi / 8.0)
    chance = scipy.special.expit(PEOPLE_SD * _NODES[:, None] - difficulty)
    mass = _MASS / _MASS.sum()
    means = chance.mean(axis=1)
    between = float(mass @ (means - mass @ means) ** 2)
    within = float(mass @ (chance * (1.0 - chance)).mean(axis=1))
    return between + within / k
