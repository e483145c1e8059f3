"""Several abilities behind one set of items: found from the answers, or given as a table of items and dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.responses.dimension_answers import PROBIT, DimensionAnswers, dimension_answers
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import Places
from mensura.responses.irt.dimensions import MOST, DimensionFitted, fit_dimensions_held
from mensura.responses.irt.rotation import rotate
from mensura.responses.result import Z90, ability_table
from mensura.responses.rules import CountRules

GENERAL = "general"
"""The ability behind all items of a bifactor model."""
_OF_INTERCEPTS = ("item", "category", "intercept", "se", "n", "rate", "share")


class FittedDimensions(NamedTuple):
    """What was fitted, and the fit: items and abilities after the rotation."""

    data: DimensionAnswers
    items: DimensionItems
    places: Places


@dataclass(frozen=True, eq=False, repr=False)
class DimensionFit(Result):
    """A fit of several abilities.

    ``subjects``: subject, dimension, ability, low, high (90%), se, group. ``items``: item, dimension, discrimination,
    loading, low, high, se. ``intercepts``: item, intercept, se, n, rate; of items with several categories one row per
    category above the lowest: item, category, intercept, se, n, share. ``correlations``: dimension, other,
    correlation, low, high, se. Abilities have mean 0 and standard deviation 1. Errors are blank where dimensions were
    found from the answers. ``answers``: what was fitted, for a regression.
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
    answers: FittedDimensions
    warnings: tuple[str, ...] = field(default=())

    @property
    def heading(self) -> str:
        """How many dimensions, how much they were fitted to, and whether the fit converged."""
        ended = f"in {self.passes} passes" if self.converged else f"NOT converged in {self.passes} passes"
        count = self.items["dimension"].n_unique()
        people = self.subjects["subject"].n_unique()
        sizes = f"{people:,} subjects × {self.intercepts['item'].n_unique():,} items"
        model = "" if "rate" in self.intercepts.columns else f"{self.answers.items.model}, "
        return f"{model}{count} dimensions, {sizes}, log likelihood {self.log_likelihood:,.1f}, {ended}"


@check_arguments
def fit_dimensions(
    responses: Any,  # noqa: ANN401
    dimensions: Any,  # noqa: ANN401
    *,
    model: str = "2pl",
    bifactor: bool = False,
    rotation: str = "varimax",
    rules: CountRules | None = None,
    by: str | None = None,
    header: bool = True,
) -> DimensionFit:
    """Fit several abilities behind right and wrong answers (``2pl``), ``graded`` or ``partial-credit`` ones.

    ``dimensions``: how many (2 to 4), found from the answers and turned by ``rotation`` (varimax, oblimin or none); or
    a table of ``item`` and ``dimension``, one row per pair. With ``bifactor``, all items also depend on a general
    ability, and no abilities correlate. There may be any number of dimensions then, if each item has at most one.
    ``header``: whether a CSV file names its columns.
    """
    answers = dimension_answers(responses, model, rules=rules, by=by, header=header)
    if isinstance(dimensions, int) or (isinstance(dimensions, str) and dimensions.isdigit()):
        count = int(dimensions)
        if not 2 <= count <= MOST or bifactor:
            raise MensuraError(
                f"dimensions: got {count}; expected 2 to {MOST}, or a table of item and dimension (bifactor needs one)"
            )
        if len(answers.items) <= count:
            raise MensuraError(
                f"dimensions: got {count} for {len(answers.items)} items; expected more items than "
                "dimensions. Add items, or use fewer dimensions"
            )
        names = [f"d{one + 1}" for one in range(count)]
        return _result(
            answers,
            _turned(fit_dimensions_held(answers.right, answers.trials, answers.exploratory(count)), rotation),
            names,
        )
    names, free = _pattern(as_frame(_read(dimensions), name="dimensions"), answers.items, bifactor=bifactor)
    begin = answers.confirmatory(free, correlated=not bifactor and len(names) > 1)
    return _result(answers, fit_dimensions_held(answers.right, answers.trials, begin), names)


def _read(dimensions: Any) -> Any:  # noqa: ANN401
    if isinstance(dimensions, str | Path) and not Path(dimensions).is_file():
        raise MensuraError(f"dimensions: got {str(dimensions)!r}; expected a number from 2 to {MOST} or a file")
    return dimensions


def _pattern(pairs: pl.DataFrame, items: list[str], *, bifactor: bool) -> tuple[list[str], Mask]:
    """Return the dimensions of a table and which items depend on them."""
    require_columns(pairs, ["item", "dimension"], name="dimensions")
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


def _turned(fitted: DimensionFitted, rotation: str) -> DimensionFitted:
    """Return a fit after a rotation of its abilities."""
    slopes, correlation = rotate(fitted.items.slopes, rotation)
    turn = np.linalg.lstsq(slopes, fitted.items.slopes, rcond=None)[0]
    places = Places(fitted.places.mean @ turn.T, turn @ fitted.places.covariance @ turn.T)
    return fitted._replace(items=replace(fitted.items, slopes=slopes, correlation=correlation), places=places)


def _result(answers: DimensionAnswers, fitted: DimensionFitted, names: Sequence[str]) -> DimensionFit:
    p, count = fitted.items, len(names)
    errors = np.full(p.values.shape, np.nan)
    of_pairs = [np.nan] * (count * (count - 1) // 2)
    if fitted.covariance is not None:
        found = np.sqrt(np.diag(fitted.covariance))
        errors[p.estimated] = found[: int(p.estimated.sum())]
        of_pairs = [*found[int(p.estimated.sum()) :], *([0.0] * (0 if p.pairs else len(of_pairs)))]
    warnings = [] if fitted.converged else [f"not converged in {fitted.passes} passes; the numbers are the last ones"]
    if fitted.covariance is None and not p.free.all():
        warnings.append("the answers do not hold all slopes apart, so errors are blank; use fewer dimensions")
    pairs = [(one, other) for one in range(count) for other in range(one + 1, count)]
    rows = [
        (names[one], names[other], float(p.correlation[one, other]), error)
        for (one, other), error in zip(pairs, of_pairs, strict=True)
    ]
    steps = answers.steps
    intercepts = steps.with_columns(
        intercept=pl.Series(p.row_values[:, -1]), se=pl.Series(errors[:, count:][p.steps]).fill_nan(None)
    )
    return DimensionFit(
        _subjects(answers, fitted, names),
        _items(answers, names, p, errors),
        intercepts.select([name for name in _OF_INTERCEPTS if name in intercepts.columns]),
        _with_ends(
            pl.DataFrame(
                rows,
                schema={"dimension": pl.String, "other": pl.String, "correlation": pl.Float64, "se": pl.Float64},
                orient="row",
            ),
            "correlation",
        ),
        answers.log,
        fitted.evidence,
        fitted.passes,
        fitted.converged,
        FittedDimensions(answers, p, fitted.places),
        tuple(warnings),
    )


def _with_ends(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table with the ends of 90% intervals before the errors; blank where there is no error."""
    known = table.with_columns(pl.col("se").fill_nan(None))
    low, high = (pl.col(name) + sign * Z90 * pl.col("se") for sign in (-1.0, 1.0))
    return known.with_columns(low=low, high=high).select(*[c for c in table.columns if c != "se"], "low", "high", "se")


def _subjects(answers: DimensionAnswers, fitted: DimensionFitted, names: Sequence[str]) -> pl.DataFrame:
    mean, error = fitted.places.mean, np.sqrt(np.diagonal(fitted.places.covariance, axis1=1, axis2=2))
    return pl.concat(
        ability_table(answers.subjects.with_columns(dimension=pl.lit(name)), mean[:, place], error[:, place])
        for place, name in enumerate(names)
    )


def _items(answers: DimensionAnswers, names: Sequence[str], p: DimensionItems, errors: Floats) -> pl.DataFrame:
    size = np.sqrt(PROBIT**2 + np.einsum("jd,de,je->j", p.slopes, p.correlation, p.slopes))
    parts = []
    for place, name in enumerate(names):
        part = pl.DataFrame(
            {
                "item": answers.items,
                "dimension": [name] * len(answers.items),
                "discrimination": p.slopes[:, place],
                "loading": p.slopes[:, place] / size,
                "se": errors[:, place],
            }
        )
        parts.append(part.filter(pl.Series(p.free[:, place])))
    return _with_ends(pl.concat(parts), "discrimination")
