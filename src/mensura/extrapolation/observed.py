"""Focal rates as a method needs them: aligned with items, inside 0 and 1, with their sampling error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.frames import require_columns

if TYPE_CHECKING:
    from mensura.extrapolation.assumptions import Floats


@dataclass(frozen=True)
class Observed:
    """The focal group's rates, one entry per item.

    ``rate``: as observed; exactly 0 or 1 becomes ``(correct + ½) / (n + 1)``. ``n``: NaN where unknown.
    ``floor``: one over the number of options, 0 where unknown or open. ``slope``: NaN where unknown.
    """

    items: list[str]
    rate: Floats
    n: Floats
    floor: Floats
    slope: Floats
    domains: list[str | None]
    warnings: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.items)

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Return items × draws of the true rate under Jeffreys' prior; fixed where n is unknown."""
        drawn = np.repeat(self.rate[:, None], count, axis=1)
        known = np.flatnonzero(np.isfinite(self.n))
        right = np.rint(self.rate[known] * self.n[known])
        shape = (known.size, count)
        drawn[known] = rng.beta(right[:, None] + 0.5, (self.n[known] - right)[:, None] + 0.5, shape)
        return np.clip(drawn, 1e-9, 1 - 1e-9)


def observe(items: pl.DataFrame, focal_rates: pl.DataFrame) -> Observed:
    """Check the focal rates and join them with the items' domain, number of options and slope."""
    require_columns(items, ["item"], name="items")
    require_columns(focal_rates, ["item", "rate"], name="focal rates")
    if focal_rates.is_empty():
        raise MensuraError("focal rates: no rows; there is nothing to extrapolate")
    if focal_rates["item"].is_duplicated().any():
        twice = focal_rates.filter(pl.col("item").is_duplicated())["item"][0]
        raise MensuraError(f"focal rates: item {twice!r} occurs more than once; give the rates of one group")
    wanted = [name for name in ("domain", "n_options", "slope") if name in items.columns]
    table = focal_rates.join(items.select("item", *wanted), on="item", how="left", maintain_order="left")
    rate = table["rate"].cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    if not np.all((rate >= 0) & (rate <= 1)):
        worst = table.filter(~pl.col("rate").is_between(0, 1).fill_null(False)).row(0, named=True)
        raise MensuraError(f"focal rates: rate must lie between 0 and 1, got {worst['rate']} for {worst['item']!r}")
    n = _column(table, "n")
    if np.any(n <= 0):
        raise MensuraError(f"focal rates: n must be above 0, got 0 for {table.filter(pl.col('n') <= 0)['item'][0]!r}")
    rate, warnings = _inside(rate, n, table["item"])
    options = _column(table, "n_options")
    floor = np.where(options >= 2, 1 / np.maximum(options, 2), 0.0)
    below = int(np.sum(rate < floor))
    if below:
        warnings.append(
            f"{below} items are answered worse than chance: nothing says how knowledge would change them, "
            "so their rate is carried over as the rate of guessing"
        )
    slope = _column(table, "slope")
    if np.any(slope <= 0):
        raise MensuraError("items: slope must be above 0; leave it empty where it is unknown")
    domains = table["domain"].to_list() if "domain" in table.columns else [None] * table.height
    return Observed(table["item"].to_list(), rate, n, floor, slope, domains, tuple(warnings))


def _inside(rate: Floats, n: Floats, items: pl.Series) -> tuple[Floats, list[str]]:
    """Move rates of exactly 0 and 1 inside, by half a right or wrong answer."""
    edge = (rate == 0) | (rate == 1)
    if not edge.any():
        return rate, []
    if np.any(edge & np.isnan(n)):
        first = items.to_list()[int(np.flatnonzero(edge & np.isnan(n))[0])]
        raise MensuraError(
            f"focal rates: {first!r} has a rate of exactly {rate[edge][0]:.0f} and no n; "
            "give n (how many answered), so that it can be read as (correct + ½) / (n + 1)"
        )
    moved = np.where(edge, (rate * n + 0.5) / (n + 1), rate)
    return moved, [f"{int(edge.sum())} rates of exactly 0 or 1 read as (correct + ½) / (n + 1)"]


def _column(table: pl.DataFrame, name: str) -> Floats:
    """Return a numeric column with NaN for unknown, all NaN where there is none."""
    if name not in table.columns:
        return np.full(table.height, np.nan)
    return table[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
