"""Mensura: AI systems, benchmarks, items and people on common, human-anchored scales.

The public verbs are imported on first use, so that ``import mensura`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
    "WORLD": "mensura.people",
    "CalibrationResult": "mensura.calibration",
    "Evidence": "mensura.evidence",
    "IqResult": "mensura.iq",
    "ItemPool": "mensura.people",
    "MensuraError": "mensura.errors",
    "Population": "mensura.people",
    "Position": "mensura.scale",
    "ProfileResult": "mensura.calibration",
    "ResponseFit": "mensura.responses",
    "Stitch": "mensura.stitching",
    "Validation": "mensura.extrapolation",
    "annotate": "mensura.demands",
    "calibrate": "mensura.calibration",
    "compare_iq": "mensura.iq",
    "extrapolate": "mensura.extrapolation",
    "fit_responses": "mensura.responses",
    "forecast": "mensura.trends",
    "load": "mensura.evidence",
    "measure_progress": "mensura.trends",
    "profile": "mensura.calibration",
    "score_costs": "mensura.iq",
    "score_iq": "mensura.iq",
    "stitch": "mensura.stitching",
    "validate": "mensura.extrapolation",
    "watch_acceleration": "mensura.trends",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mensura' has no attribute {name!r}; public names: {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
