"""Where one model stands, beside the others and beside people."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.study import find_whereabouts


@pytest.fixture(scope="module")
def found(study):
    return find_whereabouts(study, "claude-opus-4.6")


def test_the_heading_says_what_the_iq_rests_on(found, study):
    row = study.models.row(by_predicate=pl.col("subject") == "claude-opus-4.6", named=True)
    assert found.heading.startswith(f"Claude Opus 4.6: IQ {row['iq']} (")
    assert f"{row['measured']} of {len(study.iq.matrix.benchmarks)} benchmarks measured" in found.heading


def test_neighbours_stand_in_order_with_the_chance_of_being_above_them(found, study):
    names = found.neighbours["subject"].to_list()
    assert names[3] == "claude-opus-4.6"
    assert found.neighbours["iq"].is_sorted(descending=True)
    chances = found.neighbours["chance_above"].to_list()
    assert chances[3] is None
    assert chances[0] < 0.5 < chances[-1]
    above = study.iq.drawn.composites
    at = [study.iq.drawn.subjects.index(name) for name in ("claude-opus-4.6", names[0])]
    assert chances[0] == pytest.approx(np.mean(above[:, at[0]] > above[:, at[1]]))


def test_people_are_those_of_tests_it_took_each_with_its_test(found, study):
    taken = study.evidence.primary_scores.filter(pl.col("subject") == "claude-opus-4.6")["benchmark"].to_list()
    assert set(found.people["benchmark"]) <= set(taken)
    assert "constructed" not in found.people["status"].to_list()
    assert found.people["chance_above"].is_between(0, 1).all()


def test_what_to_measure_next_is_not_measured_and_explains_a_share(found, study):
    row = study.iq.matrix.subjects.index("claude-opus-4.6")
    missing = {b for c, b in enumerate(study.iq.matrix.benchmarks) if not study.iq.matrix.measured[row, c]}
    assert set(found.next["benchmark"]) == missing
    assert found.next["variance_explained"].is_sorted(descending=True)
    assert found.next["variance_explained"].is_between(0, 1).all()


def test_prices_are_of_models_about_as_good(found, study):
    iq = found.standing["iq"].item()
    assert "claude-opus-4.6" in found.prices["subject"].to_list()
    assert ((found.prices["iq"] - iq).abs() <= 4).all()
    assert found.prices["sticker_price"].drop_nulls().is_sorted()


def test_an_unknown_model_is_refused_with_near_names(study):
    with pytest.raises(MensuraError, match="did you mean"):
        find_whereabouts(study, "claude-opus-4.66")
