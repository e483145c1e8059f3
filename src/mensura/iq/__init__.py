"""IQ: ladders from benchmark scores to IQ, gaps filled, seven dimensions and one composite.

In: an evidence. Out: an :class:`IqResult` with composites, dimensions, intervals, ranks and the derivation of each
number.
Read first: ``scoring`` (the verb), ``rules`` (every rule, from ``data/rules.toml``), ``ladders``, ``matrix`` (scores
as arrays), ``joint`` (the default imputation), ``waterfall`` (the published one), ``dimensions``, ``uncertainty``,
``result`` and ``explanation``, ``tables`` (emotional reasoning and facts), ``cost``.
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.iq.comparison import IqChange as IqChange, compare_iq as compare_iq
    from mensura.iq.cost import (
        COST_AXES as COST_AXES,
        EFFECTIVE_COST_NOTE as EFFECTIVE_COST_NOTE,
        CostResult as CostResult,
        cheapest as cheapest,
        frontier as frontier,
        score_costs as score_costs,
    )
    from mensura.iq.explanation import Explanation as Explanation
    from mensura.iq.frozen import (
        IQ_SCALES as IQ_SCALES,
        FrozenIq as FrozenIq,
        frozen_evidence as frozen_evidence,
        left_out as left_out,
        place_iq as place_iq,
    )
    from mensura.iq.human_ladders import DerivedLadders as DerivedLadders, derive_ladders as derive_ladders
    from mensura.iq.ladders import Ladder as Ladder, ladder_table as ladder_table
    from mensura.iq.result import COUNTS as COUNTS, IqResult as IqResult
    from mensura.iq.rules import IqRules as IqRules, read_rules as read_rules
    from mensura.iq.scoring import kept_scores as kept_scores, score_iq as score_iq
    from mensura.iq.uncertainty import IqDraws as IqDraws
    from mensura.iq.validation import hide_and_impute as hide_and_impute, summarise as summarise
    from mensura.iq.variations import Sensitivity as Sensitivity, sensitivity as sensitivity

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
