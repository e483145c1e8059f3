"""Six questions from the first page, each answered after so many clicks; typing and scrolling are free."""

import re


class Reader:
    """A reader who starts on the first page and counts every click."""

    def __init__(self, visit):
        self.page = visit("index.html")
        self.clicks = 0

    def click(self, what):
        self.page.click(what)
        self.clicks += 1

    def choose(self, field, option):
        self.page.select_option(field, label=option)
        self.clicks += 1

    def reads(self, place):
        self.page.wait_for_selector(place, state="attached")
        self.page.wait_for_load_state()  # the place may be there while the rest of its page still comes in
        return " ".join(self.page.inner_text(place).split())


def test_how_sure_it_is_stands_on_the_first_page(visit):
    reader = Reader(visit)
    assert re.search(r"(leads|lead): an? (over )?\d+( to \d+)?% chance of being first", reader.reads("h1"))
    assert reader.clicks == 0


def test_what_changed_is_one_click_away(visit):
    reader = Reader(visit)
    reader.click("footer >> text=What changed")
    said = reader.reads("main")
    assert re.search(r"Editions \d+ \w+ 20\d\d Newest score of \d+ \w+ 20\d\d", said)
    assert re.search(r"What the evidence received .+ 10 October 2026 LMArena text leaderboard", said)
    assert reader.clicks == 1


def test_when_the_average_person_was_passed_on_a_test_is_one_click_away(visit):
    reader = Reader(visit)
    reader.click("header >> text=People")
    said = reader.reads("#passed .only-wide, #passed .at-wide, #passed svg >> nth=0")
    assert re.search(r"The general public ARC-AGI-2, 60%.*Gemini 3\.1 Pro Preview Feb 2026", said)
    assert reader.clicks == 1


def test_the_best_model_at_maths_under_a_dollar_is_two_clicks_away(visit):
    reader = Reader(visit)
    reader.click("header >> text=Pick")
    reader.choose("[name=task]", "Mathematical Reasoning")
    reader.page.fill("[name=budget]", "1")
    reader.page.wait_for_function("document.getElementById('pick-said').textContent.includes('without a price')")
    best = reader.reads("#picked article >> nth=0")
    assert re.search(r"IQ \d+ there, 90% \d+ to \d+", best)
    assert float(re.search(r"\$([\d.]+) per 1M", best)[1]) <= 1
    assert reader.clicks == 2


def test_a_model_against_people_with_a_doctorate_is_two_clicks_away(visit):
    reader = Reader(visit)
    reader.click("header >> text=Compare")
    reader.page.fill("#add-subject", "PhD")
    reader.click("#found [data-key] >> nth=0")
    reader.page.wait_for_function("document.querySelectorAll('[data-drop]').length === 4")
    assert re.search(
        r"GPT-6 Astra above experts in the field on GPQA Diamond (over )?\d+%", reader.reads("#chance-table")
    )
    assert reader.clicks == 2


def test_where_a_number_is_from_is_two_clicks_away(visit):
    reader = Reader(visit)
    reader.click("#chances a >> nth=0")
    reader.click(".fact .prov summary >> nth=0")
    said = reader.reads(".fact .prov[open] dl >> nth=0")
    for label in ("Value", "90% interval", "Status", "Rule", "Sources"):
        assert label in said
    assert reader.clicks == 2
