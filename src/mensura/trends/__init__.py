"""Trends: the change of capability over time.

In: a stitched fit with release dates, and compute where it is known. Out: pace, frontier, forecast, algorithmic
progress and tests for acceleration.
Read first: ``capabilities`` (what is needed of a fit), ``lines`` (lines and the frontier), ``pace`` (pace and
forecast), ``progress`` (compute), ``watching`` (the monthly test), ``published`` (the printed figures).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.trends.breaks import Break as Break, find_break as find_break
    from mensura.trends.capabilities import (
        PublishedFit as PublishedFit,
        add_dates as add_dates,
        load_compute as load_compute,
        load_horizons as load_horizons,
        load_published as load_published,
        read_capabilities as read_capabilities,
    )
    from mensura.trends.horizons import (
        Horizons as Horizons,
        follow_horizons as follow_horizons,
        relate_horizons as relate_horizons,
    )
    from mensura.trends.kinks import Plan as Plan, Stream as Stream
    from mensura.trends.lines import (
        TrendLine as TrendLine,
        find_frontier as find_frontier,
        fit_line as fit_line,
        frontier_line as frontier_line,
    )
    from mensura.trends.pace import (
        Forecast as Forecast,
        ReleasePace as ReleasePace,
        forecast as forecast,
        measure_pace as measure_pace,
    )
    from mensura.trends.progress import Progress as Progress, measure_progress as measure_progress
    from mensura.trends.watching import (
        Watch as Watch,
        watch_acceleration as watch_acceleration,
        watch_stream as watch_stream,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
