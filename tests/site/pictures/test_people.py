"""Pictures of the human scales: bases, success by demand level, the world behind one item, the open calibration."""

import polars as pl

from mensura.site.pictures.people import aligned_said, falling_said, largest_said


def test_drivers_curves_and_clusters_in_words():
    drivers = pl.DataFrame({"driver": ["age", "schooling"], "effect": [3.0, -12.04]})
    assert largest_said(drivers) == "Schooling moves the rate most: −12.0 points"
    rates = pl.DataFrame({"subject": ["a"] * 4 + ["b"] * 2, "dimension": ["x", "x", "y", "y", "x", "x"]}).with_columns(
        level=pl.Series([2, 1, 1, 2, 1, 2]), rate=pl.Series([0.1, 0.9, 0.5, 0.5, 0.2, 0.6])
    )
    assert falling_said(rates) == "From the lowest to the highest level success falls in 1 of 3 curves"
    countries = pl.DataFrame({"cluster": [1, 1, 2], "cluster_mae": [0.123, 0.123, 0.2]})
    assert aligned_said(countries).endswith("told with a mean error of 12.3 points, from 1 with 20.0")
