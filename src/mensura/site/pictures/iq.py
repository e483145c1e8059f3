"""Pictures of IQ: bell curves, time, trade-offs, and one chart per benchmark."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.charts.rows import say
from mensura.evidence import slug
from mensura.site.pictures.registry import Figure, labelled, linked, picture
from mensura.study.headlines import leader_sentence
from mensura.study.policy import frontier_lines
from mensura.study.study import Study
from mensura.study.units import dollars, show

_ESTIMATED = (
    "Full: at least two own scores stand behind most of its dimensions; hollow: estimates do. Press a mark for its "
    "card."
)
_JUDGED = (
    "The curve is the distribution of human IQ by definition; where models stand on it rests on ladders that were "
    "judged, "
    "not on people who took these tests."
)
_NEAR = 10.0  # IQ points within which a cheaper model is worth naming
_TOP = 10  # models among which the quickest is named
_FEW = 3  # pairs below which a correlation says nothing
_AVERAGE = {"label": ["the average person"], "value": [100.0], "low": [None], "high": [None]}
_PANEL = 540.0  # width of the bells of single dimensions, two of which stand side by side, pixels


@picture("iq-bell")
def iq_bell(study: Study) -> Figure:
    """Composite IQs on the human bell curve."""
    points = study.charted("iq").select(
        *("subject", "name", "provider"),
        iq="exact_iq",
        low="iq_low",
        high="iq_high",
        status="shown",
    )
    return Figure(
        "iq-bell",
        "Models on the human bell curve",
        f"Composite IQ of current models, estimates included. {_JUDGED} {_ESTIMATED}",
        charts.bell_curve(linked(_two(points))),
        finding=leader_sentence(study),
    )


def dimension_bell(study: Study, dimension: str) -> Figure:
    """One dimension's IQs on the human bell curve."""
    rows = study.dimensions.filter(dimension=dimension).select("subject", "iq", "low", "high", status="shown")
    points = study.charted("iq").select("subject", "name", "provider").join(rows, on="subject", maintain_order="left")
    return Figure(
        f"iq-bell-{slug(dimension)}",
        study.dimension_names[dimension],
        f"IQ in {study.dimension_names[dimension]}. Full: at least two of its benchmarks measured; hollow: estimated.",
        charts.bell_curve(linked(_two(points)), wide=_PANEL),
        finding=f"Of those measured here, {leading_said(points.filter(status='measured'))}",
        paged=True,
    )


@picture("iq-time")
def iq_time(study: Study) -> Figure:
    """The frontier of IQ over time."""
    points = study.charted("iq", timeline=True).select(
        *("subject", "name", "provider", "released"),
        value="exact_iq",
        low="iq_low",
        high="iq_high",
        status="shown",
    )
    return Figure(
        "iq-time",
        "IQ over time",
        "Flagship models of the large labs by release; lines join models at or above everything their lab had before.",
        charts.timeline(
            linked(labelled(_two(points), "value", study.policy.labels)),
            y_title="composite IQ",
            lines=frontier_lines(points),
            levels=_AVERAGE,
        ),
        finding=risen_said(points),
        columns={"value": "composite IQ"},
    )


def _trade_off(study: Study, x: str) -> pl.DataFrame:
    points = study.charted("iq", x).select(
        *("subject", "name", "provider"),
        x=x,
        y="exact_iq",
        low="iq_low",
        high="iq_high",
        status="shown",
    )
    return linked(labelled(_two(points), "y", study.policy.labels))


def _two(points: pl.DataFrame) -> pl.DataFrame:
    """Say inherited values as estimates, where a chart knows two kinds of marks."""
    return points.with_columns(pl.col("status").replace({"inherited": "estimated"}))


def leading_said(points: pl.DataFrame) -> str:
    """Say who is highest, with the interval."""
    known = points.drop_nulls("iq").sort("iq", descending=True)
    if known.is_empty():
        return "no model is placed"
    top = known.row(0, named=True)
    return f"{top['name']} is highest: IQ {top['iq']:.0f} ({top['low']:.0f} to {top['high']:.0f})"


def risen_said(points: pl.DataFrame) -> str:
    """Say how far the record has come, and since when."""
    known = points.drop_nulls("value").sort("released")
    if known.is_empty():
        return "No model on the timeline"
    first, last = known.row(0, named=True), known.sort("value").row(-1, named=True)
    basis = "The record" if last["status"] == "measured" else "With estimates, the record"
    return (
        f"{basis} has risen from IQ {first['value']:.0f} ({first['name']}) to {last['value']:.0f} ({last['name']}, "
        f"{last['low']:.0f} to {last['high']:.0f})"
    )


def together_said(points: pl.DataFrame) -> str:
    """Say how EQ and IQ go together."""
    known = points.drop_nulls(["x", "y"])
    if known.height < _FEW:
        return "Too few models have both"
    r = known.select(pl.corr("x", "y", method="spearman")).item()
    return f"Over {known.height} models with both, the rank correlation of EQ and IQ is {r:.2f}".replace("-", "−")


def best_value(study: Study) -> str:
    """Say who costs least near the top."""
    priced = study.charted("iq", "effective_cost").sort("exact_iq", descending=True)
    if priced.is_empty():
        return "No model has both an IQ and an effective cost"
    top = priced.row(0, named=True)
    near = priced.filter(pl.col("exact_iq") >= top["exact_iq"] - _NEAR).sort("effective_cost").row(0, named=True)
    if near["subject"] == top["subject"]:
        return f"Within {_NEAR:.0f} points of the best priced model, {top['name']}, nobody is cheaper than it"
    times = top["effective_cost"] / near["effective_cost"]
    said = f"about {times:.0f} times" if times >= 2 else f"about {times:.1f} times"
    return f"{near['name']} is within {_NEAR:.0f} points of {top['name']}, which costs {said} as much"


def _quickest(points: pl.DataFrame) -> str:
    known = points.drop_nulls(["x", "y"]).sort("y", descending=True).head(_TOP).sort("x")
    if known.is_empty():
        return "No model has both an IQ and a response time"
    top = known.row(0, named=True)
    said = f"{top['name']} answers quickest: {show(top['x'], 'seconds')} in the median"
    return f"Of the {known.height} highest with a known time, {said}"


@picture("iq-eq")
def iq_eq(study: Study) -> Figure:
    """IQ against emotional reasoning."""
    return Figure(
        "iq-eq",
        "IQ and emotional reasoning",
        "Emotional reasoning (EQ) is a diagnostic with a thin base; it is no part of the composite.",
        charts.scatter(_trade_off(study, "eq"), x_title="emotional reasoning, EQ", y_title="composite IQ", people=100),
        finding=together_said(_trade_off(study, "eq")),
        columns={"x": "EQ", "y": "composite IQ"},
    )


@picture("iq-cost")
def iq_cost(study: Study) -> Figure:
    """IQ against effective cost, with the frontier."""
    points = _trade_off(study, "effective_cost")
    return Figure(
        "iq-cost",
        "IQ and effective cost",
        "Dollars for a million tokens in and out, times how much work the model needs for the same tasks. "
        "The steps join the models that no other beats on both.",
        charts.scatter(
            points,
            x_title="effective cost, $ per 1M in + 1M out",
            y_title="composite IQ",
            log_x=True,
            frontier=frontier(points),
            people=100,
            x_tick=dollars,
            y_tick=lambda iq: f"{iq:.0f}",
            y_word="IQ ",
        ),
        finding=best_value(study),
        columns={"x": "effective cost, $ per 1M in + 1M out", "y": "composite IQ"},
    )


@picture("iq-response")
def iq_response(study: Study) -> Figure:
    """IQ against response time, the fast to the right."""
    points = _trade_off(study, "response_time")
    return Figure(
        "iq-response",
        "IQ and response time",
        "Median seconds to a complete answer, fast to the right: the upper right corner is the best.",
        charts.scatter(
            points,
            x_title="response time, seconds",
            y_title="composite IQ",
            log_x=True,
            reverse_x=True,
            frontier=frontier(points),
            people=100,
            x_tick=lambda seconds: f"{say(seconds, 2)} s",
            y_tick=lambda iq: f"{iq:.0f}",
            y_word="IQ ",
        ),
        finding=_quickest(points),
        columns={"x": "response time, s", "y": "composite IQ"},
    )


def frontier(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points no other beats on both: less x, more y."""
    ordered = points.drop_nulls(["x", "y"]).sort("x", "y", descending=[False, True])
    return ordered.filter(pl.col("y") > pl.col("y").cum_max().shift(1).fill_null(float("-inf"))).select("x", "y")
