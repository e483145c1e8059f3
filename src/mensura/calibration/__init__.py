"""Calibration: the factor by which world success falls per demand level, and profiles on those scales.

In: success rates and demand levels of items; for profiles, outcomes of subjects. Out: a base per dimension with its
interval and verdict, and abilities.
Read first: ``items`` (rates and demands side by side), ``calibrate`` (the verb and the published procedure),
``hierarchical`` (the default), ``equating`` (two tests), ``profile`` (abilities of models and people).
"""

from mensura.calibration.calibrate import calibrate
from mensura.calibration.equating import Equating, equate
from mensura.calibration.items import read_items
from mensura.calibration.open_pool import (
    calibration_name,
    chosen_lines,
    list_pools,
    open_demands,
    open_items,
    open_outcomes,
    open_rates,
    quality_of,
    say_quality,
)
from mensura.calibration.outcomes import read_outcomes
from mensura.calibration.profile import ProfileResult, profile, profile_counts
from mensura.calibration.result import (
    CalibrationResult,
    compare_calibrations,
    read_calibration_file,
    write_calibration,
)

__all__ = [
    "CalibrationResult",
    "Equating",
    "ProfileResult",
    "calibrate",
    "calibration_name",
    "chosen_lines",
    "compare_calibrations",
    "equate",
    "list_pools",
    "open_demands",
    "open_items",
    "open_outcomes",
    "open_rates",
    "profile",
    "profile_counts",
    "quality_of",
    "read_calibration_file",
    "read_items",
    "read_outcomes",
    "say_quality",
    "write_calibration",
]
