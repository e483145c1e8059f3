"""Bad input: each fault has a message with what, where and the way out."""

import json

import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.horizon.reading import read_data


def change(times, **columns):
    return times.with_columns(**columns)


def test_seconds_under_minutes_are_asked_about(runs, times):
    with pytest.raises(
        MensuraError, match=r"shortest task of the table takes 3600 minutes, a day or more.*divide by 60"
    ):
        mensura.fit_horizons(runs, change(times, minutes=pl.col("minutes") * 3600))


@pytest.mark.parametrize(
    ("factor", "message"),
    [(60.0, r"longest task of the table takes .* minutes, 60 days or more.*divide by 60"), (1 / 60, "multiply by 60")],
)
def test_another_unit_shows_at_one_end_of_a_wide_range(runs, factor, message):
    """Half a second to three days, as benchmarks have: in seconds some tasks take half a year."""
    tasks = runs["task"].unique().sort()
    wide = pl.DataFrame({"task": tasks}).with_columns(minutes=2.0 ** (19 * pl.int_range(pl.len()) / pl.len() - 7.0))
    mensura.fit_horizons(runs, wide)
    with pytest.raises(MensuraError, match=message):
        mensura.fit_horizons(runs, change(wide, minutes=pl.col("minutes") * factor))


def test_tiny_times_are_asked_about(runs, times):
    with pytest.raises(MensuraError, match=r"longest task .* seconds, faster than people; expected minutes"):
        mensura.fit_horizons(runs, change(times, minutes=pl.col("minutes") / 1e6))


@pytest.mark.parametrize("wrong", [0.0, -5.0])
def test_zero_and_negative_times_are_named(runs, times, wrong):
    bad = change(times, minutes=pl.when(pl.col("task") == "t3").then(wrong).otherwise("minutes"))
    with pytest.raises(MensuraError, match=rf"task 't3' takes {wrong:g} minutes; expected a time above 0"):
        mensura.fit_horizons(runs, bad)


def test_outcomes_in_words_and_percentages_are_read_and_others_named_with_their_task(runs, times):
    words = pl.col("score").replace_strict({1.0: "Yes", 0.0: "0%"})
    assert read_data(change(runs, score=words), times).runs.equals(read_data(runs, times).runs)
    with pytest.raises(MensuraError, match="score of task 't0' is 'maybe'; expected a number"):
        read_data(change(runs, score=pl.lit("maybe")), times)


def test_tasks_without_partner_are_counted(runs, times):
    more = pl.concat([times.head(40), pl.DataFrame({"task": ["unknown"], "minutes": [3.0]})])
    notes = read_data(runs, more).notes
    assert "1 task with a time but no run: left out" in notes
    assert "8 tasks with runs but no time: left out" in notes


def test_runs_and_times_without_a_common_task(runs, times):
    with pytest.raises(MensuraError, match="share no task"):
        mensura.fit_horizons(runs, change(times, task=pl.col("task") + "x"))


def test_one_task_only(runs, times):
    with pytest.raises(MensuraError, match="only one task"):
        mensura.fit_horizons(runs, times.head(1))


def test_duplicates_beside_trials(runs, times):
    twice = pl.concat([runs, runs.head(1)]).with_columns(trials=pl.lit(1))
    with pytest.raises(MensuraError, match=r"short has two rows for task 't0'"):
        mensura.fit_horizons(twice, times)


def test_further_attempts_are_counted_without_the_first(runs, times):
    notes = read_data(pl.concat([runs, runs.head(1)]), times).notes
    assert notes == ("further attempts at the same task, pooled: 1 row",)


def test_times_without_rows_are_named(runs, times):
    with pytest.raises(MensuraError, match="no task has a time; expected rows of task, minutes"):
        mensura.fit_horizons(runs, times.head(0))


@pytest.mark.slow
def test_two_times_of_one_kind_need_a_person(runs, times):
    twice = pl.concat([times, times.head(1)])
    with pytest.raises(MensuraError, match=r"task 't0' has 2 times of one kind \(measured\)"):
        mensura.fit_horizons(runs, twice)
    named = twice.with_columns(person=pl.int_range(pl.len()).cast(pl.String))
    assert mensura.fit_horizons(runs, named).tasks.height == 48


def test_percentages_are_refused(runs, times):
    with pytest.raises(MensuraError, match="Divide percentages by 100"):
        mensura.fit_horizons(runs.with_columns(score=pl.col("score") * 100), times)


def test_missing_columns_are_named(times):
    with pytest.raises(MensuraError, match="missing column 'subject'"):
        mensura.fit_horizons({"task": ["a"], "score": [1]}, times)
    with pytest.raises(MensuraError, match="no column minutes"):
        mensura.fit_horizons({"subject": ["a"], "task": ["b"], "score": [1]}, {"task": ["b"], "length": [3]})
    with pytest.raises(MensuraError, match="times: none given"):
        mensura.fit_horizons({"subject": ["a"], "task": ["b"], "score": [1]})


def test_attempts_split_into_times_bounds_and_failures(runs):
    attempts = pl.DataFrame(
        {
            "task": ["t0", "t1", "t2", "t3"],
            "person": ["p"] * 4,
            "minutes": [3.0, 10.0, 0.0, 99.0],
            "solved": [True, False, False, False],
            "gave_up": [False, False, False, True],
        }
    )
    data = read_data(runs, attempts)
    assert dict(data.times.select("task", "kind").iter_rows()) == {"t0": "measured", "t3": "at least"}
    assert data.attempts.height == 3
    assert "1 attempt of 0 minutes: left out" in data.notes


def test_kinds_follow_the_words_of_how(runs):
    hows = {
        "measured": "measured",
        "expert estimate": "expert estimate",
        "first solve in a contest": "first solve",
        "at least (gave up)": "at least",
        "mean of three experts' recorded times": "measured",
        "middle of the annotators' bucket": "range",
        "language model": "language model",
    }
    times = pl.DataFrame({"task": [f"t{i}" for i in range(len(hows))], "minutes": 5.0, "how": list(hows)})
    data = read_data(runs, times)
    assert data.times["kind"].to_list() == list(hows.values())
    assert data.times["people"].to_list()[4] == 3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"minutes": float("inf")}, "minutes of task 't0' is inf; expected a finite time"),
        ({"low": 9.0, "high": 3.0}, "high of task 't0' is 3; expected an end that is not below low"),
        ({"people": -1}, "people of task 't0' is -1; expected 0 or more"),
        ({"chance": 1.0}, "chance of task 't0' is 1; expected a share"),
    ],
)
def test_figures_that_no_time_can_have_are_named(runs, times, columns, message):
    with pytest.raises(MensuraError, match=message):
        mensura.fit_horizons(runs, times.with_columns(**{name: pl.lit(value) for name, value in columns.items()}))


def test_a_run_without_a_name_is_refused(runs, times):
    with pytest.raises(MensuraError, match="a run has no subject"):
        mensura.fit_horizons(runs.with_columns(subject=pl.lit(None, pl.String)), times)


@pytest.mark.slow
def test_ranges_alone_need_no_minutes(runs, times):
    ranges = times.select("task", low=pl.col("minutes") / 2, high=pl.col("minutes") * 2)
    assert mensura.fit_horizons(runs, ranges).shown["p50"].null_count() == 0


def test_an_evaluation_log_gives_runs_whose_task_is_a_suite(tmp_path):
    samples = [{"id": f"q{n}", "epoch": 1, "scores": {"match": {"value": "CI"[n % 2]}}} for n in range(4)]
    head = {"task": "pick", "model": "maker/model", "created": "2026-01-01T00:00:00", "dataset": {}, "config": {}}
    log = {"version": 2, "status": "success", "eval": head, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    data = read_data(tmp_path / "log.json", {"task": [f"q{n}" for n in range(4)], "minutes": [1.0, 2.0, 4.0, 8.0]})
    assert data.runs["suite"].unique().to_list() == ["pick"]
    assert sorted(data.runs["task"]) == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize(("column", "per_minute"), [("hours", 1 / 60), ("seconds", 60.0)])
def test_a_column_named_after_another_unit_is_converted_and_noted(runs, times, column, per_minute):
    other = times.select("task", (pl.col("minutes") * per_minute).alias(column))
    data = read_data(runs, other)
    assert data.times["minutes"].to_list() == pytest.approx(times["minutes"].to_list())
    assert any(f"{column} read as minutes" in note for note in data.notes)


def test_answers_of_persons_with_response_times_are_times(runs):
    """A table of responses: person, item, answer and seconds; wrong answers set no time."""
    rows = [(f"p{person}", f"t{task}", int(person > 0), 60.0 * (task + 1)) for person in range(3) for task in range(48)]
    data = read_data(runs, pl.DataFrame(rows, schema=["id", "item", "resp", "rt"], orient="row"))
    assert (data.times.height, data.attempts.height) == (2 * 48, 3 * 48)
    assert data.times.filter(task="t3")["minutes"].to_list() == [4.0, 4.0]


@pytest.mark.parametrize("task", [None, " "])
def test_a_run_without_a_task_is_refused(runs, times, task):
    nameless = runs.with_columns(task=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(task)).otherwise("task"))
    with pytest.raises(MensuraError, match="a run has no task; expected a name"):
        mensura.fit_horizons(nameless, times)


def test_a_pool_of_persons_with_response_times_is_runs_and_times(tmp_path):
    """The time is that of persons who were right; who was wrong set none; an answer that was not given is no run."""
    answers = pl.DataFrame(
        {
            "person": ["p1", "p1", "p1", "p2", "p2", "p2"],
            "item": ["a", "b", "c"] * 2,
            "correct": [1, 1, 0, 1, None, 1],
            "rt": [30.0, 90.0, 100.0, 60.0, None, 240.0],
        }
    )
    pl.DataFrame({"item": ["a", "b", "c"]}).write_csv(tmp_path / "items.csv")
    answers.write_csv(tmp_path / "responses.csv")
    data = read_data(tmp_path)
    assert data.runs.sort("subject", "task")["score"].to_list() == [1, 1, 0, 1, 1]
    assert data.times.sort("task", "who")["minutes"].to_list() == [0.5, 1.0, 1.5, 4.0]
    answers.drop("rt").write_csv(tmp_path / "responses.csv")
    with pytest.raises(MensuraError, match="no column minutes"):
        read_data(tmp_path)


def test_two_times_of_one_kind_are_asked_about_and_a_person_tells_them_apart(runs, times):
    twice = pl.concat([times, times.head(1)])
    with pytest.raises(MensuraError, match=r"task 't0' has 2 times of one kind \(measured\); expected one"):
        read_data(runs, twice)
    named = twice.with_columns(person=pl.int_range(pl.len()).cast(pl.String))
    assert read_data(runs, named).times.height == 49


def test_what_is_left_out_or_replaced_is_noted(runs, times):
    """A run without a score, and a summary of single attempts."""
    some = runs.with_columns(score=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("score"))
    attempts = times.with_columns(person=pl.lit("anna"))
    summaries = times.head(2).with_columns(person=pl.lit(None, pl.String))
    data = read_data(some, pl.concat([attempts, summaries]))
    assert "1 run without a score: left out" in data.notes
    assert "2 summary times replaced by the single times behind it" in data.notes
    assert (data.runs.height, data.times.height) == (runs.height - 1, 48)
