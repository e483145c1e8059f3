"""The pictures of a model's page: every mark where its number is, filled or hollow by what was measured."""

import re

import pytest

from mensura.charts import Mark
from mensura.charts.standing import Duel, draw_among, draw_duels, draw_kinds, draw_price
from mensura.charts.theme import paint, text_width
from mensura.charts.values import crowd_above

MODEL = Mark("GPT-9", "OpenAI", 128.2, low=126.0, high=130.0)


def dots(path):
    """How many people a line of round dashes shows."""
    pitch = float(re.search(r'stroke-dasharray="0 ([\d.]+)"', path)[1])
    return sum(1 + int(-float(step) / pitch) for step in re.findall(r"v(-[\d.]+)", path))


@pytest.mark.parametrize("width", [1200.0, 358.0])
def test_a_thousand_people_are_drawn_and_those_at_or_above_the_model_darker(width):
    svg = draw_among(MODEL, [90.0, 120.0], "among").draw(width)
    people, above = re.findall(r"<path [^>]*stroke-dasharray[^>]*>", svg)
    assert dots(people) == 1000
    assert paint.people_strong in above
    assert dots(above) == crowd_above(128) == 31
    assert "31 of 1,000" in svg
    assert "GPT-9, IQ 128" in svg


def test_the_other_models_are_ticks_in_the_order_of_their_iq():
    svg = draw_among(MODEL, [90.0, 120.0, 105.0], "among").wide
    rug = next(path for path in re.findall(r' d="([^"]*)"', svg) if path.count("v14") == 4)  # its own is under its mark
    x = [float(value) for value in re.findall(r"M([\d.]+) ", rug)]
    assert x == sorted(x), "one picture serves the pages of all models"
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.6)


def test_strips_say_the_value_and_fill_what_was_measured():
    kinds = [
        (Mark("Maths", "OpenAI", 141.0, low=138.0, high=144.0), [("Google", 130.0)]),
        (Mark("Abstract Reasoning", "OpenAI", 108.0, status="estimated", low=104.0, high=112.0), []),
    ]
    drawing = draw_kinds(kinds, "kinds")
    marks = re.findall(r'class="sign" transform="translate\(([\d.]+),[\d.]+\)" d="[^"]*" fill="([^"]*)"', drawing.wide)
    (best, full), (worst, hollow) = marks
    assert float(best) > float(worst)
    assert full != paint.surface == hollow
    assert re.findall(r'font-size="19"[^>]*>(\d+)<', drawing.wide) == ["141", "108"]
    assert ">Abstract<" in drawing.narrow
    assert ">Abstract Reasoning<" in drawing.draw(574.0)


@pytest.mark.parametrize("width", [574.0, 358.0])
def test_the_whole_name_of_a_group_stands_beside_its_test(width):
    name = "Adults without the speciality, over the whole mixed set"
    duels = [Duel(name, "GPQA", 80.0, 95.0, "over 99%", "passed", measured=True)] * 2
    svg = draw_duels(duels, "OpenAI", "duels").draw(width)
    lines = re.findall(r'font-size="13" font-weight="600"[^>]*>([^<]+)</text>', svg)
    assert name in " ".join(lines) and "…" not in svg
    heights = [float(y) for y in re.findall(r'class="sign" transform="translate\([\d.]+,([\d.]+)\)"', svg)]
    assert heights[1] - heights[0] > 45, "two lines of words need more room than one"


def test_people_and_model_stand_at_their_scores():
    duels = [Duel("Experts", "GPQA", 80.0, 95.0, "over 99%", "passed", measured=True)]
    svg = draw_duels(duels, "OpenAI", "duels").wide
    people = float(re.search(r'aria-label="Experts, GPQA"><rect x="([\d.]+)"', svg)[1]) + 3
    model = float(re.search(r'translate\(([\d.]+),[\d.]+\)" d=', svg)[1])
    grid = [float(x) for x in re.findall(r'<line x1="([\d.]+)" y1="20', svg)]
    share = (grid[-1] - grid[0]) / 100
    assert [(people - grid[0]) / share, (model - grid[0]) / share] == pytest.approx([80, 95], abs=0.1)


def test_dearer_is_further_right_and_a_tenfold_price_is_one_step():
    own = Mark("GPT-9", "OpenAI", 10.0, 128.0, "GPT-9, $10", detail="$10")
    others = [Mark("", "Google", 0.1, 90.0, ""), Mark("", "xAI", 1.0, 110.0, "", "estimated")]
    svg = draw_price(own, others, lambda cost: f"${cost:g}", "price").wide
    grey = re.search(r'<path d="(M[^"]+)" fill="[^"]+" stroke="[^"]+" stroke-opacity', svg)[1]
    a, b, under = (float(x) for x in re.findall(r"M([\d.]+),", grey))
    (mine,) = (float(x) for x in re.findall(r"translate\(([\d.]+),", svg))
    assert b - a == pytest.approx(mine - b, abs=8)  # an outline begins at a corner of the shape
    assert mine > b > a and under == pytest.approx(mine, abs=8), "all models are grey, alike on every page"
    assert re.search(r">GPT-9</text>.*>\$10<", svg)
    assert "the average person" in svg


def test_the_name_of_a_stranger_is_clipped_before_it_meets_the_people():
    drawing = draw_among(
        Mark("A very long name of a model " * 4, "OpenAI", 127.0, low=120.0, high=132.0), [90.0], "one"
    )
    for one in (drawing.wide, drawing.narrow):
        (name,) = re.findall(r">(A very [^<]*), IQ 127<", str(one))
        assert name.endswith("…") and text_width(name, 15, "600") <= 420


def test_the_count_of_other_models_gives_way_to_a_long_interval():
    short = draw_among(Mark("A", "OpenAI", 100.0, low=95.0, high=105.0), [90.0, 110.0], "short")
    long = draw_among(Mark("A", "OpenAI", 76.0, low=41.0, high=93.0), [90.0, 110.0], "long")
    assert "2 other models" in str(short.wide) and "2 other models" not in str(long.wide)


def test_ticks_of_a_profile_leave_room_for_their_numbers():
    near, far = (
        draw_kinds([(Mark("Maths", "OpenAI", middle, low=low, high=152.0), [("Google", 140.0)])], "one")
        for middle, low in ((140.0, 130.0), (75.0, -30.0))
    )
    numbers = [[int(text) for text in re.findall(r">(\d{2,3})</text>", str(one.narrow))] for one in (near, far)]
    assert {100, 115, 130, 145} <= set(numbers[0])
    assert {70, 100, 130} <= set(numbers[1]) and not {85, 115, 145} & set(numbers[1])
