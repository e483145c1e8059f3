"""The ruler: success rate, level, rarity, percentile and IQ, each converted into the others.

In: a number in one unit, and the line of a dimension where levels are asked for. Out: the same place in every unit.
Read first: ``ruler`` (the conversions), ``position`` (a rate with its interval), ``calibration`` (the line of each
dimension), ``ranking`` (who is ranked and who leads).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.scale.calibration import (
        EDGE_SHARE as EDGE_SHARE,
        Calibration as Calibration,
        LevelLine as LevelLine,
        scaling_of as scaling_of,
        score_to_capability as score_to_capability,
        share_above_chance as share_above_chance,
    )
    from mensura.scale.position import (
        Position as Position,
        Reading as Reading,
        band_of as band_of,
        rate_interval as rate_interval,
        say_rarity as say_rarity,
    )
    from mensura.scale.ruler import (
        Z90 as Z90,
        iq_to_rate as iq_to_rate,
        level_to_rate as level_to_rate,
        one_in_to_rate as one_in_to_rate,
        percentile_to_rate as percentile_to_rate,
        rate_to_iq as rate_to_iq,
        rate_to_level as rate_to_level,
        rate_to_one_in as rate_to_one_in,
        rate_to_percentile as rate_to_percentile,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
