"""Responses in shards: counts of right answers of some subjects of one group, whole or in parts."""

import numpy as np

from mensura.responses.irt.shards import of_matrix, thinned


def test_a_sample_is_every_so_manieth_subject():
    right = np.arange(60).reshape(20, 3) % 2
    held = of_matrix(right, None, np.repeat([0, 1], 10))
    some = thinned(held, 6)
    assert (some.subjects, len(some.parts)) == (8, 2)  # every third of ten, in both groups
    np.testing.assert_array_equal(some.parts[0].right, right[:10:3])
    assert thinned(held, 50).subjects == 20
