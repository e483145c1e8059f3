"""The picture of a shared link: a whole sentence, the models with their numbers, and our font."""

import re

import pytest

from mensura.charts import Mark
from mensura.charts.card import HEIGHT, draw_share_card
from mensura.charts.theme import text_width

SENTENCE = (
    "IQ 131 (90%: 128 to 134), a level that about 19 in 1,000 people reach: 142 in mathematics, 108 in reliability."
)


@pytest.mark.parametrize("marks", [(), (Mark("GPT-9", "OpenAI", 131.0, low=128.0, high=134.0),)])
@pytest.mark.parametrize("title", ["Short", "A title of more than one line of the whole picture"])
def test_a_shared_picture_shows_a_whole_sentence_and_the_models_with_their_numbers(title, marks):
    drawn = draw_share_card(title, SENTENCE, marks, "mensura.example, 10 October 2026")
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"([^>]*)>(.*?)</text>', drawn)
    sizes = [int(re.search(r'font-size="(\d+)"', look)[1]) for *_, look, _ in texts]
    assert min(sizes) >= 21, "it is seen at a third of its size"
    words = [re.sub(r"<[^>]*>", "", text) for *_, text in texts]
    assert SENTENCE in " ".join(words) and title in " ".join(words)
    assert words[:2] == ["Mensura", "mensura.example, 10 October 2026"]
    assert all(float(y) < HEIGHT - 10 for _, y, *_ in texts)
    assert ("GPT-9 131" in words) == bool(marks) == ("19 in 1,000 people" in words)
    assert "var(" not in drawn


def test_a_shared_picture_is_drawn_in_our_fonts_with_its_sentence_in_serif():
    drawn = draw_share_card("Claude Opus 5 – how good?", SENTENCE)
    assert "Mensura Sans" in drawn.partition(">")[0]
    serif = re.search(r'<g font-family="Mensura Serif">(.*?)</g>', drawn)[1]
    assert " ".join(re.findall(r"<text[^>]*>([^<]*)", serif)) == SENTENCE


def test_every_person_of_a_thousand_is_a_dot_and_those_at_or_above_the_first_model_are_dark():
    drawn = draw_share_card("T", SENTENCE, [Mark("GPT-9", "OpenAI", 131.0)])
    pale, dark = (re.search(rf'<path d="([^"]*)" stroke="{ink}"', drawn)[1] for ink in ("#efc6a0", "#c8560f"))
    dots = [sum(round(float(up) / 8) + 1 for up in re.findall(r"v-([\d.]+)", path)) for path in (pale, dark)]
    assert dots == [1000, 19], "19 in 1,000 people, as the words beside them say"


@pytest.mark.parametrize(("status", "tint"), [("estimated", "0.25"), ("measured", "1")])
def test_the_chance_of_leading_is_a_range_never_one_percentage(status, tint):
    leader = Mark("GPT-9", "OpenAI", 131.0, low=128.0, high=134.0, status=status)
    drawn = draw_share_card("2 of 32 tests", SENTENCE, [leader], chances=(0.6, 0.88))
    left, width = map(
        float, re.search(rf'<rect x="([\d.]+)" y="516" width="([\d.]+)"[^>]*opacity="{tint}"', drawn).groups()
    )
    track = 430
    assert (left - 56) / track == pytest.approx(0.6, abs=1e-3) and width / track == pytest.approx(0.28, abs=1e-3)
    assert ">60% to 88%</text>" in drawn and ">2 of 32 tests</text>" in drawn


def test_equal_chances_are_named_once_and_stay_on_the_picture():
    drawn = draw_share_card("T", SENTENCE, [Mark("GPT-9", "OpenAI", 131.0)], chances=(0.0, 0.004))
    (x,) = map(float, re.findall(r'<text x="([\d.]+)"[^>]*>under 1%</text>', drawn))
    assert x - text_width("under 1%", 23, "600") / 2 >= 55.9
