"""Does the pace of the frontier hang on which benchmarks are included? Some dropped at random, optimised ones apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching import (
    ScoreSet,
    encode,
    penalty_weight,
    published_anchor,
    read_any,
    shift_to_anchor,
    solve_rosetta,
)
from mensura.stitching.convergence import warn_unconverged
from mensura.trends.capabilities import FEWEST_SUBJECTS
from mensura.trends.lines import frontier_slopes

DROPPED = 0.3
"""Share of the benchmarks left out, as published."""
DRAWS = 100
"""Random choices of benchmarks."""
QUANTILES = (0.025, 0.5, 0.975)


@dataclass(frozen=True, eq=False, repr=False)
class Inclusion(Result):
    """The frontier's slope per year under other choices of benchmarks (published method).

    ``benchmark_inclusion``: quantile, slope_per_year, when 30% of the benchmarks are dropped. ``optimised_benchmarks``:
    side, benchmarks, slope_per_year, where the scores say which benchmarks labs optimise for. ``unconverged`` of
    ``refits`` did not arrive.
    """

    benchmark_inclusion: pl.DataFrame
    optimised_benchmarks: pl.DataFrame | None
    refits: int
    unconverged: int

    TABLES: ClassVar[tuple[str, ...]] = ("benchmark_inclusion", "optimised_benchmarks")

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        low, middle, high = self.benchmark_inclusion["slope_per_year"]
        return f"frontier {middle:.3f} a year with {DROPPED:.0%} of the benchmarks dropped ({low:.3f} to {high:.3f})"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many refits did not arrive."""
        return warn_unconverged(self.unconverged, self.refits, "fits to chosen benchmarks")

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables there are, by name."""
        return {name: table for name, table in super().tables().items() if table is not None}


def check_inclusion(
    scores: Any = None,  # noqa: ANN401
    *,
    anchor_benchmark: str | None = None,
    seed: int = 0,
) -> Inclusion:
    """Refit the published method to chosen benchmarks and take the slope of the frontier each time.

    Scores need release dates; with a column ``optimised`` (whether labs optimise for the benchmark) the two kinds of
    benchmark are compared. Slopes of the first table are on the scale of ``anchor_benchmark`` (default: the one with
    most scores), which is never dropped.
    """
    frame, _ = read_any(scores)
    data = encode(frame, "max")
    dated = int(np.isfinite(data.years).sum())
    if dated < FEWEST_SUBJECTS:
        raise MensuraError(f"scores: {dated} subjects have a release date; a frontier needs at least {FEWEST_SUBJECTS}")
    table, refits, lost = _dropping(data, published_anchor(data, anchor_benchmark), seed)
    optimised = None
    if "optimised" in frame.columns:
        optimised, more, also_lost = _optimised_apart(data, _optimised(frame, data), seed)
        refits, lost = refits + more, lost + also_lost
    return Inclusion(table, optimised, refits, lost)


def _dropping(data: ScoreSet, anchor: int, seed: int) -> tuple[pl.DataFrame, int, int]:
    """Quantiles of the slope when some benchmarks, never the anchor, are dropped at random; refits, unconverged."""
    rng = np.random.default_rng(seed)
    others = np.array([b for b in range(len(data.benchmarks)) if b != anchor])
    kept = np.ones((DRAWS, len(data.benchmarks)), dtype=bool)
    for row in kept:
        row[rng.choice(others, int(DROPPED * len(data.benchmarks)), replace=False)] = False
    slopes, lost = _slopes(data, kept, anchor)
    return pl.DataFrame({"quantile": QUANTILES, "slope_per_year": np.quantile(slopes, QUANTILES)}), DRAWS, lost


def _optimised_apart(data: ScoreSet, optimised: Mask, seed: int) -> tuple[pl.DataFrame, int, int]:
    """Slope on benchmarks labs optimise for and on the others, beside random splits of the same sizes.

    Slopes are in standard deviations of all subjects' capabilities per year; the last row is the share of random splits
    whose two sides are at least as far apart.
    """
    if optimised.all() or not optimised.any():
        raise MensuraError(
            "optimised: must be true for some benchmarks and false for others; drop the column otherwise"
        )
    rng = np.random.default_rng(seed)
    splits = np.stack([optimised, *(rng.permutation(optimised) for _ in range(DRAWS))])
    (ours, lost), (others, also_lost) = (_slopes(data, side, None) for side in (splits, ~splits))
    gap = np.abs(ours - others)
    table = pl.DataFrame(
        {
            "side": ["optimised for", "not optimised for", "random splits at least as far apart"],
            "benchmarks": [int(optimised.sum()), int((~optimised).sum()), None],
            "slope_per_year": [ours[0], others[0], float((gap[1:] >= gap[0]).mean())],
        }
    )
    return table, 2 * len(splits), lost + also_lost


def _slopes(data: ScoreSet, kept: Mask, anchor: int | None) -> tuple[Floats, int]:
    """Frontier slope of every set of kept benchmarks, on the anchor's scale or in standard deviations; unconverged."""
    layout = data.layout
    weights = np.take(kept.astype(float), layout.cols, axis=1)
    seen = layout.over_subjects(weights) > 0
    penalty = np.array(
        [
            penalty_weight(int(s.sum()), int(k.sum()), anchored=anchor is not None)
            for s, k in zip(seen, kept, strict=True)
        ]
    )
    fits = solve_rosetta(layout, data.y, anchor=anchor, weights=weights, penalty=penalty)
    lost = int(np.count_nonzero(~fits.converged))
    if anchor is not None:
        fits = shift_to_anchor(fits, anchor)
    dated = np.flatnonzero(np.isfinite(data.years))
    order: Ints = dated[np.argsort(data.years[dated], kind="stable")]
    capability = np.where(seen, fits.C, np.nan)[:, order]
    slopes = frontier_slopes(data.years[order], capability)
    return (slopes if anchor is not None else slopes / np.nanstd(capability, axis=1)), lost


def _optimised(frame: pl.DataFrame, data: ScoreSet) -> Mask:
    by_benchmark = frame.group_by("benchmark").agg(pl.col("optimised").cast(pl.Boolean).any())
    flags = dict(by_benchmark.iter_rows())
    return np.array([bool(flags[name]) for name in data.benchmarks])
