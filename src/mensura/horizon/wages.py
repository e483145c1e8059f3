"""What a task costs: minutes times wage beside a model's cost per success, by length of the task."""

from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.horizon.reading import read_numbers
from mensura.intake.tables import as_frame

BUDGET = 2.0
"""Millions of tokens that an attempt may use at most: the limit of the study behind the embedded runs."""
LENGTHS = (1.0, 4.0, 15.0, 60.0, 240.0, 480.0, 2400.0)
"""Lengths whose costs are listed, in minutes: from a minute to 40 hours of work."""
_STEPS = 8
"""Lengths per doubling at which costs are compared."""


def read_wages(wage: Any) -> pl.DataFrame:
    """Return occupation and wage, in dollars an hour: of a number, or of a table."""
    try:
        table = pl.DataFrame({"occupation": ["any"], "wage": [float(wage)]})
    except (TypeError, ValueError):
        given = as_frame(wage, name=str(wage))
        require_columns(given, ["occupation", "wage"], name=str(wage))
        table = read_numbers(given, {"occupation": "occupation", "wage": "wage"}, ("wage",), str(wage))
    wrong = table.filter(~(pl.col("wage").is_finite() & (pl.col("wage") > 0)).fill_null(value=False))
    if wrong.height or not table.height:
        value = wrong["wage"][0] if wrong.height else "empty"
        raise MensuraError(f"wage: {value} is no pay for an hour; expected dollars above 0. Give a number or a table")
    return table


def compare_wages(
    curves: pl.DataFrame, prices: pl.DataFrame, wages: pl.DataFrame, budget: float = BUDGET
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the length from which each model is cheaper than people, and both costs at some lengths.

    ``curves``: subject, minutes, rate, low, high. ``prices``: subject, input_price, output_price in dollars for a
    million tokens. ``wages``: occupation, wage. An attempt uses ``budget`` million tokens: all of them read at least,
    half of them written at most. The interval contains this range and the error of the success. An empty end: at no
    length of the curve.
    """
    low = budget * pl.col("input_price")
    high = budget * (pl.col("input_price") + pl.col("output_price")) / 2
    costs = prices.select("subject", attempt_low=low, attempt_high=pl.max_horizontal(low, high))
    people = pl.col("wage") * pl.col("minutes") / 60
    per_success = {
        "cost": (pl.col("attempt_low") * pl.col("attempt_high")).sqrt() / pl.col("rate"),
        "cost_low": pl.col("attempt_low") / pl.col("high"),
        "cost_high": pl.col("attempt_high") / pl.col("low"),
    }
    fine = pl.concat([_finer(part) for _, part in curves.group_by("subject", maintain_order=True)])
    table = fine.join(costs.drop_nulls(), on="subject", maintain_order="left").join(wages, how="cross")
    table = table.with_columns(people=people, **per_success)
    cheaper = {
        f"cheaper_from{name[4:]}": pl.col("minutes").filter(pl.col(name) < pl.col("people")).min()
        for name in per_success
    }
    bounds = table.group_by("subject", "occupation", "wage", maintain_order=True).agg(**cheaper)
    dearer = pl.when(pl.col("cost_low") > pl.col("people")).then(pl.lit("people")).otherwise(pl.lit("not sure"))
    is_sure = pl.when(pl.col("cost_high") < pl.col("people")).then(pl.lit("model")).otherwise(dearer)
    listed = table.filter(pl.col("minutes").is_in(LENGTHS)).with_columns(cheaper=is_sure)
    columns = ("subject", "occupation", "wage", "minutes", "rate", "people", *per_success, "cheaper")
    return bounds.sort("cheaper_from", "subject", nulls_last=True), listed.select(columns)


def _finer(curve: pl.DataFrame) -> pl.DataFrame:
    """Return the curve at finer steps, and at the lengths that are listed."""
    curve = curve.sort("minutes")
    x = np.log2(curve["minutes"].to_numpy())
    own = np.arange(x[0] * _STEPS, x[-1] * _STEPS + 1e-9) / _STEPS
    listed = np.log2(LENGTHS)
    at = np.unique(np.exp2(np.r_[own, listed[(listed >= x[0]) & (listed <= x[-1])]]).round(9))
    values = {name: np.interp(np.log2(at), x, curve[name].to_numpy()) for name in ("rate", "low", "high")}
    return pl.DataFrame({"minutes": at, **values}).with_columns(subject=pl.lit(curve["subject"][0]))
