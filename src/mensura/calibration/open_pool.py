"""The open pool: real items with human rates, demands and world estimates, embedded as facts without texts.

What is measured, extrapolated and judged:

* ``rate``: measured, in the people who took the test (ENEM: implied by the official item parameters);
* levels: judged by a language model, once on all items and a second time on part of them;
* ``rate_asked``: the world's rate, judged by a language model that saw the item and the measured rate;
* ``rate_carried``: the world's rate, extrapolated by post-stratification from the measured rate and the world tables;
* ``both``: their mean on the logit scale, with an interval that reaches over both;
* outcomes of AI systems: measured, as published with the pools, a share where an item was tried several times.

Which calibrated lines a ruler reads levels with: the open ones, the published ones, or those of a file; and how well
lines predict people, which each picture of levels states beside its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.items import read_items
from mensura.calibration.result import read_calibration_file
from mensura.calibration.skill import predict_by_lines, skill_of
from mensura.core.arrays import Floats, expit, logit
from mensura.core.errors import check_choice
from mensura.core.frames import read_csv
from mensura.evidence import load, read_calibration
from mensura.intake.tables import as_frame
from mensura.scale import Calibration

OPEN = "open pool"
FOLDER = Path(__file__).parent / "data"
ESTIMATES = ("both", "asked", "carried")
READERS = 0.86
"""Share of the world that can read an item and so guesses: adult literacy of the world, rounded (UNESCO)."""
RUNS = ("run-1", "run-2")


def open_items() -> pl.DataFrame:
    """Return the embedded items of the open pool.

    Returns
    -------
    polars.DataFrame
        item, pool, options, n, rate and the world estimates.

    Examples
    --------
    >>> from mensura.calibration import open_items
    >>> open_items().height
    433

    """
    return read_csv(FOLDER / "open_items.csv")


def list_pools() -> pl.DataFrame:
    """List the pools behind the published and the open calibration.

    Returns
    -------
    polars.DataFrame
        origin, pool, test, coverage, subset. The published pools are those of the paper's Table 1; the subset of an
        open one is counted here.

    Examples
    --------
    >>> from mensura.calibration import list_pools
    >>> list_pools()["origin"].unique().sort().to_list()
    ['open', 'published']

    """
    counted = open_items().group_by("pool").agg(subset_open=pl.format("{} items", pl.len()))
    table = read_csv(FOLDER / "pools.csv").join(counted, on="pool", how="left", maintain_order="left")
    return table.with_columns(pl.coalesce("subset_open", "subset").alias("subset")).drop("subset_open")


_DIGITS = 8
"""Digits of a rate: a calibration's fingerprint of its inputs must not hang on the last bit of a logarithm."""


def open_rates(estimate: str = "both") -> pl.DataFrame:
    """Return the world's rates of the open items.

    Parameters
    ----------
    estimate
        both, asked or carried.

    Returns
    -------
    polars.DataFrame
        item, pool, options, rate, low, high.

    Raises
    ------
    MensuraError
        If the estimate is not known.

    Examples
    --------
    >>> from mensura.calibration import open_rates
    >>> open_rates("asked").columns
    ['item', 'pool', 'options', 'rate', 'low', 'high']

    """
    check_choice("estimate", estimate, ESTIMATES)
    table = open_items()
    if estimate == "both":
        asked, carried = (_triple(table, how) for how in ("asked", "carried"))
        middle = expit((logit(asked[0]) + logit(carried[0])) / 2)
        low, high = np.minimum(asked[1], carried[1]), np.maximum(asked[2], carried[2])
    else:
        middle, low, high = _triple(table, estimate)
    rates = {"rate": middle, "low": np.minimum(low, middle), "high": np.maximum(high, middle)}
    return table.select("item", "pool", "options").with_columns(
        pl.Series(name, values).round(_DIGITS) for name, values in rates.items()
    )


def _triple(table: pl.DataFrame, how: str) -> Sequence[Floats]:
    return [table[f"{name}_{how}"].to_numpy() for name in ("rate", "low", "high")]


def open_demands(run: str | None = None) -> pl.DataFrame:
    """Return the levels of the open items, wide.

    Parameters
    ----------
    run
        One annotation alone, run-1 or run-2; both when not given.

    Returns
    -------
    polars.DataFrame
        item, annotator, a column per dimension.

    Raises
    ------
    MensuraError
        If the run is not known.

    Examples
    --------
    >>> from mensura.calibration import open_demands
    >>> open_demands("run-1").height
    433

    """
    table = read_csv(FOLDER / "open_levels.csv")
    if run is None:
        return table
    check_choice("run", run, RUNS)
    return table.filter(annotator=run)


def open_outcomes() -> pl.DataFrame:
    """Return outcomes of AI systems and people on the open items.

    Returns
    -------
    polars.DataFrame
        subject, kind (AI or people), item, correct, options.

    Examples
    --------
    >>> from mensura.calibration import open_outcomes
    >>> open_outcomes()["kind"].unique().sort().to_list()
    ['AI', 'people']

    """
    outcomes = read_csv(FOLDER / "open_outcomes.csv")
    return outcomes.join(open_items().select("item", "options"), on="item", how="left", maintain_order="left")


HELD_OUT = 0.4  # measured: people.skill_demands
"""Rank correlation with people's success of every demand, calibrated without the pool that it orders."""


def open_lines() -> Calibration:
    """Return the lines of the embedded calibration of the open pool, as the ruler reads them."""
    read = replace(read_calibration_file(FOLDER / "open_calibration.json"), origin=OPEN).lines
    most = float(open_items()["n"].max())  # type: ignore[arg-type]
    return replace(read, lines=tuple(replace(line, tested=most) for line in read.lines))


def chosen_lines(calibration: str | None = None, published: Calibration | None = None) -> Calibration:
    """Return the calibrated lines that are asked for.

    Lines of two calibrations are never mixed: their bases differ tenfold, and a picture of both compares nothing.

    Parameters
    ----------
    calibration
        ``open``, ``published`` (the default), or a file: of :func:`write_calibration`, or a table of lines.
    published
        The published lines of an evidence; the embedded ones when not given.

    Returns
    -------
    mensura.scale.Calibration
        The lines.

    Raises
    ------
    MensuraError
        If the file is missing or something else.

    Examples
    --------
    >>> from mensura.calibration import chosen_lines
    >>> chosen_lines("open")["MCt"].base > 1
    True

    """
    if calibration is None or calibration == "published":
        return load().calibration if published is None else published
    if calibration == "open":
        return open_lines()
    path = Path(calibration)
    if path.is_dir() or path.suffix.lower() == ".json" or "verdict" in as_frame(path).columns:
        return read_calibration_file(path).lines
    return read_calibration(path)


QUALITY_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    **dict.fromkeys(("base", "r2", "skill", "by_pools", "largest"), pl.Float64),
}


def quality_of(lines: Calibration) -> pl.DataFrame:
    """Measure how well a calibration's lines predict people.

    The published lines were fitted elsewhere, so all open items are left out for them; the open lines were fitted on
    these pools.

    Parameters
    ----------
    lines
        The lines of a calibration.

    Returns
    -------
    polars.DataFrame
        dimension, base, r2 (of each line, as its calibration states it), skill (rank correlation of the dimension's
        level with people's success, within the pools of the open items), by_pools (that of all lines together, the
        rarest demand deciding, the same in every row), largest (that of the largest demand).

    Examples
    --------
    >>> from mensura.calibration import chosen_lines, quality_of
    >>> quality_of(chosen_lines("published")).columns[:3]
    ['dimension', 'base', 'r2']

    """
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    whole = skill_of(items, predict_by_lines(items, lines))[3]
    largest = skill_of(items, -items.levels.max(axis=1))[3]
    rows = []
    for line in lines:
        skill = skill_of(items, predict_by_lines(items, Calibration((line,))))[3]
        rows.append((line.dimension, line.base, line.r_squared, skill, whole, largest))
    return pl.DataFrame(rows, schema=QUALITY_COLUMNS, orient="row")


def calibration_name(lines: Calibration) -> str:
    """Return the name of a calibration's lines.

    Parameters
    ----------
    lines
        The lines.

    Returns
    -------
    str
        published, open or given.

    Examples
    --------
    >>> from mensura.calibration import calibration_name, chosen_lines
    >>> calibration_name(chosen_lines("open"))
    'open'

    """
    sources = {line.source for line in lines}
    return "open" if sources == {OPEN} else "published" if all("Table 16" in text for text in sources) else "given"


def say_quality(lines: Calibration) -> str:
    """Say in a sentence or two how well the lines of a calibration predict people.

    The open lines were fitted on the items that judge them, so their figure is that of fits without the pool judged.

    Parameters
    ----------
    lines
        The lines.

    Returns
    -------
    str
        The sentences.

    Examples
    --------
    >>> from mensura.calibration import chosen_lines, say_quality
    >>> say_quality(chosen_lines("published")).startswith("Published calibration: 9 lines")
    True

    """
    rows, name = quality_of(lines), calibration_name(lines)
    skill = HELD_OUT if name == "open" else rows["by_pools"][0] if rows.height else None
    middle = rows["r2"].median()
    fitted = "" if middle is None else f", median R² {float(str(middle)):.2f}"
    whose = f"{name.capitalize()} calibration: {rows.height} lines{fitted}."
    if skill is None:
        return f"{whose} No open item asks for its dimensions, so nothing shows how well it predicts people."
    where = "on the open items" if name == "given" else "on pools left out"
    return (
        f"{whose} Its rank correlation with people's success {where} is {skill:.2g}; that of the largest demand alone "
        f"is {rows['largest'][0]:.2f}."
    )
