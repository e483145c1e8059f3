"""IQ: ladders, imputation waterfalls, dimensions, composite, emotional reasoning, cost."""

from mensura.iq.comparison import IqChange, compare_iq
from mensura.iq.explanation import Explanation
from mensura.iq.ladders import Ladder, ladder_table
from mensura.iq.result import IqResult
from mensura.iq.rules import Rules, read_rules
from mensura.iq.scoring import score_iq
from mensura.iq.sensitivity import Sensitivity, count_changes, sensitivity
from mensura.iq.uncertainty import Draws

__all__ = [
    "Draws",
    "Explanation",
    "IqChange",
    "IqResult",
    "Ladder",
    "Rules",
    "Sensitivity",
    "compare_iq",
    "count_changes",
    "ladder_table",
    "read_rules",
    "score_iq",
    "sensitivity",
]
