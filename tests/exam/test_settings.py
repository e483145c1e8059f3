"""What ``exam.toml`` may contain. Unknown keys are refused."""

import pytest
from pydantic import ValidationError

from mensura.core.errors import MensuraError
from mensura.exam.settings import CATALOGUES, AdaptiveRules, ExamSettings, english, read_bank, read_texts

SHIPPED = sorted(path.stem for path in CATALOGUES.glob("*.toml"))


def test_seven_languages_ship_and_lack_nothing(tmp_path):
    assert SHIPPED == ["ar", "de", "en", "es", "fr", "pt", "zh"]
    for code in SHIPPED:
        texts, wrong = read_texts(code, tmp_path)
        assert wrong == []
        assert set(texts.words) == set(english().words)
        copied = {key for key in texts.words if texts.words[key] == english().words[key]}
        assert code == "en" or copied <= {"direction", "question", "instructions"}
    assert read_texts("ar", tmp_path)[0].direction == "rtl"
    assert read_texts("de-AT", tmp_path)[0]("saved") == "Gespeichert."


LEAST = {"title": "T", "instructions": "Go.", "consent": {"text": "Yes."}}


def settings(**changes):
    return ExamSettings.model_validate({**LEAST, **changes})


def test_an_exam_that_says_little_is_balanced_shuffled_and_read_by_nobody():
    exam = settings()
    assert (exam.kind, exam.form, exam.order, exam.shuffle_options, exam.language) == (
        "capability",
        "balanced",
        "shuffled",
        True,
        "en",
    )
    assert (exam.consent.model_grading, exam.shared_device, exam.items_per_person, exam.tools) == (
        False,
        False,
        None,
        "none",
    )
    assert (exam.exclude.least_answered, exam.exclude.fastest_seconds, exam.exclude.most_failed_checks) == (0.5, 2.0, 0)
    assert (exam.adaptive.se, exam.adaptive.least_items, exam.adaptive.most_items) == (0.35, 5, 20)
    assert exam.time.minutes is exam.time.seconds_per_item is None


@pytest.mark.parametrize(
    "change",
    [
        *(
            {"titel": "x"},
            {"title": " "},
            {"seed": -1},
            {"seed": 2**32},
            {"items_per_person": 0},
            {"language": "english"},
        ),
        *(
            {"time": {"minutes": 0}},
            {"time": {"minutes": 1441}},
            {"exclude": {"least_answered": 1.01}},
            {"kind": "test"},
        ),
        *(
            {"adaptive": {"exposure": 0}},
            {"adaptive": {"exposure": 1.1}},
            {"adaptive": {"se": 0}},
            {"adaptive": {"least_items": 0}},
        ),
        *({"completion_address": "http://panel.example"}, {"completion_code": "a b"}, {"consent": {"text": ""}}),
        {"questions": [{"name": "age", "text": "Age?", "options": ["a", "a"]}]},
        {"questions": [{"name": "age", "text": "Age?", "options": ["a"]}]},
    ],
)
def test_what_an_exam_may_not_say_is_refused(change):
    with pytest.raises(ValidationError):
        settings(**change)


def test_the_ends_of_what_an_exam_may_say_are_taken():
    assert (
        settings(seed=2**32 - 1, time={"minutes": 1440}, exclude={"least_answered": 1}, adaptive={"exposure": 1}).seed
        == 2**32 - 1
    )


@pytest.mark.parametrize(
    ("exposure", "n", "most"), [(0.6, 10, 6), (0.6, 5, 3), (0.7, 10, 7), (0.29, 100, 29), (1.0, 7, 7), (0.5, 7, 3)]
)
def test_a_sitting_may_choose_from_the_whole_items_of_its_share(exposure, n, most):
    """0.29 of 100 is 29, though the product of the two numbers lies a last bit below."""
    assert AdaptiveRules(exposure=exposure).open_items(n) == most


SECTIONS = [{"name": "a", "title": "A", "text": "First."}, {"name": "b", "title": "B"}]
QUESTIONS = [{"name": "age", "text": "Age?", "options": ["old", "young"]}]
FRENCH = {"title": "Le T", "instructions": "Allez.", "consent": "Oui.", "sections": {"a": "Un", "b": "Deux"}}
FRENCH |= {"section_texts": {"a": "Premier."}, "questions": {"age": {"text": "Âge ?", "options": ["vieux", "jeune"]}}}


def test_a_translation_changes_words_and_keeps_options_by_their_order():
    exam = settings(sections=SECTIONS, questions=QUESTIONS, translations={"fr": FRENCH}, tools="pen")
    french = exam.translated("fr")
    assert (french.title, french.instructions, french.consent.text, french.language) == ("Le T", "Allez.", "Oui.", "fr")
    assert french.tools == "pen"
    assert [(one.title, one.text) for one in french.sections] == [("Un", "Premier."), ("Deux", "")]
    assert (french.questions[0].text, french.questions[0].options) == ("Âge ?", ["old", "young"])
    assert exam.untranslated() == []


def test_what_a_translation_lacks_is_named_with_its_place():
    words = {
        **FRENCH,
        "sections": {"a": "Un"},
        "section_texts": {},
        "questions": {"age": {"text": "Âge ?", "options": ["x"]}},
    }
    assert settings(sections=SECTIONS, questions=QUESTIONS, translations={"fr": words}).untranslated() == [
        "translations.fr.section_texts: no text for 'a'; add it",
        "translations.fr.sections: no title for 'b'; add it",
        "translations.fr.questions.age: expected a text and 2 options; add them",
    ]


def test_a_catalogue_of_the_exam_goes_first_and_its_faults_are_named(tmp_path):
    (tmp_path / "languages").mkdir()
    own = tmp_path / "languages" / "de.toml"
    text = (CATALOGUES / "de.toml").read_text(encoding="utf-8")
    own.write_text(text.replace('direction = "ltr"', 'direction = "up"') + '\nextra = "x"\n', encoding="utf-8")
    texts, wrong = read_texts("de", tmp_path)
    assert texts.direction == "up", "the exam's own goes first"
    assert wrong == [
        "languages/de.toml, extra: unknown; remove it or correct its spelling",
        "languages/de.toml, direction: 'up'; expected ltr or rtl",
    ]
    own.write_text('saved = "Gespeichert {wann}."\n', encoding="utf-8")
    wrong = read_texts("de", tmp_path)[1]
    assert len(wrong) == len(english().words), "every other key is missing"
    assert "languages/de.toml, saved: expected the same words in braces as in 'Saved.'" in wrong
    own.write_text("saved = ", encoding="utf-8")
    assert read_texts("de", tmp_path)[0].code == "en"
    assert "not TOML" in read_texts("de", tmp_path)[1][0]
    assert "language: 'xx' has no texts; expected one of ar, de, en" in read_texts("xx", tmp_path)[1][0]


def test_a_bank_has_the_items_asked_for_in_their_order(tmp_path):
    table = tmp_path / "bank.csv"
    table.write_text("item,discrimination,difficulty\na,1,0\nb,2,1\nc,1,-1\n", encoding="utf-8")
    assert list(read_bank(table, ["c", "a"]).items) == ["c", "a"]
    with pytest.raises(MensuraError, match=r"no item 'x' \(2 such\)"):
        read_bank(table, ["x", "a", "y"])
    with pytest.raises(MensuraError, match="Fit it with mensura responses fit"):
        read_bank(tmp_path / "none", ["a"])
