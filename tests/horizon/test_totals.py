"""Benchmarks without item results: lengths of their tasks and one total score give a horizon with a wide interval."""

import math

import pytest

from mensura.core.errors import MensuraError
from mensura.horizon import fit_totals
from mensura.horizon.totals import check_totals, status_of


def test_total_scores_give_wide_horizons():
    lengths = {"benchmark": ["b"] * 40, "minutes": [2 ** (i / 4) for i in range(40)], "how": ["baseline"] * 40}
    table = fit_totals({"subject": ["low", "high"], "benchmark": ["b", "b"], "percent": [25.0, 75.0]}, lengths)
    low, high = table["p50"].to_list()
    assert low == pytest.approx(2**2.5, rel=0.4)
    assert high == pytest.approx(2**7.5, rel=0.4)


LENGTHS = {"benchmark": ["b"] * 41, "minutes": [2 ** (i / 4) for i in range(41)], "how": ["baseline"] * 41}


def of(percent, lengths=None, **more):
    scores = {"subject": ["m"], "benchmark": ["b"], "percent": [percent], **more}
    return fit_totals(scores, lengths or LENGTHS).row(0, named=True)


def test_half_of_the_tasks_solved_is_a_horizon_at_their_middle():
    """Lengths from 1 to 1024 minutes lie evenly around 32: there half are solved, whatever the slope."""
    row = of(50.0)
    assert row["p50"] == pytest.approx(32, rel=0.1)
    assert row["p50_low"] < row["p50"] < row["p50_high"]
    assert row["p80"] == pytest.approx(32 / 2 ** (math.log(4) / 0.6), rel=0.2)
    assert (row["suite"], row["tasks"], row["runs"], row["status"]) == ("b", 41, 41, "measured times")
    assert fit_totals({"subject": ["m"], "benchmark": ["b"], "score": [0.5]}, LENGTHS)["p50"][0] == row["p50"]


def test_guessing_is_no_success():
    """With a chance of a quarter, 62.5% solved are half beyond guessing."""
    assert of(62.5, {**LENGTHS, "chance": [0.25] * 41})["p50"] == pytest.approx(32, rel=0.15)
    assert of(62.5, {**LENGTHS, "chance": [None] * 41})["p50"] == of(62.5)["p50"] > 50


def test_judged_times_are_taken_as_too_short_and_widen_the_interval():
    """Experts' estimates lie 0.6 doublings below measured times, uncertain by √(0.6² + 1²)."""
    measured, judged = of(50.0), of(50.0, {**LENGTHS, "how": ["expert estimate"] * 41})
    assert judged["p50"] == pytest.approx(32 * 2**0.6, rel=0.2)
    widths = [math.log2(row["p50_high"] / row["p50_low"]) for row in (measured, judged)]
    assert widths[1] == pytest.approx(math.hypot(widths[0], 2 * 1.645 * 1.36**0.5), rel=0.15)
    assert judged["status"] == "judged times"
    partly = of(50.0, {**LENGTHS, "how": ["baseline"] * 40 + ["estimate"]})
    assert partly["status"] == "judged times"


def test_parts_have_horizons_of_their_own_tasks():
    lengths = {"benchmark": ["b"] * 82, "part": ["short"] * 41 + ["long"] * 41, "how": ["measured"] * 82}
    lengths["minutes"] = [2 ** (i / 4) for i in range(41)] + [2 ** (4 + i / 4) for i in range(41)]
    scores = {"subject": ["m"] * 3, "benchmark": ["b", "b", "c"], "part": ["short", "long", "x"], "percent": [50.0] * 3}
    table = fit_totals(scores, lengths)
    assert table["suite"].to_list() == ["b (short)", "b (long)"]
    assert table["p50"].to_list() == pytest.approx([32, 512], rel=0.1)


def test_ends_far_from_the_tasks_are_open():
    assert of(0.0)["status"] == "at most"
    assert of(100.0)["status"] == "at least"
    rows = [
        dict(zip(("p50_low", "p50_high"), ends, strict=True)) for ends in ((1, 2), (1, None), (None, 2), (None, None))
    ]
    assert [status_of(row, True) for row in rows] == ["measured times", "at least", "at most", "cannot be told"]
    assert status_of(rows[0], False) == "judged times"


@pytest.mark.parametrize(
    ("scores", "words"), [([101.0], "outside 0 to 100 percent"), ([-1.0], "outside 0 to 100 percent")]
)
def test_impossible_scores_are_refused(scores, words):
    with pytest.raises(MensuraError, match=words):
        of(*scores)


def test_other_benchmarks_are_refused():
    with pytest.raises(MensuraError, match="share no benchmark"):
        fit_totals({"subject": ["m"], "benchmark": ["c"], "percent": [50.0]}, LENGTHS)


def test_a_table_of_totals_has_benchmarks_and_no_tasks():
    assert check_totals(["Subject", "Benchmark", "percent"])
    assert not check_totals(["subject", "benchmark", "Task"])
    assert not check_totals(["subject", "percent"])
