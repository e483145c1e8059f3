"""Evaluation logs as rows: results of lm-evaluation-harness, Inspect logs (``.json``, ``.eval``), records in JSON."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.packed import read_member

LOG_SUFFIXES = {".json", ".eval"}
MOST_HEADER_BYTES = 16 * 2**20
HARNESS_METRICS = ("exact_match", "acc", "pass@1", "acc_norm", "mc2", "f1", "em", "prompt_level_strict_acc")
"""The figure that stands for a task of lm-evaluation-harness: the first of these that it has."""
INSPECT_METRICS = ("accuracy", "mean")
_COLUMNS = ("model", "task", "score", "unit", "n")


class LogRows(NamedTuple):
    """What a log says: a header, rows of cells, and what was chosen or left out."""

    header: tuple[str, ...]
    rows: list[tuple[object, ...]]
    notes: tuple[str, ...]


def read_log(path: Path) -> LogRows:
    """Read an evaluation log, told apart by what is in it."""
    told = _inspect_header(path) if path.suffix.lower() == ".eval" else _json(path)
    if isinstance(told, Mapping) and isinstance(told.get("eval"), Mapping):
        return _inspect(told, path)
    if isinstance(told, Mapping) and isinstance(told.get("results"), Mapping):
        return _harness(told, path)
    if isinstance(told, list) and told and all(isinstance(record, Mapping) for record in told):
        header = tuple(dict.fromkeys(str(key) for record in told for key in record))
        return LogRows(header, [tuple(record.get(key) for key in header) for record in told], ())
    raise MensuraError(
        f"{path}: neither results of lm-evaluation-harness, nor an Inspect log, nor a list of records; "
        "give one of these or a CSV file"
    )


def _json(path: Path) -> Any:  # noqa: ANN401
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not readable as JSON ({fault}); write the log again") from fault


def _inspect_header(path: Path) -> Any:  # noqa: ANN401
    """Return what stands at the head of an Inspect archive; the samples are left where they are."""
    try:
        with zipfile.ZipFile(path) as archive:
            return json.loads(read_member(archive, "header.json", MOST_HEADER_BYTES))
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); check that the evaluation was finished") from fault


def _inspect(log: Mapping[str, Any], path: Path) -> LogRows:
    """Read one evaluation: the first metric that is a share, of each scorer."""
    asked = log["eval"]
    if log.get("status", "success") != "success":
        raise MensuraError(f"{path}: the evaluation ended with status {log['status']!r}; run it to its end first")
    results = log.get("results") or {}
    found = list(_inspect_scores(results.get("scores") or []))
    if not found:
        raise MensuraError(f"{path}: no scorer with {' or '.join(INSPECT_METRICS)}; add one to the evaluation")
    (scorer, metric, value), *others = found
    samples = results.get("completed_samples") or (asked.get("dataset") or {}).get("samples")
    task = str(asked.get("task", "")).rsplit("/", 1)[-1]
    notes = [f"Inspect log: {metric} of the scorer {scorer}"]
    if others:
        notes.append(f"other scorers left out: {', '.join(name for name, *_ in others)}")
    return LogRows(_COLUMNS, [(asked.get("model"), task, value, "fraction", samples)], tuple(notes))


def _inspect_scores(scores: list[Mapping[str, Any]]) -> Iterator[tuple[str, str, float]]:
    for score in scores:
        metrics = score.get("metrics") or {}
        for metric in INSPECT_METRICS:
            value = (metrics.get(metric) or {}).get("value")
            if isinstance(value, int | float) and 0 <= value <= 1:
                yield str(score.get("name", "")), metric, float(value)
                break


def _harness(told: Mapping[str, Any], path: Path) -> LogRows:
    """Read a results file: one row per task or group; the parts of a group are in its figure already."""
    groups = told.get("group_subtasks") or {}
    parts = {part for members in groups.values() for part in members}
    model = told.get("model_name") or (told.get("config") or {}).get("model") or ""
    counts = told.get("n-samples") or {}
    rows: list[tuple[object, ...]] = []
    chosen: dict[str, str] = {}
    for task, figures in told["results"].items():
        picked = None if task in parts else _harness_figure(figures)
        if picked is not None:
            chosen[task] = picked[0]
            n = (counts.get(task) or {}).get("effective")
            rows.append((model, task, picked[1], "fraction", n))
    if not rows:
        raise MensuraError(f"{path}: no task with a known metric; expected one of {', '.join(HARNESS_METRICS)}")
    notes = [f"lm-evaluation-harness: {', '.join(f'{task} by {metric}' for task, metric in chosen.items())}"]
    if parts:
        notes.append(f"{len(parts & set(told['results']))} parts of groups left out: they are in their groups' figures")
    return LogRows(_COLUMNS, rows, tuple(notes))


def _harness_figure(figures: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the metric that stands for a task, with its filter, and its value."""
    for metric in HARNESS_METRICS:
        for name, value in figures.items():
            if name.split(",")[0] == metric and isinstance(value, int | float):
                return name.removesuffix(",none"), float(value)
    return None
