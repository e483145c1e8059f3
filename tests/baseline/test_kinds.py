"""The kinds of people, items and conditions whose errors were learned."""

import pytest

from mensura.baseline.kinds import describe_people, kind_of_domain, kind_of_format, kind_of_people, kind_of_report
from mensura.people import World


@pytest.fixture(scope="module")
def world():
    return World.load()


@pytest.mark.parametrize(
    ("prose", "kind"),
    [
        ("a national sample of pupils in grade 12", "pupils"),
        ("49 students in Germany", "students"),
        ("US adults on a crowd-work site (experiment 1)", "crowd"),
        ("adults 15+, national probability sample", ""),
        ("PhD experts in the field", "experts"),
        ("people of every age and amount of schooling", ""),
    ],
)
def test_prose_names_the_kind_of_people(prose, kind):
    assert kind_of_people(prose) == kind


def test_time_pressure_is_read_from_the_prose(world):
    assert describe_people("undergraduates, 15 seconds per item", world).timed
    assert not describe_people("undergraduates", world).timed


def test_people_of_poor_countries_are_far_and_the_answer_says_so(world):
    near, far = describe_people("adults in Sweden", world), describe_people("adults in Niger", world)
    assert near.distance == 0
    assert far.distance > 1
    assert "far from" in far.told
    assert "NER" in far.told


def test_rural_people_are_far_even_where_no_country_is_named(world):
    assert describe_people("illiterate women in a village", world).distance >= 1


def test_two_letters_in_capitals_are_a_country_only_where_they_stand_apart(world):
    assert describe_people("IT professionals", world).told.startswith("no country")
    assert "PAK" in describe_people("visitors of a site; PK, 2018", world).told


def test_the_world_is_of_no_kind_and_schools_are_pupils(world):
    assert describe_people(world.population("world"), world).kind == ""
    assert describe_people(world.population("pisa"), world).kind == "pupils"


def test_only_self_reports_are_claims():
    assert [kind_of_report(form) for form in ("word checklist", "multiple choice", None)] == [
        "claimed",
        "tested",
        "tested",
    ]


def test_formats_and_domains_have_few_kinds_and_unknown_ones_stay_empty():
    assert [kind_of_format(count) for count in (None, 0, 2, 4)] == ["", "open", "two", "many"]
    words = ["Algebra", "trivia night", "Vocabulary", "logic puzzles", "basket weaving", None]
    assert [kind_of_domain(word) for word in words] == ["school", "knowledge", "vocabulary", "reasoning", "", ""]
