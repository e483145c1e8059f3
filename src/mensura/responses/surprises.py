"""Find what a fit does not expect: subjects whose answers follow no ability, and answers far above a subject's ability.

A subject's answers are compared with the chances at its ability by the standardised log likelihood, corrected for the
ability that was estimated from the same answers (Snijders 2001). An answer is tested by the chance of as many right
answers or more, averaged over the posterior of the ability. Both lists have false discovery rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy import special

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.responses.bank import ItemBank
from mensura.responses.fit import FitOptions, fit_responses
from mensura.responses.irt.differences import discovery_rates
from mensura.responses.irt.shards import dense
from mensura.responses.reading import read_responses
from mensura.responses.table import ResponseTable

_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_ROWS_AT_ONCE = 2_000_000
"""Subjects × items that are compared at a time."""
_FLOOR = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Surprises(Result):
    """Show what a fit does not expect.

    Attributes
    ----------
    subjects
        subject, group, ability, n, fit_z (negative: right and wrong answers are mixed up), p, q.
    answers
        subject, group, item, right, n, expected (right answers), p, q; those below the false discovery rate, the most
        surprising first.
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
        Whatever :func:`mensura.responses.read_responses` takes, or a :class:`ResponseTable`.
    model
        ``rasch``, ``2pl`` or ``3pl``.
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
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses)
    fit = fit_responses(table, model=model, options=FitOptions(dif=False, checks=False))
    bank = fit.bank
    ability, error = (fit.subjects[name].to_numpy() for name in ("ability", "se"))
    z, answers_of_rows = np.zeros(len(ability)), []
    step = max(1, _ROWS_AT_ONCE // len(bank.items))
    for start in range(0, len(ability), step):
        rows = slice(start, start + step)
        right = dense(table.right[rows]).astype(np.float64)
        trials = np.ones(right.shape) if table.trials is None else dense(table.trials[rows]).astype(np.float64)
        z[rows] = person_fit(bank, ability[rows], right, trials)
        answers_of_rows.append(_answers(bank, ability[rows], error[rows], right, trials, start))
    answers, count = pl.concat(answers_of_rows), int(table.subjects["n"].sum())
    unexpected = _answer_table(answers, fit.subjects, bank, count, rate)
    return Surprises(_subject_table(fit.subjects, z), unexpected, rate, fit.warnings)


def person_fit(bank: ItemBank, ability: Floats, right: Floats, trials: Floats) -> Floats:
    """Return each subject's standardised log likelihood (subjects × items of right answers and trials)."""
    rate, along = bank.chances(ability).T, bank.parameters.score_slopes(ability).T
    rate = np.clip(rate, 1e-6, 1.0 - 1e-6)
    spread = np.maximum(rate * (1.0 - rate), _FLOOR)
    weight, steep = np.log(rate / (1.0 - rate)), along / spread
    share = np.sum(trials * along * weight, axis=1) / np.maximum(np.sum(trials * along * steep, axis=1), _FLOOR)
    weight = weight - share[:, None] * steep
    total = np.sum((right - trials * rate) * weight, axis=1)
    z: Floats = total / np.sqrt(np.maximum(np.sum(trials * weight**2 * spread, axis=1), _FLOOR))
    return z


def _answers(bank: ItemBank, ability: Floats, error: Floats, right: Floats, trials: Floats, start: int) -> pl.DataFrame:
    """Return subject (its row), item (its place), p and what else belongs to answers better than expected."""
    row, item = np.nonzero((right >= 1.0) & (right > trials * bank.chances(ability).T))
    k, n = np.floor(right[row, item]), trials[row, item]
    p, expected = np.zeros(len(row)), np.zeros(len(row))
    for point, mass in zip(_POINTS, _WEIGHTS / _WEIGHTS.sum(), strict=True):
        chance = bank.chances(ability + point * error).T[row, item]
        p += mass * special.bdtrc(k - 1.0, n.astype(np.int64), chance)
        expected += mass * n * chance
    columns = {"right": right[row, item], "n": n.astype(np.int64), "expected": expected, "p": p}
    return pl.DataFrame({"row": row + start, "place": item, **columns})


def _subject_table(subjects: pl.DataFrame, z: Floats) -> pl.DataFrame:
    p = special.ndtr(z)
    return subjects.select(
        "subject", "group", "ability", "n", pl.Series("fit_z", z), pl.Series("p", p), pl.Series("q", discovery_rates(p))
    ).sort("p", "subject")


def _answer_table(
    answers: pl.DataFrame, subjects: pl.DataFrame, bank: ItemBank, tests: int, rate: float
) -> pl.DataFrame:
    """Return the answers below the false discovery rate among all answers of the table."""
    answers = answers.sort("p", "row", "place")
    answers = answers.with_columns(q=discovery_rates(answers["p"].to_numpy(), tests)).filter(pl.col("q") < rate)
    names = subjects.select("subject", "group")[answers["row"]]
    items = pl.Series("item", bank.items).gather(answers["place"].cast(pl.UInt32))
    return names.with_columns(items, *answers.select("right", "n", "expected", "p", "q"))
