"""A reviewer at work in a real browser, by links and buttons alone: capture, review, apply, log, undo."""

import json

import pytest
from typer.testing import CliRunner

from mensura.cli.main import build_app
from mensura.ledger import open_ledger
from mensura.serve import ReviewerSecret, SiteRenewal, find_origin, live_app
from tests.ledger.small import MAPPING
from tests.serve.conftest import listening
from tests.serve.test_review_browser import SECRET, site_edition
from tests.site.conftest import BROWSER_PATIENCE

BOARD = "Model,Agent,Score\nBig 1,plain,15.5\nNobody Knows,plain,3\n"


def captured(store, folder) -> None:
    """Capture a board and extract an update from it, as the maintainer's commands do."""
    (folder / "board.toml").write_text(MAPPING, encoding="utf-8")
    (folder / "board.csv").write_text(BOARD, encoding="utf-8")
    same = ["--store", str(store), "--by", "Ann", "--json"]
    kept = CliRunner().invoke(build_app(), ["evidence", "capture", "board", str(folder / "board.csv"), *same])
    capture = json.loads(kept.stdout)["capture"]
    found = CliRunner().invoke(
        build_app(),
        ["evidence", "extract", capture, "--mapping", str(folder / "board.toml"), *same],
        catch_exceptions=False,
    )
    assert found.exit_code == 0, found.output


@pytest.fixture
def page(browser, store, monkeypatch):
    """A browser at the door of the review pages of a store; the effect on the scores is known at once."""

    async def known(function, *arguments):
        return {"composites": [{"subject": "big-1", "before": 128.0, "after": 130.5}], "capabilities": []}

    async def build(origin, scratch, shown):
        return site_edition()

    monkeypatch.setattr("mensura.serve.review.run_apart", known)
    with listening(live_app(SiteRenewal(find_origin(store), build=build), secret=ReviewerSecret(SECRET))) as at:
        context = browser.new_context()
        context.set_default_timeout(1000 * BROWSER_PATIENCE)
        window = context.new_page()
        window.goto(f"{at}/review/")
        yield window
        context.close()


def marathon(store) -> float:
    return open_ledger(store).evidence().scores.filter(subject="big-1", benchmark="swe_marathon")["score"].item()


def test_from_the_capture_to_the_undo_by_links_alone(page, store, tmp_path):
    captured(store, tmp_path)
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Secret").fill(SECRET)
    page.get_by_role("button", name="Enter").click()

    page.get_by_role("region", name="Pending updates").get_by_role("link").click()
    page.get_by_role("heading", name="What changes").wait_for()
    assert "15.5" in page.get_by_role("region", name="Cells").inner_text()
    page.get_by_text("130.5").wait_for()
    assert "Nobody Knows" in page.locator("main").inner_text(), "a name that matches nothing is shown"

    page.get_by_role("region", name="Cells").get_by_role("link").first.click()
    page.get_by_role("heading", name="Captured text").wait_for()
    assert "Big 1,plain,15.5" in page.locator(":target").inner_text(), "the link leads to the line of the capture"
    page.go_back()
    page.get_by_role("link", name="The captured text").click()
    page.get_by_role("heading", name="Captured text").wait_for()
    assert page.locator("main td code").all_inner_texts() == BOARD.splitlines()
    page.go_back()

    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Applied:").wait_for()
    assert marathon(store) == 15.5

    log = page.get_by_role("region", name="Log")
    log.get_by_role("link").first.click()
    page.get_by_role("heading", name="What changes").wait_for()
    assert page.get_by_role("button", name="Apply").count() == 0
    page.get_by_role("link", name="the log").click()

    log.get_by_role("button", name="Undo").click()
    page.get_by_text("Undid entry 1").wait_for()
    assert marathon(store) == 12
    assert "undone by 2" in log.inner_text()
    page.get_by_role("button", name="Leave").click()
    page.get_by_label("Secret").wait_for()
