"""How well predicted rates agree with observed ones.

All functions work along the last axis, so that many draws are scored at once.

What may be known in each situation: the tasks a method is given, and which of their items are scored.

- ``described``: the focal group's rates with n, the descriptions of all groups, how many answers each group gave,
and public facts; no rate of the reference or of any other group.
- ``linked``: the same, and the reference's rates on k items drawn at random; scored on the others, mean over draws.
- ``slices``: five item folds. On the other folds the rates of all groups and of the reference are known; on the
fold to predict, the focal group's rates, and of each other group only its mean over the fold.

Predictions of one focal group against the hidden reference, scored over draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, correlation, expit, logit, rank_correlation
from mensura.core.errors import check_choice
from mensura.extrapolation.methods import DESCRIBED, LINKED, SITUATIONS
from mensura.extrapolation.protocol import Slices
from mensura.extrapolation.straight_line import focal_logit, smooth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.core.arrays import Mask
    from mensura.extrapolation.cases import Case
    from mensura.extrapolation.protocol import Prediction, Task

METRICS = ("mae", "rmse", "bias", "pearson", "spearman", "coverage")
_LARGEST_CORRELATION = 1 - 1e-9  # whose z is finite


def mean_correlation(values: Floats) -> float:
    """Return the mean of correlations by Fisher's z; NaN where none is defined."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return float("nan")
    return float(np.tanh(np.arctanh(np.clip(defined, -_LARGEST_CORRELATION, _LARGEST_CORRELATION)).mean()))


def agreement(predicted: Floats, observed: Floats, low: Floats, high: Floats) -> dict[str, Floats]:
    """Return mae, rmse, bias (predicted − observed), pearson, spearman and coverage."""
    error = predicted - observed
    return {
        "mae": np.abs(error).mean(axis=-1),
        "rmse": np.sqrt((error**2).mean(axis=-1)),
        "bias": error.mean(axis=-1),
        "pearson": correlation(predicted, observed),
        "spearman": rank_correlation(predicted, observed),
        "coverage": ((observed >= low) & (observed <= high)).mean(axis=-1),
    }


FOLDS = 5
FEWEST_LEFT = 3  # items to be scored beside the links


@dataclass(frozen=True, eq=False)
class Trial:
    """The tasks of one case in a situation, and which items of each row of their links are scored."""

    case: Case
    tasks: tuple[Task, ...]
    hidden: Mask

    @classmethod
    def whole(cls, case: Case) -> Trial:
        """Return the trial in which every item is hidden."""
        return cls(case, (case.task,), np.ones((1, case.task.size), dtype=np.bool_))

    @property
    def is_partition(self) -> bool:
        """Whether every item is hidden in exactly one task, as in folds."""
        return len(self.tasks) > 1


def trials_of(
    situation: str, cases: Sequence[Case], *, links: int, draws: int, rng: np.random.Generator
) -> list[Trial | None]:
    """Return one trial per case; None where a case has too few items."""
    check_choice("situation", situation, SITUATIONS)
    items = sorted({item for case in cases for item in case.items})
    dealt = dict(zip(items, rng.permutation(np.arange(len(items)) % FOLDS).tolist(), strict=True))
    if situation == DESCRIBED:
        return [Trial.whole(case) for case in cases]
    return [_linked(case, links, draws, rng) for case in cases] if situation == LINKED else [*_folded(cases, dealt)]


def _linked(case: Case, links: int, draws: int, rng: np.random.Generator) -> Trial | None:
    size = case.task.size
    if size < links + FEWEST_LEFT:
        return None
    hidden = np.argsort(rng.random((draws, size)), axis=1) >= links
    return Trial(case, (case.linked(~hidden),), hidden)


def _folded(cases: Sequence[Case], dealt: dict[str, int]) -> list[Trial]:
    """Return per case one task for each fold that it has items of; ``dealt``: the fold of each item.

    Of the other groups a task has what may be known outside its fold.
    """
    fold_of = [np.array([dealt[item] for item in case.items]) for case in cases]

    @cache
    def masked(at: int, fold: int) -> Task:
        """Return a group's task with its rates and the reference's known outside the fold."""
        case, outside = cases[at], fold_of[at] != fold
        return replace(case.linked(outside[None]), rate=np.where(outside, case.task.rate, np.nan))

    @cache
    def fold_mean(at: int, names: frozenset[str]) -> tuple[float, float]:
        """Return a group's mean logit over those of its items that are among ``names``, and their number."""
        task, shared = cases[at].task, np.array([item in names for item in cases[at].items])
        return float(focal_logit(task.rate[shared], task.n[shared]).mean()) if shared.any() else np.nan, shared.sum()

    def slices(own: int, fold: int) -> Slices:
        names = frozenset(item for item in cases[own].items if dealt[item] == fold)
        others = [at for at in range(len(cases)) if at != own]
        means, counts = np.array([fold_mean(at, names) for at in others]).reshape(-1, 2).T
        return Slices(tuple(masked(at, fold) for at in others), means, counts)

    trials = []
    for at, case in enumerate(cases):
        folds = [fold for fold in range(FOLDS) if (fold_of[at] == fold).any()]
        hidden = np.stack([fold_of[at] == fold for fold in folds])
        tasks = (replace(case.linked(~row[None]), slices=slices(at, k)) for k, row in zip(folds, hidden, strict=True))
        trials.append(Trial(case, tuple(tasks), hidden))
    return trials


@dataclass(frozen=True, eq=False)
class ScoredCase:
    """One focal group: predicted rates (draws × items) and which of them are scored, the reference being hidden."""

    trial: Trial
    rate: Floats
    low: Floats
    high: Floats
    hidden: Mask

    @classmethod
    def of(cls, trial: Trial, predictions: Sequence[Prediction]) -> ScoredCase:
        """Score the predictions of a trial's tasks; folds are put together, every item as predicted while hidden."""
        rate, low, high = (
            np.concatenate([getattr(one, name) for one in predictions]) for name in ("rate", "low", "high")
        )
        if not trial.is_partition:
            return cls(trial, rate, low, high, trial.hidden)
        pick = np.argmax(trial.hidden, axis=0), np.arange(trial.hidden.shape[1])
        everything = np.ones((1, trial.hidden.shape[1]), dtype=np.bool_)
        return cls(trial, rate[pick][None], low[pick][None], high[pick][None], everything)

    @property
    def case(self) -> Case:
        """The group and its truth."""
        return self.trial.case

    @property
    def identity_error(self) -> float:
        """The mean absolute difference of focal and reference rates on the scored items, mean over the draws."""
        error = np.broadcast_to(np.abs(self.case.task.rate - self.case.truth), self.hidden.shape)
        return float(error[self.hidden].reshape(len(self.hidden), -1).mean(axis=1).mean())

    @property
    def answered(self) -> bool:
        """Whether any hidden item was predicted; a language model may have given no readable answer."""
        return bool(np.isfinite(self.rate[self.hidden]).any())

    def metrics(self) -> dict[str, float]:
        """Return the metrics over hidden items, per draw, averaged over the draws."""
        parts = (self.rate, np.broadcast_to(self.case.truth, self.hidden.shape), self.low, self.high)
        if np.isfinite(self.rate[self.hidden]).all():
            metrics = agreement(*(part[self.hidden].reshape(len(self.hidden), -1) for part in parts))
            return {name: _mean_of(values) for name, values in metrics.items()}
        scored = [row & np.isfinite(rate) for row, rate in zip(self.hidden, self.rate, strict=True)]
        each = [agreement(*(part[k][row] for part in parts)) for k, row in enumerate(scored) if row.any()]
        return {name: _mean_of(np.array([one[name] for one in each])) for name in METRICS}

    def table(self) -> pl.DataFrame:
        """Return predictions and absolute error per item, averaged over the draws that hid it."""
        case = self.case
        drawn = {"rate": self.rate, "low": self.low, "high": self.high, "error": np.abs(self.rate - case.truth)}
        rates = {"item": case.items, "focal": case.task.rate, "reference": case.truth}
        table = pl.DataFrame({**rates, **{name: self._mean(part) for name, part in drawn.items()}}, nan_to_null=True)
        return table.select(pl.lit(case.covariate).alias("covariate"), pl.lit(case.group).alias("group"), pl.all())

    def _mean(self, values: Floats | Mask) -> Floats:
        times = self.hidden.sum(axis=0)
        total = np.where(self.hidden, values, 0.0).sum(axis=0)
        return np.asarray(np.where(times > 0, total / np.maximum(times, 1), np.nan))


def shift_error(trial: Trial) -> float:
    """Return the mean absolute error of one undamped logit shift, the mean difference on each row of links."""
    rates = np.concatenate([_shifted(task) for task in trial.tasks])
    return ScoredCase(trial, rates, rates, rates, trial.hidden).metrics()["mae"]


def _shifted(task: Task) -> Floats:
    x = focal_logit(task.rate, task.n)
    difference = np.where(task.known, logit(smooth(task.links, task.links_n)) - x, 0.0).sum(axis=1, keepdims=True)
    return expit(x + difference / task.known.sum(axis=1, keepdims=True))


def _mean_of(values: Floats) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")
