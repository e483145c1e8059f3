"""The ruler: success rate, level, rarity, percentile and IQ, each converted into the others.

In: a number in one unit, and the line of a dimension where levels are asked for. Out: the same place in every unit.
Read first: ``ruler`` (the conversions), ``position`` (a rate with its interval), ``calibration`` (the line of each
dimension), ``ranking`` (who is ranked and who leads).
"""

from mensura.scale.calibration import (
    EDGE_SHARE,
    Calibration,
    LevelLine,
    scaling_of,
    score_to_capability,
    share_above_chance,
)
from mensura.scale.position import Position, Reading, band_of, rate_interval, say_rarity
from mensura.scale.ruler import (
    Z90,
    iq_to_rate,
    level_to_rate,
    one_in_to_rate,
    percentile_to_rate,
    rate_to_iq,
    rate_to_level,
    rate_to_one_in,
    rate_to_percentile,
)

__all__ = [
    "EDGE_SHARE",
    "Z90",
    "Calibration",
    "LevelLine",
    "Position",
    "Reading",
    "band_of",
    "iq_to_rate",
    "level_to_rate",
    "one_in_to_rate",
    "percentile_to_rate",
    "rate_interval",
    "rate_to_iq",
    "rate_to_level",
    "rate_to_one_in",
    "rate_to_percentile",
    "say_rarity",
    "scaling_of",
    "score_to_capability",
    "share_above_chance",
]
