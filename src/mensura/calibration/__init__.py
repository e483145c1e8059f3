"""Calibrated human scales: from world rates and demands to a base per dimension, with intervals and verdicts."""

from mensura.calibration.calibrate import METHODS, calibrate, calibrate_items
from mensura.calibration.inputs import RatedItems, published_groups, read_items
from mensura.calibration.result import CalibrationResult

__all__ = [
    "METHODS",
    "CalibrationResult",
    "RatedItems",
    "calibrate",
    "calibrate_items",
    "published_groups",
    "read_items",
]
