"""Reading descriptions: what assessment a pool is, what a covariate is about, what a label says."""

import pytest

from mensura.extrapolation.descriptions import age_of, kind_of, rank_of, read_description, split_crossing, subject_of


@pytest.mark.parametrize(
    ("covariate", "kind"),
    [
        ("country", "country"),
        ("country_group", "country"),
        ("CNT", "country"),
        ("gender", "sex"),
        ("parent_education", "parents"),
        ("education", "education"),
        ("escs_quartile", "ses"),
        ("native_english", "language"),
        ("age_band", "age"),
        ("grade_band", "grade"),
        ("school_type", "school"),
        ("language", "language"),
        ("minority", "ethnicity"),
        ("race", "ethnicity"),
        ("born_in_country", "migration"),
        ("country_of_birth", "migration"),
        ("immigrant", "migration"),
        ("foreign_language_at_home", "language"),
        ("countryside", "other"),
        ("nationality", "country"),
        ("ability_percentile", "ability"),
        ("score_quartile", "ability"),
        ("news_use_band", "other"),
    ],
)
def test_kinds_of_covariates(covariate, kind):
    assert kind_of(covariate) == kind


def test_domains_name_subjects():
    assert [subject_of(d) for d in ("Algebra", "reading", "Life science", "vocabulary", None)] == [
        "math",
        "reading",
        "science",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("label", "age"), [("18-24", 21), ("50+", 58), ("under 20", 16), ("old", None), ("1990", None)]
)
def test_ages_of_bands(label, age):
    assert age_of(label) == age


@pytest.mark.parametrize(("label", "rank"), [("Q1_low", 1), ("Q4_high", 4), ("low", 1), ("high", 4), ("7", None)])
def test_ranks_of_ordered_groups(label, rank):
    assert rank_of(label, 4) == rank


def test_crossings_are_taken_apart():
    levels = {"age_band": ["10-17"], "sex": ["female"], "country": ["AUS"], "age_band_sex": ["10-17_female"]}
    assert split_crossing("age_band_sex", "10-17_female", levels) == [("age_band", "10-17"), ("sex", "female")]
    assert split_crossing("country", "AUS", levels) == [("country", "AUS")]


def test_a_folder_is_described_by_its_name_and_the_start_of_its_readme(tmp_path):
    folder = tmp_path / "pool_x"
    folder.mkdir()
    assert read_description(folder) == "pool_x"
    (folder / "README.md").write_text("# Reading\n\nPupils in\nPISA 2006.\n\nUnlike TIMSS.\n", encoding="utf-8")
    assert read_description(folder) == "pool_x Reading Pupils in PISA 2006."
