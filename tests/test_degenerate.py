"""Tables at the edge of sense: finite, bounded and inside the interval, or a warning; else refused in words."""

from contextlib import suppress
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import mensura
from mensura import MensuraError
from mensura.stitching import stitch

pytestmark = pytest.mark.slow

BOUND = 100.0
"""No capability of a fit without a warning lies further out; on real scores they stay within 4."""


def table(scores, **columns):
    """One row per score of a matrix of subjects by benchmarks; NaN cells are not tested."""
    scores = np.asarray(scores, dtype=float)
    rows, cols = np.nonzero(np.isfinite(scores))
    frame = {"model": [f"m{i}" for i in rows], "benchmark": [f"b{j}" for j in cols], "score": scores[rows, cols]}
    return pl.DataFrame(frame).with_columns(**{name: pl.lit(value) for name, value in columns.items()})


def sensible(seed=0, subjects=12, benchmarks=5):
    rng = np.random.default_rng(seed)
    return 1 / (1 + np.exp(-(rng.normal(size=(subjects, 1)) - rng.normal(size=benchmarks))))


cells = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.25]), st.floats(0, 1), st.just(np.nan))


@st.composite
def matrices(draw):
    subjects, benchmarks = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    row = st.lists(cells, min_size=benchmarks, max_size=benchmarks)
    return draw(st.lists(row, min_size=subjects, max_size=subjects))


def assert_inside(frame, middle):
    values = frame.select(middle, "low", "high").to_numpy()
    assert np.isfinite(values).all()
    assert ((values[:, 1] <= values[:, 0]) & (values[:, 0] <= values[:, 2])).all()
    return np.abs(values).max()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "rosetta"])
@settings(max_examples=25)
@given(scores=matrices())
def test_stitch_is_finite_bounded_and_inside_its_intervals_or_refuses(method, scores):
    frame = table(scores)
    try:
        fit = stitch(frame, method=method)
    except MensuraError:
        return
    if not fit.convergence.converged:
        with pytest.raises(MensuraError, match="did not converge"):
            _ = fit.capabilities
        with pytest.raises(MensuraError, match="did not converge"):
            fit.predict(frame)
        return
    furthest = assert_inside(fit.capabilities, "capability")
    assert furthest < BOUND or fit.warnings
    ranks = fit.laplace.ranks.drop_nulls("rank").select("rank", low="rank_low", high="rank_high")
    assert ranks.is_empty() or assert_inside(ranks, "rank") == ranks.height
    assert assert_inside(fit.laplace.benchmarks, "difficulty") < BOUND or fit.warnings
    predicted = fit.predict(frame).drop_nulls("score")  # a test that compares nobody predicts nothing
    assert predicted.is_empty() or assert_inside(predicted, "score") <= 1
    assert all(np.isfinite(part.select(pl.selectors.float()).to_numpy()).all() for part in fit.tables().values())


@pytest.mark.parametrize("method", ["pooled", "rosetta"])
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.full((12, 5), 0.5), "nothing tells them apart"),
        (np.zeros((12, 5)), "nothing tells them apart"),
        (np.ones((12, 5)), "nothing tells them apart"),
        (sensible()[:1], "'m0' is the only subject"),
        (np.zeros((1, 1)), "'m0' is the only subject"),
    ],
)
def test_scores_that_tell_nobody_apart_are_refused(method, scores, message):
    with pytest.raises(MensuraError, match=message):
        stitch(table(scores), method=method)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("stderr", float("inf"), "60 values of stderr are impossible .m0 on b0: inf.*leave it out"),
        ("stderr", -0.1, "60 values of stderr are impossible"),
        ("stderr", 1.2, "divide percents by 100"),
        ("stderr", "small", "60 values of stderr are not numbers, the first is 'small'"),
        ("n", -5, "60 values of n are impossible"),
        ("n", float("inf"), "60 values of n are impossible"),
        ("chance", float("inf"), "chance inf and ceiling 1"),
        ("released", 2018, r"released holds numbers \(2018\), no dates; write YYYY-MM-DD"),
        ("released", 2018.5, "released holds numbers"),
    ],
)
def test_impossible_columns_are_refused_by_name(column, value, message):
    with pytest.raises(MensuraError, match=message):
        stitch(table(sensible(), **{column: value}))


@pytest.fixture(scope="module")
def plain():
    return stitch(table(sensible())).capabilities


@pytest.mark.parametrize(("column", "value"), [("stderr", float("nan")), ("stderr", 0.0), ("n", 0), ("chance", None)])
def test_unknown_errors_change_nothing(column, value, plain):
    given_none = stitch(table(sensible(), **{column: value})).capabilities
    assert plain.equals(given_none)


def test_chance_that_is_not_a_number_is_unknown():
    assert stitch(table(sensible(), chance=float("nan"))).floors["status"].unique().to_list() == ["estimated"]


def test_dates_are_read_as_dates():
    fit = stitch(table(sensible(), released=date(2018, 3, 1)))
    assert fit.dated["released"].unique().to_list() == [date(2018, 3, 1)]


def test_pure_noise_is_said_and_every_point_lies_in_its_interval():
    fit = stitch(table(np.random.default_rng(0).random((150, 10))))
    assert_inside(fit.capabilities, "capability")
    assert any("hardly tell subjects apart" in text for text in fit.warnings)
    assert not any("hardly tell" in text for text in stitch(table(sensible(subjects=40))).warnings)


def test_constant_benchmark_is_named():
    scores = np.column_stack([sensible(), np.full(12, 0.7)])
    warnings = stitch(table(scores)).warnings
    assert any("everyone scores the same on b5" in text for text in warnings)
    assert any("scores on b5 hardly depend on capability" in text for text in warnings)


def test_whole_numbers_among_fractions_are_numbers():
    mixed = {"model": ["a", "a", "b", "b"], "benchmark": ["x", "y", "x", "y"], "score": [0, 0.5, 1, 0.2]}
    assert stitch(mixed).data.y.tolist() == [0.0, 0.5, 1.0, 0.2]


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(MensuraError, match="scores: these columns do not make a table"):
        stitch({"model": ["a", "b"], "benchmark": ["x"] * 3, "score": [0.1] * 3})


rates = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1))


@pytest.mark.parametrize("method", ["hierarchical", "means"])
@settings(max_examples=25)
@given(data=st.data())
def test_calibration_is_finite_or_refuses(method, data):
    size = data.draw(st.integers(1, 12))
    values = data.draw(st.lists(rates, min_size=size, max_size=size))
    levels = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    items = [f"i{k}" for k in range(size)]
    made = None
    with suppress(MensuraError):
        made = mensura.calibrate(
            {"item": items, "rate": values},
            {"item": items, "dimension": ["MCr"] * size, "level": levels},
            method=method,
            draws=50,
        )
    if made is not None:
        lines = made.bases.drop_nulls("base")
        assert np.isfinite(lines.select(pl.selectors.float()).fill_null(0.0).to_numpy()).all()
        assert lines.filter((pl.col("base") < pl.col("low")) | (pl.col("base") > pl.col("high"))).is_empty()


@settings(max_examples=20)
@given(scores=st.lists(rates, min_size=1, max_size=4))
def test_iq_of_any_scores_lies_on_the_ruler(scores):
    benchmarks = ["hle", "gpqa_diamond", "critpt", "arc_agi_2"][: len(scores)]
    rows = {"benchmark": benchmarks, "score": scores}
    added = pl.DataFrame(rows).with_columns(
        model=pl.lit("mine"), unit=pl.lit("fraction"), released=pl.lit("2026-01-01")
    )
    evidence = mensura.load().add(added)
    composite = mensura.score_iq(evidence, method="published").composites.filter(pl.col("subject") == "mine")
    assert composite.height == 1
    assert composite["iq"].is_null().all() or composite["iq"].is_between(40, 200).all()
