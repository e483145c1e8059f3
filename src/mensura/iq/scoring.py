"""The one verb of this package: evidence in, every IQ out; and the same, kept for a frozen scale."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.cache import keep
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, load
from mensura.iq.dimensions import score_dimensions
from mensura.iq.joint import fill_benchmarks, point_draws
from mensura.iq.ladders import PUBLISHED, RECUT
from mensura.iq.matrix import build_matrix
from mensura.iq.result import IqResult
from mensura.iq.rules import Imputation, IqRules, as_rules

METHODS: dict[str, tuple[Imputation, str]] = {"joint": ("joint", RECUT), "published": ("waterfall", PUBLISHED)}
"""How gaps are filled and which ladders are read, by the name of the method."""


@check_arguments
def score_iq(
    evidence: Evidence | None = None,
    *,
    method: str | None = None,
    ladders: str | Path | pl.DataFrame | None = None,
    source: str | None = None,
    rules: IqRules | str | Path | None = None,
    weights: Mapping[str, float] | None = None,
    selected: Collection[str] | None = None,
    draws: int = 0,
    seed: int = 0,
) -> IqResult:
    """Score every model: benchmarks through ladders, dimensions, composite, each missing value filled by the method.

    The evidence is never changed.

    Parameters
    ----------
    evidence : Evidence, optional
        The embedded one when not given.
    method : str, optional
        ``joint`` (the default: gaps drawn from one model of all scores, ladders ``recut``) or ``published`` (the
        page's
        waterfall and ladders); not given, the rules say how gaps are filled.
    ladders : str, Path or table, optional
        Another set of ladders: its name, a CSV file or a table.
    source : str, optional
        Keep the scores of one source.
    rules : IqRules, str or Path, optional
        Rules, or a TOML file of them.
    weights : dict, optional
        Weights of dimensions, where they differ from 1.
    selected : list of str, optional
        Models whose scores, besides all that makers measured, were chosen by those who profit from them; the joint
        method lowers their estimates for that (``()``: nobody's).
    draws : int
        Draws behind the intervals, 0 for none; 1,000 are enough for whole IQ points.
    seed : int
        Seed of the draws.

    Returns
    -------
    IqResult
        Composites, dimensions, ranks, intervals and the derivation of each number.

    Examples
    --------
    >>> import mensura
    >>> result = mensura.score_iq(method="published")
    >>> result.ranking.columns[:3]
    ['rank', 'subject', 'exact']

    """
    if method is not None and method not in METHODS:
        raise MensuraError(f"method: {method!r} is unknown; expected one of {', '.join(METHODS)}")
    if seed and not draws:
        raise MensuraError(f"seed: got {seed}, but nothing is drawn; give draws=1000 too, or leave seed out")
    evidence, rules = load() if evidence is None else evidence, as_rules(rules)
    used = rules if method is None else _filled_by(rules, METHODS[method][0])
    if ladders is None:
        ladders = RECUT if method is None else METHODS[method][1]
    shares = _shares(weights, rules)
    matrix = build_matrix(evidence, used, ladders=ladders, source=source)
    unknown = sorted(set(selected or ()) - set(matrix.subjects))
    if unknown:
        raise MensuraError(f"selected: {unknown[0]!r} is no model of the evidence; expected a name of mensura iq")
    if selected and not used.imputation.is_joint:
        raise MensuraError("selected: only the joint method uses it; leave it out, or choose method='joint'")
    if selected is not None:
        named = np.isin(matrix.subjects, list(selected))
        matrix = replace(matrix, chosen=(matrix.chosen | named[:, None] & matrix.measured) & bool(selected))
    drawn = point_draws(matrix, used.imputation, 0 if seed else draws) if used.imputation.is_joint else None
    filled = fill_benchmarks(matrix, matrix.iqs[None], used, drawn=drawn)
    scored = score_dimensions(matrix, filled, used, shares)
    name = "table" if isinstance(ladders, pl.DataFrame) else str(ladders)
    published = _published(evidence, rules, shares, source)
    begun = None if drawn is None else drawn.begun
    return IqResult(evidence, name, source, used, shares, matrix, filled, scored, published, draws, seed, begun)


def _filled_by(rules: IqRules, imputation: Imputation) -> IqRules:
    return replace(rules, imputation=replace(rules.imputation, method=imputation))


def _published(evidence: Evidence, rules: IqRules, shares: Floats, source: str | None) -> Floats:
    """Return the composites of the published method on the same scores, NaN where it gives none."""
    imputation, ladders = METHODS["published"]
    rules = _filled_by(rules, imputation)
    try:
        matrix = build_matrix(evidence, rules, ladders=ladders, source=source)
    except MensuraError:  # a benchmark of the user's own has no published ladder
        return np.full(evidence.models.height, np.nan)
    filled = fill_benchmarks(matrix, matrix.iqs[None], rules)
    return np.asarray(score_dimensions(matrix, filled, rules, shares).composites[0])


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


Score = Callable[[Evidence], IqResult]
"""How an evidence is scored; with draws, so that there are intervals."""


def kept_scores(draws: int, seed: int = 0) -> Score:
    """Return a function that scores an evidence as the scale was frozen, and keeps each scoring.

    Parameters
    ----------
    draws : int
        Draws behind the intervals.
    seed : int
        Seed of the draws.

    Returns
    -------
    callable
        Takes an evidence and returns an :class:`IqResult`, from the cache where it ran before.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import kept_scores
    >>> kept_scores(draws=20)(mensura.load()).n_draws
    20

    """

    def score(evidence: Evidence) -> IqResult:
        def compute() -> IqResult:
            result = score_iq(evidence, selected=(), draws=draws, seed=seed)  # as the scale was frozen
            _ = result.composites, result.dimensions, result.drawn  # kept with it
            return result

        return keep("iq-beside", evidence, {"draws": draws, "seed": seed}, compute)

    return score
