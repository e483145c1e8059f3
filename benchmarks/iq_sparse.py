"""Do intervals hold where evidence is sparse? Well-measured models enter again as unknown, with a few of their scores.

``python -m benchmarks.iq_sparse [--repeats N]``. Each model with 15 or more scores is replaced by an unknown one
(release date and kind only; no provider, line or predecessor) that keeps 3, 6, 12 or 20 random scores, those of one
dimension, or those that a real sparse model has. Truth is the composite over the benchmarks that were measured;
estimates are read off the same benchmarks, as what nobody measured cannot be checked. Error is estimate − truth in IQ
points; covered is the share of 90% intervals that hold the truth; ranks are those among the well-measured models.
Truth contains the scores the model was entered with, errors and all, so they are held in the draws as well; ``printed``
is the share for intervals as they are printed, in which these scores vary by their error too.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from mensura.arrays import Floats, Mask
from mensura.evidence import Evidence
from mensura.frames import text_table
from mensura.iq import IqResult
from mensura.iq.uncertainty import interval, rank_interval

WELL_MEASURED = 15
SPARSE = (4, 12)
AT_ONCE = 8
DRAWS = 200
CONDITIONS = ("3", "6", "12", "20", "one dimension", "real mask")
METHODS = ("joint", "published")


@dataclass(frozen=True)
class Entered:
    """What one model looked like and what came out: errors of composite and dimensions, and what was covered."""

    error: float
    covered: bool
    printed: bool
    width: float
    dimension_error: float
    dimensions_covered: float
    rank_covered: bool


def kept_cells(condition: str, row: int, measured: Mask, dimension_of: Floats, rng: np.random.Generator) -> Mask:
    """Return which benchmarks the model is entered with."""
    own = np.flatnonzero(measured[row])
    if condition.isdigit():
        chosen = rng.permutation(own)[: min(int(condition), own.size - 3)]
    elif condition == "one dimension":
        chosen = own[dimension_of[own] == rng.choice(np.unique(dimension_of[own]))]
    else:
        count = measured.sum(axis=1)
        sparse = np.flatnonzero((count >= SPARSE[0]) & (count <= SPARSE[1]))
        shared = [other for other in sparse if (measured[other] & measured[row]).sum() >= 3]
        chosen = np.flatnonzero(measured[rng.choice(shared)] & measured[row])
    return np.isin(np.arange(measured.shape[1]), chosen)


def entered_again(evidence: Evidence, kept: dict[str, list[str]]) -> Evidence:
    """Return the evidence in which these models are unknown and have only these benchmarks."""
    unknown = pl.col("subject").is_in(list(kept))
    models = evidence.models.with_columns(
        pl.when(unknown).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("line", "predecessor", "predecessor2")
    ).with_columns(
        provider=pl.when(unknown).then(pl.format("unknown {}", "subject")).otherwise("provider"),
        tier=pl.when(unknown).then(0).otherwise("tier"),
        **{
            name: pl.when(pl.col(name).is_in(list(kept))).then(None).otherwise(name)
            for name in ("predecessor", "predecessor2")
        },
    )
    pairs = pl.DataFrame(
        [(subject, name) for subject, names in kept.items() for name in names],
        schema=["subject", "benchmark"],
        orient="row",
    )
    scores = pl.concat(
        [evidence.scores.filter(~unknown), evidence.scores.join(pairs, on=["subject", "benchmark"], how="semi")]
    )
    return replace(evidence, models=models, scores=scores)


def over(values: Floats, wholes: Floats, members: Floats, mask: Mask) -> Floats:
    """Return dimension means over the masked benchmarks (last axis), dimensions without any left out.

    A dimension that a method fills as a whole (``wholes``) stands for its missing benchmarks.
    """
    used = members * mask[:, None]
    size = used.sum(axis=0)
    kept = size > 0
    filled = ~np.isnan(values)
    means = np.where(filled & mask, values, 0.0) @ used[:, kept] / size[kept]
    complete = filled.astype(float) @ used[:, kept] == size[kept]
    return np.where(complete, means, wholes[..., kept])


def outcome(result: IqResult, full: IqResult, row: int, rivals: Floats) -> Entered:
    matrix, measured = full.matrix, full.matrix.measured[row]
    nothing = np.full(len(matrix.dimensions), np.nan)
    truth = over(matrix.iqs[row], nothing, matrix.members, measured)
    estimate = over(result.filled.iqs[0, row], result.scored.dimensions[0, row], matrix.members, measured)
    drawn, own = result.drawn, result.matrix
    shaken = drawn.benchmarks[:, row].astype(float)
    held = np.where(own.measured[row], own.iqs[row], shaken)
    draws, printed = (over(one, drawn.dimensions[:, row], matrix.members, measured) for one in (held, shaken))
    hidden = over((~result.matrix.measured[row]).astype(float), nothing, matrix.members, measured) > 0
    low, high = interval(draws.mean(axis=1))
    ends, outer = interval(draws), interval(printed.mean(axis=1))
    inside = (ends[0] <= truth) & (truth <= ends[1])
    ranks = (rivals > draws.mean(axis=1)[:, None]).sum(axis=1)
    best, worst = rank_interval(ranks[:, None])
    return Entered(
        error=float(estimate.mean() - truth.mean()),
        covered=bool(low <= truth.mean() <= high),
        printed=bool(outer[0] <= truth.mean() <= outer[1]),
        width=float(high - low),
        dimension_error=float(np.abs(estimate - truth)[hidden].mean()),
        dimensions_covered=float(inside[hidden].mean()),
        rank_covered=bool(best[0] <= (rivals > truth.mean()).sum() <= worst[0]),
    )


def measure(method: str, condition: str, repeats: int) -> dict[str, float]:
    """Return error and coverage of one method in one condition; only n where it gives no composite at all."""
    evidence = mensura.load()
    full = mensura.score_iq(evidence, method="published", ladders="recut")
    matrix = full.matrix
    targets = np.flatnonzero(matrix.measured.sum(axis=1) >= WELL_MEASURED)
    nothing = np.full(len(matrix.dimensions), np.nan)
    truths = np.array([over(matrix.iqs[row], nothing, matrix.members, matrix.measured[row]).mean() for row in targets])
    found: list[Entered] = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        for group in np.array_split(rng.permutation(targets), max(targets.size // AT_ONCE, 1)):
            kept = {
                int(row): kept_cells(condition, int(row), matrix.measured, matrix.dimension_of, rng) for row in group
            }
            names = {matrix.subjects[row]: list(np.array(matrix.benchmarks)[mask]) for row, mask in kept.items()}
            result = mensura.score_iq(
                entered_again(evidence, names), method=method, ladders="recut", draws=DRAWS, seed=seed
            )
            found += [
                outcome(result, full, row, truths[targets != row])
                for row in kept
                if not np.isnan(result.scored.composites[0, row])
            ]
    if not found:
        return {"n": 0}
    columns = {
        name: np.array([getattr(one, name) for one in found], dtype=float) for name in Entered.__dataclass_fields__
    }
    return {
        "n": len(found),
        "bias": columns["error"].mean(),
        "mae": np.abs(columns["error"]).mean(),
        "covered": columns["covered"].mean(),
        "printed": columns["printed"].mean(),
        "width": columns["width"].mean(),
        "dimension_mae": np.nanmean(columns["dimension_error"]),
        "dimensions_covered": np.nanmean(columns["dimensions_covered"]),
        "ranks_covered": columns["rank_covered"].mean(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--conditions", nargs="*", default=CONDITIONS)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    given = parser.parse_args()
    rows: list[dict[str, object]] = []
    for condition, method in product(given.conditions, given.methods):
        rows.append({"entered with": condition, "method": method, **measure(method, condition, given.repeats)})
        print(json.dumps(rows[-1]), file=sys.stderr)
    print(text_table(pl.DataFrame(rows), rows=len(rows), digits=2))
    print(json.dumps(rows))


if __name__ == "__main__":
    run(main)
