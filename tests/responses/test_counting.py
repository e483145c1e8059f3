"""From outcomes to counts: repeats, duplicate runs, gaps and partial credit, each by a stated rule."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.answers import AnswerLog, WideAnswers
from mensura.responses import FitOptions, fit_responses, read_responses
from mensura.responses.counting import CountRules, count_outcomes, count_wide, join_parts
from mensura.responses.irt.shards import dense
from tests.responses.conftest import as_long, draw


def test_more_repeats_than_a_byte_holds_keep_their_share():
    table = read_responses({"subject": ["a", "b"], "item": ["x", "x"], "correct": [0.5, 1.0], "n": [1000, 1]})
    assert counts(table, "a")["x"] == (128.0, 255)
    assert table.log["rule"].to_list() == ["counted as k of n", "scaled to 255 trials"]


def test_repeats_of_several_runs_add_up_to_what_a_byte_holds_and_beyond():
    runs = [{"subject": ["a", "b"], "item": ["x", "x"], "correct": [0.5, 1.0], "n": [n, 1]} for n in (200, 54, 146)]
    kept = read_responses(runs[:2])
    assert (counts(kept, "a")["x"], counts(kept, "b")["x"]) == ((127.0, 254), (2.0, 2))
    scaled = read_responses(runs)
    assert counts(scaled, "a")["x"] == (128.0, 255)
    assert "items repeated more than 255 times" in scaled.log["what"].to_list()
    averaged = read_responses(runs, rules=CountRules(repeats="average"))
    assert (counts(averaged, "a")["x"], counts(averaged, "b")["x"]) == ((pytest.approx(0.5, abs=2e-3), 1), (1.0, 1))


def test_repeats_that_only_echo_are_noticed_and_averaged():
    truth = draw(150, 35, seed=5)
    echo = pl.concat([as_long(truth.wide)] * 4)
    said = fit_responses(echo).checks.filter(pl.col("check") == "repeats")
    assert said["value"][0] > 0.8
    assert "use repeats 'average'" in said["said"][0]
    averaged = fit_responses(echo, rules=CountRules(repeats="average"), options=FitOptions(checks=False))
    alone = fit_responses(truth.wide, options=FitOptions(checks=False))
    assert np.allclose(averaged.subjects["se"], alone.subjects["se"], atol=1e-4)


def test_as_many_repeats_as_a_byte_holds_are_kept_as_they_are():
    table = read_responses({"subject": ["a", "b"], "item": ["x", "x"], "correct": [100 / 255, 1.0], "n": [255, 1]})
    assert counts(table, "a")["x"] == (pytest.approx(100), 255)
    assert table.log["rule"].to_list() == ["counted as k of n"]


def long(*rows, group="g"):
    """Long answers: subject, item, value."""
    table = pl.DataFrame(rows, schema={"subject": pl.String, "item": pl.String, "value": pl.Float64}, orient="row")
    return table.with_columns(group=pl.lit(group), n=pl.lit(1, pl.Int64))


def dense_counts(part):
    """Right answers and trials of a part by subject and item."""
    right, trials = (dense(one) for one in (part.right, part.trials))
    cells = (
        (s, i, float(right[a, b]), float(trials[a, b]))
        for a, s in enumerate(part.subjects)
        for b, i in enumerate(part.items)
    )
    return {(s, i): (k, n) for s, i, k, n in cells if n}


@pytest.mark.parametrize(
    ("partial", "right"), [("share", [0.5, 0.4, 1.0]), ("full", [0.0, 0.0, 1.0]), ("half", [1.0, 0.0, 1.0])]
)
def test_partial_credit_is_kept_cut_or_rounded(partial, right):
    log = AnswerLog()
    part = count_outcomes([long(("a", "x", 0.5), ("a", "y", 0.4), ("a", "z", 1.0))], CountRules(partial), log)
    assert [k for k, _ in dense_counts(part).values()] == pytest.approx(right)
    assert log.frame().rows()[0][:2] == ("outcomes with partial credit", 2)


@pytest.mark.parametrize(
    ("missing", "counts"),
    [("ignore", {("a", "x"): (1.0, 1.0)}), ("wrong", {("a", "x"): (1.0, 1.0), ("a", "y"): (0.0, 1.0)})],
)
def test_a_gap_is_left_out_or_wrong_in_long_and_in_wide_tables_alike(missing, counts):
    rules = CountRules(missing=missing)
    assert dense_counts(count_outcomes([long(("a", "x", 1.0), ("a", "y", None))], rules, AnswerLog())) == counts
    wide = WideAnswers(pl.Series(["a"]), ["g"], ["x", "y"], np.array([[1.0, np.nan]], dtype=np.float32))
    assert dense_counts(count_wide(wide, rules, AnswerLog())) == counts


@pytest.mark.parametrize(("repeats", "cell"), [("count", (3.0, 4.0)), ("average", (0.75, 1.0))])
def test_repeats_are_trials_or_one_share(repeats, cell):
    rows = [("a", "x", value) for value in (1.0, 0.0, 1.0, 1.0)]
    part = count_outcomes([long(*rows[:2]), long(*rows[2:])], CountRules(repeats=repeats), AnswerLog())
    assert dense_counts(part) == {("a", "x"): cell}


def test_two_runs_are_pooled_or_one_of_them_counts():
    def joined(duplicates):
        rules, log = CountRules(duplicates=duplicates), AnswerLog()
        runs = [
            count_outcomes([long(("a", "x", value), ("a", f"own{value:g}", 1.0))], rules, log) for value in (1.0, 0.0)
        ]
        table = join_parts(runs, rules, log)
        place = table.items["item"].to_list().index("x")
        trials = 1.0 if table.trials is None else dense(table.trials)[0, place]
        return float(dense(table.right)[0, place]), float(trials)

    assert [joined(rule) for rule in ("pool", "first", "last")] == [(1, 2), (1, 1), (0, 1)]
    with pytest.raises(MensuraError, match="1 outcomes are there in two runs; choose duplicates pool, first or last"):
        joined("refuse")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([long(("a", "x", 1.0)), long(("a", "y", 1.0), group="h")], "subject 'a' is in two groups"),
        ([long(("a", "x", 2.0))], "'correct' holds 2; expected outcomes from 0"),
        ([long(("a", "x", -0.5))], "'correct' holds -0.5; expected outcomes from 0"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(answers, message):
    with pytest.raises(MensuraError, match=message):
        count_outcomes(answers, CountRules(), AnswerLog())


def test_an_unknown_rule_is_refused_with_those_that_are():
    with pytest.raises(MensuraError, match="partial: got 'some'; expected one of share, full, half"):
        CountRules(partial="some")
    with pytest.raises(MensuraError, match="nothing was given; give files, tables or pools"):
        join_parts([], CountRules(), AnswerLog())


def counts(table, subject):
    row = table.subjects["subject"].to_list().index(subject)
    trials = np.ones(table.right.shape) if table.trials is None else table.trials
    return {item: (float(table.right[row, at]), int(trials[row, at])) for at, item in enumerate(table.items["item"])}
