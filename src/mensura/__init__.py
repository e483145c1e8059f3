"""Mensura: AI systems, benchmarks, items and people on common, human-anchored scales.

The public verbs are imported on first use, so that ``import mensura`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.exports import on_first_use

if TYPE_CHECKING:
    from mensura.calibration import CalibrationResult, ProfileResult, calibrate, profile
    from mensura.demands import annotate
    from mensura.errors import MensuraError
    from mensura.evidence import Evidence, load
    from mensura.extrapolation import Validation, extrapolate, validate
    from mensura.iq import IqResult, compare_iq, score_costs, score_iq
    from mensura.people import WORLD, ItemPool, Population
    from mensura.responses import ResponseFit, fit_responses
    from mensura.scale import Position
    from mensura.stitching import Stitch, stitch
    from mensura.trends import forecast, measure_progress, watch_acceleration

__version__ = "0.1.0"

__all__ = [
    "WORLD",
    "CalibrationResult",
    "Evidence",
    "IqResult",
    "ItemPool",
    "MensuraError",
    "Population",
    "Position",
    "ProfileResult",
    "ResponseFit",
    "Stitch",
    "Validation",
    "annotate",
    "calibrate",
    "compare_iq",
    "extrapolate",
    "fit_responses",
    "forecast",
    "load",
    "measure_progress",
    "profile",
    "score_costs",
    "score_iq",
    "stitch",
    "validate",
    "watch_acceleration",
]

_HOMES = {
    "WORLD": "people",
    "CalibrationResult": "calibration",
    "Evidence": "evidence",
    "IqResult": "iq",
    "ItemPool": "people",
    "MensuraError": "errors",
    "Population": "people",
    "Position": "scale",
    "ProfileResult": "calibration",
    "ResponseFit": "responses",
    "Stitch": "stitching",
    "Validation": "extrapolation",
    "annotate": "demands",
    "calibrate": "calibration",
    "compare_iq": "iq",
    "extrapolate": "extrapolation",
    "fit_responses": "responses",
    "forecast": "trends",
    "load": "evidence",
    "measure_progress": "trends",
    "profile": "calibration",
    "score_costs": "iq",
    "score_iq": "iq",
    "stitch": "stitching",
    "validate": "extrapolation",
    "watch_acceleration": "trends",
}

__getattr__, __dir__ = on_first_use(__name__, _HOMES, "__version__")
