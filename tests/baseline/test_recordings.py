"""The shipped parameters are those that the recordings teach (needs the development data)."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import baseline_pools as pools, optional_data
from benchmarks.baseline_ai import learn_raters, leave_out, read_benchmarks, summarise_ai
from benchmarks.baseline_learning import learn
from mensura.baseline.recordings import read_anchors, shipped_errors

needs_data = pytest.mark.skipif(not optional_data("items", "zero_shot.csv"), reason="the development data are not here")


@needs_data
@pytest.mark.slow
def test_shipped_parameters_are_what_the_recordings_teach():
    shipped = shipped_errors()
    base = learn(pools.read(mend=True).cells, runs=pools.RUNS, models=pools.MODELS, usual_spread=shipped.usual_spread)
    again = learn_raters(base, read_benchmarks()[0])
    assert again.names == shipped.names
    np.testing.assert_allclose(again.mean, shipped.mean, atol=0.01)
    assert again.spreads == pytest.approx(dict(shipped.spreads), abs=0.01)


@needs_data
def test_ai_benchmarks_left_out_are_no_worse_than_raw_estimates_and_leave_the_correction_alone():
    shipped = shipped_errors()
    kept = [place for place, name in enumerate(shipped.names) if not name.startswith("trait:")]
    base = replace(
        shipped,
        names=tuple(shipped.names[place] for place in kept),
        mean=shipped.mean[kept],
        covariance=shipped.covariance[np.ix_(kept, kept)],
    )
    benchmarks, tasks = read_benchmarks()
    assert (len(benchmarks), len(tasks)) == (13, 24)
    figures = summarise_ai(leave_out(base, benchmarks, benchmarks))
    assert figures["ai_error"] <= figures["ai_raw_error"] + 0.005
    assert figures["ai_held"] >= 0.85
    assert figures["ai_width"] <= 0.40
    taught = learn_raters(base, benchmarks)
    np.testing.assert_array_equal(taught.mean[: len(kept)], base.mean)


@needs_data
def test_the_assumed_correlation_of_runs_is_the_measured_one():
    assert pools.correlation_of_runs() == pytest.approx(pools.RUNS, abs=0.05)


def test_rates_may_be_percentages_with_their_sign(tmp_path):
    path = tmp_path / "anchors.csv"
    path.write_text("item;rate;n\na;40%;30\nb;92.5 %;30\n", encoding="utf-8")
    assert read_anchors(path)["rate"].to_list() == [0.4, 0.925]
