"""Odd tables: each is refused with the reason, or read as it was meant, by every model alike."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import (
    FitOptions,
    compare_fits,
    compare_subjects,
    fit_categories,
    fit_dimensions,
    fit_responses,
    place_among,
    regress_abilities,
    score_new,
)
from mensura.responses.result import read_fit
from tests.responses.conftest import draw


@pytest.fixture(scope="module")
def wide():
    return draw(60, 6, seed=8, name="p").wide


FITS = {"2pl": fit_responses, "graded": fit_categories}


@pytest.mark.parametrize("model", FITS)
def test_rows_and_columns_without_a_name_of_their_own_are_refused(wide, model):
    fit = FITS[model]
    with pytest.raises(MensuraError, match="subject 'p0' has several rows"):
        fit(pl.concat([wide, wide.head(3)]))
    with pytest.raises(MensuraError, match="2 rows have no subject"):
        fit(wide.with_columns(pl.when(pl.int_range(60) > 1).then("subject").alias("subject")))
    with pytest.raises(MensuraError, match="a column of answers has no name"):
        fit(wide.rename({"i0": "  "}))


def test_ratings_without_a_subject_or_item_are_noted():
    rows = [(f"p{k}", f"q{j}", (k + j) % 3) for k in range(12) for j in range(3)] + [(None, "q0", 1), ("p0", None, 2)]
    fit = fit_categories(pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row"))
    assert fit.log.rows() == [("outcomes without subject or item", 2, "left out")]
    assert fit.subjects.height == 12


@pytest.mark.parametrize("model", FITS)
def test_groups_without_a_common_item_are_refused(wide, model):
    first = pl.int_range(60) < 30
    group = pl.when(first).then(pl.lit("a")).otherwise(pl.lit("b")).alias("group")
    halves = [pl.when(first if item < 3 else ~first).then(f"i{item}").alias(f"i{item}") for item in range(6)]
    with pytest.raises(MensuraError, match="group 'b' shares no item with group 'a'"):
        FITS[model](wide.select("subject", group, *halves))


def test_a_code_of_one_item_is_asked_about_though_the_ratings_then_look_centred(wide):
    coded = wide.with_columns(i1=pl.when(pl.int_range(60) < 8).then(-1).otherwise("i1"))
    with pytest.raises(MensuraError, match="outcomes -1 lie apart"):
        fit_categories(coded)
    centred = fit_categories(wide.with_columns(pl.exclude("subject") * 2 - 1))
    assert centred.items["lowest"].unique().to_list() == [-1.0]


@pytest.mark.parametrize("model", FITS)
def test_a_small_first_group_is_no_measure_and_what_it_alone_was_tested_for_is_said(wide, model):
    group = pl.when(pl.int_range(60) < 1).then(pl.lit("a")).otherwise(pl.lit("b")).alias("group")
    warnings = FITS[model](wide.with_columns(group)).warnings
    assert any("M2 are those of group 'a' alone" in one for one in warnings)
    assert any("group 'a', whose spread is the unit, has 1 subjects" in one for one in warnings)
    assert not any("whose spread" in one for one in FITS[model](wide.with_columns(group), reference="b").warnings)


def test_groups_that_are_numbers_are_placed_from_their_folder(wide, tmp_path):
    fit = fit_responses(wide.with_columns(group=pl.int_range(60) % 2))
    for name, table in fit.tables().items():
        table.write_csv(tmp_path / f"{name}.csv")
    placed = place_among(read_fit(tmp_path), group="0")
    assert placed.subjects["percentile"].to_list() == pytest.approx(
        place_among(fit, group="0").subjects["percentile"].to_list(), nan_ok=True
    )


def test_several_ratings_of_one_item_are_not_one_answer():
    ratings = {f"q{k}": [(row * (k + 2) + row // 3) % 4 for row in range(30)] for k in range(4)}
    fit = fit_categories({"subject": [f"p{k}" for k in range(30)], **ratings})
    with pytest.raises(MensuraError, match="new: q0 has several ratings"):
        score_new(fit, pl.DataFrame({"subject": ["new"] * 2, "item": ["q0"] * 2, "correct": [1, 2]}))
    with pytest.raises(MensuraError, match="got the rating -1; expected one of 0, 1, 2, 3"):
        score_new(fit, {"subject": ["new"], "q0": [-1], "q1": [2]})


def test_known_guessing_needs_the_model_that_has_it(wide):
    known = {"item": ["i0", "i1"], "discrimination": [1.0, 1.2], "difficulty": [0.0, 0.3], "guessing": [0.2, 0.0]}
    with pytest.raises(MensuraError, match="the items have guessing, and 2pl has none; fit the model 3pl"):
        fit_responses(wide, options=FitOptions(fixed=known))


def test_a_difference_that_is_the_same_on_all_items_has_the_p_of_its_signs():
    row = compare_subjects({"subject": ["a", "b"]} | {f"q{k}": [1, 0] for k in range(5)}).pairs.row(0, named=True)
    assert (row["p"], row["p_mcnemar"]) == (0.0625, 0.0625)
    assert (row["difference"], row["high"], row["detectable"], row["items_needed"]) == (1.0, 1.0, None, None)


def test_a_fit_of_several_groups_is_no_case_of_a_fit_of_one(wide):
    two = fit_responses(wide.with_columns(group=pl.int_range(60) % 2), model="rasch")
    one = [fit_responses(wide, model=model) for model in ("rasch", "2pl")]
    assert compare_fits([two, one[1]]).tests.height == 0
    assert compare_fits(one).tests.height == 1


def test_plausible_values_come_where_two_abilities_are_one():
    """Both halves of the test ask for one ability: the residual of the second has no size that answers could show."""
    drawn = draw(300, 8, seed=3)
    pairs = {"item": [f"i{k}" for k in range(8)], "dimension": ["a"] * 4 + ["b"] * 4}
    fit = fit_dimensions(drawn.wide, pairs)
    ends = fit.correlations.select("low", "high").row(0)
    assert -1.0 <= ends[0] <= ends[1] <= 1.0
    people = drawn.wide.select("subject", age=pl.Series(drawn.ability.round(1)))
    values = regress_abilities(fit, None, people, on=["age"], seed=1).plausible.select("^pv.*$").to_numpy()
    assert np.isfinite(values).all() and np.abs(values).max() < 20.0
