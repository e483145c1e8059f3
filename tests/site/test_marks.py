"""Marks in a real browser: people can be pressed and say who they are, "Full" is kept for what was measured."""

import html
import re

import pytest

from mensura.site.texts import source_date
from tests.site.hostile import GROUP

PEOPLE = "[data-subject^='people:']"


def press(page, mark):
    """Press a mark and return the words of the card that opens, by their labels."""
    mark.dispatch_event("click")
    card = page.wait_for_selector(".card")
    labels, texts = ([node.inner_text() for node in card.query_selector_all(tag)] for tag in ("dt", "dd"))
    page.keyboard.press("Escape")
    page.wait_for_selector(".card", state="detached")
    return dict(zip(labels, texts, strict=True))


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("benchmarks/gpqa_diamond.html", "scores-gpqa_diamond"),
        ("benchmarks/gpqa_diamond.html", "ladder-gpqa_diamond"),
        ("benchmarks/gpqa_diamond.html", "history-gpqa_diamond"),
    ],
)
def test_every_tick_of_people_opens_a_card_with_test_number_and_how_it_is_known(visit, name, figure):
    page = visit(name)
    marks = page.locator(f"#{figure} .only-wide a{PEOPLE}")
    drawn = page.locator(f"#{figure} .only-wide svg rect[rx='1']").count()
    assert marks.count() == drawn >= 2, "no tick of people without a card"
    for place in (0, marks.count() - 1):
        said = press(page, marks.nth(place))
        assert said["Test"] == "GPQA Diamond"
        assert re.match(r"measured|judged|implied", said["Their score is"])
        assert re.fullmatch(r"[\d,]+|not given", said["n"])


@pytest.mark.parametrize("figure", ["one-axis", "capability-time"])
def test_classes_of_people_on_axis_and_trend_name_each_test_with_its_people(visit, figure):
    page = visit("stitched.html")
    marks = page.locator(f"#{figure} .only-wide a{PEOPLE}[aria-label]")
    assert marks.count() >= 2
    for place in range(marks.count()):
        said = press(page, marks.nth(place))
        status = said.pop("Their scores are")
        assert status in ("measured", "judged")
        assert said.pop("Capability") and said.pop("90% interval")
        assert said, "the tests"
        assert all(re.search(rf", {status}, n ([\d,]+|not given)$", people) for people in said.values())


def test_a_tick_of_people_is_reached_by_keyboard_and_leads_on_without_a_script(visit):
    page = visit("benchmarks/gpqa_diamond.html")
    page.locator(f"#ladder-gpqa_diamond .only-wide a{PEOPLE}").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".card .close:focus")
    page = visit("benchmarks/gpqa_diamond.html", scripts=False)
    page.locator(f"#ladder-gpqa_diamond .only-wide a{PEOPLE}").first.click()
    assert page.url.endswith("#people")


def test_a_card_of_people_with_a_hostile_name_holds_text_only(visit):
    page = visit("benchmarks/mcp_atlas.html")
    page.locator(f".only-wide a[data-subject='people:mcp_atlas/{GROUP}']").first.click()
    card = page.wait_for_selector(".card")
    assert card.query_selector("h2").inner_text() == GROUP
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("GPQA paper (Rein et al. 2023), table of accuracies: Diamond set", "2023"),
        ("AI IQ estimate", "2026-06-26"),
        ("A survey of 2024-05-17, table 3", "2024-05-17"),
        ("Epoch AI, judged from a competition of eight teams on 23 problems", "date not given"),
        ("by construction", "no date: follows from the test"),
        (None, "date not given"),
    ],
)
def test_the_date_of_a_source_is_known_named_or_said_to_be_missing(source, said):
    assert source_date(source) == said


def test_a_picture_fills_the_screen_and_comes_back(visit):
    page = visit("index.html")
    page.click("#first [data-tool=full]")
    page.wait_for_function("document.fullscreenElement === document.getElementById('first')")
    assert page.locator("#first .chart svg").first.is_visible()
    page.click("#first [data-tool=full]")
    page.wait_for_function("document.fullscreenElement === null")


def test_full_is_never_said_of_inherited_values(study, report):
    """A model is Full by what was measured of it alone, and no other page says the word of a model."""
    whole = len(study.iq.matrix.benchmarks)
    assert study.iq.rules.status.of(2 / whole, composite=True) == "Provisional", "2 measured, all else inherited"
    for row in study.models.drop_nulls("iq").iter_rows(named=True):
        assert (row["status"] == "Full") == (row["measured"] >= 0.75 * whole), row["subject"]
    full = {row["name"] for row in study.models.filter(status="Full").iter_rows(named=True)}
    assert full
    marked = re.compile(r"<em>Full</em>")
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "rest on evidence" not in text
        if marked.search(text):
            heading = re.search(r"<h1[^>]*>(.*?)</h1>", text, flags=re.DOTALL)[1]
            name = html.unescape(re.sub(r"<[^>]+>", "", heading))
            assert name in full, page.name
        words = re.sub(r"<[^>]*>", " ", re.sub(r"<em>Full</em>|<(script|style)>.*?</\1>", " ", text))
        others = re.findall(r"\bFull\b.{0,18}", words)
        assert all(re.match(r"Full(: at least two|  screen| screen| from 75%| Stack)", one) for one in others), (
            page.name,
            others,
        )


def test_the_first_page_is_styled_and_themed_before_any_file_arrives(visit):
    """Style and theme stand in the page: nothing is waited for, and without its scripts it looks the same."""
    page = visit("index.html", theme="dark")
    assert (
        page.evaluate("[...document.styleSheets].filter(one => one.media.mediaText !== 'print' && one.href).length")
        == 0
    )
    assert page.evaluate("[...document.scripts].every(one => !one.src || one.defer)")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(16, 18, 22)"
    other = visit("models/index.html", theme="dark")
    assert other.evaluate(ground) == "rgb(16, 18, 22)"


def test_where_a_policy_forbids_the_sheet_in_the_page_its_file_takes_over(browser, report):
    context = browser.new_context()
    page = context.new_page()

    def strict(route):
        body = (report / "index.html").read_text(encoding="utf-8")
        headers = {"content-type": "text/html", "content-security-policy": "default-src 'self'"}
        route.fulfill(body=body, headers=headers)

    files = re.compile(r"^http://strict\.test/(?!index\.html)")
    page.route("http://strict.test/index.html", strict)
    page.route(files, lambda route: route.fulfill(path=report / route.request.url.removeprefix("http://strict.test/")))
    page.goto("http://strict.test/index.html")
    page.wait_for_function("getComputedStyle(document.documentElement).getPropertyValue('--ink') !== ''")
    assert page.evaluate("document.documentElement.classList.contains('js')")
    context.close()
