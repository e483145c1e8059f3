"""How well the lines of a calibration predict people: each picture of levels states it beside its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.inputs import published_groups, read_items
from mensura.calibration.open_pool import HELD_OUT, OPEN, open_demands, open_items
from mensura.calibration.rated_items import RatedItems
from mensura.calibration.skill import skill_of
from mensura.core.arrays import Floats
from mensura.scale import Calibration

QUALITY_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    **dict.fromkeys(("base", "r2", "skill", "by_pools", "largest"), pl.Float64),
}


def predict_by_lines(items: RatedItems, lines: Calibration) -> Floats:
    """Return the rate of every item by calibrated lines: that of its rarest demand; NaN where no line applies.

    A line of a group, such as KN, reads the level of the group, as the published procedure does.
    """
    rate = np.full(items.size, np.nan)
    grouped = items.grouped(published_groups())
    for line in lines:
        source = items if line.code in items.dimensions else grouped
        if line.code not in source.dimensions:
            continue
        level = source.levels[:, source.dimensions.index(line.code)]
        asked = level > 0
        rate[asked] = np.fmin(rate[asked], line.rate(np.maximum(level[asked], line.lowest_level)))
    return rate


def quality_of(lines: Calibration) -> pl.DataFrame:
    """Return dimension, base, r2, skill, by_pools, largest: how well a calibration's lines predict people.

    ``r2``: of each line, as its calibration states it. ``skill``: rank correlation of the dimension's level with
    people's success, within the pools of the open items. ``by_pools``: that of all lines together, the rarest demand
    deciding, the same in every row; ``largest``: that of the largest demand. The published lines were fitted elsewhere,
    so all are held out for them; the open lines were fitted on these pools.
    """
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    whole = skill_of(items, predict_by_lines(items, lines))[3]
    largest = skill_of(items, -items.levels.max(axis=1))[3]
    rows = [
        (
            line.dimension,
            line.base,
            line.r_squared,
            skill_of(items, predict_by_lines(items, Calibration((line,))))[3],
            whole,
            largest,
        )
        for line in lines
    ]
    return pl.DataFrame(rows, schema=QUALITY_COLUMNS, orient="row")


def calibration_name(lines: Calibration) -> str:
    """Return whose lines these are: published, open or given."""
    sources = {line.source for line in lines}
    return "open" if sources == {OPEN} else "published" if all("Table 16" in text for text in sources) else "given"


def say_quality(lines: Calibration) -> str:
    """Return in a sentence or two how well the lines of a calibration predict people.

    The open lines were fitted on the items that judge them, so their figure is that of fits without the pool judged.
    """
    rows, name = quality_of(lines), calibration_name(lines)
    skill = HELD_OUT if name == "open" else rows["by_pools"][0] if rows.height else None
    middle = rows["r2"].median()
    fitted = "" if middle is None else f", median R² {float(str(middle)):.2f}"
    said = f"{name.capitalize()} calibration: {rows.height} lines{fitted}."
    if skill is None:
        return f"{said} No open item asks for its dimensions, so nothing shows how well it predicts people."
    held = "" if name == "given" else "on pools left out"
    return (
        f"{said} Its rank correlation with people's success {held or 'on the open items'} is {skill:.2f}; that of the "
        f"largest demand alone is {rows['largest'][0]:.2f}."
    )
