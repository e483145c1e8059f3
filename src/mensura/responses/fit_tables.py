"""The tables of a fit, on the scale of the first group: subjects, items and groups with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.responses.comparing import empty_dif
from mensura.responses.drawing import observed_rates
from mensura.responses.findings import CHECKS
from mensura.responses.irt.abilities import ShardAbilities
from mensura.responses.irt.fit_checks import item_misfit
from mensura.responses.irt.fitting import Fitted
from mensura.responses.multiple import discovery_rates
from mensura.responses.result import ResponseFit, ability_table


def lay_out(
    found: Sequence[ShardAbilities],
    fitted: Fitted,
    sums: Any,  # noqa: ANN401
    names: pl.DataFrame,
    items: pl.DataFrame,
    groups: list[str],
) -> ResponseFit:
    """Lay a fit out as tables, on the scale of the first group; ``found``: the abilities of every shard."""
    unit = float(fitted.parameters.sd[0])
    ability, error = (np.concatenate([getattr(one, name) for one in found]) / unit for name in ("mean", "error"))
    return ResponseFit(
        fitted.parameters.model,
        ability_table(names, ability, error),
        _item_table(fitted, sums, items),
        _group_table(fitted, groups, names),
        empty_dif(),
        pl.DataFrame(schema=CHECKS),
        pl.DataFrame(),
        observed_rates(fitted, sums, items["item"]),
        fitted.evidence,
        len(fitted.history),
        fitted.converged,
    )


def _item_table(fitted: Fitted, sums: Any, items: pl.DataFrame) -> pl.DataFrame:  # noqa: ANN401
    p = fitted.parameters.standardised()
    misfit, z = item_misfit(fitted, sums)
    p_value = np.array([math.erfc(abs(one) / math.sqrt(2.0)) for one in z])
    slope = np.where(np.abs(p.slope) > 1e-6, p.slope, 1e-6)
    difficulty = -p.intercept / slope
    errors = _item_errors(fitted, difficulty, slope)
    guessing = 1.0 / (1.0 + np.exp(-p.guess)) if p.model == "3pl" else np.zeros(len(slope))
    return items.select(
        "item",
        pl.Series("discrimination", p.slope),
        pl.Series("difficulty", difficulty),
        pl.Series("guessing", guessing),
        pl.Series("se_discrimination", errors[0]),
        pl.Series("se_difficulty", errors[1]),
        pl.Series("se_guessing", errors[2]),
        pl.Series("fit", misfit),
        pl.Series("fit_p", p_value),
        pl.Series("fit_q", discovery_rates(p_value)),
        "n",
        "rate",
    )


def _item_errors(fitted: Fitted, b: Floats, slope: Floats) -> tuple[Floats, Floats, Floats]:
    """Return standard errors of discrimination, difficulty and guessing (delta method)."""
    p, inverse = fitted.parameters, fitted.information
    covariance = inverse.item_covariance()
    none = np.zeros(len(b))
    if p.model == "rasch":
        of_unit, with_unit = inverse.group_variance()[0], inverse.item_group_covariance(0)[:, 0]
        variance = covariance[:, 0, 0] / slope**2 + b**2 * of_unit + 2.0 * b * with_unit / slope
        return slope * np.sqrt(of_unit), np.sqrt(np.maximum(variance, 0.0)), none
    variance = (covariance[:, 1, 1] + b**2 * covariance[:, 0, 0] + 2.0 * b * covariance[:, 0, 1]) / slope**2
    c = 1.0 / (1.0 + np.exp(-p.guess))
    of_guess = c * (1.0 - c) * np.sqrt(covariance[:, 2, 2]) if p.model == "3pl" else none
    return np.sqrt(covariance[:, 0, 0]), np.sqrt(np.maximum(variance, 0.0)), of_guess


def _group_table(fitted: Fitted, groups: list[str], names: pl.DataFrame) -> pl.DataFrame:
    p, unit = fitted.parameters, float(fitted.parameters.sd[0])
    errors = dict(zip(p.free, np.sqrt(fitted.information.group_variance()), strict=True))
    counts = dict(names.group_by("group").len().iter_rows())
    rows = [
        (
            name,
            counts.get(name, 0),
            float(p.mean[place]) / unit,
            float(p.sd[place]) / unit,
            float(errors[("mean", place)]) / unit if place else None,
            float(errors[("sd", place)] * p.sd[place]) / unit if place else None,
        )
        for place, name in enumerate(groups)
    ]
    schema = {"group": pl.String, "subjects": pl.Int64, "mean": pl.Float64, "sd": pl.Float64}
    return pl.DataFrame(rows, schema=schema | {"se_mean": pl.Float64, "se_sd": pl.Float64}, orient="row")
