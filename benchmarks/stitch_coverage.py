"""Coverage of nominal 90% intervals on simulated truth of the reference data's size and sparsity.

Two truths: the default model fitted without dates (four dimensions, overdispersed noise), and one dimension with the
published fit's parameters, scattered afresh. Each with release dates and without. A tenth of the cells is held out and
predicted.

Then worlds of one dimension that break a supposition: chance levels of 0 to ½ that nobody states (estimated; estimated
with the true shares of the levels for a prior, which no prior can better; taken as 0 as before; and stated, so that
what not knowing them costs can be read off), low scores half of which go unreported, and one benchmark entered twice.
``top``: bias of the best tenth, in standard deviations; ``new bias``: predicted minus measured score.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.measured import percent_range, record
from benchmarks.stitch_data import finish, reference_scores
from mensura.stitching import Stitch, floors, stitch, to_date
from mensura.stitching.layout import levels, variance_shape
from mensura.stitching.positions import Positions, principal

WORLDS = (
    "chance unknown",
    "chance unknown, true prior",
    "chance taken as 0",
    "chance given",
    "selective reporting",
    "a benchmark twice",
)
COLUMNS = ("capability", "new score", "rmse of C", "mean se", "top", "new bias")
LEVELS = [0.0, 0.0, 0.1, 0.25, 0.5]
"""Chance levels that benchmarks are given, each as likely."""
CERTAIN = 1e6
"""Pseudo-benchmarks behind a prior that nothing moves."""
HIDDEN = 0.5
"""Share of the scores below their expectation that go unreported in the world of selective reporting."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=8, help="simulated data sets per row")
    arguments.add_argument("--seed", type=int, default=7, help="first seed; other seeds are other data sets")
    options = arguments.parse_args()
    scores = reference_scores().select("model", "benchmark", "score", "release_date")
    base, published = stitch(scores), stitch(scores, method="rosetta", anchor_benchmark="Winogrande")
    undated = stitch(scores.drop("release_date").with_columns(chance=pl.lit(0.0)))
    figures: dict[str, object] = {}
    print(f"{'truth':28}{'dates':8}" + "".join(f"{name:>12}" for name in COLUMNS))
    total = []
    for truth, fitted, simulate in (
        ("four dimensions", undated, four_dimensions),
        ("one dimension", published, one_dimension),
    ):
        for dated in (True, False):
            rng = np.random.default_rng(options.seed)
            runs = np.array([one_run(base, *simulate(fitted, rng), rng, dated) for _ in range(options.runs)])
            mean = runs.mean(axis=0)
            total.append(mean)
            name = f"{truth}, {'dates' if dated else 'no dates'}"
            figures[name] = {"capability": mean[0], "new_score": mean[1]}
            print(line(truth, dated, mean), flush=True)
    overall = np.mean(total, axis=0)
    print(f"{'mean':36}{overall[0]:12.3f}{overall[1]:12.3f}", flush=True)
    for world in WORLDS:
        rng = np.random.default_rng(options.seed + 1)
        with true_shares(world == "chance unknown, true prior"):
            runs = [one_run(base, *one_dimension(published, rng), rng, True, world) for _ in range(options.runs)]
        mean = np.array(runs).mean(axis=0)
        figures[world] = {"capability": mean[0], "new_score": mean[1], "top": mean[4], "new_bias": mean[5]}
        print(line(world, True, mean), flush=True)
    figures |= {"capability_coverage": overall[0], "new_score_coverage": overall[1]}
    finish(figures)
    kinds = [row for name, row in figures.items() if isinstance(row, dict) and name != "chance unknown, true prior"]
    record("stitch.capability", percent_range(row["capability"] for row in kinds))
    record("stitch.capability_mean", f"{overall[0]:.0%}")
    record("stitch.capability_selective", f"{kinds[-2]['capability']:.0%}")
    record("stitch.new_score", percent_range(row["new_score"] for row in kinds))
    record("stitch.new_score_mean", f"{overall[1]:.0%}")
    record("stitch.selective_bias", f"{kinds[-2]['new_bias']:.3f}")


@contextmanager
def true_shares(known: bool) -> Iterator[None]:
    """Let the prior of unstated chance levels be how often each was drawn, and stay so."""
    before = floors.FIRST_WEIGHTS, floors.PRIOR_BENCHMARKS
    if known:
        drawn = np.abs(floors.FLOORS[:, None] - LEVELS).argmin(axis=0)
        shares = np.bincount(drawn, minlength=floors.FLOORS.size) / len(LEVELS)
        floors.FIRST_WEIGHTS, floors.PRIOR_BENCHMARKS = np.maximum(shares, np.finfo(float).tiny), CERTAIN
    try:
        yield
    finally:
        floors.FIRST_WEIGHTS, floors.PRIOR_BENCHMARKS = before


def four_dimensions(fitted: Stitch, rng: np.random.Generator) -> tuple[Positions, np.ndarray]:
    """Truth as the default fits it without dates, so that no release date is built into it."""
    return fitted.model.positions, fitted.model.fitted.dispersion


def one_dimension(fitted: Stitch, rng: np.random.Generator) -> tuple[Positions, np.ndarray]:
    at = fitted.estimate
    C = at.capability + rng.normal(0, 0.15, at.capability.shape)
    D = at.difficulty + rng.normal(0, 0.2, at.difficulty.shape)
    slope = at.slope * np.exp(rng.normal(0, 0.2, at.slope.shape))
    return Positions(C[:, :, None], np.stack((-slope * D, slope), axis=2)), np.full(D.size, 0.02)


def line(truth: str, dated: bool, mean: np.ndarray) -> str:
    return f"{truth:28}{dated!s:8}" + "".join(f"{value:12.3f}" for value in mean)


def one_run(
    base: Stitch, truth: Positions, dispersion: np.ndarray, rng: np.random.Generator, dated: bool, world: str = ""
) -> tuple[float, ...]:
    """Simulate, fit nine tenths, and count what the intervals hold."""
    data, layout = base.data, base.data.layout
    chance = np.zeros(layout.n_benchmarks)
    if world.startswith("chance"):
        chance = rng.choice(LEVELS, layout.n_benchmarks)
    f, _ = levels(chance[layout.cols], np.ones(1), truth.eta(layout.rows, layout.cols)[0])
    variance = np.minimum(dispersion[layout.cols] * variance_shape(f), 0.5 * f * (1 - f) + 1e-6)
    size = np.maximum(f * (1 - f) / variance - 1, 0.5)
    score = rng.beta(np.maximum(f * size, 1e-3), np.maximum((1 - f) * size, 1e-3))
    frame = pl.DataFrame(
        {
            "subject": np.array(data.subjects)[layout.rows],
            "benchmark": np.array(data.benchmarks)[layout.cols],
            "score": np.clip(np.nan_to_num(score), 0, 1),
        }
    )
    if not world.startswith("chance unknown"):  # also where it is taken to be 0
        stated = chance if world == "chance given" else np.zeros_like(chance)
        frame = frame.with_columns(chance=stated[layout.cols])
    if dated:
        days = pl.Series("released", [to_date(year) for year in data.years[layout.rows]])
        frame = frame.with_columns(days)
    held = pl.Series(rng.permutation(score.size) < score.size // 10)
    known = frame.filter(~held)
    if world == "selective reporting":
        low = ((score - f) / np.sqrt(variance))[~held.to_numpy()] < 0
        known = known.filter(pl.Series(~low | (rng.random(low.size) > HIDDEN)))
    if world == "a benchmark twice":
        name = data.benchmarks[int(rng.integers(layout.n_benchmarks))]
        again = known.filter(pl.col("benchmark") == name).with_columns(benchmark=pl.lit(f"{name} again"))
        known = pl.concat([known, again])
    fit = stitch(known, parts="keep")
    rows = [data.subjects.index(name) for name in fit.data.subjects]
    cols = [data.benchmarks.index(name) for name in fit.data.benchmarks if name in data.benchmarks]
    shares = fit.model.shares[[name in data.benchmarks for name in fit.data.benchmarks]]
    shown = principal(Positions(truth.theta[:, rows], truth.phi[:, cols]), shares=shares)
    true = fit.scale.apply(shown).capability[0]
    drawn = fit.laplace.positions.capability
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    predicted, seen = fit.predict(frame.filter(held)), frame.filter(held)["score"]
    inside = ((predicted["low"] <= seen) & (seen <= predicted["high"])).mean()
    error = fit.estimate.capability[0] - true
    top = float(error[true >= np.quantile(true, 0.9)].mean())
    return (
        float(((low <= true) & (true <= high)).mean()),
        float(inside),
        float(np.sqrt(np.mean(error**2))),
        float(drawn.std(axis=0).mean()),
        top,
        float((predicted["score"] - seen).mean()),
    )


if __name__ == "__main__":
    run(main)
