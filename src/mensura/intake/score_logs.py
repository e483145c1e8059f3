"""Evaluation logs as rows: results of lm-evaluation-harness, Inspect logs (``.json``, ``.eval``), records in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.records import open_inspect, parse_json

LOG_SUFFIXES = {".json", ".eval"}
MOST_HEADER_BYTES = 16 * 2**20
HARNESS_METRICS = ("exact_match", "acc", "pass@1", "acc_norm", "mc2", "f1", "em", "prompt_level_strict_acc")
"""The figure that stands for a task of lm-evaluation-harness: the first of these that it has."""
INSPECT_METRICS = ("accuracy", "mean")
HUMAN_SOLVERS = {"human_cli", "human_agent"}
"""Inspect's solvers with which people take an evaluation."""
_HUMAN_STATE = "HumanAgentState:"  # how their keys begin in the store of a sample
_MOST_ITEMS = 10**9  # of a test; a larger count in a log is none
_COLUMNS = ("model", "task", "score", "unit", "n", "stderr")


class LogRows(NamedTuple):
    """What a log says: a header, rows of cells, and what was chosen or left out."""

    header: tuple[str, ...]
    rows: list[tuple[object, ...]]
    notes: tuple[str, ...]


def read_log(path: Path) -> LogRows:
    """Read an evaluation log; what is in it shows its kind."""
    if path.suffix.lower() == ".eval":
        with open_inspect(path) as archive:  # the samples stay where they are
            log = archive.read("header.json", MOST_HEADER_BYTES)
    else:
        log = parse_json(path)
    if isinstance(log, Mapping) and isinstance(log.get("eval"), Mapping):
        return _inspect(log, path)
    if isinstance(log, Mapping) and isinstance(log.get("results"), Mapping):
        return _harness(log, path)
    if isinstance(log, list) and log and all(isinstance(record, Mapping) for record in log):
        header = tuple(dict.fromkeys(str(key) for record in log for key in record))
        return LogRows(header, [tuple(record.get(key) for key in header) for record in log], ())
    raise MensuraError(
        f"{path}: neither results of lm-evaluation-harness, nor an Inspect log, nor a list of records; "
        "give one of these or a CSV file"
    )


def _inspect(log: Mapping[str, Any], path: Path) -> LogRows:
    """Read one evaluation: the first metric that is a share, of each scorer.

    Of a run over some of the items each counts once, however many epochs it had: answers to one item are alike.
    """
    asked = log["eval"]
    if log.get("status", "success") != "success":
        raise MensuraError(f"{path}: the evaluation ended with status {log['status']!r}; run it to its end first")
    if is_of_person(log, next(iter(log.get("samples") or []), None)):
        raise MensuraError(
            f"{path}: people took this evaluation (Inspect's human agent), so its score is no model's; give it as "
            f"people's with --people, or read the answers with mensura responses read {path}"
        )
    results = log.get("results") or {}
    scores = list(_inspect_scores(results.get("scores") or []))
    if not scores:
        raise MensuraError(f"{path}: no scorer with {' or '.join(INSPECT_METRICS)}; add one to the evaluation")
    (scorer, metric, value, error), *others = scores
    settings, items = asked.get("config") or {}, _whole((asked.get("dataset") or {}).get("samples"))
    epochs, limited = _whole(settings.get("epochs")) or 1, settings.get("limit") is not None
    answers = _whole(results.get("completed_samples")) or (None if limited else items)
    task = str(asked.get("task", "")).rsplit("/", 1)[-1]
    notes = [f"Inspect log: {metric} of the scorer {scorer}"]
    if others:
        notes.append(f"other scorers left out: {', '.join(name for name, *_ in others)}")
    if answers is not None and (limited or (items is not None and answers < items * epochs)):
        answers = max(1, answers // epochs)
        notes.append(_partial(task, answers, items))
    return LogRows(_COLUMNS, [(asked.get("model"), task, value, "fraction", answers, error)], tuple(notes))


def is_of_person(head: Mapping[str, Any], sample: Mapping[str, Any] | None = None) -> bool:
    """Tell whether a person took an evaluation, whatever model its header names: by the solver, or by a sample."""
    steps = (head.get("plan") or {}).get("steps") or []
    solvers = [step.get("solver") for step in steps if isinstance(step, Mapping)]
    solvers.append((head.get("eval") or {}).get("solver"))
    if any(str(solver).rsplit("/", 1)[-1] in HUMAN_SOLVERS for solver in solvers):
        return True
    output, store = ((sample or {}).get(part) for part in ("output", "store"))
    by_output = isinstance(output, Mapping) and output.get("model") in HUMAN_SOLVERS
    return by_output or (isinstance(store, Mapping) and any(str(key).startswith(_HUMAN_STATE) for key in store))


def _whole(value: object) -> int | None:
    """Return a count that a log states, None where it states none that can be."""
    return int(value) if isinstance(value, int | float) and 1 <= value < _MOST_ITEMS else None


def _partial(task: str, answered: int, items: int | None) -> str:
    return f"{task}: a partial run, {answered} of {items or 'its'} items"


def _inspect_scores(scores: list[Mapping[str, Any]]) -> Iterator[tuple[str, str, float, float | None]]:
    for score in scores:
        metrics = score.get("metrics") or {}
        for metric in INSPECT_METRICS:
            value = (metrics.get(metric) or {}).get("value")
            if isinstance(value, int | float) and 0 <= value <= 1:
                error = (metrics.get("stderr") or {}).get("value")
                yield str(score.get("name", "")), metric, float(value), error if _is_error(error) else None
                break


def _is_error(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value <= 0.5


def _harness(log: Mapping[str, Any], path: Path) -> LogRows:
    """Read a results file: one row per task or group; the parts of a group are in its figure already."""
    groups = log.get("group_subtasks") or {}
    parts = {part for members in groups.values() for part in members}
    model = log.get("model_name") or (log.get("config") or {}).get("model") or ""
    counts = log.get("n-samples") or {}
    rows: list[tuple[object, ...]] = []
    chosen: dict[str, str] = {}
    partial = []
    for task, figures in log["results"].items():
        picked = None if task in parts else _harness_figure(figures)
        if picked is not None:
            chosen[task] = picked[0]
            counted = [counts.get(one) or {} for one in groups.get(task) or [task]]
            n, items = (
                _whole(sum(_whole(one.get(kind)) or 0 for one in counted)) for kind in ("effective", "original")
            )
            rows.append((model, task, picked[1], "fraction", n, picked[2]))
            partial += [_partial(task, n, items)] if n and items and n < items else []
    if not rows:
        raise MensuraError(f"{path}: no task with a known metric; expected one of {', '.join(HARNESS_METRICS)}")
    notes = [f"lm-evaluation-harness: {', '.join(f'{task} by {metric}' for task, metric in chosen.items())}", *partial]
    if parts:
        notes.append(f"{len(parts & set(log['results']))} parts of groups left out: they are in their groups' figures")
    return LogRows(_COLUMNS, rows, tuple(notes))


def _harness_figure(figures: Mapping[str, Any]) -> tuple[str, float, float | None] | None:
    """Return the metric that stands for a task, with its filter, its value and standard error."""
    for metric in HARNESS_METRICS:
        for name, value in figures.items():
            if name.split(",")[0] == metric and isinstance(value, int | float):
                error = figures.get(name.replace(metric, f"{metric}_stderr", 1))
                return name.removesuffix(",none"), float(value), error if _is_error(error) else None
    return None
