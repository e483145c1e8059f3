"""Calibration: the factor by which world success falls per demand level, and profiles on those scales.

In: success rates and demand levels of items; for profiles, outcomes of subjects. Out: a base per dimension with its
interval and verdict, and abilities.
Read first: ``items`` (rates and demands side by side), ``bases`` (the verb and the published procedure),
``hierarchical`` (the default), ``equating`` (two tests), ``profiles`` (abilities of models and people).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.calibration.bases import calibrate as calibrate
    from mensura.calibration.equating import Equating as Equating, equate as equate
    from mensura.calibration.items import read_items as read_items
    from mensura.calibration.open_pool import (
        calibration_name as calibration_name,
        chosen_lines as chosen_lines,
        list_pools as list_pools,
        open_demands as open_demands,
        open_items as open_items,
        open_outcomes as open_outcomes,
        open_rates as open_rates,
        quality_of as quality_of,
        say_quality as say_quality,
    )
    from mensura.calibration.outcomes import read_outcomes as read_outcomes
    from mensura.calibration.placing import bases_beside as bases_beside
    from mensura.calibration.profiles import (
        ProfileResult as ProfileResult,
        profile as profile,
        profile_counts as profile_counts,
    )
    from mensura.calibration.result import (
        CalibrationResult as CalibrationResult,
        read_calibration_file as read_calibration_file,
        write_calibration as write_calibration,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
