"""Learn how knowledge differs between countries beyond what their pupils' test results say.

``python -m tools.embed_departures``. From surveys that put the same questions to adults of several countries
(``benchmarks.country_surveys``), per survey one straight line through the countries: the logit of success, less what
schooling and age explain, on the learning score and the income group. Over surveys the coefficients are averaged with
the spread between surveys as part of their error (Paule and Mandel; what the world model expects counts as one more
survey), and that spread is the range of the assumption: the
next survey differs as these do. What is left of countries and of items within countries gives ``departures_knowledge``.
It is widened, because the next survey may be of another kind (a national sample, web visitors, an online panel): with k
kinds, the error of their mean adds 1/k to the variance.

Written are three rows of the world table ``assumptions``; no rate of any country is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.country_surveys import Survey, read_surveys
from mensura.core.arrays import logit
from mensura.core.files import write_csv
from mensura.extrapolation.abilities import Domain, Strata, abilities, central, read_curves
from mensura.extrapolation.facts import LOGITS_PER_PROBIT
from mensura.people import World, cells_of

if TYPE_CHECKING:
    from mensura.core.arrays import Floats

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "people" / "data" / "world" / "assumptions.csv"
FEWEST_COUNTRIES = 5  # for a line through them
EXPECTED_FOLLOW = (1.0, 0.5**2)
"""Before any survey: knowledge differs between countries as learning does; the second number is a squared error."""
EXPECTED_INCOME = (0.0, 0.3**2)
"""Before any survey: income adds nothing."""
STEPS = 60  # of bisection
SPREAD = sqrt(6)  # half the width of a symmetric triangular distribution, in its standard deviations


@dataclass(frozen=True)
class Line:
    """What one survey shows: coefficients with their squared errors, and what is left of countries and of items."""

    follow: float
    follow_error: float
    income: float | None
    income_error: float
    country: float
    item: float | None


def learn(surveys: Iterable[Survey], world: World) -> dict[str, tuple[float, float, float]]:
    """Return value, low and high of each learned assumption, from surveys of adults on knowledge."""
    surveys = list(surveys)
    lines = [line_of(survey, world) for survey in surveys]
    new_kind = sqrt(1 + 1 / len({survey.kind for survey in surveys}))
    follow = _typical([EXPECTED_FOLLOW, *((line.follow, line.follow_error) for line in lines)])
    income = _typical(
        [EXPECTED_INCOME, *((line.income, line.income_error) for line in lines if line.income is not None)]
    )
    items = [line.item for line in lines if line.item is not None]
    item = float(np.mean(items)) if items else 0.0
    # A survey of one item shows countries and items together.
    countries = [max(line.country - (item if line.item is None else 0.0), 0.0) for line in lines]
    assumed = dict(world.assumptions.select("assumption", "value").iter_rows())
    unit = logits_per_unit(world)
    factors = [sqrt(one) / unit / assumed["country_score"] for one in countries]
    factors += [sqrt(2 * one) / LOGITS_PER_PROBIT / assumed["item_by_country"] for one in items]
    factors = [new_kind * factor for factor in factors]
    usual = sqrt(float(np.mean(np.square(factors))))
    return {
        "follow_knowledge": _range(*follow, lowest=0.0),
        "income_knowledge": _range(*income, lowest=0.0),
        "departures_knowledge": (usual, min(usual, float(np.median(factors))), max(factors)),
    }


def line_of(survey: Survey, world: World) -> Line:
    """Fit one survey; coefficients are in units of ability per unit of learning and per income group."""
    unit = logits_per_unit(world)
    place = np.array([_place(survey, country, world) for country in survey.countries])
    rate, n = survey.table(), survey.table("n")
    y = logit((rate * n + 0.5) / (n + 1)) - unit * place[:, 0]
    noise = 1 / (n * rate.clip(0.01, 0.99) * (1 - rate.clip(0.01, 0.99)))
    y = y - np.nanmean(y, axis=1, keepdims=True)
    mean, parts = np.nanmean(y, axis=0), np.isfinite(y).sum(axis=0)
    columns = [np.ones(len(mean)), unit * place[:, 1]]
    poorer = survey.n_options is None and np.ptp(place[:, 2]) > 0
    if poorer:
        columns.append(unit * place[:, 2])
    design = np.column_stack(columns)
    coefficients, *_ = np.linalg.lstsq(design, mean, rcond=None)
    left = mean - design @ coefficients
    variance = float(left @ left) / max(len(mean) - design.shape[1], 1)
    error = np.diag(np.linalg.inv(design.T @ design)) * variance
    within = None
    if len(y) > 1:
        around = y - mean
        free = np.isfinite(around).sum() - len(mean) - len(y) + 1
        within = max(float(np.nansum(around**2)) / free - float(np.nanmean(noise)), 0.0)
    sampled = float(np.nanmean(np.nanmean(noise, axis=0) / parts))
    country = max(variance - sampled - (within or 0.0) / float(np.mean(parts)), 0.0)
    return Line(
        float(coefficients[1]),
        float(error[1]),
        float(coefficients[2]) if poorer else None,
        float(error[2]) if poorer else 0.0,
        country,
        within,
    )


def logits_per_unit(world: World) -> float:
    """Return the logits by which success of adults changes per unit of ability in knowledge."""
    value = dict(world.assumptions.select("assumption", "value").iter_rows())
    spread = np.sqrt(value["adult_sd"] ** 2 + value["specialisation"] ** 2 + value["slope"] ** -2)
    return float(LOGITS_PER_PROBIT / spread)


def _place(survey: Survey, country: str, world: World) -> tuple[float, float, float]:
    """Return mean ability apart from learning and income, the learning score with its link, and the income group."""
    people = world.population(country).with_(ages=survey.ages)
    cells = cells_of(people, world)
    strata = Strata.from_cells(cells)
    stated = central(world.assume(follow_knowledge=0.0, income_knowledge=0.0).assumptions)
    rest = abilities(strata, stated, Domain("knowledge", False, read_curves(world.curves)), given="").mean[0]
    return (
        float(strata.weight @ rest),
        float(strata.weight @ (strata.learning + strata.regional)),
        float(strata.weight @ strata.income),
    )


def _typical(found: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of coefficients and the SD of the next one: between surveys, and of the mean itself."""
    value, error = (np.array(part) for part in zip(*found, strict=True))

    def excess(between: float) -> float:
        weight = 1 / (error + between)
        mean = weight @ value / weight.sum()
        return float(weight @ (value - mean) ** 2) - (len(value) - 1)

    low, high = 0.0, 10.0
    for _ in range(STEPS if excess(0.0) > 0 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    weight: Floats = 1 / (error + low)
    return float(weight @ value / weight.sum()), sqrt(low + 1 / weight.sum())


def _range(mean: float, sd: float, lowest: float) -> tuple[float, float, float]:
    value = max(mean, lowest)
    return value, max(value - SPREAD * sd, lowest), value + SPREAD * sd


def adults(surveys: dict[str, Survey]) -> list[Survey]:
    """Return the surveys to learn from: each item of a survey with few items and many countries counts as a survey."""
    return [
        part
        for survey in surveys.values()
        if not survey.pupils and len(survey.countries) >= FEWEST_COUNTRIES
        for part in survey.parts()
    ]


def with_learned(world: World, learned: dict[str, tuple[float, float, float]], basis: str | None = None) -> World:
    """Return the world tables with learned rows of the assumptions."""
    rows = [
        row
        | dict(zip(("value", "low", "high"), (round(number, 2) for number in learned[row["assumption"]]), strict=True))
        | ({"basis": basis} if basis else {})
        if row["assumption"] in learned
        else row
        for row in world.assumptions.iter_rows(named=True)
    ]
    return replace(world, assumptions=pl.DataFrame(rows, schema=world.assumptions.schema))


def main() -> None:
    surveys, world = adults(read_surveys()), World.load()
    for survey in surveys:
        print(survey.name, line_of(survey, world))
    learned = learn(surveys, world)
    basis = f"Learned by tools.embed_departures from {len(surveys)} sets of items put to adults of several countries"
    table = with_learned(world, learned, basis).assumptions
    write_csv(table, TARGET)
    print(table.filter(pl.col("assumption").is_in(list(learned))))


if __name__ == "__main__":
    main()
