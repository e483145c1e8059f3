"""What capability says about time: frontier, forecast, algorithmic progress, time horizons, acceleration."""

from mensura.trends.backtesting import Backtest, backtest
from mensura.trends.breaks import Break, find_break, rosetta_ratio
from mensura.trends.crossings import find_crossings
from mensura.trends.forecasting import Forecast, forecast
from mensura.trends.frontier import add_dates, find_frontier, read_capabilities
from mensura.trends.horizons import Horizons, relate_horizons
from mensura.trends.lines import Line, fit_line
from mensura.trends.progress import Progress, measure_progress
from mensura.trends.watching import Plan, Watch, plan_watch, watch_acceleration
from mensura.trends.worlds import PUBLISHED, World, WorldModel, fit_world, make_world

__all__ = [
    "PUBLISHED",
    "Backtest",
    "Break",
    "Forecast",
    "Horizons",
    "Line",
    "Plan",
    "Progress",
    "Watch",
    "World",
    "WorldModel",
    "add_dates",
    "backtest",
    "find_break",
    "find_crossings",
    "find_frontier",
    "fit_line",
    "fit_world",
    "forecast",
    "make_world",
    "measure_progress",
    "plan_watch",
    "read_capabilities",
    "relate_horizons",
    "rosetta_ratio",
    "watch_acceleration",
]
