"""Bad scores are refused with a reason; thin ones are named."""

import polars as pl
import pytest

from mensura import MensuraError
from mensura.stitching import stitch


def table(**columns):
    return {"model": ["a", "a", "b", "b"], "benchmark": ["x", "y", "x", "y"], "score": [0.1, 0.2, 0.3, 0.4]} | columns


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [10.0, 20.0, 30.0, 40.0]}, r"4 scores lie outside \[0, 1\] \(a on x: 10.0.*divide them by 100"),
        ({"score": [0.1, -0.2, 0.3, 0.4]}, r"1 scores lie outside \[0, 1\] \(a on y: -0.2\); correct or drop"),
        ({"score": [0.1, None, 0.3, 0.4]}, "1 scores are missing or not finite"),
        ({"score": ["0.1", "good", "0.3", "0.4"]}, "row 2: 'good' is no score; expected a number such as 0.704"),
        ({"model": ["a", None, "b", "b"]}, "1 rows have no subject"),
        ({"benchmark": ["x", "x", "y", "y"]}, r"2 parts share no subject.*part 1: 1 subjects \(a\) on 1 benchmarks"),
        ({"chance": [0.2, 1.0, 0.2, 1.0]}, "benchmark 'y' has chance 1 and ceiling 1"),
        ({"release_date": ["2024", "2024", "2024", "2024"]}, "4 release dates are not YYYY-MM-DD"),
    ],
)
def test_message_says_what_is_wrong(change, message):
    with pytest.raises(MensuraError, match=message):
        stitch(table(**change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method: got 'magic'; expected one of pooled, rosetta"),
        ({"duplicates": "min"}, "duplicates: got 'min'; expected one of max, mean, all"),
        ({"anchor_benchmark": "z"}, "anchor_benchmark: 'z' has no scores; choose one of x, y"),
        ({"anchor_subjects": {"a": 1.0}}, "two subjects with two different values are expected"),
        ({"dimensions": 0}, "dimensions: at least 1"),
        ({"parts": "some"}, "parts: got 'some'; expected one of refuse, largest, keep"),
    ],
)
def test_unknown_options_name_the_allowed_ones(options, message):
    with pytest.raises(MensuraError, match=message):
        stitch(table(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rosetta", "dimensions": 3}, "dimensions: method='rosetta' does not use it; method='pooled' does"),
        ({"method": "rosetta", "pooling": 2.0}, "pooling: method='rosetta' does not use it"),
        ({"method": "rosetta", "informed": False}, "informed: method='rosetta' does not use it"),
        ({"ridge": 1e6}, "ridge: method='pooled' does not use it; method='rosetta' does"),
        (
            {"anchor_benchmark": "x", "anchor_subjects": {"a": 0.0, "b": 1.0}},
            "anchor_benchmark: method='pooled' does not use it beside anchor_subjects",
        ),
    ],
)
def test_an_argument_that_the_method_does_not_use_is_refused(options, message):
    with pytest.raises(MensuraError, match=message):
        stitch(table(), **options)


def test_a_unit_beside_evidence_is_refused():
    with pytest.raises(MensuraError, match="unit: evidence states its units"):
        stitch(unit="percent")


def test_the_command_refuses_a_setting_that_its_method_does_not_use(mensura_command, tmp_path):
    pl.DataFrame(table()).write_csv(tmp_path / "scores.csv")
    run = mensura_command("stitch", tmp_path / "scores.csv", "--set", "ridge=0.1")
    assert run.code == 2
    assert "ridge: method='pooled' does not use it" in run.err


def test_missing_column_lists_those_there():
    with pytest.raises(MensuraError, match=r"expected columns model, benchmark, score .one row per score."):
        stitch({"model": ["a"], "benchmark": ["x"]})
    with pytest.raises(MensuraError, match="no rows"):
        stitch(pl.DataFrame(schema={"model": pl.String, "benchmark": pl.String, "score": pl.Float64}))


def test_thin_subjects_and_floors_are_named():
    scores = table(score=[0.0, 0.5, 0.01, 0.6])
    fit = stitch(scores)
    assert any("2 subjects have fewer than 3 scores" in text and "a, b" in text for text in fit.warnings)
    assert any("every subject is at the floor of x" in text for text in fit.warnings)


def test_a_score_at_the_bound_of_the_floor_is_at_the_floor():
    """0.15 + 0.02 is a last bit below 0.17."""
    fit = stitch(table(score=[0.15, 0.5, 0.17, 0.6], chance=[0.15, 0.0, 0.15, 0.0]))
    assert any("every subject is at the floor of x" in text for text in fit.warnings)


def test_largest_part_can_be_kept(simulated):
    apart = pl.DataFrame({"model": ["z"], "benchmark": ["zz"], "score": [0.5]})
    fit = stitch(pl.concat([simulated[0], apart]), parts="largest")
    assert "z" not in fit.data.subjects
    assert fit.notes[0] == "1 scores outside the largest connected part were left out"


def test_scores_that_differ_and_a_mean_among_the_benchmarks_are_named():
    rows = [(f"m{m}", b, 0.1 * m + c) for m in range(1, 7) for b, c in (("x", 0.1), ("y", 0.3), ("Average", 0.2))]
    rows.append(("m1", "x", 0.9))
    fit = stitch(pl.DataFrame(rows, schema=["model", "benchmark", "score"], orient="row"))
    merged = "several scores of one subject on one benchmark, their mean counts: 1 such pairs (m1 on x: 0.7 apart)"
    assert merged in fit.notes
    assert "Average: counted as a benchmark; leave out a mean or rank of the others" in fit.warnings


def test_duplicate_policies_differ_as_they_say(simulated):
    twice = pl.concat([simulated[0], simulated[0].with_columns(score=pl.col("score") / 2)])
    highest, middle = (stitch(twice, method="rosetta", duplicates=policy).data.y for policy in ("max", "mean"))
    assert (highest >= middle).all()
    assert stitch(twice, method="rosetta", duplicates="all").data.counts.min() == 2


def test_command_prints_the_reason_without_traceback(mensura_command, tmp_path):
    pl.DataFrame(table(score=[10.0, 20.0, 30.0, 40.0])).write_csv(tmp_path / "bad.csv")
    run = mensura_command("stitch", tmp_path / "bad.csv")
    assert run.code == 2
    assert "outside [0, 1]" in run.err
    assert "Traceback" not in run.err


def test_a_fit_without_pooling_stands_where_few_took_a_benchmark():
    rows = [(f"m{i}", f"b{j}", 0.2 + 0.05 * i + 0.02 * j) for i in range(12) for j in range(6) if (i + j) % 5]
    scores = pl.DataFrame([*rows, ("m1", "rare", 0.4)], schema=["subject", "benchmark", "score"], orient="row")
    assert stitch(scores, pooling=0.0).capabilities["capability"].is_finite().all()
