"""Descriptions and public facts: what words are taken to mean, and what they are worth."""

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation import make_task
from mensura.extrapolation.descriptions import Assessment, assessment_of
from mensura.extrapolation.facts import (
    TRANSFER,
    ability_of,
    concentration_of,
    country_ability,
    country_of,
    expected,
    logits_per_unit,
)
from mensura.extrapolation.line_methods import prior_for, shipped_priors
from mensura.people import WORLD, Ability, Population


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timss2011_g8_math_4c", Assessment("TIMSS", "sec", 2011, "math")),
        ("TIMSS 2011 grade 4 mathematics, Austria", Assessment("TIMSS", "pri", 2011, "math")),
        ("PISA 2009, twelve countries", Assessment("PISA", "sec", 2009)),
        ("pirls", Assessment("PIRLS", "pri", None, "reading")),
        ('"Studentenpisa" general-knowledge quiz, 2009', None),
        ("spisa_general_knowledge", None),
    ],
)
def test_assessments_are_recognised(text, expected):
    assert assessment_of(text) == expected


@pytest.mark.parametrize(
    ("label", "code"),
    [("AUS", "AUS"), ("gb", "GBR"), ("England", "GBR"), ("Korea", "KOR"), ("Chinese Taipei", "TWN"), ("other", None)],
)
def test_countries_by_code_and_name(label, code):
    assert country_of(label) == code


def test_a_mean_of_the_same_test_comes_before_the_general_score():
    timss = Assessment("TIMSS", "sec", 2011, "math")
    korea, basis = country_ability("KOR", "Algebra", timss)
    assert basis == "matched"
    assert korea == pytest.approx(1.09, abs=0.05)
    general, basis = country_ability("KOR", "vocabulary", None)
    assert basis == "general"
    assert general == pytest.approx(0.37, abs=0.05)
    assert np.isnan(country_ability(None, None, None)[0])


def test_crossed_groups_add_up_and_an_unknown_country_leaves_nothing():
    timss = Assessment("PISA", "sec", 2009)
    alone, _ = ability_of([("country", "JPN")], ["reading"], timss, 12)
    girls, basis = ability_of([("country", "JPN"), ("sex", "female")], ["reading"], timss, 24)
    assert basis == "matched"
    assert girls - alone == pytest.approx([0.179])
    unknown, basis = ability_of([("country", "Atlantis"), ("sex", "female")], ["reading"], timss, 24)
    assert basis == "none"
    assert np.isnan(unknown).all()


def test_more_schooling_means_more_ability():
    labels = ["primary", "less_than_high_school", "high_school", "university_degree", "graduate_degree"]
    found = [ability_of([("education", label)], [None], None, 5)[0][0] for label in labels]
    assert found == sorted(found)
    assert found[2] == 0.0
    parents = ability_of([("parent_education", "15_years_or_more")], [None], None, 3)[0][0]
    assert 0 < parents < found[3]


def test_quarters_of_a_socio_economic_index_are_symmetric():
    found = [ability_of([("escs_quartile", f"Q{k}")], [None], None, 4)[0][0] for k in (1, 2, 3, 4)]
    assert sum(found) == pytest.approx(0.0, abs=1e-12)
    assert found[3] == pytest.approx(0.38 * 1.2711, abs=1e-3)


def test_age_depends_on_the_domain():
    old = {d: ability_of([("age_band", "60+")], [d], None, 4)[0][0] for d in ("vocabulary", "matrix reasoning")}
    assert old["vocabulary"] > 0.4
    assert old["matrix reasoning"] < -0.5
    assert ability_of([("age_band", "10-14")], ["vocabulary"], None, 4)[0][0] < -0.5
    assert ability_of([("age_band", "60+")], ["cooking"], None, 4)[1] == "none"


@pytest.mark.parametrize(
    ("covariate", "label"), [("ethnicity", "Black"), ("minority", "yes"), ("school_type", "GY4"), ("sex", "female")]
)
def test_groups_without_a_fact_have_no_ability(covariate, label):
    theta, basis = ability_of([(covariate, label)], ["vocabulary"], None, 2)
    assert basis == "none"
    assert np.isnan(theta).all()


def test_academic_tracks_by_name_or_by_yes_and_no():
    assert ability_of([("gymnasium", "yes")], [None], None, 2)[0][0] == 0.9
    assert ability_of([("school_type", "Hauptschule")], [None], None, 3)[0][0] == 0.0
    assert ability_of([("first_attempt", "no")], [None], None, 2)[1] == "none"


def test_logits_per_unit_follow_from_the_world_model():
    assert logits_per_unit() == pytest.approx(1.7 / (0.93**2 + 1 / 0.8**2) ** 0.5)


def test_every_kind_and_basis_has_a_prior():
    for kind in ("country", "sex", "education", "age", "school", "other"):
        for basis in TRANSFER:
            prior = prior_for(kind, basis)
            assert 0 < prior.shift_sd < 2
            assert 0 < prior.slope <= 1
    assert prior_for("country", "matched").shift_sd < prior_for("country", "none").shift_sd
    assert len(shipped_priors()) >= 10
    with pytest.raises(MensuraError, match="kind: got 'contry'; expected one of migration, country"):
        prior_for("contry", "none")


def test_the_shift_expected_of_two_populations_is_their_gap_in_logits():
    """0.4 units of ability, stated by both, count in full; a country's general score at 60%; no fact for nothing."""
    stated = [Population(f"N({mean})", "", ability=Ability(mean, 1.0, mean, mean)) for mean in (0.1, -0.3)]
    task = make_task({"item": ["a"]}, {"item": ["a"], "rate": [0.5]}, *stated)
    assert expected(task)[0] == pytest.approx([-0.4 * logits_per_unit()])
    assert expected(task)[1] == "matched"
    places = [Population(code, "", countries=(code,)) for code in ("JPN", "CHL")]
    gap = country_ability("CHL", None, None)[0] - country_ability("JPN", None, None)[0]
    task = make_task({"item": ["a"]}, {"item": ["a"], "rate": [0.5]}, *places)
    assert expected(task)[0] == pytest.approx([0.6 * gap * logits_per_unit()])
    nobody = make_task({"item": ["a"]}, {"item": ["a"], "rate": [0.5]}, WORLD, places[0])
    assert expected(nobody)[1] == "none"
    assert expected(nobody)[0].tolist() == [0.0]


def test_concentration_is_the_sum_of_squared_shares():
    many = Population("m", "", countries=("JPN", "CHL", "DEU"), shares=(2.0, 1.0, 1.0))
    task = make_task({"item": ["a"]}, {"item": ["a"], "rate": [0.5]}, WORLD, many)
    assert concentration_of(task) == pytest.approx((4 + 1 + 1) / 16)
    assert concentration_of(make_task({"item": ["a"]}, {"item": ["a"], "rate": [0.5]}, many, WORLD)) == 0.0
