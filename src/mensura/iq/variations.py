"""How far the ranking depends on single choices: leave a benchmark or dimension out, move a ladder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.iq.dimensions import score_dimensions
from mensura.iq.joint import JointDraws, fill_benchmarks, point_draws
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.result import IqResult
from mensura.iq.rules import IqRules

_RANKABLE = 3  # models: with fewer a rank correlation says nothing


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Result):
    """What each change does: ``summary`` has one row per change, ``moves`` one per change and model.

    summary: change, name, mean_move, largest_move, mover, rank_correlation, leader.
    moves: change, name, subject, before, after, move, rank_move (places won).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("summary", "moves")
    DIGITS: ClassVar[int] = 2

    summary: pl.DataFrame
    moves: pl.DataFrame

    @property
    def heading(self) -> str:
        """How many changes were tried."""
        return f"Sensitivity, {self.summary.height} changes, largest first"


def sensitivity(result: IqResult, *, shift: float = 5.0, advance: Callable[[], object] | None = None) -> Sensitivity:
    """Leave out each benchmark and each dimension, and move each ladder, to see how far composites move.

    A benchmark left out is gone, not imputed. By the joint method, before and after are both without the calibration by
    models with the same gaps, which would make each change four times as long.

    Parameters
    ----------
    result : IqResult
        A scoring.
    shift : float
        IQ points by which each ladder becomes harder and easier.
    advance : callable, optional
        Called once per change.

    Returns
    -------
    Sensitivity
        The tables ``summary``, one row per change, and ``moves``.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import sensitivity
    >>> moves = sensitivity(mensura.score_iq(method="published"))
    >>> moves.summary.columns[:2]
    ['change', 'name']

    """
    before, drawn = result.scored.composites[0], None
    if result.rules.imputation.is_joint:
        plain = replace(result.rules.imputation, same_gaps=False)
        result = replace(result, rules=replace(result.rules, imputation=plain))
        drawn = point_draws(result.matrix, plain)
        before = _composites(result.matrix, result.rules, result.weights, drawn)
    moves, summary = [], []
    for change, name, matrix, rules, weights in _changes(result, shift):
        after = _composites(matrix, rules, weights, drawn if matrix.scores is result.matrix.scores else None)
        move = _moves(result.matrix.subjects, before, after)
        moves.append(move.select(pl.lit(change).alias("change"), pl.lit(name).alias("name"), pl.all()))
        summary.append((change, name, *_digest(move)))
        if advance is not None:
            advance()
    columns = ["change", "name", "mean_move", "largest_move", "mover", "rank_correlation", "leader"]
    table = sort_highest(pl.DataFrame(summary, schema=columns, orient="row"), "mean_move")
    return Sensitivity(table, pl.concat(moves))


def count_changes(result: IqResult) -> int:
    """Return how many changes :func:`sensitivity` tries."""
    return 3 * len(result.matrix.benchmarks) + len(result.matrix.dimensions)


def _changes(result: IqResult, shift: float) -> Iterator[tuple[str, str, ScoreMatrix, IqRules, Floats]]:
    matrix, rules, weights = result.matrix, result.rules, result.weights
    columns = np.arange(len(matrix.benchmarks))
    for column, name in enumerate(matrix.benchmarks):
        yield "without benchmark", name, *_kept(matrix, rules, weights, columns != column)
    for place, name in enumerate(matrix.dimensions):
        yield "without dimension", name, *_kept(matrix, rules, weights, matrix.dimension_of != place)
    for column, name in enumerate(matrix.benchmarks):
        for label, by in (("ladder harder", -shift), ("ladder easier", shift)):
            yield label, name, matrix.with_ladder_moved(column, by), rules, weights


def _kept(matrix: ScoreMatrix, rules: IqRules, weights: Floats, keep: Mask) -> tuple[ScoreMatrix, IqRules, Floats]:
    smaller = matrix.keep(np.flatnonzero(keep))
    kept = np.isin(matrix.dimensions, smaller.dimensions)
    shares = weights[kept] / weights[kept].sum() if weights[kept].sum() > 0 else weights[kept]
    return smaller, rules.keep(smaller.dimensions), shares


def _composites(matrix: ScoreMatrix, rules: IqRules, weights: Floats, drawn: JointDraws | None) -> Floats:
    """Score again; scores drawn by the joint model are given where only a ladder moved."""
    filled = fill_benchmarks(matrix, matrix.iqs[None], rules, drawn=drawn)
    return np.asarray(score_dimensions(matrix, filled, rules, weights).composites[0])


def _moves(subjects: tuple[str, ...], before: Floats, after: Floats) -> pl.DataFrame:
    both = ~np.isnan(before) & ~np.isnan(after)
    ranks = [np.argsort(np.argsort(-values[both], kind="stable")) for values in (before, after)]
    return pl.DataFrame(
        {
            "subject": pl.Series(subjects).gather(np.flatnonzero(both)),
            "before": before[both],
            "after": after[both],
            "move": (after - before)[both],
            "rank_move": ranks[0] - ranks[1],
        }
    )


def _digest(moves: pl.DataFrame) -> tuple[float | None, float | None, str | None, float | None, str | None]:
    if moves.height < _RANKABLE:
        return None, None, None, None, None
    size, after = moves["move"].abs().to_numpy(), moves["after"].to_numpy()
    correlation = float(moves.select(pl.corr("before", "after", method="spearman")).item())
    mover, leader = (moves["subject"][int(np.argmax(values))] for values in (size, after))
    return float(size.mean()), float(size.max()), mover, correlation, leader
