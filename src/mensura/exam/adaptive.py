"""Adaptive exams: the next item by information, the end by the standard error, takers on the scale of the bank.

The choice follows from the answers, the seed and the number of the sitting alone. So a sitting that goes on, and a
model that is asked again, meet the same items.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.results import Result
from mensura.exam.file import Exam
from mensura.responses import Aim, CountRules, ItemBank, ResponseFit, next_items, read_responses
from mensura.responses.among import place_subjects
from mensura.responses.bank import answers_in_bank
from mensura.responses.irt.differences import empty_dif
from mensura.responses.irt.model import Parameters
from mensura.scale import Z90

WIDE = 1.5
"""Standard deviation of the prior while items are chosen: wider than the people behind the bank."""
FEWEST = 5
"""People below which there is no scale of their own."""
_PASSES = 6


def next_names(exam: Exam, number: int, given: tuple[str, ...], earned: Mapping[str, float]) -> list[str]:
    """Return the items that a sitting gets after those given, empty where it is over.

    ``earned``: the share of full credit of each given item that counts; a missing one earned nothing.
    """
    rules = exam.settings.adaptive
    answers = {name: (earned.get(name, 0.0), 1.0) for name in given if exam.by_name[name].counts}
    if len(answers) >= exam.per_person:
        return []
    rng = np.random.default_rng([exam.settings.seed, number])
    chosen = next_items(
        _open_bank(exam, number, set(answers)), answers, aim=Aim(0.0, WIDE, Z90 * rules.se), choice="best"
    )
    if len(answers) >= rules.least_items and chosen.standing["done"][0]:
        return []
    places = rng.integers(1, rules.least_items + 1, len(exam.checks))
    checks = [check.item for check, at in zip(exam.checks, places, strict=True) if at == len(answers)]
    return [*checks, *chosen.next["item"].to_list()]


def _open_bank(exam: Exam, number: int, given: set[str]) -> ItemBank:
    """Return the items that one sitting may get: a random part, and those already given.

    The parts of successive sittings follow each other round a circle of items. So of any number of sittings, an item
    is open for the share ``exposure`` at most, but for one sitting. Each full turn of the circle draws a new one.
    """
    items, rules = exam.bank.items, exam.settings.adaptive
    size = max(rules.open_items(len(items)), 1)
    turn = len(items) // math.gcd(len(items), size)  # sittings after which the parts meet the end of the circle
    circle = np.random.default_rng([exam.settings.seed, 1 + (number - 1) // turn, 2**32]).permutation(len(items))
    part = circle[((number - 1) % turn * size + np.arange(size)) % len(items)]
    return exam.bank.only(sorted({*part.tolist(), *(items.index(name) for name in given)}))


def place_takers(exam: Exam, outcomes: pl.DataFrame, people: str, weights: Mapping[str, float]) -> ResponseFit:
    """Return takers on the scale of the bank: its items as they are, people's mean and spread from their answers."""
    bank = exam.bank
    graded = outcomes.drop_nulls("score").filter(pl.col("item").is_in(bank.items))
    answers = read_responses(
        graded.select("subject", "item", group="kind", correct="score"), rules=CountRules(repeats="average")
    )
    who, right, trials = answers_in_bank(answers, bank)
    is_person = (who["group"] == people).to_numpy()
    own = who.filter(is_person)
    moments = {"mean": 0.0, "sd": 1.0, "se_mean": 1.0, "se_sd": 1.0}  # of the people behind the bank
    for _ in range(_PASSES if own.height >= FEWEST else 0):  # each pass makes people's answers more likely (EM)
        aim = Aim(moments["mean"], moments["sd"])
        moments = moments_of(place_subjects(bank, own, right[is_person], trials[is_person], aim), weights)
    mean, sd = moments["mean"], moments["sd"]
    kinds = ((is_person, Aim(mean, sd)), (~is_person, Aim(mean, 2.0 * sd)))
    subjects = pl.concat(
        [place_subjects(bank, who.filter(kind), right[kind], trials[kind], aim) for kind, aim in kinds]
    )
    groups = {"group": people, "subjects": own.height, **moments}
    assert isinstance(bank.parameters, Parameters)  # a bank of ratings is refused when the exam is read
    slope = bank.parameters.slope
    curves = {"item": bank.items, "discrimination": slope, "difficulty": -bank.parameters.intercept / slope}
    unknown = pl.lit(None, pl.Float64)
    empty = pl.DataFrame()
    return ResponseFit(
        "bank",
        subjects.with_columns(rate=expected_rates(bank, subjects["ability"].to_numpy())),
        pl.DataFrame(curves).with_columns(fit=unknown, fit_q=unknown),
        pl.DataFrame([groups]),
        *(empty_dif(), empty, empty, empty),
        log_likelihood=float("nan"),
        passes=_PASSES,
        converged=True,
    )


def moments_of(people: pl.DataFrame, weights: Mapping[str, float]) -> dict[str, float]:
    """Return mean and standard deviation of weighted people's abilities, with their errors."""
    weight = np.array([weights.get(subject, 1.0) for subject in people["subject"]])
    ability, error = people["ability"].to_numpy(), people["se"].to_numpy()
    mean = float(np.average(ability, weights=weight))
    sd = float(np.sqrt(np.average((ability - mean) ** 2 + error**2, weights=weight)))
    n = float(weight.sum() ** 2 / (weight**2).sum())
    return {"mean": mean, "sd": sd, "se_mean": sd / n**0.5, "se_sd": sd / (2.0 * n) ** 0.5}


def expected_rates(bank: ItemBank, ability: list[float] | Floats) -> Floats:
    """Return the share of all items of the bank that takers of these abilities would get right."""
    rates: Floats = bank.chances(np.asarray(ability, dtype=np.float64)).mean(axis=0)
    return rates


# A simulation before the exam: how many items the adaptive form saves, and at which error


@dataclass(frozen=True, eq=False, repr=False)
class AdaptivePlan(Result):
    """Compare the adaptive form with fixed forms, by simulated takers whose abilities are known.

    Attributes
    ----------
    plan : pl.DataFrame
        form, items (mean per taker), most_items (nine of ten takers get at most so many), error (root mean square, in
        standard deviations of the people behind the bank), coverage of the 90% intervals, exposure (share of takers
        who get the item that is given most).

    """

    TABLES: ClassVar[tuple[str, ...]] = ("plan",)

    plan: pl.DataFrame

    @property
    def heading(self) -> str:
        """What the adaptive form saves."""
        own, *fixed = self.plan.to_dicts()
        same = next((row for row in fixed if row["error"] <= own["error"]), None)
        needs = f"a fixed form needs {same['items']:.0f}" if same else "no fixed form of these reaches it"
        return f"Adaptive: {own['items']:.1f} items on average for an error of {own['error']:.2f}; {needs}"


def plan_adaptive(exam: Exam, takers: int = 200, seed: int = 0) -> AdaptivePlan:
    """Simulate takers of an adaptive exam, and of fixed forms drawn at random.

    Parameters
    ----------
    exam : Exam
        An exam with ``form = "adaptive"``.
    takers : int
        Simulated takers per form; their abilities are normal, as those of the people behind the bank.
    seed : int
        Seed of the simulation.

    Returns
    -------
    AdaptivePlan
        Items, error, coverage and exposure of each form.

    Examples
    --------
    >>> plan_adaptive(read_exam("adaptive-exam"), takers=50).heading  # doctest: +SKIP

    """
    bank = exam.bank
    rng = np.random.default_rng(seed)
    abilities = rng.normal(size=takers)
    right = rng.random((len(bank.items), takers)) < bank.chances(abilities)
    by_name = {name: at for at, name in enumerate(bank.items)}

    def sit(taker: int) -> list[int]:
        given: tuple[str, ...] = ()
        while more := next_names(exam, taker, given, {name: float(right[by_name[name], taker]) for name in given}):
            given += tuple(name for name in more if name in by_name)
        return [by_name[name] for name in given]

    def row_of(form: str, sittings: Iterable[Sequence[int]]) -> tuple[object, ...]:
        taken = np.zeros((takers, len(bank.items)))
        for taker, items in enumerate(sittings):
            taken[taker, items] = 1.0
        who = pl.DataFrame({"subject": [str(taker) for taker in range(takers)]})
        placed = place_subjects(bank, who, taken * right.T, taken, Aim(0.0, 1.0))
        off, counts = placed["ability"].to_numpy() - abilities, taken.sum(axis=1)
        error, inside = float(np.sqrt(np.mean(off**2))), float(np.mean(np.abs(off) <= Z90 * placed["se"].to_numpy()))
        most, exposure = float(np.quantile(counts, 0.9)), float(taken.mean(axis=0).max())
        return form, float(counts.mean()), most, error, inside, exposure

    n = len(bank.items)
    rows = [row_of("adaptive", map(sit, range(takers)))]
    for size in [*(size for size in (5, 10, 15, 20, 30, 50, 80) if size < n), n]:
        rows.append(row_of(f"{size} items", [rng.choice(n, size, replace=False).tolist() for _ in range(takers)]))
    columns = ["form", "items", "most_items", "error", "coverage", "exposure"]
    return AdaptivePlan(pl.DataFrame(rows, schema=columns, orient="row"))
