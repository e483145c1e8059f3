"""What the other groups of a pool teach: how steep lines are, how large interactions, which groupings move."""

import polars as pl

from mensura.extrapolation.slices import features_of


def test_groupings_have_two_levels_or_more_and_two_items_per_level():
    items = pl.DataFrame(
        {
            "item": list("abcd"),
            "domain": ["x", "x", "y", None],
            "format": ["m"] * 4,
            "language": ["d", "d", "e", "e"],
            "unit": ["u", "u", "v", "v"],
        }
    )
    features, factor = features_of(items)
    assert factor == ("language", "language")
    assert features.tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
