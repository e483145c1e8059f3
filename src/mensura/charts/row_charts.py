"""Tables as rows with intervals: models by one value, tests as sensors, estimates, differences, any result."""

from collections.abc import Callable
from typing import Any

import polars as pl

from mensura.charts.forest import Strip, draw_forest
from mensura.charts.plot import Mark, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.values import counted, listed, rows_of, say, say_alike, say_range
from mensura.core.errors import MensuraError, with_article

_BARS = ("subject", "name", "provider", "value", "low", "high", "status")
_SENSORS = ("benchmark", "name", "low", "peak", "high")
_PLACES = {"rank", "place", "number"}

_FEW = 40
"""Items that have a row each in the picture of differences."""


def bars(
    points: object,
    *,
    x_title: str,
    log: bool = False,
    rule: float | None = None,
    ascending: bool = False,
    beside: str = "",
    tick: Callable[[float], str] = say,
) -> Drawing:
    """Draw one row per model, sorted by value.

    Parameters
    ----------
    points : table
        Columns subject, name, provider, value, low, high, status, and href if wanted.
    x_title : str
        What the value is.
    log : bool, default False
        Whether the axis is logarithmic; it leaves out values that are not positive.
    rule : float, optional
        A value to mark, such as 1×.
    ascending : bool, default False
        Whether the lowest comes first.
    beside : str, optional
        What a second value of each row is called; it is in the column ``other`` and an upright stroke.
    tick : callable
        Writes a value.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> model = {"subject": ["a"], "name": ["A"], "provider": [None], "value": [2.0], "low": [None], "high": [None]}
    >>> charts.bars({**model, "status": ["measured"]}, x_title="dollars").description
    'dollars of 1 model; first: A (2); last: A (2).'

    """
    columns = (*_BARS, "other") if beside else _BARS
    rows = rows_of(points, columns, needed=["subject", "name", "value"], optional=["href", "other"])
    rows = [row for row in rows if row["value"] > 0 or not log]
    if not rows:
        return draw_nothing(f"no model has {x_title}")
    rows.sort(key=lambda row: row["value"], reverse=not ascending)
    values, names = [row["value"] for row in rows], [row["name"] for row in rows]
    texts = say_alike(values) if tick is say and not log else [tick(value) for value in values]
    strips = []
    for row, text in zip(rows, texts, strict=True):
        name = row["name"] if names.count(row["name"]) == 1 else f"{row['name']} ({row['subject']})"
        other = "" if row["other"] is None else tick(row["other"])
        notes = [say_range(row["low"], row["high"]).removeprefix(", "), f"{beside} {other}" if beside and other else ""]
        facts: dict[str, Any] = {key: row[key] for key in ("status", "subject", "other")}
        links = {"provider": row["provider"] or "", "href": row["href"] or "", "note": ", ".join(filter(None, notes))}
        strips.append(Strip.of({**row, "name": name}, "name", "value", text, **facts, **links, other_text=other))
    top = listed(f"{row['name']} ({text})" for row, text in zip(rows, texts, strict=True))
    about = f"{x_title} of {counted(len(rows), 'model')}; first: {top}; last: {names[-1]} ({texts[-1]})."
    title = f"{x_title}; upright stroke: {beside}" if beside else x_title
    table = [{key: row[key] for key in columns} for row in rows]
    return draw_forest(strips, axis=title, tick=tick, description=about, rule=rule, log=log, table=table)


def sensors(points: object, models: object) -> Drawing:
    """Draw the range that each benchmark informs as a bar with a stroke at its peak, and models above.

    Parameters
    ----------
    points : table
        Columns benchmark, name, low, peak, high.
    models : table
        Columns subject, name, provider, value, and href if wanted.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> test = {"benchmark": ["t"], "name": ["T"], "low": [0.0], "peak": [0.5], "high": [1.0]}
    >>> models = {"subject": ["a"], "name": ["A"], "provider": [None], "value": [0.7]}
    >>> charts.sensors(test, models).description[-39:]
    '(0.5). 1 model lie between 0.7 and 0.7.'

    """
    ranges = rows_of(points, _SENSORS, needed=list(_SENSORS), optional=["href"])
    columns = ("subject", "name", "provider", "value")
    subjects = rows_of(models, columns, name="models", needed=["subject", "name", "value"], optional=["href"])
    if not ranges:
        return draw_nothing("no benchmark has a range")
    ranges.sort(key=lambda row: -row["peak"])
    peaks = say_alike([row["peak"] for row in ranges])
    strips = []
    for row, peak in zip(ranges, peaks, strict=True):
        note, subject = f"informs from {say(row['low'])} to {say(row['high'])}", f"benchmark:{row['benchmark']}"
        look: dict[str, Any] = {"href": row["href"] or "", "subject": subject, "note": note, "test": True}
        strips.append(Strip.of(row, "name", "peak", peak, **look))
    rug = [Mark.of(row, row["value"], 0.0, f"{row['name']}, Capability {say(row['value'])}") for row in subjects]
    hardest, easiest = ranges[0], ranges[-1]
    about = (
        f"Range of capability that each of {counted(len(ranges), 'benchmark')} informs; highest peak: "
        f"{hardest['name']} ({say(hardest['peak'])}), lowest: {easiest['name']} ({say(easiest['peak'])})."
    )
    if rug:
        places = sorted(one.x for one in rug)
        about += f" {counted(len(rug), 'model')} lie between {say(places[0])} and {say(places[-1])}."
    title, table = "Capability; small marks: models", [{key: row[key] for key in _SENSORS} for row in ranges]
    return draw_forest(strips, axis=title, tick=say, description=about, rug=rug, table=table)


def estimates(
    points: object,
    *,
    label: str,
    value: str,
    x_title: str,
    tick: Callable[[float], str] = say,
    text: Callable[[float], str] | None = None,
    order: Callable[[float], float] = float,
    log: bool = False,
    rule: float | None = None,
    least: float | None = None,
) -> Drawing:
    """Draw one row per estimate with its interval, the largest first.

    Parameters
    ----------
    points : table
        The columns ``label`` and ``value``, and low, high.
    label, value : str
        The columns of names and of values.
    x_title : str
        What the value is.
    tick, text : callable, optional
        Write the values of the axis and those of the rows.
    order : callable, optional
        Makes of a value what rows are sorted by, such as :func:`abs`.
    log : bool, default False
        Whether the axis is logarithmic; it leaves out values that are not positive.
    rule : float, optional
        A value to mark.
    least : float, optional
        The lowest value that the axis may show.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> rates = {"region": ["Asia", "Europe"], "rate": [0.4, 0.6], "low": [0.3, 0.5], "high": [0.5, 0.7]}
    >>> charts.estimates(rates, label="region", value="rate", x_title="Rate").description
    'Rate: from Europe (0.6) to Asia (0.4), 2 in all.'

    """
    rows = rows_of(points, (label, value, "low", "high"), needed=[label, value])
    rows = sorted((row for row in rows if row[value] > 0 or not log), key=lambda row: -order(row[value]))
    if not rows:
        return draw_nothing(f"no {label} has {with_article(value)}")
    values = [row[value] for row in rows]
    texts = [(text or say)(one) for one in values] if text or log else say_alike(values)
    notes = [say_range(row["low"], row["high"], tick).removeprefix(", ") for row in rows]
    strips = [
        Strip.of(row, label, value, words, status="estimated", note=note)
        for row, words, note in zip(rows, texts, notes, strict=True)
    ]
    first, last = (choose(strips, key=lambda one: one.value or 0) for choose in (max, min))
    about = f"{x_title}: from {first.label} ({first.text}) to {last.label} ({last.text}), {len(strips)} in all."
    return draw_forest(strips, axis=x_title, tick=tick, description=about, rule=rule, log=log, least=least, table=rows)


def plot_table(table: pl.DataFrame, heading: str, rows: int = 30) -> Drawing:
    """Draw the first ``rows`` rows of a table as marks with intervals.

    The value is the column before ``low``, or the first number. What stands before it names the rows.
    """
    value = _value_column(table)
    names = [name for name in table.columns[: table.columns.index(value)] if not table[name].dtype.is_float()]
    names = [name for name in names if name not in _PLACES] or table.columns[:1]
    ranged = {"low", "high"} <= set(table.columns) and table["low"].count() > 0
    drawn = table.filter(pl.col(value).is_not_null()).head(rows)
    strips = []
    for row in drawn.to_dicts():
        label = ", ".join(str(row[name]) for name in names if row[name] is not None)
        low, high = (row["low"], row["high"]) if ranged else (None, None)
        strips.append(Strip(label, float(row[value]), low, high, text=f"{row[value]:.3g}"))
    title = value.replace("_", " ") + (" with its 90% interval" if ranged else "")
    return draw_forest(strips, axis=title, tick=say, description=f"{heading}: {title}", table=drawn.to_dicts())


def _value_column(table: pl.DataFrame) -> str:
    """Return the column to draw."""
    if "low" in table.columns and table.columns.index("low"):
        return table.columns[table.columns.index("low") - 1]
    numbers = [name for name in table.columns if table[name].dtype.is_numeric() and name not in _PLACES]
    if not numbers:
        raise MensuraError(f"plot: expected a column of numbers, got {', '.join(table.columns)}; tables() has them all")
    return numbers[0]


def item_differences(points: object) -> Drawing:
    """Draw by how much items are easier or harder for one group than for another of equal ability.

    Of many items those that differ are drawn, and then those with the largest differences.

    Parameters
    ----------
    points : table
        Columns item, difference (logits), low, high, flagged (true where it is large and no chance finding).

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> item = {"item": ["q1"], "difference": [0.9], "low": [0.5], "high": [1.3], "flagged": [True]}
    >>> charts.item_differences(item).description
    'Differences of 1 item between two groups of equal ability; 1 differ.'

    """
    columns = ("item", "difference", "low", "high", "flagged")
    rows = rows_of(points, columns, needed=["item", "difference"])
    if not rows:
        return draw_nothing("no item was compared between groups")
    shown = sorted(rows, key=lambda row: (not row["flagged"], -abs(row["difference"])))[:_FEW]
    shown.sort(key=lambda row: -row["difference"])
    looks = {True: {"status": "measured", "word": "differs"}, False: {"status": "estimated", "word": "alike"}}
    strips = [
        Strip.of(row, "item", "difference", say(row["difference"]), **looks[bool(row["flagged"])]) for row in shown
    ]
    count = sum(bool(row["flagged"]) for row in rows)
    about = f"Differences of {counted(len(rows), 'item')} between two groups of equal ability; {count} differ."
    left = "" if len(shown) == len(rows) else f"; {len(rows) - len(shown)} smaller ones left out"
    title = f"easier (+) or harder (−), logits; filled: differs{left}"
    table = [{key: row[key] for key in columns} for row in rows]
    return draw_forest(strips, axis=title, tick=say, description=about, rule=0.0, table=table)
