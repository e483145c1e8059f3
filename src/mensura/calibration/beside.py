"""What speaks against calibrated lines: how well they predict people, and bases of open items beside published ones."""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.calibration.bases import calibrate
from mensura.calibration.open_pool import (
    ESTIMATES,
    HELD_OUT,
    READERS,
    calibration_name,
    open_demands,
    open_rates,
    quality_of,
)
from mensura.core.arrays import just_below
from mensura.evidence import load
from mensura.scale import Calibration


def doubt_of_lines(lines: Calibration) -> str:
    """Return why the lines of a calibration place nobody among people; nothing where they predict people well enough.

    The bar is what the largest demand does alone, without any calibration. The open lines were fitted on the items that
    judge them, so fits without the pool judged speak for them.
    """
    rows = quality_of(lines)
    if not rows.height or not np.isfinite(rows["by_pools"][0]):
        return "" if not rows.height else "no open item tells how well these lines predict people"
    skill = HELD_OUT if calibration_name(lines) == "open" else float(rows["by_pools"][0])
    if skill > just_below(rows["largest"][0]):
        return ""
    return (
        f"the rank correlation of these lines with people's success is {skill:.2g}, that of the largest demand alone "
        f"{rows['largest'][0]:.2f}: no rarity, percentile or IQ"
    )


def bases_beside(draws: int = 1000) -> pl.DataFrame:
    """Compare the published bases with those of the open items, with and without a language model's world rates.

    Parameters
    ----------
    draws
        Draws of each posterior.

    Returns
    -------
    polars.DataFrame
        dimension (a published group), name, published (its base in the paper), base, low, high and verdict of the open
        items, asked (world rates judged by a language model alone), carried (without any language model).

    Examples
    --------
    >>> from mensura.calibration import bases_beside
    >>> bases_beside(draws=50).columns[:4]
    ['dimension', 'name', 'published', 'base']

    """
    made = {
        estimate: calibrate(open_rates(estimate), open_demands(), groups=True, readers=READERS, draws=draws)
        for estimate in ESTIMATES
    }
    lines = [(line.code, line.dimension, line.base) for line in load().calibration]
    table = pl.DataFrame(lines, schema=["dimension", "name", "published"], orient="row")
    own = made["both"].together.select("dimension", "base", "low", "high", "verdict")
    for part in (own, *(made[name].together.select("dimension", pl.col("base").alias(name)) for name in ESTIMATES[1:])):
        table = table.join(part, on="dimension", maintain_order="left")
    return table
