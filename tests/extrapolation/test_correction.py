"""What a language model's estimates are worth: the part of its shift that is real, and honest intervals."""

import pytest

from mensura.extrapolation.correction import published_correction, shipped_correction


def test_the_shipped_correction_leaves_out_the_pool_that_is_judged():
    for pool in ("timss2011_g8_math_4c", "spisa_general_knowledge", "viqt_vocabulary"):
        assert pool in shipped_correction().origin
        assert pool not in shipped_correction(pool).origin
    assert shipped_correction("my pool") == shipped_correction()


def test_the_published_error_level_is_that_of_the_tables():
    """Root mean square of the fifteen published RMSE is 0.140 in rates; 0.2 per logit makes it 0.70 logits."""
    assert published_correction().item_sd == pytest.approx(0.70, abs=0.01)
