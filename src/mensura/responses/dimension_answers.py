"""Answers for a model of several abilities, and where its fit begins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError
from mensura.responses.category_table import CategoryTable, read_categories
from mensura.responses.counting import CountRules
from mensura.responses.irt.category_curves import begin
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import DIMENSION_MODELS, step_answers
from mensura.responses.irt.shards import dense
from mensura.responses.reading import read_responses
from mensura.responses.table import ResponseTable

PROBIT = 1.702
"""Logits per standard deviation of a normal curve: puts slopes on the scale of loadings."""


class DimensionAnswers(NamedTuple):
    """What is fitted.

    ``subjects``: subject and group. ``items``: their names. ``steps``: item, category (if several), n, share or rate
    of every step of every item. ``right`` and ``trials``: subjects × steps. ``centred``: scores of items (subjects ×
    items) less their mean, in units that make the squares of an item sum to 1. ``start``: slope, then intercepts.
    """

    model: str
    subjects: pl.DataFrame
    items: list[str]
    steps: pl.DataFrame
    right: Floats
    trials: Floats | None
    centred: Floats
    start: Floats
    sizes: Any
    log: pl.DataFrame
    weak_priors: bool = True

    def confirmatory(self, free: Mask, *, correlated: bool) -> DimensionItems:
        """Return where a fit begins whose slopes are known to exist or not."""
        return self._items(free * self.start[:, :1], free, correlated)

    def exploratory(self, count: int) -> DimensionItems:
        """Return where a fit begins that looks for abilities: the largest principal components of the answers."""
        values, vectors = np.linalg.eigh(self.centred.T @ self.centred)
        slopes = PROBIT * vectors[:, -count:][:, ::-1] * np.sqrt(np.maximum(values[-count:][::-1], 0.1))
        slopes = np.clip(slopes * np.sign(slopes.sum(axis=0)), -2.0, 2.0)
        return self._items(slopes * self.start[:, :1], np.ones_like(slopes, dtype=bool), correlated=False)

    def _items(self, slopes: Floats, free: Mask, correlated: bool) -> DimensionItems:
        intercepts = self.start[:, 1] if self.sizes is None else self.start[:, 1:]
        unit = np.eye(free.shape[1])
        return DimensionItems(slopes, intercepts, unit, free, correlated, self.model, self.sizes, self.weak_priors)


def dimension_answers(responses: Any, model: str, rules: CountRules | None = None, **how: Any) -> DimensionAnswers:  # noqa: ANN401
    """Read answers for a model of several abilities; ``how``: arguments of :func:`read_responses`."""
    if model not in DIMENSION_MODELS:
        because = ""
        if model == "nominal":
            because = " nominal would have a slope per category and dimension, which answers seldom tell apart."
        raise MensuraError(
            f"model: got {model!r}; expected {', '.join(DIMENSION_MODELS)} for several dimensions.{because} Choose one "
            "of them, or fit one dimension"
        )
    if model != "2pl":
        if rules is not None:
            raise MensuraError(f"rules: of no use to the model {model}, whose outcomes are categories. Leave it out")
        return _of_categories(read_categories(responses, **how), model)
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses, rules=rules, **how)
    right = dense(table.right).astype(np.float64)
    trials = None if table.trials is None else dense(table.trials).astype(np.float64)
    rates, taken = table.items["rate"].to_numpy(), np.ones_like(right) if trials is None else trials
    within = np.clip(rates, 0.02, 0.98)
    start = np.column_stack([np.ones(len(rates)), 1.2 * np.log(within / (1.0 - within))])
    centred = (right - taken * rates) / np.sqrt(np.maximum(taken.sum(axis=0) * rates * (1.0 - rates), 1e-9))
    names, items = table.subjects.select("subject", "group"), table.items.select("item", "n", "rate")
    return DimensionAnswers(
        model, names, items["item"].to_list(), items, right, trials, centred, start, None, table.log
    )


def _of_categories(table: CategoryTable, model: str) -> DimensionAnswers:
    items, first = table.items.to_list(), begin(model, table.shares, 1)
    counts = np.asarray(table.stacked.toarray(), dtype=np.float64).reshape(-1, len(items), first.most)
    bare = DimensionItems(
        np.zeros((len(items), 1)), first.values[:, 1:], np.eye(1), first.used, True, model, first.sizes
    )
    taken, scores = counts.sum(axis=2), counts @ np.arange(first.most)
    off = scores - taken * (scores.sum(axis=0) / taken.sum(axis=0))
    return DimensionAnswers(
        model,
        table.subjects.select("subject", "group"),
        items,
        table.codes.filter(pl.col("place") > 0).select("item", "category", "n", "share"),
        *step_answers(model, counts, bare),
        off / np.sqrt(np.maximum(np.sum(off**2, axis=0), 1e-9)),
        first.values,
        first.sizes,
        table.log.frame(),
    )
