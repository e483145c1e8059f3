"""Pictures of IQ: bell curves, time, trade-offs, and one chart per benchmark."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.evidence import slug
from mensura.site.pictures.registry import Picture, labelled, picture
from mensura.site.policy import frontier_lines
from mensura.site.study import Study

_ESTIMATED = (
    "Solid: the model's own scores stand behind most of its dimensions; hollow: estimates do. Press a dot for its card."
)
_PANEL_LABELS = 6  # the bells of single dimensions are small


@picture("iq-bell")
def iq_bell(study: Study) -> Picture:
    """Composite IQs on the human bell curve."""
    points = study.charted("iq").select(
        *("subject", "name", "provider"),
        iq="exact_iq",
        low="iq_low",
        high="iq_high",
        status="shown",
    )
    return Picture(
        "iq-bell",
        "Models on the human bell curve",
        f"Composite IQ of current models over the distribution of human IQ. {_ESTIMATED}",
        charts.bell_curve(labelled(points, "iq", study.policy.labels)),
    )


def dimension_bell(study: Study, dimension: str) -> Picture:
    """One dimension's IQs on the human bell curve."""
    rows = study.dimensions.filter(dimension=dimension).select("subject", "iq", "low", "high", status="shown")
    points = study.charted().select("subject", "name", "provider").join(rows, on="subject", maintain_order="left")
    labels = points.with_columns(
        label=(pl.col("status") == "measured") & (pl.col("iq").rank("ordinal", descending=True) <= _PANEL_LABELS)
    )
    return Picture(
        f"iq-bell-{slug(dimension)}",
        study.dimension_names[dimension],
        "Hollow: rests on estimates.",
        charts.bell_curve(labels),
    )


@picture("iq-time")
def iq_time(study: Study) -> Picture:
    """The frontier of IQ over time."""
    points = study.charted("iq", timeline=True).select(
        *("subject", "name", "provider", "released"),
        value="exact_iq",
        low="iq_low",
        high="iq_high",
        status="shown",
    )
    return Picture(
        "iq-time",
        "IQ over time",
        "Flagship models of the large labs by release; lines join models at or above everything their lab had before.",
        charts.timeline(
            labelled(points, "value", study.policy.labels), y_title="composite IQ", lines=frontier_lines(points)
        ),
    )


def _trade_off(study: Study, x: str) -> pl.DataFrame:
    points = study.charted("iq", x).select(
        *("subject", "name", "provider"),
        x=x,
        y="exact_iq",
        status="shown",
    )
    return labelled(points, "y", study.policy.labels)


@picture("iq-eq")
def iq_eq(study: Study) -> Picture:
    """IQ against emotional reasoning."""
    return Picture(
        "iq-eq",
        "IQ and emotional reasoning",
        "Emotional reasoning (EQ) is a diagnostic with a thin base; it is no part of the composite.",
        charts.scatter(_trade_off(study, "eq"), x_title="emotional reasoning, EQ", y_title="composite IQ"),
    )


@picture("iq-cost")
def iq_cost(study: Study) -> Picture:
    """IQ against effective cost, with the frontier."""
    points = _trade_off(study, "effective_cost")
    return Picture(
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
        ),
    )


@picture("iq-response")
def iq_response(study: Study) -> Picture:
    """IQ against response time, the fast to the right."""
    points = _trade_off(study, "response_time")
    return Picture(
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
        ),
    )


def frontier(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points no other beats on both: less x, more y."""
    ordered = points.drop_nulls(["x", "y"]).sort("x", "y", descending=[False, True])
    return ordered.filter(pl.col("y") > pl.col("y").cum_max().shift(1).fill_null(float("-inf"))).select("x", "y")


def benchmark_bars(study: Study, benchmark: str) -> Picture:
    """The best models on one benchmark, beside groups of people."""
    facts = study.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)
    scores = study.evidence.primary_scores.filter(benchmark=benchmark).select("subject", value="score")
    points = (
        study.models.select("subject", "name", "provider")
        .join(scores, on="subject")
        .sort("value", descending=True)
        .head(12)
        .with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64), status=pl.lit("measured"))
    )
    people = study.evidence.human_references.filter(benchmark=benchmark).select(
        "group", "low", "high", "status", value="score"
    )
    return Picture(
        f"benchmark-{slug(benchmark)}",
        facts["name"],
        f"{_sentence(facts['description'])} The best {points.height} of {facts['models']} models.",
        charts.bars(
            points, x_title=f"score, {facts['unit']}", references=people, zero=facts["unit"] in {"percent", "fraction"}
        ),
    )


def _sentence(text: str | None) -> str:
    """A description as a sentence."""
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""
