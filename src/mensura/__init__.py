"""Mensura: AI systems, benchmarks, items and people on common, human-anchored scales.

The public verbs load on first use, so that ``import mensura`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mensura.core import exports

if TYPE_CHECKING:
    from mensura.baseline import Baseline as Baseline, KnownMean as KnownMean, estimate_baseline as estimate_baseline
    from mensura.calibration import (
        CalibrationResult as CalibrationResult,
        ProfileResult as ProfileResult,
        calibrate as calibrate,
        profile as profile,
    )
    from mensura.core.errors import MensuraError as MensuraError
    from mensura.demands import annotate as annotate
    from mensura.evidence import Evidence as Evidence, load as load
    from mensura.extrapolation import Validation as Validation, extrapolate as extrapolate, validate as validate
    from mensura.horizon import HorizonFit as HorizonFit, fit_horizons as fit_horizons
    from mensura.iq import (
        IqResult as IqResult,
        compare_iq as compare_iq,
        score_costs as score_costs,
        score_iq as score_iq,
    )
    from mensura.people import WORLD as WORLD, ItemPool as ItemPool, Population as Population
    from mensura.responses import ResponseFit as ResponseFit, fit_responses as fit_responses
    from mensura.scale import Position as Position
    from mensura.site import figure as figure
    from mensura.stitching import Stitch as Stitch, stitch as stitch
    from mensura.trends import (
        forecast as forecast,
        measure_progress as measure_progress,
        watch_acceleration as watch_acceleration,
    )

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = exports.on_first_use(__name__, __file__, "__version__")


def _draw_table(*arguments: Any) -> Any:  # noqa: ANN401
    from mensura.charts.row_charts import plot_table

    return plot_table(*arguments)


exports.draw_table = _draw_table
