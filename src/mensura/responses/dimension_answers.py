"""Answers as a fit of several abilities takes them: right ones and trials of every step of every item."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError
from mensura.responses.category_reading import read_categories
from mensura.responses.irt.category_items import begin
from mensura.responses.irt.dimension_curves import DIMENSION_MODELS, step_answers
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.shards import dense
from mensura.responses.reading import read_responses
from mensura.responses.rules import CountRules
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
        return DimensionItems(slopes, intercepts, np.eye(free.shape[1]), free, correlated, self.model, self.sizes)


def dimension_answers(
    responses: Any,  # noqa: ANN401
    model: str,
    *,
    rules: CountRules | None = None,
    by: str | None = None,
    header: bool = True,
) -> DimensionAnswers:
    """Read answers for a model of several abilities."""
    if model not in DIMENSION_MODELS:
        because = ""
        if model == "nominal":
            because = " nominal would have a slope per category and dimension, which answers seldom tell apart."
        raise MensuraError(
            f"model: got {model!r}; expected {', '.join(DIMENSION_MODELS)} for several dimensions.{because} Choose one "
            "of them, or fit one dimension"
        )
    if model != "2pl":
        return _of_categories(responses, model, by, header)
    table = (
        responses
        if isinstance(responses, ResponseTable)
        else read_responses(responses, rules=rules, by=by, header=header)
    )
    right = dense(table.right).astype(np.float64)
    trials = None if table.trials is None else dense(table.trials).astype(np.float64)
    rates = table.items["rate"].to_numpy()
    taken = np.ones_like(right) if trials is None else trials
    within = np.clip(rates, 0.02, 0.98)
    start = np.column_stack([np.ones(len(rates)), 1.2 * np.log(within / (1.0 - within))])
    spread = np.sqrt(np.maximum(taken.sum(axis=0) * rates * (1.0 - rates), 1e-9))
    return DimensionAnswers(
        model,
        table.subjects.select("subject", "group"),
        table.items["item"].to_list(),
        table.items.select("item", "n", "rate"),
        right,
        trials,
        (right - taken * rates) / spread,
        start,
        None,
        table.log,
    )


def _of_categories(responses: Any, model: str, by: str | None, header: bool) -> DimensionAnswers:  # noqa: ANN401
    table = read_categories(responses, by=by, header=header)
    items = table.items.to_list()
    first = begin(model, table.shares, 1)
    counts = np.asarray(table.stacked.toarray(), dtype=np.float64).reshape(-1, len(items), first.most)
    bare = DimensionItems(
        np.zeros((len(items), 1)), first.values[:, 1:], np.eye(1), first.used, True, model, first.sizes
    )
    right, trials = step_answers(model, counts, bare)
    taken, scores = counts.sum(axis=2), counts @ np.arange(first.most)
    off = scores - taken * (scores.sum(axis=0) / taken.sum(axis=0))
    total = table.codes.group_by("item").agg(total=pl.col("n").sum())
    steps = table.codes.join(total, on="item", maintain_order="left").filter(pl.col("place") > 0)
    return DimensionAnswers(
        model,
        table.subjects.select("subject", "group"),
        items,
        steps.select(
            "item",
            pl.Series("category", [f"{value:g}" for value in steps["value"]], dtype=pl.String),
            "n",
            share=pl.col("n") / pl.col("total"),
        ),
        right,
        trials,
        off / np.sqrt(np.maximum(np.sum(off**2, axis=0), 1e-9)),
        first.values,
        first.sizes,
        table.log.frame(),
    )
