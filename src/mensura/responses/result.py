"""The result of a fit, its bank of items, and the tables behind its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame, read_table
from mensura.responses.irt.abilities import estimate
from mensura.responses.irt.information import Information
from mensura.responses.irt.model import Groups, Parameters, chances, curve_derivatives, log_chances
from mensura.responses.irt.passes import Grid
from mensura.scale import Z90

_GRID = np.linspace(-8.0, 8.0, 321)


@dataclass(frozen=True)
class Placement:
    """Place one subject by some answers.

    Attributes
    ----------
    ability, se
        Posterior mean and standard deviation.
    n
        How many items stand behind it.
    weighted, se_weighted
        The estimate of the weighted likelihood, without a prior, and its standard error.

    """

    ability: float
    se: float
    n: int
    weighted: float = float("nan")
    se_weighted: float = float("nan")


@dataclass(frozen=True, eq=False)
class ItemBank:
    """Keep items with known parameters, as ``items.csv`` of a fit holds them.

    Attributes
    ----------
    items
        Their names.
    parameters
        Their curves.
    errors
        Standard errors of discrimination and difficulty, items × 2; zeros where they are not known.
    answers
        How many stand behind the middle item; none where that is not known.

    """

    items: tuple[str, ...]
    parameters: Parameters
    errors: Floats
    answers: float | None = None

    @classmethod
    def from_table(cls, table: Any) -> ItemBank:  # noqa: ANN401
        """Read item, discrimination, difficulty and, where there is any, guessing."""
        frame = as_frame(table, name="items")
        require_columns(frame, ["item", "discrimination", "difficulty"], name="items")
        names = frame["item"].cast(pl.String)
        if names.n_unique() < names.len():
            raise MensuraError(f"items: {names.filter(names.is_duplicated())[0]!r} occurs twice; remove one row")
        slope, difficulty = (frame[name].cast(pl.Float64).to_numpy() for name in ("discrimination", "difficulty"))
        c, *errors = (_numbers(frame, name) for name in ("guessing", "se_discrimination", "se_difficulty"))
        if not np.all(np.isfinite(slope)) or not np.all(np.isfinite(difficulty)) or np.any((c < 0.0) | (c >= 1.0)):
            raise MensuraError("items: discrimination and difficulty must be numbers, guessing from 0 to below 1")
        model = "3pl" if np.any(c > 0.0) else "2pl"
        guess = np.log(np.maximum(c, 1e-12) / (1.0 - c))
        parameters = Parameters(model, slope, -slope * difficulty, guess, np.zeros(1), np.ones(1))
        answers = frame["n"].cast(pl.Float64).median() if "n" in frame.columns else None
        return cls(tuple(names), parameters, np.stack(errors, axis=1), answers)  # type: ignore[arg-type]

    def only(self, places: Sequence[int] | np.ndarray[Any, Any]) -> ItemBank:
        """Return some of the items."""
        at = np.asarray(places, dtype=int)
        names = tuple(self.items[place] for place in at)
        return ItemBank(names, self.parameters.of_items(at), self.errors[at], self.answers)

    def chances(self, ability: Floats) -> Floats:
        """Return the chance of a right answer, items × abilities."""
        return chances(self.parameters, ability)

    def information(self, ability: Floats) -> Floats:
        """Return what one answer says about ability, P′²/(P(1−P)), items × abilities."""
        rate, _, along = curve_derivatives(self.parameters, ability)
        information: Floats = along**2 / np.maximum(rate * (1.0 - rate), 1e-9)
        return information

    def place(self, right: Floats, trials: Floats, *, mean: float = 0.0, sd: float = 1.0) -> Placement:
        """Return the ability that answers speak for, with a normal prior; ``right`` and ``trials`` follow the items."""
        taken = np.flatnonzero(trials > 0.0)
        log_right, log_wrong = log_chances(self.only(taken).parameters, _GRID)
        right_taken, wrong_taken = right[taken], trials[taken] - right[taken]
        likelihood = right_taken @ log_right + wrong_taken @ log_wrong
        height = likelihood - 0.5 * ((_GRID - mean) / sd) ** 2
        weight = np.exp(height - height.max())
        weight /= weight.sum()
        ability = float(weight @ _GRID)
        variance = float(weight @ (_GRID - ability) ** 2)
        variance += variance**2 * self._item_noise(ability, trials)
        of_answers = trials[taken] @ self.only(taken).information(_GRID)
        at, own = estimate("wle", likelihood[None], of_answers[None], Grid(_GRID), np.zeros(1))
        weighted, spread = float(at[0]), float(own[0])
        spread += spread**2 * self._item_noise(weighted, trials)
        n = int(np.count_nonzero(trials))
        return Placement(ability, float(np.sqrt(variance)), n, weighted, float(np.sqrt(spread)))

    def _item_noise(self, ability: float, trials: Floats) -> float:
        """Return the variance that errors of the items give to the slope of a log likelihood at an ability.

        Items with large discriminations are chosen first, and theirs are the most overestimated: without this an
        adaptive interval is too short.
        """
        p = self.parameters
        of_ability = self.information(np.array([ability]))[:, 0]
        slope = np.where(np.abs(p.slope) > 1e-6, p.slope, 1e-6)
        by_slope = trials * of_ability / slope**2 + (trials * of_ability * (ability + p.intercept / slope) / slope) ** 2
        return float(by_slope @ self.errors[:, 0] ** 2 + (trials * of_ability) ** 2 @ self.errors[:, 1] ** 2)


def _numbers(frame: pl.DataFrame, name: str) -> Floats:
    """Return a column that a table may lack, 0 where it has no number."""
    if name not in frame.columns:
        return np.zeros(frame.height)
    return np.asarray(np.nan_to_num(frame[name].cast(pl.Float64).fill_null(0.0).to_numpy(), nan=0.0, posinf=0.0))


_SAME = 0.005
"""Difference of two log likelihoods that print alike."""
_OF_SUBJECTS = ("subject", "dimension", "ability", "low", "high", "n", "se", "rate", "group", "wle", "se_wle")
_NEEDED = {
    "subjects": ["subject", "ability", "se", "group"],
    "items": [],
    "groups": ["group", "subjects", "mean", "sd", "se_mean", "se_sd"],
}
"""Tables that the folder of a fit needs, and their columns."""


def ending(passes: int, converged: bool) -> str:
    """Return how a fit ended, for its heading."""
    return f"{'' if converged else 'NOT converged '}in {passes} passes"


def heights(likelihood: float, posterior: float) -> str:
    """Return the log likelihood and, where priors add to it, the log posterior, for a heading."""
    words = f"log likelihood {likelihood:,.2f}"
    return words if abs(posterior - likelihood) < _SAME else f"{words}, log posterior {posterior:,.2f}"


def ability_table(subjects: pl.DataFrame, ability: Floats, error: Floats) -> pl.DataFrame:
    """Return ``subjects`` with their abilities, 90% intervals and standard errors, columns in the order of all fits."""
    low, high = ability - Z90 * error, ability + Z90 * error
    table = subjects.with_columns(ability=ability, low=low, high=high, se=error)
    return table.select(name for name in _OF_SUBJECTS if name in table.columns)


def group_table(p: Groups, information: Information, groups: Sequence[str], subjects: pl.DataFrame) -> pl.DataFrame:
    """Return group, subjects, mean, sd and their errors, in standard deviations of the first group."""
    unit, errors = float(p.sd[0]), dict(zip(p.free, np.sqrt(information.group_variance()), strict=True))
    counts = dict(subjects.group_by("group").len().iter_rows())
    rows = []
    for place, name in enumerate(groups):
        mean, sd = float(p.mean[place]), float(p.sd[place])
        of_mean = float(errors["mean", place]) / unit if place else None
        of_sd = float(errors["sd", place] * sd) / unit if place else None
        rows.append((name, counts.get(name, 0), mean / unit, sd / unit, of_mean, of_sd))
    numbers = dict.fromkeys(("mean", "sd", "se_mean", "se_sd"), pl.Float64)
    return pl.DataFrame(rows, schema={"group": pl.String, "subjects": pl.Int64, **numbers}, orient="row")


@dataclass(frozen=True, eq=False, repr=False)
class ResponseFit(Result):
    """Show an item response model fitted to responses. Abilities are in standard deviations of the first group.

    Attributes
    ----------
    model
        ``rasch``, ``2pl`` or ``3pl``.
    subjects
        subject, ability, low, high (90%), n (items taken), se, rate, group, and wle with se_wle: the estimate by the
        weighted likelihood, which no prior draws to the mean.
    items
        item, discrimination, difficulty, guessing, their standard errors, fit (root mean square gap to the curve),
        fit_p, fit_q, n, rate, s_x2 with s_x2_df and s_x2_p, infit, outfit.
    groups
        group, subjects, mean, sd of abilities and their standard errors (none for the measure).
    dif
        Differences between groups.
    checks
        Findings in words.
    log
        What the rules of counting met.
    observed
        item, ability, rate, low, high, n: the shares right at ranges of ability.
    log_likelihood, passes, converged
        How the fit ended.
    warnings
        What to know before using the numbers.
    estimation
        Maximum likelihood, or which priors were used.
    log_posterior
        The log likelihood and the log density of the priors, which is what was maximised.
    quality
        One row: log likelihood, aic, bic, sabic, m2 with rmsea and cfi, reliability_marginal, reliability_empirical.
    pairs
        item, other, q3, x2, p: pairs of items that depend on one another beyond ability, the strongest first.

    """

    TABLES: ClassVar[tuple[str, ...]] = (
        "subjects",
        "items",
        "groups",
        "dif",
        "checks",
        "log",
        "observed",
        "quality",
        "pairs",
    )

    model: str
    subjects: pl.DataFrame
    items: pl.DataFrame
    groups: pl.DataFrame
    dif: pl.DataFrame
    checks: pl.DataFrame
    log: pl.DataFrame
    observed: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    warnings: tuple[str, ...] = field(default=())
    estimation: str = ""
    log_posterior: float = float("nan")
    quality: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def heading(self) -> str:
        """The model, how it was estimated, how much it was fitted to, and whether it converged."""
        counts = f"{self.subjects.height:,} subjects × {self.items.height:,} items"
        likelihood = heights(self.log_likelihood, self.log_posterior)
        ended = ending(self.passes, self.converged)
        return f"{self.model} by {self.estimation}, {counts}, {likelihood}, {ended}"

    @property
    def reference(self) -> str:
        """The group whose abilities have mean 0 and standard deviation 1."""
        return str(self.groups["group"][0])

    @property
    def bank(self) -> ItemBank:
        """The items as they are needed to choose among them."""
        return ItemBank.from_table(self.items)

    def predict(self, subject: str) -> pl.DataFrame:
        """Return item and chance of a right answer of one subject, at its ability."""
        row = self.subjects.filter(pl.col("subject") == subject)
        if not row.height:
            raise MensuraError(
                f"subject: got {subject!r}; {self.subjects.height} others were fitted. Choose a name of subjects.csv"
            )
        chance: Floats = self.bank.chances(np.array([float(row["ability"][0])]))[:, 0]
        return pl.DataFrame({"item": self.items["item"], "rate": chance})


def read_fit(folder: Path) -> ResponseFit:
    """Read the tables of a fit that ``mensura responses fit --out`` wrote; its likelihood is not kept there."""
    tables: dict[str, Any] = {}
    for name in ResponseFit.TABLES:
        path, columns = folder / f"{name}.csv", _NEEDED.get(name)
        there = columns is not None or (path.is_file() and path.stat().st_size > 1)
        tables[name] = read_table(path) if there else pl.DataFrame()
        require_columns(tables[name], columns or [], name=str(path))
    return ResponseFit("read", **tables, log_likelihood=float("nan"), passes=0, converged=True)
