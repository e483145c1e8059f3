"""Pictures of cost: sticker against effective, cheapest first, efficiency."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.site.pictures.registry import Figure, labelled, linked, picture
from mensura.study.study import Study
from mensura.study.units import dollars


def _bars(study: Study, column: str) -> pl.DataFrame:
    return study.charted(column).select(
        *("subject", "name", "provider"),
        value=column,
        low=pl.lit(None, pl.Float64),
        high=pl.lit(None, pl.Float64),
        status=pl.lit("measured"),
    )


def dearer(points: pl.DataFrame) -> str:
    """Say how many models cost more than their price suggests."""
    more = points.filter(pl.col("y") > pl.col("x")).height
    return f"{more} of {points.height} models cost more for the same tasks than their price suggests"


def cost_spread(rows: pl.DataFrame) -> str:
    """Say which models have the lowest and the highest effective cost."""
    ordered = rows.sort("value")
    if ordered.is_empty():
        return "No model has an effective cost"
    least, most = ordered.row(0, named=True), ordered.row(-1, named=True)
    return (
        f"From {least['name']} at {dollars(least['value'])} to {most['name']} at {dollars(most['value'])} per million "
        "tokens in and out"
    )


def leanest(rows: pl.DataFrame) -> str:
    """Say which model needs least work."""
    ordered = rows.sort("value", descending=True)
    if ordered.is_empty():
        return "No model has a task efficiency"
    top = ordered.row(0, named=True)
    return (
        f"{top['name']} needs least work for the same tasks: {top['value']:.1f} times as efficient as a model that is "
        "the median throughout"
    )


@picture("sticker-effective")
def sticker_effective(study: Study) -> Figure:
    """Sticker price against effective cost."""
    points = study.charted("sticker_price", "effective_cost").select(
        *("subject", "name", "provider"), x="sticker_price", y="effective_cost", status=pl.lit("measured")
    )
    return Figure(
        "sticker-effective",
        "Sticker price and effective cost",
        "Above the line a model needs more work for the same tasks than its price suggests, below it less.",
        charts.scatter(
            linked(labelled(points, "y", study.policy.labels)),
            x_title="sticker price, $ per 1M in + 1M out",
            y_title="effective cost, $ per 1M in + 1M out",
            log_x=True,
            log_y=True,
            diagonal=True,
            x_tick=dollars,
            y_tick=dollars,
        ),
        finding=dearer(points),
        columns={"x": "sticker price, $ per 1M in + 1M out", "y": "effective cost, $ per 1M in + 1M out"},
    )


@picture("cost-bars")
def cost_bars(study: Study) -> Figure:
    """Models by effective cost, cheapest first, beside their list price."""
    prices = study.costs.costs.select("subject", other="sticker_price")
    rows = _bars(study, "effective_cost").join(prices, on="subject", how="left", maintain_order="left")
    return Figure(
        "cost-bars",
        "Models by effective cost",
        "Cheapest first; the upright stroke is the list price. The axis is logarithmic.",
        charts.bars(
            linked(rows),
            x_title="effective cost, $ per 1M in + 1M out",
            log=True,
            ascending=True,
            beside="list price",
            tick=dollars,
        ),
        finding=cost_spread(rows),
        columns={"value": "effective cost, $ per 1M in + 1M out", "other": "list price, $ per 1M in + 1M out"},
    )


@picture("task-efficiency")
def task_efficiency(study: Study) -> Figure:
    """Task efficiency; 1 is a model that is the median in every signal of work."""
    return Figure(
        "task-efficiency",
        "Task efficiency",
        "The inverse of the usage multiplier: 2× means half the work for the same tasks of a model that is typical in "
        "every signal (tokens against their median, costs against those expected from the price).",
        charts.bars(linked(_bars(study, "task_efficiency")), x_title="task efficiency, ×", log=True, rule=1.0),
        finding=leanest(_bars(study, "task_efficiency")),
        columns={"value": "task efficiency, ×"},
    )
