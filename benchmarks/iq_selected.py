"""Bias and coverage of the IQ when makers publish what flatters: well-measured models entered with chosen scores.

Each model with 15 to 32 scores is entered again with five of them. ``best five``: those on which it ranks best among
models released within nine months of it. ``better half``: five at random of the half on which it ranks best. ``worst
five``: the opposite of the first, a check. ``random five``: no choice. ``plain`` takes the scores as they are, which is
how independent sources are read; ``selected`` says that they were chosen (``mensura iq --add FILE --selected``).
``corrected`` is how far estimates moved for it, in IQ points.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from benchmarks.iq_sparse import AT_ONCE, DRAWS, WELL_MEASURED, Truth, entered_again
from benchmarks.measured import record
from mensura.core.arrays import Floats, Ints
from mensura.core.frames import text_table
from mensura.iq.matrix import ScoreMatrix

CONDITIONS = ("random five", "better half", "best five", "worst five")
FIVE, DAYS = 5, 274
"""Scores that each model is entered with, and days within which a model is a peer."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="first seed; other seeds draw other scores and groups")
    parser.add_argument("--models", type=int, default=35, help="well-measured models, at most")
    parser.add_argument("--conditions", nargs="*", default=CONDITIONS, choices=CONDITIONS)
    parser.add_argument("--readings", nargs="*", default=("plain", "selected"), choices=("plain", "selected"))
    given = parser.parse_args()
    truth = Truth(mensura.load(), *WELL_MEASURED)
    rows = []
    for condition in given.conditions:
        for seed in range(given.seed, given.seed + given.repeats):
            rows += entries(truth, condition, given.readings, seed, given.models)
        print(text_table(summarise(pl.DataFrame(rows)).filter(condition=condition), digits=2), flush=True)
    table = summarise(pl.DataFrame(rows))
    print(text_table(table, rows=table.height, digits=2))
    print(json.dumps({"figures": table.to_dicts(), "seed": given.seed}))
    for condition, reading, bias, coverage in table.select("condition", "reading", "bias", "covered").iter_rows():
        key = f"iq.{condition.replace(' ', '_')}_{reading}"
        if condition in ("best five", "better half"):
            record(key, f"{bias:+.1f}")
            record(f"{key}_coverage", f"{coverage:.0%}")


def entries(truth: Truth, condition: str, readings: list[str], seed: int, models: int) -> list[dict[str, object]]:
    """Enter every well-measured model again, some at once, read plainly and as selected."""
    matrix, rng, found = truth.matrix, np.random.default_rng([seed, CONDITIONS.index(condition)]), []
    targets = rng.permutation(truth.targets)[:models]
    for group in np.array_split(targets, max(targets.size // AT_ONCE, 1)):
        kept = {
            matrix.subjects[row]: [matrix.benchmarks[j] for j in chosen(matrix, row, condition, rng)] for row in group
        }
        evidence = entered_again(truth.evidence, kept)
        for reading in readings:
            flagged = list(kept) if reading == "selected" else ()
            result = mensura.score_iq(
                evidence, method="joint", ladders="recut", selected=flagged, draws=DRAWS, seed=seed
            )
            for row in group:
                if np.isnan(result.scored.composites[0, row]):
                    continue
                filled, wholes = result.filled.iqs[0, row], result.scored.dimensions[0, row]
                shift = float(result.filled.correction.shift[row])
                own = truth.errors(row, result.matrix, filled, wholes) | truth.held(row, result)
                found.append({"condition": condition, "reading": reading, "corrected": shift, **own})
    return found


def chosen(matrix: ScoreMatrix, row: int, condition: str, rng: np.random.Generator) -> Ints:
    """Return the benchmarks that the model is entered with."""
    own = np.flatnonzero(matrix.measured[row])
    standing = standings(matrix, row)[own]
    best = own[np.argsort(-standing, kind="stable")]
    if condition == "random five":
        return rng.permutation(own)[:FIVE]
    if condition == "better half":
        return rng.permutation(best[: max(FIVE, own.size // 2)])[:FIVE]
    return best[:FIVE] if condition == "best five" else best[-FIVE:]


def standings(matrix: ScoreMatrix, row: int) -> Floats:
    """Share of the peers on each benchmark that the model is above."""
    peers = np.abs(matrix.released - matrix.released[row]) <= DAYS
    peers[row] = False
    there = matrix.measured[peers]
    below = (matrix.iqs[peers] < matrix.iqs[row]) & there
    return np.asarray((below.sum(axis=0) + 0.5) / (there.sum(axis=0) + 1))


def summarise(found: pl.DataFrame) -> pl.DataFrame:
    """Return bias, error and coverage by condition and reading."""
    return found.group_by("condition", "reading", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("error").mean().alias("bias"),
        pl.col("error").abs().mean().alias("mae"),
        pl.col("covered", "width", "corrected").mean(),
    )


if __name__ == "__main__":
    run(main)
