"""Models sit the same exam: the same items and scorer, every kind of reply an outcome of its own."""

import pytest

from mensura.exam import read_exam
from mensura.exam.scoring import failure_of, read_reply, understand
from mensura.exam.sitting import instructions_of, prompt_of, questions_of, sit_exam
from mensura.llm import Question, UnreadableError, open_asker
from mensura.llm.endpoint import chat_body
from mensura.llm.protocol import Settings
from tests.exam.conftest import TOML, write_exam
from tests.exam.test_file import PNG


def recorded(tmp_path, rows):
    path = tmp_path / "recorded.csv"
    path.write_text("item,answer\n" + "".join(f'{item},"{text}"\n' for item, text in rows.items()), encoding="utf-8")
    return f"recorded/{path}"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        *(("Let me think.\nANSWER: B", "B"), ("**Answer:** *Nairobi*", "Nairobi"), ("16", "16")),
        *(("ANSWER: A\nNo wait.\nANSWER: C", "C"), ("answer: 2.5\n", "2.5")),
    ],
)
def test_the_last_marked_line_or_a_reply_of_one_line_is_the_answer(text, answer):
    assert read_reply(text).value == answer


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("  \n", "empty"), ("I'm sorry, I can't help with that.", "refused"), ("Well,\nit depends.", "unreadable")],
)
def test_replies_without_an_answer_are_told_apart(text, outcome):
    with pytest.raises(UnreadableError) as fault:
        read_reply(text)
    assert failure_of(f"unreadable: {fault.value}") == outcome


def test_withheld_and_cut_replies_are_outcomes_of_their_own():
    assert failure_of("filtered: the provider's content filter stopped the answer") == "refused"
    assert failure_of("unreadable: empty; the answer was cut off at max_tokens=5") == "cut"
    assert failure_of("HTTP 500") == "failed"


@pytest.mark.parametrize(
    ("text", "places"),
    [("A", [2]), ("(b)", [0]), ("B) Nairobi", [0]), ("nairobi", [0]), ("D", None), ("B) Kisumu", None), ("none", None)],
)
def test_letters_follow_the_order_that_was_shown(exam, text, places):
    assert understand(exam.by_name["capital"], [2, 0, 1], text) == places


@pytest.mark.parametrize(("text", "places"), [("A, C", [0, 2]), ("2 and 5", [0, 2]), ("A", [0]), ("A, Z", None)])
def test_several_options(exam, text, places):
    assert understand(exam.by_name["primes"], [0, 1, 2], text) == places


def test_a_model_reads_what_people_read(exam):
    said = instructions_of(exam)
    assert "Answer each question." in said
    assert "There is no time limit. Allowed tools: none." in said
    assert prompt_of(exam.by_name["capital"], [1, 2, 0], exam.texts).startswith(
        "Capital of Kenya?\nA) Mombasa\nB) Kisumu\nC) Nairobi\n"
    )


def test_repeats_have_their_own_order_from_the_seed(tmp_path):
    exam = read_exam(write_exam(tmp_path / "mixed", TOML.replace("shuffle_options = false\n", "")))
    first, second = (list(questions_of(exam, 4, pictures=False)) for _ in range(2))
    assert [question for *_, question in first] == [question for *_, question in second]
    shown = {question.prompt for form, name, question in first if name == "capital"}
    assert len(shown) > 1
    assert {question.repeat for *_, question in first} == {0, 1, 2, 3}


def test_a_recorded_model_sits_the_exam_and_every_outcome_is_kept(tmp_path, exam):
    model = recorded(tmp_path, {"capital": "Kenya… ANSWER", "primes": "Both are.\nANSWER: 2, 5", "half": "ANSWER: 2.5"})
    with open_asker(model, journal=None) as asker:
        sat = sit_exam(exam, asker, repeats=2)
    rows = {row["item"]: row for row in sat.sittings.filter(repeat=0).to_dicts()}
    assert {item: (row["outcome"], row["score"]) for item, row in rows.items()} == {
        "capital": ("unreadable", 0.0),
        "primes": ("right", 1.0),
        "half": ("right", 1.0),
        "poet": ("failed", None),
    }
    assert rows["primes"]["reasoning"] == "Both are."
    assert sat.sittings.height == 8
    assert sat.warnings == ("2 questions got no answer; run the command again to ask them",)
    assert sat.heading == f"{model}: sittings 2, scored answers 6, rate 0.67"
    assert sat.outcomes.select("outcome", "n").rows() == [("right", 4), ("failed", 2), ("unreadable", 2)]
    assert sat.shown.equals(sat.outcomes)
    assert [(row["position"], row["options"]) for row in rows.values()] == [
        *((1, "Nairobi | Mombasa | Kisumu"), (2, "2 | 4 | 5"), (3, ""), (4, ""))
    ]
    assert (rows["primes"]["answer"], rows["capital"]["answer"]) == ("2 | 5", "Kenya… ANSWER")


def test_pictures_go_to_models_that_take_them_and_others_skip_them(tmp_path):
    folder = write_exam(tmp_path / "drawn", TOML, "item,text,key,picture,picture_alt\nq,What?,x,a.png,a drawing\n")
    (folder / "a.png").write_bytes(PNG)
    exam = read_exam(folder)
    with open_asker(recorded(tmp_path, {"q": "ANSWER: x"}), journal=None) as asker:
        blind, seeing = (sit_exam(exam, asker, pictures=pictures).sittings for pictures in (False, True))
    assert blind["outcome"].to_list() == ["skipped"]
    assert blind.select("score", "seconds", "answer", "position", "options").row(0) == (None, None, None, 1, "")
    assert seeing["outcome"].to_list() == ["right"]
    ((_, _, question),) = questions_of(exam, 1, pictures=True)
    body = chat_body(question, Settings("m"), "m")
    kinds = [part["type"] for part in body["messages"][1]["content"]]
    assert kinds == ["text", "image_url"]
    assert body["messages"][1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    (folder / "a.png").write_bytes(PNG + b"\0")
    ((_, _, other),) = questions_of(exam, 1, pictures=True)
    assert other.prompt != question.prompt  # another picture is another question to the journal
    assert chat_body(Question("plain"), Settings("m"), "m")["messages"][0]["content"] == "plain"


@pytest.mark.parametrize(
    "reply",
    [
        "ANSWER: I cannot answer this.",
        "I will not answer that.",
        "As an AI, I have no view.",
        "Es tut mir leid, dazu kann ich nichts sagen.",
        "Lo siento, no puedo ayudar.",
        "抱歉，我无法回答。",
        "عذرًا، لا أستطيع الإجابة.",
    ],
)
def test_a_refusal_is_no_unreadable_reply_in_any_language(reply):
    with pytest.raises(UnreadableError) as fault:
        read_reply(reply)
    assert failure_of(f"unreadable: {fault.value}") == "refused"


def test_a_german_exam_asks_models_in_german(tmp_path):
    exam = read_exam(write_exam(tmp_path / "german", 'language = "de"\n' + TOML))
    assert "Es gibt keine Zeitbegrenzung. Erlaubte Hilfsmittel: keine." in instructions_of(exam)
    prompt = prompt_of(exam.by_name["capital"], [0, 1, 2], exam.texts)
    assert prompt.endswith("Geben Sie den Buchstaben der einen richtigen Antwort an, als letzte Zeile: ANSWER: …")


def test_a_model_rates_too_and_skips_what_it_cannot_hear(kinds, tmp_path):
    assert "a number from -5 to 5" in prompt_of(kinds.by_name["mood"], [], kinds.texts)
    replies = {"capital": "ANSWER: A", "share": "ANSWER: 51", "sure": "ANSWER: C", "mood": "ANSWER: 2"}
    with open_asker(recorded(tmp_path, replies), journal=None) as asker:
        sat = sit_exam(kinds, asker).sittings
    outcomes = {row["item"]: (row["outcome"], row["score"], row["answer"]) for row in sat.to_dicts()}
    assert outcomes == {
        "capital": ("right", 1.0, "Nairobi"),
        "share": ("right", 1.0, "51"),
        "sure": ("rated", None, "very"),
        "mood": ("rated", None, "2"),
        "song": ("skipped", None, None),
    }
    assert [name for _, name, question in questions_of(kinds, 1, pictures=True) if question is None] == ["song"]
