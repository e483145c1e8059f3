"""Estimates with intervals, one row each: regions, drivers, bases, algorithmic progress."""

from __future__ import annotations

from collections.abc import Callable

from mensura.charts.canvas import Drawing
from mensura.charts.forest import Strip, draw_forest
from mensura.charts.rows import Row, rows_of, say, say_alike, say_range


def bases(points: object, *, x_title: str = "Base: factor by which success falls per level") -> Drawing:
    """Draw the base of each dimension on a logarithmic axis, with the design value 10 as a line.

    ``points``: dimension, name, base; bases are printed with two decimals, as calibrations print them.
    """
    rows = rows_of(points, ("dimension", "name", "base"), needed=["name", "base"])
    unknown = {"low": None, "high": None}
    estimates = [
        {**row, **unknown, "label": row["name"], "value": row["base"], "text": f"{row['base']:.2f}"} for row in rows
    ]
    return _forest(estimates, x_title, log=True, rule=10.0, nothing="no dimension has a base")


def regions(points: object, *, x_title: str = "Rate of success") -> Drawing:
    """Draw the rate of each region of the world. ``points``: region, rate, low, high (shares from 0 to 1)."""
    rows = rows_of(points, ("region", "rate", "low", "high"), needed=["region", "rate"])
    estimates = [{**row, "label": row["region"], "value": row["rate"]} for row in rows]
    return _forest(estimates, x_title, percent=True, nothing="no region has a rate")


def drivers(points: object, *, x_title: str = "Change of the rate, percentage points") -> Drawing:
    """Draw what a number hangs on: the change that each driver brings. ``points``: driver, effect, low, high."""
    rows = rows_of(points, ("driver", "effect", "low", "high"), needed=["driver", "effect"])
    estimates = [{**row, "label": row["driver"], "value": row["effect"]} for row in rows]
    return _forest(
        estimates, x_title, rule=0.0, order=lambda row: -abs(row["value"]), nothing="no driver has an effect"
    )


def difficulties(points: object, *, x_title: str = "Difficulty") -> Drawing:
    """Draw benchmarks, hardest first. ``points``: benchmark, difficulty, low, high."""
    rows = rows_of(points, ("benchmark", "difficulty", "low", "high"), needed=["benchmark", "difficulty"])
    estimates = [{**row, "label": row["benchmark"], "value": row["difficulty"]} for row in rows]
    return _forest(estimates, x_title, nothing="no benchmark has a difficulty")


def progress(points: object, *, x_title: str = "Less compute for the same capability, × per year") -> Drawing:
    """Draw estimates of algorithmic progress, as given, on a logarithmic axis. ``points``: label, value, low, high."""
    rows = rows_of(points, ("label", "value", "low", "high"), needed=["label", "value"])
    return _forest(rows, x_title, log=True, rule=1.0, order=None, nothing="no estimate of progress")


def _forest(
    rows: list[Row],
    x_title: str,
    *,
    nothing: str,
    log: bool = False,
    percent: bool = False,
    rule: float | None = None,
    order: Callable[[Row], float] | None = lambda row: -row["value"],
) -> Drawing:
    rows = [row for row in rows if row["value"] > 0 or not log]
    if order is not None:
        rows.sort(key=order)
    values = [row["value"] for row in rows]
    texts = [f"{v:.0%}" for v in values] if percent else [say(v) for v in values]
    if values and not (percent or log):
        texts = say_alike(values)
    strips = [
        Strip(
            row["label"],
            row["value"],
            row["low"],
            row["high"],
            text=row.get("text", text),
            status="estimated",
            note=_say_range(row, percent=percent).removeprefix(", "),
        )
        for row, text in zip(rows, texts, strict=True)
    ]
    tick: Callable[[float], str] = (lambda value: f"{value:.0%}") if percent else say
    return draw_forest(
        strips,
        axis=x_title,
        tick=tick,
        description=_describe(strips, x_title) if strips else nothing,
        rule=rule,
        log=log,
        least=0.0 if percent else None,
    )


def _say_range(row: Row, *, percent: bool) -> str:
    low, high = row["low"], row["high"]
    if percent and low is not None and high is not None:
        return f"{low:.0%} to {high:.0%}"
    return say_range(low, high)


def _describe(strips: list[Strip], x_title: str) -> str:
    top = sorted(strips, key=lambda one: -(one.value or 0.0))
    first, last = top[0], top[-1]
    return f"{x_title}: from {first.label} ({first.text}) to {last.label} ({last.text}), {len(strips)} in all."
