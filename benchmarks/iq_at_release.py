"""Whether the IQ of a new model holds when nobody knows what comes after it.

``python -m benchmarks.iq_at_release [--scores 2 6] [--repeats N] [--seed N] [--makers]``. Each model with 15 to 32
scores is entered again with a few of them at random, in the evidence as it was on the day of its release: without every
later model. Its name, maker and predecessor are known. :mod:`benchmarks.iq_sparse` enters models among later ones and
says where the truth comes from. ``led`` counts the entries whose estimate was above all others; ``rightly`` the share
of them that full measurement confirms, ``said`` the mean chance of leading that the draws gave them. A second table
shows coverage by the width of the interval: the narrowest must hold as often as the widest.

``--makers`` asks another question: all models of a maker are new at once, each with three of its scores, while later
models of other makers are known. What they share, good or bad, must be in the intervals.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from benchmarks.iq_sparse import DRAWS, WELL_MEASURED, Truth
from benchmarks.measured import percent_range, record
from mensura.core.frames import text_table
from mensura.evidence import Evidence

WIDTHS = 4
"""Parts by width in which coverage is printed."""
LEAST_OF_MAKER, KEPT_OF_MAKER = 3, 3
"""Well-measured models that a maker must have, and scores that each of its models keeps."""
FEWEST_MODELS = 25
"""Models released before a day from which on its evidence can say something."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=int, nargs="*", default=(2, 6), help="scores that each model is entered with")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--makers", action="store_true", help="enter all models of a maker at once, and end")
    given = parser.parse_args()
    evidence = mensura.load()
    every = Truth(evidence, *WELL_MEASURED)
    if given.makers:
        print_makers(every, range(given.seed, given.seed + given.repeats))
        return
    subjects = [every.matrix.subjects[row] for row in every.targets]
    rows = []
    for place, subject in enumerate(subjects):
        truth = at_release(evidence, subject)
        if len(truth.composites) > 1 and len(truth.matrix.subjects) >= FEWEST_MODELS:
            rng = np.random.default_rng([given.seed, place])
            rows += [found for _ in range(given.repeats) for found in entries(truth, subject, given.scores, rng)]
    entered = pl.DataFrame(rows)
    table, widths = summarise(entered), by_width(entered)
    print(text_table(table, digits=2))
    print(text_table(widths, digits=2))
    print(json.dumps({"scores": table.to_dicts(), "widths": widths.to_dicts()}))
    record_figures(entered)


def at_release(evidence: Evidence, subject: str) -> Truth:
    """Return what was known of a model and all earlier ones on the day of its release."""
    day = evidence.models.filter(subject=subject)["released"][0]
    models = evidence.models.filter(pl.col("released") <= day)
    scores = evidence.scores.join(models, on="subject", how="semi")
    return Truth(replace(evidence, models=models, scores=scores), *WELL_MEASURED)


def entries(truth: Truth, subject: str, counts: list[int], rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Enter a model with a few of its scores, and compare with all of them."""
    matrix = truth.matrix
    row = matrix.subjects.index(subject)
    own = rng.permutation(np.flatnonzero(matrix.measured[row]))
    rivals = [other for other in truth.composites if other != row]
    for count in counts:
        kept = pl.col("benchmark").is_in([matrix.benchmarks[place] for place in own[:count]])
        scores = truth.evidence.scores.filter((pl.col("subject") != subject) | kept)
        result = mensura.score_iq(
            replace(truth.evidence, scores=scores), method="joint", ladders="recut", draws=DRAWS, seed=count
        )
        filled, wholes = result.filled.iqs[0, row], result.scored.dimensions[0, row]
        estimates, draws = result.scored.composites[0], result.drawn.composites
        yield {
            "scores": count,
            "led": bool(estimates[row] > estimates[rivals].max()),
            "rightly": bool(truth.composites[row] > truth.rivals(row).max()),
            "said": float((draws[:, row] > draws[:, rivals].max(axis=1)).mean()),
            **truth.errors(row, result.matrix, filled, wholes),
            **truth.held(row, result),
        }


def print_makers(truth: Truth, seeds: range) -> None:
    """Enter all models of each maker with three well-measured models or more anew, each with three scores."""
    matrix, evidence = truth.matrix, truth.evidence
    rows = []
    for (maker,), models in evidence.models.group_by("provider", maintain_order=True):
        names = models["subject"].to_list()
        targets = [row for row in truth.targets if matrix.subjects[row] in names]
        if len(targets) < LEAST_OF_MAKER:
            continue
        for seed in seeds:
            rng = np.random.default_rng([seed, matrix.row(names[0])])
            kept = [
                (name, matrix.benchmarks[place])
                for name in names
                for place in rng.permutation(np.flatnonzero(matrix.measured[matrix.row(name)]))[:KEPT_OF_MAKER]
            ]
            pairs = pl.DataFrame(kept, schema=["subject", "benchmark"], orient="row")
            theirs = evidence.scores.join(pairs, on=["subject", "benchmark"], how="semi")
            scores = pl.concat([evidence.scores.filter(~pl.col("subject").is_in(names)), theirs])
            result = mensura.score_iq(replace(evidence, scores=scores), draws=DRAWS, seed=seed)
            for row in targets:
                filled, wholes = result.filled.iqs[0, row], result.scored.dimensions[0, row]
                rows.append(
                    {"maker": maker, **truth.errors(row, result.matrix, filled, wholes), **truth.held(row, result)}
                )
    found = pl.DataFrame(rows)
    held = (pl.len().alias("n"), pl.col("error").mean().alias("bias"), pl.col("covered", "width").mean())
    print(text_table(found.group_by("maker", maintain_order=True).agg(*held), digits=2))
    whole = found.select(*held).row(0, named=True)
    print(json.dumps(whole))
    record("iq.makers_anew_coverage", f"{whole['covered']:.0%}")


def record_figures(entered: pl.DataFrame) -> None:
    """Record the figures that the documentation states."""
    for scores, bias, coverage in summarise(entered).select("scores", "bias", "covered").iter_rows():
        if scores in (1, 2, 6):
            record(f"iq.at_release_{scores}", f"{bias:+.1f}")
            record(f"iq.at_release_{scores}_coverage", f"{coverage:.0%}")
    leading = entered.filter("led")
    record("iq.at_release_led", f"{int(leading['rightly'].sum())} of {leading.height}")
    parts = by_width(entered).partition_by("scores", maintain_order=True)
    for name, place in (("narrowest", 0), ("widest", -1)):
        record(f"iq.at_release_{name}", percent_range(part["covered"][place] for part in parts))


def summarise(found: pl.DataFrame) -> pl.DataFrame:
    """Return bias, error, coverage and how often the leader was right, by the number of scores."""
    return found.group_by("scores", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("error").mean().alias("bias"),
        pl.col("error").abs().mean().alias("mae"),
        pl.col("covered", "width", "ranks_covered").mean(),
        pl.col("led").sum(),
        pl.col("rightly", "said").filter("led").mean(),
    )


def by_width(entered: pl.DataFrame) -> pl.DataFrame:
    """Return bias and coverage of the entries in four parts, from the narrowest intervals to the widest."""
    part = (pl.col("width").rank("ordinal") * WIDTHS / (pl.len() + 1)).cast(pl.Int64)
    return (
        entered.with_columns(part=part.over("scores"))
        .group_by("scores", "part")
        .agg(
            pl.len().alias("n"),
            pl.col("width").min().alias("from"),
            pl.col("width").max().alias("to"),
            pl.col("error").mean().alias("bias"),
            pl.col("covered").mean(),
        )
        .sort("scores", "part")
        .drop("part")
    )


if __name__ == "__main__":
    run(main)
