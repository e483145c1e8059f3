"""How far the ranking depends on single choices: leave a benchmark or dimension out, move a ladder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.stats import spearmanr

from mensura.frames import text_table
from mensura.iq.dimensions import score_dimensions
from mensura.iq.field import Field
from mensura.iq.filling import fill_benchmarks
from mensura.iq.ladders import HIGHEST, LOWEST, Array
from mensura.iq.result import IqResult
from mensura.iq.rules import Rules


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """What each change does: ``summary`` has one row per change, ``moves`` one per change and model.

    summary: change, name, mean_move, largest_move, mover, rank_correlation, leader.
    moves: change, name, subject, before, after, move, rank_move (places won).
    """

    summary: pl.DataFrame
    moves: pl.DataFrame

    def __str__(self) -> str:
        return f"Sensitivity, {self.summary.height} changes, largest first\n{text_table(self.summary, digits=2)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


def sensitivity(result: IqResult, *, shift: float = 5.0, advance: Callable[[], object] | None = None) -> Sensitivity:
    """Leave out each benchmark and each dimension, and make each ladder ``shift`` IQ points harder and easier.

    A benchmark left out is gone, not imputed. ``advance`` is called once per change.
    """
    before = result.scored.composites[0]
    moves, summary = [], []
    for change, name, field, rules, weights in _changes(result, shift):
        after = _composites(field, rules, weights)
        move = _moves(result.field.subjects, before, after)
        moves.append(move.select(pl.lit(change).alias("change"), pl.lit(name).alias("name"), pl.all()))
        summary.append((change, name, *_digest(move)))
        if advance is not None:
            advance()
    columns = ["change", "name", "mean_move", "largest_move", "mover", "rank_correlation", "leader"]
    table = pl.DataFrame(summary, schema=columns, orient="row").sort("mean_move", descending=True, nulls_last=True)
    return Sensitivity(table, pl.concat(moves))


def count_changes(result: IqResult) -> int:
    """Return how many changes :func:`sensitivity` tries."""
    return 3 * len(result.field.benchmarks) + len(result.field.dimensions)


def _changes(result: IqResult, shift: float) -> Iterator[tuple[str, str, Field, Rules, Array]]:
    field, rules, weights = result.field, result.rules, result.weights
    columns = np.arange(len(field.benchmarks))
    for column, name in enumerate(field.benchmarks):
        yield "without benchmark", name, *_kept(field, rules, weights, columns != column)
    for place, name in enumerate(field.dimensions):
        yield "without dimension", name, *_kept(field, rules, weights, field.dimension_of != place)
    for column, name in enumerate(field.benchmarks):
        for label, by in (("ladder harder", -shift), ("ladder easier", shift)):
            iqs = field.iqs.copy()
            iqs[:, column] = np.clip(iqs[:, column] + by, LOWEST, HIGHEST)
            yield label, name, field.with_iqs(iqs), rules, weights


def _kept(field: Field, rules: Rules, weights: Array, keep: Array) -> tuple[Field, Rules, Array]:
    smaller = field.keep(np.flatnonzero(keep))
    kept = np.isin(field.dimensions, smaller.dimensions)
    shares = weights[kept] / weights[kept].sum() if weights[kept].sum() > 0 else weights[kept]
    return smaller, rules.keep(smaller.dimensions), shares


def _composites(field: Field, rules: Rules, weights: Array) -> Array:
    filled = fill_benchmarks(field, field.iqs[None], rules)
    return np.asarray(score_dimensions(field, filled, rules, weights).composites[0])


def _moves(subjects: tuple[str, ...], before: Array, after: Array) -> pl.DataFrame:
    both = ~np.isnan(before) & ~np.isnan(after)
    ranks = [np.argsort(np.argsort(-values[both])) for values in (before, after)]
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
    if moves.height < 3:
        return None, None, None, None, None
    size, after = moves["move"].abs().to_numpy(), moves["after"].to_numpy()
    correlation = float(spearmanr(moves["before"], after).statistic)
    mover, leader = (moves["subject"][int(np.argmax(values))] for values in (size, after))
    return float(size.mean()), float(size.max()), mover, correlation, leader
