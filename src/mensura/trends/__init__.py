"""Trends: the change of capability over time.

In: a stitched fit with release dates, and compute where it is known. Out: pace, frontier, forecast, algorithmic
progress and tests for acceleration.
Read first: ``capabilities`` (what is needed of a fit), ``lines`` (lines and the frontier), ``pace`` (pace and
forecast), ``progress`` (compute), ``watching`` (the monthly test), ``backtesting`` (forecasts made in the past),
``published`` (the printed figures).
"""

from mensura.trends.backtesting import Backtest, backtest
from mensura.trends.breaks import Break, SlopeRatios, find_break, rosetta_ratio, slope_ratios
from mensura.trends.capabilities import (
    PublishedFit,
    add_dates,
    known_by,
    load_compute,
    load_horizons,
    load_published,
    read_capabilities,
)
from mensura.trends.crossings import Horizons, find_crossings, relate_horizons
from mensura.trends.detection import PUBLISHED, Detection, StreamModel, make_stream, simulate_detection
from mensura.trends.horizons import follow_horizons
from mensura.trends.kinks import Plan, Stream
from mensura.trends.lines import TrendLine, find_frontier, fit_line, frontier_line, frontier_slopes
from mensura.trends.pace import Forecast, ReleasePace, forecast, measure_pace
from mensura.trends.progress import Progress, measure_progress
from mensura.trends.published import Inclusion, check_inclusion
from mensura.trends.watching import Watch, watch_acceleration, watch_stream

__all__ = [
    "PUBLISHED",
    "Backtest",
    "Break",
    "Detection",
    "Forecast",
    "Horizons",
    "Inclusion",
    "Plan",
    "Progress",
    "PublishedFit",
    "ReleasePace",
    "SlopeRatios",
    "Stream",
    "StreamModel",
    "TrendLine",
    "Watch",
    "add_dates",
    "backtest",
    "check_inclusion",
    "find_break",
    "find_crossings",
    "find_frontier",
    "fit_line",
    "follow_horizons",
    "forecast",
    "frontier_line",
    "frontier_slopes",
    "known_by",
    "load_compute",
    "load_horizons",
    "load_published",
    "make_stream",
    "measure_pace",
    "measure_progress",
    "read_capabilities",
    "relate_horizons",
    "rosetta_ratio",
    "simulate_detection",
    "slope_ratios",
    "watch_acceleration",
    "watch_stream",
]
