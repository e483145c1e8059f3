"""Filling missing benchmarks by the method the rules name."""

from __future__ import annotations

from mensura.core.arrays import Floats
from mensura.iq.joint import complete_jointly
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.rules import IqRules
from mensura.iq.waterfall import Filled, run_waterfall


def fill_benchmarks(matrix: ScoreMatrix, iqs: Floats, rules: IqRules, noise: Floats | None = None) -> Filled:
    """Fill a stack of benchmark IQs (draws × models × benchmarks) by the waterfall, or one table by the joint model.

    ``noise`` holds standard normal deviates of the same shape; imputed values then vary by their standard error.
    """
    if rules.imputation.is_joint:
        return complete_jointly(matrix, rules.imputation)
    return run_waterfall(matrix, iqs, rules, noise)
