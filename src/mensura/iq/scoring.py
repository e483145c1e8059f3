"""The one verb of this package: evidence in, every IQ out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from mensura.arrays import Floats
from mensura.errors import MensuraError
from mensura.evidence import Evidence
from mensura.iq.dimensions import score_dimensions
from mensura.iq.filling import fill_benchmarks
from mensura.iq.ladders import PUBLISHED
from mensura.iq.matrix import build_matrix
from mensura.iq.result import IqResult
from mensura.iq.rules import METHODS, IqRules, as_rules


def score_iq(
    evidence: Evidence,
    *,
    ladders: str | Path | pl.DataFrame = PUBLISHED,
    source: str | None = None,
    rules: IqRules | str | Path | None = None,
    imputation: str | None = None,
    weights: Mapping[str, float] | None = None,
    draws: int = 0,
    seed: int = 0,
) -> IqResult:
    """Score every model: benchmarks through ladders, dimensions, composite, each missing value filled by the method.

    ``ladders`` names a set (``published``, ``recut``), a CSV file or a table; ``source`` keeps the scores of one
    source; ``rules`` is a TOML file or :class:`IqRules`; ``imputation`` is ``waterfall``, the method's cautious way, or
    ``joint``, draws from one model of all scores; ``weights`` gives dimensions other weights than equal ones.
    With ``draws`` the result has intervals (1,000 are enough for whole IQ points). The evidence is never changed.
    """
    rules = as_rules(rules)
    if imputation is not None:
        if imputation not in METHODS:
            raise MensuraError(f"imputation: {imputation!r} is none of {', '.join(METHODS)}")
        rules = replace(rules, imputation=replace(rules.imputation, method=imputation))
    shares = _shares(weights, rules)
    matrix = build_matrix(evidence, rules, ladders=ladders, source=source)
    filled = fill_benchmarks(matrix, matrix.iqs[None], rules)
    scored = score_dimensions(matrix, filled, rules, shares)
    name = "table" if isinstance(ladders, pl.DataFrame) else str(ladders)
    return IqResult(evidence, name, source, rules, shares, matrix, filled, scored, draws, seed)


def _shares(weights: Mapping[str, float] | None, rules: IqRules) -> Floats:
    """Return the share of each dimension; those not named have weight 1, the method's equal weight."""
    given = dict(weights or {})
    for name, weight in given.items():
        if name not in rules.dimensions:
            raise MensuraError(f"weights: {name!r} is no dimension; expected some of {', '.join(rules.dimensions)}")
        if not np.isfinite(weight) or weight < 0:
            raise MensuraError(f"weights: {name} = {weight}; expected a number of zero or more")
    values = np.array([float(given.get(name, 1.0)) for name in rules.dimensions])
    if values.sum() <= 0:
        raise MensuraError("weights: at least one dimension must weigh more than zero")
    return np.asarray(values / values.sum())
