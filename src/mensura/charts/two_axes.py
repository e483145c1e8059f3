"""Two quantities against each other: trade-offs of models, a ladder, curves of a test."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mensura.charts.plot import CROWD, Mark, Plot, Reference, draw_group, draw_nothing, draw_plot
from mensura.charts.render import Drawing
from mensura.charts.theme import paint, text_width
from mensura.charts.values import Axis, counted, listed, rows_of, say, say_range

COLUMNS = ("subject", "name", "provider", "x", "y", "status", "label")


def scatter(
    points: object,
    *,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    log_y: bool = False,
    reverse_x: bool = False,
    frontier: object | None = None,
    diagonal: bool = False,
    line: object | None = None,
    people: float | None = None,
    x_tick: Callable[[float], str] = say,
    y_tick: Callable[[float], str] = say,
    y_word: str = "",
) -> Drawing:
    """Draw one mark per model by two quantities.

    A logarithmic axis leaves out values that are not positive.

    Parameters
    ----------
    points : table
        Columns subject, name, provider, x, y, status, label; low, high (of y) and href if wanted.
    x_title, y_title : str
        What the axes show.
    log_x, log_y : bool, default False
        Whether an axis is logarithmic.
    reverse_x : bool, default False
        Whether the x axis falls to the right.
    frontier : table, optional
        Columns x, y of the best trade-offs, drawn as steps, each with both of its values.
    diagonal : bool, default False
        Whether to draw the line of equal values.
    line : table, optional
        Columns x, y: the ends of a trend.
    people : float, optional
        Where the average person stands on the y axis.
    x_tick, y_tick : callable
        Write values.
    y_word : str
        A word before the values of y in names.

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
    >>> model = {"subject": ["a"], "name": ["A"], "provider": [None], "x": [1.0], "y": [2.0]}
    >>> drawing = charts.scatter({**model, "status": ["measured"], "label": [True]}, x_title="price", y_title="IQ")
    >>> drawing.description
    'IQ against price for 1 model; highest IQ: A (2 at 1).'

    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "x", "y"], optional=["low", "high", "href"])
    rows = [row for row in rows if (row["x"] > 0 or not log_x) and (row["y"] > 0 or not log_y)]
    if not rows:
        return draw_nothing(f"no model has both {x_title} and {y_title}")
    edge, trend = sorted(_path(frontier, "frontier")), _path(line, "line")
    rows.sort(key=lambda row: ((row["x"], row["y"]) not in edge, -row["y"]))
    marks = []
    for index, row in enumerate(rows):
        across, up = x_tick(row["x"]), y_tick(row["y"])
        words = f"{row['name']}, {x_title} {across}, {y_title} {up}, {row['status']}"
        mark = Mark.of(row, row["x"], row["y"], words)
        named = replace(mark, named=True, detail=f"{across}, {y_word}{up}")
        marks.append(named if index < len(edge) else replace(mark, low=None, high=None))
    x = Axis.around(x_title, [one.x for one in marks], x_tick, log=log_x, reverse=reverse_x)
    heights = [one.y for one in marks] + [end for one in marks if one.named for end in (one.low, one.high)]
    y = Axis.around(y_title, heights, y_tick, log=log_y, pad=0.07)
    best = sorted(rows, key=lambda row: -row["y"])
    top = listed(f"{row['name']} ({say(row['y'])} at {say(row['x'])})" for row in best)
    about = f"{y_title} against {x_title} for {counted(len(rows), 'model')}; highest {y_title}: {top}."

    def draw(plot: Plot) -> None:
        if diagonal and (low := max(x.low, y.low)) < (high := min(x.high, y.high)):
            plot.sheet.path(plot.points([(low, low), (high, high)]), paint.quiet, 1, "4 3")
        plot.sheet.path(plot.points(trend), paint.accent)
        blocked = []
        if people is not None and y.low < people < y.high:
            blocked = plot.levels([Reference("the average person", people)], marks)
        if edge:
            blocked += plot.steps([(edge[0][0], y.low), *edge, (x.high, edge[-1][1])])
        side = "start" if reverse_x else "end"
        plot.models(marks, blocked=blocked, best=range(len(edge)), side=side, strong=len(marks) < CROWD)
        if any(one.status == "estimated" for one in marks):
            plot.note("hollow: estimated")

    return draw_plot(x, y, about, draw, height=440.0, rows=({key: row[key] for key in COLUMNS[:-1]} for row in rows))


def _path(table: object | None, name: str) -> list[tuple[float, float]]:
    return [] if table is None else [(row["x"], row["y"]) for row in rows_of(table, ("x", "y"), name=name)]


def draw_ladder(
    points: Sequence[tuple[float, float]],
    models: Sequence[Mark],
    people: Sequence[Reference],
    *,
    tick: Callable[[float], str],
    description: str,
) -> Drawing:
    """Draw IQ (upright) against score (across): a ladder with models and groups of people on it.

    Parameters
    ----------
    points : sequence of (score, IQ)
        The steps of the ladder, joined by a line.
    models : sequence of Mark
        Models; ``x`` is the score, ``y`` the IQ.
    people : sequence of Reference
        Groups of people, by their score.
    tick : callable
        Writes a score.
    description : str
        The picture in words.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> charts.draw_ladder([(0, 70), (90, 160)], (), (), tick=str, description="a ladder").description
    'a ladder'

    """
    scores = [score for score, _ in points] + [one.x for one in models] + [group.value for group in people]
    x, y = Axis.around("score", scores, tick), Axis("IQ by the ladder", 60.0, 170.0, lambda iq: f"{iq:.0f}")

    def draw(plot: Plot) -> None:
        for step, group in enumerate(sorted(people, key=lambda one: one.value)):
            draw_group(plot.sheet, group, plot.x, plot.box[1] + 18 * step + 4, plot.box[3])
        plot.sheet.path(plot.points(points), paint.accent)
        for score, iq in points:
            plot.sheet.dot(plot.x(score), plot.y(iq), paint.accent)
        plot.models(models, strong=True)

    return draw_plot(x, y, description, draw, height=320.0, screen=700.0)


def information_curve(points: object) -> Drawing:
    """Draw a test's information over ability: where it places subjects well.

    Parameters
    ----------
    points : table
        Columns ability, information, error (half-width of the 90% interval there).

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
    >>> charts.information_curve({"ability": [-1.0, 0.0], "information": [2.0, 9.0], "error": [1.2, 0.5]}).description
    'Information of a test over ability, highest (9) at 0.'

    """
    rows = rows_of(points, ("ability", "information", "error"), needed=["ability", "information"])
    if not rows:
        return draw_nothing("no information at any ability")
    best = max(rows, key=lambda row: row["information"])
    about = f"Information of a test over ability, highest ({say(best['information'])}) at {say(best['ability'])}."
    x = Axis.around("ability", [row["ability"] for row in rows])
    y = Axis("information", 0.0, 1.12 * best["information"] or 1.0)

    def draw(plot: Plot) -> None:
        plot.sheet.path(plot.points((row["ability"], row["information"]) for row in rows), paint.ink)
        for row in rows:
            within = "" if row["error"] is None else f", within ±{say(row['error'])}"
            with plot.sheet.marked(f"ability {say(row['ability'])}, information {say(row['information'])}{within}"):
                plot.sheet.dot(plot.x(row["ability"]), plot.y(row["information"]), paint.ink, 4 if row is best else 2)
        within = "" if best["error"] is None else f", ±{say(best['error'])}"
        text = f"surest at {say(best['ability'])}{within}"
        at, half = plot.x(best["ability"]), text_width(text, 12, "600") / 2
        at = min(max(at, plot.box[0] + half), plot.box[2] - half)
        plot.sheet.words(at, plot.y(best["information"]) - 13, text, weight="600", anchor="middle", halo=True)

    return draw_plot(x, y, about, draw, height=300.0, rows=rows)


def item_characteristic(curve: object, observed: object) -> Drawing:
    """Draw one item's curve and the rates observed at abilities along it.

    Parameters
    ----------
    curve : table
        Columns ability, rate.
    observed : table
        Columns ability, rate, low, high, n of subjects of about that ability.

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
    >>> curve = {"ability": [-1.0, 1.0], "rate": [0.3, 0.7]}
    >>> observed = {"ability": [1.0], "rate": [0.6], "low": [0.5], "high": [0.7], "n": [80]}
    >>> charts.item_characteristic(curve, observed).description
    "An item's curve and 1 observed rate, at most 0.1 from it."

    """
    path = rows_of(curve, ("ability", "rate"), needed=["ability", "rate"])
    rows = rows_of(observed, ("ability", "rate", "low", "high", "n"), needed=["ability", "rate"])
    if not path:
        return draw_nothing("no curve")
    nearest = [min(path, key=lambda one: abs(one["ability"] - row["ability"]))["rate"] for row in rows]
    off = max((abs(row["rate"] - rate) for row, rate in zip(rows, nearest, strict=True)), default=0.0)
    distance = f" and {counted(len(rows), 'observed rate')}, at most {say(off)} from it" if rows else ""
    about = f"An item's curve{distance}."
    x = Axis.around("ability", [row["ability"] for row in (*path, *rows)])
    y = Axis("share right", -0.03, 1.03, lambda share: f"{share:.0%}")

    def draw(plot: Plot) -> None:
        plot.sheet.path(plot.points((row["ability"], row["rate"]) for row in path), paint.ink)
        for row in rows:
            count = "" if row["n"] is None else f", {counted(int(row['n']), 'subject')}"
            label = f"ability {say(row['ability'])}, {row['rate']:.0%} right{say_range(row['low'], row['high'])}{count}"
            with plot.sheet.marked(label):
                plot.interval(row["ability"], (row["low"], row["high"]), paint.ink, 2.2, 0.4)
                plot.sheet.sign(plot.x(row["ability"]), plot.y(row["rate"]), None)
        plot.note("dots: observed, with 90% intervals; line: fitted")

    return draw_plot(x, y, about, draw, height=300.0, rows=rows)
