"""IQ: ladders from benchmark scores to IQ, gaps filled, seven dimensions and one composite.

In: an evidence. Out: an :class:`IqResult` with composites, dimensions, intervals, ranks and the derivation of each
number.
Read first: ``scoring`` (the verb), ``rules`` (every rule, from ``data/rules.toml``), ``ladders``, ``matrix`` (scores
as arrays), ``joint`` (the default imputation), ``waterfall`` (the published one), ``dimensions``, ``uncertainty``,
``result`` and ``explanation``, ``cost`` and ``emotional``.
"""

from mensura.iq.comparison import IqChange, compare_iq
from mensura.iq.cost import AXES as COST_AXES, EFFECTIVE_COST_NOTE, CostResult, cheapest, frontier, score_costs
from mensura.iq.explanation import Explanation
from mensura.iq.frozen import IQ_SCALES, FrozenIq, frozen_evidence, left_out, place_iq
from mensura.iq.human_ladders import DerivedLadders, derive_ladders
from mensura.iq.ladders import Ladder, ladder_table
from mensura.iq.result import COUNTS, IqResult
from mensura.iq.rules import IqRules, read_rules
from mensura.iq.scoring import kept_scores, score_iq
from mensura.iq.sensitivity import Sensitivity, sensitivity
from mensura.iq.uncertainty import IqDraws
from mensura.iq.validation import hide_and_impute, summarise

__all__ = [
    "COST_AXES",
    "COUNTS",
    "EFFECTIVE_COST_NOTE",
    "IQ_SCALES",
    "CostResult",
    "DerivedLadders",
    "Explanation",
    "FrozenIq",
    "IqChange",
    "IqDraws",
    "IqResult",
    "IqRules",
    "Ladder",
    "Sensitivity",
    "cheapest",
    "compare_iq",
    "derive_ladders",
    "frontier",
    "frozen_evidence",
    "hide_and_impute",
    "kept_scores",
    "ladder_table",
    "left_out",
    "place_iq",
    "read_rules",
    "score_costs",
    "score_iq",
    "sensitivity",
    "summarise",
]
