"""Filling missing benchmarks by the method the rules name."""

from __future__ import annotations

from mensura.arrays import Floats
from mensura.iq.completion import complete_benchmarks
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.rules import IqRules
from mensura.iq.waterfall import Filled, run_waterfall


def fill_benchmarks(matrix: ScoreMatrix, iqs: Floats, rules: IqRules, noise: Floats | None = None) -> Filled:
    """Fill a stack of benchmark IQs (draws × models × benchmarks) by waterfall or completion.

    ``noise`` holds standard normal deviates of the same shape; imputed values then vary by their standard error.
    """
    run = complete_benchmarks if rules.imputation.method == "completion" else run_waterfall
    return run(matrix, iqs, rules, noise)
