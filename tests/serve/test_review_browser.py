"""The reviewer's rooms in a real browser, full of hostile text: nothing runs, nothing is asked elsewhere or bursts."""

import importlib.resources

import pytest

from mensura.ledger import Proposal, Skipped, Unmatched, Update, open_ledger
from mensura.serve import LiveEdition, ReviewerSecret, SiteRenewal, find_origin, live_app
from mensura.serve.edition import HeldFile
from tests.ledger.small import ANN, BOB, score
from tests.serve.conftest import listening, small_edition
from tests.site.conftest import BROWSER_PATIENCE
from tests.site.hostile import PRODUCT, TEXTS

SECRET = "correct horse battery staple"
LINES = ["".join(sign for sign in text if sign.isprintable())[:200] for text in TEXTS]
"""The texts as a title or a name may hold them: on one printable line."""


def site_edition() -> LiveEdition:
    """A small edition with the site's real scripts and style sheets."""
    static = importlib.resources.files("mensura.site") / "static"
    own = {
        f"static/{file.name}": file.read_bytes()
        for file in static.iterdir()
        if file.name.endswith((".css", ".js", ".svg"))
    }
    return LiveEdition("aaaa", {**small_edition().files, **{name: HeldFile.of(name, own[name]) for name in own}})


def fill(store) -> None:
    """File an update and a policy edit that carry every text wherever a text can stand."""
    ledger = open_ledger(store)
    page = "\n".join(text.replace("\n", " ") for text in TEXTS)
    capture = ledger.add_capture(page.encode(), source="board", address="https://example.org/<b>x</b>", **ANN)
    update = Update(
        title=LINES[0],
        source="board",
        capture=capture,
        mapping=LINES[1],
        made=LINES[2],
        changes=(score("big-1", "swe_marathon", "12", "15", line=11),),
        proposals=tuple(Proposal("models", False, {"subject": "new", "name": line}, (1,), ()) for line in LINES),
        unmatched=tuple(Unmatched("model", line, (1,), (line,)) for line in LINES),
        skipped=tuple(Skipped(place, line, line) for place, line in enumerate(LINES, start=1)),
    )
    ledger.propose(update, **BOB)
    for subject, line in zip(["big-1", "big-2", "small-1"], LINES, strict=False):
        ledger.apply(ledger.policy_edit(subject, {"display": "hide"}, reason=line), **ANN)


@pytest.fixture
def rooms(store, monkeypatch):
    """The address of the rooms of a store full of hostile text; the effect of every update is hostile too."""
    effect = {"composites": [{"subject": line, "before": 1.0, "after": 2.0} for line in LINES], "capabilities": []}

    async def known(function, *arguments):
        return effect

    async def build(origin, scratch, shown):
        return site_edition()

    monkeypatch.setattr("mensura.serve.review.run_apart", known)
    renewal = SiteRenewal(find_origin(store), build=build)
    with listening(live_app(renewal, secret=ReviewerSecret(SECRET))) as address:
        yield address


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_runs_nothing_is_asked_elsewhere_and_nothing_bursts(browser, rooms, store, width):
    fill(store)
    faults = []
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.set_default_timeout(1000 * BROWSER_PATIENCE)
    page = context.new_page()
    page.on("console", lambda told: faults.append(told.text) if told.type in ("error", "warning") else None)
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: None if asked.url.startswith(f"{rooms}/") else faults.append(asked.url))
    response = page.goto(f"{rooms}/review/")
    assert response.status == 401
    faults.clear()  # the browser writes the status of the closed door to its console
    page.get_by_label("Your name").fill(f"Ada {LINES[3]}"[:100])
    page.get_by_label("Secret").fill(SECRET)
    page.get_by_role("button", name="Enter").click()
    page.get_by_role("heading", name="Pending updates").wait_for()

    def follow(words: str) -> None:
        closed = page.locator("details.menu:not([open]) summary").locator("visible=true")
        if closed.count():  # on a narrow screen the links of the bar are in its menu
            closed.click()
        with page.expect_navigation():
            page.get_by_role("link", name=words, exact=True).locator("visible=true").first.click()

    for words in ("Review", LINES[0], "The captured text", "Policy"):  # the links, one after the other
        follow(words)
        path = page.url
        page.reload()  # the effect of an update is there when it is asked for again
        page.evaluate("document.querySelectorAll('details:not([open])').forEach(one => { one.open = true; })")
        page.evaluate("document.querySelectorAll('a, td, input, button').forEach(one => { one.focus(); })")
        page.evaluate("document.querySelectorAll('*').forEach(one => one.dispatchEvent(new MouseEvent('mouseover')))")
        assert page.evaluate("window.hacked") is None
        assert page.url == path
        wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1], f"{path} is {wide[0]} pixels wide at {width}"
        assert str(PRODUCT) not in page.content()
        assert page.locator("main iframe, main img, main svg, main script, main style, main object").count() == 0
        assert page.locator("main h1").is_visible(), "a text hid the page"
    follow("Review")
    follow(LINES[0])
    follow("The captured text")
    shown = page.locator("main td code").all_inner_texts()
    assert shown[0] == TEXTS[0] and len(shown) == len(TEXTS), "captured text stands on the page as it was written"
    page.go_back()
    page.get_by_role("link", name="11", exact=True).click()
    assert "11\t\u202eevil" in page.locator(":target").inner_text(), "every cell leads to its line of the capture"
    page.go_back()
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Applied:").wait_for()
    assert open_ledger(store).version().entry == 4
    assert page.evaluate("window.hacked") is None
    context.close()
    assert faults == []
