"""Predictions of one focal group against the hidden reference, scored over draws and resampled over items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mensura.extrapolation.line import Case, Floats, Mask, Rates
from mensura.extrapolation.metrics import agreement, pearson, spearman

SAMPLES = 500


@dataclass(frozen=True)
class Scored:
    """One focal group: predicted rates (draws × items) and which of them are scored, the reference being hidden."""

    case: Case
    rates: Rates
    hidden: Mask

    def metrics(self) -> dict[str, float]:
        """Return the metrics over hidden items, per draw, averaged over the draws."""
        rates, reference = self.rates, np.broadcast_to(self.case.reference, self.hidden.shape)
        draws = len(self.hidden)
        parts = (part[self.hidden].reshape(draws, -1) for part in (rates.rate, reference, rates.low, rates.high))
        return {name: _mean_of(values) for name, values in agreement(*parts).items()}

    def resampled(self, rng: np.random.Generator, samples: int = SAMPLES) -> dict[str, Floats]:
        """Return the metrics of bootstrap samples of items.

        Errors and coverage are means over the draws that hid an item; correlations are those of the mean prediction.
        """
        seen = self.hidden.any(axis=0)
        gap = self.rates.rate - self.case.reference
        inside = (self.rates.low <= self.case.reference) & (self.case.reference <= self.rates.high)
        pick = rng.integers(0, seen.sum(), (samples, seen.sum()))
        absolute, square, plain, cover, rate = (
            self._mean(values)[seen][pick] for values in (np.abs(gap), gap**2, gap, inside, self.rates.rate)
        )
        reference = self.case.reference[seen][pick]
        return {
            "mae": absolute.mean(axis=-1),
            "rmse": np.sqrt(square.mean(axis=-1)),
            "bias": plain.mean(axis=-1),
            "pearson": pearson(rate, reference),
            "spearman": spearman(rate, reference),
            "coverage": cover.mean(axis=-1),
        }

    def flat(self) -> Scored:
        """Return the folds of a partition put together: every item once, predicted while hidden."""
        pick = np.argmax(self.hidden, axis=0), np.arange(self.hidden.shape[1])
        rate, low, high = (part[pick][None] for part in (self.rates.rate, self.rates.low, self.rates.high))
        return Scored(self.case, Rates(rate, low, high), np.ones((1, self.hidden.shape[1]), dtype=np.bool_))

    def table(self) -> pl.DataFrame:
        """Return predictions and absolute error per item, averaged over the draws that hid it."""
        case = self.case
        return pl.DataFrame(
            {
                "covariate": [case.covariate] * len(case.items),
                "group": [case.group] * len(case.items),
                "item": list(case.items),
                "focal": case.rate,
                "reference": case.reference,
                "rate": self._mean(self.rates.rate),
                "low": self._mean(self.rates.low),
                "high": self._mean(self.rates.high),
                "error": self._mean(np.abs(self.rates.rate - case.reference)),
            },
            nan_to_null=True,
        )

    def _mean(self, values: Floats | Mask) -> Floats:
        times = self.hidden.sum(axis=0)
        total = np.where(self.hidden, values, 0.0).sum(axis=0)
        mean: Floats = np.where(times > 0, total / np.maximum(times, 1), np.nan)
        return mean


def _mean_of(values: Floats) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")
