"""Decide how items are estimated: by maximum likelihood where answers are many enough, else with weak priors."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import require_columns
from mensura.intake.tables import read_table
from mensura.responses.irt.categories import CategoryPrior
from mensura.responses.irt.model import MODELS
from mensura.responses.irt.priors import GroupPrior, ItemPrior, Priors

LEAST_PEOPLE, LEAST_ANSWERS = 200, 5
"""People, and answers in each category of each item, from which maximum likelihood is the default."""
PRIORS = ("auto", "weak", "none")
PARAMETERS = ("slope", "intercept", "guessing", "group-mean", "group-sd")
"""Parameters that a file of priors may name."""
LIKELIHOOD, WEAK, GUESSING = "maximum likelihood", "weak priors", "weak prior of guessing"
Prior = Priors | CategoryPrior | str | Path | None
"""A choice of :data:`PRIORS`, a file, or the priors themselves; None: ``auto``."""


class Estimation(NamedTuple):
    """How items are estimated, in words; ``priors``: weak, none, or those of a file. ``automatic``: nobody chose."""

    words: str
    kind: str
    table: dict[str, ItemPrior] | None = None
    automatic: bool = False

    def of_right(self, small_groups: bool) -> Priors:
        """Return the priors of right and wrong answers; groups of few subjects always have one."""
        groups = Priors().groups if small_groups else None
        if self.table is not None:
            slope, intercept, guessing = (self.table.get(name) for name in PARAMETERS[:3])
            own = _group_prior(self.table) or groups
            return Priors(slope and slope.sd, intercept and intercept.sd, guessing, own)
        if self.kind == "weak" and self.words == GUESSING:
            return Priors(None, None, groups=groups)
        return Priors() if self.kind == "weak" else Priors(None, None, None, groups)

    def of_categories(self, small_groups: bool) -> CategoryPrior | None:
        """Return the priors of categories."""
        weak = CategoryPrior()
        if self.table is not None:
            slope, step = self.table.get("slope", ItemPrior(1.0, np.inf)), self.table.get("intercept")
            groups = _group_prior(self.table) or (weak.groups if small_groups else None)
            return CategoryPrior(slope.mean, slope.sd, step.sd if step else np.inf, groups)
        if self.kind == "weak":
            return weak
        return CategoryPrior(1.0, np.inf, np.inf, weak.groups) if small_groups else None


def _group_prior(table: dict[str, ItemPrior]) -> GroupPrior | None:
    if not {"group-mean", "group-sd"} & set(table):
        return None
    widths = [table[name].sd if name in table else np.inf for name in PARAMETERS[3:]]
    return GroupPrior(*widths)


def choose_estimation(prior: str | Path | None, model: str, subjects: int, fewest: float) -> Estimation:
    """Return how to estimate; ``fewest``: answers in the emptiest category of any item."""
    given = "auto" if prior is None else str(prior)
    if words := {"none": LIKELIHOOD, "weak": WEAK}.get(given):
        return Estimation(words, given)
    if given != "auto":
        if not Path(given).is_file():
            check_choice("prior", given, (*PRIORS, "a file"))
        return Estimation(f"priors of {Path(given).name}", "file", _read_priors(Path(given)))
    if subjects < LEAST_PEOPLE:
        return Estimation(f"{WEAK} ({subjects} subjects; maximum likelihood needs {LEAST_PEOPLE})", "weak")
    if fewest < LEAST_ANSWERS:
        words = f"{WEAK} ({fewest:.0f} answers in a category; maximum likelihood needs {LEAST_ANSWERS})"
        return Estimation(words, "weak")
    if weakened := {"nominal": WEAK, "3pl": GUESSING}.get(model):
        return Estimation(weakened, "weak")
    return Estimation(LIKELIHOOD, "none", automatic=True)


F = TypeVar("F", bound=Any)
P = TypeVar("P")


def fit_by(choice: Estimation, fit: Callable[[P], F], priors_of: Callable[[Estimation], P]) -> tuple[str, P, F]:
    """Fit with the priors of a choice; with weak ones where maximum likelihood, which nobody chose, does not converge.

    Returns the estimation in words, the priors and the fit.
    """
    fitted = fit(priors_of(choice))
    if choice.automatic and not fitted.converged:
        choice = Estimation(f"{WEAK} (maximum likelihood did not converge)", "weak")
        fitted = fit(priors_of(choice))
    return choice.words, priors_of(choice), fitted


def fit_chosen(
    fit: Callable[[Any], F], prior: Prior, model: str, sizes: Sequence[int], fewest: float
) -> tuple[str, Any, F]:
    """Fit with the priors that are given, or that the data decide; ``sizes``: subjects of every group."""
    if isinstance(prior, Priors | CategoryPrior):
        return "priors as given", prior, fit(prior)
    small, is_rated = min(sizes) < LEAST_PEOPLE, model not in MODELS
    choice = choose_estimation(prior, model, sum(sizes), fewest)
    return fit_by(choice, fit, lambda one: one.of_categories(small) if is_rated else one.of_right(small))


def fewest_answers(right: Floats, taken: Floats) -> float:
    """Return the fewest right or wrong answers of any item."""
    return float(min(np.min(right), np.min(taken - right)))


def _read_priors(path: Path) -> dict[str, ItemPrior]:
    """Read parameter, mean and sd of normal priors; the mean of all but guessing and slopes of categories is set."""
    table = read_table(path)
    require_columns(table, ["parameter", "sd"], name=str(path))
    means = table["mean"] if "mean" in table.columns else pl.Series([None] * table.height, dtype=pl.Float64)
    priors: dict[str, ItemPrior] = {}
    for name, mean, sd in zip(table["parameter"], means, table["sd"], strict=True):
        check_choice(f"{path}, parameter", str(name), PARAMETERS)
        if not isinstance(sd, int | float) or not sd > 0:
            raise MensuraError(f"{path}, {name}: sd is {sd}; expected a number above 0. Correct the value")
        default = -1.4 if name == "guessing" else 1.0
        priors[str(name)] = ItemPrior(default if mean is None else float(mean), float(sd))
    return priors
