"""Tables of language-model runs: errors in the published form, and the distance to the world, which is no error."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation import dominant_dimensions, measure_distance


def test_the_distance_to_the_world_is_headed_as_a_distance():
    observed = pl.DataFrame({"item": ["a", "b", "c"], "rate": [0.2, 0.5, 0.9]})
    world = pl.DataFrame({"item": ["c", "a", "b"], "rate": [0.6, 0.3, 0.3]})
    table = measure_distance(observed, {"whole-pool": world, "identity": observed})
    assert not {"mae", "rmse", "error"} & set(table.columns)
    assert table["distance"].to_list() == pytest.approx([0.2, 0.0])
    assert table["shift"].to_list() == pytest.approx([-0.4 / 3, 0.0])
    assert table["rms_distance"][0] == pytest.approx(np.sqrt((0.01 + 0.04 + 0.09) / 3))
    assert table["spearman"].to_list() == pytest.approx([0.866, 1.0], abs=0.001)
    with pytest.raises(MensuraError, match="no item in common"):
        measure_distance(observed, {"other": world.with_columns(item=pl.lit("z"))})


def test_the_dominant_dimension_is_the_highest_alone():
    demands = pl.DataFrame(
        {"item": ["a", "a", "b", "b", "b"], "dimension": ["QLq", "KNn", "QLq", "KNn", "AT"], "level": [3, 1, 2, 2, 0]}
    )
    assert dict(dominant_dimensions(demands).iter_rows()) == {"a": "QLq", "b": "several"}
