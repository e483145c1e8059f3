"""Predictions of one focal group against the hidden reference, scored over draws and resampled over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.arrays import expit, logit
from mensura.extrapolation.line.model import focal_logit, smooth
from mensura.extrapolation.validation.metrics import METRICS, agreement, pearson, spearman

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.core.arrays import Floats, Mask
    from mensura.extrapolation.protocol import Prediction, Task
    from mensura.extrapolation.validation.cases import Case
    from mensura.extrapolation.validation.situations import Trial

SAMPLES = 500  # bootstrap samples of items


@dataclass(frozen=True, eq=False)
class ScoredCase:
    """One focal group: predicted rates (draws × items) and which of them are scored, the reference being hidden."""

    case: Case
    rate: Floats
    low: Floats
    high: Floats
    hidden: Mask

    @classmethod
    def of(cls, trial: Trial, predictions: Sequence[Prediction]) -> ScoredCase:
        """Score the predictions of a trial's tasks; folds are put together, every item as predicted while hidden."""
        rate, low, high = (
            np.concatenate([getattr(found, name) for found in predictions]) for name in ("rate", "low", "high")
        )
        if not trial.is_partition:
            return cls(trial.case, rate, low, high, trial.hidden)
        pick = np.argmax(trial.hidden, axis=0), np.arange(trial.hidden.shape[1])
        everything = np.ones((1, trial.hidden.shape[1]), dtype=np.bool_)
        return cls(trial.case, rate[pick][None], low[pick][None], high[pick][None], everything)

    @property
    def answered(self) -> bool:
        """Whether any hidden item was predicted; a language model may have said nothing readable."""
        return bool(np.isfinite(self.rate[self.hidden]).any())

    def metrics(self) -> dict[str, float]:
        """Return the metrics over hidden items, per draw, averaged over the draws."""
        truth = np.broadcast_to(self.case.truth, self.hidden.shape)
        parts = (self.rate, truth, self.low, self.high)
        if np.isfinite(self.rate[self.hidden]).all():
            found = agreement(*(part[self.hidden].reshape(len(self.hidden), -1) for part in parts))
            return {name: _mean_of(values) for name, values in found.items()}
        scored = [row & np.isfinite(rate) for row, rate in zip(self.hidden, self.rate, strict=True)]
        each = [agreement(*(part[k][row] for part in parts)) for k, row in enumerate(scored) if row.any()]
        return {name: _mean_of(np.array([one[name] for one in each])) for name in METRICS}

    def resampled(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Return the metrics of bootstrap samples of items.

        Errors and coverage are means over the draws that hid an item; correlations are those of the mean prediction.
        """
        seen = self.hidden.any(axis=0) & np.isfinite(self.rate).all(axis=0)
        gap = self.rate - self.case.truth
        inside = (self.low <= self.case.truth) & (self.case.truth <= self.high)
        pick = rng.integers(0, seen.sum(), (SAMPLES, seen.sum()))
        absolute, square, plain, cover, rate = (
            self._mean(values)[seen][pick] for values in (np.abs(gap), gap**2, gap, inside, self.rate)
        )
        reference = self.case.truth[seen][pick]
        return {
            "mae": absolute.mean(axis=-1),
            "rmse": np.sqrt(square.mean(axis=-1)),
            "bias": plain.mean(axis=-1),
            "pearson": pearson(rate, reference),
            "spearman": spearman(rate, reference),
            "coverage": cover.mean(axis=-1),
        }

    def table(self) -> pl.DataFrame:
        """Return predictions and absolute error per item, averaged over the draws that hid it."""
        case = self.case
        return pl.DataFrame(
            {
                "covariate": [case.covariate] * len(case.items),
                "group": [case.group] * len(case.items),
                "item": case.items,
                "focal": case.task.rate,
                "reference": case.truth,
                "rate": self._mean(self.rate),
                "low": self._mean(self.low),
                "high": self._mean(self.high),
                "error": self._mean(np.abs(self.rate - case.truth)),
            },
            nan_to_null=True,
        )

    def _mean(self, values: Floats | Mask) -> Floats:
        times = self.hidden.sum(axis=0)
        total = np.where(self.hidden, values, 0.0).sum(axis=0)
        mean: Floats = np.where(times > 0, total / np.maximum(times, 1), np.nan)
        return mean


def shift_error(trial: Trial) -> float:
    """Return the mean absolute error of one undamped logit shift, the mean difference on each row of links."""
    rates = np.concatenate([_shifted(task) for task in trial.tasks])
    return ScoredCase(trial.case, rates, rates, rates, trial.hidden).metrics()["mae"]


def _shifted(task: Task) -> Floats:
    x = focal_logit(task.rate, task.n)
    difference = np.where(task.known, logit(smooth(task.links, task.links_n)) - x, 0.0).sum(axis=1, keepdims=True)
    return expit(x + difference / task.known.sum(axis=1, keepdims=True))


def _mean_of(values: Floats) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")
