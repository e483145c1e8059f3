"""The exam over HTTP, as takers, organisers and hostile visitors use it."""

import re
import sqlite3
import time

import numpy as np
import pytest

from mensura.exam import AnswerStore, read_exam
from mensura.exam.settings import english
from mensura.serve import ReviewerSecret
from mensura.serve.exam_app import exam_app
from mensura.serve.sessions import Attempts, Begins
from tests.exam.conftest import ITEMS, TOML, write_exam
from tests.exam.test_adaptive import many_sums
from tests.exam.test_texts import FRENCH, TWO
from tests.serve.conftest import OWN, SECRET, Taker


@pytest.fixture
def store(tmp_path, exam):
    store = AnswerStore(tmp_path / "answers.db", exam)
    yield store
    store.close()


def test_a_person_goes_from_consent_to_the_completion_code_without_scripts(taker, store):
    assert "We store your answers." in taker.get("/").text
    assert "How old are you?" in taker.begin().text
    assert "There are 5 questions. There is no time limit." in taker.fill("/about", age="40 or older").text
    page = taker.fill("/start").text
    assert "Question 1 of 5" in page
    answers = {
        "capital": {"option": "0"},
        "primes": {"option-0": "on", "option-2": "on"},
        "half": {"text": "2,5"},
        "poet": {"text": "göthe"},
        "look": {"option": "1"},
    }
    for _ in range(5):
        item = re.search(r'name="item" value="(\w+)"', page)[1]
        page = taker.fill("/answer", item=item, seconds="2", go="next", **answers[item]).text
    assert "5 of 5 questions are answered" in page
    done = taker.fill("/finish").text
    sitting = store.find(taker.code)
    assert sitting.completion in done
    assert sitting.about == {"age": "40 or older"}
    stored = {item: found.given for item, found in store.answers(sitting).items()}
    assert stored == {"capital": [0], "primes": [0, 2], "half": "2,5", "poet": "göthe", "look": [1]}


def test_an_adaptive_exam_brings_each_item_after_the_answer_before_it(tmp_path):
    exam = many_sums(tmp_path / "sums")
    store = AnswerStore(tmp_path / "answers.db", exam)
    taker = Taker(exam_app(exam, store))
    rates = exam.bank.chances(np.zeros(1))[:, 0]
    easy = {name for name, rate in zip(exam.bank.items, rates, strict=True) if rate > 0.5}
    assert "There are at most 25 questions. Each follows from your answers so far." in taker.begin().text
    page, given = taker.fill("/start").text, []
    while (item := re.search(r'name="item" value="(\w+)"', page)) is not None:
        given.append(item[1])
        assert f"Question {len(given)}<" in page
        assert store.find(taker.code).form.items == tuple(given)
        if len(given) == 2:
            assert "Without an answer: questions 2" in re.sub(r"<a [^>]*>|</a>", "", taker.fill("/finish").text)
            assert taker.get("/sit").url.query == b"n=2", "a reload brings the same item"
        answer = int(item[1][1:]) + (1 if item[1] in easy else 2)
        page = taker.fill("/answer", item=item[1], text=str(answer), go="next").text
    assert 5 <= len(given) < 25
    assert f"{len(given)} of {len(given)} questions are answered" in page
    assert "Thank you" in taker.fill("/finish").text
    assert store.find(taker.code).completion in taker.get("/done").text
    store.close()


PANEL = 'panel_parameter = "PROLIFIC_PID"\n' + TOML
ANSWERS = {
    "capital": {"option": "0"},
    "primes": {"option-0": "on"},
    "half": {"text": "2.5"},
    "poet": {"text": "Goethe"},
    "look": {"option": "1"},
}


@pytest.fixture
def panel(tmp_path):
    """Return the application and the store of an exam for a panel."""
    exam = read_exam(write_exam(tmp_path / "panel", PANEL))
    store = AnswerStore(tmp_path / "panel.db", exam)
    yield exam_app(exam, store, secret=ReviewerSecret(SECRET)), store
    store.close()


def test_a_panel_exam_needs_the_id(panel):
    site, store = panel
    assert Taker(site).get("/").status_code == 403
    assert Taker(site).get("/?PROLIFIC_PID=").status_code == 403
    assert Taker(site).begin().status_code == 403
    assert Taker(site).begin(panel="  ").status_code == 403
    assert store.rows("sittings") == []
    assert 'name="panel" value="5f3a9b"' in Taker(site).get("/?PROLIFIC_PID=5f3a9b").text


def test_an_id_has_one_sitting_and_goes_on_with_it_on_any_device(panel):
    site, store = panel
    first, again = Taker(site), Taker(site)
    first.begin(panel="5f3a9b")
    first.fill("/about", age="under 40")
    first.fill("/start")
    first.fill("/answer", item="capital", option="1")
    assert "Question 2 of 5" in again.begin(panel="5f3a9b").text
    assert again.code == first.code
    assert len(store.rows("sittings")) == 1
    assert Taker(site).begin(panel="another").status_code == 200
    assert len(store.rows("sittings")) == 2


def test_a_second_person_at_the_browser_of_a_panelist_gets_their_own_sitting(panel):
    site, store = panel
    browser = Taker(site)
    browser.begin(panel="one")
    assert browser.get("/?PROLIFIC_PID=one", follow_redirects=False).headers["location"] == "/sit"
    assert "I have read this" in browser.get("/?PROLIFIC_PID=two").text
    browser.begin(panel="two")
    assert len(store.rows("sittings")) == 2


def test_the_completion_code_comes_after_the_last_answer_and_the_organiser_can_match_it(panel):
    site, store = panel
    for name, given in (("all", list(ANSWERS)), ("some", ["half"]), ("none", [])):
        taker = Taker(site)
        taker.begin(panel=name)
        taker.fill("/start")
        for item in given:
            taker.fill("/answer", item=item, **ANSWERS[item])
        page = taker.fill("/finish", anyway="yes").text
        assert ('id="completion"' in page) == (name == "all")
        assert "Thank you" in page
    Taker(site).begin(panel="=at work")
    codes = {row["id"]: (row["code"], row["state"]) for row in store.codes().to_dicts()}
    completion = codes["all"][0]
    assert len(completion) == 8
    assert codes == {
        "all": (completion, "complete"),
        "some": (None, "finished without all answers"),
        "none": (None, "finished without all answers"),
        "=at work": (None, "at work"),
    }
    organiser = Taker(site)
    assert organiser.get("/organiser/codes.csv").status_code == 401
    page = organiser.fill("/organiser/enter", secret=SECRET).text
    assert f"<td>all</td><td>{completion}</td><td>complete</td>" in page
    table = organiser.get("/organiser/codes.csv").text
    assert f"all,{completion},complete," in table
    assert "'=at work," in table
    assert "=at work" not in organiser.get("/organiser/takers.csv").text


def test_time_that_ran_out_does_not_cost_the_code(tmp_path):
    exam = read_exam(write_exam(tmp_path / "timed", PANEL + "[time]\nminutes = 0.001\n", ITEMS))
    store = AnswerStore(tmp_path / "timed.db", exam)
    taker, idle = Taker(exam_app(exam, store)), Taker(exam_app(exam, store))
    for visitor, name in ((taker, "works"), (idle, "waits")):
        visitor.begin(panel=name)
        visitor.fill("/about", age="under 40")
        visitor.fill("/start")
    taker.fill("/answer", item="half", text="2.5")
    time.sleep(0.07)
    assert 'id="completion"' in taker.fill("/finish").text
    assert 'id="completion"' not in idle.fill("/finish").text
    store.close()


def test_the_panels_address_is_offered_at_the_end(tmp_path):
    toml = 'completion_address = "https://panel.example.org/done?cc=CAFE1"\ncompletion_code = "CAFE1"\n' + PANEL
    exam = read_exam(write_exam(tmp_path / "panel", toml))
    store = AnswerStore(tmp_path / "panel.db", exam)
    taker = Taker(exam_app(exam, store))
    taker.begin(panel="5f3a9b")
    taker.fill("/start")
    for item, fields in ANSWERS.items():
        taker.fill("/answer", item=item, **fields)
    done = taker.fill("/finish").text
    assert 'href="https://panel.example.org/done?cc=CAFE1"' in done
    assert "CAFE1</code>" in done
    store.close()


def test_an_invitation_lets_one_person_in_once_and_a_forged_one_nobody(exam, store):
    site = exam_app(exam, store, tokens=["alpha-1", "beta-2"])
    assert Taker(site).get("/").status_code == 403
    assert Taker(site).get("/?token=gamma-3").status_code == 403
    assert Taker(site).begin(token="gamma-3").status_code == 403
    assert Taker(site).get("/?token=alpha-1").status_code == 200
    assert "How old" in Taker(site).begin(token="alpha-1").text
    assert Taker(site).begin(token="alpha-1").status_code == 403
    assert "How old" in Taker(site).begin(token="beta-2").text
    assert len(store.rows("sittings")) == 2


def test_the_page_says_complete_only_when_the_text_has_left_the_file(taker, store, monkeypatch):
    monkeypatch.setattr(AnswerStore, "PURGE_EVERY", 0.05)
    taker.start()
    taker.fill("/answer", item="poet", text="my name is Zebediah")
    reader = sqlite3.connect(store.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM answers").fetchone()
    page = taker.fill("/forget", code=taker.code).text
    assert "Deletion will be complete when that program has ended" in page
    reader.close()
    taker.cookies.clear()
    taker.start()
    while not store.is_purged:
        time.sleep(0.01)
    assert "Deletion is complete" in taker.fill("/forget", code=taker.code).text


def test_the_organiser_sees_counts_items_and_failed_checks_and_closes(taker, site, store):
    taker.start()
    taker.fill("/answer", item="look", option="0")
    taker.fill("/finish", anyway="yes")
    organiser = Taker(site)
    assert organiser.get("/organiser").status_code == 401
    assert organiser.get("/organiser/answers.csv").status_code == 401
    page = organiser.fill("/organiser/enter", secret=SECRET).text
    assert "<dt>finished</dt><dd>1</dd>" in page
    person = store.rows("sittings")[0]["person"]
    assert f"<td>{person}</td><td>1</td>" in page
    token = re.search(r'name="token" value="([^"]*)"', page)[1]
    assert organiser.fill("/organiser/close").status_code == 403
    assert '<strong id="state">closed' in organiser.fill("/organiser/close", token=token).text
    assert Taker(site).get("/").status_code == 403
    assert '<strong id="state">open' in organiser.fill("/organiser/reopen", token=token).text


def test_downloads_hold_no_typed_answer_and_no_code(taker, site):
    taker.start()
    taker.fill("/answer", item="poet", text="=HYPERLINK(my name is Zebediah)")
    organiser = Taker(site)
    organiser.fill("/organiser/enter", secret=SECRET)
    answers, takers = (organiser.get(f"/organiser/{name}.csv").text for name in ("answers", "takers"))
    assert "Zebediah" not in answers
    assert "poet,0.0,wrong" in answers
    assert "under 40" in takers
    assert taker.code not in answers + takers


def test_the_secret_cannot_be_tried_at_will(site):
    visitor = Taker(site)
    tried = [visitor.fill("/organiser/enter", secret=f"guess {number} of mine").status_code for number in range(7)]
    assert tried[:5] == [403] * 5
    assert tried[-1] == 429


def test_small_groups_are_not_shown_to_the_organiser(site):
    for number in range(6):
        taker = Taker(site)
        taker.begin()
        taker.fill("/about", age="under 40" if number else "40 or older")
        taker.fill("/start")
    organiser = Taker(site)
    page = organiser.fill("/organiser/enter", secret=SECRET).text
    assert "<td>40 or older</td><td>–</td>" in page
    assert "<td>under 40</td><td>–</td>" in page  # 6 began, so 5 here would tell of the one there


def test_hostile_items_run_nothing(tmp_path):
    text = '"<script>alert(1)</script> [x](javascript:alert(2))"'
    rows = f"item,text,options,key\nq,{text},<b onclick=alert(3)>a</b> | b,b\n"
    exam = read_exam(write_exam(tmp_path / "evil", TOML.replace("Small exam", "<script>alert(4)</script>"), rows))
    store = AnswerStore(tmp_path / "evil.db", exam)
    taker = Taker(exam_app(exam, store))
    page = taker.start()
    scripts = re.findall(r"<script[^>]*>", page.text)
    data = '<script type="application/json" id="texts">'  # no browser runs it
    assert scripts == ["<script>", data, '<script src="/static/exam.js" defer>']
    assert "<b " not in page.text
    assert '<a href="javascript' not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    store.close()


def test_no_address_of_a_visitor_reaches_the_store(exam, store):
    taker = Taker(exam_app(exam, store), client=("203.0.113.77", 5000))
    taker.start()
    taker.fill("/answer", item="capital", option="0")
    store.close()
    assert b"203.0.113.77" not in b"".join(path.read_bytes() for path in store.path.parent.glob("answers.db*"))


def test_when_the_time_is_over_only_finishing_is_left(tmp_path):
    exam = read_exam(write_exam(tmp_path / "timed", TOML + "[time]\nminutes = 0.0001\n", ITEMS))
    store = AnswerStore(tmp_path / "timed.db", exam)
    taker = Taker(exam_app(exam, store))
    taker.start()
    time.sleep(0.02)
    page = taker.get("/sit?n=2").text
    assert "The time is over." in page
    assert "Question 3" not in page
    store.close()


def test_a_jump_of_the_servers_clock_takes_no_time_from_a_person(tmp_path):
    exam = read_exam(write_exam(tmp_path / "timed", TOML + "[time]\nminutes = 10\n", ITEMS))
    jump = [0.0]
    store = AnswerStore(tmp_path / "timed.db", exam, clock=lambda: time.time() + jump[0])
    taker = Taker(exam_app(exam, store))
    taker.start()
    for jump[0] in (7200.0, -3600.0):
        assert re.search(r"Time left: <span[^>]*>(10:00|9:5)", taker.get("/sit?n=2").text)
        assert taker.save(item="primes", **{"option-0": "on"}).json()["late"] is False
    store.close()


def test_a_taker_chooses_the_language_and_keeps_it_on_every_page(tmp_path):
    exam = read_exam(write_exam(tmp_path / "two", PANEL + FRENCH, TWO))
    store = AnswerStore(tmp_path / "two.db", exam)
    taker = Taker(exam_app(exam, store))
    first = taker.get("/?PROLIFIC_PID=5f3a9b").text
    assert '<a href="/?PROLIFIC_PID=5f3a9b&amp;language=fr" lang="fr"' in first
    chosen = taker.get("/?PROLIFIC_PID=5f3a9b&language=fr").text
    assert '<html lang="fr" dir="ltr"' in chosen
    assert "Nous enregistrons vos réponses." in chosen
    about = taker.begin(panel="5f3a9b", language="fr").text
    assert '<option value="under 40">moins de 40</option>' in about
    assert "Répondez à chaque question." in taker.fill("/about", age="under 40").text
    page = taker.fill("/start").text
    assert "Question 1 sur 2" in page
    assert "Mombassa" in page
    assert taker.save(item="capital", option="9").json()["message"].startswith("La question n'a pas ce choix.")
    assert "Sans réponse : questions" in taker.fill("/finish").text
    taker.fill("/answer", item="capital", option="0")
    taker.fill("/answer", item="poet", text="Goethe")
    assert "Votre code de fin est" in taker.fill("/finish").text
    assert store.rows("sittings")[0]["language"] == "fr"
    assert store.find(taker.code).about == {"age": "under 40"}
    store.close()


@pytest.mark.parametrize("code", ["de", "es", "pt", "zh", "ar"])
def test_no_page_of_a_translated_exam_has_an_english_word(tmp_path, code):
    exam = read_exam(write_exam(tmp_path / "one", f'language = "{code}"\nshared_device = true\n' + TOML))
    store = AnswerStore(tmp_path / "one.db", exam)
    site = exam_app(exam, store)
    taker = Taker(site)
    pages = [taker.get("/"), taker.begin(), taker.fill("/about"), taker.fill("/start"), taker.get("/sit?n=3")]
    pages += [taker.get("/review"), taker.fill("/finish"), taker.fill("/answer", item="none"), taker.get("/forget")]
    pages += [taker.fill("/forget", code="WRONG"), taker.get("/"), taker.fill("/leave")]
    pages += [taker.get("/resume/WRONG")]
    taker.start()
    pages += [taker.fill("/finish", anyway="yes"), Taker(site).fill("/begin")]
    english_texts = {text for key, text in english().words.items() if "{" not in text and len(text) > 12}
    for page in pages:
        assert f'<html lang="{code}"' in page.text
        assert [text for text in english_texts if text in page.text] == []
    store.close()


def test_behind_a_trusted_proxy_each_person_has_an_address_of_their_own(exam, store, monkeypatch):
    monkeypatch.setattr(Begins, "EACH", 3)  # sittings that one address may begin at once
    site = exam_app(exam, store, secret=ReviewerSecret(SECRET), proxies=["testclient"])

    def enter(address, secret):
        headers = OWN | {"x-forwarded-for": f"203.0.113.7, {address}"}
        return Taker(site).post("/organiser/enter", data={"secret": secret}, headers=headers).status_code

    assert [enter("198.51.100.9", "wrong secret, often tried") for _ in range(7)][-1] == 429
    assert enter("198.51.100.9", SECRET) == 429
    assert enter("192.0.2.1", SECRET) == 200

    def begin(address):
        headers = OWN | {"x-forwarded-for": address}
        return Taker(site).post("/begin", data={"consent": "yes"}, headers=headers, follow_redirects=False).status_code

    assert [begin(f"192.0.2.{n}") for n in range(5)] == [303] * 5
    assert [begin("198.51.100.7") for _ in range(5)] == [303] * 3 + [429] * 2


def test_many_wrong_secrets_from_elsewhere_do_not_lock_out_a_new_address(exam, store):
    site = exam_app(exam, store, secret=ReviewerSecret(SECRET), proxies=["testclient"])
    visitor = Taker(site)
    for number in range(Attempts.ALL + 5):
        headers = OWN | {"x-forwarded-for": f"198.51.100.{number}"}
        visitor.post("/organiser/enter", data={"secret": "a wrong secret of length"}, headers=headers)
    headers = OWN | {"x-forwarded-for": "192.0.2.1"}
    assert Taker(site).post("/organiser/enter", data={"secret": SECRET}, headers=headers).status_code == 200


def test_an_address_that_no_trusted_proxy_states_is_not_believed(exam, store):
    site = exam_app(exam, store, secret=ReviewerSecret(SECRET))
    tried = [
        Taker(site).post(
            "/organiser/enter", data={"secret": "x" * 20}, headers=OWN | {"x-forwarded-for": f"192.0.2.{number}"}
        )
        for number in range(7)
    ]
    assert tried[-1].status_code == 429


def test_a_link_is_kept_for_tls_alone_behind_a_proxy_and_asks_before_it_replaces_a_sitting(exam, store):
    site = exam_app(exam, store, proxies=["testclient"])
    first, second = Taker(site), Taker(site)
    first.start()
    second.start()
    over_tls = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"}
    fresh = Taker(site).get(f"/resume/{first.code}", headers=over_tls, follow_redirects=False)
    assert "secure" in fresh.headers["set-cookie"].lower()
    asked = second.get(f"/resume/{first.code}")
    assert "Replace the sitting in this browser?" in asked.text
    assert second.code != first.code
    assert "Question 1 of 5" in second.get(f"/resume/{second.code}").text
    assert (
        second.post(f"/resume/{first.code}", data={"x": ""}, headers={"origin": "http://evil.example"}).text
        == asked.text
    )
    second.fill(f"/resume/{first.code}")
    assert second.code == first.code


def test_health_writes_and_reads_the_store(taker, store):
    assert taker.get("/healthz").text == "ok\n"
    store._db.execute("PRAGMA query_only = ON")
    store._probed = -1e9
    assert taker.get("/healthz").status_code == 503
    store._db.execute("PRAGMA query_only = OFF")
    assert taker.get("/healthz").status_code == 200


def test_every_file_that_the_style_sheet_names_exists(taker):
    sheet = taker.get("/static/style.css").text
    named = re.findall(r"url\(([^)]+)\)", sheet)
    assert [name for name in named if name.endswith(".woff2")] == ["fonts/serif.woff2", "fonts/sans.woff2"]
    for name in named:
        assert name.startswith("data:") or taker.get(f"/static/{name}").status_code == 200
    assert taker.get("/static/fonts/../exam.js").status_code in (200, 404)
    assert taker.get("/static/fonts/other.woff2").status_code == 404
