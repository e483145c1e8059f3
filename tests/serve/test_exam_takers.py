"""The pages of a taker: consent, items one by one, going on elsewhere, the end, and files."""

import re
import time

import pytest

from mensura.exam import AnswerStore, read_exam
from mensura.serve.exam_app import exam_app
from mensura.serve.exam_takers import COOKIE
from tests.exam.conftest import ITEMS, TOML, write_exam
from tests.serve.conftest import Taker


@pytest.fixture
def store(tmp_path, exam):
    """The answers of the exam, in place of a store of evidence."""
    store = AnswerStore(tmp_path / "answers.db", exam)
    yield store
    store.close()


def test_finishing_with_unanswered_items_asks_once_and_names_them(taker, store):
    taker.start()
    taker.fill("/answer", item="half", text="2.5")
    taker.fill("/answer", item="primes", **{"option-0": "on"})
    taker.fill("/answer", item="primes")  # and taken back
    page = re.sub(r"<a [^>]*>|</a>", "", taker.fill("/finish").text)
    assert "Without an answer: questions 1, 2, 4, 5." in page
    assert store.find(taker.code).finished is None
    assert "Thank you" in taker.fill("/finish", anyway="yes").text


def test_nobody_is_asked_to_answer_when_the_time_is_over(tmp_path):
    exam = read_exam(write_exam(tmp_path / "timed", TOML + "[time]\nminutes = 0.0001\n", ITEMS))
    store = AnswerStore(tmp_path / "timed.db", exam)
    taker = Taker(exam_app(exam, store))
    taker.start()
    time.sleep(0.02)
    assert "Thank you" in taker.fill("/finish").text
    store.close()


def test_nothing_is_stored_without_consent(taker, store):
    assert taker.fill("/begin").status_code == 422
    assert store.rows("sittings") == []


def test_a_link_resumes_on_another_device_and_shows_what_was_answered(taker, site, store):
    taker.start()
    taker.fill("/answer", item="capital", option="2")
    other = Taker(site)
    assert "Question 2 of 5" in other.get(f"/resume/{taker.code}").text
    assert re.search(r'value="2" checked', other.get("/sit?n=1").text)
    assert len(store.rows("sittings")) == 1


def test_the_reply_states_the_stored_version_and_its_content(taker, site, store):
    taker.start()
    first = taker.save(item="capital", after="0", option="1").json()
    assert first == {"saved": True, "now": pytest.approx(store.now(), abs=60), "stored": 1, "late": False}
    other = Taker(site, cookies={COOKIE: taker.code})
    assert other.save(item="capital", after="1", option="2").json()["stored"] == 2
    behind = taker.save(item="capital", after="1", made="1", option="0")
    assert behind.status_code == 409
    assert behind.json().items() >= {"saved": False, "stored": 2, "newer": True, "fields": "option=2"}.items()
    assert store.answers(store.find(taker.code))["capital"].given == [2]
    taker.save(item="primes", after="0", **{"option-0": "on", "option-2": "on"})
    assert taker.save(item="primes", after="7", made="1").json()["fields"] == "option-0=on&option-2=on"


def test_a_page_that_was_open_before_an_update_of_the_server_still_saves(taker, store):
    taker.start()
    for edit, option in (("1794900000000", "1"), ("1794800000000", "2")):  # versions by the page's clock, set back
        assert taker.save(item="capital", edit=edit, option=option).json()["saved"] is True
    assert store.answers(store.find(taker.code))["capital"].given == [2]


def test_a_page_of_one_sitting_stores_nothing_in_another(taker, site, store):
    taker.start()
    first = store.find(taker.code).person
    other = Taker(site)
    other.start()
    assert other.save(item="capital", person=first, after="0", option="1").status_code == 403
    assert store.rows("answers") == []


def test_shown_places_are_turned_back_into_those_of_the_table(tmp_path):
    toml = TOML.replace("shuffle_options = false\n", "")
    exam = read_exam(write_exam(tmp_path / "mixed", toml))
    store = AnswerStore(tmp_path / "mixed.db", exam)
    taker = Taker(exam_app(exam, store))
    taker.start()
    order = store.find(taker.code).form.options["capital"]
    page = taker.get("/sit?n=1").text
    assert re.findall(r"<span>(\w+)</span></label>", page) == [
        exam.by_name["capital"].options[place] for place in order
    ]
    taker.fill("/answer", item="capital", option=str(order.index(0)))
    assert store.answers(store.find(taker.code))["capital"].given == [0]
    store.close()


@pytest.fixture
def tablet(tmp_path):
    """A device of a class, on which a first person has begun; and its answers."""
    exam = read_exam(write_exam(tmp_path / "class", "shared_device = true\n" + TOML))
    taker = Taker(exam_app(exam, store := AnswerStore(tmp_path / "class.db", exam)))
    taker.start()
    yield taker, store
    store.close()


def test_a_shared_device_starts_afresh_after_each_person_and_shows_codes_once(tablet):
    tablet, store = tablet
    first = tablet.code
    assert first not in tablet.get("/sit?n=1").text
    done = tablet.fill("/finish", anyway="yes")
    assert first in done.text
    assert COOKIE not in tablet.cookies
    assert first not in tablet.get("/done").text
    assert "I have read this" in tablet.get("/").text
    tablet.start()
    assert tablet.code != first
    second = tablet.code
    left = tablet.fill("/leave").text
    assert f"/resume/{second}" in left
    assert COOKIE not in tablet.cookies
    assert second not in tablet.get("/sit").text
    tablet.start()
    assert len(store.rows("sittings")) == 3


def test_a_tablet_that_somebody_left_asks_before_it_goes_on_with_their_exam(tablet):
    """A pupil walks away in the middle; the next one opens the first page and must not answer in their place."""
    tablet, store = tablet
    first = tablet.code
    asked = tablet.get("/").text
    assert "Is this your exam?" in asked
    assert 'href="/sit"' in asked
    fresh = tablet.fill("/leave", next="yes").text
    assert "I have read this" in fresh
    assert "data-fresh" in fresh
    assert first not in asked + fresh
    tablet.start()
    assert tablet.code != first
    assert [row["finished"] for row in store.rows("sittings")] == [None, None]


def test_answers_for_others_items_forged_sittings_and_foreign_pages_change_nothing(taker, site, store):
    taker.start()
    for fields in ({"item": "nothing"}, {"item": "capital", "option": "9"}, {"item": "capital", "option": "-1"}):
        assert taker.fill("/answer", **fields).status_code in (404, 422)
    foreign = taker.post("/answer", data={"item": "capital", "option": "0"}, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403
    forged = Taker(site, cookies={COOKIE: "A" * 20})
    assert forged.fill("/answer", item="capital", option="0").status_code == 403
    assert forged.get("/sit", follow_redirects=False).headers["location"] == "/"
    assert store.rows("answers") == []


def test_huge_broken_and_replayed_answers_are_harmless(taker, store):
    taker.start()
    assert taker.fill("/answer", item="poet", text="x" * 10_000_000).status_code == 403
    assert taker.fill("/answer", item="poet", text="x" * 6_000).status_code == 422
    taker.save(item="poet", after="1e400", seconds="nan", left="-5", made="-1e9", text="Goethe")
    replayed = taker.save(item="poet", after="0", made="1", text="Schiller")
    assert (replayed.status_code, replayed.json()["stored"], replayed.json()["newer"]) == (409, 1, True)
    sitting = store.find(taker.code)
    assert store.answers(sitting)["poet"].given == "Goethe"
    taker.fill("/finish", anyway="yes")
    assert taker.fill("/answer", item="poet", text="Schiller").status_code == 409
    assert store.answers(sitting)["poet"].given == "Goethe"


def test_a_person_deletes_their_answers_by_code_until_the_exam_closes(taker, site, store):
    taker.start()
    taker.fill("/answer", item="poet", text="Goethe")
    code = taker.code
    other = Taker(site)
    assert other.fill("/forget", code="WRONG").status_code == 404
    assert "Your answers are deleted" in other.fill("/forget", code=f"{code[:10]} {code[10:]}").text
    assert store.rows("answers") == store.rows("sittings") == []
    taker.cookies.clear()
    taker.start()
    store.set_closed(True)
    assert taker.fill("/forget", code=taker.code).status_code == 403
    assert len(store.rows("sittings")) == 1


def test_codes_to_delete_by_cannot_be_tried_at_will(site):
    visitor = Taker(site)
    tried = [visitor.fill("/forget", code=f"GUESS{number}").status_code for number in range(8)]
    assert tried[0] == 404
    assert tried[-1] == 429


def test_pictures_are_shown_to_those_who_have_the_item_and_started(tmp_path):
    from tests.exam.test_file import PNG

    rows = "item,text,key,picture,picture_alt\nq,What?,x,a.png,a drawing\n"
    folder = write_exam(tmp_path / "drawn", TOML, rows)
    (folder / "a.png").write_bytes(PNG)
    exam = read_exam(folder)
    store = AnswerStore(tmp_path / "drawn.db", exam)
    taker = Taker(exam_app(exam, store))
    assert 'alt="a drawing"' in taker.start().text
    found = taker.get("/picture/q")
    assert (found.content, found.headers["content-type"]) == (PNG, "image/png")
    assert taker.get("/picture/..%2Fexam.toml").status_code == 404
    assert Taker(exam_app(exam, store)).get("/picture/q", follow_redirects=False).headers["location"] == "/"
    store.close()


def test_forms_of_other_sites_begin_change_and_delete_nothing(taker, store):
    taker.start()
    foreign = {"origin": "http://elsewhere.example"}
    for path in ("/begin", "/about", "/start", "/finish", "/answer", "/leave", "/forget"):
        answer = taker.post(path, data={"consent": "yes", "code": taker.code, "item": "half"}, headers=foreign)
        assert answer.status_code == 403, path
        assert "<html" in answer.text, "said on a page"
    assert store.find(taker.code).finished is None and len(store.rows("sittings")) == 1


def test_an_address_of_an_item_that_is_no_number_leads_to_the_first_without_an_answer(taker):
    taker.start()
    taker.fill("/answer", item="capital", option="1")
    for asked, place in (("", 2), ("x", 2), ("²", 2), ("123456", 2), ("-1", 2)):
        answer = taker.get(f"/sit?n={asked}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/sit?n={place}"), asked
    for asked in ("0", "99999"):
        assert taker.get(f"/sit?n={asked}", follow_redirects=False).headers["location"] == "/review"
    assert taker.get("/sit?n=5", follow_redirects=False).status_code == 200


def test_a_cookie_lasts_a_month_and_is_for_this_site_alone(taker):
    form = {"sent": "by a form", "consent": "yes"}
    answer = taker.post("/begin", data=form, headers={"origin": "http://testserver"}, follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{COOKIE}=") and "max-age=2592000" in cookie
    assert "httponly" in cookie and "samesite=lax" in cookie and "secure" not in cookie
