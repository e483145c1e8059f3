"""The result of a fit, its bank of items, and the tables behind its pictures."""

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
from mensura.scale import Z90, rate_interval

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
        *("subjects", "items", "groups", "dif", "checks", "log", "observed", "quality", "pairs"),
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
            return ItemBank.from_categories(self.categories, self.model, self.items)
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
    table = read_table(path).with_columns(pl.col("^(reference|other)$").cast(pl.String)) if there else pl.DataFrame()
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
    tables = (read_table(folder / f"{name}.csv") for name in ("items", "intercepts", "subjects"))
    errors = pl.col("^(low|high|se)$").cast(pl.Float64)  # dimensions that were found have none
    items, intercepts, subjects = (table.with_columns(errors) for table in tables)
    quality, fits = read_table(folder / "quality.csv"), {}
    for (name,), own in items.group_by("dimension", maintain_order=True):
        both = own.select("item", "discrimination", se_discrimination="se").join(
            intercepts.rename({"se": "se_intercept"}), on="item", maintain_order="left"
        )
        difficulty = -pl.col("intercept") / pl.col("discrimination")
        of_difficulty = pl.col("se_intercept") / pl.col("discrimination").abs()
        rated = "category" in both.columns
        empty = dict.fromkeys((*ResponseFit.TABLES, "categories"), pl.DataFrame())
        own_tables = empty | {
            "observed": pl.DataFrame(schema=_OBSERVED),
            "subjects": subjects.filter(pl.col("dimension") == name),
            "items": both.with_columns(difficulty=difficulty, se_difficulty=of_difficulty),
            "categories": both if rated else pl.DataFrame(),
            "quality": quality,
        }
        fits[str(name)] = _read(own_tables)
    return fits


# The tables behind the pictures of a fit

BIN = 0.5
"""Width of the ranges of ability that observed rates are taken over, in standard deviations of the first group."""
LEAST_OBSERVED = 2.0
"""Answers in a range below which its rate is not reported."""
MOST_MARKS = 150
"""Items, and subjects of a group, on an item map. Of more, those at equal steps by position are drawn."""
MOST_INTERVALS = 60
"""Marks of a strip of the map up to which each has its interval: of more they would hide one another."""
_NODES = np.linspace(-4.0, 4.0, 81)
_FAR = 6.0
"""Difficulties beyond this are off any map: an item nobody (or everybody) answers right."""


def observed_rates(nodes: Floats, right: Floats, taken: Floats, items: pl.Series) -> pl.DataFrame:
    """Return item, ability, rate, low, high (90%), n: shares right, or of the highest score, over ranges of ability.

    Subjects count in each range with the posterior chance of being there. ``nodes``: in standard deviations of the
    first group; ``right`` and ``taken``: expected there, items × nodes.
    """
    place = np.round(nodes / BIN).astype(int)
    bins = np.unique(place)
    within = (place[:, None] == bins).astype(float)
    taken = np.maximum(np.broadcast_to(taken, right.shape), 0.0) @ within
    right = np.clip(right @ within, 0.0, taken)
    at, where = np.nonzero(taken >= LEAST_OBSERVED)
    n, k = taken[at, where], right[at, where]
    low, high = rate_interval(k, n)
    columns = {"ability": bins[where] * BIN, "rate": k / n, "low": low, "high": high, "n": n}
    return pl.DataFrame({"item": items.gather(at.astype(np.uint32)), **columns})


def map_points(fit: ResponseFit) -> pl.DataFrame:
    """Return name, kind, value, low, high: items by difficulty, subjects of every group by ability."""
    value, reach = fit.bank.parameters.difficulty, Z90 * fit.bank.errors[:, 1]
    ends = {"value": value, "low": value - reach, "high": value + reach}
    items = pl.DataFrame({"name": fit.bank.items, "kind": "items"} | ends).filter(pl.col("value").abs() <= _FAR)
    subjects = fit.subjects.select(name="subject", kind="group", value="ability", low="low", high="high")
    kinds = [items, *subjects.partition_by("kind", maintain_order=True)]
    return pl.concat([_some(kind.sort("value")) for kind in kinds])


def _some(rows: pl.DataFrame) -> pl.DataFrame:
    if rows.height > MOST_INTERVALS:
        rows = rows.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    if rows.height <= MOST_MARKS:
        return rows
    return rows[np.round(np.linspace(0, rows.height - 1, MOST_MARKS)).astype(int)]


def with_ends(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table with the ends of 90% intervals before the errors; blank where there is no error."""
    blank = table.with_columns(pl.col("se").fill_nan(None))
    low, high = (pl.col(name) + sign * Z90 * pl.col("se") for sign in (-1.0, 1.0))
    if name == "correlation":
        low, high = low.clip(-1.0, 1.0), high.clip(-1.0, 1.0)
    return blank.select(pl.exclude("se"), low.alias("low"), high.alias("high"), "se")


def information_points(bank: ItemBank) -> pl.DataFrame:
    """Return ability, information of all items together, error (half-width of a 90% interval from them alone)."""
    nodes = _NODES[::2]
    total = bank.information(nodes).sum(axis=0)
    return pl.DataFrame({"ability": nodes, "information": total, "error": Z90 / np.sqrt(np.maximum(total, 1e-9))})


def curve_points(bank: ItemBank, item: str) -> pl.DataFrame:
    """Return ability and rate along the curve of an item."""
    if item not in bank.items:
        raise MensuraError(f"item: got {item!r}; expected a name of items.csv, such as {bank.items[0]!r}")
    return pl.DataFrame({"ability": _NODES, "rate": bank.only([bank.items.index(item)]).chances(_NODES)[0]})


def difference_points(dif: pl.DataFrame, group: str) -> pl.DataFrame:
    """Return item, difference, low, high, flagged of one group beside the first."""
    columns = ("item", "difference", "flagged", "low", "high")
    return with_ends(dif.filter(pl.col("group") == group), "difference").select(columns)
