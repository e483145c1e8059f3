"""Explain difficulties of items by their demands; the columns and tables that regressions share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.responses.result import ResponseFit
from mensura.scale import Z90


@dataclass(frozen=True, eq=False, repr=False)
class ItemExplanation(Result):
    """Show difficulties regressed on demands.

    Attributes
    ----------
    explained
        term, estimate, se, low, high (90%).
    sd, share
        What the demands leave, and the share of the variance that they explain.
    items
        How many there are.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("explained",)

    explained: pl.DataFrame
    sd: float
    share: float
    items: int

    @property
    def heading(self) -> str:
        """How much the demands explain."""
        share = f"{self.share:.0%} of the variance, {self.sd:.2f} left (sd)"
        return f"Difficulties of {self.items} items on demands: {share}"


@check_arguments
def explain_items(fit: ResponseFit, demands: Any) -> ItemExplanation:
    """Regress difficulties of items on their demands.

    Each difficulty counts by its own error and by the spread that demands leave (maximum likelihood).

    Parameters
    ----------
    fit
        The fit whose difficulties are explained.
    demands
        A table of ``item`` and numbers, such as levels.

    Returns
    -------
    ItemExplanation
        Change of difficulty per level, in standard deviations of abilities.

    Raises
    ------
    MensuraError
        If too few items of the fit have all these numbers.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.responses import explain_items, fit_responses
    >>> right = {f"q{k}": [int(row > k + (row * k) % 3) for row in range(12)] for k in range(6)}
    >>> fit = fit_responses(pl.DataFrame({"subject": list("abcdefghijkl"), **right}), model="rasch")
    >>> explain_items(fit, {"item": list(right), "level": [0, 1, 2, 3, 4, 6]}).explained["term"].to_list()
    ['intercept', 'level']

    """
    frame = as_frame(demands, name="demands")
    require_columns(frame, ["item"], name="demands")
    require_columns(fit.items, ["difficulty", "se_difficulty"], name="the items of the fit")
    chosen = [name for name, dtype in frame.schema.items() if dtype.is_numeric() and name != "item"]
    rows = fit.items.select("item", "difficulty", "se_difficulty").join(
        frame.with_columns(pl.col("item").cast(pl.String)).select("item", *chosen), on="item", maintain_order="left"
    )
    rows = rows.filter(pl.all_horizontal(pl.col(chosen).is_not_null()) & pl.col("se_difficulty").is_finite())
    if not chosen or rows.height < len(chosen) + 3:
        raise MensuraError(
            f"demands: {rows.height} items have {listed_names(chosen) or 'no columns'}; expected columns of numbers "
            f"and at least {len(chosen) + 3} items of the fit"
        )
    terms, x = design_columns(rows, chosen)
    y, variance = rows["difficulty"].to_numpy(), rows["se_difficulty"].to_numpy() ** 2
    spread, values, covariance = fit_spread(y, x, variance)
    without_demands = fit_spread(y, np.ones((len(y), 1)), variance)[0]
    share = max(0.0, 1.0 - spread / without_demands) if without_demands > 0.0 else 0.0
    table = estimates_table(terms, values, np.sqrt(np.diag(covariance)))
    return ItemExplanation(table, float(np.sqrt(spread)), share, rows.height)


def fit_spread(y: Floats, x: Floats, variance: Floats) -> tuple[float, Floats, Floats]:
    """Return the variance that a line leaves beside known errors (restricted likelihood), its values and covariance."""
    from scipy.optimize import minimize_scalar

    def solve(spread: float) -> tuple[float, Floats, Floats]:
        weight = 1.0 / (variance + spread)
        information = (x * weight[:, None]).T @ x
        values: Floats = np.asarray(np.linalg.solve(information, (x * weight[:, None]).T @ y), dtype=np.float64)
        off = y - x @ values
        loss = -np.sum(np.log(weight)) + weight @ off**2 + np.linalg.slogdet(information)[1]
        return float(loss), np.asarray(values), np.asarray(np.linalg.inv(information), dtype=np.float64)

    ends = (0.0, 2.0 * float(np.std(y)) + 1e-6)
    best = minimize_scalar(lambda root: solve(root**2)[0], bounds=ends, method="bounded")
    spread = 0.0 if solve(0.0)[0] <= best.fun else float(best.x**2)
    return (spread, *solve(spread)[1:])


def design_columns(rows: pl.DataFrame, on: Sequence[str]) -> tuple[list[str], Floats]:
    """Return the terms of a regression and their columns: numbers as they are, words one column per value."""
    terms, columns = ["intercept"], [np.ones(rows.height)]
    for name in on:
        if rows[name].dtype.is_numeric() or rows[name].dtype == pl.Boolean:
            terms.append(name)
            columns.append(rows[name].cast(pl.Float64).to_numpy())
            continue
        counts = rows[name].cast(pl.String).alias("").value_counts().sort("count", "", descending=[True, False])
        for value in sorted(counts[""].to_list()[1:]):
            terms.append(f"{name}: {value}")
            columns.append((rows[name].cast(pl.String) == value).cast(pl.Float64).to_numpy())
    x = np.column_stack(columns)
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise MensuraError(f"regress: {listed_names(list(on))} repeat one another or never vary; leave one out")
    return terms, x


def estimates_table(terms: Sequence[str], values: Floats, errors: Floats) -> pl.DataFrame:
    """Return term, estimate, se and the ends of 90% intervals."""
    low, high = values - Z90 * errors, values + Z90 * errors
    return pl.DataFrame({"term": list(terms), "estimate": values, "se": errors, "low": low, "high": high})
