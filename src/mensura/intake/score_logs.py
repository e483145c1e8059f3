"""Evaluation logs as rows: lm-evaluation-harness, Inspect (``.json``, ``.eval``), HELM, and shared records."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError, counted, listed_names
from mensura.intake import shared_records
from mensura.intake.records import as_object, as_objects, inside, open_inspect, parse_json
from mensura.intake.shared_records import OtherKindError, RecordRow, choose_metric

LOG_SUFFIXES = {".json", ".eval", ".yaml", ".yml", ".md"}
MOST_HEADER_BYTES = 16 * 2**20
HARNESS_METRICS = ("exact_match", "acc", "pass@1", "acc_norm", "mc2", "f1", "em", "prompt_level_strict_acc")
"""The figure that stands for a task of lm-evaluation-harness: the first of these that it has."""
INSPECT_METRICS = ("accuracy", "mean")
HUMAN_SOLVERS = {"human_cli", "human_agent"}
"""Inspect's solvers with which people take an evaluation."""
_HUMAN_STATE = "HumanAgentState:"  # how their keys begin in the store of a sample
RESPONSES = "mensura responses read"
_MOST_ITEMS = 10**9  # of a test; a larger count in a log is none
_COLUMNS = ("model", "task", "score", "unit", "n", "stderr")


class LogRows(NamedTuple):
    """What a log says: a header, rows of cells, and what was chosen or left out."""

    header: tuple[str, ...]
    rows: list[tuple[object, ...]]
    notes: tuple[str, ...]


def read_log(path: Path, metric: str | None = None) -> LogRows:
    """Read an evaluation log; what is in it shows its kind. ``metric``: the figure that counts, of several."""
    if path.suffix.lower() == ".eval":
        with open_inspect(path) as archive:  # the samples stay where they are
            head = archive.read("header.json", MOST_HEADER_BYTES)
        as_object(inside(head, "eval"), path, "header.json, eval")
        return _inspect(head, path, metric)
    if path.suffix.lower() != ".json":
        return _shared("Hugging Face", shared_records.read_hugging_face(path), path, metric)
    return read_document(parse_json(path), path, metric)


def read_document(log: object, path: Path, metric: str | None = None) -> LogRows:
    """Read the contents of a JSON file that is a log, a shared record or a list of records."""
    if isinstance(log, Mapping) and isinstance(log.get("eval"), Mapping):
        return _inspect(log, path, metric)
    if isinstance(log, Mapping) and shared_records.is_record(log):
        if shared_records.is_of_people(log):
            raise PeopleLogError(f"{path}: its subject is a group of people, no model; give it as mensura add {path}")
        return _shared("Every Eval Ever", shared_records.read_record(log, path), path, metric)
    if isinstance(log, Mapping) and isinstance(log.get("results"), Mapping):
        return _harness(log, path, metric)
    if shared_records.is_helm(log):
        return _shared("HELM", shared_records.read_helm(log, path), path, metric)  # type: ignore[arg-type]
    if isinstance(log, list) and log and all(isinstance(record, Mapping) for record in log):
        header = tuple(dict.fromkeys(str(key) for record in log for key in record))
        if "instance_id" in header:
            raise OtherKindError(
                f"{path}: answers of HELM, no total; give the stats.json beside it, or use {RESPONSES} {path}"
            )
        return LogRows(header, [tuple(record.get(key) for key in header) for record in log], ())
    raise MensuraError(
        f"{path}: neither results of lm-evaluation-harness, nor an Inspect log, nor a record of Every Eval Ever, nor a "
        "list of records; give one of these or a CSV file"
    )


def _shared(kind: str, rows: list[RecordRow], path: Path, metric: str | None) -> LogRows:
    """Return the rows of a shared record, one metric per test, under the columns that have a cell."""
    kept, notes = choose_metric(rows, metric, path)
    if not kept:
        raise MensuraError(f"{path}: no score of which higher is better; expected at least one")
    columns = [name for name in shared_records.SCORE_COLUMNS if any(row.cells.get(name) is not None for row in kept)]
    cells = [tuple(row.cells.get(name) for name in columns) for row in kept]
    return LogRows(tuple(columns), cells, (f"{kind}: {counted(len(kept), 'result')}", *notes))


class PeopleLogError(MensuraError):
    """A log of people, whose score is no model's."""


def _inspect(log: Mapping[str, Any], path: Path, metric: str | None) -> LogRows:
    """Read one evaluation: the first metric that is a share, of each scorer.

    Of a run over some of the items each counts once, however many epochs it had: answers to one item are alike.
    """
    asked = log["eval"]
    if log.get("status", "success") != "success":
        raise MensuraError(f"{path}: the evaluation ended with status {log['status']!r}; run it to its end first")
    if is_of_person(log, next(iter(as_objects(log.get("samples"), path, "samples")), None)):
        raise PeopleLogError(
            f"{path}: people took this evaluation (Inspect's human agent), so its score is no model's; take it as "
            f"people's with mensura add {path}, or read the answers with {RESPONSES} {path}"
        )
    results = as_object(log.get("results") or {}, path, "results")
    as_objects(results.get("scores"), path, "results.scores")
    wanted = INSPECT_METRICS if metric is None else (metric,)
    scores = list(_inspect_scores(results.get("scores") or [], wanted))
    if not scores:
        raise MensuraError(f"{path}: no scorer with {' or '.join(wanted)}; {_other_metrics(results, metric)}")
    (scorer, chosen, value, error), *others = scores
    items, epochs = _whole(inside(asked, "dataset", "samples")), _whole(inside(asked, "config", "epochs")) or 1
    limited = inside(asked, "config", "limit") is not None
    answers = _whole(results.get("completed_samples")) or (None if limited else items)
    task = str(asked.get("task", "")).rsplit("/", 1)[-1]
    notes = [f"Inspect log: {chosen} of the scorer {scorer}"]
    if others:
        notes.append(f"other scorers left out: {', '.join(name for name, *_ in others)}")
    if answers is not None and (limited or (items is not None and answers < items * epochs)):
        answers = max(1, answers // epochs)
        notes.append(_partial(task, answers, items))
    return LogRows(_COLUMNS, [(asked.get("model"), task, value, "fraction", answers, error)], tuple(notes))


def is_of_person(head: Mapping[str, Any], sample: Mapping[str, Any] | None = None) -> bool:
    """Tell whether a person took an evaluation, whatever model its header names: by the solver, or by a sample."""
    steps = inside(head, "plan", "steps")
    steps = steps if isinstance(steps, list) else []
    solvers = [*(inside(step, "solver") for step in steps), inside(head, "eval", "solver")]
    if any(str(solver).rsplit("/", 1)[-1] in HUMAN_SOLVERS for solver in solvers):
        return True
    store = inside(sample, "store")
    by_store = isinstance(store, Mapping) and any(str(key).startswith(_HUMAN_STATE) for key in store)
    return by_store or str(inside(sample, "output", "model")) in HUMAN_SOLVERS


def _whole(value: object) -> int | None:
    """Return a count that a log states, None where it states none that can be."""
    return int(value) if isinstance(value, int | float) and 1 <= value < _MOST_ITEMS else None


def _partial(task: str, answered: int, items: int | None) -> str:
    return f"{task}: a partial run, {answered} of {items or 'its'} items"


def _other_metrics(results: Mapping[str, Any], metric: str | None) -> str:
    names = dict.fromkeys(str(name) for score in results.get("scores") or [] for name in score.get("metrics") or {})
    return f"the log has {listed_names(list(names)) or 'none'}" if metric else "add one to the evaluation"


def _inspect_scores(
    scores: list[Mapping[str, Any]], wanted: Sequence[str]
) -> Iterator[tuple[str, str, float, float | None]]:
    for score in scores:
        for metric in wanted:
            value = inside(score, "metrics", metric, "value")
            if isinstance(value, int | float) and 0 <= value <= 1:
                error = inside(score, "metrics", "stderr", "value")
                yield str(score.get("name", "")), metric, float(value), error if _is_error(error) else None
                break


def _is_error(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value <= 0.5


def _harness(log: Mapping[str, Any], path: Path, metric: str | None) -> LogRows:
    """Read a results file: one row per task or group; the parts of a group are in its figure already."""
    groups, counts = (as_object(log.get(key) or {}, path, key) for key in ("group_subtasks", "n-samples"))
    parts = {part for members in groups.values() for part in members}
    model = log.get("model_name") or inside(log, "config", "model") or ""
    rows: list[tuple[object, ...]] = []
    chosen: dict[str, str] = {}
    partial = []
    wanted = HARNESS_METRICS if metric is None else (metric,)
    for task, figures in log["results"].items():
        figures = as_object(figures, path, f"results.{task}")
        picked = None if task in parts else _harness_figure(figures, wanted)
        if picked is not None:
            chosen[task] = picked[0]
            counted = [counts.get(one) for one in groups.get(task) or [task]]
            n, items = (
                _whole(sum(_whole(inside(one, kind)) or 0 for one in counted)) for kind in ("effective", "original")
            )
            rows.append((model, task, picked[1], "fraction", n, picked[2]))
            partial += [_partial(task, n, items)] if n and items and n < items else []
    if not rows:
        raise MensuraError(f"{path}: no task with a known metric; expected one of {', '.join(wanted)}")
    notes = [f"lm-evaluation-harness: {', '.join(f'{task} by {name}' for task, name in chosen.items())}", *partial]
    if parts:
        notes.append(f"{len(parts & set(log['results']))} parts of groups left out: they are in their groups' figures")
    return LogRows(_COLUMNS, rows, tuple(notes))


def _harness_figure(figures: Mapping[str, Any], wanted: Sequence[str]) -> tuple[str, float, float | None] | None:
    """Return the metric that stands for a task, with its filter, its value and standard error."""
    for metric in wanted:
        for name, value in figures.items():
            if metric in (name, name.split(",")[0]) and isinstance(value, int | float):
                error = figures.get(",".join([f"{name.split(',')[0]}_stderr", *name.split(",")[1:]]))
                return name.removesuffix(",none"), float(value), error if _is_error(error) else None
    return None
