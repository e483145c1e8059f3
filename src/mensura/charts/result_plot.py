"""The picture of any result's first table: one row per subject, its value and, where there is one, its interval."""

from __future__ import annotations

import polars as pl

from mensura.charts.canvas import Drawing
from mensura.charts.forest import Strip, draw_forest
from mensura.core.errors import MensuraError

_PLACES = {"rank", "place", "number"}


def plot_table(table: pl.DataFrame, heading: str, rows: int = 30) -> Drawing:
    """Draw the first ``rows`` rows of a table as marks with intervals.

    The value is the column before ``low``, or the first number. What stands before it names the rows.
    """
    value = _value_column(table)
    names = [name for name in table.columns[: table.columns.index(value)] if not table[name].dtype.is_float()]
    names = [name for name in names if name not in _PLACES] or table.columns[:1]
    ranged = {"low", "high"} <= set(table.columns) and table["low"].count() > 0
    known = table.filter(pl.col(value).is_not_null()).head(rows)
    strips = [
        Strip(
            label=", ".join(str(row[name]) for name in names if row[name] is not None),
            value=float(row[value]),
            low=row["low"] if ranged else None,
            high=row["high"] if ranged else None,
            text=f"{row[value]:.3g}",
        )
        for row in known.to_dicts()
    ]
    title = value.replace("_", " ") + (" with its 90% interval" if ranged else "")
    return draw_forest(strips, axis=title, tick=lambda one: f"{one:g}", description=f"{heading}: {title}")


def _value_column(table: pl.DataFrame) -> str:
    """Return the column to draw."""
    if "low" in table.columns and table.columns.index("low"):
        return table.columns[table.columns.index("low") - 1]
    numbers = [name for name in table.columns if table[name].dtype.is_numeric() and name not in _PLACES]
    if not numbers:
        raise MensuraError(f"plot: expected a column of numbers, got {', '.join(table.columns)}; tables() has them all")
    return numbers[0]
