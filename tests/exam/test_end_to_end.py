"""People in a real browser and a real small model sit one exam, and the report tells of both. Quality is not judged."""

import numpy as np
import polars as pl
import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra: serve)")

from benchmarks.site_axe import grave_findings
from benchmarks.site_size import SMALL
from mensura.exam import AnswerStore, read_exam
from mensura.exam.report import report_exam
from mensura.serve.exam_app import exam_app
from mensura.site.exam_page import exam_page
from tests.exam.conftest import TOML, write_exam
from tests.exam.invented import invent
from tests.serve.conftest import listening
from tests.serve.test_exam_app import Taker
from tests.serve.test_exam_browser import answer, enter
from tests.site.conftest import BROWSER_PATIENCE, browser  # noqa: F401


def sit_in_browser(browser, address):  # noqa: F811
    """One person with a phone goes from consent to the completion code; return the code shown."""
    context = browser.new_context(viewport={"width": 390, "height": 800})
    context.set_default_timeout(1000 * BROWSER_PATIENCE)
    page = context.new_page()
    page.goto(address)
    enter(page)
    for number in range(1, 6):
        page.wait_for_selector(f"#place:has-text('Question {number} of 5')")
        answer(page)
        page.locator("#next").click()
    page.wait_for_url("**/review")
    page.get_by_role("button", name="Finish the exam").click()
    page.wait_for_url("**/done")
    shown = page.locator("#completion").inner_text()
    context.close()
    return shown


def sit_over_http(address_of, number):
    """One more person, who knows less."""
    taker = Taker(address_of)
    taker.start()
    given = {"capital": {"option": str(number % 2)}, "half": {"text": "2.5" if number % 3 else "3"}}
    given |= {"primes": {"option-0": "on", "option-2": "on"}, "poet": {"text": "Schiller"}, "look": {"option": "1"}}
    for item, fields in given.items():
        taker.fill("/answer", item=item, seconds="1", **fields)
    taker.fill("/finish")


def test_people_and_a_small_model_sit_one_exam(small_model, browser, mensura_command, tmp_path, monkeypatch):  # noqa: F811
    folder = write_exam(tmp_path / "exam", TOML + "[exclude]\nfastest_seconds = 0\n")
    exam = read_exam(folder)
    store = AnswerStore(tmp_path / "answers.db", exam)
    site = exam_app(exam, store)
    with listening(site) as address:
        assert len(sit_in_browser(browser, address)) == 8
    for number in range(5):
        sit_over_http(site, number)
    store.close()

    monkeypatch.setenv("LOCAL_API_KEY", "none-is-needed-here")
    model = ("--model", "openai-api/local/smollm2", "--set", f"base_url={small_model}")
    sitting = ("exam", "sit", folder, *model, "--out", tmp_path / "runs" / "small")
    run = mensura_command(*sitting, settings={"max_tokens": 12})
    assert run.code == 0, run.err
    sat = pl.read_csv(tmp_path / "runs" / "small" / "sittings.csv")
    assert sat.height == 4
    assert sat["tokens_out"].min() > 0
    assert set(sat["outcome"]) <= {"right", "wrong", "partial", "refused", "empty", "cut", "unreadable"}

    run = mensura_command(
        "exam", "report", folder, tmp_path / "answers.db", tmp_path / "runs", "--out", tmp_path / "out"
    )
    assert run.code == 0, run.err
    comparison = pl.read_csv(tmp_path / "out" / "comparison.csv")
    assert comparison["subject"].to_list() == ["people", "openai-api/local/smollm2"]
    assert comparison["n"].to_list() == [6, 4]
    items = pl.read_csv(tmp_path / "out" / "items.csv")
    assert items["n"].to_list() == [6] * 4
    assert items.filter(pl.col("item") == "poet")["rate"][0] == pytest.approx(1 / 6)

    assert "openai-api/local/smollm2" in read_page(browser, tmp_path / "out" / "report.html")


def read_page(browser, path):  # noqa: F811
    """Read a report in both themes, wide and narrow: it is accessible, fits, and asks nothing of other places."""
    faults = []
    page = browser.new_page()
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else faults.append(asked.url))
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    for theme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert grave_findings(page) == []
    assert faults == []
    text = page.content()
    page.close()
    return text


def test_the_page_of_a_report_shows_hostile_texts_as_text(browser, tmp_path):  # noqa: F811
    rows = "".join(f"q{n},<script>alert({n})</script> **Text**,a | b,a\n" for n in range(12))
    toml = TOML.replace("Small exam", "<img src=x onerror=alert(1)>")
    exam = read_exam(write_exam(tmp_path / "exam", toml, f"item,text,options,key\n{rows}"))
    outcomes, takers = invent(exam, np.random.default_rng(0).normal(size=40), [-1.0, 0.0, 1.0, 2.0])
    path = tmp_path / "report.html"
    path.write_text(exam_page(report_exam(exam, outcomes, takers)), encoding="utf-8")
    text = read_page(browser, path)
    assert "<strong>Text</strong>" in text
    assert "<script>alert" not in text
    assert text.count("<figure") == 3
    phone = browser.new_page(viewport={"width": 390, "height": 844})
    phone.goto(path.as_uri())
    assert phone.evaluate(SMALL) == 0, "every word of a picture can be read on a phone"
    warm = phone.locator("figure .only-narrow svg").first.evaluate(
        "svg => [...svg.querySelectorAll('[aria-label^=people] > :is(rect, circle)')]"
        ".map((mark) => getComputedStyle(mark).fill)"
    )
    assert len(warm) == 40 and set(warm) == {"rgb(200, 86, 15)"}, "people have their own colour"
    phone.close()
