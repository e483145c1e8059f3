"""What readers once found broken on a phone and on a screen, tried in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from mensura.cli.main import build_app

_OVERLAPS = """() => {
  const svg = [...document.querySelectorAll('#first .chart svg')].find((one) => one.getBoundingClientRect().width > 0);
  const texts = [...svg.querySelectorAll('text')].map((one) => [one.textContent, one.getBoundingClientRect()]);
  const seen = texts.filter(([, box]) => box.width > 0);
  const faults = seen.filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([text]) => 'cut: ' + text);
  for (const [place, [text, a]] of seen.entries()) for (const [other, b] of seen.slice(place + 1))
    if (text !== other && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
      faults.push(`${text} x ${other}`);
  return faults;
}"""


def _search(page, words: str) -> list[str]:
    page.fill("#search", words)
    page.wait_for_function(
        "words => { const list = document.getElementById('hits');"
        " return !list.hidden && (list.dataset.asked = words) && list.children.length > 0; }",
        arg=words,
    )
    return page.locator("#hits li").all_inner_texts()


def test_the_hits_of_a_search_lie_inside_a_phone(visit):
    page = visit("index.html", width=390, height=844)
    _search(page, "claude")
    box = page.locator("#hits").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("chatgpt", "OpenAI"),
        ("lawyer", "No study measured lawyers on a test that an AI model took"),
        ("attorney", "No study measured lawyers on a test that an AI model took"),
        ("zebra", "No model, test or study here is called “zebra”."),
    ],
)
def test_a_search_for_a_product_or_a_profession_is_answered(visit, words, answer):
    assert any(hit.startswith(answer) for hit in _search(visit("index.html"), words))


def test_the_caption_of_a_past_month_is_about_its_leader_and_todays_evidence(visit):
    page = visit("index.html", width=390, height=844)
    today = page.inner_text("#see")
    last = int(page.get_attribute("#month", "max"))
    for month in range(last - 24, last + 1):
        page.evaluate(
            "at => { const m = document.getElementById('month'); m.value = at; m.dispatchEvent(new Event('input')); }",
            month,
        )
        page.wait_for_function(
            "at => { const list = window.mensura.months;"
            " return list && document.getElementById('month-said').textContent === list.months[at].name; }",
            arg=month,
        )
        said = page.inner_text("#month-said")
        assert page.evaluate(_OVERLAPS) == [], said
        if month < last:
            assert f"out by {said}" in page.inner_text("#see") and "today’s evidence" in page.inner_text("#see")
    assert page.inner_text("#see") == today


def test_every_leader_of_a_dimension_lies_on_the_axis_and_is_named_in_the_title(visit):
    page = visit("iq.html")
    for frame in page.locator("[data-chart^='iq-bell-']").all():
        svg = frame.locator(".chart svg").locator("visible=true").first
        right = svg.bounding_box()["x"] + svg.bounding_box()["width"]
        last = frame.locator(".model-row.named .sign").locator("visible=true").last  # the leader is drawn last
        assert last.bounding_box()["x"] + last.bounding_box()["width"] <= right
        leader = (
            frame.locator(".model-row.named").locator("visible=true").last.get_attribute("aria-label").split(",")[0]
        )
        assert frame.locator(".finding").inner_text().startswith(leader)
        assert " 0 in 1,000" not in svg.text_content()


def test_compare_draws_the_shape_of_the_maker(visit):
    page = visit("compare.html?with=claude-opus-5&with=gpt-5")
    page.wait_for_selector("#shared-chart svg g")
    shapes = page.evaluate(
        "[...document.querySelectorAll('#shared-chart svg g')].slice(0, 2).map((g) => g.firstChild.getAttribute('d'))"
    )
    labs, _, paths = page.evaluate("window.mensura.labs")
    assert shapes == [paths[labs.index("Anthropic")], paths[labs.index("OpenAI")]]


def test_page_and_command_name_the_same_cheapest_model_by_one_basis(visit, report, evidence_folder):
    page = visit("cost.html")
    arguments = ["cost", "--at-least", "120", "--json", "--evidence", str(evidence_folder)]
    rows = json.loads(CliRunner().invoke(build_app(), arguments).output)["cheapest"]
    row = page.locator("#cheapest tbody tr", has=page.locator("td:first-child", has_text="120")).first
    heads = page.locator("#cheapest thead th").all_inner_texts()
    shown = float(row.locator(f"td:nth-child({heads.index('effective cost') + 1})").get_attribute("data-value"))
    assert shown == pytest.approx(rows[0]["effective_cost"], rel=1e-4)
    assert rows[0]["basis"] == "effective_cost"
    assert "list price" not in page.locator("#cheapest").inner_text()


def test_the_pace_is_said_in_scores_that_people_know(visit):
    answers = visit("index.html").locator(".questions").inner_text()
    assert re.search(
        r"a year lifts the best score expected on .+ from about \d+(\.\d)?% \(.+\) to \d+(\.\d)?%", answers
    )
    assert "GPT-4o" not in answers


@pytest.mark.parametrize(
    ("question", "answer", "picture"),
    [
        ("Who leads, and how sure?", r"\d+ to \d+% chance of being first", "#iq-bell .chart svg"),
        ("Which people are above it?", r"Passed in \d{4}: .+ Not surely passed: .+", "#passed .chart svg"),
        ("Best model for a budget?", r"IQ \d+ from \$\d", "#picked .figure, #picked li"),
        ("How long a task?", r"takes a professional [\d.]+ hours: .+ solves", "#horizon .chart svg"),
        ("Is it speeding up?", r"from about [\d.]+% \(.+\) to [\d.]+%", "#acceleration .chart svg"),
        ("What will next year’s best model do?", r"may have an IQ of \d+", "#capability-time .chart svg"),
        ("What can I not conclude?", "Nobody gave these tests to people of known IQ", "#limits"),
    ],
)
def test_six_questions_and_the_pace_are_answered_on_a_phone_within_two_taps(visit, question, answer, picture):
    """Each has a sentence with its number on the first page, and one tap from it a picture that is seen."""
    page = visit("index.html", width=390, height=844)
    row = page.locator(".questions a", has=page.get_by_text(question, exact=True))
    assert re.search(answer, " ".join(row.inner_text().split()))
    assert row.locator("svg.spark").bounding_box()["width"] > 100, "a picture beside the sentence, on a phone too"
    row.click()
    page.wait_for_selector(picture, state="attached")
    seen = page.locator(picture).locator("visible=true").first
    seen.scroll_into_view_if_needed()
    box = seen.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["height"] > 16
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize(("words", "group"), [("phd", "PhD"), ("lawyer", "lawyers"), ("average", "public")])
def test_am_i_above_it_is_one_search_away_on_a_phone(visit, words, group):
    hits = _search(visit("index.html", width=390, height=844), words)
    assert any(group in hit for hit in hits), hits


def test_models_compared_on_a_phone_stand_beside_each_other_without_swiping(visit):
    page = visit("compare.html", width=390, height=844)
    page.wait_for_selector("#compare-table td")
    table = page.locator("#compare-table")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
    cells = page.locator("#compare-table tbody tr >> nth=0").locator("td")
    assert len({round(cell.bounding_box()["y"]) for cell in cells.all()}) == 1


def test_the_ranking_begins_on_the_first_two_screens_of_a_phone(visit):
    page = visit("iq.html", width=390, height=844)
    rows = page.locator("#leader-table tbody tr")
    assert rows.nth(2).bounding_box()["y"] < 844, "whoever opens the page sees the first models at once"
    assert rows.nth(15).bounding_box()["y"] < 2 * 844
    first = " ".join(rows.nth(0).inner_text().split())
    assert re.fullmatch(r"1 1–\d+ .+ \d+% first, \d+ of 32 tests \d+", first), "place, range, chance, tests, IQ"
    ends = rows.nth(0).locator(".spot > line").last
    mark = rows.nth(0).locator(".spot > svg")
    low, middle, high = (
        float(one.rstrip("%")) for one in (ends.get_attribute("x1"), mark.get_attribute("x"), ends.get_attribute("x2"))
    )
    assert 0 <= low < middle < high <= 100


def test_judged_groups_join_the_measured_ones_at_a_press(visit):
    page = visit("people.html", width=390, height=844)
    assert page.is_visible("#passed .chart") and not page.is_visible("#passed-judged .chart")
    page.click("text=With judged")
    assert page.is_visible("#passed-judged .chart") and not page.is_visible("#passed .chart")
    titles = page.locator("#passed-judged svg:visible text").all_text_contents()
    assert any(re.fullmatch(r"Passed: \d+ and \d+ judged", one) for one in titles), titles


def test_hits_of_a_search_are_grouped_and_say_how_it_stands(visit):
    page = visit("index.html", width=390, height=844)
    hits = [" ".join(one.split()) for one in _search(page, "arc")]
    assert "Tests" in hits and hits[0].startswith("People")
    assert any(re.fullmatch(r"The general public on ARC-AGI-2 passed in \w+ 20\d\d [\d.]+%", one) for one in hits)
    assert any(re.fullmatch(r"ARC-AGI-2 best .+ [\d.]+%", one) for one in hits)
    assert page.locator("#hits u").first.inner_text() == "ARC"
    hits = [" ".join(one.split()) for one in _search(page, "solicitor")]
    assert hits[0].endswith("So nothing here can say whether AI has passed them.")
    assert hits[1].startswith("Nearest people") and "not comparable" in hits[2], "the plain no, then whom it is near to"
    assert any(re.fullmatch(r"Agents' Last Exam best .+%", one) for one in hits[hits.index("Nearest work") :])
    assert hits[-1] == "Know a study of lawyers? Send it →"
    page.click("#hits li >> nth=-1")
    page.wait_for_selector("#send")
    assert page.url.endswith("people.html#send")


def test_a_page_of_a_model_opens_with_how_much_is_measured(visit):
    page = visit("models/gpt-5.5.html", width=390, height=844)
    said = page.locator(".measured-first")
    assert re.match(r"\d+ of 32 tests measured", said.inner_text())
    assert said.bounding_box()["y"] < page.locator(".lead.said").bounding_box()["y"]


def test_a_picture_leaves_the_site_with_finding_source_day_and_licence(visit, report):
    svg = (report / "charts" / "iq-bell.svg").read_text(encoding="utf-8")
    page = visit("iq.html")
    finding = " ".join(page.inner_text("h1").split())
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", svg))
    assert finding.split(":")[0] in words
    for part in ("Source:", "Doubt:", "Evidence of ", "CC BY 4.0, credit Mensura"):
        assert part in words
    with page.expect_download() as download:
        page.click("#iq-bell [data-tool=png]")
    assert download.value.suggested_filename == "iq-bell.png"
    page.click("#iq-bell [data-tool=embed]")
    code = page.input_value("#iq-bell .embed")
    assert code.count("\n") == 0 and "<img" in code and "script" not in code
    width, height = re.findall(r'(?:width|height)="(\d+)"', code)
    drawn = re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2]
    assert [int(width), int(height)] == [round(float(one)) for one in drawn]


def test_share_cards_have_the_size_that_links_ask_for(report):
    for file in (report / "share" / "index.png", report / "share" / "people.png"):
        head = file.read_bytes()[16:24]
        assert (int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")) == (1200, 630)


def test_the_dots_of_the_kind_of_work_that_is_chosen_are_strong(visit):
    page = visit("horizon.html")
    strength = "paths => paths.map(path => [path.classList[1], getComputedStyle(path).strokeOpacity])"
    dots = "#horizon .only-wide path.tasks, #horizon .at-wide path.tasks"
    before = dict(page.eval_on_selector_all(dots, strength))
    assert before == {"security": "1", "science": "0.45", "software": "0.45"}
    page.click("[data-kind=software]")
    assert dict(page.eval_on_selector_all(dots, strength)) == {"security": "0.45", "science": "0.45", "software": "1"}
    assert "strong: software" in page.text_content("#horizon")
    assert page.get_attribute("[data-kind=software]", "aria-pressed") == "true"
    assert page.get_attribute("[data-kind=security]", "aria-pressed") == "false"
