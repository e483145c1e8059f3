"""IQ: ladders from benchmark scores to IQ, gaps filled, seven dimensions and one composite.

In: an evidence. Out: an :class:`IqResult` with composites, dimensions, intervals, ranks and the derivation of each
number.
Read first: ``scoring`` (the verb), ``rules`` (every rule, from ``data/rules.toml``), ``ladders``, ``matrix`` (scores
as arrays), ``joint`` (the default imputation), ``waterfall`` (the published one), ``dimensions``, ``uncertainty``,
``result`` and ``explanation``, ``cost`` and ``emotional``.
"""

from mensura.iq.comparison import IqChange, compare_iq
from mensura.iq.cost import (
    AXES as COST_AXES,
    EFFECTIVE_COST_NOTE,
    CostResult,
    cheapest,
    frontier,
    require_axis,
    score_costs,
)
from mensura.iq.explanation import Explanation
from mensura.iq.frozen import IQ_SCALES, FrozenIq, beside, frozen_evidence, kept_scores, new_subjects, place_iq
from mensura.iq.human_ladders import DerivedLadders, derive_ladders
from mensura.iq.ladders import Ladder, ladder_table
from mensura.iq.matrix import count_teachers
from mensura.iq.relatives import ENOUGH, TEACHERS
from mensura.iq.result import COUNTS, IqResult
from mensura.iq.rules import IqRules, read_rules
from mensura.iq.scoring import score_iq
from mensura.iq.sensitivity import Sensitivity, count_changes, sensitivity
from mensura.iq.splicing import SplicedIq, left_out, splice_iq, spliced_evidence
from mensura.iq.uncertainty import IqDraws
from mensura.iq.validation import hide_and_impute, hide_dimensions, summarise

__all__ = [
    "COST_AXES",
    "COUNTS",
    "EFFECTIVE_COST_NOTE",
    "ENOUGH",
    "IQ_SCALES",
    "TEACHERS",
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
    "SplicedIq",
    "beside",
    "cheapest",
    "compare_iq",
    "count_changes",
    "count_teachers",
    "derive_ladders",
    "frontier",
    "frozen_evidence",
    "hide_and_impute",
    "hide_dimensions",
    "kept_scores",
    "ladder_table",
    "left_out",
    "new_subjects",
    "place_iq",
    "read_rules",
    "require_axis",
    "score_costs",
    "score_iq",
    "sensitivity",
    "splice_iq",
    "spliced_evidence",
    "summarise",
]
