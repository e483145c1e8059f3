"""The result of a fit, its bank of items, and the tables behind its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.checksums import check_sums
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import read_table
from mensura.responses.bank import ItemBank
from mensura.responses.irt.information import Information
from mensura.responses.irt.model import Items
from mensura.scale import Z90

_SAME = 0.005
"""Difference of two log likelihoods that print alike."""
_OF_SUBJECTS = ("subject", "dimension", "ability", "low", "high", "n", "se", "rate", "group", "wle", "se_wle")
_NEEDED = {
    "subjects": ["subject", "ability", "se", "group"],
    "items": [],
    "groups": ["group", "subjects", "mean", "sd", "se_mean", "se_sd"],
}
"""Tables that the folder of a fit needs, and their columns."""
_OBSERVED = {"item": pl.String, **dict.fromkeys(("ability", "rate", "low", "high", "n"), pl.Float64)}


def ending(passes: int, converged: bool) -> str:
    """Return how a fit ended, for its heading."""
    return f"{'' if converged else 'NOT converged '}in {passes} passes"


def heights(likelihood: float, posterior: float) -> str:
    """Return the log likelihood and, where priors add to it, the log posterior, for a heading."""
    words = f"log likelihood {likelihood:,.2f}"
    return words if abs(posterior - likelihood) < _SAME else f"{words}, log posterior {posterior:,.2f}"


def ability_table(subjects: pl.DataFrame, ability: Floats, error: Floats) -> pl.DataFrame:
    """Return ``subjects`` with their abilities, 90% intervals and standard errors, columns in the order of all fits."""
    low, high = ability - Z90 * error, ability + Z90 * error
    table = subjects.with_columns(ability=ability, low=low, high=high, se=error)
    return table.select(name for name in _OF_SUBJECTS if name in table.columns)


def group_table(p: Items, information: Information, groups: Sequence[str], subjects: pl.DataFrame) -> pl.DataFrame:
    """Return group, subjects, mean, sd and their errors, in standard deviations of the first group."""
    unit, errors = p.unit, dict(zip(p.free, np.sqrt(information.group_variance()), strict=True))
    counts = dict(subjects.group_by("group").len().iter_rows())
    rows = []
    for place, name in enumerate(groups):
        mean, sd = float(p.mean[place]), float(p.sd[place])
        is_free = place or ("mean", 0) in p.free
        of_mean = float(errors["mean", place]) / unit if is_free else None
        of_sd = float(errors["sd", place] * sd) / unit if is_free else None
        rows.append((name, counts.get(name, 0), mean / unit, sd / unit, of_mean, of_sd))
    numbers = dict.fromkeys(("mean", "sd", "se_mean", "se_sd"), pl.Float64)
    return pl.DataFrame(rows, schema={"group": pl.String, "subjects": pl.Int64, **numbers}, orient="row")


@dataclass(frozen=True, eq=False, repr=False)
class ResponseFit(Result):
    """Show an item response model fitted to responses. Abilities are in standard deviations of the first group.

    Attributes
    ----------
    model
        ``rasch``, ``2pl`` or ``3pl``.
    subjects
        subject, ability, low, high (90%), n (items taken), se, rate, group, and wle with se_wle: the estimate by the
        weighted likelihood, which no prior draws to the mean.
    items
        item, discrimination, difficulty, guessing, their standard errors, fit (root mean square gap to the curve),
        fit_p, fit_q, n, rate, s_x2 with s_x2_df and s_x2_p, infit, outfit.
    groups
        group, subjects, mean, sd of abilities and their standard errors (none for the measure).
    dif
        Differences between groups.
    checks
        Findings in words.
    log
        What the rules of counting met.
    observed
        item, ability, rate, low, high, n: the shares right at ranges of ability.
    log_likelihood, passes, converged
        How the fit ended.
    warnings
        What to know before using the numbers.
    estimation
        Maximum likelihood, or which priors were used.
    log_posterior
        The log likelihood and the log density of the priors, which is what was maximised.
    quality
        One row: log likelihood, aic, bic, sabic, m2 with rmsea and cfi, reliability_marginal, reliability_empirical.
    pairs
        item, other, q3, x2, p: pairs of items that depend on one another beyond ability, the strongest first.
    categories
        Of a fit of ratings that was read from its folder, the categories of its items.

    """

    TABLES: ClassVar[tuple[str, ...]] = (
        "subjects",
        "items",
        "groups",
        "dif",
        "checks",
        "log",
        "observed",
        "quality",
        "pairs",
    )

    model: str
    subjects: pl.DataFrame
    items: pl.DataFrame
    groups: pl.DataFrame
    dif: pl.DataFrame
    checks: pl.DataFrame
    log: pl.DataFrame
    observed: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    warnings: tuple[str, ...] = field(default=())
    estimation: str = ""
    log_posterior: float = float("nan")
    quality: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)
    categories: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def heading(self) -> str:
        """The model, how it was estimated, how much it was fitted to, and whether it converged."""
        counts = f"{self.subjects.height:,} subjects × {self.items.height:,} items"
        likelihood = heights(self.log_likelihood, self.log_posterior)
        ended = ending(self.passes, self.converged)
        return f"{self.model} by {self.estimation}, {counts}, {likelihood}, {ended}"

    @property
    def reference(self) -> str:
        """The group whose abilities have mean 0 and standard deviation 1."""
        return str(self.groups["group"][0])

    @property
    def bank(self) -> ItemBank:
        """The items as they are needed to choose among them."""
        if self.categories.height:
            return ItemBank.from_categories(self.categories, self.model)
        return ItemBank.from_table(self.items)

    def predict(self, subject: str) -> pl.DataFrame:
        """Return item and chance of a right answer of one subject, at its ability."""
        row = self.subjects.filter(pl.col("subject") == subject)
        if not row.height:
            raise MensuraError(
                f"subject: got {subject!r}; {self.subjects.height} others were fitted. Choose a name of subjects.csv"
            )
        chance: Floats = self.bank.chances(np.array([float(row["ability"][0])]))[:, 0]
        return pl.DataFrame({"item": self.items["item"], "rate": chance})


def read_fit(folder: Path) -> ResponseFit:
    """Read the tables of a fit that ``mensura responses fit --out`` wrote; its likelihood is not kept there."""
    check_sums(folder, "responses fit")
    if (folder / "intercepts.csv").is_file():
        raise MensuraError(f"{folder}: several dimensions have no common scale; fit each dimension alone for this")
    tables = {name: _stored(folder, name) for name in (*ResponseFit.TABLES, "categories")}
    return _read(tables)


def _stored(folder: Path, name: str) -> pl.DataFrame:
    path, columns = folder / f"{name}.csv", _NEEDED.get(name)
    there = columns is not None or (path.is_file() and path.stat().st_size > 1)
    table = read_table(path) if there else pl.DataFrame()
    require_columns(table, columns or [], name=str(path))
    return table


def _read(tables: dict[str, Any]) -> ResponseFit:
    model = str(tables["quality"]["model"][0]) if tables["quality"].height else "read"
    return ResponseFit(model, **tables, log_likelihood=float("nan"), passes=0, converged=True)


def read_fits(folder: Path) -> dict[str, ResponseFit]:
    """Read a fit by dimension; one dimension has an empty name. In each, the other abilities are 0."""
    if not (folder / "intercepts.csv").is_file():
        return {"": read_fit(folder)}
    check_sums(folder, "responses fit")
    items, intercepts, subjects = (read_table(folder / f"{name}.csv") for name in ("items", "intercepts", "subjects"))
    quality, fits = read_table(folder / "quality.csv"), {}
    for (name,), own in items.group_by("dimension", maintain_order=True):
        both = own.select("item", "discrimination", se_discrimination="se").join(
            intercepts.rename({"se": "se_intercept"}), on="item", maintain_order="left"
        )
        difficulty = -pl.col("intercept") / pl.col("discrimination")
        of_difficulty = pl.col("se_intercept") / pl.col("discrimination").abs()
        rated = "category" in both.columns
        empty = dict.fromkeys((*ResponseFit.TABLES, "categories"), pl.DataFrame())
        tables = empty | {
            "observed": pl.DataFrame(schema=_OBSERVED),
            "subjects": subjects.filter(pl.col("dimension") == name),
            "items": both.with_columns(difficulty=difficulty, se_difficulty=of_difficulty),
            "categories": both if rated else pl.DataFrame(),
            "quality": quality,
        }
        fits[str(name)] = _read(tables)
    return fits
