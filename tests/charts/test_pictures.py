"""Every picture: well formed, complete, described, readable on a phone, honest about what was estimated."""

import datetime as dt
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import polars as pl
import pytest

from mensura import charts
from mensura.charts import Canvas, Mark, Reference, Strip, draw_forest
from mensura.charts.bell import FirstBell, look_at
from mensura.charts.lengths import WorkGroup
from mensura.charts.passing import PassingRow, draw_passing
from mensura.charts.plot import draw_nothing
from mensura.charts.row_charts import plot_table
from mensura.charts.standing import Duel, draw_among, draw_duels, draw_jagged, draw_kinds, draw_price
from mensura.charts.theme import paint, resolve, text_width
from mensura.core.errors import MensuraError

APPROVED = Path(__file__).parent / "approved"
FIGURES = Path(__file__).parents[2] / "docs" / "figures.md"
WIDTHS = (1100.0, 358.0)

MODELS = {
    "subject": ["opus", "sol", "flash", "k3", "small"],
    "name": ["Opus 4.8", "GPT Sol", "Gemini Flash", "Kimi K3", "Small & <Open>"],
    "provider": ["Anthropic", "OpenAI", "Google", "Moonshot AI", None],
    "low": [125.0, 126.0, None, 130.0, 88.0],
    "high": [131.0, 132.0, None, 139.0, 96.0],
    "status": ["measured", "measured", "estimated", "estimated", "measured"],
    "label": [True, True, False, True, True],
}
VALUES = [128.0, 129.0, 121.5, 134.0, 92.0]
DAYS = [dt.date(2026, 5, 28), dt.date(2026, 6, 1), dt.date(2026, 2, 1), dt.date(2026, 7, 1), dt.date(2024, 3, 1)]
SUBJECT = ("subject", "name", "provider")


def models(*columns: str, **more: list) -> pl.DataFrame:
    return pl.DataFrame({**{key: MODELS[key] for key in columns}, **more}, strict=False)


TIMED = models(*SUBJECT, "low", "high", "status", "label", value=VALUES, released=DAYS)
PLACED = models(*SUBJECT, "status", "label", x=[25.0, 30.0, 2.0, 0.5, 0.05], y=VALUES)
BARS = models(*SUBJECT, "low", "high", "status", value=VALUES)
LINES = pl.DataFrame({"provider": ["OpenAI", "OpenAI"], "released": DAYS[3:][::-1], "value": [92.0, 129.0]})
FORECAST = pl.DataFrame({"date": [dt.date(2026, 8, 1), dt.date(2027, 8, 1)], "value": [135.0, 150.0]})
FORECAST = FORECAST.with_columns(low=pl.col("value") - 2, high=pl.col("value") + 4)
LEVELS = pl.DataFrame({"label": ["average adult", "experts"], "value": [100.0, 101.0], "low": [None, 98.0]})
LEVELS = LEVELS.with_columns(high=pl.Series([None, 104.0]))
FRONTIER = pl.DataFrame({"x": [0.05, 0.5, 30.0], "y": [92.0, 121.0, 134.0]})
AXIS = pl.DataFrame(
    {
        "kind": ["model", "model", "benchmark", "people"],
        "name": ["Opus 4.8", "GPT Sol", "Hard test", "average adult"],
        "provider": ["Anthropic", "OpenAI", None, None],
        "subject": ["opus", "sol", None, None],
        "value": [2.1, 2.1, 1.0, 0.0],
        "low": [1.9, 2.0, None, -0.1],
        "high": [2.3, 2.2, None, 0.1],
        "label": [True, True, True, True],
    }
)
RANGES = pl.DataFrame({"benchmark": ["a", "b"], "name": ["A", "B"], "low": [0.1, 1.0], "peak": [0.5, 1.4]})
RANGES = RANGES.with_columns(high=pl.col("peak") + 1)
CELLS = models(*SUBJECT, benchmark=["A", "B", "A", "B", "A"], residual=[0.1, -0.2, None, 0.05, 0.0])
OUTCOMES = pl.DataFrame({"subject": ["m", "m", "n", "n"], "dimension": ["AS", "KN", "AS", "KN"], "level": [1, 2, 1, 2]})
OUTCOMES = OUTCOMES.with_columns(rate=pl.Series([0.9, 0.5, 0.4, 0.1]), low=pl.lit(0.05), high=pl.lit(0.95))
WATCHED = pl.DataFrame({"date": DAYS[:3], "statistic": [0.5, 2.5, -0.2], "boundary": [2.0, 2.0, 2.0]})

WORLD = pl.DataFrame(
    {
        "item": ["a", "b", "c"],
        "observed": [0.2, 0.6, 0.9],
        "world": [0.15, 0.3, 0.5],
        "low": [0.1, 0.2, None],
        "high": [0.2, 0.4, None],
        "dimension": ["QLq", "KNs", "several"],
    }
)

ANNOTATED = pl.DataFrame(
    {"dimension": ["KN", "KN", "KN", "VO"], "level": [1.0, 1, 2, 1], "empirical": [0.8, 1.0, 1.4, 0.9]}
)
LEVEL_MEANS = pl.DataFrame({"dimension": ["KN", "KN", "VO"], "level": [1.0, 2, 1], "empirical": [0.9, 1.4, 0.9]})
LEVEL_LINES = pl.DataFrame(
    {
        "dimension": ["KN", "VO"],
        "name": ["Knowledge", "Volume"],
        "slope": [0.5, None],
        "intercept": [0.4, None],
        "base": [3.16, None],
        "low": [2.0, None],
        "high": [5.0, None],
        "verdict": ["Standard", "not identified: one level only"],
    }
)
AMONG = pl.DataFrame(
    {
        "subject": ["model", "pupils & co", "model", "pupils & co"],
        "dimension": ["Attention", "Attention", "Volume", "Volume"],
        "level": [4.1, 2.0, None, None],
        "low": [3.4, 1.7, None, None],
        "high": [5.6, 2.4, None, None],
        "kind": ["AI", "people", "AI", "people"],
        "note": ["", "extrapolated", "no line", "no line"],
    }
)

ITEM_MAP = pl.DataFrame(
    {
        "name": ["q1", "q<2>", "Opus 4.8", "pupils"],
        "kind": ["items", "items", "models", "people"],
        "value": [-1.0, 1.5, 2.0, 0.0],
        "low": [-1.2, 1.2, 1.7, None],
        "high": [-0.8, 1.8, 2.3, None],
    }
)
INFORMED = pl.DataFrame({"ability": [-2.0, 0.0, 2.0], "information": [2.0, 9.0, 4.0], "error": [1.16, 0.55, 0.82]})
ITEM_CURVE = pl.DataFrame({"ability": [-2.0, -1.0, 0.0, 1.0, 2.0], "rate": [0.12, 0.27, 0.5, 0.73, 0.88]})
OBSERVED_RATES = pl.DataFrame(
    {"ability": [-1.0, 1.0], "rate": [0.3, 0.7], "low": [0.2, None], "high": [0.4, None], "n": [100, 80]}
)
DIFFERENCES = pl.DataFrame(
    {
        "item": ["q1", "q2", "it's q3"],
        "difference": [0.1, -1.2, 0.4],
        "low": [-0.2, -1.6, 0.0],
        "high": [0.4, -0.8, 0.8],
        "flagged": [False, True, False],
    }
)

PICTURES = {
    "item_map": (charts.item_map, (ITEM_MAP,), {}),
    "information_curve": (charts.information_curve, (INFORMED,), {}),
    "item_characteristic": (charts.item_characteristic, (ITEM_CURVE, OBSERVED_RATES), {}),
    "item_differences": (charts.item_differences, (DIFFERENCES,), {}),
    "timeline": (
        charts.timeline,
        (TIMED,),
        {"y_title": "IQ", "lines": LINES, "forecast": FORECAST, "levels": LEVELS, "today": dt.date(2026, 7, 15)},
    ),
    "scatter": (
        charts.scatter,
        (PLACED,),
        {"x_title": "USD", "y_title": "IQ", "log_x": True, "reverse_x": True, "frontier": FRONTIER, "diagonal": True},
    ),
    "bars": (charts.bars, (BARS,), {"x_title": "percent"}),
    "one_axis": (charts.one_axis, (AXIS,), {}),
    "sensors": (charts.sensors, (RANGES, models(*SUBJECT, value=VALUES)), {}),
    "residuals": (charts.residuals, (CELLS,), {}),
    "level_curves": (charts.level_curves, (OUTCOMES,), {}),
    "watch": (charts.watch, (WATCHED,), {}),
    "world_scatter": (charts.world_scatter, (WORLD,), {}),
    "level_panels": (charts.level_panels, (ANNOTATED, LEVEL_MEANS, LEVEL_LINES), {}),
    "among_people": (charts.among_people, (AMONG,), {}),
}
WITH_STATUS = ["timeline", "scatter", "bars"]


def build(name, **changes):
    function, tables, settings = PICTURES[name]
    return function(*tables, **{**settings, **changes})


class Drawn(NamedTuple):
    """A picture, what it looks like for a screen and a phone, and its tables as they were before."""

    picture: charts.Drawing
    trees: list[ElementTree.Element]
    tables: list[pl.DataFrame]


@pytest.fixture(scope="module")
def drawn():
    """Every picture, made once."""

    def make(name):
        tables = [table.clone() for table in PICTURES[name][1]]
        picture = build(name)
        return Drawn(picture, [ElementTree.fromstring(resolve(picture.draw(width))) for width in WIDTHS], tables)

    return {name: make(name) for name in PICTURES}


def labels(tree):
    """What a screen reader says of the marks."""
    return [node.get("aria-label") for node in tree.iter() if node.get("aria-label") and node is not tree]


def texts(tree):
    """Every text with its place: left and right end, middle, size."""
    found = []
    for node in tree.iter("{http://www.w3.org/2000/svg}text"):
        words, size = "".join(node.itertext()), float(node.get("font-size", 12))
        width = text_width(words, size, node.get("font-weight") or "400")
        x = float(node.get("x")) - {"start": 0, "middle": width / 2, "end": width}[node.get("text-anchor", "start")]
        found.append((words, x, x + width, float(node.get("y")), size))
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_looks_as_it_did_when_last_looked_at(name, drawn):
    """Sizes, colours and places were judged by eye; ``APPROVE=1 pytest tests/charts`` takes over what is drawn now."""
    assert_approved(name, str(drawn[name].picture.html))


def assert_approved(name, markup):
    """Compare a drawing with the approved one, line by line."""
    lines = re.sub(r"(?<=>)(?=<)", "\n", markup) + "\n"
    file = APPROVED / f"{name}.txt"
    if os.environ.get("APPROVE"):
        file.write_text(lines, encoding="utf-8")
    assert lines == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_every_row_of_the_table_has_a_mark_that_says_its_name(name, drawn):
    tables = PICTURES[name][1]
    for column in ("name", "item", "subject", "region"):
        table = next((one for one in tables if column in one.columns), None)
        if table is not None:
            break
    if table is None or name == "level_panels":
        return
    value = next(
        key for key in ("residual", "level", "value", "world", "difference", "peak", "y", "rate") if key in table
    )
    said = "\n".join(labels(drawn[name].trees[0]))
    assert all(str(row[column]) in said for row in table.drop_nulls(value).to_dicts())


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_leaves_the_sheet_stands_at_an_angle_or_is_too_small_to_read(name, drawn):
    for tree, width in zip(drawn[name].trees, WIDTHS, strict=True):
        height = float(tree.get("height"))
        assert "rotate" not in ElementTree.tostring(tree, encoding="unicode")
        for words, left, right, y, size in texts(tree):
            assert left >= -3 and right <= width + 3, words
            assert 0 < y <= height, words
            assert size >= 11, words


@pytest.mark.parametrize("name", PICTURES)
def test_no_two_words_lie_over_each_other(name, drawn):
    for tree in drawn[name].trees:
        boxes = [(words, left, right, y - 0.7 * size, y) for words, left, right, y, size in texts(tree) if words]
        for at, (words, left, right, top, bottom) in enumerate(boxes):
            over = [
                other[0]
                for other in boxes[:at]
                if left < other[2] - 2 and other[1] < right - 2 and top < other[4] - 2 and other[3] < bottom - 2
            ]
            assert over == [], words


@pytest.mark.parametrize("name", PICTURES)
def test_days_are_months_and_never_iso_dates(name, drawn):
    for tree in drawn[name].trees:
        assert not re.search(r"\d{4}-\d\d-\d\d", ElementTree.tostring(tree, encoding="unicode"))


@pytest.mark.parametrize("name", PICTURES)
def test_says_what_it_shows(name, drawn):
    picture, (wide, _), _ = drawn[name]
    assert len(picture.description) > 40
    assert picture.description.endswith(".")
    assert not re.search(r"None|nan", picture.description)
    assert wide.get("aria-label") == picture.description


@pytest.mark.parametrize("name", PICTURES)
def test_brings_the_table_behind_its_marks(name, drawn):
    rows, (_, tables, _) = drawn[name].picture.rows, PICTURES[name]
    assert rows
    assert any(set(rows[0]) <= {*table.columns, "low", "high", "name"} for table in tables)


@pytest.mark.parametrize("name", WITH_STATUS)
def test_estimates_look_different(name):
    """The mark of an estimate is hollow, a measured one full."""
    svg = build(name).wide
    marks = re.findall(r'aria-label="([^"]*)">(?:<line[^>]*>)*<path class="sign"[^>]*fill="([^"]*)"', svg)
    assert {fill == paint.surface for label, fill in marks if ", estimated" in label} == {True}
    assert {fill == paint.surface for label, fill in marks if ", measured" in label} == {False}


@pytest.mark.parametrize("name", ["timeline", "scatter"])
def test_note_on_estimates_only_where_there_are_some(name):
    function, tables, settings = PICTURES[name]
    measured = tables[-1].with_columns(status=pl.lit("measured"))
    assert "hollow: estimated" in build(name).wide
    assert "hollow: estimated" not in function(*tables[:-1], measured, **settings).wide


@pytest.mark.parametrize("name", PICTURES)
def test_empty_table_says_that_there_is_nothing(name):
    function, tables, settings = PICTURES[name]
    picture = function(*(table.clear() for table in tables), **settings)
    assert picture.description.startswith("nothing to show: ")
    assert picture.description in picture.wide


@pytest.mark.parametrize("name", PICTURES)
def test_one_row_is_enough(name):
    function, tables, settings = PICTURES[name]
    single = {key: value for key, value in settings.items() if isinstance(value, str | bool)}
    picture = function(*(table.head(1) for table in tables), **single)
    assert labels(ElementTree.fromstring(resolve(picture.draw(360))))


@pytest.mark.parametrize("name", PICTURES)
def test_missing_column_is_named(name):
    function, tables, settings = PICTURES[name]
    first = tables[0].columns[-1]
    with pytest.raises(MensuraError, match=f"missing column '{first}'"):
        function(tables[0].drop(first), *tables[1:], **settings)


def test_same_tables_give_the_same_picture(drawn):
    for name, made in drawn.items():
        assert build(name).html == made.picture.html


def test_input_tables_are_left_as_they_were(drawn):
    for name, made in drawn.items():
        assert all(a.equals(b) for a, b in zip(made.tables, PICTURES[name][1], strict=True))


def test_every_picture_is_listed_tested_and_documented():
    functions = {name for name in charts.__all__ if name.islower() and not name.startswith("draw_")}
    elsewhere = {"bell_curve", "estimates", "resolve"}  # tests/charts/test_bell.py and test_row_charts.py
    elsewhere |= {"calibration_curve", "frame_picture"}  # test_calibration.py and test_frame.py
    assert functions - elsewhere == set(PICTURES)
    page = FIGURES.read_text(encoding="utf-8")
    assert [name for name in charts.__all__ if f"`{name}" not in page and f"charts.{name}" not in page] == []
    for name, (_, tables, _) in PICTURES.items():
        section = page.split(f"### `{name}`")[1].split("###")[0]
        wanted = {column for table in tables for column in table.columns}
        assert [column for column in sorted(wanted) if f"`{column}`" not in section] == [], name


# Drawings of the pages that no function of the public list makes, and cases that the tables above do not reach.

PEOPLE = (
    Reference("adults", 100.0, 97.0, 103.0, "measured", "#people", "people:a", "median of 3 tests"),
    Reference("experts in their field", 118.0, None, None, "judged", note="half under 2 hours"),
)
ONE = Mark("GPT-9 (high)", "OpenAI", 128.2, 131.0, "GPT-9", subject="gpt-9", href="m.html", low=126.0, high=130.5)
TWO = Mark("A", None, 104.0, 92.0, "A", "estimated", "a", "", low=99.0, high=110.0, detail="$0.2")
RELEASED = [
    Mark(name, lab, float(dt.date(2024 + at, 3, 1).toordinal()), score, subject=name, detail=f"{score:g}%")
    for at, (name, lab, score) in enumerate((("Alpha", "OpenAI", 60.0), ("Beta", None, 70.0), ("Gamma", "xAI", 90.0)))
]
PASSED = PassingRow("passed", "Nurses", "Quiz, 50%", *RELEASED, "over 99%", (50.0, 40.0, 60.0), "B", "people counted")
DUELS = [
    Duel("Experts of the whole field who took it twice", "GPQA", 80.0, 95.0, "over 99%", "passed", measured=True),
    Duel("Pupils", "ARC", 60.0, 40.0, "4%", "not passed", measured=False),
]
TASKS = {"security": [(60.0, True), (60.0, False), (1.5, True)], "science": [(61.0, True), (700.0, False)]}
PINS = [
    Reference(f"kind {at}", minutes, note=f"half under {minutes:g} minutes") for at, minutes in ((1, 3.0), (2, 90.0))
]
WORK = [
    WorkGroup(
        "Security tasks",
        ["12 tasks, three of them timed by their authors"],
        [replace(ONE, x=42.0, y=9.0, low=20.0, high=None), replace(TWO, x=9000.0, y=0.0, low=4000.0, high=9500.0)],
    ),
    WorkGroup("Science", ["4 tasks"], (), "no model was measured on these tasks"),
]
JUDGES = [("Experts", "off by two", [-2.0, -2.01, 0.5, 9.0], None), ("A model", "off by four", [-1.0, -8.0], "OpenAI")]
CLAIMS = [{"chance": 0.05 * at, "came_true": at % 3 > 0} for at in range(21)] + [{"chance": 0.9, "came_true": True}] * 8
GROUPS = [
    {"said": 0.2, "came_true": 0.25, "low": 0.1, "high": 0.4, "n": 12},
    {"said": 0.9, "came_true": 0.8, "low": 0.7, "high": 0.9, "n": 500},
]
MANY = pl.DataFrame(
    {
        "kind": ["items"] * 41 + ["people"] * 2,
        "name": [f"q{at}" for at in range(41)] + ["same"] * 2,
        "value": [0.1 * (at * 7 % 13) for at in range(43)],
        "low": [None] * 42 + [-1.0],
        "high": [None] * 42 + [1.5],
    }
)
LONG_AXIS = pl.concat(
    [
        AXIS.with_columns(
            value=pl.col("value") - shift, name=pl.format("{}{}", "name", pl.lit(", judged" * (shift > 0)))
        )
        for shift in (0.0, 0.4, 1.3, -0.5, 2.0)
    ]
)
ESTIMATES = pl.DataFrame(
    {"region": ["A", "B", "C"], "rate": [0.5, -2.0, 8.0], "low": [0.4, None, 6.0], "high": [0.7, None, 9.0]}
)
LOW = BARS.rename({"value": "iq"}).with_columns(iq=pl.col("iq") - 50, low=pl.col("low") - 50, high=pl.col("high") - 50)
LONG = BARS.rename({"value": "iq"}).with_columns(
    name=pl.format("{} of a very long name (with words in brackets)", "name"), high=pl.lit(158.0), low=pl.lit(75.0)
)
FOUR = [ONE, TWO, replace(ONE, name="Third", x=90.0, low=80.0, high=95.0), replace(TWO, name="Fourth", x=120.0)]
LONG_CELLS = CELLS.with_columns(
    benchmark=pl.format("{} and a very long name of a test, longer than its room", "benchmark")
)
ROW = Strip("A", 90.0, 80.0, 105.0, text="90")
BESIDE = replace(ROW, label="B", other=100.0, other_text="100")
WORDY = [Reference("people of a group whose name is much longer than a phone is wide, measured, n = 1,234", 100.0)]
MONTHLY = [
    replace(ONE, name=f"M{at}", x=738000.0 + 40 * at, y=80.0 + 3 * at - 30 * (at % 5 == 3), low=70.0 + at, high=130.0)
    for at in range(17)
]


def at_widths(draw) -> str:
    """Return a drawing as a wide screen, a tablet and a phone have it."""
    return "\n".join(str(draw(width)) for width in (1200.0, 704.0, 358.0))


def first_bell(width: float) -> str:
    marks = [replace(ONE, x=ONE.x - 3 * at, low=None, high=None, name=f"Model {at}") for at in range(17)]
    bell = FirstBell(look_at(width), [ONE, *marks, TWO], [*PEOPLE, Reference("the best", 139.0, note="a few")])
    return str(bell.draw(("31 in 1,000", "are at or above it"), "the first screen"))


def jagged(width: float) -> str:
    kinds = {"math": "Mathematics", "trust": "Reliability"}
    models = [
        (one, {kind: replace(one, x=one.x + 6 * at, detail="1 in 5") for at, kind in enumerate(kinds)})
        for one in (ONE, TWO)
    ]
    return str(draw_jagged(width, kinds, models, {"math": PEOPLE}, 1, "jagged"))


PASSINGS = [
    PASSED,
    replace(PASSED, first=None, grade="E", people=(75.0, None, None), test="Quiz, 75%"),
    replace(PASSED, kind="ahead", level=None, first=None, grade="", people=(95.0, 90.0, 99.0), test="Quiz, 95%"),
    replace(PASSED, kind="ahead", people=(None, None, None), test="Votes, 1,300 Elo", grade="A"),
]
DRAWINGS = {
    "page_bell": lambda: at_widths(charts.bell_curve(BARS.rename({"value": "iq"})).draw),
    "page_bell_low": lambda: str(charts.bell_curve(LOW).draw(1200.0)),
    "page_bell_names": lambda: str(charts.bell_curve(LONG).draw(358.0)),
    "page_nothing": lambda: at_widths(draw_nothing("no model has a score, and this sentence takes two lines").draw),
    "page_history": lambda: at_widths(
        charts.draw_history(MONTHLY, PEOPLE, tick=lambda score: f"{score:.0f}%", description="monthly").draw
    ),
    "page_first_bell": lambda: at_widths(first_bell),
    "page_among": lambda: at_widths(draw_among(ONE, [90.0, 104.0, 120.0], "among").draw),
    "page_among_low": lambda: at_widths(draw_among(TWO, [90.0, 120.0], "among").draw),
    "page_kinds": lambda: at_widths(
        draw_kinds(
            [(ONE, [("Google", 120.0)]), (replace(TWO, name="Abstract Reasoning"), [(None, 95.0)])], "kinds"
        ).draw
    ),
    "page_price": lambda: at_widths(
        draw_price(replace(ONE, x=3.0), [replace(TWO, x=0.2)], lambda cost: f"${cost:g}", "price").draw
    ),
    "page_duels": lambda: at_widths(draw_duels(DUELS, "OpenAI", "duels").draw),
    "page_jagged": lambda: at_widths(jagged),
    "page_passing": lambda: at_widths(
        draw_passing(
            PASSINGS,
            start=dt.date(2023, 1, 1),
            today=dt.date(2026, 6, 1),
            titles={"passed": "Passed: 2", "none": "None", "ahead": "Ahead: 2"},
            description="passing",
        ).draw
    ),
    "page_lengths": lambda: at_widths(charts.draw_lengths(TASKS, PINS, WORK, "lengths").draw),
    "page_judged": lambda: at_widths(charts.draw_judged(JUDGES, "judged").draw),
    "page_claims": lambda: at_widths(charts.calibration_curve(GROUPS, CLAIMS).draw),
    "page_frame": lambda: charts.frame_picture(
        str(Canvas(300, 100, "chart").svg()),
        charts.FrameWords(
            "A leads with 90%, " * 6, "Scores.", "Few tests.", "Own scores", "1 May 2026", "CC BY 4.0", "a.org"
        ),
    ),
    "page_card": lambda: charts.draw_share_card("A title", "A sentence of the finding. " * 7, FOUR, "1 May 2026"),
    "page_residuals": lambda: at_widths(charts.residuals(LONG_CELLS).draw),
    "page_no_residuals": lambda: str(charts.residuals(LONG_CELLS.with_columns(residual=0.0)).draw(1200.0)),
    "page_forest": lambda: at_widths(
        draw_forest([ROW, BESIDE], axis="IQ", tick=str, description="d", references=WORDY).draw
    ),
    "page_item_map": lambda: at_widths(charts.item_map(MANY).draw),
    "page_one_axis": lambda: at_widths(charts.one_axis(LONG_AXIS, units={1.0: "a year"}).draw),
    "page_estimates": lambda: at_widths(
        charts.estimates(ESTIMATES, label="region", value="rate", x_title="Rate", order=abs, rule=1.0, least=-1.0).draw
    ),
    "page_estimates_log": lambda: at_widths(
        charts.estimates(ESTIMATES, label="region", value="rate", x_title="Rate", log=True).draw
    ),
    "page_plot": lambda: at_widths(plot_table(ESTIMATES, "Rates", 2).draw),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_of_pages_look_as_they_did_when_last_looked_at(name):
    assert_approved(name, DRAWINGS[name]())
