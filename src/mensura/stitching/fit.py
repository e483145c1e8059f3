"""``stitch``: subjects and benchmarks on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.frames import as_frame, require_columns, text_table
from mensura.stitching.rosetta import RIDGE, Solution, penalty_weight, shift_to_anchor, solve_rosetta
from mensura.stitching.scores import Duplicates, ScoreSet, encode, read_scores


@dataclass(frozen=True)
class Stitch:
    """A stitched fit."""

    method: str
    capabilities: pl.DataFrame
    benchmarks: pl.DataFrame
    scores: ScoreSet
    solution: Solution

    def __str__(self) -> str:
        return f"{self.method}\n{text_table(self.capabilities)}"

    def predict(self, pairs: Any) -> pl.DataFrame:  # noqa: ANN401
        """Expected score of each pair (subject, benchmark)."""
        frame = as_frame(pairs, name="pairs")
        if "subject" not in frame.columns and "model" in frame.columns:
            frame = frame.rename({"model": "subject"})
        require_columns(frame, ["subject", "benchmark"], name="pairs")
        found = (
            frame.select("subject", "benchmark")
            .with_columns(
                C=pl.col("subject").replace_strict(
                    dict(zip(self.capabilities["subject"], self.capabilities["capability"], strict=True)),
                    default=None,
                )
            )
            .join(self.benchmarks, on="benchmark", how="left", maintain_order="left")
        )
        eta = found["slope"] * (found["C"] - found["difficulty"])
        return found.select("subject", "benchmark").with_columns(score=1 / (1 + (-eta).exp()))


def stitch(
    scores: Any,  # noqa: ANN401
    *,
    method: str = "rosetta",
    anchor_benchmark: str | None = None,
    anchor_subjects: Mapping[str, float] | None = None,
    duplicates: Duplicates = "max",
    ridge: float = RIDGE,
) -> Stitch:
    """Put subjects and benchmarks on one scale."""
    data = encode(read_scores(scores), duplicates)
    anchor = None
    if anchor_benchmark is not None:
        if anchor_benchmark not in data.benchmarks:
            raise MensuraError(
                f"anchor_benchmark: {anchor_benchmark!r} has no scores; benchmarks: {', '.join(data.benchmarks)}"
            )
        anchor = data.benchmarks.index(anchor_benchmark)
    elif anchor_subjects is None:
        anchor = int(np.argmax(np.bincount(data.layout.cols)))
    penalty = penalty_weight(
        len(data.subjects), len(data.benchmarks), ridge=ridge, anchored=anchor is not None
    )
    solution = solve_rosetta(data.layout, data.y, anchor=anchor, weights=data.counts, penalty=penalty)
    if anchor is not None:
        solution = shift_to_anchor(solution, anchor)
    C, D, slope = solution.C[0], solution.D[0], solution.slope[0]
    if anchor_subjects is not None:
        (first, low), (second, high) = anchor_subjects.items()
        i, j = data.subjects.index(first), data.subjects.index(second)
        unit = (high - low) / (C[j] - C[i])
        C, D, slope = low + unit * (C - C[i]), low + unit * (D - C[i]), slope / unit
    capabilities = pl.DataFrame({"subject": data.subjects, "capability": C}).sort(
        "capability", descending=True
    )
    benchmarks = pl.DataFrame({"benchmark": data.benchmarks, "difficulty": D, "slope": slope})
    return Stitch(method, capabilities, benchmarks, data, solution)
