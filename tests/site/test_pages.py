"""The pages in a real browser: pictures before any script, cards, filters, picker, compare, explorer, addresses."""

import json
import re

import pytest

from mensura.evidence import slug
from mensura.scale import rate_to_iq, rate_to_level
from mensura.study.units import dollars

WITH_PICTURES = [
    "people.html",
    "iq.html",
    "stitched.html",
    "benchmarks/gpqa_diamond.html",
    "models/claude-opus-4.8.html",
]


def settle(page):
    """Wait until a scroll has been dispatched: the browser tells of it with its next frame."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


FRAMES = """frames => frames.map((frame) => ({
  drawn: frame.querySelector('.chart svg path, .chart svg line') !== null,
  label: frame.querySelector('.chart').getAttribute('aria-label'),
  finding: frame.querySelector('.finding').textContent,
  caption: frame.querySelector('figcaption').textContent,
}))"""


@pytest.mark.parametrize("name", WITH_PICTURES)
def test_pictures_stand_in_the_page_before_any_script_runs(visit, name):
    page = visit(name, scripts=False)
    frames = page.eval_on_selector_all("figure.frame", FRAMES)
    assert len(frames) > 0
    for frame in frames:
        assert frame["drawn"]
        assert len(frame["label"]) > 20
        assert frame["finding"].strip() != ""
        assert "Source: " not in frame["caption"] or "newest score of" in frame["caption"]
    assert page.locator("a[href$='method.html#limits']").count() > 0


def test_the_first_screen_answers_four_questions_below_the_bell(visit):
    page = visit("index.html")
    assert re.search(
        r"leads?: an? (over )?\d+( to \d+)?% chance of being first among all \d+ ranked models", page.inner_text("h1")
    )
    assert page.locator(".questions a").count() == 7
    assert page.locator(".at-wide .model-row.named").count() == 15
    assert page.locator(".at-wide .bell-chart").bounding_box()["y"] < 400
    chances = [text.rpartition("\n")[2] for text in page.locator("#chances li").all_inner_texts()]
    assert len(chances) == 4 and all(text.endswith("%") for text in chances)


def test_the_slider_goes_back_in_time_and_says_so(visit):
    page = visit("index.html")
    today = page.inner_text("h1")
    page.evaluate("const m = document.getElementById('month'); m.value = 20; m.dispatchEvent(new Event('input'));")
    page.wait_for_function("document.getElementById('month-said').textContent === 'March 2025'")
    assert page.inner_text("h1").startswith("In March 2025, ")
    assert page.locator("#past").is_visible()
    assert page.locator(".at-wide .model-row:not(.away)").count() < page.locator(".at-wide .model-row").count()
    named = page.locator(".at-wide .model-row.named")
    labels = named.locator(".name:visible").all_text_contents()  # leaders of then, without a name in the page as built
    assert len(labels) == named.count() == 15
    leader = re.match(r"In March 2025, (.+?) (may have|probably|almost)", page.inner_text("h1"))[1]
    assert any(text.startswith(leader) for text in labels)
    page.evaluate("const m = document.getElementById('month'); m.value = m.max; m.dispatchEvent(new Event('input'));")
    page.wait_for_function("document.getElementById('month-said').textContent === 'Today'")
    assert page.inner_text("h1") == today


def test_jagged_shows_one_model_in_seven_kinds_of_work_and_stays_in_the_address(visit):
    page = visit("index.html")
    page.click("text=Jagged")
    page.wait_for_selector("#jagged .at-wide .strong.chosen")
    assert "the same model" in page.inner_text("h1")
    chip = page.locator(".picks .chip").last
    name = chip.inner_text()
    chip.click()
    page.wait_for_function(f"document.querySelector('h1').textContent.startsWith('{name} is ')")
    assert page.locator("#jagged .at-wide .strong.chosen").count() == 1
    assert page.locator("#jagged .at-wide [tabindex='0']").count() == 1
    assert "view=jagged" in page.url and f"model={name.lower().replace(' ', '-')}" in page.url


@pytest.mark.parametrize(
    ("name", "figure"), [("iq.html", "iq-time"), ("cost.html", "iq-cost"), ("people.html", "passed")]
)
def test_the_first_click_opens_the_card_and_nothing_moves(visit, name, figure):
    """No drawing library is loaded: the drawing that stood there before the click stands there after it."""
    page = visit(name)
    place = "name => [...document.getElementById(name).querySelectorAll('.only-wide [data-subject]')].map("
    place += "one => { const box = one.getBoundingClientRect(); return [box.x + scrollX, box.y + scrollY]; })"
    mark = page.locator(f"#{figure} .only-wide a[aria-label]").first
    mark.scroll_into_view_if_needed()
    before = page.evaluate(place, figure)
    mark.click(force=True)
    page.wait_for_selector(".card")
    assert page.evaluate(place, figure) == before
    assert page.evaluate("[...document.scripts].some(script => script.src.includes('vega'))") is False


def test_one_search_box_finds_models_tests_people_makers_and_pages_by_keyboard(visit):
    page = visit("method.html")
    for typed, found in (
        ("phd", "PhD-level experts in the field on GPQA Diamond"),
        ("average person", "People"),
        ("maths", "Mathematical Reasoning"),
        ("opus 5.5", "Claude Opus 5.5"),
        ("anthropic", "Anthropic"),
        ("cheapest", "Cheapest at an IQ"),
    ):
        page.keyboard.press("/")
        page.fill("#search", typed)
        page.wait_for_selector("#hits [aria-selected=true]")
        assert found in page.inner_text("#hits"), typed
        page.keyboard.press("Escape")
    page.fill("#search", "gpqa diamond")
    page.wait_for_selector("#hits [data-key='benchmarks/gpqa_diamond.html'][aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#all-models")


def test_card_opens_by_click_and_closes_by_escape_outside_click_and_scroll(visit):
    page = visit("index.html")
    mark = page.locator(".at-wide .model-row.named .sign").nth(2)
    mark.hover()
    assert page.query_selector(".card") is None, "hover alone opens nothing"
    for close in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(5, 300),
        lambda: page.mouse.wheel(0, 300),
    ):
        mark.scroll_into_view_if_needed()
        settle(page)
        mark.click()
        card = page.wait_for_selector(".card")
        assert [tab.inner_text() for tab in card.query_selector_all("[role=tab]")] == ["Summary", "IQ", "Cost"]
        close()
        page.wait_for_selector(".card", state="detached")


def test_card_is_reached_by_keyboard_and_says_what_an_iq_rests_on(visit):
    page = visit("index.html")
    page.locator(".at-wide .model-row.named").last.focus()
    page.keyboard.press("Enter")
    card = page.wait_for_selector(".card")
    assert "IQ, 90%" in card.query_selector(".big").inner_text()
    terms = [term.inner_text() for term in card.query_selector_all("dt")]
    assert terms == ["Emotional reasoning (EQ)", "Effective cost", "Task efficiency", "Release date", "Evidence"]
    assert re.search(
        r"\d+ of 32 measured, \d+ inherited, \d+ estimated", card.query_selector(".blocks").get_attribute("aria-label")
    )
    page.keyboard.press("ArrowRight")
    panel = card.query_selector("[role=tabpanel]")
    assert "● measured ◐ inherited ○ estimated" in panel.inner_text()
    page.keyboard.press("ArrowRight")
    assert "Sticker price" in panel.inner_text()


def test_the_cards_iq_tab_shows_the_three_parts_of_emotional_reasoning(visit):
    page = visit("index.html")
    page.locator(".at-wide .model-row[data-subject='gpt-5.5']").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".card")
    page.keyboard.press("ArrowRight")
    parts = page.locator(".card dt", has_text="Emotional reasoning").locator("~ .nested dt").all_inner_texts()
    assert {part[2:] for part in parts} == {"EQ-Bench 3", "Arena overall text", "AttuneBench composite"}


def test_on_a_phone_the_card_is_a_sheet_with_its_own_scroll(visit):
    page = visit("index.html", width=390, height=844)
    page.locator(".at-narrow .model-row.named .sign").first.click()
    card = page.wait_for_selector(".card").bounding_box()
    assert (card["x"], card["width"]) == (0, 390)
    assert card["y"] + card["height"] == pytest.approx(844, abs=1)
    assert card["height"] <= 0.71 * 844


def test_on_a_phone_a_press_beside_a_mark_of_a_chart_counts_for_it(visit):
    page = visit("iq.html", width=390, height=844)
    page.locator("#iq-eq .chart").scroll_into_view_if_needed()
    lonely = """() => {
      const marks = [...document.querySelectorAll('#iq-eq .only-narrow [data-subject][aria-label]')];
      const places = marks.map((mark) => (mark.querySelector('.sign') || mark).getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + box.height / 2]);
      const others = (place) => places.filter((one) => one !== place).map((one) => Math.hypot(one[0] - place[0], one[1] - place[1]));
      const seen = places.filter((place) => place[1] > 80 && place[1] < 740);
      const alone = seen.map((place) => Math.min(...others(place)));
      return seen[alone.indexOf(Math.max(...alone))];
    }"""  # noqa: E501
    x, y = page.evaluate(lonely)
    page.mouse.click(x, y + 12)
    page.wait_for_selector(".card")


def test_a_menu_leads_to_every_page_on_a_phone(visit):
    page = visit("method.html", width=390)
    assert page.locator(".nav").is_visible() is False
    page.click(".menu summary")
    page.click(".menu nav >> text=Benchmarks")
    page.wait_for_selector("#benchmarks")


def test_well_measured_only_is_a_filter_of_the_one_ranking(visit):
    page = visit("models/index.html")
    ranked = "#models tbody tr:not([hidden]) .rank"
    every = page.eval_on_selector_all(ranked, "cells => cells.filter(cell => cell.textContent !== '–').length")
    page.check("[name=well]")
    page.wait_for_function("document.querySelector('[data-count=models]').textContent.includes(' of ')")
    well = page.eval_on_selector_all(ranked, "cells => cells.map(cell => cell.textContent)")
    assert well == [str(place) for place in range(1, len(well) + 1)]
    assert 0 < len(well) < every
    assert "well=1" in page.url


def test_filters_rank_within_themselves_and_stay_in_the_address(visit):
    page = visit("models/index.html")
    page.select_option("[name=provider]", "Google")
    page.wait_for_function("document.querySelector('[data-count=models]').textContent.includes(' of ')")
    ranks = page.eval_on_selector_all(
        "#models tbody tr:not([hidden]) .rank", "cells => cells.map(cell => cell.textContent)"
    )
    numbered = [int(rank) for rank in ranks if rank != "–"]
    assert numbered == list(range(1, len(numbered) + 1))
    assert page.inner_text("[data-count=models]") == f"{len(ranks)} of 166 models"
    assert "provider=Google" in page.url
    page.fill("[name=since]", "2030-01-01")
    page.wait_for_function("document.querySelector('[data-count=models]').textContent.startsWith('Nothing matches')")
    page.go_back()
    page.go_back()
    page.wait_for_function("document.querySelector('[data-count=models]').textContent === '166 models'")


def test_a_provider_filter_leaves_no_chart_empty_without_a_word(visit):
    page = visit("iq.html")
    page.click("text=Three labs")
    page.wait_for_function("document.querySelector('#iq-bell .chart-note').textContent !== ''")
    assert page.evaluate("new URLSearchParams(location.search).getAll('provider')") == ["Anthropic", "Google", "OpenAI"]
    assert re.match(r"\d+ of \d+ models shown", page.inner_text("#iq-bell .chart-note"))
    page = visit("iq.html?provider=Nobody")
    assert page.inner_text("#iq-bell .chart-note") == "No model of Nobody is in this picture."


def test_the_explorer_counts_what_it_shows_and_keeps_its_state(visit):
    page = visit("data.html")
    assert page.inner_text("#score-count") == "3,065 scores"
    assert page.locator("#explorer tbody tr").count() < 80, "only rows in view are in the page"
    page.click("#explorer [data-sort='3']")
    page.wait_for_function("document.querySelector('#explorer th.n').getAttribute('aria-sort') === 'descending'")
    page.fill("#score-filters [name=q]", "opus 4.8 gpqa")
    page.wait_for_function("document.getElementById('score-count').textContent === '2 of 3,065 scores'")
    rows = page.eval_on_selector_all("#explorer tbody tr:not(.gap-row)", "rows => rows.map(row => row.innerText)")
    assert len(rows) == 2
    assert all("Claude Opus 4.8" in row and "GPQA Diamond" in row for row in rows)
    page.reload()
    page.wait_for_function("document.getElementById('score-count').textContent === '2 of 3,065 scores'")
    page.fill("#score-filters [name=q]", "nothing like this")
    page.wait_for_function("document.getElementById('score-count').textContent.startsWith('Nothing matches')")


def test_scrolling_the_explorer_reaches_the_last_row(visit):
    page = visit("data.html?sort=0")
    page.evaluate("document.getElementById('explorer').scrollTop = 1e9")
    page.wait_for_function(
        "document.querySelectorAll('#explorer tbody tr').length > 5 && "
        "document.querySelector('#explorer tbody tr:last-child td').offsetHeight < 30"
    )
    assert page.inner_text("#explorer tbody tr:nth-last-child(2) td").strip() != ""


def test_the_picker_names_three_with_reasons_and_says_when_nobody_qualifies(visit, report):
    page = visit("pick.html")
    page.wait_for_selector("#picked article:nth-child(3)")
    for card in page.query_selector_all("#picked article"):
        said = card.inner_text()
        assert re.search(r"IQ \d+( there)?, 90% \d+ to \d+", said)
        assert "per 1M tokens" in said or "no price known" in said
    assert "chance of being above" in page.inner_text("#picked article >> nth=0")
    ranked = json.loads((report / "api" / "v1" / "rankings.json").read_text(encoding="utf-8"))["rankings"]
    pages = page.eval_on_selector_all("#picked h2 a", "all => all.map(a => a.getAttribute('href'))")
    assert pages == [f"models/{slug(row['subject'])}.html" for row in ranked[:3]], "the one ranking decides"
    page.check("[name=open]")
    page.select_option("[name=task]", "computer-use")
    page.fill("[name=budget]", "5")
    page.wait_for_function("location.search.includes('budget=5')")
    assert "open weights" in page.inner_text("#picked article >> nth=0")
    page.fill("[name=budget]", "0.0001")
    page.wait_for_function("document.getElementById('pick-said').textContent.startsWith('No model qualifies')")
    assert page.locator("#picked article").count() == 0


def test_scripts_write_dollars_as_the_pages_do(visit):
    page = visit("compare.html")
    for value in (0.435, 4.5, 60.0, 28.374, 128.37, 1234.0, 0.4):
        assert page.evaluate("value => mensura.money(value)", value) == dollars(value)
    assert page.evaluate("mensura.money(null)") == dollars(None)


def test_compare_finds_adds_refuses_and_remembers(visit):
    page = visit("compare.html?with=claude-opus-4.8&with=gpt-5.5")
    assert page.locator("[data-drop]").count() == 2
    assert re.search(r"Claude Opus 4\.8 above GPT-5\.5, by IQ\s+\d+%", page.inner_text("#chance-table"))
    page.fill("#add-subject", "expert field")
    page.wait_for_selector("#found [data-key]")
    page.press("#add-subject", "Enter")
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 3")
    assert "GPQA Diamond" in page.inner_text("#compare-table")
    assert "above experts in the field on GPQA Diamond" in page.inner_text("#chance-table")
    for typed in ("gemini 3.1", "kimi k3"):
        page.fill("#add-subject", typed)
        page.press("#add-subject", "Enter")
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 5")
    page.fill("#add-subject", "gpt-4o")
    page.press("#add-subject", "Enter")
    page.wait_for_function("document.getElementById('compare-message').textContent.startsWith('5 is the most')")
    assert page.locator("[data-drop]").count() == 5
    page.click("[data-drop] >> nth=0")
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 4")
    assert "claude-opus-4.8" not in page.url
    page.go_back()
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 5")


NUMBERS_THAT_MATTER = ("IQ", "its IQ", "own scores alone", "score", "its score", "their score", "people", "capability")
COSTS = ("$ in / out per 1M", "cost, $ per 1M in + out", "cost", "list price", "effective cost")
UNLED = """labels => { const headOf = (cell) => cell.dataset.label
  || cell.closest('table').tHead.rows[0].cells[cell.cellIndex].textContent.trim();
  return [...document.querySelectorAll('main td.n')]
  .filter((cell) => labels.includes(headOf(cell)) && /[0-9]/.test(cell.textContent))
  .filter((cell) => !cell.querySelector('a[href], details.prov a[href]'))
  .filter((cell) => !cell.closest('#people')) // classes of people: their tests are named beside them
  .map((cell) => cell.closest('table').id + ' ' + headOf(cell) + ': ' + cell.textContent.trim()); }"""


@pytest.mark.parametrize(
    "name",
    [
        *(
            "index.html",
            "models/index.html",
            "models/gpt-5.5.html",
            "benchmarks/index.html",
            "people.html",
            "cost.html",
        ),
        "benchmarks/gpqa_diamond.html",
    ],
)
def test_every_number_leads_to_its_source_in_one_tap(visit, name):
    page = visit(name, scripts=False)
    assert page.evaluate(UNLED, [*NUMBERS_THAT_MATTER, *COSTS]) == []


def test_a_comparison_leads_to_the_sources_of_its_numbers(visit):
    page = visit("compare.html?with=gpt-5.5&with=claude-opus-4.8")
    page.wait_for_selector("#compare-table a")
    for place in ("derivation", "capability", "cost"):
        assert page.locator(f"#compare-table a[href$='gpt-5.5.html#{place}']").count() >= 1
    page.click("#compare-table a[href*='gpt-5.5.html#on-hle']")
    page.wait_for_selector("#on-hle td:nth-child(2) a")


def test_an_iq_a_capability_and_a_group_open_to_their_provenance(visit):
    page = visit("models/gpt-5.5.html", scripts=False)
    for number, last in ((".fact .prov >> nth=0", "How it came about"), ("#capability .prov", "Newest score")):
        page.click(f"{number} >> summary")
        said = page.inner_text(f"{number} >> dl")
        for label in ("Value", "90% interval", "Status", "Rule", "Sources", last):
            assert label in said
    page = visit("benchmarks/gpqa_diamond.html", scripts=False)
    page.click("#people + .scroll .prov summary >> nth=0")
    opened = page.locator("#people + .scroll .prov[open]")
    for label in ("Value", "Range", "Status", "People", "Rule", "Source", "Date"):
        assert label in opened.inner_text()
    assert opened.locator("a[href^='https://']").count() == 1


def test_a_score_leads_to_its_source_without_a_script(visit):
    page = visit("models/claude-opus-4.8.html", scripts=False)
    row = page.locator("#model-scores tbody tr").first  # as printed, use, source and date stand beside the number
    assert row.locator("td:nth-child(2) a").get_attribute("href").startswith("https://")
    cells = row.locator("td").all_text_contents()
    assert all(cells[1:6]) and re.fullmatch(r"(\d+ )?[A-Z]\w+ 20\d\d", cells[5].strip())
    assert page.locator("#scores + p a[href$='#evidence']").count() == 1, "the rule stands once above"


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("people.html#people-table", 100),
        ("stitched.html#unit", 100),
        ("iq.html#ranking", 100),
        ("human.html#validation", 100),
        ("models/gpt-5.5.html#capability", 100),
        ("models/gpt-5.5.html#on-hle", 140),  # under the head of a table with its own scroll
        ("models/gpt-5.5.html#on-vibe_code_bench", 140),  # its last row
    ],
)
def test_deep_links_land_where_they_say(visit, address, most):
    """Just below the bar that stays, on a screen and on a phone."""
    top = f"document.getElementById('{address.partition('#')[2]}').getBoundingClientRect().top"
    for width, height in ((1280, 900), (390, 844)):
        page = visit(address, width=width, height=height)
        page.wait_for_function(f"50 <= {top} && {top} < {most}")
        settle(page)
        assert 50 <= page.evaluate(top) < most


def test_a_models_page_says_where_it_stands_without_a_script(visit):
    page = visit("models/gpt-5.5.html", scripts=False)
    neighbours = page.locator("#neighbours + .scroll tbody tr")
    assert neighbours.count() == 7
    assert "this model" in neighbours.nth(3).inner_text()
    assert page.locator("#neighbours + .scroll .meter").count() == 7, "no IQ without what it rests on"
    verdicts = page.locator("#over-people td:last-child").all_text_contents()
    assert {"passed", "not passed", "cannot be told"} == set(verdicts)
    said = page.inner_text("main")
    assert re.search(r"It passed \d+ of \d+ measured groups of people", said)
    assert re.search(r"\S+ would tell most next: knowing its score would take away about [\d.]+% of what", said)
    assert re.search(r"At \$35 for a million tokens in and a million out, \d+ of \d+ others within 3 IQ points", said)
    page.click("#over-people td:nth-child(5) a >> nth=0")
    assert "#on-" in page.url


def test_a_picture_gives_its_table_its_png_and_its_embedding(visit):
    page = visit("iq.html")
    with page.expect_download() as saved:
        page.click("#iq-eq [data-tool=png]")
    assert saved.value.suggested_filename == "iq-eq.png"
    page.click("#iq-eq [data-tool=embed]")
    assert "charts/iq-eq.svg" in page.input_value("#iq-eq .embed")
    page.click("#iq-eq .tools >> text=Table")
    assert "provider" in page.wait_for_selector("#numbers").inner_text()


def test_an_embedded_picture_stands_alone_with_a_link_back(visit):
    page = visit("charts/iq-eq.html?embed")
    assert page.locator(".bar").is_visible() is False
    assert page.locator("#numbers").is_visible() is False
    assert page.locator("#iq-eq .chart svg").first.is_visible()
    assert "Mensura" in page.inner_text(".back")


def test_print_is_light_and_without_controls(visit):
    page = visit("benchmarks/gpqa_diamond.html", theme="dark")
    page.emulate_media(media="print")
    assert page.locator(".bar").is_visible() is False
    assert page.locator(".tools").first.is_visible() is False
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--v-16181d').trim()") == "#16181d"
    )


def test_print_keeps_the_meaning_of_marks_and_wastes_no_page(visit):
    """Filled and hollow survive printers that leave out grounds; a drawing longer than a page runs on over the next."""
    style = "(selector) => getComputedStyle(document.querySelector(selector))"
    page = visit("iq.html")
    page.emulate_media(media="print")
    for mark in (".meter", ".key"):
        assert page.evaluate(f"({style})('{mark}').printColorAdjust") == "exact"
    assert page.evaluate(f"({style})('figure').breakInside") == "avoid"
    page = visit("people.html")
    page.emulate_media(media="print")
    assert page.evaluate(f"({style})('#human-ladder').breakInside") == "auto"
    assert page.evaluate(f"({style})('#passing thead').display") == "table-header-group", "heads repeat on every page"
    assert page.evaluate(f"({style})('#passing thead th').position") == "static"
    assert page.evaluate(f"({style})('#passing thead th button').display") == "contents", "which a button would prevent"
    assert page.pdf(format="A4").count(b"/Type /Page\n") < 14


def test_converter_follows_the_ruler(visit):
    page = visit("human.html")
    page.fill("[name=one_in]", "1000")
    assert float(page.input_value("[name=iq]")) == pytest.approx(rate_to_iq(0.001), abs=0.01)
    page.fill("[name=one_in]", "1e12")
    assert "rarer than 1 in all people alive" in page.inner_text("output")
    page.fill("[name=rate]", "140")
    assert page.get_attribute("[name=rate]", "aria-invalid") == "true"


def test_converter_has_base_and_convention_of_the_command(visit):
    page = visit("human.html")
    page.fill("[name=rate]", "12.5")
    for base, convention in ((10, "adele"), (2, "adele"), (2, "calibrated"), (31.95, "calibrated")):
        page.fill("[name=base]", str(base))
        page.select_option("[name=convention]", convention)
        wanted = rate_to_level(0.125, base, convention)
        assert float(page.input_value("[name=level]")) == pytest.approx(wanted, abs=1e-3)
        page.fill("[name=level]", page.input_value("[name=level]"))
        assert float(page.input_value("[name=rate]")) == pytest.approx(12.5, abs=0.01)
        page.fill("[name=rate]", "12.5")
    page.fill("[name=base]", "1")
    assert page.get_attribute("[name=base]", "aria-invalid") == "true"
    page.select_option("[name=dimension]", index=1)
    assert page.is_disabled("[name=base]")
    assert page.is_disabled("[name=convention]")


def test_converter_knows_the_normal_distribution(visit):
    page = visit("human.html")
    for rate in (1e-12, 1e-4, 0.02, 0.3, 0.5, 0.77, 0.999):
        page.fill("[name=rate]", str(100 * rate))
        assert float(page.input_value("[name=iq]")) == pytest.approx(rate_to_iq(rate), abs=0.01)
