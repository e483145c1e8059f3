"""Calibration: the factor by which world success falls per demand level, and profiles on those scales.

In: success rates and demand levels of items; for profiles, outcomes of subjects. Out: a base per dimension with its
interval and verdict, and abilities.
Read first: ``inputs`` (rates and demands side by side), ``means`` (the published procedure), ``hierarchical`` (the
default), ``calibrate`` (the verb), ``equating`` (two tests), ``profile`` (abilities of models and people).
"""

from mensura.calibration.calibrate import METHODS, calibrate, calibrate_items
from mensura.calibration.equating import Equating, equate
from mensura.calibration.inputs import published_groups, read_items
from mensura.calibration.items import RatedItems
from mensura.calibration.open_pool import (
    calibration_name,
    chosen_lines,
    list_pools,
    open_demands,
    open_items,
    open_lines,
    open_outcomes,
    open_rates,
    predict_by_lines,
    quality_of,
    say_quality,
)
from mensura.calibration.outcomes import read_outcomes
from mensura.calibration.profile import ProfileResult, profile, profile_counts
from mensura.calibration.result import (
    CalibrationFile,
    CalibrationResult,
    compare_calibrations,
    read_calibration_file,
    write_calibration,
)
from mensura.calibration.skill import compare_predictors, judge_rulers, largest_demand

__all__ = [
    "METHODS",
    "CalibrationFile",
    "CalibrationResult",
    "Equating",
    "ProfileResult",
    "RatedItems",
    "calibrate",
    "calibrate_items",
    "calibration_name",
    "chosen_lines",
    "compare_calibrations",
    "compare_predictors",
    "equate",
    "judge_rulers",
    "largest_demand",
    "list_pools",
    "open_demands",
    "open_items",
    "open_lines",
    "open_outcomes",
    "open_rates",
    "predict_by_lines",
    "profile",
    "profile_counts",
    "published_groups",
    "quality_of",
    "read_calibration_file",
    "read_items",
    "read_outcomes",
    "say_quality",
    "write_calibration",
]
