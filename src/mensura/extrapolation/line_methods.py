"""From a task to the line and back: its contrast and prior, the intervals, and what they hang on.

The statistical methods, from plain to informed; their settings are their fields.

Each predicts all rows of a task's links at once. ``priors`` replaces the shipped table of priors
(kind, basis and ``PRIOR_COLUMNS``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import require_columns
from mensura.extrapolation.descriptions import KINDS, OTHER
from mensura.extrapolation.distributions import NEARLY_NORMAL, student_reach
from mensura.extrapolation.facts import DATA, concentration_of, expected
from mensura.extrapolation.protocol import LEVEL, SENSITIVITY_COLUMNS, Prediction, Task, check_level, empty_sensitivity
from mensura.extrapolation.slices import feature_variances, features_of, fold_mean, learn_prior
from mensura.extrapolation.straight_line import Contrast, FittedLine, Prior, fit_line
from mensura.intake.tables import read_table

INTERVAL = "prior or posterior of shift, slope and item-by-group interaction, with sampling error"
SHIFT, SLOPE, INTERACTION = "shift", "slope", "item-by-group interaction"


PRIOR_COLUMNS = ("shift_sd", "gap_shift", "slope", "slope_sd", "gap_slope", "interaction", "gap_interaction", "weight")


def prior_for(kind: str, basis: str, table: pl.DataFrame | None = None) -> Prior:
    """Return the prior of a kind of covariate (see ``descriptions.KINDS``) and basis of its fact.

    ``basis``: ``matched`` (same test, or a fact of this kind of group), ``general`` (a country's mean in other
    tests) or ``none``. ``table`` replaces the shipped one; a kind it lacks counts as ``other``.
    """
    check_choice("kind", kind, [*KINDS, OTHER])
    rows = shipped_priors() if table is None else _rows(table)
    row = rows.get((kind, basis)) or rows.get((OTHER, "none" if basis == "none" else "matched"))
    if row is None:
        raise MensuraError(
            f"priors: no row for kind {kind!r} and basis {basis!r}, and none for kind {OTHER!r}; add one of these rows"
        )
    return Prior(**{name: row[name] for name in PRIOR_COLUMNS})


@cache
def shipped_priors() -> dict[tuple[str, str], dict[str, float]]:
    """Return the shipped table by kind and basis."""
    return _rows(read_table(DATA / "priors.csv"))


def _rows(table: pl.DataFrame) -> dict[tuple[str, str], dict[str, float]]:
    require_columns(table, ["kind", "basis", *PRIOR_COLUMNS], name="priors")
    return {(row["kind"], row["basis"]): row for row in table.iter_rows(named=True)}


@dataclass(frozen=True, eq=False)
class Setting:
    """A task as the line sees it: the contrast, the prior for it, and the basis of the facts that chose the prior."""

    contrast: Contrast
    prior: Prior
    basis: str

    @classmethod
    def of(cls, task: Task, priors: pl.DataFrame | None) -> Setting:
        """Read a task; ``priors`` replaces the shipped table."""
        offset, basis = expected(task)
        prior = prior_for(task.kind, basis, priors).widened(1 + concentration_of(task))
        return cls(Contrast.of(task, offset), prior, basis)

    def predict(self, contrast: Contrast, line: FittedLine, level: float) -> Prediction:
        """Return the rates of a line, with a warning where no fact was behind it."""
        warning = "no public fact tells the two populations apart: no shift expected"
        return replace(predict_line(contrast, line, level), warnings=(warning,) if self.basis == "none" else ())


def predict_line(contrast: Contrast, line: FittedLine, level: float) -> Prediction:
    """Turn a line into reference rates with ``level`` intervals and their sensitivity."""
    reach = line.half_width(level)
    rate, low, high = (contrast.mix(line.logit + side) for side in (0.0, -reach, reach))
    return Prediction(rate, low, high, partial(line_sensitivity, contrast, line, level), interval=INTERVAL)


def line_sensitivity(contrast: Contrast, line: FittedLine, level: float) -> pl.DataFrame:
    """Return how the mean predicted rate moves when shift, slope or interaction goes to the ends of its range.

    Shift and interaction move all items by their reach (for the interaction: as if every item departed alike, so
    it describes one item rather than the mean); the slope turns the line about the focal mean. ``share`` is the part
    of the squared swings. Many draws have no one answer, and get an empty table.
    """
    if len(line.logit) > 1:
        return empty_sensitivity()
    centred = contrast.x - contrast.x.mean()
    rows = []
    for name, value, sd, per_sd, df in (
        (SHIFT, line.shift[0], line.shift_sd[0], 1.0, line.shift_df[0]),
        (SLOPE, line.slope[0], line.slope_sd[0], centred, NEARLY_NORMAL),
        (INTERACTION, 0.0, line.interaction[0], 1.0, line.interaction_df[0]),
    ):
        span = float(sd * student_reach(level, np.ones(1), np.zeros(1), float(df), NEARLY_NORMAL)[0])
        low, high = (float(contrast.mix(line.logit[0] + side * per_sd).mean()) for side in (-span, span))
        rows.append((name, float(value), float(value - span), float(value + span), low, high))
    return ranked(rows)


def ranked(rows: list[tuple[str, float, float, float, float, float]]) -> pl.DataFrame:
    """Return rows up to ``rate_high`` as a sensitivity table: swings, their squares as shares, the largest first."""
    swings = np.array([abs(row[-1] - row[-2]) for row in rows])
    total = float((swings**2).sum())
    shares = swings**2 / total if total > 0 else np.zeros(len(rows))
    order = np.argsort(-swings, kind="stable")
    names = pl.Series("assumption", [rows[k][0] for k in order], dtype=pl.String)
    numbers = np.column_stack([np.array([row[1:] for row in rows])[order], swings[order], shares[order]])
    return pl.DataFrame([names, *map(pl.Series, SENSITIVITY_COLUMNS[1:], numbers.T)])


def spread_draws(prediction: Prediction, draws: int) -> Prediction:
    """Return a prediction that no link changes, once per draw."""
    if draws == len(prediction.rate):
        return prediction
    rate, low, high = (
        np.broadcast_to(part, (draws, part.shape[1])) for part in (prediction.rate, prediction.low, prediction.high)
    )
    return replace(prediction, rate=rate, low=low, high=high)


@dataclass(frozen=True, eq=False)
class LineMethod:
    """Share what the line methods have: the ``level`` of intervals, the ``priors`` that replace the shipped ones."""

    name: ClassVar[str]

    level: float = LEVEL
    priors: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        check_level(self.level)


@dataclass(frozen=True, eq=False)
class Described(LineMethod):
    """The line with the shift that public facts predict, whatever links there are: nothing but descriptions."""

    name: ClassVar[str] = "described"

    def predict(self, task: Task) -> Prediction:
        """Return the prediction of the prior."""
        setting = Setting.of(task, self.priors)
        contrast = setting.contrast.unlinked()
        return spread_draws(setting.predict(contrast, fit_line(contrast, setting.prior), self.level), task.draws)


@dataclass(frozen=True, eq=False)
class Linked(LineMethod):
    """The line updated by the links: a shift damped towards what the descriptions predict."""

    name: ClassVar[str] = "linked"

    def predict(self, task: Task) -> Prediction:
        """Return the prediction of the posterior given each row of links."""
        setting = Setting.of(task, self.priors)
        return setting.predict(setting.contrast, fit_line(setting.contrast, setting.prior), self.level)


@dataclass(frozen=True, eq=False)
class Hierarchical(LineMethod):
    """The line with priors learned from the other groups of the pool, and a shift per grouping of items.

    The other groups' mean success on the items to be predicted is known too, though not their rate on any one of them
    (that is what the leave-one-group-out regression knows).
    """

    name: ClassVar[str] = "hierarchical"

    def predict(self, task: Task) -> Prediction:
        """Return the prediction given the links and the other groups."""
        if task.slices is None:
            raise MensuraError(
                f"method {self.name!r} learns from the other groups of a pool, and this task has none; "
                "use validate(pool, 'slices'), or the method 'linked'"
            )
        setting = Setting.of(task, self.priors)
        contrast = setting.contrast
        prior = learn_prior(task, task.slices, setting.prior, contrast.reliability)
        line = fit_line(contrast, prior, features_of(task.items)[0], feature_variances(task, task.slices))
        return setting.predict(contrast, fold_mean(task, task.slices, contrast, line), self.level)
