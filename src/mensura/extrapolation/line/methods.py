"""The statistical methods, from plain to informed; their settings are their fields.

Each predicts all rows of a task's links at once. ``priors`` replaces the shipped table of priors
(:func:`~mensura.extrapolation.line.priors.learn_priors`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mensura.core.arrays import expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.line.model import Contrast, FittedLine, fit_line
from mensura.extrapolation.line.slices import feature_variances, features_of, fold_mean, learn_prior
from mensura.extrapolation.line.statistical import Setting, line_sensitivity, predict_line, spread_draws
from mensura.extrapolation.protocol import LEVEL, Prediction, Task, check_level

if TYPE_CHECKING:
    import polars as pl

    from mensura.core.arrays import Floats

_EDGE = 1e-6  # distance from 0 and 1 at which bounds of rates are read as logits
_RATE_EDGE = 1e-4  # the same, of observed rates


@dataclass(frozen=True, eq=False)
class LineMethod:
    """Share what the line methods have: the ``level`` of intervals, the ``priors`` that replace the shipped ones."""

    NAME: ClassVar[str] = ""

    level: float = LEVEL
    priors: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        check_level(self.level)

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        return self.NAME


@dataclass(frozen=True, eq=False)
class Identity(LineMethod):
    """The focal rate is the prediction: the paper's baseline. Intervals come from the line's priors.

    It assumes nothing that could be otherwise, so its sensitivity is empty.
    """

    NAME: ClassVar[str] = "identity"

    def predict(self, task: Task) -> Prediction:
        """Return the focal rates, whatever is known."""
        setting = Setting.of(task, self.priors)
        gap = float(setting.contrast.offset.mean())
        plain = replace(setting.contrast.unlinked(), offset=np.zeros(task.size))
        prior = replace(setting.prior, shift_sd=(setting.prior.shift_variance(gap) + gap**2) ** 0.5, slope=1.0)
        around = predict_line(plain, fit_line(plain, prior), self.level)
        return spread_draws(_centred(task.rate, around), task.draws)


@dataclass(frozen=True, eq=False)
class Described(LineMethod):
    """The line with the shift that public facts predict, whatever links there are: nothing but descriptions."""

    NAME: ClassVar[str] = "described"

    def predict(self, task: Task) -> Prediction:
        """Return the prediction of the prior."""
        setting = Setting.of(task, self.priors)
        alone = setting.contrast.unlinked()
        return spread_draws(_line_prediction(setting, alone, fit_line(alone, setting.prior), self.level), task.draws)


@dataclass(frozen=True, eq=False)
class Linked(LineMethod):
    """The line updated by the links: a shift damped towards what the descriptions predict."""

    NAME: ClassVar[str] = "linked"

    def predict(self, task: Task) -> Prediction:
        """Return the prediction of the posterior given each row of links."""
        setting = Setting.of(task, self.priors)
        line = fit_line(setting.contrast, setting.prior)
        return _line_prediction(setting, setting.contrast, line, self.level)


@dataclass(frozen=True, eq=False)
class Hierarchical(LineMethod):
    """The line with priors learned from the other groups of the pool, and a shift per grouping of items.

    With ``means``, the other groups' mean success on the items to be predicted is known too, though not their rate on
    any one of them (that is what the leave-one-group-out regression knows).
    """

    NAME: ClassVar[str] = "hierarchical"

    means: bool = True

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
        line = fold_mean(task, task.slices, contrast, line) if self.means else line
        return _line_prediction(setting, contrast, line, self.level)


def _line_prediction(setting: Setting, contrast: Contrast, line: FittedLine, level: float) -> Prediction:
    """Return the rates of a line with its own sensitivity and what is to be said of the facts."""
    found = predict_line(contrast, line, level)
    return replace(found, account=partial(line_sensitivity, contrast, line, level), warnings=setting.warnings)


def _centred(rate: Floats, around: Prediction) -> Prediction:
    """Move intervals so that they bracket ``rate`` at the same distances on the logit scale."""
    centre = logit(np.clip(around.rate, _EDGE, 1 - _EDGE))
    at = logit(np.clip(rate, _RATE_EDGE, 1 - _RATE_EDGE))
    low, high = (expit(at + logit(np.clip(bound, _EDGE, 1 - _EDGE)) - centre) for bound in (around.low, around.high))
    row = np.broadcast_to(rate, low.shape)
    return replace(around, rate=row, low=np.minimum(low, row), high=np.maximum(high, row))
