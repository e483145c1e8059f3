"""Several abilities behind one set of items: found from the answers, or given as a table of items and dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import as_frame, require_columns
from mensura.core.results import Result
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimensions import MOST, DimensionFitted, fit_dimensions_held
from mensura.responses.irt.rotation import rotate
from mensura.responses.irt.shards import dense
from mensura.responses.reading import read_responses
from mensura.responses.result import Z90, ability_table
from mensura.responses.rules import CountRules
from mensura.responses.table import ResponseTable

GENERAL = "general"
"""The ability behind all items of a bifactor model."""
_PROBIT = 1.702
"""Logits per standard deviation of a normal curve: puts slopes on the scale of loadings."""


@dataclass(frozen=True, eq=False, repr=False)
class DimensionFit(Result):
    """A fit of several abilities.

    ``subjects``: subject, dimension, ability, low, high (90%), se, group. ``items``: item, dimension, discrimination,
    loading, low, high, se. ``intercepts``: item, intercept, se, n, rate. ``correlations``: dimension, other,
    correlation, low, high, se. Abilities have mean 0 and standard deviation 1. Errors are blank where dimensions were
    found from the answers.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "items", "intercepts", "correlations", "log")

    subjects: pl.DataFrame
    items: pl.DataFrame
    intercepts: pl.DataFrame
    correlations: pl.DataFrame
    log: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    warnings: tuple[str, ...] = field(default=())

    @property
    def heading(self) -> str:
        """How many dimensions, how much they were fitted to, and whether the fit converged."""
        ended = f"in {self.passes} passes" if self.converged else f"NOT converged in {self.passes} passes"
        count = self.items["dimension"].n_unique()
        people = self.subjects["subject"].n_unique()
        sizes = f"{people:,} subjects × {self.intercepts.height:,} items"
        return f"{count} dimensions, {sizes}, log likelihood {self.log_likelihood:,.1f}, {ended}"


@check_arguments
def fit_dimensions(
    responses: Any,  # noqa: ANN401
    dimensions: Any,  # noqa: ANN401
    *,
    bifactor: bool = False,
    rotation: str = "varimax",
    rules: CountRules | None = None,
    by: str | None = None,
) -> DimensionFit:
    """Fit the 2PL model with several abilities.

    ``dimensions``: how many (2 to 4), found from the answers and turned by ``rotation`` (varimax, oblimin or none); or
    a table of ``item`` and ``dimension``, one row per pair. With ``bifactor``, all items also depend on a general
    ability, and no abilities correlate. There may be any number of dimensions then, if each item has at most one.
    """
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses, rules=rules, by=by)
    right = dense(table.right).astype(np.float64)
    trials = None if table.trials is None else dense(table.trials).astype(np.float64)
    rates = table.items["rate"].to_numpy()
    if isinstance(dimensions, int) or (isinstance(dimensions, str) and dimensions.isdigit()):
        count = int(dimensions)
        if not 2 <= count <= MOST or bifactor:
            raise MensuraError(
                f"dimensions: got {count}; expected 2 to {MOST}, or a table of item and dimension (bifactor needs one)"
            )
        names = [f"d{one + 1}" for one in range(count)]
        fitted = fit_dimensions_held(right, trials, _exploratory(right, trials, rates, count))
        return _explored(table, fitted, names, rotation)
    names, free = _pattern(as_frame(_read(dimensions), name="dimensions"), table, bifactor=bifactor)
    begin = DimensionItems(
        free.astype(np.float64), _intercepts(rates), np.eye(len(names)), free, not bifactor and len(names) > 1
    )
    fitted = fit_dimensions_held(right, trials, begin)
    return _result(table, fitted, names, fitted.items.slopes, fitted.items.correlation, fitted.covariance)


def _read(dimensions: Any) -> Any:  # noqa: ANN401
    if isinstance(dimensions, str | Path) and not Path(dimensions).is_file():
        raise MensuraError(f"dimensions: got {str(dimensions)!r}; expected a number from 2 to {MOST} or a file")
    return dimensions


def _intercepts(rates: Floats) -> Floats:
    within = np.clip(rates, 0.02, 0.98)
    odds: Floats = 1.2 * np.log(within / (1.0 - within))
    return odds


def _exploratory(right: Floats, trials: Floats | None, rates: Floats, count: int) -> DimensionItems:
    """Start from the largest principal components of the answers."""
    taken = np.ones_like(right) if trials is None else trials
    off = right - taken * rates
    spread = np.sqrt(np.maximum(taken.sum(axis=0) * rates * (1.0 - rates), 1e-9))
    values, vectors = np.linalg.eigh((off / spread).T @ (off / spread))
    slopes = _PROBIT * vectors[:, -count:][:, ::-1] * np.sqrt(np.maximum(values[-count:][::-1], 0.1))
    slopes = np.clip(slopes * np.sign(slopes.sum(axis=0)), -2.0, 2.0)
    return DimensionItems(slopes, _intercepts(rates), np.eye(count), np.ones_like(slopes, dtype=bool), correlated=False)


def _pattern(pairs: pl.DataFrame, table: ResponseTable, *, bifactor: bool) -> tuple[list[str], Mask]:
    """Return the dimensions of a table and which items depend on them."""
    require_columns(pairs, ["item", "dimension"], name="dimensions")
    items = table.items["item"].to_list()
    named = pairs.select(pl.col("item", "dimension").cast(pl.String)).drop_nulls()
    unknown = [item for item in named["item"].unique(maintain_order=True) if item not in set(items)]
    if unknown:
        raise MensuraError(f"dimensions: no answers to {listed_names(unknown)}; expected items of the responses")
    own = named["dimension"].unique(maintain_order=True).to_list()
    names = [GENERAL, *own] if bifactor else own
    free = np.zeros((len(items), len(names)), dtype=bool)
    places = {item: place for place, item in enumerate(items)}
    for item, dimension in named.iter_rows():
        free[places[item], names.index(dimension)] = True
    free[:, :1] |= bifactor
    lonely = [item for item, count in zip(items, np.sum(free, axis=1).tolist(), strict=True) if not count]
    if lonely:
        raise MensuraError(
            f"dimensions: no dimension for {listed_names(lonely)}; expected one. Add a row for each item"
        )
    for place, name in enumerate(names):
        if int(np.sum(free[:, place])) < 2:
            raise MensuraError(f"dimensions: {name!r} has one item; expected at least 2. Add items to it")
    return names, free


def _explored(table: ResponseTable, fitted: DimensionFitted, names: list[str], rotation: str) -> DimensionFit:
    slopes, correlation = rotate(fitted.items.slopes, rotation)
    turn = np.linalg.lstsq(slopes, fitted.items.slopes, rcond=None)[0]
    mean = fitted.places.mean @ turn.T
    covariance = turn @ fitted.places.covariance @ turn.T
    turned = fitted._replace(places=fitted.places._replace(mean=mean, covariance=covariance))
    return _result(table, turned, names, slopes, correlation, None)


def _result(
    table: ResponseTable,
    fitted: DimensionFitted,
    names: Sequence[str],
    slopes: Floats,
    correlation: Floats,
    covariance: Floats | None,
) -> DimensionFit:
    p, count = fitted.items, len(names)
    errors = np.full((len(slopes), count + 1), np.nan)
    of_pairs = [np.nan] * (count * (count - 1) // 2)
    if covariance is not None:
        found = np.sqrt(np.diag(covariance))
        errors[p.estimated] = found[: int(p.estimated.sum())]
        of_pairs = [*found[int(p.estimated.sum()) :], *([0.0] * (0 if p.pairs else len(of_pairs)))]
    warnings = [] if fitted.converged else [f"not converged in {fitted.passes} passes; the numbers are the last ones"]
    if covariance is None and not p.free.all():
        warnings.append("the answers do not hold all slopes apart, so errors are blank; use fewer dimensions")
    pairs = [(one, other) for one in range(count) for other in range(one + 1, count)]
    rows = [
        (names[one], names[other], float(correlation[one, other]), error)
        for (one, other), error in zip(pairs, of_pairs, strict=True)
    ]
    return DimensionFit(
        _subjects(table, fitted, names),
        _items(table, names, slopes, correlation, errors, p.free),
        table.items.select(
            "item", pl.Series("intercept", p.intercepts), pl.Series("se", errors[:, -1]).fill_nan(None), "n", "rate"
        ),
        _with_ends(
            pl.DataFrame(
                rows,
                schema={"dimension": pl.String, "other": pl.String, "correlation": pl.Float64, "se": pl.Float64},
                orient="row",
            ),
            "correlation",
        ),
        table.log,
        fitted.evidence,
        fitted.passes,
        fitted.converged,
        tuple(warnings),
    )


def _with_ends(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table with the ends of 90% intervals before the errors; blank where there is no error."""
    known = table.with_columns(pl.col("se").fill_nan(None))
    low, high = (pl.col(name) + sign * Z90 * pl.col("se") for sign in (-1.0, 1.0))
    return known.with_columns(low=low, high=high).select(*[c for c in table.columns if c != "se"], "low", "high", "se")


def _subjects(table: ResponseTable, fitted: DimensionFitted, names: Sequence[str]) -> pl.DataFrame:
    mean, error = fitted.places.mean, np.sqrt(np.diagonal(fitted.places.covariance, axis1=1, axis2=2))
    return pl.concat(
        ability_table(
            table.subjects.select("subject", "group", dimension=pl.lit(name)), mean[:, place], error[:, place]
        )
        for place, name in enumerate(names)
    )


def _items(
    table: ResponseTable, names: Sequence[str], slopes: Floats, correlation: Floats, errors: Floats, free: Mask
) -> pl.DataFrame:
    size = np.sqrt(_PROBIT**2 + np.einsum("jd,de,je->j", slopes, correlation, slopes))
    parts = []
    for place, name in enumerate(names):
        kept = pl.Series(free[:, place])
        parts.append(
            table.items.select(
                "item",
                pl.lit(name).alias("dimension"),
                pl.Series("discrimination", slopes[:, place]),
                pl.Series("loading", slopes[:, place] / size),
                pl.Series("se", errors[:, place]),
            ).filter(kept)
        )
    return _with_ends(pl.concat(parts), "discrimination")
