"""Tables as rows with intervals: models by one value, regions, drivers, bases, progress, tests as sensors, results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from mensura.charts.forest import Strip, draw_forest
from mensura.charts.plot import Mark, Reference, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import PEOPLE_STATUSES, Row, counted, listed, rows_of, say, say_alike, say_range
from mensura.core.errors import MensuraError

_BARS = ("subject", "name", "provider", "value", "low", "high", "status")
_SENSORS = ("benchmark", "name", "low", "peak", "high")
_PLACES = {"rank", "place", "number"}


def bars(
    points: object,
    *,
    x_title: str,
    references: object | None = None,
    log: bool = False,
    rule: float | None = None,
    ascending: bool = False,
    beside: str = "",
    tick: Callable[[float], str] | None = None,
) -> Drawing:
    """Draw one row per model, sorted by value.

    ``points``: subject, name, provider, value, low, high, status, and perhaps href. ``references``: group, value, low,
    high, status: human groups as named vertical lines. ``rule`` marks one value, such as 1×. ``beside`` is what a
    second value of each row, in the column ``other``, is called; it is an upright stroke. ``tick`` writes values.
    """
    columns = (*_BARS, "other") if beside else _BARS
    rows = rows_of(points, columns, needed=["subject", "name", "value"], optional=["href", "other"])
    rows = [row for row in rows if row["value"] > 0 or not log]
    if not rows:
        return draw_nothing(f"no model has {x_title}")
    rows.sort(key=lambda row: row["value"], reverse=not ascending)
    values = [row["value"] for row in rows]
    texts = (
        [tick(value) for value in values] if tick else [say(value) for value in values] if log else say_alike(values)
    )
    names = [row["name"] for row in rows]
    strips = [
        Strip(
            row["name"] if names.count(row["name"]) == 1 else f"{row['name']} ({row['subject']})",
            row["value"],
            row["low"],
            row["high"],
            row["status"],
            row["provider"] or "",
            text,
            row["href"] or "",
            row["subject"],
            _noted(row, beside, tick or say),
            row["other"],
            (tick or say)(row["other"]) if row["other"] is not None else "",
        )
        for row, text in zip(rows, texts, strict=True)
    ]
    people = _people(references)
    top = listed(f"{row['name']} ({text})" for row, text in zip(rows, texts, strict=True))
    about = f"{x_title} of {counted(len(rows), 'model')}; first: {top}; last: {names[-1]} ({texts[-1]})."
    about += f" People: {listed((group.label for group in people), 6)}." if people else ""
    return draw_forest(
        strips,
        axis=f"{x_title}; upright stroke: {beside}" if beside else x_title,
        tick=tick or say,
        description=about,
        references=people,
        rule=rule,
        log=log,
        table=[{key: row[key] for key in columns} for row in rows],
    )


def _noted(row: Row, beside: str, tick: Callable[[float], str]) -> str:
    """Return what the mark of a model says besides its value."""
    other = f"{beside} {tick(row['other'])}" if beside and row["other"] is not None else ""
    return ", ".join(filter(None, [say_range(row["low"], row["high"]).removeprefix(", "), other]))


def _people(references: object | None) -> list[Reference]:
    if references is None:
        return []
    columns = ("group", "value", "low", "high", "status")
    people = rows_of(references, columns, name="references", needed=["group", "value"], statuses=PEOPLE_STATUSES)
    return [
        Reference(
            f"{row['group']}: {say(row['value'])}{say_range(row['low'], row['high'])}, {row['status']}",
            *(row[key] for key in columns[1:]),
        )
        for row in people
    ]


def sensors(points: object, models: object, *, x_title: str = "Capability") -> Drawing:
    """Draw the range that each benchmark informs as a bar with a stroke at its peak, and models above.

    ``points``: benchmark, name, low, peak, high. ``models``: subject, name, provider, value, and perhaps href.
    """
    ranges = rows_of(points, _SENSORS, needed=list(_SENSORS), optional=["href"])
    columns = ("subject", "name", "provider", "value")
    subjects = rows_of(models, columns, name="models", needed=["subject", "name", "value"], optional=["href"])
    if not ranges:
        return draw_nothing("no benchmark has a range")
    ranges.sort(key=lambda row: -row["peak"])
    peaks = say_alike([row["peak"] for row in ranges])
    strips = [
        Strip(
            row["name"],
            row["peak"],
            row["low"],
            row["high"],
            text=peak,
            href=row["href"] or "",
            subject=f"benchmark:{row['benchmark']}",
            note=f"informs from {say(row['low'])} to {say(row['high'])}",
            test=True,
        )
        for row, peak in zip(ranges, peaks, strict=True)
    ]
    rug = [Mark.of(row, row["value"], 0.0, f"{row['name']}, {x_title} {say(row['value'])}") for row in subjects]
    hardest, easiest = ranges[0], ranges[-1]
    about = (
        f"Range of {x_title.lower()} that each of {counted(len(ranges), 'benchmark')} informs; highest peak: "
        f"{hardest['name']} ({say(hardest['peak'])}), lowest: {easiest['name']} ({say(easiest['peak'])})."
    )
    if rug:
        places = sorted(one.x for one in rug)
        about += f" {counted(len(rug), 'model')} lie between {say(places[0])} and {say(places[-1])}."
    return draw_forest(
        strips,
        axis=f"{x_title}; small marks: models",
        tick=say,
        description=about,
        rug=rug,
        table=[{key: row[key] for key in _SENSORS} for row in ranges],
    )


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
    return draw_forest(strips, axis=title, tick=say, description=f"{heading}: {title}", table=known.to_dicts())


def _value_column(table: pl.DataFrame) -> str:
    """Return the column to draw."""
    if "low" in table.columns and table.columns.index("low"):
        return table.columns[table.columns.index("low") - 1]
    numbers = [name for name in table.columns if table[name].dtype.is_numeric() and name not in _PLACES]
    if not numbers:
        raise MensuraError(f"plot: expected a column of numbers, got {', '.join(table.columns)}; tables() has them all")
    return numbers[0]


def bases(points: object, *, x_title: str = "Base: factor by which success falls per level") -> Drawing:
    """Draw the base of each dimension on a logarithmic axis, with the design value 10 as a line.

    ``points``: dimension, name, base; bases are printed with two decimals, as calibrations print them.
    """
    columns = ("dimension", "name", "base")
    nothing = "no dimension has a base"
    return _estimates(points, columns, x_title, nothing, text=lambda base: f"{base:.2f}", log=True, rule=10.0)


def regions(points: object, *, x_title: str = "Rate of success") -> Drawing:
    """Draw the rate of each region of the world. ``points``: region, rate, low, high (shares from 0 to 1)."""

    def percent(share: float) -> str:
        return f"{share:.0%}"

    columns = ("low", "high", "region", "rate")
    return _estimates(points, columns, x_title, "no region has a rate", tick=percent, text=percent, least=0.0)


def drivers(points: object, *, x_title: str = "Change of the rate, percentage points") -> Drawing:
    """Draw what a number hangs on: the change that each driver brings. ``points``: driver, effect, low, high."""
    columns = ("low", "high", "driver", "effect")
    return _estimates(points, columns, x_title, "no driver has an effect", order=lambda effect: -abs(effect), rule=0.0)


def difficulties(points: object, *, x_title: str = "Difficulty") -> Drawing:
    """Draw benchmarks, hardest first. ``points``: benchmark, difficulty, low, high."""
    return _estimates(points, ("low", "high", "benchmark", "difficulty"), x_title, "no benchmark has a difficulty")


def progress(points: object, *, x_title: str = "Less compute for the same capability, × per year") -> Drawing:
    """Draw estimates of algorithmic progress, as given, on a logarithmic axis. ``points``: label, value, low, high."""
    columns = ("low", "high", "label", "value")
    return _estimates(points, columns, x_title, "no estimate of progress", order=lambda _: 0.0, log=True, rule=1.0)


def _estimates(
    points: object,
    columns: Sequence[str],
    x_title: str,
    nothing: str,
    *,
    tick: Callable[[float], str] = say,
    text: Callable[[float], str] | None = None,
    order: Callable[[float], float] = lambda value: -value,
    log: bool = False,
    **look: Any,  # noqa: ANN401
) -> Drawing:
    """Draw rows whose name and value are in the last two columns; ``look``: settings of :func:`draw_forest`."""
    label, value = columns[-2:]
    rows = rows_of(points, columns, needed=[label, value], optional=["low", "high"])
    rows = sorted((row for row in rows if row[value] > 0 or not log), key=lambda row: order(row[value]))
    if not rows:
        return draw_nothing(nothing)
    values = [row[value] for row in rows]
    texts = [(text or say)(one) for one in values] if text or log else say_alike(values)
    notes = [say_range(row["low"], row["high"], tick).removeprefix(", ") for row in rows]
    strips = [
        Strip(row[label], row[value], row["low"], row["high"], "estimated", text=text, note=note)
        for row, text, note in zip(rows, texts, notes, strict=True)
    ]
    first, last = max(strips, key=lambda one: one.value or 0), min(strips, key=lambda one: one.value or 0)
    about = f"{x_title}: from {first.label} ({first.text}) to {last.label} ({last.text}), {len(strips)} in all."
    return draw_forest(strips, axis=x_title, tick=tick, description=about, log=log, table=rows, **look)
