"""Curves and clouds: small panels side by side (levels, calibration, the world's rates), and curves of a test."""

from collections import Counter
from collections.abc import Callable, Sequence

from markupsafe import Markup

from mensura.charts.canvas import Canvas
from mensura.charts.plot import WIDE, Plot, draw_nothing, upright_ticks
from mensura.charts.render import Drawing
from mensura.charts.theme import paint, text_width, wrapped
from mensura.charts.values import Axis, Row, counted, listed, rows_of, say, say_range
from mensura.core.errors import MensuraError

_LOOKS = tuple((ink, dash) for dash in ("", "6 3", "2 2") for ink in (paint.ink, paint.accent, paint.quiet))
"""Colour and dash of one of several lines; no maker's colour, as a panel may show several systems of one maker."""
_GAP = 20.0
_SPREAD, _GOLDEN = 0.5, 0.6180339887
"""Items of one level are spread over half a level, by the golden ratio, so that many remain apart."""
_SEVERAL, _OTHERS, _MOST = "several", "others", 9
"""Items with more than one dominant dimension, those whose dimension is rare, and dimensions with a panel each."""

Key = tuple[Callable[[Canvas, float, float], None], str]
"""How a sign of the key is drawn, and what it means."""


def draw_panels(
    titles: Sequence[tuple[str, str]],
    x: Axis | Sequence[Axis],
    y: Axis,
    draw_one: Callable[[int, Plot], None],
    description: str,
    *,
    least: float = 150.0,
    tall: float = 130.0,
    key: Sequence[Key] = (),
    rows: Sequence[Row] = (),
) -> Drawing:
    """Draw one panel per title (a name, and a line below it) on common axes, as many in a row as fit.

    ``x``: the axis of all panels, or one for each. ``least``: width of a panel at least, ``tall``: its height, in
    pixels. The ``key`` stands above the panels.
    """
    across = [x] * len(titles) if isinstance(x, Axis) else x

    def draw(width: float) -> Markup:
        left = max(text_width(text, weight="600") for _, text in y.ticks(upright_ticks(tall))) + 10
        columns = max(1, min(len(titles), int((width - left + _GAP) / (least + _GAP))))
        each = (width - left - 6 + _GAP) / columns - _GAP
        words = [(wrapped(name, each, 12, "600", most=2), detail) for name, detail in titles]
        head = 16.0 * max(len(name) + bool(detail) for name, detail in words) + 8
        sheet = Canvas(width, 0, description)
        top = _draw_key(sheet, key)
        sheet.height = top + -(-len(titles) // columns) * (head + tall + 30) + 18
        for index, (name, detail) in enumerate(words):
            row, column = divmod(index, columns)
            start, level = left + column * (each + _GAP), top + row * (head + tall + 30)
            sheet.lines(start, level + 8, name, 16, weight="600")
            sheet.words(start, level + 8 + 16 * len(name), detail, fill=paint.soft, size=11)
            box = (start, level + head, start + each, level + head + tall)
            draw_one(index, Plot(sheet, box, across[index], y, words=column == 0))
        sheet.words(width - 6, sheet.height - 8, across[-1].title, fill=paint.soft, anchor="end", size=11)
        return sheet.svg()

    return Drawing(draw, description, (*rows,), screen=WIDE)


def _draw_key(sheet: Canvas, key: Sequence[Key]) -> float:
    """Draw the signs with their meanings, line by line, and return how high they are."""
    x, y = 0.0, 10.0
    for sign, text in key:
        size = 34 + text_width(text)
        x, y = (0.0, y + 18) if x and x + size > sheet.width else (x, y)
        sign(sheet, x + 10, y)
        sheet.words(x + 26, y, text, fill=paint.soft)
        x += size + 14
    return y + 22 if key else 0.0


def _sample(ink: str, width: float, dash: str = "") -> Callable[[Canvas, float, float], None]:
    """Return what draws a short line for the key."""
    return lambda sheet, at, level: sheet.line(at - 10, level, at + 10, level, ink, width, dash)


def level_curves(points: object) -> Drawing:
    """Draw each subject's rate of success over demand levels, one panel per dimension.

    Parameters
    ----------
    points : table
        Columns subject, dimension, level, rate, low, high (rates as shares from 0 to 1).

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or there are more than nine subjects.

    Examples
    --------
    >>> from mensura import charts
    >>> points = {"subject": ["A", "A"], "dimension": ["Logic", "Logic"], "level": [1, 2], "rate": [0.9, 0.5]}
    >>> charts.level_curves({**points, "low": [None, None], "high": [None, None]}).description
    'Rate of success over demand levels 1 to 2 in 1 dimension for A.'

    """
    columns = ("subject", "dimension", "level", "rate", "low", "high")
    rows = rows_of(points, columns, needed=["subject", "dimension", "level", "rate"])
    if not rows:
        return draw_nothing("no outcome by level")
    subjects, order = (list(dict.fromkeys(row[key] for row in rows)) for key in ("subject", "dimension"))
    if len(subjects) > len(_LOOKS):
        raise MensuraError(f"points: {len(subjects)} subjects; panels tell at most {len(_LOOKS)} apart, so choose some")
    looks = dict(zip(subjects, _LOOKS, strict=False))
    levels = [float(row["level"]) for row in rows]
    x, y = (
        Axis("level", min(levels) - 0.3, max(levels) + 0.3, whole=True),
        Axis("", -0.06, 1.06, lambda share: f"{share:.0%}"),
    )

    def draw_one(index: int, plot: Plot) -> None:
        for subject, (ink, dash) in looks.items():
            own = [row for row in rows if row["subject"] == subject and row["dimension"] == order[index]]
            plot.sheet.path(plot.points((row["level"], row["rate"]) for row in own), ink, 1.5, dash)
            for row in own:
                label = f"{subject}, {row['dimension']} level {row['level']:g}, {row['rate']:.0%} correct"
                with plot.sheet.marked(label):
                    plot.interval(row["level"], (row["low"], row["high"]), ink, 1.5, 0.35)
                    plot.sheet.dot(plot.x(row["level"]), plot.y(row["rate"]), ink, 2.8)

    about = (
        f"Rate of success over demand levels {min(levels):g} to {max(levels):g} in {counted(len(order), 'dimension')} "
        f"for {listed(subjects, len(subjects))}."
    )
    key = [(_sample(ink, 1.75, dash), subject) for subject, (ink, dash) in looks.items()] if len(subjects) > 1 else []
    return draw_panels([(name, "") for name in order], x, y, draw_one, about, least=140, key=key, rows=rows)


def level_panels(points: object, means: object, lines: object) -> Drawing:
    """Draw items (dots), the mean of each level (diamonds) and the calibrated line, one panel per dimension.

    Parameters
    ----------
    points, means : table
        Columns dimension, level, empirical.
    lines : table
        Columns dimension, name, slope, intercept, base, low, high, verdict; their order is that of the panels.

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
    >>> items = {"dimension": ["KN", "KN"], "level": [1.0, 2.0], "empirical": [0.9, 1.4]}
    >>> line = {"dimension": ["KN"], "name": ["Knowledge"], "slope": [0.5], "intercept": [0.4], "base": [3.16]}
    >>> drawing = charts.level_panels(items, items, {**line, "low": [None], "high": [None], "verdict": ["Standard"]})
    >>> drawing.description.endswith("Knowledge: B 3.16.")
    True

    """
    of_line = ("dimension", "name", "slope", "intercept", "base", "low", "high", "verdict")
    columns = ("dimension", "level", "empirical")
    fitted = {row["dimension"]: row for row in rows_of(lines, of_line, needed=["dimension"])}
    items = [row for row in rows_of(points, columns, needed=columns) if row["dimension"] in fitted]
    middles = [row for row in rows_of(means, columns, needed=columns) if row["dimension"] in fitted]
    if not items:
        return draw_nothing("no item is decided by a dimension that was calibrated")
    shown = [row for name, row in fitted.items() if any(item["dimension"] == name for item in items)]
    spread = [row["level"] + _SPREAD * ((at * _GOLDEN) % 1.0 - 0.5) for at, row in enumerate(items)]
    x = Axis("annotated level", min(spread) - 0.2, max(spread) + 0.2, whole=True)
    y = Axis.around("", [row["empirical"] for row in (*items, *middles)])
    titles = [(row["name"] or row["dimension"], _base(row)) for row in shown]

    def draw_one(index: int, plot: Plot) -> None:
        line, name = shown[index], shown[index]["dimension"]
        own = [(level, row) for level, row in zip(spread, items, strict=True) if row["dimension"] == name]
        for level, row in own:
            plot.sheet.dot(plot.x(level), plot.y(row["empirical"]), paint.people_strong, 1.9, 0.35)
        if line["slope"] is not None and line["intercept"] is not None:
            ends = [min(level for level, _ in own), max(level for level, _ in own)]
            plot.sheet.path(plot.points((end, line["slope"] * end + line["intercept"]) for end in ends), paint.ink)
        for row in middles:
            if row["dimension"] == name:
                label = f"{name} level {row['level']:g}, mean estimated level {say(row['empirical'])}"
                with plot.sheet.marked(label):
                    _diamond(plot.sheet, plot.x(row["level"]), plot.y(row["empirical"]))

    about = (
        f"Estimated against annotated level for {counted(len(items), 'item')} in {counted(len(shown), 'panel')}, with "
        f"the base of each: {'; '.join(f'{name}: {base}' for name, base in titles)}."
    )
    key: list[Key] = [
        (lambda sheet, at, level: sheet.dot(at, level, paint.people_strong, 2.5, 0.5), "an item"),
        (_diamond, "mean of a level"),
        (_sample(paint.ink, 1.75), "calibrated line, base B"),
    ]
    return draw_panels(titles, x, y, draw_one, about, least=200, tall=140, key=key, rows=(*items, *middles))


def _diamond(sheet: Canvas, x: float, y: float) -> None:
    sheet.area([(x, y - 5.5), (x + 4.5, y), (x, y + 5.5), (x - 4.5, y)], paint.ink, 1.0)


def _base(line: Row) -> str:
    if line["base"] is None:
        return "no base"
    interval = "" if line["low"] is None or line["high"] is None else f" ({line['low']:.2f} to {line['high']:.2f})"
    return f"B {line['base']:.2f}{interval}"


def world_scatter(points: object) -> Drawing:
    """Draw one dot per item: observed rate across, world estimate upright, and the line of equal rates.

    Each dimension has a panel; the rarest share one.

    Parameters
    ----------
    points : table
        Columns item, observed, world, low, high (rates between 0 and 1), dimension (the dominant one).

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
    >>> item = {"item": ["q1"], "observed": [0.6], "world": [0.3], "low": [0.2], "high": [0.4], "dimension": ["KN"]}
    >>> charts.world_scatter(item).description[:54]
    'World estimates against observed rates for 1 item, on '

    """
    columns = ("item", "observed", "world", "low", "high", "dimension")
    rows = rows_of(points, columns, needed=["item", "observed", "world"])
    if not rows:
        return draw_nothing("no item has both an observed rate and a world estimate")
    common = [name for name, _ in Counter(row["dimension"] for row in rows).most_common() if name != _SEVERAL]
    kept = common if len(common) <= _MOST else common[: _MOST - 1]
    grouped: dict[str, list[Row]] = {name: [] for name in (*kept, _OTHERS, _SEVERAL)}
    for row in rows:
        grouped[row["dimension"] if row["dimension"] in (*kept, _SEVERAL) else _OTHERS].append(row)
    grouped = {name: own for name, own in grouped.items() if own}
    x = Axis("observed in the sample (upright: estimated for the world)", -0.02, 1.02, lambda share: f"{share:.0%}")
    y = Axis("", -0.02, 1.02, lambda share: f"{share:.0%}")
    groups = list(grouped)

    def draw_one(index: int, plot: Plot) -> None:
        plot.sheet.path(plot.points([(0.0, 0.0), (1.0, 1.0)]), paint.quiet, 1, "3 3")
        for row in grouped[groups[index]]:
            label = (
                f"{row['item']}, {row['dimension']}, observed {say(row['observed'])}, world {say(row['world'])}"
                f"{say_range(row['low'], row['high'])}"
            )
            with plot.sheet.marked(label):
                plot.interval(row["observed"], (row["low"], row["high"]), paint.people_dot, 1.5, 0.6)
                plot.sheet.dot(plot.x(row["observed"]), plot.y(row["world"]), paint.people_strong, 2.6)

    gap = sum(row["world"] - row["observed"] for row in rows) / len(rows)
    about = (
        f"World estimates against observed rates for {counted(len(rows), 'item')}, on average {say(abs(gap))} "
        f"{'below' if gap < 0 else 'above'} them; dimensions: {listed(groups)}."
    )
    titles = [(name, counted(len(own), "item")) for name, own in grouped.items()]
    return draw_panels(titles, x, y, draw_one, about, least=160, tall=170, rows=rows)
