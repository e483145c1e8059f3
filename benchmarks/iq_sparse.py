"""Do intervals hold where evidence is sparse? Well-measured models enter again as unknown, with a few of their scores.

``python -m benchmarks.iq_sparse [--repeats N] [--measured LEAST MOST]``. Each model with 15 or more scores (or as many
as ``--measured`` says) is replaced by an unknown one (release date and kind only; no provider, line or predecessor)
that keeps 1, 2, 3, 6, 12 or 20 random scores, those of one dimension, or those that a real sparse model has. With
"relatives" it keeps its scores on tests without a ladder (MMLU-Pro, AIME 2025 and so on), alone or with 1 or 2 others.

Truth is the composite over the benchmarks that were measured; estimates are read off the same benchmarks, as what
nobody measured cannot be checked. Error is estimate − truth in IQ points; covered is the share of 90% intervals that
hold the truth; ranks are those among the well-measured models. The truth includes the scores that the model keeps, with
their errors. So the draws keep these scores as they are. ``printed`` is the share for intervals as they are printed, in
which these scores vary by their error too.

The second table compares the default (``joint``) with the ways of filling gaps that it replaced, on the same entries:
mean absolute errors of ``published`` (the waterfall), ``completion`` (the point estimate of a factor model, here
restated) and ``stitched`` (expected scores of ``mensura.stitch``). ``behind`` is the error of the default less that of
the best of the three, negative where it is ahead; ``±`` is the standard error of that difference, entry by entry.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from benchmarks.measured import percent_range, record
from mensura.core.arrays import Floats, Mask, logit
from mensura.core.frames import text_table
from mensura.evidence import Evidence
from mensura.iq import IqResult
from mensura.iq.ladders import HIGHEST, LOWEST, Metric
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.relatives import TEACHERS, Relatives
from mensura.iq.uncertainty import interval
from mensura.scale.ranking import rank_interval

WELL_MEASURED = (15, 32)
"""Scores of the models that are entered again, at least and at most."""
SPARSE = (4, 12)
AT_ONCE = 8
DRAWS = 200
RELATIVES = ("one relative", "relatives", "1 and relatives", "2 and relatives")
CONDITIONS = ("1", "2", *RELATIVES, "3", "6", "12", "20", "one dimension", "real mask")
DEFAULT, PUBLISHED, COMPLETION, STITCHED = METHODS = ("joint", "published", "completion", "stitched")
FACTORS, RIDGE, ROUNDS = 2, 1.0, 30
"""Completion as it was before the joint model: factors of a model, pull towards 0, alternations."""


def kept_cells(condition: str, row: int, measured: Mask, dimension_of: Floats, rng: np.random.Generator) -> Mask:
    """Return which benchmarks the model is entered with."""
    own = np.flatnonzero(measured[row])
    if condition.isdigit() or condition in RELATIVES:
        word = condition.split()[0]
        count = int(word) if word.isdigit() else 0
        chosen = rng.permutation(own)[: min(count, own.size - 3)]
    elif condition == "one dimension":
        chosen = own[dimension_of[own] == rng.choice(np.unique(dimension_of[own]))]
    else:
        count = measured.sum(axis=1)
        sparse = np.flatnonzero((count >= SPARSE[0]) & (count <= SPARSE[1]))
        shared = [other for other in sparse if (measured[other] & measured[row]).sum() >= 3]
        chosen = np.flatnonzero(measured[rng.choice(shared)] & measured[row])
    return np.isin(np.arange(measured.shape[1]), chosen)


def kept_relatives(condition: str, row: int, relatives: Relatives, rng: np.random.Generator) -> list[str]:
    """Return on which tests without a ladder the model is entered."""
    if condition not in RELATIVES:
        return []
    own = rng.permutation(np.flatnonzero(~np.isnan(relatives.odds[row])))
    return [relatives.names[place] for place in (own[:1] if condition == "one relative" else own)]


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


def complete(iqs: Floats) -> Floats:
    """Fill a table of benchmark IQs (NaN: missing) by completion.

    Standardised by column, a cell is u·v + c with two factors u per model and a line (v, c) per benchmark, found by
    alternating ridge regressions on the measured cells.
    """
    known = ~np.isnan(iqs)
    centre, spread = np.nanmean(iqs, axis=0), np.nanstd(iqs, axis=0) + np.finfo(float).eps
    cells = np.where(known, (iqs - centre) / spread, 0.0)
    lines: Floats = np.linalg.svd(cells, full_matrices=False)[2][:FACTORS].T
    factors, intercept, flags = np.zeros((len(iqs), FACTORS)), np.zeros(iqs.shape[1]), known.astype(float)
    for _ in range(ROUNDS):
        factors = ridge(lines, flags, np.where(known, cells - intercept, 0.0))
        both = ridge(np.column_stack([factors, np.ones(len(factors))]), flags.T, cells.T)
        lines, intercept = both[:, :-1], both[:, -1]
    return np.where(known, iqs, np.clip(centre + spread * (factors @ lines.T + intercept), LOWEST, HIGHEST))


def ridge(regressors: Floats, flags: Floats, cells: Floats) -> Floats:
    """Regress each row of the cells on the regressors of the columns it has."""
    normal = np.einsum("rc,ci,cj->rij", flags, regressors, regressors) + RIDGE * np.eye(regressors.shape[1])
    return np.asarray(np.linalg.solve(normal, (cells @ regressors)[..., None])[..., 0])


def stitched(evidence: Evidence, matrix: ScoreMatrix) -> Floats:
    """Fill the table of benchmark IQs by the expected scores of the stitched model, read off the ladders."""
    pairs = list(product(matrix.subjects, matrix.benchmarks))
    asked = pl.DataFrame(pairs, schema=["subject", "benchmark"], orient="row")
    rates = mensura.stitch(evidence).predict(asked)["score"].to_numpy().reshape(matrix.iqs.shape)
    elo = np.array([metric.unit == "elo" for metric in matrix.metrics])
    log_odds = np.where(elo, logit(rates), Metric("fraction").log_odds(rates))
    return np.where(matrix.measured, matrix.iqs, matrix.read(log_odds))


class Truth:
    """Composites and dimensions over what was measured, of every well-measured model."""

    def __init__(self, evidence: Evidence, least: int, most: int) -> None:
        self.evidence = evidence
        self.full = mensura.score_iq(evidence, method=PUBLISHED, ladders="recut")
        self.matrix = self.full.matrix
        self.nothing = np.full(len(self.matrix.dimensions), np.nan)
        count = self.matrix.measured.sum(axis=1)
        self.targets = np.flatnonzero((count >= least) & (count <= most))
        self.composites = {int(row): self.dimensions(row, self.matrix.iqs[row]).mean() for row in self.targets}

    def dimensions(self, row: int, values: Floats, wholes: Floats | None = None) -> Floats:
        """Return the dimensions of a model over the benchmarks it was measured on, of its ``values`` on all."""
        wholes = self.nothing if wholes is None else wholes
        return over(values, wholes, self.matrix.members, self.matrix.measured[row])

    def errors(self, row: int, own: ScoreMatrix, values: Floats, wholes: Floats | None = None) -> dict[str, float]:
        """Return error of the composite, and mean absolute error of the dimensions with something hidden."""
        missed = self.dimensions(row, values, wholes) - self.dimensions(row, self.matrix.iqs[row])
        return {"error": missed.mean(), "dimension_mae": np.abs(missed)[self.hidden(row, own)].mean()}

    def hidden(self, row: int, own: ScoreMatrix) -> Mask:
        """Tell in which of a model's dimensions something measured was left out."""
        return self.dimensions(row, (~own.measured[row]).astype(float)) > 0

    def held(self, row: int, result: IqResult) -> dict[str, float]:
        """Return whether the intervals of an entered model hold composite, dimensions and rank."""
        truth, rivals = self.dimensions(row, self.matrix.iqs[row]), self.rivals(row)
        drawn, own = result.drawn, result.matrix
        shaken = drawn.benchmarks[:, row].astype(float)
        as_given = np.where(own.measured[row], own.iqs[row], shaken)

        def read(iqs: Floats, low: float = LOWEST, high: float = HIGHEST) -> Floats:
            return self.dimensions(row, np.clip(iqs, low, high), drawn.dimensions[:, row])

        def ends(iqs: Floats) -> tuple[Floats, Floats]:
            """Return the dimensions of the lower and the upper end: only the far ends pass 70 and 160, as printed."""
            return read(iqs, low=-np.inf), read(iqs, high=np.inf)

        (low, high), outer = (
            [interval(one.mean(axis=1))[end] for end, one in enumerate(ends(iqs))] for iqs in (as_given, shaken)
        )
        least, most = (interval(one)[end] for end, one in enumerate(ends(as_given)))
        inside, draws = (least <= truth) & (truth <= most), read(as_given)
        best, worst = rank_interval((rivals > draws.mean(axis=1)[:, None]).sum(axis=1)[:, None])
        return {
            "covered": float(low <= truth.mean() <= high),
            "printed": float(outer[0] <= truth.mean() <= outer[1]),
            "width": float(high - low),
            "dimensions_covered": inside[self.hidden(row, own)].mean(),
            "ranks_covered": float(best[0] <= (rivals > truth.mean()).sum() <= worst[0]),
        }

    def rivals(self, row: int) -> Floats:
        """Return the composites of the other well-measured models."""
        return np.array([value for other, value in self.composites.items() if other != row])


def entries(truth: Truth, condition: str, methods: list[str], repeats: int) -> Iterator[dict[str, object]]:
    """Enter every well-measured model again, some at once, and yield what each method made of each."""
    matrix = truth.matrix
    every = matrix.relatives
    known = np.flatnonzero(every.teachers(matrix.measured) >= TEACHERS)
    doubt = None if every.doubt is None else every.doubt.of(known)
    relatives = Relatives(tuple(every.names[place] for place in known), every.odds[:, known], doubt)
    targets = truth.targets
    if condition in RELATIVES:
        targets = targets[~np.isnan(relatives.odds[targets]).all(axis=1)]
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        for group in np.array_split(rng.permutation(targets), max(targets.size // AT_ONCE, 1)):
            kept = {
                int(row): kept_cells(condition, int(row), matrix.measured, matrix.dimension_of, rng) for row in group
            }
            names = {matrix.subjects[row]: list(np.array(matrix.benchmarks)[mask]) for row, mask in kept.items()}
            for row in kept:
                names[matrix.subjects[row]] += kept_relatives(condition, row, relatives, rng)
            evidence = entered_again(truth.evidence, names)
            for method in methods:
                for row, found in estimates(truth, evidence, method, list(kept), seed):
                    yield {"entered with": condition, "method": method, "entry": f"{seed} {row}", **found}


def estimates(
    truth: Truth, evidence: Evidence, method: str, rows: list[int], seed: int
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield errors, and with intervals what they hold, of the models to which the method gives a composite."""
    if method in (DEFAULT, PUBLISHED):
        result = mensura.score_iq(evidence, method=method, ladders="recut", draws=DRAWS, seed=seed)
        for row in rows:
            if not np.isnan(result.scored.composites[0, row]):
                filled, wholes = result.filled.iqs[0, row], result.scored.dimensions[0, row]
                yield row, truth.errors(row, result.matrix, filled, wholes) | truth.held(row, result)
        return
    matrix = mensura.score_iq(evidence, method=PUBLISHED, ladders="recut").matrix
    table = complete(matrix.iqs) if method == COMPLETION else stitched(evidence, matrix)
    yield from ((row, truth.errors(row, matrix, table[row])) for row in rows)


def summarise(found: pl.DataFrame) -> pl.DataFrame:
    """Return bias, errors and what intervals hold, by condition and method."""
    return found.group_by("entered with", "method", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("error").mean().alias("bias"),
        pl.col("error").abs().mean().alias("mae"),
        pl.col("dimension_mae", "covered", "printed", "width", "dimensions_covered", "ranks_covered").mean(),
    )


def compare(found: pl.DataFrame) -> pl.DataFrame:
    """Return mean absolute errors on the entries that the default scores, and how far it is behind the best other."""
    rows = []
    for (condition,), part in found.group_by("entered with", maintain_order=True):
        sizes = part.select("entry", "method", pl.col("error").abs()).pivot("method", index="entry", values="error")
        sizes = sizes.drop_nulls(DEFAULT)
        others = [name for name in METHODS[1:] if name in sizes.columns and sizes[name].count()]
        mean = {name: float(sizes.select(pl.col(name).mean()).item()) for name in (DEFAULT, *others)}
        best = min(others, key=lambda name: mean[name])
        behind = sizes.select(pl.col(DEFAULT) - pl.col(best)).to_series().drop_nulls().to_numpy()
        error = float(behind.std(ddof=1) / np.sqrt(behind.size))
        row = {"entered with": condition, "n": sizes.height, **{name: mean.get(name) for name in METHODS}}
        rows.append(row | {"best other": best, "behind": float(behind.mean()), "±": error})
    return pl.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--conditions", nargs="*", default=CONDITIONS, choices=CONDITIONS)
    parser.add_argument("--measured", nargs=2, type=int, default=WELL_MEASURED, metavar=("LEAST", "MOST"))
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    given = parser.parse_args()
    truth = Truth(mensura.load(), *given.measured)
    parts = []
    for condition in given.conditions:
        parts.append(pl.DataFrame(list(entries(truth, condition, given.methods, given.repeats))))
        print(text_table(summarise(parts[-1]), digits=2), file=sys.stderr)
    found = pl.concat(parts, how="diagonal")
    table = summarise(found)
    print(text_table(table, rows=table.height, digits=2))
    figures: dict[str, object] = {"methods": table.to_dicts()}
    if DEFAULT in given.methods and len(given.methods) > 1:
        beside = compare(found)
        print("\nMean absolute error of the composite on the same entries")
        print(text_table(beside, rows=beside.height, digits=2))
        figures["compared"] = beside.to_dicts()
    print(json.dumps(figures))
    ours = table.filter(pl.col("method") == DEFAULT)
    if ours.height:
        record("iq.coverage", percent_range(ours["covered"]))
        record("iq.bias", f"{ours['bias'].abs().max():.1f}")
    published = table.filter(pl.col("method") == PUBLISHED)["bias"].drop_nulls()
    if published.len():
        record("iq.published_bias", f"{-published.min():.0f}")


if __name__ == "__main__":
    run(main)
