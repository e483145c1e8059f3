"""Pictures of cost: sticker against effective, cheapest first, efficiency."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.site.pictures.registry import Picture, labelled, picture
from mensura.site.study import Study


def _bars(study: Study, column: str) -> pl.DataFrame:
    return study.charted(column).select(
        *("subject", "name", "provider"),
        value=column,
        low=pl.lit(None, pl.Float64),
        high=pl.lit(None, pl.Float64),
        status=pl.lit("measured"),
    )


@picture("sticker-effective")
def sticker_effective(study: Study) -> Picture:
    """Sticker price against effective cost."""
    points = study.charted("sticker_price", "effective_cost").select(
        *("subject", "name", "provider"), x="sticker_price", y="effective_cost", status=pl.lit("measured")
    )
    return Picture(
        "sticker-effective",
        "Sticker price and effective cost",
        "Above the line a model needs more work for the same tasks than its price suggests, below it less.",
        charts.scatter(
            labelled(points, "y", study.policy.labels),
            x_title="sticker price, $ per 1M in + 1M out",
            y_title="effective cost, $ per 1M in + 1M out",
            log_x=True,
            log_y=True,
            diagonal=True,
        ),
    )


@picture("cost-bars")
def cost_bars(study: Study) -> Picture:
    """Models by effective cost, cheapest first."""
    return Picture(
        "cost-bars",
        "Models by effective cost",
        "Cheapest first; the axis is logarithmic.",
        charts.bars(
            _bars(study, "effective_cost"), x_title="effective cost, $ per 1M in + 1M out", log=True, ascending=True
        ),
    )


@picture("task-efficiency")
def task_efficiency(study: Study) -> Picture:
    """Task efficiency, the median model at 1."""
    return Picture(
        "task-efficiency",
        "Task efficiency",
        "The inverse of the usage multiplier: 2× means half the work of the median model for the same tasks.",
        charts.bars(_bars(study, "task_efficiency"), x_title="task efficiency, ×", log=True, rule=1.0),
    )
