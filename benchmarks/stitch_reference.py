"""Agreement of ``method="rosetta"`` with the published fit taken to its optimum, and what the penalty does to it."""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.published_robustness import sens5
from benchmarks.stitch_data import finish, reference_scores, table
from mensura.stitching import stitch
from mensura.trends import frontier_line


def main() -> None:
    scores, reference = reference_scores(), table("reference_fit")
    fit = stitch(scores, method="rosetta", anchor_benchmark="Winogrande")
    figures: dict[str, object] = {
        "cost": float(fit.model.solution.cost[0]) - 0.5 * fit.model.penalty,
        "gradient": float(fit.model.solution.gradient[0]),
    }
    for kind, found, key in (
        ("capability", fit.capabilities, "subject"),
        ("difficulty", fit.benchmarks, "benchmark"),
        ("slope", fit.benchmarks, "benchmark"),
    ):
        figures[f"largest_difference_{kind}"] = difference(found, reference, key, kind, f"{kind}_converged")
    ranks = fit.laplace.ranks
    figures |= {"models": ranks.height, "without_rank": ranks["rank"].null_count()}
    capabilities, difficulties = sens5(fit)
    for kind, found, key in (("capability", capabilities, "subject"), ("difficulty", difficulties, "benchmark")):
        for end, name in (("low", "lower"), ("high", "upper")):
            values = differences(found, reference, key, end, f"{kind}_sens5_{name}")
            figures[f"sens5_{kind}_{name}_median"] = float(np.nanmedian(values))
    narrow = np.median((capabilities["high"] - capabilities["low"]).to_numpy())
    wide = np.median((fit.bootstrap(200).capabilities.select(pl.col("high") - pl.col("low"))).to_numpy())
    figures["bootstrap_over_sens5"] = float(wide / narrow)
    for ridge in (1e-4, 1e-3, 1e-2, 0.1, 0.5):
        other = stitch(scores, method="rosetta", anchor_benchmark="Winogrande", ridge=ridge)
        figures[f"frontier_slope_ridge_{ridge:g}"] = frontier_line(other).slope
    for name, value in figures.items():
        print(f"{name:42} {value:.6g}")
    print("first by estimate: " + ", ".join(ranks["subject"].head(3)))
    finish(figures)


def differences(found: pl.DataFrame, reference: pl.DataFrame, key: str, column: str, kind: str) -> np.ndarray:
    expected = reference.filter(pl.col("kind") == kind).select(pl.col("name").alias(key), "value")
    joined = found.join(expected, on=key, how="inner")
    assert joined.height == expected.height == found.height
    return (joined[column] - joined["value"]).abs().fill_null(np.nan).to_numpy()


def difference(found: pl.DataFrame, reference: pl.DataFrame, key: str, column: str, kind: str) -> float:
    return float(differences(found, reference, key, column, kind).max())


if __name__ == "__main__":
    run(main)
