"""The shipped parameters are those that the recordings teach (needs the development data)."""

import numpy as np
import pytest

from benchmarks import baseline_pools as pools, optional_data
from benchmarks.baseline_learning import learn
from mensura.baseline.learning import shipped_errors

needs_data = pytest.mark.skipif(not optional_data("items", "zero_shot.csv"), reason="the development data are not here")


@needs_data
@pytest.mark.slow
def test_shipped_parameters_are_what_the_recordings_teach():
    shipped = shipped_errors()
    again = learn(pools.read(mend=True).cells, runs=pools.RUNS, models=pools.MODELS, usual_spread=shipped.usual_spread)
    assert again.names == shipped.names
    np.testing.assert_allclose(again.mean, shipped.mean, atol=0.01)
    assert again.spreads == pytest.approx(dict(shipped.spreads), abs=0.01)


@needs_data
def test_the_assumed_correlation_of_runs_is_the_measured_one():
    assert pools.correlation_of_runs() == pytest.approx(pools.RUNS, abs=0.05)
