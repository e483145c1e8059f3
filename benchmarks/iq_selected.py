"""Bias and coverage of the IQ when makers publish what flatters: well-measured models entered with chosen scores.

Each model with 15 to 32 scores is entered again with five of them. ``best five``: those on which it ranks best among
models released within nine months of it. ``better half``: five at random of the half on which it ranks best. ``worst
five``: the opposite of the first, a check. ``random five``: no choice. ``plain`` takes the scores as they are, which is
how independent sources are read. ``selected`` enters them as a vendor's report, which the default of ``score_iq``
corrects; ``mensura iq --add FILE --selected`` does the same. ``corrected`` is how far estimates moved, in IQ points.

``--makers`` asks the evidence instead: the scores that makers report on models with eight independent scores or more,
compared with what stitching predicts from the independent scores alone. Half of a normal distribution has a mean of
+0.80 standard deviations, so this is what a maker reaches who publishes the better half of all scores.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from benchmarks.iq_sparse import AT_ONCE, DRAWS, WELL_MEASURED, Truth, entered_again
from benchmarks.measured import record
from mensura.core.arrays import Floats, Ints, logit
from mensura.core.frames import text_table
from mensura.evidence import Evidence
from mensura.iq.matrix import ScoreMatrix
from mensura.stitching import evidence_scores, stitch

KNOWN, Z90 = 8, 1.645
"""Independent scores that say enough of a model, and the half-width of a 90% interval in standard deviations."""
CONDITIONS = ("random five", "better half", "best five", "worst five")
FIVE = 5
RECORDED = (("worst five", "plain"), ("random five", "selected"))
"""Further figures that the documentation states."""
DAYS = 274
"""Days within which a model is a peer."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="first seed; other seeds draw other scores and groups")
    parser.add_argument("--models", type=int, default=35, help="well-measured models, at most")
    parser.add_argument("--scores", type=int, default=5, help="scores that each model is entered with")
    parser.add_argument("--conditions", nargs="*", default=CONDITIONS, choices=CONDITIONS)
    parser.add_argument("--readings", nargs="*", default=("plain", "selected"), choices=("plain", "selected"))
    parser.add_argument("--makers", action="store_true", help="compare the scores that makers report, and end")
    given = parser.parse_args()
    if given.makers:
        ask_makers(mensura.load())
        return
    truth = Truth(mensura.load(), *WELL_MEASURED)
    rows = []
    for condition in given.conditions:
        for seed in range(given.seed, given.seed + given.repeats):
            rows += entries(truth, condition, given.readings, seed, given.models, given.scores)
        print(text_table(summarise(pl.DataFrame(rows)).filter(condition=condition), digits=2), flush=True)
    table = summarise(pl.DataFrame(rows))
    print(text_table(table, rows=table.height, digits=2))
    print(json.dumps({"figures": table.to_dicts(), "seed": given.seed}))
    for condition, reading, bias, coverage in table.select("condition", "reading", "bias", "covered").iter_rows():
        key = f"iq.{condition.replace(' ', '_')}_{reading}".replace(
            "five", "five" if given.scores == FIVE else str(given.scores)
        )
        if condition in ("best five", "better half") or (condition, reading) in RECORDED:
            record(key, f"{bias:+.1f}")
            record(f"{key}_coverage", f"{coverage:.0%}")


def entries(
    truth: Truth, condition: str, readings: list[str], seed: int, models: int, scores: int
) -> list[dict[str, object]]:
    """Enter every well-measured model again, some at once, read plainly and as selected."""
    matrix, rng, found = truth.matrix, np.random.default_rng([seed, CONDITIONS.index(condition)]), []
    targets = rng.permutation(truth.targets)[:models]
    for group in np.array_split(targets, max(targets.size // AT_ONCE, 1)):
        kept = {
            matrix.subjects[row]: [matrix.benchmarks[j] for j in chosen(matrix, row, condition, scores, rng)]
            for row in group
        }
        evidence = entered_again(truth.evidence, kept)
        for reading in readings:
            reported = by_makers(evidence, list(kept)) if reading == "selected" else evidence
            result = mensura.score_iq(reported, method="joint", ladders="recut", draws=DRAWS, seed=seed)
            for row in group:
                if np.isnan(result.scored.composites[0, row]):
                    continue
                filled, wholes = result.filled.iqs[0, row], result.scored.dimensions[0, row]
                shift = float(result.filled.correction.shift[row])
                own = truth.errors(row, result.matrix, filled, wholes) | truth.held(row, result)
                found.append({"condition": condition, "reading": reading, "corrected": shift, **own})
    return found


def by_makers(evidence: Evidence, subjects: list[str]) -> Evidence:
    """Return the evidence with all scores of these models measured by the vendor."""
    mine = pl.col("subject").is_in(subjects)
    by = pl.when(mine).then(pl.lit("vendor")).otherwise("measured_by")
    return replace(evidence, scores=evidence.scores.with_columns(measured_by=by))


def chosen(matrix: ScoreMatrix, row: int, condition: str, scores: int, rng: np.random.Generator) -> Ints:
    """Return the benchmarks that the model is entered with."""
    own = np.flatnonzero(matrix.measured[row])
    standing = standings(matrix, row)[own]
    best = own[np.argsort(-standing, kind="stable")]
    if condition == "random five":
        return rng.permutation(own)[:scores]
    if condition == "better half":
        return rng.permutation(best[: max(scores, own.size // 2)])[:scores]
    return best[:scores] if condition == "best five" else best[-scores:]


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


def ask_makers(evidence: Evidence) -> None:
    """Compare the scores that makers report with those that independent scores of the same models predict."""
    reported = (pl.col("measured_by") == "vendor").fill_null(False)
    independent, _ = evidence_scores(replace(evidence, scores=evidence.scores.filter(~reported)))
    known = independent.group_by("subject").len().filter(pl.col("len") >= KNOWN)
    cells, _ = evidence_scores(replace(evidence, scores=evidence.scores.filter(reported)))
    cells = cells.join(known, on="subject", how="semi").join(independent, on="benchmark", how="semi")
    predicted = stitch(independent).predict(cells)
    expected, low, high, score = (logit(frame[name].to_numpy().clip(0.005, 0.995)) for frame, name in (
        (predicted, "score"), (predicted, "low"), (predicted, "high"), (cells, "score")
    ))  # fmt: skip
    table = cells.select("subject", "benchmark").with_columns(
        above=score - expected, errors=(score - expected) / ((high - low) / (2 * Z90))
    )
    by_model = table.group_by("subject").agg(pl.len().alias("scores"), pl.col("above", "errors").mean()).sort("subject")
    print(text_table(by_model, rows=by_model.height, digits=2))
    mean, higher = float(table["errors"].mean()), float((table["above"] > 0).mean())  # type: ignore[arg-type]
    print(json.dumps({"scores": table.height, "models": by_model.height, "errors": mean, "higher": higher}))
    record("iq.makers_above", f"{mean:+.1f}")
    record("iq.makers_higher", f"{higher:.0%}")


if __name__ == "__main__":
    run(main)
