"""From item scale to ruler: an ability as the share of people who have as much, a percentile, an IQ-equivalent.

Where people took the items their group's abilities are known: normal, with mean μ and standard deviation σ. Where
only their success rates are known, published or carried to the world's population, μ and σ are those under which the
items would have these rates. A subject of ability θ then stands (θ − μ)/σ standard deviations above the people's
mean. New subjects are scored on the items of a fit that stays as it is.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, just_above, logit
from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.responses.adaptive import Aim
from mensura.responses.bank import ItemBank, answers_in_bank, foreign_items
from mensura.responses.invariance import Invariance, check_invariance
from mensura.responses.result import ResponseFit, ability_table
from mensura.scale import Z90
from mensura.scale.ruler import rate_to_one_in


def score_new(fit: ResponseFit, answers: Any, *, aim: Aim | None = None) -> ResponseFit:
    """Score new subjects on the unchanged scale and items of a fit. Intervals contain the errors of the items.

    Parameters
    ----------
    fit
        The fit, which stays as it is.
    answers
        Responses of the new subjects: whatever :func:`mensura.responses.read_responses` takes, or what it returns.
    aim
        The normal prior of an ability, by default wider than the people, because a model can exceed them all.

    Returns
    -------
    ResponseFit
        The same fit with the new subjects, for :func:`place_among`.

    Raises
    ------
    MensuraError
        If a subject took no item of the fit.

    Examples
    --------
    >>> from mensura.responses import fit_responses, read_responses, score_new
    >>> fit = fit_responses({"subject": list("abcd"), "q1": [1, 1, 0, 1], "q2": [0, 1, 0, 0]}, model="rasch")
    >>> score_new(fit, read_responses({"subject": ["new"], "q1": [1], "q2": [1]})).subjects["subject"].to_list()
    ['new']

    """
    aim = aim or Aim()
    who, right, trials = answers_in_bank(answers, fit.bank)
    for name, taken in zip(who["subject"], trials.sum(axis=1), strict=True):
        if not taken:
            raise foreign_items(name, fit.bank)
    return replace(fit, subjects=place_subjects(fit.bank, who, right, trials, aim))


def place_subjects(bank: ItemBank, who: pl.DataFrame, right: Floats, trials: Floats, aim: Aim) -> pl.DataFrame:
    """Return subjects with their abilities on a bank; ``right``, ``trials``: subjects × items, as of ``bank.place``."""
    places = [bank.place(*one, mean=aim.mean, sd=aim.sd) for one in zip(right, trials, strict=True)]
    names = ("ability", "se", "weighted", "se_weighted")
    ability, se, weighted, se_weighted = (np.array([getattr(place, name) for place in places]) for name in names)
    highest = np.array([len(codes) for codes in bank.categories]) if bank.categories else 1.0
    subjects = who.with_columns(
        wle=weighted,
        se_wle=se_weighted,
        n=pl.Series([place.n for place in places], dtype=pl.Int64),
        rate=pl.Series((right / highest).sum(axis=1) / trials.sum(axis=1)),
    )
    return ability_table(subjects, ability, se)


PEOPLE_OF_RATES = "people of the rates"
LEAST_ITEMS = 5
"""Items with rates that a population is placed by."""
_LEAST_RATE = 0.005
"""Rates nearer to 0 or 1 do not place a population; nor can one without counts tell rarer successes."""
_DRAWS = 4000
_WIDEST = 10.0
"""Logarithm of the widest, and narrowest, spread of people that is drawn: rates that tell none could draw any."""
_NODES = np.linspace(-6.0, 6.0, 81)
_FURTHEST = 7.5
"""Standard deviations from the people's mean beyond which nobody is left to compare with; readings stop there."""


class PeopleScale(NamedTuple):
    """A population on the item scale: mean and log standard deviation, their covariance, and how it is known."""

    name: str
    mean: float
    log_sd: float
    covariance: Floats
    status: str
    items: int
    tested: float


@dataclass(frozen=True, eq=False, repr=False)
class AmongPeople(Result):
    """Show subjects among people.

    Attributes
    ----------
    subjects
        subject, group, ability, rate (share of the people who have as much ability or more) with low and high, one_in,
        percentile, iq with iq_low and iq_high (90%), population, status, and at_least: whether one_in, percentile and
        iq are cut at the number of people tested.
    population
        Mean and sd on the item scale, and how many were ``tested``.
    warnings
        What to know before using the numbers.
    invariance
        Whether items behave alike for these people and each group of subjects. Where they differ too much, rate,
        one_in, percentile and iq of the group are empty.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "population")
    DIGITS: ClassVar[int] = 2

    subjects: pl.DataFrame
    population: pl.DataFrame
    warnings: tuple[str, ...] = ()
    invariance: tuple[Invariance, ...] = ()

    @property
    def heading(self) -> str:
        """Who is compared with whom."""
        row = self.population.row(0, named=True)
        return f"{self.subjects.height:,} subjects among {row['population']} ({row['status']}, {row['items']} items)"


def place_among(
    fit: ResponseFit, *, group: str | None = None, rates: Any = None, name: str = PEOPLE_OF_RATES, seed: int = 0
) -> AmongPeople:
    """Place the subjects of a fit among people.

    Abilities are those of the weighted likelihood, because a posterior mean is drawn to the middle and makes high and
    low abilities too common. Intervals contain the errors of the ability, of the people's mean and spread and, with
    rates, the scatter of items.

    Parameters
    ----------
    fit
        The fit of all subjects.
    group
        The group of the fit that the people are; or give ``rates``.
    rates
        A table of item and rate of other people with, where known, n, or low and high (90%).
    name
        What to call the people of the rates.
    seed
        Of the draws.

    Returns
    -------
    AmongPeople
        Share of the people with as much ability, percentile and IQ-equivalent of each subject.

    Raises
    ------
    MensuraError
        If neither or both of ``group`` and ``rates`` are given, or too few items have rates.

    Examples
    --------
    >>> from mensura.responses import fit_responses, place_among
    >>> fit = fit_responses({"subject": list("abcd"), "q1": [1, 1, 0, 1], "q2": [0, 1, 0, 0]}, model="rasch")
    >>> place_among(fit, group="all").subjects["subject"].to_list()
    ['a', 'b', 'c', 'd']

    """
    if (group is None) == (rates is None):
        raise MensuraError("place_among: give a group of the fit or a table of rates, one of the two")
    if group is not None and name != PEOPLE_OF_RATES:
        raise MensuraError("name: it names the people of rates, and a group has its own name. Leave it out")
    if group is not None:
        people, checks = _of_group(fit, group), _between_groups(fit, group)
    else:
        people, differences = _of_rates(fit.bank, rates, name)
        groups = fit.subjects["group"].unique()
        checks = [check_invariance(differences.with_columns(group=pl.lit(group))) for group in groups]
    rng = np.random.default_rng(seed)
    where = rng.multivariate_normal([people.mean, people.log_sd], people.covariance, _DRAWS, method="eigh")
    noise, spread = rng.normal(size=_DRAWS), np.exp(np.clip(where[:, 1], -_WIDEST, _WIDEST))
    of_rarity = ("wle", "se_wle") if "wle" in fit.subjects.columns else ("ability", "se")
    ability, error = (fit.subjects[column].to_numpy() for column in of_rarity)
    z = np.empty((3, len(ability)))
    z[0] = (ability - people.mean) / np.exp(people.log_sd)
    for place, (theta, se) in enumerate(zip(ability, error, strict=True)):
        drawn = (theta + se * noise - where[:, 0]) / spread
        z[1:, place] = np.quantile(drawn, [0.05, 0.95])
    middle, low, high = np.clip(z, -_FURTHEST, _FURTHEST)
    rarest = scipy.special.ndtri(1.0 - 1.0 / max(people.tested, 2.0))
    rate, share_low, share_high = (scipy.special.ndtr(-end) for end in (middle, high, low))
    one_in = rate_to_one_in(np.asarray(rate))
    shares = {"rate": rate, "low": share_low, "high": share_high, "one_in": np.minimum(one_in, people.tested)}
    percentile = 100.0 * np.minimum(scipy.special.ndtr(middle), 1.0 - 1.0 / people.tested)
    ends = {"iq": np.minimum(middle, rarest), "iq_low": np.minimum(low, rarest), "iq_high": high}
    points = {name: 100.0 + 15.0 * end for name, end in ends.items()}
    about = {"population": pl.lit(people.name), "status": pl.lit(people.status)}
    columns = {"ability": ability} | shares | {"percentile": percentile} | points | about
    table = fit.subjects.select("subject", "group").with_columns(**columns, at_least=pl.Series(one_in > people.tested))
    sd, errors = float(np.exp(people.log_sd)), np.sqrt(np.diag(people.covariance))
    values = {"mean": people.mean, "sd": sd, "se_mean": float(errors[0]), "se_sd": float(errors[1] * sd)}
    about_people = {name: getattr(people, name) for name in ("items", "tested", "status")}
    far = int(np.sum(np.abs(middle) > just_above(3.0)))
    warning = f"{far} of {table.height} subjects stand beyond 3 standard deviations, where normality is a guess"
    refused = pl.col("group").is_in([one.group for one in checks if one.verdict == "different"])
    places = ("rate", "low", "high", "one_in", "percentile", "iq", "iq_low", "iq_high")
    table = table.with_columns(
        *(pl.when(~refused).then(place).alias(place) for place in places), at_least=pl.col("at_least") & ~refused
    )
    doubts = [one.sentence for one in checks if one.verdict != "alike"]
    population = pl.DataFrame([{"population": people.name, **values, **about_people}])
    return AmongPeople(table, population, (*doubts, warning) if far else tuple(doubts), tuple(checks))


def _between_groups(fit: ResponseFit, group: str) -> list[Invariance]:
    """Compare items between the people of a fit and each other group that the fit compared with them."""
    checks, p = [], fit.bank.parameters
    places = {item: place for place, item in enumerate(fit.bank.items)}
    for other in fit.subjects["group"].unique(maintain_order=True):
        rows = fit.dif.filter(pl.all_horizontal(pl.col("group", "reference").is_in([other, group])))
        if other == group or not rows.height:
            continue
        at = [places[item] for item in rows["item"]]
        slope, difficulty = p.slope[at], (p.slope * p.difficulty)[at]
        shared = float(fit.groups.filter(pl.col("group") == rows["group"][0])["se_mean"].fill_null(0.0).sum())
        own = rows["se"].to_numpy() ** 2 - (slope * shared) ** 2  # the error of the group's mean moves all items alike
        se = np.sqrt(np.maximum(own, (rows["se"].to_numpy() / 2) ** 2))
        rows = rows.with_columns(group=pl.lit(other), reference=pl.lit(group), se=se)
        checks.append(check_invariance(rows, difficulty))
    return checks


def _of_group(fit: ResponseFit, group: str) -> PeopleScale:
    check_choice("group", group, fit.groups["group"].to_list())
    row = fit.groups.row(by_predicate=pl.col("group") == group, named=True)
    count = max(1, row["subjects"])
    of_mean = row["se_mean"] if row["se_mean"] is not None else row["sd"] / np.sqrt(count)
    of_log_sd = (row["se_sd"] / row["sd"]) if row["se_sd"] is not None else 1.0 / np.sqrt(2.0 * count)
    covariance = np.diag([float(of_mean) ** 2, float(of_log_sd) ** 2])
    return PeopleScale(group, row["mean"], float(np.log(row["sd"])), covariance, "measured", fit.items.height, count)


def _of_rates(bank: ItemBank, rates: Any, name: str) -> tuple[PeopleScale, pl.DataFrame]:
    """Find the normal population under which the items have these rates (least squares of logits).

    Second: how much easier each item is for the subjects than these rates say, with its error.
    """
    if bank.categories:
        raise MensuraError("rates: items with ratings have no share right; place subjects among a group of the fit")
    frame = as_frame(rates, name="rates")
    require_columns(frame, ["item", "rate"], name="rates")
    places = {item: place for place, item in enumerate(bank.items)}
    usable = pl.col("item").is_in(list(places)) & pl.col("rate").is_between(_LEAST_RATE, 1.0 - _LEAST_RATE)
    placing = frame.with_columns(pl.col("item").cast(pl.String)).filter(usable)
    if placing.height < LEAST_ITEMS:
        number = f"{placing.height} of the fit's items have a rate between 0 and 1"
        raise MensuraError(f"rates: {number}; at least {LEAST_ITEMS} are needed")
    some = bank.only([places[item] for item in placing["item"]])
    target = logit(placing["rate"].to_numpy())
    weight = 1.0 / np.sqrt(_variance(placing) + 0.05)

    def off(x: Floats) -> Floats:
        mass = np.exp(-0.5 * _NODES**2)
        implied = some.chances(x[0] + np.exp(x[1]) * _NODES) @ (mass / mass.sum())
        gaps: Floats = weight * (logit(np.clip(implied, 1e-6, 1.0 - 1e-6)) - target)
        return gaps

    best = scipy.optimize.least_squares(off, np.array([0.0, 0.0]), bounds=([-8.0, -2.5], [8.0, 2.0]))
    scatter = 2.0 * best.cost / max(1, placing.height - 2)
    slopes = np.asarray(best.jac, dtype=np.float64)
    covariance = np.asarray(np.linalg.inv(slopes.T @ slopes + 1e-9 * np.eye(2)) * max(1.0, scatter), np.float64)
    status = "extrapolated" if {"low", "high"} <= set(frame.columns) else "from rates"
    tested = placing["n"].cast(pl.Float64).max() if "n" in placing.columns else None
    most = 1.0 / _LEAST_RATE if tested is None else float(tested)  # type: ignore[arg-type]
    people = PeopleScale(name, float(best.x[0]), float(best.x[1]), covariance, status, placing.height, most)
    known = _variance(placing) > 0
    se = np.sqrt(_variance(placing) + (some.parameters.slope * some.errors[:, 1]) ** 2)
    gaps = {"item": placing["item"], "difference": off(best.x) / weight, "se": np.where(known, se, np.nan)}
    return people, pl.DataFrame(gaps).with_columns(reference=pl.lit(name))


def _variance(rates: pl.DataFrame) -> Floats:
    """Return the variance of each logit rate, from its count or its interval."""
    rate = rates["rate"].to_numpy()
    if {"low", "high"} <= set(rates.columns):
        ends = (rates[side].cast(pl.Float64).fill_null(0.5).to_numpy() for side in ("low", "high"))
        low, high = (logit(np.clip(end, 0.001, 0.999)) for end in ends)
        return np.asarray(((high - low) / (2.0 * Z90)) ** 2)
    if "n" not in rates.columns:
        return np.zeros(len(rate))
    n = np.maximum(rates["n"].cast(pl.Float64).fill_null(30.0).to_numpy(), 1.0)
    return np.asarray(1.0 / (n * rate * (1.0 - rate)))
