"""Pictures of IQ and cost: bell curves, time, trade-offs, prices and efficiency."""

from collections.abc import Callable
from typing import Any

import polars as pl

from mensura import charts
from mensura.charts.values import counted, say
from mensura.core.frames import sort_highest
from mensura.evidence import slug
from mensura.site.pictures.registry import Figure, labelled, linked, picture, worded
from mensura.study.headlines import say_lead
from mensura.study.policy import frontier_lines
from mensura.study.study import Study
from mensura.study.units import dollars, show

_NEAR = 10.0  # IQ points within which a cheaper model is worth naming
_CLOSE = 5.0  # IQ points within which a maker is near the record
_TOP = 10  # models among which the quickest is named
_FEW = 3  # pairs below which a correlation says nothing
_AVERAGE = {"label": ["the average person"], "value": [100.0], "low": [None], "high": [None]}
_NOBODY = "no model is placed"
_ENDS = 6
"""Models at each end of a ranking that a picture shows."""
_PANEL = 540.0  # width of the bells of single dimensions, two of which stand side by side, pixels
_WHO = ("subject", "name", "provider")
_COST = "effective cost, $ per 1M in + 1M out"


@picture("iq-bell")
def iq_bell(study: Study) -> Figure:
    """Composite IQs on the human bell curve."""
    points = _points(study.charted("iq"), "iq")
    return worded("iq-bell", charts.bell_curve(linked(points)), say_lead(study)[0])


def dimension_bell(study: Study, dimension: str) -> Figure:
    """One dimension's IQs on the human bell curve."""
    rows = study.dimensions.filter(dimension=dimension).select("subject", "iq", "low", "high", status="shown")
    points = study.charted("iq").select(*_WHO).join(rows, on="subject", maintain_order="left")
    placed = points.drop_nulls("iq")
    counts = [placed.filter(pl.col("iq") >= iq).height for iq in (100, 130)]
    drawing = charts.bell_curve(linked(_two(points)), wide=_PANEL)
    name = study.dimension_names[dimension]
    facts: dict[str, Any] = {"dimension": name, "models": placed.height, "average": counts[0], "gifted": counts[1]}
    return worded("iq-bell-", drawing, highest_said(points), of=slug(dimension), paged=True, **facts)


def highest_said(points: pl.DataFrame) -> str:
    """Say who is highest; where that is an estimate, also who is highest of those measured."""
    first, measured = leading_said(points), leading_said(points.filter(status="measured"))
    return first if measured in (first, _NOBODY) else f"{first}, mostly estimated; of those measured, {measured}"


@picture("iq-time")
def iq_time(study: Study) -> Figure:
    """The frontier of IQ over time."""
    points = _points(study.charted("iq", timeline=True), "value", "released")
    drawing = charts.timeline(
        linked(labelled(points, "value", study.policy.labels)),
        y_title="composite IQ",
        lines=frontier_lines(points),
        levels=_AVERAGE,
    )
    return worded("iq-time", drawing, risen_said(points), see=gained_said(points))


def _points(rows: pl.DataFrame, value: str, *more: str, **columns: str) -> pl.DataFrame:
    """Return models with their IQ as one column, its interval and whether it is an estimate."""
    ends = {"low": "iq_low", "high": "iq_high", "status": "shown"}
    return _two(rows.select(*_WHO, *more, **columns, **{value: "exact_iq"}, **ends))


def _two(points: pl.DataFrame) -> pl.DataFrame:
    """Say inherited values as estimates, where a chart knows two kinds of marks."""
    return points.with_columns(pl.col("status").replace({"inherited": "estimated"}))


def leading_said(points: pl.DataFrame) -> str:
    """Say who is highest, with the interval."""
    placed = sort_highest(points.drop_nulls("iq"), "iq", "subject")
    if placed.is_empty():
        return _NOBODY
    top = placed.row(0, named=True)
    return f"{top['name']} is highest: IQ {top['iq']:.0f} ({top['low']:.0f} to {top['high']:.0f})"


def risen_said(points: pl.DataFrame) -> str:
    """Say how far the record has come, and since when."""
    dated = points.drop_nulls("value").sort("released")
    if dated.is_empty():
        return "No model on the timeline"
    first, last = dated.row(0, named=True), sort_highest(dated, "value", "released").row(0, named=True)
    basis = "The record" if last["status"] == "measured" else "With estimates, the record"
    return (
        f"{basis} has risen from IQ {first['value']:.0f} ({first['name']}) to {last['value']:.0f} ({last['name']}, "
        f"{last['low']:.0f} to {last['high']:.0f})"
    )


def gained_said(points: pl.DataFrame) -> str:
    """Say how far the record rose in a year, and how many makers are near it."""
    dated = points.drop_nulls("value")
    if dated.is_empty():
        return "No model on the timeline."
    top, year = pl.col("value").max(), pl.col("released") <= pl.col("released").max().dt.offset_by("-1y")
    near = dated.filter(pl.col("value") >= top - _CLOSE)["provider"].n_unique()
    makers = f"Within {_CLOSE:.0f} points of the record: {counted(near, 'maker')}."
    risen = dated.select(top - pl.col("value").filter(year).max()).item()
    return makers if risen is None else f"In the last year the record rose by {risen:.0f} points. {makers}"


def apart_said(points: pl.DataFrame) -> str:
    """Say whose places by EQ and by IQ differ most."""
    pairs = points.drop_nulls(["x", "y"])
    places = pairs.with_columns(pl.col("x", "y").rank("ordinal", descending=True).cast(pl.Int64))
    if pairs.is_empty():
        return "No model has both."
    top = sort_highest(places, (pl.col("x") - pl.col("y")).abs(), "name").row(0, named=True)
    return f"{top['name']} differs most: place {top['x']} by EQ, {top['y']} by IQ, of {pairs.height}."


def together_said(points: pl.DataFrame) -> str:
    """Say how EQ and IQ go together."""
    pairs = points.drop_nulls(["x", "y"])
    if pairs.height < _FEW:
        return "Too few models have both"
    r = pairs.select(pl.corr("x", "y", method="spearman")).item()
    return f"Over {pairs.height} models with both, the rank correlation of EQ and IQ is {r:.2f}".replace("-", "−")


def best_value(study: Study) -> str:
    """Say who costs least near the top."""
    priced = sort_highest(study.having("iq", "effective_cost"), "exact_iq", "subject")
    if priced.is_empty():
        return "No model has both an IQ and an effective cost"
    top = priced.row(0, named=True)
    close = priced.filter(pl.col("exact_iq") >= top["exact_iq"] - _NEAR)
    near = close.sort("effective_cost", "subject").row(0, named=True)
    if near["subject"] == top["subject"]:
        return f"Within {_NEAR:.0f} points of the best priced model, {top['name']}, nobody is cheaper than it"
    times = top["effective_cost"] / near["effective_cost"]
    factor = f"about {times:.{0 if times >= 2 else 1}f} times"
    return f"{near['name']} is within {_NEAR:.0f} points of {top['name']}, which costs {factor} as much"


def quickest_said(points: pl.DataFrame) -> str:
    """Say which of the best models answers quickest."""
    timed = sort_highest(points.drop_nulls(["x", "y"]), "y", "name").head(_TOP).sort("x", "name")
    if timed.is_empty():
        return "No model has both an IQ and a response time"
    top = timed.row(0, named=True)
    quickest = f"{top['name']} answers quickest: {show(top['x'], 'seconds')} in the median"
    return f"Of the {timed.height} highest with a known time, {quickest}"


def _trade_off(study: Study, x: str) -> pl.DataFrame:
    points = _points(study.having("iq", x), "y", x=x)
    return linked(labelled(points, "y", study.policy.labels))


def steps_said(points: pl.DataFrame, say_x: Callable[[float], str]) -> str:
    """Say how many models no other beats on both, and which stand at the ends of these steps."""
    steps = frontier(points).join(points, on=["x", "y"], maintain_order="left")
    if steps.is_empty():
        return "No model has both."
    ends = dict.fromkeys(
        f"{one['name']} ({say_x(one['x'])}, IQ {one['y']:.0f})"
        for one in (steps.row(0, named=True), steps.row(-1, named=True))
    )
    return f"No other model beats {steps.height} of these {points.height} on both: from {' to '.join(ends)}."


def _traded(name: str, points: pl.DataFrame, finding: str, say_x: Callable[[float], str], **settings: Any) -> Figure:  # noqa: ANN401
    """Draw IQ against what a model takes, less of which is better, with the models that no other beats on both."""
    look: dict[str, Any] = {"log_x": True, "frontier": frontier(points), "x_tick": say_x, **settings}
    look |= {"y_tick": lambda iq: f"{iq:.0f}", "y_word": "IQ "}
    drawing = charts.scatter(points, y_title="composite IQ", people=100, **look)
    return worded(name, drawing, finding, models=points.height, see=steps_said(points, say_x))


def frontier(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points no other beats on both: less x, more y."""
    ordered = points.drop_nulls(["x", "y"]).sort("x", "y", descending=[False, True])
    return ordered.filter(pl.col("y") > pl.col("y").cum_max().shift(1).fill_null(float("-inf"))).select("x", "y")


@picture("iq-eq")
def iq_eq(study: Study) -> Figure:
    """IQ against emotional reasoning."""
    points = _trade_off(study, "eq")
    drawing = charts.scatter(points, x_title="emotional reasoning, EQ", y_title="composite IQ", people=100)
    return worded("iq-eq", drawing, together_said(points), see=apart_said(points))


@picture("iq-cost")
def iq_cost(study: Study) -> Figure:
    """IQ against effective cost, with the frontier."""
    return _traded("iq-cost", _trade_off(study, "effective_cost"), best_value(study), dollars, x_title=_COST)


@picture("iq-price")
def iq_price(study: Study) -> Figure:
    """IQ against list price, of the models without an effective cost: two costs are never ranked together."""
    costed = study.having("effective_cost")["subject"].to_list()
    points = _trade_off(study, "sticker_price").filter(~pl.col("subject").is_in(costed))
    return _traded("iq-price", points, listed_said(points), dollars, x_title="list price, $ per 1M in + 1M out")


def listed_said(points: pl.DataFrame) -> str:
    """Say how many models have a list price only, and which of them is highest."""
    if points.is_empty():
        return "No model has a list price only"
    top = sort_highest(points, "y", "name").row(0, named=True)
    where = f"IQ {top['y']:.0f} at {dollars(top['x'])}"
    return f"Of {points.height} models with a list price only, {top['name']} is highest: {where}"


@picture("iq-response")
def iq_response(study: Study) -> Figure:
    """IQ against response time, the fast to the right."""
    points = _trade_off(study, "response_time")
    look: dict[str, Any] = {"x_title": "response time, seconds", "reverse_x": True}
    return _traded("iq-response", points, quickest_said(points), lambda seconds: f"{say(seconds, 2)} s", **look)


def _ends(study: Study, column: str, by: pl.Expr) -> pl.DataFrame:
    """Return the models that are lowest and highest in something, by a column of their costs."""
    ordered, place = study.having(column).with_columns(by=by).sort("by", "subject"), pl.int_range(pl.len())
    ends = ordered.filter((place < _ENDS) | (place >= pl.len() - _ENDS))
    none = pl.lit(None, pl.Float64)
    rows = ends.select(*_WHO, "by", "sticker_price", value=column, low=none, high=none, status=pl.lit("measured"))
    return linked(rows)


def farthest_said(rows: pl.DataFrame) -> str:
    """Say which models cost most and least beside their list price."""
    ordered = rows.sort("by")
    if ordered.is_empty():
        return "No model has an effective cost"
    least, most = ordered.row(0, named=True), ordered.row(-1, named=True)
    return f"{most['name']} costs {most['by']:.1f} times its list price, {least['name']} {least['by']:.2f} times"


def leanest(rows: pl.DataFrame) -> str:
    """Say which model needs least work."""
    ordered = sort_highest(rows, "value", "name")
    if ordered.is_empty():
        return "No model has a task efficiency"
    top = ordered.row(0, named=True)
    return (
        f"{top['name']} needs least work for the same tasks: {top['value']:.1f} times as efficient as a model that is "
        "the median throughout"
    )


@picture("cost-bars")
def cost_bars(study: Study) -> Figure:
    """Models whose effective cost is farthest from their list price."""
    rows = _ends(study, "effective_cost", pl.col("effective_cost") / pl.col("sticker_price"))
    rows = rows.rename({"sticker_price": "other"})
    look: dict[str, Any] = {"log": True, "ascending": True, "beside": "list price", "tick": dollars}
    both = study.having("effective_cost", "sticker_price")
    counts: dict[str, Any] = {"both": both.height, "above": (both["effective_cost"] > both["sticker_price"]).sum()}
    return worded("cost-bars", charts.bars(rows, x_title=_COST, **look), farthest_said(rows), **counts)


@picture("task-efficiency")
def task_efficiency(study: Study) -> Figure:
    """Task efficiency; 1 is a model that is the median in every signal of work."""
    rows = _ends(study, "task_efficiency", pl.col("task_efficiency"))
    drawing = charts.bars(rows, x_title="task efficiency, ×", log=True, rule=1.0)
    known = study.having("task_efficiency")["task_efficiency"]
    counts: dict[str, Any] = {"lean": (known > 2).sum(), "heavy": (known < 1 / 2).sum(), "known": len(known)}
    return worded("task-efficiency", drawing, leanest(rows), **counts)
