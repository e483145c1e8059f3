"""Trends: the change of capability over time.

In: a stitched fit with release dates, and compute where it is known. Out: pace, frontier, forecast, algorithmic
progress and tests for acceleration.
Read first: ``capabilities`` (what is needed of a fit), ``lines`` (lines and the frontier), ``pace`` (pace and
forecast), ``progress`` (compute), ``watching`` (the monthly test), ``published`` (the printed figures).
"""

from mensura.trends.breaks import Break, find_break
from mensura.trends.capabilities import (
    PublishedFit,
    add_dates,
    load_compute,
    load_horizons,
    load_published,
    read_capabilities,
)
from mensura.trends.horizons import Horizons, follow_horizons, relate_horizons
from mensura.trends.kinks import Plan, Stream
from mensura.trends.lines import TrendLine, find_frontier, fit_line, frontier_line
from mensura.trends.pace import Forecast, ReleasePace, forecast, measure_pace
from mensura.trends.progress import Progress, measure_progress
from mensura.trends.watching import Watch, watch_acceleration, watch_stream

__all__ = [
    "Break",
    "Forecast",
    "Horizons",
    "Plan",
    "Progress",
    "PublishedFit",
    "ReleasePace",
    "Stream",
    "TrendLine",
    "Watch",
    "add_dates",
    "find_break",
    "find_frontier",
    "fit_line",
    "follow_horizons",
    "forecast",
    "frontier_line",
    "load_compute",
    "load_horizons",
    "load_published",
    "measure_pace",
    "measure_progress",
    "read_capabilities",
    "relate_horizons",
    "watch_acceleration",
    "watch_stream",
]
