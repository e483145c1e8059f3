"""IQs of fifteen models by the default method, digit by digit, so that no constant of it changes unnoticed.

The scripts in benchmarks/ measure coverage and errors of the method that gives these numbers. A change of the method
that is meant changes them too: write down the new ones, and say in the commit what became better.
"""

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.iq import hide_and_impute
from mensura.iq.doubt import shorten, weigh_scores
from mensura.iq.joint import draw_without_each
from mensura.iq.ladders import Metric
from mensura.iq.relatives import Relatives
from mensura.iq.validation import hidings


def near(*values, by=0.01):
    return pytest.approx(list(values), abs=by)


@pytest.mark.parametrize(
    ("subject", "values"),
    [
        ("gpt-6-astra", (139.545, 135.022, 144.503, 0.177)),
        ("claude-opus-4.8", (128.533, 127.600, 129.754, 0.0)),
        ("step-3.7-flash", (112.921, 107.496, 117.240, 1.442)),
        ("kimi-k2", (103.299, 100.250, 105.161, 0.0)),
        ("gemini-2.0-flash", (87.559, 77.114, 92.844, 0.0)),
        ("gpt-4.5", (86.687, 70.681, 102.621, 0.0)),
        ("claude-2", (79.118, 57.416, 93.264, 0.0)),
    ],
)
def test_composite_interval_and_what_selection_took_off(few_joint, subject, values):
    table = few_joint.composites.join(few_joint.exact, on="subject").filter(subject=subject)
    assert table.select("exact", "low", "high", "lowered").row(0) == near(*values)
    assert table["iq"][0] == round(values[0])


def test_estimates_of_a_model_of_two_scores_with_their_errors(few_joint):
    row = few_joint.matrix.row("gpt-4.5")
    iqs, errors = few_joint.filled.iqs[0, row, ::4], few_joint.filled.errors[0, row, ::4]
    assert iqs.tolist() == near(78.91, 96.73, 118.07, 77.29, 99.54, 86.37, 79.08, 91.74)
    assert errors.tolist() == near(15.80, 12.02, 14.27, 15.47, 13.65, 21.82, 9.36, 18.26)
    low, high = (end[row, ::4] for end in few_joint.drawn.interval("benchmarks"))
    assert low.tolist() == near(45.51, 79.45, 102.44, 21.56, 84.30, 63.53, 69.49, 66.49)
    assert high.tolist() == near(112.03, 116.23, 135.36, 122.35, 131.97, 132.44, 94.96, 141.05)


def test_corrections_from_models_with_the_same_gaps(few_joint):
    correction = few_joint.filled.correction
    shift = [0.182, 0, -0.745, -1.113, 0, 0, -1.474, 0, -0.459, -0.457, -3.087, -0.194, 0, 0, 0]
    factor = [1.169, 1, 1.077, 1.437, 1.477, 1, 1.576, 1.107, 1.595, 1, 1.029, 1.680, 1.222, 1.996, 1.130]
    assert correction.shift.tolist() == near(*shift, by=2e-3)
    assert correction.factor.tolist() == near(*factor, by=2e-3)
    assert correction.chosen.tolist() == near(*[0] * 10, -2.356, -0.307, 0, 0, 0, by=2e-3)


def test_dimensions_count_what_was_measured_inherited_and_estimated(few_joint):
    rows = few_joint.dimensions.filter(subject="kimi-k2").select(pl.exclude("subject"))
    assert rows.select("dimension", "measured", "inherited", "estimated", "status").rows() == [
        ("mathematical-reasoning", 2, 0, 3, "partly measured"),
        ("scientific-reasoning", 4, 0, 0, "measured"),
        ("abstract-reasoning", 0, 0, 3, "estimated"),
        ("app-building", 1, 0, 3, "estimated"),
        ("production-engineering", 3, 0, 4, "partly measured"),
        ("computer-use", 2, 0, 5, "partly measured"),
        ("reliability", 2, 0, 0, "measured"),
    ]
    assert rows["iq"].to_list() == near(118.314, 116.007, 86.359, 100.389, 108.217, 105.876, 87.930)
    assert rows["low"].to_list() == near(112.243, 113.068, 77.599, 83.880, 103.644, 99.475, 84.829)
    assert rows["high"].to_list() == near(124.801, 119.001, 90.448, 110.185, 115.207, 111.527, 91.771)


def test_ranks_and_what_a_reader_should_know(few_joint):
    assert few_joint.ranking["subject"].to_list()[:3] == ["gpt-6-astra", "claude-opus-4.8", "gpt-5.5"]
    assert few_joint.ranking.select("rank", "rank_low", "rank_high", "measured").rows()[:4] == [
        (1, 1, 1, 11),
        (2, 2, 3, 26),
        (3, 2, 3, 30),
        (4, 4, 4, 30),
    ]
    assert few_joint.not_ranked["subject"].to_list() == ["gpt-4.5"]
    assert (
        few_joint.heading == "IQ of 14 ranked models (method joint, ladders recut, primary scores); too new to rank: 1"
    )
    assert few_joint.warnings == (
        "gpt-6-astra: 1 score chosen by its maker, who profits; IQ 0.2 lower for that",
        "step-3.7-flash: 4 scores chosen by its maker, who profits; IQ 1.4 lower for that",
    )
    settings = few_joint.settings
    assert settings["weights"] == dict.fromkeys(few_joint.matrix.dimensions, pytest.approx(1 / 7))
    assert (settings["imputation"], settings["ladders"], settings["source"]) == ("joint", "recut", None)
    assert (settings["draws"], settings["seed"], settings["mensura"]) == (40, 0, mensura.__version__)
    assert settings["evidence"] == few_joint.evidence.edition


def test_the_tree_of_a_model_names_score_source_date_and_ladder(few_joint):
    lines = str(few_joint.explain("claude-2")).splitlines()
    assert lines[0] == (
        "Claude 2.0: 79 (57.4 to 93.3) [Provisional] mean of 7 dimensions, 79.12 before rounding; of 32 benchmarks "
        "4 measured, 0 inherited, 28 estimated; released 2023-07-11, ladders recut"
    )
    assert lines[1] == "├─ Mathematical Reasoning: 75.8 (44.2 to 98.4) [estimated] mean of 5 benchmarks, 1 measured"
    assert lines[2] == (
        "│  ├─ frontiermath_t4: 70.1 (12.0 to 102.8) [joint] missing; estimated from the model's 4 measured benchmarks"
    )
    assert lines[6] == (
        "│  └─ aime: 81.2 (77.0 to 84.9) [source] score 0 percent (aa0409, 2026-04-09), between IQ 70 = -15 and "
        "IQ 85 = 5"
    )


def test_a_fold_that_is_hidden_comes_back_with_its_error(few_joint, monkeypatch):
    """Two of ten parts: what was hidden, what came out, and the error that was claimed."""
    matrix = few_joint.matrix
    parts = list(hidings(matrix, "fold", 3))
    cells = np.concatenate(parts)
    assert len(np.unique(cells, axis=0)) == len(cells) == matrix.measured.sum()
    monkeypatch.setattr("mensura.iq.validation.hidings", lambda *_: parts[:1])
    steps = []
    outcomes = hide_and_impute(few_joint, by="fold", seed=3, advance=lambda: steps.append(1))
    first = outcomes.row(0, named=True)
    assert (len(steps), outcomes.height) == (1, len(parts[0]))
    assert (first["subject"], first["benchmark"]) == ("gpt-5.4", "swe_bench_pro")
    assert (first["dimension"], first["step"]) == ("production-engineering", "joint")
    assert [first[name] for name in ("truth", "imputed", "error", "expected")] == near(133.075, 127.359, -5.716, 12.950)


@pytest.mark.parametrize("by", ["score", "dimension"])
def test_what_is_hidden_together(few_joint, by):
    matrix = few_joint.matrix
    parts = list(hidings(matrix, by))
    cells = np.concatenate(parts)
    assert len(np.unique(cells, axis=0)) == len(cells) == matrix.measured.sum()
    groups = [{(row, matrix.dimension_of[column]) for row, column in part.tolist()} for part in parts]
    assert all(len(group) == 1 for group in groups)
    if by == "score":
        assert {len(part) for part in parts} == {1}
    else:
        assert len(parts) == len(set.union(*groups)), "each dimension of a model once"


def test_a_model_that_is_entered_anew_keeps_what_was_measured_and_estimates_each_score_hidden(few_joint):
    matrix = few_joint.matrix
    row = matrix.row("claude-2")
    own = np.flatnonzero(matrix.measured[row])
    drawn = draw_without_each(matrix, row, own)
    assert drawn.shape == (5, 32)
    assert drawn[0, own] == pytest.approx(matrix.iqs[row, own])
    for case, column in enumerate(own, start=1):
        others = own[own != column]
        assert drawn[case, others] == pytest.approx(matrix.iqs[row, others])
        assert drawn[case, column] != pytest.approx(matrix.iqs[row, column])
    assert drawn[1:, own].diagonal().tolist() == near(86.015, 92.046, 92.998, 77.854)
    assert drawn[:, ~matrix.measured[row]].mean(axis=1).tolist() == near(77.429, 79.422, 77.584, 77.280, 76.251)


def test_a_ladder_moved_moves_what_is_measured_and_what_is_read_off_it(few_joint):
    matrix = few_joint.matrix
    column = matrix.benchmarks.index("hle")
    moved = matrix.with_ladder_moved(column, 5.0).with_ladder_moved(column, 2.0)
    measured = matrix.measured[:, column]
    assert moved.iqs[measured, column] == pytest.approx(np.clip(matrix.iqs[measured, column] + 7, 70, 160))
    odds = np.linspace(-2, 2, 5)[:, None] * np.ones(32)
    gap = moved.read(odds) - matrix.read(odds)
    assert gap[:, column] == pytest.approx(
        np.clip(matrix.read(odds)[:, column] + 7, 70, 160) - matrix.read(odds)[:, column]
    )
    assert not np.delete(gap, column, axis=1).any()
    assert matrix.shift[column] == 0.0, "the matrix itself stays"


def test_past_its_ends_a_ladder_goes_on_as_steep_as_its_last_step_for_three_more(few_joint):
    matrix = few_joint.matrix
    column = matrix.benchmarks.index("hle")
    ladder, metric = matrix.ladders[column], matrix.metrics[column]
    rungs = metric.log_odds(np.array(ladder.scores))
    step = rungs[-1] - rungs[-2]
    at = np.repeat((rungs[-1] + step * np.array([0.0, 1.0, 3.0, 9.0]))[:, None], 32, axis=1)
    assert matrix.read(at, beyond=True)[:, column] == pytest.approx([160, 175, 205, 205])
    assert matrix.read(at)[:, column] == pytest.approx([160] * 4)
    low = np.repeat((rungs[0] - (rungs[1] - rungs[0]) * np.array([1.0, 4.0]))[:, None], 32, axis=1)
    assert matrix.read(low, beyond=True)[:, column] == pytest.approx([55, 25])


def test_a_part_of_the_benchmarks_keeps_their_columns(few_joint):
    matrix = few_joint.matrix
    columns = np.array([matrix.benchmarks.index(name) for name in ("hle", "scicode", "ifbench")])
    part = matrix.keep(columns)
    assert part.benchmarks == ("hle", "scicode", "ifbench")
    assert part.dimensions == ("scientific-reasoning", "reliability") and part.dimension_of.tolist() == [0, 0, 1]
    assert part.shares.tolist() == pytest.approx([0.25, 0.25, 0.5])
    for name in ("scores", "iqs"):
        assert getattr(part, name) == pytest.approx(getattr(matrix, name)[:, columns], nan_ok=True)
    assert [ladder.benchmark for ladder in part.ladders] == list(part.benchmarks)


def test_a_leap_past_all_others_is_shortened_and_still_a_leap():
    """Three logits past the next: the leap counts as L ln(1 + 3 / L), and the order stays."""
    odds = np.array([[0.0, np.nan], [1.0, np.nan], [0.5, 2.0], [4.0, np.nan]])
    short = shorten(odds)
    leaps = short[3, 0] - 1.0, short[0, 0] - 0.5
    assert 0 < leaps[0] < 3 and -0.5 < leaps[1] < 0
    half = shorten(np.array([[0.0], [1.0], [0.5], [2.5]]))[3, 0] - 1.0
    assert half < leaps[0] < 2 * half, "twice the leap is less than twice the news"
    assert (short[1, 0], short[2, 0], short[2, 1]) == (1.0, 0.5, 2.0) and np.isnan(short[0, 1])


def test_an_unsure_score_outside_the_composite_is_matched_with_what_is_predicted_of_it():
    """A perfect score of two: the likelihood is wide, and a prediction below pulls less than a sure score would."""
    doubt = weigh_scores(
        np.array([[50.0, 60.0], [40.0, 100.0], [60.0, 55.0]]),
        np.array([[np.nan, 500.0], [np.nan, 2.0], [np.nan, 500.0]]),
        [Metric("percent")] * 2,
        [None, None],
        [None, None],
    )
    relatives = Relatives(("a", "b"), doubt.odds, doubt)
    rng = np.random.default_rng(0)
    predicted = rng.normal([0.0, 1.0], [0.5, 2.0], (400, 2))
    reading, variance = relatives.reading(1, np.array([0, 1]), predicted)
    assert (variance[0] == 0) and variance[1] > 0.1
    _, tighter = relatives.reading(1, np.array([1]), predicted[:, 1:] * 0.1)
    assert reading[0] == pytest.approx(shorten(doubt.odds[:, :1])[1, 0])
    mean, spread = doubt.among(np.array([[False, False], [False, True], [False, False]])).match(
        predicted[:, 1:].mean(axis=0), predicted[:, 1:].var(axis=0)
    )
    alone = shorten(np.array([[doubt.odds[0, 1]], [mean[0]], [doubt.odds[2, 1]]]))[1, 0]
    assert (reading[1], variance[1]) == pytest.approx((alone, spread[0]))
    assert tighter[0] != pytest.approx(variance[1])
    sure, none = Relatives(("a", "b"), doubt.odds).reading(1, np.array([0, 1]), predicted)
    assert sure.tolist() == doubt.odds[1].tolist() and none.tolist() == [0, 0], "where nothing is said of doubt"
