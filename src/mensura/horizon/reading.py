"""Read runs and human times: tables, METR's runs, evaluation logs; each fault is named with the way out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError, counted, listed_names
from mensura.core.frames import first_row, says_yes
from mensura.horizon.kinds import LEAST, MEASURED, kind_of, people_behind
from mensura.intake.answers import WideAnswers, read_answers
from mensura.intake.columns import NAMES, find_columns, with_numbers
from mensura.intake.samples import is_sample_log
from mensura.intake.tables import as_frame, find_table, read_table

RUN_NAMES, TIME_NAMES, SCORE_NAMES = (NAMES[table] for table in ("runs", "times", "totals"))
"""Columns of runs, times and total scores by meaning; METR's fields are among them."""
A_DAY = 24 * 60.0
LONGEST, SHORTEST = 60 * A_DAY, 0.2 / 60
"""Minutes that no task of a benchmark takes, or falls below: 60 days, and a fifth of a second."""
_UNITS = {"hours": 60.0, **dict.fromkeys(("seconds", "rt", "response_time"), 1 / 60)}
"""Minutes of each unit that a column may be named after; response times of persons are in seconds."""
ALL = "all"
"""The suite of tables that name none, and of results over all suites."""


@dataclass(frozen=True)
class HorizonData:
    """Runs (subject, suite, task, score, trials, family) and times (suite, task, minutes, kind, …) that fit together.

    ``attempts``: attempts of people with their outcome. ``notes``: each row that takes no part, and why.
    """

    runs: pl.DataFrame
    times: pl.DataFrame
    attempts: pl.DataFrame
    notes: tuple[str, ...]


def read_data(runs: Any, times: Any = None, *, score: str | None = None) -> HorizonData:
    """Read runs and the times of their tasks, and match them by suite and task."""
    notes: list[str] = []
    tables = [] if times is None else list(times) if isinstance(times, list | tuple) else [times]
    if isinstance(runs, str | Path) and (file := find_table(Path(runs), "responses")):
        answers = read_table(file).drop_nulls("correct")
        runs, tables = answers.rename({"person": "subject"}), [answers.rename({"correct": "solved"}), *tables]
    frame, within = read_runs(runs, score=score, notes=notes)
    parts = [read_times(table, notes) for table in tables]
    if not parts and within is not None:
        parts = [(_checked(within, "runs", notes), _no_attempts())]
    if not parts:
        raise MensuraError(
            "times: none given; expected a table with task and minutes. Add --times FILE, or a column human_minutes"
        )
    observed = _without_summaries(pl.concat([part for part, _ in parts], how="diagonal_relaxed"), notes)
    if not observed.height:
        raise MensuraError("times: no task has a time; expected rows of task, minutes. Add them")
    frame, observed = _matched(frame, observed, notes)
    return HorizonData(frame, observed, pl.concat([part for _, part in parts]), tuple(notes))


def read_runs(runs: Any, *, notes: list[str], score: str | None = None) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return runs with one row per subject, suite and task, and the times that they contain, if any."""
    name = str(runs) if isinstance(runs, str | Path) else "runs"
    table = _from_log(runs) if _is_log(runs) else as_frame(runs, name=name)
    chosen = named_columns(
        table, RUN_NAMES, ("subject", "task", "score"), name, {} if score is None else {"score": score}
    )
    frame = read_numbers(table, chosen, ("score", "trials", "minutes", "chance"), name)
    suite = pl.col("suite").cast(pl.String) if chosen["suite"] else pl.lit(ALL)
    frame = frame.with_columns(suite.alias("suite"), pl.col("subject", "task").cast(pl.String))
    family = pl.col("family").cast(pl.String) if chosen["family"] else pl.col("suite")
    trials = pl.col("trials").fill_null(1) if chosen["trials"] else pl.lit(1)
    frame = frame.with_columns(family.alias("family"), trials.cast(pl.Float64).alias("trials"))
    empty = frame.filter(pl.col("score").is_null())
    if empty.height:
        notes.append(f"{counted(empty.height, 'run')} without a score: left out")
    frame = frame.filter(pl.col("score").is_not_null())
    for field in ("subject", "task"):
        if frame[field].null_count() or frame[field].str.strip_chars().eq("").any():
            raise MensuraError(f"{name}: a run has no {field}; expected a name. Fill the cell or remove the row")
    if not frame.height:
        raise MensuraError(f"{name}: no run with a score; expected rows of subject, task, score")
    if row := first_row(frame.filter(~pl.col("score").is_between(0, 1) | (pl.col("trials") <= 0))):
        raise MensuraError(
            f"{name}: {row['subject']} on {row['task']!r} has score {row['score']:g} in {row['trials']:g} trials; "
            "expected a share from 0 to 1 and trials above 0. Divide percentages by 100"
        )
    times = None
    if chosen["minutes"]:
        how = pl.col("how").cast(pl.String) if chosen["how"] else pl.lit(MEASURED)
        times = frame.select("suite", "task", "minutes", how.alias("how")).unique(maintain_order=True)
    return _pooled_runs(frame, name, one_each=chosen["trials"] is not None, notes=notes), times


def read_times(times: Any, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the times of tasks by kind, and the attempts of people (suite, task, minutes, solved)."""
    name = str(times) if isinstance(times, str | Path) else "times"
    table = as_frame(times, name=name)
    chosen = named_columns(table, TIME_NAMES, ("task",), name, {})
    if not chosen["minutes"] and not (chosen["low"] or chosen["high"]):
        raise MensuraError(
            f"{name}: no column minutes; it has {', '.join(table.columns)}. Add minutes, or low and high"
        )
    frame = read_numbers(table, chosen, ("minutes", "people", "low", "high", "chance"), name)
    if (unit := (chosen["minutes"] or "").lower()) in _UNITS:
        notes.append(f"{name}: {unit} read as minutes, times {_UNITS[unit]:.3g}")
        frame = frame.with_columns(pl.col("minutes") * _UNITS[unit])
    suite = pl.col("suite").cast(pl.String) if chosen["suite"] else pl.lit(None, pl.String)
    how = pl.col("how").cast(pl.String) if chosen["how"] else pl.lit(MEASURED)
    frame = frame.with_columns(suite.alias("suite"), how.alias("how"), pl.col("task").cast(pl.String))
    attempts = _no_attempts()
    if chosen["solved"]:
        frame, attempts = _split_attempts(frame, bool(chosen["gave_up"]), notes)
    return _checked(frame, name, notes), attempts


def _split_attempts(frame: pl.DataFrame, has_gave_up: bool, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the times among attempts: solved ones, and lower bounds of those who gave up; and all attempts."""
    gave_up = says_yes("gave_up") if has_gave_up else pl.lit(False)
    frame = frame.with_columns(solved=says_yes("solved"), gave_up=gave_up)
    zero = frame.filter(pl.col("minutes") <= 0).height
    if zero:
        notes.append(f"{counted(zero, 'attempt')} of 0 minutes: left out")
    frame = frame.filter(pl.col("minutes") > 0)
    failed = frame.filter(~pl.col("solved") & ~pl.col("gave_up")).height
    if failed:
        notes.append(f"{counted(failed, 'attempt')} unsolved without giving up: failures that set no time")
    attempts = frame.select("suite", "task", "minutes", "solved")
    timed = frame.filter(pl.col("solved") | pl.col("gave_up")).with_columns(
        how=pl.when("solved").then(pl.lit(MEASURED)).otherwise(pl.lit(LEAST))
    )
    return timed, attempts


def _checked(frame: pl.DataFrame, name: str, notes: list[str]) -> pl.DataFrame:
    """Refuse times that cannot be minutes, name duplicates, and give each row its kind."""
    optional = {**dict.fromkeys(("minutes", "people", "low", "high", "chance"), pl.Float64), "who": pl.String}
    missing = {column: pl.lit(None, dtype) for column, dtype in optional.items() if column not in frame.columns}
    frame = frame.with_columns(**missing)
    for column, rule, rest in (
        ("minutes", pl.col("minutes").is_finite(), "a finite time"),
        ("high", pl.col("high") >= pl.coalesce("low", "high"), "an end that is not below low"),
        ("people", pl.col("people") >= 0, "0 or more"),
        ("chance", pl.col("chance").is_between(0, 0.99), "a share from 0 to 0.99"),
    ):
        odd = frame.filter(~rule)
        if odd.height:
            task, value = odd.select("task", column).row(0)
            raise MensuraError(f"{name}: {column} of task {task!r} is {value:g}; expected {rest}. Correct it")
    empty = pl.col("minutes").is_null() & pl.col("low").is_null() & pl.col("high").is_null()
    count = frame.filter(empty).height
    if count:
        notes.append(f"{counted(count, 'task')} without a time: left out")
    frame = frame.filter(~empty)
    wrong = frame.filter(pl.min_horizontal("minutes", "low", "high") <= 0)
    if wrong.height:
        row = wrong.row(0, named=True)
        value = row["minutes"] if row["minutes"] is not None and row["minutes"] <= 0 else row["low"]
        raise MensuraError(
            f"{name}: task {row['task']!r} takes {value:g} minutes; expected a time above 0. Correct or remove "
            f"{counted(wrong.height, 'such row')}"
        )
    frame = frame.with_columns(
        kind_of().alias("kind"),
        people_behind().alias("people"),
        pl.col("who").cast(pl.String),
        pl.col("minutes").cast(pl.Float64),
    )
    again = frame.filter(pl.struct("suite", "task", "kind", "who").is_duplicated())
    if again.height:
        row = again.row(0, named=True)
        raise MensuraError(
            f"{name}: task {row['task']!r} has {again.filter(pl.col('task') == row['task']).height} times of one kind "
            f"({row['kind']}); expected one. Keep one row, or add a column person or estimator that differs"
        )
    _ask_about_units(frame, name)
    return frame.select("suite", "task", "minutes", "kind", "how", "who", "people", "low", "high", "chance")


def _ask_about_units(frame: pl.DataFrame, name: str) -> None:
    """Stop where a column of minutes looks like another unit."""
    timed = frame.drop_nulls("minutes").group_by("suite", maintain_order=True)
    for suite, count, low, high in timed.agg(pl.len(), pl.min("minutes").alias("low"), pl.max("minutes")).rows():
        label = f"suite {suite!r}" if suite else "the table"
        for is_odd, which, time, other in (
            (low >= A_DAY, "shortest", f"{low:g} minutes, a day or more", "seconds, divide"),
            (high >= LONGEST, "longest", f"{high:g} minutes, 60 days or more", "seconds, divide"),
            (high < 1 / 60, "longest", f"{high * 60:.2g} seconds, faster than people", "hours, multiply"),
            (low < SHORTEST, "shortest", f"{low * 60:.2g} seconds, faster than people", "hours, multiply"),
        ):
            if count > 1 and is_odd:
                raise MensuraError(
                    f"{name}: the {which} task of {label} takes {time}; expected minutes. If these are {other} by 60"
                )


def _without_summaries(times: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Drop a task's summary row of a kind where single attempts or judgements of that kind are there too."""
    single = times.filter(pl.col("who").is_not_null()).select("suite", "task", "kind").unique()
    summary = times.filter(pl.col("who").is_null())
    kept = summary.join(single, on=["suite", "task", "kind"], how="anti", nulls_equal=True)
    if kept.height < summary.height:
        notes.append(f"{counted(summary.height - kept.height, 'summary time')} replaced by the single times behind it")
    return pl.concat([kept, times.filter(pl.col("who").is_not_null())])


def _matched(runs: pl.DataFrame, times: pl.DataFrame, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return runs and times of the same tasks; times without a suite take that of the runs."""
    tasks = runs.select("suite", "task").unique(maintain_order=True)
    if times["suite"].null_count():
        if row := first_row(tasks.filter(pl.col("task").is_duplicated())):
            raise MensuraError(f"times: task {row['task']!r} is in several suites; expected a column suite. Add it")
        times = times.drop("suite").join(tasks, on="task", how="left").with_columns(pl.col("suite").fill_null(ALL))
    both = ["suite", "task"]
    without_runs = times.join(tasks, on=both, how="anti").select(both).unique().height
    timed = times.select(both).unique(maintain_order=True)
    without_time = tasks.join(timed, on=both, how="anti")
    if without_runs:
        notes.append(f"{counted(without_runs, 'task')} with a time but no run: left out")
    if without_time.height:
        notes.append(f"{counted(without_time.height, 'task')} with runs but no time: left out")
    runs = runs.join(timed, on=both, how="semi", maintain_order="left")
    if not runs.height:
        raise MensuraError(
            f"runs and times share no task; the runs have {listed_names(tasks['task'].to_list())}, the times "
            f"{listed_names(timed['task'].to_list())}. Use the same names of tasks and suites"
        )
    if runs.select(both).unique().height == 1:
        raise MensuraError(
            f"only one task ({runs['task'][0]!r}) has runs and a time; expected two or more lengths. Add tasks"
        )
    return runs, times.join(tasks, on=both, how="semi", maintain_order="left")


def _pooled_runs(frame: pl.DataFrame, name: str, *, one_each: bool, notes: list[str]) -> pl.DataFrame:
    """Return one row per subject and task: attempts pooled; with trials, two rows are a duplicate."""
    keys = ["subject", "suite", "task"]
    again = frame.filter(pl.struct(keys).is_duplicated())
    if again.height and one_each:
        row = again.row(0, named=True)
        raise MensuraError(
            f"{name}: {row['subject']} has two rows for task {row['task']!r} beside a column of trials; expected one. "
            "Keep one row, or drop the column to count rows as attempts"
        )
    if again.height:
        extra = again.height - again.select(keys).n_unique()
        notes.append(f"further attempts at the same task, pooled: {counted(extra, 'row')}")
    return frame.group_by(keys, maintain_order=True).agg(
        (pl.col("score") * pl.col("trials")).sum() / pl.col("trials").sum(),
        pl.col("trials").sum(),
        pl.col("family").first(),
    )


def _is_log(runs: Any) -> bool:
    names = (*RUN_NAMES["subject"], "alias")
    return isinstance(runs, str | Path) and (Path(runs).is_dir() or is_sample_log(Path(runs), names))


def _from_log(runs: Any) -> pl.DataFrame:
    """Return the samples of evaluation logs as runs; an item TASK:SAMPLE is of the suite TASK."""
    path = Path(runs)
    files = sorted(file for file in path.rglob("*") if is_sample_log(file)) if path.is_dir() else [path]
    if not files:
        raise MensuraError(f"{path}: no evaluation log in this folder; expected .eval or .json files of Inspect")
    batches = [
        part
        for file in files
        for batch in read_answers(file)
        for part in (batch.long() if isinstance(batch, WideAnswers) else (batch,))
    ]
    named = pl.col("item").str.extract_groups(r"^(?:(?<suite>[^:]+):)?(?<task>.+)$")
    samples: pl.DataFrame = pl.concat(batches).select("subject", named.struct.unnest(), score="value")
    return samples.drop_nulls(["subject", "score"]).with_columns(pl.col("suite").fill_null(ALL))


def named_columns(
    table: pl.DataFrame, names: Mapping[str, Sequence[str]], needed: Sequence[str], name: str, mapped: dict[str, str]
) -> dict[str, str | None]:
    """Return the column of each field, or refuse a table that lacks a needed one."""
    chosen = find_columns(table.columns, names, mapped, name)
    missing = next((field for field in needed if chosen[field] is None), None)
    if missing is not None:
        raise MensuraError(
            f"{name}: missing column {missing!r}; it has {', '.join(table.columns) or 'none'}. Rename the column that "
            f"holds it to one of {', '.join(names[missing])}"
        )
    return chosen


def read_numbers(
    table: pl.DataFrame, chosen: Mapping[str, str | None], numbers: Sequence[str], name: str
) -> pl.DataFrame:
    """Return the chosen columns under the names of their meaning; cells of numbers are numbers or empty."""
    frame = table.select(pl.col(title).alias(field) for field, title in chosen.items() if title is not None)
    fields = [field for field in numbers if field in frame.columns]
    return with_numbers(frame, fields, name, shares=("score", "chance"))


def _no_attempts() -> pl.DataFrame:
    return pl.DataFrame(schema={"suite": pl.String, "task": pl.String, "minutes": pl.Float64, "solved": pl.Boolean})
