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
    page.wait_for_timeout(100)
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
        page.wait_for_function("at => Number(document.getElementById('month').value) === at", arg=month)
        page.wait_for_timeout(30)
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
    row = page.locator("#cheapest tbody tr", has=page.locator("td[data-label='IQ at least']", has_text="120")).first
    shown = float(row.locator("td[data-label='effective cost']").get_attribute("data-value"))
    assert shown == pytest.approx(rows[0]["effective_cost"], rel=1e-4)
    assert rows[0]["basis"] == "effective_cost"
    assert "list price" not in page.locator("#cheapest").inner_text()


def test_the_pace_is_said_in_scores_that_people_know(visit):
    answers = visit("index.html").locator(".questions").inner_text()
    assert re.search(
        r"a year lifts the best score expected on .+ from about \d+(\.\d)?% \(.+\) to \d+(\.\d)?%", answers
    )
    assert "GPT-4o" not in answers
