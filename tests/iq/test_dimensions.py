"""Dimensions and composites of a small matrix: means, statuses, who bounds a missing dimension, and both ways round."""

from types import SimpleNamespace

import numpy as np
import pytest

from mensura.iq.dimensions import (
    ASSUMED,
    BY_PEERS,
    ESTIMATED,
    GLOBAL,
    INHERITED,
    MATCHED,
    MEASURED,
    MISSING,
    NEAREST,
    PARTLY,
    comparable,
    rounded,
    score_dimensions,
)
from mensura.iq.waterfall import JOINT, NONE, PEERS, PREDECESSOR, SOURCE, ZERO

EACH = np.array([0.5, 0.5])


def matrix(released, dimension_of=(0, 0, 0, 1)):
    return SimpleNamespace(dimensions=("a", "b"), released=np.array(released), members=np.eye(2)[list(dimension_of)])


def rules(*, joint=False, band=5.0, count=1, minimum=1, percentile=50.0):
    dimension = SimpleNamespace(band=band, comparable=count, minimum_scored=minimum, percentile=percentile)
    return SimpleNamespace(
        dimension=dimension, imputation=SimpleNamespace(is_joint=joint), error=SimpleNamespace(dimension=2.0)
    )


def filled(iqs, steps):
    return SimpleNamespace(iqs=np.array(iqs, dtype=float)[None], steps=np.array(steps, dtype=np.int8))


def test_a_dimension_is_the_mean_of_its_benchmarks_and_the_composite_that_of_dimensions():
    scored = score_dimensions(matrix([0]), filled([[100, 110, 120, 90]], [[SOURCE] * 4]), rules(), EACH)
    assert scored.dimensions.tolist() == [[[110.0, 90.0]]]
    assert scored.composites.tolist() == [[100.0]]
    assert score_dimensions(
        matrix([0]), filled([[100, 110, 120, 90]], [[SOURCE] * 4]), rules(), np.array([0.75, 0.25])
    ).composites.tolist() == [[105.0]]


@pytest.mark.parametrize(
    ("steps", "status", "scored"),
    [
        ((SOURCE, SOURCE, SOURCE), MEASURED, True),
        ((SOURCE, SOURCE, PEERS), PARTLY, True),
        ((SOURCE, PEERS, PEERS), ESTIMATED, True),
        ((SOURCE, JOINT, JOINT), ESTIMATED, True),
        ((JOINT, JOINT, JOINT), ESTIMATED, False),
        ((PREDECESSOR, PEERS, ZERO), INHERITED, True),
        ((PREDECESSOR, JOINT, JOINT), INHERITED, True),
        ((PEERS, PEERS, ZERO), BY_PEERS, False),
        ((ZERO, ZERO, ZERO), ASSUMED, False),
    ],
)
def test_a_status_says_what_the_benchmarks_of_a_dimension_rest_on(steps, status, scored):
    one = score_dimensions(matrix([0]), filled([[100] * 4], [[*steps, SOURCE]]), rules(joint=True), EACH)
    assert (one.statuses[0, 0], one.scored[0, 0], one.statuses[0, 1]) == (status, scored, MEASURED)


def test_a_missing_dimension_is_bounded_by_the_models_alike_and_by_the_own_mean():
    """The third lacks b; the others have 100 and 120 in a, 90 and 130 in b."""
    iqs = [[100, 100, 100, 90], [120, 120, 120, 130], [99, 99, 99, np.nan], [119, 119, 119, np.nan]]
    steps = [[SOURCE] * 4] * 2 + [[SOURCE] * 3 + [NONE]] * 2
    scored = score_dimensions(matrix([0, 0, 1, 1]), filled(iqs, steps), rules(), EACH)
    assert scored.dimensions[0, 2:].tolist() == [[99.0, 90.0], [119.0, 119.0]]
    assert scored.statuses[2:, 1].tolist() == [MATCHED, MATCHED]
    noisy = score_dimensions(matrix([0, 0, 1, 1]), filled(iqs, steps), rules(), EACH, noise=np.ones((1, 4, 2)))
    assert noisy.dimensions[0, 2].tolist() == [99.0, 92.0]


def test_a_model_with_too_few_scored_dimensions_has_no_composite_and_none_is_filled():
    iqs, steps = [[100] * 4, [100, 100, 100, np.nan]], [[SOURCE] * 4, [SOURCE] * 3 + [NONE]]
    scored = score_dimensions(matrix([0, 0]), filled(iqs, steps), rules(minimum=2), EACH)
    assert np.isnan(scored.composites[0, 1])
    assert scored.composites[0, 0] == 100
    assert scored.statuses[1, 1] == MISSING


def test_alike_are_models_of_the_era_within_the_band_else_the_nearest_else_all():
    own, other = np.array([[100.0, 110.0, 112.0, 100.0]]), np.array([[104.0, 108.0, 90.0, 0.0]])
    targets, peers = np.array([3]), np.array([0, 1, 2])

    def step(band, count, released=(0, 0, 0, 1)):
        alike, code = comparable(matrix(released), own, other, targets, peers, rules(band=band, count=count))
        return alike[0, 0].tolist(), code.tolist()

    assert step(8, 2) == ([True, True, False], [MATCHED])
    assert step(7, 2) == ([True, True, False], [NEAREST])  # one within the band, so the two nearest
    assert step(8, 1, released=(2, 0, 0, 1)) == ([False, True, False], [MATCHED])  # the first came later
    assert step(8, 3, released=(2, 0, 0, 1)) == ([False, True, True], [GLOBAL])


def test_halves_are_rounded_up():
    assert rounded(np.array([99.5, 100.49, -0.5])).tolist() == [100, 100, 0]
