"""Draws of the assumptions, and the ability of each stratum under them."""

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from mensura.extrapolation.abilities import (
    Domain,
    Strata,
    abilities,
    central,
    number_of,
    one_at_a_time,
    part,
    read_curves,
    stratified,
    triangular,
)
from mensura.extrapolation.poststratification import triangular_sd
from mensura.people import WORLD, World, cells_of

TABLES = World.load()


SAHARAN = {"Eastern Africa", "Middle Africa", "Southern Africa", "Western Africa"}


@pytest.fixture(scope="module")
def world():
    return TABLES


@pytest.mark.parametrize(("subregions", "share"), [({"Southern Asia"}, 0.89), (SAHARAN, 0.94)])
def test_regional_links_put_youth_below_basic_skills_where_published(world, subregions, share):
    """Below 420 points, those who cannot read or are unwell included; without the links 0.70 in South Asia."""
    strata = Strata.from_cells(
        cells_of(WORLD.with_(ages=(15, 19)), world).filter(pl.col("subregion").is_in(subregions))
    )
    domain = Domain("quantitative", True, read_curves(world.curves))

    def below(tables):
        found = abilities(strata, central(tables.assumptions), domain, given="")
        above = found.able[0] * ndtr((found.mean[0] + 0.8) / np.sqrt(found.variance[0]))
        return 1 - strata.weight @ above

    assert below(world) == pytest.approx(share, abs=0.002)
    assert below(world.assume(regional_link=0.0)) < share - 0.05


def test_central_draw_is_the_table(world):
    drawn = central(world.assumptions)
    assert drawn["slope"].tolist() == [0.8]
    assert len(drawn) == world.assumptions.height


def test_draws_follow_their_triangles_and_fill_every_stratum():
    rng = np.random.default_rng(1)
    share = stratified(rng, (2, 1000))
    assert np.array_equal(np.sort(np.floor(share * 1000), axis=1), np.tile(np.arange(1000), (2, 1)))
    drawn = triangular(share[0], -1.0, 0.5, 1.0)
    assert drawn.min() >= -1
    assert drawn.max() <= 1
    assert drawn.mean() == pytest.approx((-1 + 0.5 + 1) / 3, abs=0.002)
    assert drawn.std() == pytest.approx(2 * triangular_sd(-1.0, 0.5, 1.0), rel=0.01)
    assert triangular(share[0], 2.0, 2.0, 2.0).tolist() == [2.0] * 1000


def one_by_one(ages, attainment, *, learning=0.4, spread=0.3, off=("ageing", "health"), **assumed):
    """The abilities of one cell per age in a taught domain, at the central assumptions but for some."""
    cells = pl.DataFrame({"age": ages, "attainment": [attainment] * len(ages)}).with_columns(
        weight=1.0, learning=learning, spread=spread, regional=0.0, income=3.0
    )
    draws = central(TABLES.assumptions) | {name: np.array([value]) for name, value in assumed.items()}
    domain = Domain("quantitative", True, read_curves(TABLES.curves))
    return abilities(Strata.from_cells(cells), draws, domain, given="", off=frozenset(off))


def test_an_adult_who_finished_school_keeps_a_part_of_what_pupils_know():
    stated = {"adult_slope": 0.7, "adult_anchor": 0.1, "score_link": 0.05, "language": 0.02, "forgetting": 0.0}
    found = one_by_one([30.0], "upper_secondary", **stated)
    assert found.mean[0, 0] == pytest.approx(0.7 * (0.4 + 0.05) + 0.1 - 0.02)


def test_forgetting_is_half_done_at_23_and_complete_from_28_on():
    mean = one_by_one([20.0, 23.0, 28.0, 60.0], "upper_secondary", forgetting=0.3).mean[0]
    assert mean[:3] - mean[3] == pytest.approx([0.24, 0.15, 0.0]), "a tenth a year from 18 on"


def test_a_child_below_the_first_age_never_answers():
    present = one_by_one([3.0, 8.0, 9.0, 12.0], "primary", first_age=8.75).present[0]
    assert present == pytest.approx([0.0, 0.0, 0.75, 1.0])


def test_variances_of_a_cell_add_up():
    pupils = one_by_one([14.0], "in_school", pupil_sd=0.9, spread=0.3)
    assert pupils.variance[0, 0] == pytest.approx(0.9**2 + 0.3**2)
    adult = one_by_one([40.0], "primary", adult_sd=1.0, specialisation=0.5, adult_slope=0.5, spread=0.4)
    assert adult.variance[0, 0] == pytest.approx(1.0**2 + 0.5**2 + (0.5 * 0.4) ** 2)


def test_who_cannot_read_or_is_unwell_guesses_and_who_sits_in_class_does_neither():
    told = {"illiterate_none": 0.6, "intellectual_disability": 0.1, "dementia": 0.0, "off": ()}
    able = [one_by_one([30.0], level, **told).able[0, 0] for level in ("none", "upper_secondary", "in_school")]
    assert able == pytest.approx([0.4 * 0.9, 0.9, 1.0])


def test_one_assumption_at_a_time_goes_to_its_ends():
    table = pl.DataFrame({"assumption": ["a", "b"], "value": [1.0, 5.0], "low": [0.0, 4.0], "high": [2.0, 9.0]})
    draws = one_at_a_time(table)
    assert {name: values.tolist() for name, values in draws.items()} == {"a": [0, 2, 1, 1], "b": [5, 5, 4, 9]}
    assert number_of(draws) == 4 and number_of(part(draws, slice(0, 3))) == 3


def test_quantiles_of_a_triangle_have_their_closed_form():
    """Of a triangle from 0 over 1 to 4, a quarter of the mass lies below the peak."""
    assert triangular(np.array([0.0, 0.25, 1.0]), 0.0, 1.0, 4.0) == pytest.approx([0, 1, 4])
    assert triangular(np.array([0.75]), 0.0, 1.0, 4.0)[0] == pytest.approx(4 - np.sqrt(0.25 * 4 * 3))
