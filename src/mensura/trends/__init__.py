"""What capability says about time: frontier, forecast, algorithmic progress, time horizons, acceleration."""

from mensura.trends.backtesting import Backtest, backtest
from mensura.trends.breaks import Break, find_break, rosetta_ratio
from mensura.trends.capabilities import add_dates, read_capabilities
from mensura.trends.crossings import find_crossings, mark_passed
from mensura.trends.forecasting import Forecast, forecast
from mensura.trends.frontier import find_frontier, frontier_line, frontier_slopes
from mensura.trends.horizons import Horizons, relate_horizons
from mensura.trends.inclusion import Inclusion, check_inclusion
from mensura.trends.lines import TrendLine, fit_line
from mensura.trends.progress import Progress, measure_progress
from mensura.trends.streams import PUBLISHED, Stream, StreamModel, fit_stream, make_stream
from mensura.trends.watching import Plan, Watch, plan_watch, watch_acceleration

__all__ = [
    "PUBLISHED",
    "Backtest",
    "Break",
    "Forecast",
    "Horizons",
    "Inclusion",
    "Plan",
    "Progress",
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
    "fit_stream",
    "forecast",
    "frontier_line",
    "frontier_slopes",
    "make_stream",
    "mark_passed",
    "measure_progress",
    "plan_watch",
    "read_capabilities",
    "relate_horizons",
    "rosetta_ratio",
    "watch_acceleration",
]
