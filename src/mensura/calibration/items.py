"""What a calibration is made of: items with a world rate and levels, read, checked and lined up, one entry each.

Which demand decides an item: the dominance filter, for single dimensions and for groups of them. Empirical levels: what
a world success rate is on the common base-10 ruler, and rates that have no level. The empirical level of a rate p is
−log10(p / √10) = ½ − log10 p. A rate of 1 is level ½ as it stands. A rate of 0 has no level, so one is read as the
smallest rate that could still have hidden there: ½ / (n + 1) where n is known, else half the high end of its interval,
else half the smallest rate above 0 in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.demands import read_demands
from mensura.demands.readings import read_level_table, refuse_unknown_dimensions
from mensura.demands.rubrics import HIGHEST, annotated_dimensions
from mensura.intake.columns import FIELDS, FIGURES, parse_map, read_rates
from mensura.scale import Z90

TOP = 0.5
"""The empirical level of a rate of 1, at which everybody succeeds."""
LEVELS = np.arange(1.0, 6.0)
LEAST_DOUBT = 0.15
"""How uncertain the error of a reading is at least, as a share of it: it differs between items and levels."""
USUAL_CELLS = 20.0
"""Cells read twice by which the error over all dimensions counts in each: with few repeats, dimensions lean on it."""
_RUN = r"[-_ :.#]*(run|repeat|pass)?[-_ :.#]*\d+$"  # the number of a run at the end of an annotator's name


def dominant(levels: Floats) -> Mask:
    """Return items × dimensions: whether a demand is the item's highest; ties count for each.

    An item that demands nothing at all is dominated by nothing.
    """
    top = levels.max(axis=1, keepdims=True)
    return np.asarray((levels >= top) & (top > 0))


def group_levels(levels: Floats, dimensions: Sequence[str], groups: Mapping[str, Sequence[str]]) -> tuple[Floats, Mask]:
    """Return the level of every item in every group, and whether the group dominates it.

    A group dominates an item if any of its members does. Its level is the harmonic mean k / Σ 1/level over the k
    members that the item asks for at all: a member at 0 says nothing of how hard the others are, and with the zeros in,
    the mean of nearly every item would be 0. An item that asks for no member is at 0.
    """
    decides = dominant(levels)
    columns, masks = [], []
    for members in groups.values():
        at = [dimensions.index(code) for code in members]
        asked = levels[:, at] > 0
        count = asked.sum(axis=1)
        inverse = (asked / np.where(asked, levels[:, at], 1.0)).sum(axis=1)
        columns.append(np.where(count > 0, count / np.where(count > 0, inverse, 1.0), 0.0))
        masks.append(decides[:, at].any(axis=1))
    return np.column_stack(columns), np.column_stack(masks)


def published_groups() -> dict[str, list[str]]:
    """Return the groups of the published calibration by their broad code, such as KN: its five kinds of knowledge."""
    groups: dict[str, list[str]] = {}
    for code, dimension in annotated_dimensions().items():
        groups.setdefault(dimension.group, []).append(code)
    return groups


def empirical_levels(rates: Floats) -> Floats:
    """Return −log10(p / √10) of rates above 0."""
    return np.asarray(TOP - np.log10(rates))


def lift_zeros(rates: Floats, n: Floats, high: Floats) -> Floats:
    """Return the rates with 0 read by the rule of this file; ``n`` and ``high`` are NaN where unknown."""
    zero = rates == 0
    if not zero.any():
        return rates
    if zero.all() and not np.isfinite(np.where(high > 0, high, n)).all():
        raise MensuraError("rates: every rate is 0; a base needs items that somebody solves")
    least = rates[~zero].min() / 2 if not zero.all() else np.nan
    by_interval = np.where(high > 0, high / 2, least)
    return np.asarray(np.where(zero, np.where(n > 0, 0.5 / (n + 1), by_interval), rates))


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Items with their world rates and demands, one entry per item; NaN where a figure is unknown.

    ``observed``: share of the population that succeeds, as given; ``rate``: the same with zeros lifted. ``se``: its
    standard error, 0 where nothing says how sure it is. ``n``: people counted, where that is what says so.
    ``floor``: the rate of guessing, one over the number of options, 0 where open or unknown. ``pool``: place in
    ``pools``. ``levels``: items × dimensions, the mean of the readings; ``readings``: how many there were.
    ``level_error``: per dimension, the standard deviation of one reading's error, in levels; ``level_doubt``: how
    uncertain that is, as a share of it.
    ``deciding``: items × dimensions, whether this demand is the item's highest. ``one_annotator``: all readings may
    share the errors of one annotator.
    """

    items: tuple[str, ...]
    dimensions: tuple[str, ...]
    pools: tuple[str, ...]
    pool: Ints
    observed: Floats
    rate: Floats
    se: Floats
    n: Floats
    floor: Floats
    levels: Floats
    readings: Ints
    level_error: Floats
    level_doubt: Floats
    deciding: np.ndarray
    warnings: tuple[str, ...] = ()
    one_annotator: bool = False

    @property
    def size(self) -> int:
        """How many items."""
        return len(self.items)

    def kept(self, rows: np.ndarray) -> RatedItems:
        """Return some of the items, by place or mask; pools that are left without items go."""
        at = np.flatnonzero(rows) if rows.dtype == bool else rows
        here = np.unique(self.pool[at])
        by_item = ("observed", "rate", "se", "n", "floor", "levels", "readings", "deciding")
        return replace(
            self,
            items=tuple(self.items[k] for k in at),
            pools=tuple(self.pools[k] for k in here),
            pool=np.searchsorted(here, self.pool[at]),
            **{name: getattr(self, name)[at] for name in by_item},
        )

    def grouped(self, groups: Mapping[str, Iterable[str]]) -> RatedItems:
        """Return the same items on groups of dimensions; an error of a group is the mean of its members' errors."""
        members = {name: [code for code in codes if code in self.dimensions] for name, codes in groups.items()}
        members = {name: codes for name, codes in members.items() if codes}
        levels, deciding = group_levels(self.levels, self.dimensions, members)
        places = [[self.dimensions.index(code) for code in codes] for codes in members.values()]
        error = np.array([self.level_error[at].mean() for at in places])
        return replace(self, dimensions=tuple(members), levels=levels, deciding=deciding, level_error=error)


def read_items(
    rates: Any,
    demands: Any,
    *,
    level_error: float | None = None,
    readers: float = 1.0,
    codes: Iterable[str] | None = None,
    columns: str | None = None,
) -> RatedItems:
    """Line up rates and demands by item.

    Parameters
    ----------
    rates
        Table of any library, or path: item, rate and, where known, low and high (a 90% interval), n (people asked),
        options, pool. Without a pool column the part of an id before its first colon is the pool, if every id has one.
    demands
        Levels as ``mensura annotate`` writes them, or wide, with a column per dimension. Several readings of a cell are
        averaged, and how far they lie apart is the error of one; with one reading, ``spread`` is, where given.
    level_error
        Error of one reading in levels, in place of the one found.
    readers
        Share of the population that can read the items and so guesses; the floor of an item is readers / options.
    codes
        Dimensions to look for; Mensura's own when not given.
    columns
        Fields and their columns where names alone do not say it, such as ``rate=p_correct,item=qid``.

    Returns
    -------
    RatedItems
        The items that have a rate and every level.

    Raises
    ------
    MensuraError
        If a table is not understood, or no item is in both.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.calibration import read_items
    >>> rates = pl.DataFrame({"item": ["a", "b"], "rate": [0.8, 0.2], "n": [50, 50]})
    >>> read_items(rates, pl.DataFrame({"item": ["a", "b"], "KNc": [1, 3]})).size
    2

    """
    if not 0 < readers <= 1:
        raise MensuraError(f"readers: got {readers!r}; expected a share above 0 and at most 1")
    if level_error is not None and not 0 <= level_error < 3:
        raise MensuraError(f"level_error: got {level_error!r}; expected a standard deviation from 0 to 3 levels")
    mapping = parse_map(columns, FIELDS, "rate=p_correct,item=qid")
    table = _with_pools(read_rates(rates, columns=mapping))
    wanted = list(codes) if codes is not None else list(annotated_dimensions())
    given = read_level_table(demands, wanted, columns=mapping)
    readings = _readings(given, wanted)
    dimensions = [code for code in wanted if code in readings.columns]
    means = pl.col(dimensions).mean()
    wide = readings.group_by("item", maintain_order=True).agg(means, readings=pl.len().cast(pl.Int64))
    whole = wide.drop_nulls()
    warnings: list[str] = []
    if whole.height < wide.height:
        warnings.append(f"{wide.height - whole.height} items lack a level in some dimension and are left out")
    joined = table.join(whole, on="item", how="inner", maintain_order="left")
    warnings += _unmatched(table, whole, joined)
    annotators = _annotators(given)
    if level_error is None and annotators == 1 and given["annotator"].n_unique() > 1:
        warnings.append(
            "levels: the readings are runs of one annotator and share its errors, so that intervals of bases are too "
            "narrow; add an independent annotator (mensura annotate --model OTHER) or give level_error"
        )
    errors, doubt = _level_errors(readings, given, dimensions, level_error, warnings)
    rate, low, high, n, options = (joined[name].to_numpy() for name in FIGURES)
    lifted = lift_zeros(rate, n, high)
    if zeros := int((rate == 0).sum()):
        warnings.append(f"{zeros} rates of 0 read as ½/(n+1), half their high end, or half the smallest rate above 0")
    pools = tuple(joined["pool"].unique(maintain_order=True))
    levels = joined.select(dimensions).to_numpy().astype(np.float64)
    return RatedItems(
        items=tuple(joined["item"]),
        dimensions=tuple(dimensions),
        pools=pools,
        pool=joined["pool"].replace_strict(pools, range(len(pools)), return_dtype=pl.Int64).to_numpy(),
        observed=rate,
        rate=lifted,
        se=_rate_errors(lifted, low, high, n),
        n=np.where(np.isfinite(high - low), np.nan, n),
        floor=np.nan_to_num(readers / options, nan=0.0),
        levels=levels,
        readings=joined["readings"].to_numpy(),
        level_error=errors,
        level_doubt=doubt,
        deciding=dominant(levels),
        warnings=tuple(warnings),
        one_annotator=level_error is None and annotators < 2,
    )


def _with_pools(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a pool for every item, and NaN for unknown figures."""
    pool = pl.col("pool").fill_null("no pool")
    if not table["pool"].count():
        named = table.height > 0 and bool(table["item"].str.contains(":").all())
        pool = pl.col("item").str.split(":").list.first() if named else pl.lit("all items")
    return table.with_columns(pool.alias("pool"), pl.col(FIGURES).fill_null(float("nan")))


def _readings(given: pl.DataFrame, wanted: list[str]) -> pl.DataFrame:
    """Return one row per item and reading, a column per dimension.

    A wide table of whole, valid levels is taken as it is, which is ten times as fast as cell by cell.
    """
    levels = given.select(code for code in wanted if code in given.columns)
    keys = given.select(name for name in ("item", "annotator", "repeat") if name in given.columns)
    plain = bool(
        levels.width
        and not {"dimension", "level"} <= set(given.columns)
        and not given["item"].null_count()
        and all(dtype.is_numeric() for dtype in levels.dtypes)
        and levels.select(pl.all_horizontal(pl.all().is_between(0, HIGHEST).fill_null(False).all())).item()
        and not keys.is_duplicated().any()
    )
    if plain:
        return given.select(pl.col("item").cast(pl.String), *levels.columns)
    long = read_demands(given, codes=wanted)
    refuse_unknown_dimensions(long, wanted)
    return long.pivot("dimension", index=["item", "annotator", "repeat"], values="level", maintain_order=True)


def _unmatched(table: pl.DataFrame, whole: pl.DataFrame, joined: pl.DataFrame) -> list[str]:
    """Return warnings on items of one table only; refuse two tables without a common item."""
    if joined.is_empty():
        raise MensuraError(
            "calibrate: no item has both a rate and a level in every dimension; ids must agree (rates: "
            f"{table['item'].first()!r} …, demands: {whole['item'].first()!r} …)"
        )
    sides = ((table.height, "a rate and no levels"), (whole.height, "levels and no rate"))
    return [f"{n - joined.height} items have {side} and are left out" for n, side in sides if n > joined.height]


def _rate_errors(rate: Floats, low: Floats, high: Floats, n: Floats) -> Floats:
    """Return the standard error of each rate: from its interval, else from n (binomial), else 0."""
    least = 0.5 / (np.nan_to_num(n, nan=1.0) + 1)
    inside = np.clip(rate, least, 1 - least)
    binomial = np.sqrt(inside * (1 - inside) / n)
    error = np.where(np.isfinite(high - low), (high - low) / (2 * Z90), binomial)
    return np.asarray(np.nan_to_num(error, nan=0.0), dtype=np.float64)


def _level_errors(
    readings: pl.DataFrame, given: pl.DataFrame, dimensions: list[str], stated: float | None, warnings: list[str]
) -> tuple[Floats, Floats]:
    """Return the error of one reading per dimension, and how uncertain that is, as a share of it.

    It is as stated, or comes from repeated readings, or from a column spread.
    """
    doubt = np.full(len(dimensions), LEAST_DOUBT)
    if stated is not None:
        return np.full(len(dimensions), stated), doubt
    again = readings.filter(pl.col("item").is_duplicated()).group_by("item").agg(pl.col(dimensions).var())
    variances = again.unpivot(index="item", on=dimensions, variable_name="dimension", value_name="var").drop_nulls()
    if variances.is_empty() and {"dimension", "spread"} <= set(given.columns):
        variances = given.select("dimension", var=pl.col("spread").cast(pl.Float64, strict=False) ** 2).drop_nulls()
    if variances.is_empty():
        warnings.append(
            "levels have one reading each and no spread: their error is taken as 0, which makes bases too small if it "
            "is not (give a second annotator, a column spread, or level_error)"
        )
        return np.zeros(len(dimensions)), doubt
    figures = variances.group_by("dimension").agg(
        pl.col("var").mean().alias("mean"), pl.col("var").std().fill_null(0.0).alias("sd"), n=pl.len()
    )
    by_code = {name: (mean, sd, n) for name, mean, sd, n in figures.iter_rows()}
    usual = float(variances["var"].mean() or 0.0)  # type: ignore[arg-type]
    own, sd, n = np.array([by_code.get(code, (usual, 0.0, 0)) for code in dimensions]).T
    mean = (n * own + USUAL_CELLS * usual) / (n + USUAL_CELLS)
    sampled = sd / np.sqrt(n + USUAL_CELLS) / (2.0 * np.where(mean > 0, mean, 1.0))
    return np.sqrt(mean), np.hypot(doubt, np.minimum(sampled, 1.0))


def _annotators(given: pl.DataFrame) -> int:
    """Count the annotators that are named; names that differ in the number of a run alone are one."""
    if "annotator" not in given.columns:
        return 0
    return given["annotator"].cast(pl.String).drop_nulls().str.replace(_RUN, "").n_unique()
