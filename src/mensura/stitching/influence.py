"""How much one benchmark decides, and what each benchmark can tell about whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.stitching.response import levels

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch


def benchmark_influence(fit: Stitch) -> pl.DataFrame:
    """Refit without each benchmark in turn and say how far capabilities move, most influential benchmark first.

    Columns benchmark, scores, shift (mean absolute change of capability), largest, subject (who moves most), rank
    correlation with the whole fit, converged (whether the refit arrived). The anchor benchmark, which carries the
    scale, is left out of the turn.
    """
    layout = fit.data.layout
    turns = np.array([b for b in range(layout.n_benchmarks) if b != fit.scale.benchmark])
    weights = (layout.cols[None] != turns[:, None]).astype(float)
    found, converged = fit.model.refit(weights)
    refitted = fit.scaled(found)
    seen = np.stack([np.bincount(layout.rows, row, layout.n_subjects) > 0 for row in weights])
    whole = fit.estimate.capability[0]
    moved = np.where(seen, refitted.capability - whole, np.nan)
    most = np.nanargmax(np.abs(moved), axis=1)
    every = np.arange(len(turns))
    rank = _ranks(whole)
    table = {
        "benchmark": [fit.data.benchmarks[b] for b in turns],
        "scores": np.bincount(layout.cols)[turns],
        "shift": np.nanmean(np.abs(moved), axis=1),
        "largest": moved[every, most],
        "subject": [fit.data.subjects[i] for i in most],
        "rank_correlation": [float(np.corrcoef(_ranks(row), rank)[0, 1]) for row in refitted.capability],
        "converged": converged,
    }
    return pl.DataFrame(table).sort("shift", descending=True)


def information_curves(fit: Stitch, grid: Floats | None = None) -> pl.DataFrame:
    """Fisher information of one score about capability, for a subject with a typical profile.

    A benchmark is a sensor with a range: I_b(C) = f'(C)² / variance(f). Columns benchmark, capability, information
    (per squared unit of the scale); 1/√(sum over benchmarks) is the standard error a subject there would get.
    """
    C = fit.estimate.capability[0]
    if grid is None:
        margin = 0.25 * (C.max() - C.min())
        grid = np.linspace(C.min() - margin, C.max() + margin, 61)
    b = len(fit.data.benchmarks)
    cols = np.repeat(np.arange(b), grid.size)
    return pl.DataFrame(
        {
            "benchmark": np.repeat(np.array(fit.data.benchmarks), grid.size),
            "capability": np.tile(grid, b),
            "information": _information(fit, np.tile(grid, b), cols),
        }
    )


def subject_information(fit: Stitch) -> pl.DataFrame:
    """How much each score a subject has says about its capability: subject, benchmark, information, share."""
    layout = fit.data.layout
    table = pl.DataFrame(
        {
            "subject": np.array(fit.data.subjects)[layout.rows],
            "benchmark": np.array(fit.data.benchmarks)[layout.cols],
            "information": _information(fit, fit.estimate.capability[0][layout.rows], layout.cols),
        }
    )
    return table.with_columns(share=pl.col("information") / pl.col("information").sum().over("subject"))


def _information(fit: Stitch, capability: Floats, cols: Ints) -> Floats:
    phi, data = fit.estimate.phi[0][cols], fit.data
    f, slope = levels(data.chance[cols], data.ceiling[cols], phi[:, 0] + phi[:, 1] * capability, data.step)
    return np.asarray((slope * phi[:, 1]) ** 2 / fit.model.noise(f, cols))


def _ranks(values: Floats) -> Ints:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")
