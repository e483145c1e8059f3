"""Reading what a calibration is made of: rates and levels, checked and lined up by item."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.items import RatedItems, dominant, lift_zeros
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.demands import read_demands
from mensura.demands.dimensions import annotated_dimensions
from mensura.demands.rubrics import HIGHEST
from mensura.intake.tables import as_frame

Z90 = 1.6448536269514722
"""The normal quantile at 0.95: between −z and z lie 90%, the width of every interval that is read here."""
FEWEST_OPTIONS = 2
LEAST_DOUBT = 0.15
"""How uncertain the error of a reading is at least, as a share of it: it differs between items and levels."""
USUAL_CELLS = 20.0
"""Cells read twice by which the error over all dimensions counts in each: with few repeats, dimensions lean on it."""
_RATE_COLUMNS = {"rate": True, "low": False, "high": False, "n": False, "options": False}
_RUN = r"[-_ :.#]*(run|repeat|pass)?[-_ :.#]*\d+$"  # the number of a run at the end of an annotator's name
_NEAR = 0.6  # how like a column's name must be to a wanted one to be offered for it


def published_groups() -> dict[str, list[str]]:
    """Return the groups of the published calibration by their broad code, such as KN: its five kinds of knowledge."""
    groups: dict[str, list[str]] = {}
    for code, dimension in annotated_dimensions().items():
        groups.setdefault(dimension.group, []).append(code)
    return groups


def read_items(
    rates: Any,  # noqa: ANN401
    demands: Any,  # noqa: ANN401
    *,
    level_error: float | None = None,
    readers: float = 1.0,
    codes: Iterable[str] | None = None,
) -> RatedItems:
    """Line up rates and demands by item.

    ``rates``: item, rate and, where known, low and high (a 90% interval), n (people asked), options, pool; a table of
    any library or a path, as ``mensura extrapolate`` writes it. Without a pool column the part of an id before its
    first colon is the pool, if every id has one. ``demands``: as ``mensura annotate`` writes them, or wide, with a
    column per dimension. Several readings of a cell are averaged, and how far they lie apart is the error of one;
    with one reading, ``spread`` is, where given; ``level_error`` sets it by hand. ``readers``: share of the population
    that can read the items at all and so guesses; the floor of an item is readers / options.
    """
    if not 0 < readers <= 1:
        raise MensuraError(f"readers: got {readers!r}; expected a share above 0 and at most 1")
    if level_error is not None and not 0 <= level_error < 3:
        raise MensuraError(f"level_error: got {level_error!r}; expected a standard deviation from 0 to 3 levels")
    table = _rate_table(rates)
    known = list(codes) if codes is not None else list(annotated_dimensions())
    _refuse_near_misses(demands, known)
    readings = _readings(demands, known)
    dimensions = [code for code in known if code in readings.columns]
    wide = readings.group_by("item", maintain_order=True).agg(
        pl.col(dimensions).mean(), readings=pl.len().cast(pl.Int64)
    )
    warnings: list[str] = []
    whole = wide.drop_nulls()
    if whole.height < wide.height:
        warnings.append(f"{wide.height - whole.height} items lack a level in some dimension and are left out")
    joined = table.join(whole, on="item", how="inner", maintain_order="left")
    _note_unmatched(table, whole, joined, warnings)
    if level_error is None and _one_reader(demands):
        warnings.append(
            "levels: the readings are runs of one annotator and share its errors, so that intervals of bases are too "
            "narrow; add an independent annotator (mensura annotate --model OTHER) or give level_error"
        )
    errors, doubt = _level_errors(readings, demands, dimensions, level_error, warnings)
    rate = joined["rate"].to_numpy()
    lifted = lift_zeros(rate, joined["n"].to_numpy(), joined["high"].to_numpy())
    if zeros := int((rate == 0).sum()):
        warnings.append(f"{zeros} rates of 0 read as ½/(n+1), half their high end, or half the smallest rate above 0")
    pools = tuple(joined["pool"].unique(maintain_order=True))
    levels = joined.select(dimensions).to_numpy().astype(np.float64)
    return RatedItems(
        tuple(joined["item"]),
        tuple(dimensions),
        pools,
        joined["pool"].replace_strict({name: at for at, name in enumerate(pools)}, return_dtype=pl.Int64).to_numpy(),
        rate,
        lifted,
        _errors_of(lifted, joined),
        np.where(np.isfinite(joined["high"].to_numpy() - joined["low"].to_numpy()), np.nan, joined["n"].to_numpy()),
        np.nan_to_num(readers / joined["options"].to_numpy(), nan=0.0),
        levels,
        joined["readings"].to_numpy(),
        errors,
        doubt,
        dominant(levels),
        tuple(warnings),
    )


def _rate_table(rates: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return item, pool and the figures of a rate; refuse what is none, and an item with two rates."""
    name = str(rates) if isinstance(rates, str | Path) else "rates"
    frame = _of_the_world(as_frame(rates, name=name))
    for column in ("item", "rate"):
        if column not in frame.columns:
            close = get_close_matches(column, [known.strip().lower() for known in frame.columns], 1, _NEAR)
            near = [known for known in frame.columns if close and known.strip().lower() == close[0]]
            remedy = f"rename {near[0]!r}?" if near else "add it"
            raise MensuraError(
                f"{name}: missing column {column!r}; it has {', '.join(frame.columns) or 'none'}; {remedy}"
            )
    frame = frame.with_columns(pl.col("item").cast(pl.String))
    for column, needed in _RATE_COLUMNS.items():
        if column not in frame.columns:
            frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(column))
        read = frame.with_columns(pl.col(column).cast(pl.Float64, strict=False).alias("_read"))
        wrong = read.filter(pl.col("_read").is_null() & (pl.lit(needed) | pl.col(column).is_not_null()))
        if wrong.height:
            item, value = wrong.select("item", column).row(0)
            raise MensuraError(f"{name}: {column} of item {item!r} is {value!r}; expected a number")
        frame = read.with_columns(pl.col("_read").fill_null(float("nan")).alias(column)).drop("_read")
    _refuse_wrong_figures(frame, name)
    if "pool" not in frame.columns:
        named = frame.height > 0 and bool(frame["item"].str.contains(":").all())
        frame = frame.with_columns(pool=pl.col("item").str.split(":").list.first() if named else pl.lit("all items"))
    return frame.select("item", pl.col("pool").cast(pl.String).fill_null("no pool"), *_RATE_COLUMNS)


def _of_the_world(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the world's rows of an items table of ``mensura baseline``; items without an estimate are left out."""
    if not {"population", "status", "rate"} <= set(frame.columns):
        return frame
    return frame.filter((pl.col("population") == "world") & pl.col("rate").is_not_null())


def _refuse_wrong_figures(frame: pl.DataFrame, name: str) -> None:
    rules = {
        "rate": (pl.col("rate").is_between(0, 1), "a share from 0 to 1"),
        "low": (pl.col("low").is_nan() | pl.col("low").is_between(0, 1), "a share from 0 to 1"),
        "high": (pl.col("high").is_nan() | pl.col("high").is_between(0, 1), "a share from 0 to 1"),
        "n": (pl.col("n").is_nan() | (pl.col("n") > 0), "a number of people above 0"),
        "options": (pl.col("options").is_nan() | (pl.col("options") >= FEWEST_OPTIONS), "2 or more, empty if open"),
    }
    for column, (right, allowed) in rules.items():
        wrong = frame.filter(~right)
        if wrong.height:
            item, value = wrong.select("item", column).row(0)
            more = f" ({wrong.height} such items)" if wrong.height > 1 else ""
            raise MensuraError(f"{name}: {column} of item {item!r} is {value:g}; expected {allowed}{more}")
    low, high = pl.col("low").fill_nan(0.0), pl.col("high").fill_nan(1.0)
    crossed = frame.filter((low > pl.col("rate")) | (high < pl.col("rate")))
    if crossed.height:
        item, low, rate, high = crossed.select("item", "low", "rate", "high").row(0)
        raise MensuraError(
            f"{name}: item {item!r} has rate {rate:g} outside its interval {low:g} to {high:g}; correct low, rate or "
            "high"
        )
    twice = frame.filter(pl.col("item").is_duplicated())
    if twice.height:
        raise MensuraError(
            f"{name}: item {twice['item'][0]!r} has {(frame['item'] == twice['item'][0]).sum()} rates; "
            "give one row per item (one population, one estimate)"
        )


def _refuse_near_misses(demands: Any, known: list[str]) -> None:  # noqa: ANN401
    """Refuse a wide table with a column that is a dimension but for its capitals or spaces: it would be passed over."""
    if isinstance(demands, str | Path):
        if not Path(demands).is_file() or Path(demands).suffix.lower() != ".csv":
            return
        with Path(demands).open(encoding="utf-8-sig", errors="replace") as file:
            columns = [name.strip('"\n\r') for name in file.readline().split(",")]
    else:
        columns = as_frame(demands, name="demands").columns
    codes = {code.casefold(): code for code in known}
    for column in columns:
        code = codes.get(column.strip().casefold())
        if code is not None and code != column:
            raise MensuraError(f"demands: column {column!r} is nearly the dimension {code}; rename it")


def _readings(demands: Any, known: list[str]) -> pl.DataFrame:  # noqa: ANN401
    """Return one row per item and reading, a column per dimension.

    A wide table of whole, valid levels is taken as it is, which is ten times as fast as cell by cell.
    """
    table = demands
    if isinstance(demands, str | Path) and Path(demands).suffix.lower() == ".csv" and Path(demands).is_file():
        table = as_frame(demands, name=str(demands))
    if isinstance(table, pl.DataFrame) and _is_plain(table, known):
        return table.select(pl.col("item").cast(pl.String), *(code for code in known if code in table.columns))
    told = read_demands(demands, codes=known)
    refuse_unknown_dimensions(told, known)
    return told.pivot("dimension", index=["item", "annotator", "repeat"], values="level", maintain_order=True)


def _is_plain(table: pl.DataFrame, known: list[str]) -> bool:
    """Return whether a table is wide, complete, numeric, within bounds and without a reading given twice."""
    levels = table.select(code for code in known if code in table.columns)
    if "dimension" in table.columns or "item" not in table.columns or not levels.width:
        return False
    if table["item"].null_count() or not all(dtype.is_numeric() for dtype in levels.dtypes):
        return False
    keys = table.select(name for name in ("item", "annotator", "repeat") if name in table.columns)
    inside = levels.select(pl.all_horizontal(pl.all().is_between(0, HIGHEST).fill_null(False).all())).item()
    return bool(inside) and not keys.is_duplicated().any()


def refuse_unknown_dimensions(told: pl.DataFrame, known: list[str]) -> None:
    """Refuse a dimension that is not known, offering the nearest code."""
    for code in told["dimension"].unique(maintain_order=True):
        if code not in known:
            near = [other for other in known if other.casefold() == code.casefold()]
            near = near or get_close_matches(code, known, 1, _NEAR)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise MensuraError(f"demands: unknown dimension {code!r}{hint} (expected one of {', '.join(known)})")


def _note_unmatched(table: pl.DataFrame, whole: pl.DataFrame, joined: pl.DataFrame, warnings: list[str]) -> None:
    if joined.is_empty():
        raise MensuraError(
            "calibrate: no item has both a rate and a level in every dimension; ids must agree (rates: "
            f"{table['item'].first()!r} …, demands: {whole['item'].first()!r} …)"
        )
    for count, side in ((table.height, "a rate and no levels"), (whole.height, "levels and no rate")):
        if count > joined.height:
            warnings.append(f"{count - joined.height} items have {side} and are left out")


def _errors_of(rate: Floats, table: pl.DataFrame) -> Floats:
    """Return the standard error of each rate: from its interval, else from n (binomial), else 0."""
    low, high, n = (table[name].to_numpy() for name in ("low", "high", "n"))
    inside = np.clip(rate, 0.5 / (np.nan_to_num(n, nan=1.0) + 1), 1 - 0.5 / (np.nan_to_num(n, nan=1.0) + 1))
    binomial = np.sqrt(inside * (1 - inside) / n)
    told = np.where(np.isfinite(high - low), (high - low) / (2 * Z90), binomial)
    return np.asarray(np.nan_to_num(told, nan=0.0), dtype=np.float64)


def _level_errors(
    readings: pl.DataFrame, demands: object, dimensions: list[str], given: float | None, warnings: list[str]
) -> tuple[Floats, Floats]:
    """Return the error of one reading per dimension, and how uncertain that is, as a share of it.

    It is as given, or comes from repeated readings, or from a column spread.
    """
    doubt = np.full(len(dimensions), LEAST_DOUBT)
    if given is not None:
        return np.full(len(dimensions), given), doubt
    variances = _repeated(readings, dimensions)
    if variances.is_empty():
        variances = _stated_spread(demands)
    if variances.is_empty():
        warnings.append(
            "levels have one reading each and no spread: their error is taken as 0, which makes bases too small if it "
            "is not (give a second annotator, a column spread, or level_error)"
        )
        return np.zeros(len(dimensions)), doubt
    figures = variances.group_by("dimension").agg(
        pl.col("var").mean().alias("mean"), pl.col("var").std().fill_null(0.0).alias("sd"), n=pl.len()
    )
    found = {name: (mean, sd, n) for name, mean, sd, n in figures.iter_rows()}
    usual = float(variances["var"].mean() or 0.0)  # type: ignore[arg-type]
    told_mean, sd, n = np.array([found.get(code, (usual, 0.0, 0)) for code in dimensions]).T
    mean = (n * told_mean + USUAL_CELLS * usual) / (n + USUAL_CELLS)
    sampled = sd / np.sqrt(n + USUAL_CELLS) / (2.0 * np.where(mean > 0, mean, 1.0))
    return np.sqrt(mean), np.hypot(doubt, np.minimum(sampled, 1.0))


def _one_reader(demands: Any) -> bool:  # noqa: ANN401
    """Tell whether several readings come from one annotator: names that differ in the number of a run alone."""
    names = as_frame(demands, name="demands")
    if "annotator" not in names.columns:
        return False
    told = names["annotator"].cast(pl.String).drop_nulls().unique()
    return told.len() > 1 and told.str.replace(_RUN, "").n_unique() == 1


def _repeated(readings: pl.DataFrame, dimensions: list[str]) -> pl.DataFrame:
    """Return item, dimension, var: the variance of the readings of every cell that was read more than once."""
    again = readings.filter(pl.col("item").is_duplicated()).group_by("item").agg(pl.col(dimensions).var())
    return again.unpivot(index="item", on=dimensions, variable_name="dimension", value_name="var").drop_nulls()


def _stated_spread(demands: object) -> pl.DataFrame:
    """Return the variances that a long table states in a column spread; none where it has no such column."""
    frame = as_frame(demands, name="demands")
    if not {"item", "dimension", "spread"} <= set(frame.columns):
        return pl.DataFrame(schema={"item": pl.String, "dimension": pl.String, "var": pl.Float64})
    stated = frame.select("item", "dimension", var=pl.col("spread").cast(pl.Float64, strict=False) ** 2)
    return stated.drop_nulls()
