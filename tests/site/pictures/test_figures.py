"""Pictures by name: their words and tables, families of them, links and marks of models, from a few rows."""

from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura import MensuraError
from mensura.charts.plot import draw_nothing
from mensura.site.pictures import registry
from mensura.site.pictures.iq import (
    cost_bars,
    dimension_bell,
    highest_said,
    iq_price,
    iq_time,
    listed_said,
    task_efficiency,
)
from mensura.site.pictures.registry import (
    Family,
    Figure,
    find_picture,
    iq_mark,
    labelled,
    linked,
    model_link,
    picture_table,
    sentence_of,
    worded,
)

WORDS = {
    "bell": {
        "title": "Bell of {who}",
        "caption": "One dot each. More of {who}.",
        "see": "See {who}.",
        "columns": {"x": "{who}, points"},
    },
    "bell-wide": {"doubt": "Wide doubt.", "title": "T", "caption": "C.", "source": "Ours, CC BY-SA 4.0"},
}


@pytest.fixture
def words(monkeypatch):
    monkeypatch.setattr(registry, "picture_words", lambda: WORDS)


def test_a_picture_takes_the_sentence_of_the_longest_name_that_has_one(words):
    assert sentence_of("see", "bell-wide", "else") == "See {who}."
    assert sentence_of("doubt", "bell-wide-more", "else") == "Wide doubt."
    assert sentence_of("doubt", "bell", "else") == sentence_of("see", "other", "else") == "else"


def test_words_are_filled_in_and_split_into_what_it_shows_what_to_see_and_what_to_doubt(words):
    rows = [{"x": 1, "y": 2}, {"x": None, "z": 3}]
    figure = worded("bell", draw_nothing("x"), "Found.", of="-a", rows=rows, who="people")
    assert (figure.name, figure.title, figure.finding, figure.paged) == ("bell-a", "Bell of people", "Found.", False)
    assert figure.voice == (
        ("What it shows", "One dot each."),
        ("What to see", "See people."),
        ("What to doubt", "Sources run tests in different ways."),
    )
    assert figure.table == (["people, points", "y", "z"], [[1, 2, None], [None, None, 3]])
    assert (figure.licence, figure.source) == ("CC BY 4.0", registry.EVIDENCE)
    assert worded("bell-wide", draw_nothing("x"), paged=True).licence == "CC BY-SA 4.0"
    assert worded("bell-wide", draw_nothing("x"), paged=True).paged


def test_a_picture_without_rows_has_those_of_its_marks_and_a_description_in_any_case():
    drawn = draw_nothing("x")
    assert Figure("n", "Title", "C.", drawn).points == list(drawn.rows)
    assert Figure("n", "Title", "C.", drawn, "Found").description == drawn.description
    mute = SimpleNamespace(description="", rows=({"a": 1},))
    assert Figure("n", "Title", "C.", mute, "Found").description == "Found"
    assert Figure("n", "Title", "C.", mute).description == "Title"
    assert Figure("n", "Title", "C.", mute).points == [{"a": 1}]


@pytest.fixture
def families(monkeypatch):
    """One registered picture, and a family of tests of which one has too little to show."""

    def build(study, key):
        """Return one test; nothing where nobody took it."""
        return None if key == "empty" else (study, key)

    def first(study):
        """The first one."""
        return study

    keys = [("big_test", "The Big Test"), ("empty", "Nobody's test")]
    monkeypatch.setattr(registry, "PICTURES", {"first": first})
    monkeypatch.setattr(registry, "FAMILIES", {"test-": Family(build, lambda _: keys, "big_test")})


def test_a_picture_is_found_by_its_name_and_one_of_a_family_by_key_address_or_title(families):
    assert find_picture(None, "first")("study") == "study"
    for name in ("test-big_test", "test-The Big Test", "test-the big test"):
        assert find_picture(None, name)("study") == ("study", "big_test")
    with pytest.raises(MensuraError, match="figure: empty has too little for this picture"):
        find_picture(None, "test-empty")("study")
    with pytest.raises(
        MensuraError, match=r"'test-big_tst' is not known; did you mean test-big_test\? There are first, and"
    ):
        find_picture(None, "test-big_tst")
    with pytest.raises(MensuraError, match="'odd' is not known; choose one of first, and the families test-big_test"):
        find_picture(None, "odd")
    assert picture_table().rows() == [("first", "The first one."), ("test-big_test", "One test.")]


def test_models_have_links_labels_for_the_highest_and_marks_by_their_iq():
    points = pl.DataFrame({"subject": ["a", "b", "c"], "y": [1.0, 3.0, 2.0]})
    assert labelled(points, "y", 2)["label"].to_list() == [False, True, True]
    assert linked(points)["href"].to_list() == [model_link(name) for name in "abc"]
    assert model_link("a").endswith("models/a.html")
    row = {"subject": "a", "name": "A", "provider": "OpenAI", "exact_iq": 120.4, "iq_low": 115.0, "iq_high": 126.0}
    full, hollow = (iq_mark(row | {"well_measured": measured}) for measured in (True, False))
    assert (full.name, full.x, full.ends, full.status, full.subject) == ("A", 120.4, (115.0, 126.0), "measured", "a")
    assert (hollow.status, hollow.href) == ("estimated", model_link("a"))


MODELS = pl.DataFrame(
    {
        "subject": list("abcdefghijklmn"),
        "name": list("ABCDEFGHIJKLMN"),
        "provider": "OpenAI",
        "released": [date(2024, 1, 1 + at) for at in range(14)],
        "exact_iq": [130.0 - at for at in range(14)],
        "iq_low": [125.0 - at for at in range(14)],
        "iq_high": [135.0 - at for at in range(14)],
        "shown": ["measured", "inherited"] * 7,
        "sticker_price": [1.0 + at for at in range(14)],
        "effective_cost": [None, *(2.0 * (1 + at) ** 2 for at in range(1, 14))],
        "task_efficiency": [None, *(0.5 * at for at in range(1, 14))],
    }
)


def study_of(models=MODELS):
    def having(*needed, timeline=False):
        return models.drop_nulls([name for name in needed if name in models.columns])

    dimensions = pl.DataFrame(
        {
            "subject": ["a", "b", "c", "d", "e"],
            "dimension": ["math", "math", "math", "trust", "math"],
            "iq": [129.9, 130.0, 99.9, 150.0, 100.0],
            "low": 90.0,
            "high": 160.0,
            "shown": ["measured", "inherited", "estimated", "measured", "estimated"],
        }
    )
    return SimpleNamespace(
        charted=having,
        having=having,
        dimensions=dimensions,
        dimension_names={"math": "Mathematics"},
        policy=SimpleNamespace(labels=3),
    )


def test_a_bell_of_one_dimension_counts_who_is_at_or_above_100_and_130():
    figure = dimension_bell(study_of(), "math")
    assert figure.name == "iq-bell-math" and figure.paged
    assert figure.finding == (
        "B is highest: IQ 130 (90 to 160), mostly estimated; of those measured, A is highest: IQ 130 (90 to 160)"
    )
    assert {row["subject"]: row["status"] for row in figure.points} == {
        "a": "measured",
        "b": "estimated",
        "c": "estimated",
        "e": "estimated",
    }
    average = "3 of 4 models are at or above the average person here, 1 at or above IQ 130."
    assert (figure.title, figure.see) == ("Mathematics", average)


def test_the_highest_model_is_said_once_where_it_is_measured():
    points = pl.DataFrame(
        {"subject": ["a", "b"], "name": ["A", "B"], "iq": [120.0, 110.0], "low": 100.0, "high": 140.0}
    )
    measured = points.with_columns(status=pl.lit("measured"))
    assert highest_said(measured) == "A is highest: IQ 120 (100 to 140)"
    assert highest_said(points.with_columns(status=pl.lit("estimated"))) == "A is highest: IQ 120 (100 to 140)"
    assert highest_said(measured.clear()) == "no model is placed"


def test_models_with_a_list_price_only_are_ranked_by_iq():
    figure = iq_price(study_of())
    assert figure.finding == "Of 1 models with a list price only, A is highest: IQ 130 at $1"
    assert [row["subject"] for row in figure.points] == ["a"]
    both = pl.DataFrame({"name": ["A", "B"], "x": [2.0, 0.5], "y": [110.0, 121.6]})
    assert listed_said(both) == "Of 2 models with a list price only, B is highest: IQ 122 at $0.50"
    assert listed_said(both.clear()) == "No model has a list price only"


def test_six_models_at_each_end_are_drawn_by_cost_over_list_price_and_by_efficiency():
    figure = cost_bars(study_of())
    assert [row["subject"] for row in figure.points] == [*"bcdefg", *"ijklmn"]
    assert figure.finding == "N costs 28.0 times its list price, B 4.00 times"
    assert [row["other"] for row in figure.points][:2] == [2.0, 3.0]
    lean = task_efficiency(study_of())
    assert lean.finding.startswith("N needs least work for the same tasks: 6.5 times as efficient")
    assert len(cost_bars(study_of(MODELS.head(12))).points) == 11


def test_the_timeline_names_as_many_models_as_the_policy_says():
    figure = iq_time(study_of())
    assert figure.finding.startswith("The record has risen from IQ 130 (A) to 130 (A, 125 to 135)")
    assert len(figure.points) == 14
    assert {row["status"] for row in figure.points} == {"measured", "estimated"}, "inherited ones are estimates"
    assert "the average person" in figure.drawing.wide
