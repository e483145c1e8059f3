"""The reviewer's rooms: the door, the forms, every change, two reviewers at once, and hostile text."""

import re
import time
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from mensura.core.errors import MensuraError
from mensura.ledger import Proposal, Skipped, Unmatched, Update, open_ledger
from mensura.serve import ReviewerSecret, SiteRenewal, find_origin, live_app
from tests.ledger.small import ANN, BOB, score
from tests.serve.clicks import form, link
from tests.serve.conftest import small_edition
from tests.site.hostile import PRODUCT, TEXTS

PATIENCE = 60.0  # seconds, on however busy a machine
SECRET = "correct horse battery staple"
SITE = "http://testserver"
OWN = {"origin": SITE}
EFFECT = {"composites": [{"subject": "big-1", "before": 128.0, "after": 130.5, "change": 2.5}], "capabilities": []}


@pytest.fixture
def rooms(store, monkeypatch):
    """The application of a store with open rooms; effects are known at once."""

    async def build(origin, scratch, shown):
        return small_edition()

    async def known(function, *arguments):
        return EFFECT

    monkeypatch.setattr("mensura.serve.review.run_apart", known)
    renewal = SiteRenewal(find_origin(store), build=build)
    renewal.publish(small_edition())
    return live_app(renewal, secret=ReviewerSecret(SECRET))


def enter(visitor, name="Ada"):
    """Let a visitor show the secret."""
    answer = visitor.post("/review/enter", data={"name": name, "secret": SECRET}, headers=OWN, follow_redirects=False)
    assert answer.status_code == 303
    return visitor


@pytest.fixture
def reviewer(rooms):
    """Somebody who has shown the secret, while the site runs."""
    with TestClient(rooms, base_url=SITE) as visitor:
        yield enter(visitor)


def follow(visitor, page: str, words: str):
    """Follow a link of a page."""
    return visitor.get(link(page, words))


def press(visitor, page: str, button: str, **fields):
    """SiteRenewal a button of a page, with what was filled in."""
    action, hidden = form(page, button)
    return visitor.post(action, data=hidden | fields, headers=OWN)


def open_update(visitor, title="A new figure"):
    """Open a pending update by its link on the first page."""
    return follow(visitor, visitor.get("/review/").text, title)


def propose(store, old="12", new="15.5", **facts) -> Update:
    """File an update of one score."""
    update = Update(
        **{"title": "A new figure", "source": "board", **facts}, changes=(score("big-1", "swe_marathon", old, new),)
    )
    open_ledger(store).propose(update, **ANN)
    return update


def read_with_effect(reviewer):
    """The page of an update once its effect, which is computed beside the first visit, is known."""
    until = time.monotonic() + PATIENCE
    while "Being computed" in (answer := open_update(reviewer)).text:
        assert time.monotonic() < until, "the effect never came"
        time.sleep(0.01)
    return answer


def marathon(store) -> float:
    return open_ledger(store).evidence().scores.filter(subject="big-1", benchmark="swe_marathon")["score"].item()


# The door


def test_without_the_secret_nothing_is_shown_and_nothing_changes(rooms, store):
    update = propose(store)
    visitor = TestClient(rooms, base_url=SITE)
    for path in ("/review/", "/review", f"/review/updates/{update.id}", "/review/policy", "/review/captures/abcdef"):
        answer = visitor.get(path)
        assert answer.status_code == 401
        assert "A new figure" not in answer.text
        assert answer.headers["cache-control"] == "no-store"
    for path in (f"/review/updates/{update.id}/apply", "/review/entries/0/undo", "/review/policy/big-1/edit"):
        assert visitor.post(path, data={"token": ""}, headers=OWN).status_code == 403
    assert marathon(store) == 12


def test_the_cookie_is_for_the_browser_alone_and_this_site_alone(rooms):
    visitor = TestClient(rooms, base_url=SITE)
    asked = {"data": {"name": "Ada", "secret": f" {SECRET}\n"}, "follow_redirects": False}
    cookie = visitor.post("/review/enter", **asked, headers=OWN).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/review" in cookie
    assert "Secure" not in cookie
    behind_tls = {"origin": "https://testserver"}
    assert "Secure" in visitor.post("/review/enter", **asked, headers=behind_tls).headers["set-cookie"]


@pytest.mark.parametrize(
    "wrong", ["", "correct horse battery stapl", SECRET + "x", SECRET.upper(), "\ud800", "x" * 9999]
)
def test_a_wrong_secret_opens_nothing(rooms, wrong):
    visitor = TestClient(rooms, base_url=SITE)
    body = b"name=Ada&secret=" + wrong.encode("utf-8", errors="surrogatepass").hex("%").encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = visitor.post("/review/enter", content=body, headers=OWN | kind)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_guessing_is_slowed_down_and_the_right_secret_waits_too(rooms):
    visitor = TestClient(rooms, base_url=SITE)
    codes = [
        visitor.post("/review/enter", data={"name": "Eve", "secret": f"guess {n}"}, headers=OWN).status_code
        for n in range(7)
    ]
    assert codes == [403] * 5 + [429] * 2
    late = visitor.post("/review/enter", data={"name": "Ada", "secret": SECRET}, headers=OWN)
    assert late.status_code == 429
    assert 0 < int(late.headers["retry-after"]) <= 31


def test_leaving_ends_the_session(reviewer):
    page = reviewer.get("/review/").text
    cookie = dict(reviewer.cookies)
    assert "Secret" in press(reviewer, page, "Leave").text
    reviewer.cookies.update(cookie)
    assert reviewer.get("/review/").status_code == 401


def test_rooms_need_a_store_with_a_history():
    with pytest.raises(MensuraError, match="mensura evidence init"):
        live_app(SiteRenewal(find_origin(None)), secret=ReviewerSecret(SECRET))


# The forms


def test_a_form_of_another_site_or_session_or_none_changes_nothing(rooms, reviewer, store):
    propose(store)
    action, fields = form(open_update(reviewer).text, "Apply")
    other = enter(TestClient(rooms, base_url=SITE), "Bob")
    strange = form(open_update(other).text, "Apply").fields
    kind = {"content-type": "application/x-www-form-urlencoded"}
    refused = [
        reviewer.post(action, data=fields, headers={"origin": "http://evil.example"}),
        reviewer.post(action, data=fields, headers={"origin": "null"}),
        reviewer.post(action, data=fields),
        reviewer.post(action, data=fields, headers={"sec-fetch-site": "cross-site"}),
        reviewer.post(action, data=fields | {"token": ""}, headers=OWN),
        reviewer.post(action, data=fields | {"token": fields["token"][:-1]}, headers=OWN),
        reviewer.post(action, data=fields | {"token": strange["token"]}, headers=OWN),
        reviewer.post(action, json=fields, headers=OWN),
        reviewer.post(action, content=b"token=" + b"x" * 100_000, headers=OWN | kind),
        reviewer.post(action, content=b"&".join(b"a%d=1" % n for n in range(100)), headers=OWN | kind),
        reviewer.post(action, content=b"\xff\xfe", headers=OWN | kind),
        reviewer.get(action, params=fields),
    ]
    assert [answer.status_code for answer in refused] == [403] * 11 + [405]
    assert marathon(store) == 12


# The changes


def test_an_update_is_read_with_its_effect_applied_and_undone(reviewer, store):
    propose(store)
    page = read_with_effect(reviewer).text
    assert "big-1 · swe_marathon · board" in page and "15.5" in page
    assert "130.5" in page and "2.5" in page, "the effect on the scores"
    home = press(reviewer, page, "Apply").text
    assert marathon(store) == 15.5
    assert "Applied: A new figure (entry 1)." in home and "Nothing waits." in home
    assert "Applied" not in reviewer.get("/review/").text.split("<h2")[0], "a note is said once"
    entry = open_ledger(store).entries().row(0, named=True)
    assert (entry["kind"], entry["by"]) == ("apply", "Ada")
    assert "It was applied" in follow(reviewer, home, "A new figure").text, "the log leads to the update"
    assert "undone by 2" in press(reviewer, home, "Undo").text
    assert marathon(store) == 12


def test_while_the_effect_is_computed_the_page_loads_itself_again(reviewer, store, monkeypatch):
    async def never(function, *arguments):
        raise MensuraError("no effect: <b>why</b>")

    monkeypatch.setattr("mensura.serve.review.run_apart", never)
    propose(store)
    first = open_update(reviewer)
    assert "Being computed" in first.text
    assert first.headers["refresh"] == "3"
    again = read_with_effect(reviewer)
    assert "no effect: &lt;b&gt;why&lt;/b&gt;" in again.text
    assert "refresh" not in again.headers


def test_of_two_reviewers_the_second_is_told(reviewer, store):
    propose(store)
    propose(store, new="17", title="Another figure")
    pages = [open_update(reviewer, title).text for title in ("A new figure", "Another figure")]
    answers = [press(reviewer, page, "Apply") for page in pages]
    assert [answer.status_code for answer in answers] == [200, 409]
    assert 'role="alert"' in answers[1].text
    assert marathon(store) == 15.5


def test_a_pending_update_can_be_discarded(reviewer, store):
    propose(store)
    assert "Discarded: A new figure." in press(reviewer, open_update(reviewer).text, "Discard").text
    assert open_ledger(store).pending().is_empty()


def test_policy_fields_are_edited_with_a_reason(reviewer, store):
    home = reviewer.get("/review/").text
    page = follow(reviewer, home, "Policy").text
    refused = press(reviewer, page, "Change", display="hide")
    assert refused.status_code == 422 and "reason" in refused.text
    assert press(reviewer, page, "Change", display="perhaps", reason="x").status_code == 422
    press(reviewer, page, "Change", display="hide", reason="an early draft")
    row = open_ledger(store).policy().filter(subject="big-1").row(0, named=True)
    assert (row["display"], row["reason"]) == ("hide", "an early draft")
    assert '<option value="hide" selected>' in follow(reviewer, home, "Which models charts show").text


@pytest.mark.parametrize("entry", ["99", "0", "-1", "x", "1e3", "٣", "9" * 40])
def test_an_entry_that_cannot_be_undone_is_refused(reviewer, store, entry):
    token = form(reviewer.get("/review/").text, "Leave").fields
    answer = reviewer.post(f"/review/entries/{entry}/undo", data=token, headers=OWN)
    assert answer.status_code in (409, 422)
    assert open_ledger(store).version().entry == 0


@pytest.mark.parametrize(("size", "shown"), [(256 * 1024, 256 * 1024), (256 * 1024 + 1, 256 * 1024)])
def test_of_a_captured_text_a_quarter_of_a_mebibyte_is_shown(reviewer, store, size, shown):
    data = b"x" * (size - 1) + b"y"
    capture = open_ledger(store).add_capture(data, source="board", address="https://example.org/x", **ANN)
    propose(store, capture=capture)
    page = follow(reviewer, open_update(reviewer).text, "The captured text").text
    assert re.search("x{1000}x*y?", page)[0] == data[:shown].decode()


def test_a_reviewers_name_has_a_hundred_letters_at_most(rooms):
    tried = {"name": "n" * 101, "secret": "a wrong one"}
    page = TestClient(rooms, base_url=SITE).post("/review/enter", data=tried, headers=OWN).text
    assert re.search("n{50,}", page)[0] == "n" * 100


@pytest.mark.parametrize("path", ["updates/ffffffff", "updates/%3Cscript%3E", "captures/ffffffff"])
def test_what_is_not_there_is_said_and_shown_as_text(reviewer, path):
    answer = reviewer.get(f"/review/{path}")
    assert answer.status_code == 404
    assert_harmless(answer.text)


# Hostile text


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def assert_harmless(page: str) -> None:
    """Nothing on the page runs but the site's own script; no attribute is an event handler or a script address."""
    tags = Tags()
    tags.feed(page)
    scripts = [attrs for tag, attrs in tags.found if tag == "script"]
    assert scripts == [{"src": "/static/state.js"}]
    own = {"a", "body", "button", "caption", "code", "details", "div", "form", "h1", "h2", "head", "header", "html"}
    own |= {
        "input",
        "label",
        "link",
        "main",
        "meta",
        "nav",
        "option",
        "p",
        "script",
        "select",
        "span",
        "strong",
        "summary",
        "table",
    }
    own |= {"tbody", "td", "th", "thead", "title", "tr"}
    assert {tag for tag, _ in tags.found} <= own
    for _, attributes in tags.found:
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("style", "srcdoc")
            assert not (value or "").strip().lower().startswith(("javascript:", "data:"))


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_is_shown_and_never_runs(reviewer, store, text):
    ledger = open_ledger(store)
    line = "".join(sign for sign in text if sign.isprintable())[:200]  # a title is one printable line, not a long one
    capture = ledger.add_capture(text.encode(), source="board", address="https://example.org/x", **ANN)
    update = Update(
        title=line,
        source="board",
        capture=capture,
        mapping=line,
        made=line,
        changes=(score("big-1", "swe_marathon", "12", "15"),),
        proposals=(Proposal("models", False, {"subject": "new", "name": line}, (1,), ()),),
        unmatched=(Unmatched("model", line, (1,), (line,)),),
        skipped=(Skipped(1, line, line),),
    )
    ledger.propose(update, **BOB)
    ledger.apply(ledger.policy_edit("big-1", {"display": "hide"}, reason=f"x {line[:170]} x"), **ANN)
    visitor = enter(reviewer, f"x{line}x")
    home = visitor.get("/review/")
    opened = follow(visitor, home.text, line)
    text_page = follow(visitor, opened.text, "The captured text")
    for answer in (home, opened, text_page, follow(visitor, home.text, "Policy")):
        assert answer.status_code == 200
        assert_harmless(answer.text)
        assert str(PRODUCT) not in answer.text, "a template in the text was evaluated"
        assert "script-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("name", ["  ", "\u202eadA"])
def test_whoever_cannot_be_named_in_the_history_does_not_come_in(rooms, name):
    visitor = TestClient(rooms, base_url=SITE)
    asked = {"name": name, "secret": SECRET}
    answer = visitor.post("/review/enter", data=asked, headers=OWN, follow_redirects=False)
    assert answer.status_code == 422 and "Give your name" in answer.text
    assert "set-cookie" not in answer.headers
