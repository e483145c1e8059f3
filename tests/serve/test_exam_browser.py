"""An exam in a real browser: on a phone and a desk, by keyboard, without connection, in both themes and large type."""

import re

import pytest
from starlette.applications import Starlette

from benchmarks.site_axe import grave_findings
from mensura.exam import AnswerStore, read_exam
from mensura.serve import ReviewerSecret
from mensura.serve.exam_app import exam_app
from mensura.serve.sessions import Begins
from tests.exam.conftest import ITEMS, KINDS, TOML, write_exam
from tests.exam.test_texts import FRENCH, TWO
from tests.serve.conftest import listening
from tests.site.conftest import BROWSER_PATIENCE

SECRET = "an organiser's long secret"
TEXTS = {"half": "2.5", "poet": "Goethe"}


@pytest.fixture
def exam(tmp_path):
    return read_exam(write_exam(tmp_path / "small", TOML + "[time]\nminutes = 30\n"))


class Stage:
    """The application of the one server of this file: each test puts its own exam there."""

    def __init__(self):
        self.app = Starlette()

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def stage():
    stage = Stage()
    with listening(stage) as stage.address:
        yield stage


@pytest.fixture
def address(stage):
    return stage.address


@pytest.fixture
def serve(stage, tmp_path):
    """Show an exam and return its store."""
    stores = []

    def show(exam):
        stores.append(AnswerStore(tmp_path / "answers.db", exam))
        stage.app = exam_app(exam, stores[0], secret=ReviewerSecret(SECRET), names=["127.0.0.1"])
        return stores[0]

    yield show
    for store in stores:
        store.close()


@pytest.fixture
def store(serve, exam):
    return serve(exam)


@pytest.fixture(scope="module")
def free_windows(browser):
    """Windows that no test uses now: a new one takes as long as four pages."""
    free = []
    yield free
    for page in free:
        page.context.close()


@pytest.fixture
def visit(browser, address, free_windows):
    """Open a page in a window without cookies and storage; errors of scripts and requests elsewhere fail the test.

    ``own``: a window for this test alone, which may change its clock or its scripts.
    """
    faults, kept, closed = [], [], []

    def note_error(fault):
        faults.append(str(fault))

    def note_request(asked):
        if not asked.url.startswith((f"{address}/", "data:")):
            faults.append(asked.url)

    def open_window(width=1280, theme="light", path="/", *, own=False):
        page = free_windows.pop() if free_windows and not own else browser.new_context().new_page()
        (closed if own else kept).append(page)
        page.context.set_default_timeout(1000 * BROWSER_PATIENCE)
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        page.on("pageerror", note_error)
        page.on("request", note_request)
        page.goto(address + path)
        return page

    yield open_window
    for page in kept:
        page.remove_listener("pageerror", note_error)
        page.remove_listener("request", note_request)
        page.unroute_all()
        page.context.set_offline(False)
        page.context.clear_cookies()
        page.goto(f"{address}/static/none")
        page.evaluate("localStorage.clear()")
        free_windows.append(page)
    for page in closed:
        page.context.close()
    assert faults == []


def enter(page):
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("How old are you?").select_option("40 or older")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("#item")


def answer(page):
    """Answer the item that is shown."""
    item = page.locator("input[name=item]").get_attribute("value")
    if item in TEXTS:
        page.get_by_label("Your answer").fill(TEXTS[item])
    elif item == "primes":
        page.get_by_role("checkbox", name="2").check()
        page.get_by_role("checkbox", name="5").check()
    else:
        page.get_by_label("Nairobi" if item == "capital" else "B thing").check()


def begun(store):
    """Let a person go through the pages before the first question; return the address that goes on there."""
    code, sitting = store.begin()
    store.describe(sitting, {"age": "40 or older"})
    store.start(sitting)
    return f"/resume/{code}"


def look(page):
    """Check a page on a desk and, dark and with large type, on a phone."""
    page.wait_for_load_state()
    for width, theme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.evaluate("document.documentElement.style.fontSize = '150%'")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (page.url, width)
        assert grave_findings(page) == [], (page.url, width)


def test_the_whole_path_is_accessible_and_fits(visit, store):
    page = visit()

    def reach(heading):
        page.get_by_role("heading", name=heading, exact=True, level=1).wait_for()
        look(page)

    reach("Small exam")
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Continue").click()
    reach("About you")
    page.get_by_role("button", name="Continue").click()
    reach("Instructions")
    page.get_by_role("button", name="Start").click()
    for number in range(1, 6):
        page.wait_for_selector(f"#place:has-text('Question {number} of 5')")
        assert re.fullmatch(r"(30|[12]\d):\d\d", page.locator("#time-left").inner_text())
        if number < 5:  # the last question has the form of the first
            reach(f"Question {number} of 5")
        answer(page)
        page.locator("#next").click()
    reach("Review")
    page.get_by_role("button", name="Finish the exam").click()
    reach("Thank you")
    (sitting,) = store.rows("sittings")
    assert sitting["finished"] is not None
    assert len(page.locator("#completion").inner_text()) == 8
    assert {row["item"]: row["answer"] for row in store.rows("answers")} == {
        "capital": "[0]",
        "primes": "[0, 2]",
        "half": '"2.5"',
        "poet": '"Goethe"',
        "look": "[1]",
    }
    assert all(row["seconds"] > 0 for row in store.rows("answers"))


def test_an_exam_can_be_taken_by_keyboard_alone(visit, store):
    page = visit()
    press = page.keyboard.press
    page.get_by_label("I have read this").focus()
    for key in ("Space", "Tab", "Enter"):
        press(key)
    page.wait_for_selector("select")
    page.locator("select").focus()
    page.keyboard.type("40")
    press("Tab")
    press("Enter")
    page.get_by_role("button", name="Start").focus()
    press("Enter")
    page.wait_for_selector("#item")
    page.locator("input[type=radio]").first.focus()
    press("ArrowDown")
    press("Tab")
    press("Enter")
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    page.locator("input[type=checkbox]").first.focus()
    for key in ("Space", "Tab", "Tab", "Space"):
        press(key)
    page.get_by_role("button", name="Next").focus()
    press("Enter")
    page.wait_for_selector("#place:has-text('Question 3 of 5')")
    page.locator("#text").focus()
    page.keyboard.type("2,5")
    press("Enter")
    page.wait_for_selector("#place:has-text('Question 4 of 5')")
    assert stored(store) == {"capital": "[1]", "primes": "[0, 2]", "half": '"2,5"'}


def test_finish_asks_about_unanswered_items_by_keyboard_too(visit, store):
    page = visit(path=begun(store))
    answer(page)
    page.locator("#next").click()
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    page.get_by_role("button", name="Review all").click()
    page.get_by_role("button", name="Finish the exam").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Finish without all answers?", level=1).wait_for()
    assert "Without an answer: questions 2, 3, 4, 5." in page.locator("main").inner_text()
    look(page)
    page.get_by_role("link", name="Go to question 2").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    page.go_back()
    page.get_by_role("button", name="Finish anyway").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Thank you").wait_for()
    assert store.rows("sittings")[0]["finished"] is not None


def test_a_slow_press_on_next_counts_although_the_answer_is_saved_meanwhile(visit, store):
    """The word "Saved." once moved the button away from under the finger, and the press was lost."""
    page = visit(360, path=begun(store))
    place = 1
    while page.locator("#text").count() == 0:  # to the first typed answer
        answer(page)
        page.locator("#next").click()
        place += 1
        page.wait_for_selector(f"#place:has-text('Question {place} of 5')")
    page.get_by_label("Your answer").fill("2.5")
    button = page.locator("#next").bounding_box()
    page.mouse.move(button["x"] + button["width"] / 2, button["y"] + 4)
    page.mouse.down()  # the field loses the focus, and its answer is sent
    page.wait_for_selector("#saved:has-text('Saved.')")
    page.mouse.up()
    page.wait_for_selector(f"#place:has-text('Question {place + 1} of 5')")


def test_each_change_is_saved_at_once(visit, store):
    page = visit(path=begun(store))
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    page.get_by_label("Nairobi").check()
    page.wait_for_function("() => document.getElementById('saved').textContent === 'Saved.'")
    page.reload()
    assert page.get_by_label("Nairobi").is_checked()
    assert [row["answer"] for row in store.rows("answers")] == ["[0]"]


def stored(store):
    return {row["item"]: row["answer"] for row in store.rows("answers")}


def move_clock(page, hours):
    """Set the clock of a device, as a person or a network does."""
    page.evaluate(f"() => {{ const real = Date.now; Date.now = () => real() + {hours} * 3600e3; }}")


def test_a_clock_that_is_set_back_loses_no_change(visit, store):
    page = visit(path=begun(store))
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    move_clock(page, -1)
    page.get_by_label("Nairobi").check()
    page.wait_for_function("() => document.getElementById('saved').textContent === 'Saved.'")
    assert stored(store) == {"capital": "[0]"}


def visit_with_own_clock(visit, store):
    """Open the first question in a window whose time a test moves on, in place of waiting."""
    page = visit(own=True)
    page.clock.install()
    page.goto(page.url.rstrip("/") + begun(store))
    return page


def open_elsewhere(page, visit):
    """Open the same question on a second device, whose clock is two hours slow."""
    page.get_by_text("Stop and continue later").click()
    other = visit(360, path=page.locator("a[data-whole]").get_attribute("href"))
    other.goto(page.url)
    move_clock(other, -2)
    return other


def pass_delay(page):
    """Wait for as long as the page's time may be behind the server's: for the time that its own page took to come.

    A person needs longer from one device to another, but a busy machine can take seconds to send a page.
    """
    visit = "performance.getEntriesByType('navigation')[0]"
    page.wait_for_timeout(50 + page.evaluate(f"{visit}.responseStart - {visit}.requestStart"))


def test_on_two_devices_the_last_change_counts(visit, store):
    page = visit(path=begun(store))
    page.get_by_label("Mombasa").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    other = open_elsewhere(page, visit)
    for device, city, place in ((other, "Kisumu", 2), (page, "Nairobi", 0), (other, "Mombasa", 1), (page, "Kisumu", 2)):
        pass_delay(device)
        device.get_by_label(city).check()
        device.wait_for_function("() => document.getElementById('saved').textContent === 'Saved.'")
        assert stored(store) == {"capital": f"[{place}]"}
    other.locator("#next").click()  # without a change: Mombasa, which it still shows, must not come back
    other.wait_for_selector("#place:has-text('Question 2 of 5')")
    assert stored(store) == {"capital": "[2]"}


def test_a_device_without_connection_does_not_undo_a_later_change(visit, store):
    page = visit(path=begun(store))
    other = open_elsewhere(page, visit)
    other.context.set_offline(True)
    other.get_by_label("Mombasa").check()
    other.wait_for_selector("#saved:has-text('No connection')")
    pass_delay(page)
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    other.context.set_offline(False)
    other.wait_for_selector("#saved:has-text('changed later')")
    assert other.get_by_label("Kisumu").is_checked()
    assert stored(store) == {"capital": "[2]"}


def test_a_request_that_arrives_late_does_not_undo_a_later_change(visit, store):
    page = visit(path=begun(store))
    other = open_elsewhere(page, visit)
    delayed = []
    other.route("**/answer", lambda route: delayed.append(route), times=1)
    other.get_by_label("Mombasa").check()
    other.wait_for_selector("#saved:has-text('Saving…')")
    while not delayed:
        other.wait_for_timeout(10)
    pass_delay(page)
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    delayed[0].continue_()
    other.wait_for_selector("#saved:has-text('changed later')")
    assert stored(store) == {"capital": "[2]"}


def test_saved_is_not_shown_while_a_newer_change_waits(visit, store):
    page = visit_with_own_clock(visit, store)
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    page.route("**/answer", lambda route: None, times=1)  # never answered
    page.get_by_label("Nairobi").check()
    assert page.locator("#saved").inner_text() == "Saving…"
    page.clock.fast_forward(8000)  # a request has this long
    page.wait_for_selector("#saved:has-text('Saved.')")
    assert stored(store) == {"capital": "[0]"}


def test_a_page_that_loads_again_shows_the_change_that_waits(visit, store):
    """Otherwise a press on Next would send the older answer that the page shows."""
    page = visit(path=begun(store))
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    page.route("**/answer", lambda route: route.abort())
    page.get_by_label("Mombasa").check()
    page.wait_for_selector("#saved:has-text('No connection')")
    page.reload()
    assert page.get_by_label("Mombasa").is_checked()
    page.unroute("**/answer")
    page.locator("#next").click()
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    assert stored(store) == {"capital": "[1]"}


def test_next_waits_for_no_second_try_after_a_typed_answer(visit, store):
    """Leaving the field sends the answer; the button then has a newer one, which must not wait for a retry."""
    page = visit(own=True)
    page.add_init_script("const timer = setTimeout; setTimeout = (call, wait) => (wait < 3000 ? timer(call, wait) : 0)")
    page.goto(page.url.rstrip("/") + begun(store))
    for number in range(2, 5):
        answer(page)
        page.locator("#next").click()
        page.wait_for_selector(f"#place:has-text('Question {number} of 5')")
    assert {row["item"] for row in store.rows("answers")} >= {"capital", "primes", "half"}


def test_a_lost_connection_loses_nothing(visit, store):
    page = visit(path=begun(store))
    page.context.set_offline(True)
    page.get_by_label("Mombasa").check()
    page.wait_for_selector("#saved:has-text('No connection')")
    page.locator("#next").click()
    assert store.rows("answers") == []
    page.context.set_offline(False)
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    assert [row["answer"] for row in store.rows("answers")] == ["[1]"]


BUSY = {
    **{
        status: {"status": status, "json": {"saved": False, "message": "Wait."}} for status in (408, 425, 429, 500, 503)
    },
    "a gateway": {"status": 403, "body": "<h1>Sign in to this network</h1>", "content_type": "text/html"},
    "a hotel": {"status": 200, "body": "<h1>Welcome</h1>", "content_type": "text/html"},
}


def test_what_is_not_refused_for_good_is_sent_again(visit, store):
    page = visit_with_own_clock(visit, store)
    answered = []
    page.on("response", lambda response: answered.append(response.url) if response.url.endswith("/answer") else None)
    for turn, (name, busy) in enumerate(BUSY.items()):
        place = turn % 2
        answered.clear()
        page.goto(f"{page.url.partition('/sit')[0]}/sit?n=1")
        page.route("**/answer", lambda route, _, busy=busy: route.fulfill(**busy), times=2)
        page.get_by_label(("Mombasa", "Kisumu")[place]).check()
        page.wait_for_selector("#saved:has-text('The server is busy. Your answers wait')")
        page.locator("#next").click()  # sends at once, is refused again, and waits
        while len(answered) < 2:
            page.wait_for_timeout(10)
        page.clock.fast_forward(2000)
        page.wait_for_selector("#place:has-text('Question 2 of 5')")
        assert stored(store) == {"capital": f"[{place + 1}]"}, name


def test_a_server_that_names_a_time_is_not_asked_before(visit, store):
    page = visit_with_own_clock(visit, store)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    busy = {"status": 429, "headers": {"retry-after": "600"}, "json": {"saved": False, "message": "Wait."}}
    page.route("**/answer", lambda route: route.fulfill(**busy), times=1)
    page.get_by_label("Kisumu").check()
    page.wait_for_selector("#saved:has-text('The server is busy.')")
    page.get_by_label("Mombasa").check()  # waits as well
    page.clock.fast_forward(300_000)
    assert len(asked) == 1
    page.clock.fast_forward(300_000)
    page.wait_for_selector("#saved:has-text('Saved.')")
    assert len(asked) == 2
    assert stored(store) == {"capital": "[1]"}


def test_a_final_refusal_says_why_and_keeps_the_text(visit, store):
    page = visit(path=begun(store))
    page.goto(page.url.replace("n=1", "n=4"))
    store.set_closed(True)
    page.get_by_label("Your answer").fill("Goethe")
    page.locator("#next").click()
    page.wait_for_selector("#saved:has-text('Not saved. The exam is closed.')")
    assert page.get_by_label("Your answer").input_value() == "Goethe"
    page.locator("#next").click()  # the person has read it and goes on
    page.wait_for_selector("#place:has-text('Question 5 of 5')")
    page.wait_for_selector("#saved:has-text('Question 4: Not saved. The exam is closed.')")
    store.set_closed(False)
    page.goto(page.url.replace("n=5", "n=4"))
    assert page.get_by_label("Your answer").input_value() == "Goethe"
    page.wait_for_selector("#saved:has-text('Saved.')")
    assert stored(store) == {"poet": '"Goethe"'}


def test_answers_wait_in_the_browser_when_the_page_is_closed_without_connection(visit, store):
    page = visit(path=begun(store), own=True)
    page.context.set_offline(True)
    page.get_by_label("Mombasa").check()
    page.wait_for_selector("#saved:has-text('No connection')")
    context, place = page.context, page.url
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.goto(place.partition("/sit")[0] + "/sit?n=3")
    again.wait_for_selector("#saved:has-text('Saved.')")
    assert [(row["item"], row["answer"]) for row in store.rows("answers")] == [("capital", "[1]")]


def test_leaving_the_page_is_noted_and_a_link_goes_on_elsewhere(visit, store):
    page = visit(path=begun(store))
    page.evaluate("""() => { Object.defineProperty(document, 'hidden', {value: true, configurable: true});
        document.dispatchEvent(new Event('visibilitychange')); }""")
    page.get_by_label("Nairobi").check()
    page.wait_for_selector("#saved:has-text('Saved.')")
    assert store.rows("shown")[0]["left"] == 1
    page.get_by_text("Stop and continue later").click()
    link = page.locator("a[data-whole]").inner_text()
    assert link.startswith("http://127.0.0.1")
    other = visit(360)
    other.goto(link)
    other.wait_for_selector("#place:has-text('Question 2 of 5')")


def test_the_organisers_page_is_accessible_and_closes_the_exam(visit, store):
    page = visit(path=begun(store))
    answer(page)
    page.locator("#next").click()
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    organiser = visit(360, "dark", "/organiser")
    assert organiser.evaluate("document.documentElement.dataset.theme") == "dark"
    assert grave_findings(organiser) == []
    organiser.get_by_label("Secret").fill(SECRET)
    organiser.get_by_role("button", name="Enter").click()
    organiser.wait_for_selector("#state")
    assert organiser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert grave_findings(organiser) == []
    organiser.get_by_role("button", name="Close the exam").click()
    organiser.wait_for_selector("#state:has-text('closed')")
    page.get_by_role("checkbox", name="2").check()
    page.wait_for_selector("#saved:has-text('The exam is closed.')")
    assert len(store.rows("answers")) == 1


def test_a_request_that_hangs_is_sent_again(visit, store):
    """As on a phone that changes its network: without an end to waiting, the page would stay where it is."""
    page = visit_with_own_clock(visit, store)
    page.wait_for_selector("#place:has-text('Question 1 of 5')")
    page.route("**/answer", lambda route: None, times=1)  # never answered
    with page.expect_request("**/answer"):
        answer(page)
        page.locator("#next").click()
    page.clock.fast_forward(8000)
    page.wait_for_selector("#place:has-text('Question 2 of 5')")
    assert len(store.rows("answers")) == 1


def test_a_shared_tablet_keeps_nothing_of_the_last_person(visit, serve, address, tmp_path):
    header, *rows = ITEMS.splitlines(keepends=True)
    exam = read_exam(write_exam(tmp_path / "class", "shared_device = true\n" + TOML, header + rows[0] + rows[-1]))
    store = serve(exam)
    page = visit()
    for person in range(2):
        enter(page)
        for number in range(1, 3):
            page.wait_for_selector(f"#place:has-text('Question {number} of 2')")
            answer(page)
            page.locator("#next").click()
        page.get_by_role("heading", name="Review").wait_for()
        if not person:
            look(page)
        page.get_by_role("button", name="Finish the exam").click()
        page.get_by_text("this page is shown once").wait_for()
        if not person:
            look(page)
        code = page.locator("#code").inner_text()
        assert page.context.cookies() == []
        assert page.evaluate("localStorage.length") == 0
        page.get_by_role("link", name="Next person").click()
        page.get_by_label("I have read this").wait_for()
        page.go_back()
        page.get_by_label("I have read this").wait_for()
        assert code not in page.content()
        assert len(store.rows("sittings")) == person + 1
    enter(page)
    answer(page)
    page.wait_for_selector("#saved:has-text('Saved.')")
    page.goto(address)  # as somebody else does who finds the tablet
    page.get_by_role("heading", name="Is this your exam?").wait_for()
    look(page)
    page.get_by_role("link", name="Back to the exam").click()
    page.get_by_role("button", name="Stop here and leave this device").click()
    page.get_by_role("heading", name="You have stopped").wait_for()
    look(page)
    assert page.locator("[data-whole]").inner_text().startswith(f"{address}/resume/")
    assert page.context.cookies() == []
    assert len(store.rows("answers")) == 5


@pytest.mark.parametrize("code", ["de", "ar", "zh"])
def test_a_whole_exam_in_another_language_is_accessible_and_fits(visit, serve, tmp_path, code):
    exam = read_exam(write_exam(tmp_path / "one", f'language = "{code}"\n' + TOML))
    store = serve(exam)
    page = visit()

    def reach(key, **values):
        page.get_by_role("heading", name=exam.texts(key, **values), level=1).wait_for()
        assert page.evaluate("document.documentElement.dir") == exam.texts.direction
        look(page)

    look(page)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name=exam.texts("continue")).click()
    reach("about")
    page.get_by_role("button", name=exam.texts("continue")).click()
    reach("instructions")
    page.get_by_role("button", name=exam.texts("start")).click()
    reach("question_of", at=1, n=5)
    page.get_by_label("Nairobi").check()
    page.wait_for_selector(f"#saved:has-text('{exam.texts('saved')}')")
    page.get_by_role("button", name=exam.texts("review_all")).click()
    reach("review")
    page.get_by_role("button", name=exam.texts("finish")).click()
    reach("finish_asked")
    page.get_by_role("button", name=exam.texts("finish_anyway")).click()
    reach("thanks")
    assert stored(store) == {"capital": "[0]"}


def test_ratings_sliders_and_sounds_work_by_keyboard_and_are_accessible(visit, serve, tmp_path):
    folder = write_exam(tmp_path / "kinds", TOML, KINDS)
    (folder / "song.mp3").write_bytes(b"ID3" + bytes(50))
    store = serve(read_exam(folder))
    page = visit(path=begun(store))
    for number, item in enumerate(["try", "capital", "share", "song", "sure", "mood"], start=1):
        page.wait_for_selector(f"#place:has-text('Question {number} of 6')")
        if item not in ("capital", "mood"):  # whose forms are those of others
            look(page)
        if item in ("share", "mood"):
            page.locator("input[type=range]").focus()
            page.keyboard.press("ArrowRight")
        elif item == "song":
            assert page.locator("audio[controls]").bounding_box()["height"] > 30
            page.get_by_text("Transcript").click()
            page.get_by_label("Your answer").fill("anthem")
        else:
            page.locator("input[type=radio]").first.focus()
            page.keyboard.press("Space")
        page.wait_for_selector("#saved:has-text('Saved.')")
        page.locator("#next").click()
    page.get_by_role("heading", name="Review").wait_for()
    answers = stored(store)
    assert answers["share"] == '"51"'
    assert answers["mood"] == '"0.5"'
    assert answers["sure"] == "[0]"
    assert answers["song"] == '"anthem"'


def test_a_panelist_who_must_wait_goes_back_with_the_id_and_the_language(visit, serve, tmp_path, monkeypatch):
    exam = read_exam(write_exam(tmp_path / "panel", 'panel_parameter = "PROLIFIC_PID"\n' + TOML + FRENCH, TWO))
    store = serve(exam)
    monkeypatch.setattr(Begins, "EACH", 0)  # more people began at this address than may at once
    monkeypatch.setattr(Begins, "EACH_PAUSE", 1e9)
    page = visit(path="/?PROLIFIC_PID=a%26b&language=fr")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Continuer").click()
    page.get_by_role("alert").wait_for()
    assert page.locator("html").get_attribute("lang") == "fr"
    look(page)
    monkeypatch.undo()
    page.get_by_role("link").last.click()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Continuer").click()
    page.wait_for_url("**/sit")
    assert [(row["id"], row["state"]) for row in store.codes().to_dicts()] == [("a&b", "at work")]
    assert store.rows("sittings")[0]["language"] == "fr"
