"""The picture of a shared link: a whole sentence, the models with their numbers, and our font."""

import re

import pytest

from mensura.charts import Mark
from mensura.charts.card import HEIGHT, draw_share_card

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


def test_a_shared_picture_is_drawn_in_our_font():
    drawn = draw_share_card("Claude Opus 5 – how good?", SENTENCE)
    assert "Mensura Sans" in drawn.partition(">")[0]
