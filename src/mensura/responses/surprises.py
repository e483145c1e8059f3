"""Find what a fit does not expect: subjects whose answers follow no ability, and answers far above a subject's ability.

A subject's answers are compared with the chances at its ability by the standardised log likelihood, corrected for the
ability that was estimated from the same answers (Snijders 2001; of ratings Sinharay 2016). An answer is tested by the
chance of as many right answers or more, or of as high a rating, averaged over the posterior of the ability. Both lists
have false discovery rates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy import special

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.responses.bank import ItemBank
from mensura.responses.categories import CATEGORY_MODELS, CategoryFit, fit_categories
from mensura.responses.fit import FitOptions, fit_responses
from mensura.responses.irt.differences import discovery_rates
from mensura.responses.irt.model import Items
from mensura.responses.irt.model_fit import category_chances, category_slopes
from mensura.responses.irt.shards import dense
from mensura.responses.reading import read_responses
from mensura.responses.result import ResponseFit
from mensura.responses.table import ResponseTable

_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_ROWS_AT_ONCE = 4_000_000
"""Subjects × items × categories that are compared at a time."""
_FLOOR, _RAREST = 1e-9, 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Surprises(Result):
    """Show what a fit does not expect.

    Attributes
    ----------
    subjects
        subject, group, ability, n, fit_z (negative: right and wrong answers are mixed up), p, q.
    answers
        subject, group, item, right, n, expected (right answers), p, q; those below the false discovery rate, the most
        surprising first. Of ratings there is ``category``, and ``right`` counts the answers as high or higher.
    rate
        The false discovery rate of the lists.
    warnings
        Those of the fit.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "answers")

    subjects: pl.DataFrame
    answers: pl.DataFrame
    rate: float
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """How much was found."""
        odd = self.subjects.filter(pl.col("q") < self.rate).height
        who = self.answers["subject"].n_unique()
        return (
            f"{odd} of {self.subjects.height:,} subjects answer unlike the fit, {self.answers.height:,} answers of "
            f"{who} subjects are far above their ability (false discovery rate {self.rate:.0%})"
        )


def find_surprises(responses: Any, *, model: str = "2pl", rate: float = 0.05) -> Surprises:
    """Fit responses, and list subjects and right answers that the fit does not expect.

    Items that leaked to a subject show as right answers far above its ability, which subjects of the same ability do
    not give. Repeats of an item make small probabilities possible: one right answer is never less probable than
    guessing.

    Parameters
    ----------
    responses
        Whatever :func:`mensura.responses.read_responses` takes, a :class:`ResponseTable`, or a fit of ratings.
    model
        ``rasch``, ``2pl`` or ``3pl``, or one of the models of :func:`mensura.responses.fit_categories`.
    rate
        The false discovery rate of the lists.

    Returns
    -------
    Surprises
        Odd subjects, and answers far above ability.

    Raises
    ------
    MensuraError
        If ``rate`` is not between 0 and 1, or the responses cannot be fitted.

    Examples
    --------
    >>> from mensura.responses import find_surprises
    >>> right = {"q1": [1, 1, 0, 1, 0], "q2": [0, 1, 0, 1, 0], "q3": [1, 1, 1, 0, 0]}
    >>> find_surprises({"subject": list("abcde"), **right}, model="rasch").answers.height
    0

    """
    if not 0.0 < rate < 1.0:
        raise MensuraError(f"rate: got {rate:g}; expected a false discovery rate between 0 and 1, such as 0.05")
    fit, counts = _fitted(responses, model)
    bank, of_subject = fit.bank, int(np.prod(counts(slice(0, 1)).shape))
    ability, error = (fit.subjects[name].to_numpy() for name in ("ability", "se"))
    z, answers_of_rows = np.zeros(len(ability)), []
    step = max(1, _ROWS_AT_ONCE // of_subject)
    for start in range(0, len(ability), step):
        rows = slice(start, start + step)
        z[rows] = person_fit(bank.parameters, ability[rows], counts(rows))
        answers_of_rows.append(_answers(bank.parameters, ability[rows], error[rows], counts(rows), start))
    answers, count = pl.concat(answers_of_rows), int(fit.subjects["n"].sum())
    unexpected = _answer_table(answers, fit.subjects, bank, count, rate)
    return Surprises(_subject_table(fit.subjects, z), unexpected, rate, fit.warnings)


def _fitted(responses: Any, model: str) -> tuple[ResponseFit, Callable[[slice], Floats]]:
    """Return the fit, and what gives the answers of some subjects: counts by item and category."""
    if isinstance(responses, CategoryFit) or model in CATEGORY_MODELS:
        rated = responses if isinstance(responses, CategoryFit) else fit_categories(responses, model=model)
        shape = -1, rated.items.height, int(rated.items["categories"].to_numpy().max())
        return rated, lambda rows: dense(rated.answers[rows]).astype(np.float64).reshape(shape)
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses)

    def counts(rows: slice) -> Floats:
        right = dense(table.right[rows]).astype(np.float64)
        trials = np.ones(right.shape) if table.trials is None else dense(table.trials[rows])
        return np.stack([trials - right, right], axis=2)

    return fit_responses(table, model=model, options=FitOptions(dif=False, checks=False)), counts


def person_fit(p: Items, ability: Floats, counts: Floats) -> Floats:
    """Return each subject's standardised log likelihood; ``counts``: subjects × items × categories."""
    chance, steep = (np.moveaxis(values(p, ability), 2, 0) for values in (category_chances, category_slopes))
    taken, weight = counts.sum(axis=2), np.log(np.maximum(chance, _RAREST))
    along = taken[:, :, None] * chance * steep
    share = np.sum(along * weight, axis=(1, 2)) / np.maximum(np.sum(along * steep, axis=(1, 2)), _FLOOR)
    weight = weight - share[:, None, None] * steep
    mean, square = (np.sum(chance * weight**power, axis=2) for power in (1, 2))
    total = np.sum(counts * weight, axis=(1, 2)) - np.sum(taken * mean, axis=1)
    z: Floats = total / np.sqrt(np.maximum(np.sum(taken * (square - mean**2), axis=1), _FLOOR))
    return z


def _from_above(values: Floats) -> Floats:
    """Return the sums of each category above the lowest and all higher ones (last axis)."""
    return np.asarray(np.cumsum(values[..., :0:-1], axis=-1)[..., ::-1])


def _answers(p: Items, ability: Floats, error: Floats, counts: Floats, start: int) -> pl.DataFrame:
    """Return subject (its row), item (its place), p and what else belongs to answers better than expected."""

    def chances(ability: Floats) -> Floats:
        return _from_above(np.moveaxis(category_chances(p, ability), 2, 0))

    right, trials = _from_above(counts), counts.sum(axis=2)[:, :, None]
    there = np.nonzero((counts[:, :, 1:] > 0.0) & (right >= 1.0) & (right > trials * chances(ability)))
    row, item, step = there
    k, n, p_value, expected = np.floor(right[there]), trials[row, item, 0], np.zeros(len(row)), np.zeros(len(row))
    for point, mass in zip(_POINTS, _WEIGHTS / _WEIGHTS.sum(), strict=True):
        chance = chances(ability + point * error)[there]
        p_value += mass * special.bdtrc(k - 1.0, n.astype(np.int64), chance)
        expected += mass * n * chance
    columns = {"right": right[there], "n": n.astype(np.int64), "expected": expected, "p": p_value}
    return pl.DataFrame({"row": row + start, "place": item, "step": step, **columns})


def _subject_table(subjects: pl.DataFrame, z: Floats) -> pl.DataFrame:
    p = special.ndtr(z)
    names = subjects.select("subject", "group", "ability", "n")
    return names.with_columns(fit_z=z, p=p, q=discovery_rates(p)).sort("p", "subject")


def _answer_table(
    answers: pl.DataFrame, subjects: pl.DataFrame, bank: ItemBank, tests: int, rate: float
) -> pl.DataFrame:
    """Return the answers below the false discovery rate among all answers of the table."""
    answers = answers.sort("p", "row", "place", "step")
    answers = answers.with_columns(q=discovery_rates(answers["p"].to_numpy(), tests)).filter(pl.col("q") < rate)
    items = pl.Series("item", bank.items).gather(answers["place"].cast(pl.UInt32))
    table = subjects.select("subject", "group")[answers["row"]].with_columns(items)
    if bank.categories:
        ratings = [bank.categories[place][step] for place, step in answers.select("place", "step").iter_rows()]
        table = table.with_columns(category=pl.Series(ratings, dtype=pl.Float64))
    return table.with_columns(answers.select("right", "n", "expected", "p", "q"))
