"""How many people and items a wanted precision takes, from estimated rates and the planned design.

A person with ability θ answers an item rightly with a logistic chance; abilities are normal. The mean rate of P people,
each with k items, has variance (V + W / k) / P: V is the variance of people's true means, W the mean variance of single
answers. Items of the exam that nobody answers add the variance of their departures from the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, logit
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.exam.file import Exam

_Z = 1.6448536269514722
_NODES, _MASS = np.polynomial.hermite_e.hermegauss(61)
DEPARTURE = 0.6
"""Usual spread, in logits, of real rates about a line in a language model's estimates."""
MOST_PEOPLE = 100_000
ENTERING = 2.0
"""Minutes that a person needs for consent, questions and instructions."""


@dataclass(frozen=True)
class PlanTerms:
    """What a plan is made for: half the 90% interval of the mean rate, and the terms of the panel.

    ``departure``: spread of rates about their estimates, in logits; used where ``rates`` are estimates. ``people_sd``:
    spread of people's abilities, in logits.
    """

    precision: float
    seconds_per_item: float = 45.0
    pay_per_hour: float | None = None
    fee: float = 0.0
    departure: float = DEPARTURE
    people_sd: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.precision < 0.5:
            raise MensuraError(
                f"precision: got {self.precision}; expected a half width between 0 and 0.5, such as 0.03"
            )


@dataclass(frozen=True, eq=False, repr=False)
class ExamPlan(Result):
    """Designs that reach the precision, the cheapest first.

    ``plan``: items given to people, items_per_person, people, answers_per_item, half_width, minutes per person, hours
    of all, cost.
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
    """Return the designs that reach a precision; ``rates`` are estimates by item, 0.5 where there are none."""
    known = [(rates or {}).get(item.item) for item in exam.scored]
    found = np.array([0.5 if rate is None else rate for rate in known])
    if np.any((found <= 0.0) | (found >= 1.0)):
        raise MensuraError("rates: one is not between 0 and 1; expected the share of people who are right")
    n = len(found)
    estimated = all(rate is not None for rate in known)
    subsets = sorted(
        {n, *(round(n * share) for share in (0.5, 0.25) if estimated and round(n * share) >= 10)}, reverse=True
    )
    each = sorted(
        {exam.per_person, *(k for k in (5, 10, 12, 15, 20, 30, 40, 60) if k <= n), n if n <= 100 else exam.per_person}
    )
    rows = [row for m in subsets for k in each if k <= m and (row := _design(found, m, k, terms)) is not None]
    schema = ["items", "items_per_person", "people", "answers_per_item", "half_width", "minutes", "hours", "cost"]
    table = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
    by = "cost" if table.height and table["cost"].null_count() == 0 else "hours"
    source = "estimated" if estimated else "unknown, taken as 0.5"
    return ExamPlan(table.sort(by, "people") if table.height else table, terms.precision, source)


def _design(rates: Floats, m: int, k: int, terms: PlanTerms) -> tuple[float | int | None, ...] | None:
    """Return one row of the plan; None where no number of people is enough."""
    per_person = person_variance(rates, k, terms.people_sd)
    unseen = (1.0 - m / len(rates)) * _departure_variance(rates, terms.departure) / m
    room = (terms.precision / _Z) ** 2 - unseen
    if room <= 0.0 or per_person / room > MOST_PEOPLE:
        return None
    people = max(2, int(np.ceil(per_person / room)))
    minutes = ENTERING + k * terms.seconds_per_item / 60.0
    hours = people * minutes / 60.0
    cost = None if terms.pay_per_hour is None else hours * terms.pay_per_hour * (1.0 + terms.fee)
    half = float(_Z * np.sqrt(per_person / people + unseen))
    return m, k, people, round(people * k / m, 1), half, minutes, hours, cost


def person_variance(rates: Floats, k: int, people_sd: float) -> float:
    """Return the variance of one person's mean over k items about the items' rates."""
    difficulty = -logit(rates) * np.sqrt(1.0 + people_sd**2 * np.pi / 8.0)
    chance = scipy.special.expit(people_sd * _NODES[:, None] - difficulty)
    mass = _MASS / _MASS.sum()
    means = chance.mean(axis=1)
    between = float(mass @ (means - mass @ means) ** 2)
    within = float(mass @ (chance * (1.0 - chance)).mean(axis=1))
    return between + within / k


def _departure_variance(rates: Floats, departure: float) -> float:
    """Return the mean variance of rates whose logits depart from their estimates."""
    slope = rates * (1.0 - rates)
    return float(((departure * slope) ** 2).mean())
