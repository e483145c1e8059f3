"""From a task to the line and back: its contrast and prior, the intervals, and what they hang on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.extrapolation.line.facts import concentration_of, expected
from mensura.extrapolation.line.model import Contrast, FittedLine, Prior
from mensura.extrapolation.line.priors import prior_for
from mensura.extrapolation.line.tails import NEARLY_NORMAL, student_reach
from mensura.extrapolation.protocol import SENSITIVITY_COLUMNS, Prediction, empty_sensitivity

if TYPE_CHECKING:
    from mensura.extrapolation.protocol import Task

INTERVAL = "prior or posterior of shift, slope and item-by-group interaction, with sampling error"
SHIFT, SLOPE, INTERACTION = "shift", "slope", "item-by-group interaction"


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

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know of the facts."""
        if self.basis != "none":
            return ()
        return ("no public fact tells the two populations apart: no shift expected",)


def predict_line(contrast: Contrast, line: FittedLine, level: float) -> Prediction:
    """Turn a line into reference rates with ``level`` intervals; what they hang on is left to the method."""
    reach = line.half_width(level)
    rate, low, high = (contrast.mix(line.logit + side) for side in (0.0, -reach, reach))
    return Prediction(rate, low, high, interval=INTERVAL)


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
