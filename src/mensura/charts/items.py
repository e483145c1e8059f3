"""Pictures of items: on one axis with those who took them, their information, one curve, differences of groups."""

from __future__ import annotations

from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.canvas import GRID, INK, PEOPLE, PEOPLE_STRONG, SOFT, Canvas, Place
from mensura.charts.forest import Strip, draw_forest
from mensura.charts.labels import pack, text_width
from mensura.charts.plot import WIDE, Plot, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import Row, counted, rows_of, say, say_range

_FEW = 40
"""Subjects of a kind that have a name and an interval each, and items that have a row each."""
_PITCH, _ROW = 7.0, 16.0
"""Width of a dot with the room around it, and height of a row of names, pixels."""


def item_map(points: object) -> Drawing:
    """Draw one strip per kind (items, people, models …) along the ability scale.

    ``points``: name, kind, value (difficulty of an item, ability of a subject), low, high. Where an item stands level
    with a subject, the subject has an even chance (more, where items can be guessed). Items, and kinds of many, are
    heaps of dots; few subjects have their names and intervals.
    """
    rows = rows_of(points, ("name", "kind", "value", "low", "high"), needed=["name", "kind", "value"])
    if not rows:
        return draw_nothing("no item and no subject")
    kinds: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: -row["value"]):
        kinds.setdefault(row["kind"], []).append(row)
    order = dict.fromkeys(row["kind"] for row in rows)
    ends = [row[end] for row in rows for end in ("value", "low", "high") if row["kind"] != "items" or end == "value"]
    x = Axis.around("ability of subjects, difficulty of items", ends)
    parts = (
        f"{counted(len(own), 'mark')} of {kind} from {say(own[-1]['value'])} to {say(own[0]['value'])}"
        for kind in order
        if (own := kinds[kind])
    )
    about = f"Items and subjects on one axis: {'; '.join(parts)}."

    def draw(width: float) -> Markup:
        sheet, at, y = Canvas(width, 0, about), x.scale(8, width - 8), 0.0
        for kind in order:
            own, ink = kinds[kind], PEOPLE if kind == "people" else INK
            sheet.words(0, y + 10, f"{len(own)} {kind}", fill=ink, weight="600", size=13, halo=True)
            heaped = kind == "items" or len(own) > _FEW
            y = _heap(sheet, own, at, y + 22) if heaped else _named(sheet, own, at, y + 22)
            sheet.line(0, y + 6, width, y + 6, INK if kind == "items" else GRID, 1.25)
            y += 14
        lines = Canvas(width, 0, "")
        for value, text in x.ticks(4 if width < 500 else 8):
            lines.line(at(value), 0, at(value), y - 8, GRID)
            sheet.words(at(value), y + 8, text, fill=SOFT, weight="600", anchor="middle")
        sheet.words(width, y + 26, x.title, fill=SOFT, anchor="end", size=11)
        sheet.parts, sheet.height = [*lines.parts, *sheet.parts], y + 36
        return sheet.svg()

    return Drawing(draw, about, tuple(rows), screen=WIDE)


def _label(row: Row) -> str:
    return f"{row['kind']} {row['name']}, {say(row['value'])}{say_range(row['low'], row['high'])}"


def _heap(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw a dot per row, stacked in columns; return where the heap ends."""
    columns: dict[int, list[Row]] = {}
    for row in rows:
        columns.setdefault(round(at(row["value"]) / _PITCH), []).append(row)
    tall = max(map(len, columns.values()))
    ground = top + tall * _PITCH
    for column, own in columns.items():
        for step, row in enumerate(own):
            with sheet.marked(_label(row)):
                ink = PEOPLE_STRONG if row["kind"] == "people" else INK
                sheet.dot(column * _PITCH, ground - (step + 0.5) * _PITCH, ink, 2.6)
    return ground


def _named(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw a mark with its interval and its name per row of the table, packed; return where they end."""
    spans, names = [], []
    shared = {row["name"] for row in rows if sum(other["name"] == row["name"] for other in rows) > 1}  # no names
    for row in rows:
        low, high = (at(row["value"] if row[end] is None else row[end]) for end in ("low", "high"))
        size = 0 if row["name"] in shared else text_width(row["name"], 12, "600") + 10
        right = high + size <= sheet.width
        spans.append((low - 6, high + size) if right else (low - size, high + 6))
        names.append((high + 10, "start") if right else (low - 10, "end"))
    lines = pack(spans)
    for row, line, (edge, anchor) in zip(rows, lines, names, strict=True):
        y, x = top + _ROW * (line + 0.5), at(row["value"])
        people = row["kind"] == "people"
        with sheet.marked(_label(row)):
            if row["low"] is not None and row["high"] is not None:
                ink = PEOPLE_STRONG if people else INK
                sheet.line(at(row["low"]), y, at(row["high"]), y, ink, 2.2, opacity=0.5, round_ends=True)
            if people:
                sheet.band(x - 2.5, y - 6, 5, 12, PEOPLE_STRONG, 1.0)
            else:
                sheet.dot(x, y, INK, 4.0)
            if row["name"] not in shared:
                ink = PEOPLE if people else INK
                sheet.words(edge, y, row["name"], fill=ink, weight="600", anchor=anchor, halo=True)
    return top + _ROW * (max(lines) + 1)


def information_curve(points: object) -> Drawing:
    """Draw a test's information over ability: where it places subjects well.

    ``points``: ability, information, error (half-width of the 90% interval there).
    """
    rows = rows_of(points, ("ability", "information", "error"), needed=["ability", "information"])
    if not rows:
        return draw_nothing("no information at any ability")
    best = max(rows, key=lambda row: row["information"])
    about = f"Information of a test over ability, highest ({say(best['information'])}) at {say(best['ability'])}."
    x = Axis.around("ability", [row["ability"] for row in rows])
    y = Axis("information", 0.0, 1.12 * best["information"] or 1.0)

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about, 300.0)
        plot.sheet.path(plot.points((row["ability"], row["information"]) for row in rows), INK)
        for row in rows:
            within = "" if row["error"] is None else f", within ±{say(row['error'])}"
            with plot.sheet.marked(f"ability {say(row['ability'])}, information {say(row['information'])}{within}"):
                plot.sheet.dot(plot.x(row["ability"]), plot.y(row["information"]), INK, 4 if row is best else 2)
        within = "" if best["error"] is None else f", ±{say(best['error'])}"
        text = f"surest at {say(best['ability'])}{within}"
        at, half = plot.x(best["ability"]), text_width(text, 12, "600") / 2
        at = min(max(at, plot.box[0] + half), plot.box[2] - half)
        plot.sheet.words(at, plot.y(best["information"]) - 13, text, weight="600", anchor="middle", halo=True)
        return plot.sheet.svg()

    return Drawing(draw, about, tuple(rows), screen=WIDE)


def item_characteristic(curve: object, observed: object) -> Drawing:
    """Draw one item's curve and the rates observed at abilities along it.

    ``curve``: ability, rate. ``observed``: ability, rate, low, high, n of subjects of about that ability.
    """
    path = rows_of(curve, ("ability", "rate"), needed=["ability", "rate"])
    rows = rows_of(observed, ("ability", "rate", "low", "high", "n"), needed=["ability", "rate"])
    if not path or not rows:
        return draw_nothing("no curve or no observed rate")
    nearest = [min(path, key=lambda one: abs(one["ability"] - row["ability"]))["rate"] for row in rows]
    off = max(abs(row["rate"] - rate) for row, rate in zip(rows, nearest, strict=True))
    about = f"An item's curve and {counted(len(rows), 'observed rate')}, at most {say(off)} from it."
    x = Axis.around("ability", [row["ability"] for row in (*path, *rows)])
    y = Axis("share right", -0.03, 1.03, lambda share: f"{share:.0%}")

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about, 300.0)
        plot.sheet.path(plot.points((row["ability"], row["rate"]) for row in path), INK)
        for row in rows:
            count = "" if row["n"] is None else f", {counted(int(row['n']), 'subject')}"
            label = f"ability {say(row['ability'])}, {row['rate']:.0%} right{say_range(row['low'], row['high'])}{count}"
            at = plot.x(row["ability"])
            with plot.sheet.marked(label):
                if row["low"] is not None and row["high"] is not None:
                    plot.sheet.line(
                        at, plot.y(row["low"]), at, plot.y(row["high"]), INK, 2.2, opacity=0.4, round_ends=True
                    )
                plot.sheet.sign(at, plot.y(row["rate"]), None)
        plot.note("dots: observed, with 90% intervals; line: fitted")
        return plot.sheet.svg()

    return Drawing(draw, about, tuple(rows), screen=WIDE)


def item_differences(points: object) -> Drawing:
    """Draw by how much items are easier or harder for one group than for another of equal ability, with intervals.

    ``points``: item, difference (logits), low, high, flagged (true where it is large and no chance finding). Of many
    items those that differ are drawn, and then those with the largest differences.
    """
    columns = ("item", "difference", "low", "high", "flagged")
    rows = rows_of(points, columns, needed=["item", "difference"])
    if not rows:
        return draw_nothing("no item was compared between groups")
    shown = sorted(rows, key=lambda row: (not row["flagged"], -abs(row["difference"])))[:_FEW]
    shown.sort(key=lambda row: -row["difference"])
    strips = [
        Strip(
            row["item"],
            row["difference"],
            row["low"],
            row["high"],
            "measured" if row["flagged"] else "estimated",
            text=say(row["difference"]),
            word="differs" if row["flagged"] else "alike",
            note=say_range(row["low"], row["high"]).removeprefix(", "),
        )
        for row in shown
    ]
    count = sum(bool(row["flagged"]) for row in rows)
    about = f"Differences of {counted(len(rows), 'item')} between two groups of equal ability; {count} differ."
    left = "" if len(shown) == len(rows) else f"; {len(rows) - len(shown)} smaller ones left out"
    return draw_forest(
        strips,
        axis=f"easier (+) or harder (−), logits; filled: differs{left}",
        tick=say,
        description=about,
        rule=0.0,
        table=[{key: row[key] for key in columns} for row in rows],
    )
