"""Scores in the field's exchange formats: Every Eval Ever records, results and model cards of Hugging Face, HELM."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.intake.figures import RATE_UNITS, unit_word
from mensura.intake.records import parse_json

SCORE_COLUMNS = (
    *("model", "task", "score", "unit", "n", "stderr", "source", "date", "note", "measured_by"),
    *("provider", "display_name"),
)
"""Cells of a result that a table of scores has; further ones speak of people."""
PREFERRED = ("accuracy", "acc", "exact_match", "pass_at_1", "pass@1", "mean", "score", "f1")
"""The metric that counts where a result has several: the first of these, else the first of the file."""
MEASURED_BY = {"first_party": "vendor", "third_party": "independent"}
_ORDER = {name: place for place, name in enumerate(PREFERRED)}
_WRITTEN = (str, int, float)
_LEVEL = 0.95  # of an interval that states none
MOST_YAML = 4 * 2**20


class OtherKindError(MensuraError):
    """A file that was recognised and has no scores of models; the message names the command that reads it."""


class RecordRow(NamedTuple):
    """One result, before it is known which metric of its test counts."""

    metric: str
    cells: Mapping[str, Any]


class _Field:
    """A place in a document, so that every message names it; the name is made only for a message."""

    __slots__ = ("key", "outer", "path", "value")

    def __init__(self, value: object, path: Path, key: str | int = "", outer: _Field | None = None) -> None:
        self.value, self.path, self.key, self.outer = value, path, key, outer

    @property
    def place(self) -> str:
        outer = self.outer.place if self.outer else ""
        return f"{outer}[{self.key}]" if isinstance(self.key, int) else f"{outer}.{self.key}".lstrip(".")

    def refuse(self, expected: str, key: str = "") -> MensuraError:
        field = self.get(key) if key else self
        shown = "missing" if field.value is None else f"{str(field.value)[:60]!r}"
        return MensuraError(f"{self.path}, {field.place or 'the document'}: {shown}; expected {expected}")

    def get(self, key: str) -> _Field:
        return _Field(self.leaf(key), self.path, key, self)

    def leaf(self, key: str) -> Any:
        """Return what stands under a key, None where nothing does."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.leaf(key)
        if value is not None and not isinstance(value, dict):
            raise self.refuse("an object", key)
        return value or {}

    def parts(self, key: str = "") -> list[_Field]:
        field = self.get(key) if key else self
        if not isinstance(field.value, list):
            raise field.refuse("a list")
        return [_Field(one, self.path, place, field) for place, one in enumerate(field.value)]

    def text(self, key: str) -> str | None:
        value = self.leaf(key)
        return str(value) if isinstance(value, _WRITTEN) and str(value).strip() else None

    def required(self, key: str) -> str:
        text = self.text(key)
        if text is None:
            raise self.refuse("a text", key)
        return text

    def number(self, key: str) -> float | None:
        """Return a number, None where there is none; words and infinities are refused."""
        value = self.leaf(key)
        if value is None:
            return None
        try:
            number = float(value.strip().removesuffix("%") if isinstance(value, str) else value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool) or not math.isfinite(number):
            raise self.refuse("a finite number", key)
        return number

    def figure(self, key: str) -> float:
        number = self.number(key)
        if number is None:
            raise self.refuse("a number", key)
        return number


def choose_metric(rows: Sequence[RecordRow], metric: str | None, path: Path) -> tuple[list[RecordRow], list[str]]:
    """Return one result per test, by the metric asked for or the usual one, and what was left out."""
    names = list(dict.fromkeys(row.metric for row in rows))
    if metric is not None:
        if metric not in names:
            check_choice(f"{path}, --metric", metric, names)
        return [row for row in rows if row.metric == metric], []
    tests: dict[tuple[object, object], list[RecordRow]] = {}
    for row in rows:
        tests.setdefault((row.cells.get("task"), row.cells.get("source")), []).append(row)
    kept, notes = [], []
    for (test, _), those in tests.items():
        first = min(those, key=lambda row: _ORDER.get(row.metric.casefold().rsplit(".", 1)[-1], len(_ORDER)))
        kept.append(first)
        others = sorted({row.metric for row in those} - {first.metric})
        if others:
            notes.append(f"{test} by {first.metric}; --metric takes another: {listed_names(others)}")
    return kept, notes


# Every Eval Ever: one record is one subject with any number of results; versions 0.2 and 0.3.


def is_record(document: object) -> bool:
    """Tell whether a document is an aggregate record of Every Eval Ever."""
    return isinstance(document, Mapping) and "evaluation_results" in document and "model_info" in document


def is_of_people(document: Mapping[str, Any]) -> bool:
    """Tell whether a record's subject is a group of people, as our extension says it."""
    info = document.get("model_info")
    details = info.get("additional_details") if isinstance(info, Mapping) else None
    return isinstance(details, Mapping) and details.get("subject_kind") == "people"


def read_record(document: Mapping[str, Any], path: Path) -> list[RecordRow]:
    """Return the results of a record; where lower is better a result is no score here and is left out."""
    root = _Field(document, path)
    info, source = root.get("model_info"), root.get("source_metadata")
    details = info.get("additional_details")
    organisation = source.text("source_name") or source.text("source_organization_name")
    shared = {
        "model": info.text("id") or info.required("name"),
        "display_name": info.text("name"),
        "provider": info.text("developer"),
        "source": organisation and _plain(organisation),
        "measured_by": MEASURED_BY.get(source.text("evaluator_relationship") or ""),
        "group": details.text("population") or info.text("name"),
    }
    stamp = root.text("evaluation_timestamp") or root.text("retrieved_timestamp")
    rows = [_result(one, shared, stamp, details) for one in root.parts("evaluation_results")]
    return [row for row in rows if row is not None]


def _result(result: _Field, shared: Mapping[str, Any], stamp: str | None, details: _Field) -> RecordRow | None:
    config, scored = result.get("metric_config"), result.get("score_details")
    if config.get("lower_is_better").value is True:
        return None
    uncertainty = scored.get("uncertainty")
    interval = uncertainty.get("confidence_interval")
    interval = scored.get("confidence_interval") if interval.value is None else interval  # as version 0.2 has it
    low, high = interval.number("lower"), interval.number("upper")
    error = uncertainty.get("standard_error").number("value")
    if error is None and low is not None and high is not None and high > low:
        level = interval.number("confidence_level") or _LEVEL
        level = level / 100 if level > 1 else level  # 95 means 0.95
        error = (high - low) / 2 / NormalDist().inv_cdf(0.5 + min(max(level, 0.01), 0.9999) / 2)
    ids = result.get("source_data").get("sample_ids").value
    own = scored.get("details")
    persons = own.number("persons") or details.number("persons")
    n = uncertainty.number("num_samples") or (float(len(ids)) if isinstance(ids, list) and ids else None)
    name = result.required("evaluation_name")
    metric = config.text("metric_id") or config.text("metric_name")
    metric = metric or config.text("evaluation_description") or "score"
    cells = {
        **shared,
        "task": name,
        "score": scored.figure("score"),
        "unit": own.text("unit") or _unit(config),
        "n": None if n is None else int(n),
        "stderr": error or None,
        "date": _day(result.text("evaluation_timestamp") or stamp),
        "note": own.text("note") or own.text("variant"),
        "conditions": own.text("conditions"),
        "low": low,
        "high": high,
        "persons": None if persons is None else int(persons),
        "details": scored.mapping("details"),
    }
    return RecordRow(metric, cells)


def _plain(source: str) -> str | None:
    """Return the name of a source as an id: without signs that ids do not have."""
    text = "".join(sign if sign.isalnum() or sign in " ._-+:/()[],@=" else " " for sign in source)
    return " ".join(text.split()).lstrip(" ._-+:/()[],@=")[:100].strip() or None


def _unit(config: _Field) -> str | None:
    """Return the unit of a metric, as it says or as its bounds say; None where neither does."""
    stated = unit_word(config.text("metric_unit"))
    if stated in RATE_UNITS:
        return stated
    bounds = [config.get(name).value for name in ("min_score", "max_score")]
    return {(0, 1): "fraction", (0, 100): "percent"}.get(tuple(bounds))  # type: ignore[arg-type]


@lru_cache(4096)
def _day(stamp: str | None) -> str | None:
    """Return the day of a time in Unix seconds or ISO form, None where it is neither."""
    try:
        return datetime.fromtimestamp(float(stamp or ""), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        pass
    try:
        return datetime.fromisoformat(stamp or "").date().isoformat()
    except ValueError:
        return None


# Hugging Face: results beside a model, the index of a model card, and what describes a benchmark.


def read_yaml(text: str, path: Path) -> Any:
    """Return what a YAML text contains; aliases, with which a small text unfolds to any size, are refused."""
    import yaml  # type: ignore[import-untyped]

    if len(text) > MOST_YAML:
        raise MensuraError(f"{path}: {len(text):,} characters of YAML; expected at most {MOST_YAML:,}")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise MensuraError(f"{path}: has YAML aliases (*name); expected plain values. Write them out")
        _refuse_twins(yaml.compose(text, Loader=yaml.SafeLoader), path)
        return yaml.safe_load(text)
    except MensuraError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        reason = " ".join(str(fault).split())
        raise MensuraError(f"{path}: not readable as YAML ({reason}); check its indentation") from fault


def _refuse_twins(node: Any, path: Path) -> None:
    """Refuse a mapping with a key twice, of which YAML would take the last."""
    pairs = node.value if node is not None and node.id == "mapping" else []
    keys = [str(key.value) for key, _ in pairs]
    if twins := [key for key in keys if keys.count(key) > 1]:
        raise MensuraError(f"{path}, line {node.start_mark.line + 1}: {twins[0]!r} is there twice; remove one")
    for inner in [value for _, value in pairs] or (node.value if node is not None and node.id == "sequence" else []):
        _refuse_twins(inner, path)


def read_hugging_face(path: Path) -> list[RecordRow]:
    """Return the results of ``.eval_results/*.yaml`` or of the ``model-index`` of a model card."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if path.suffix.lower() == ".md":
        parts = text.split("\n---", 1)
        card = read_yaml(parts[0].removeprefix("---"), path) if text.startswith("---") and len(parts) == 2 else None
        if not isinstance(card, Mapping) or "model-index" not in card:
            raise MensuraError(f"{path}, model-index: missing; expected a model card with its results at the top")
        return list(_of_index(_Field(card["model-index"], path, "model-index")))
    document = read_yaml(text, path)
    if isinstance(document, Mapping) and "tasks" in document:
        raise OtherKindError(_say_benchmark(_Field(document, path)))
    return list(_of_results(_Field(document, path)))


def _of_results(entries: _Field) -> Iterator[RecordRow]:
    path = entries.path
    model = path.resolve().parent
    model = model.parent if model.name == ".eval_results" else model
    for entry in entries.parts():
        dataset, source = entry.get("dataset"), entry.get("source")
        part = dataset.text("task_id") or dataset.text("config")
        cells = {
            "model": model.name,
            "task": _task(dataset.required("id"), part),
            "score": entry.figure("value"),
            "date": _day(entry.text("date")),
            "source": _plain(source.text("name") or source.text("url") or ""),
            "note": entry.text("notes"),
        }
        yield RecordRow("value", cells)


def _of_index(index: _Field) -> Iterator[RecordRow]:
    for model in index.parts():
        for result in model.parts("results"):
            dataset, source = result.get("dataset"), result.get("source")
            for metric in result.parts("metrics"):
                cells = {
                    "model": model.required("name"),
                    "task": dataset.text("name") or dataset.required("type"),
                    "score": metric.figure("value"),
                    "source": _plain(source.text("name") or source.text("url") or ""),
                    "note": metric.text("name"),
                }
                yield RecordRow(metric.required("type"), cells)


def _task(dataset: str, part: str | None) -> str:
    """Return the name of a test: the dataset without its owner, with the part unless that repeats it."""
    name = dataset.rsplit("/", 1)[-1]
    plain = ["".join(filter(str.isalnum, text)).casefold() for text in (name, part or "")]
    if plain[1] in ("", "default", "test", "main", "all"):
        return name
    return str(part) if plain[0] in plain[1] else f"{name} {part}"


def _say_benchmark(root: _Field) -> str:
    tasks = root.parts("tasks")
    names = listed_names([task.required("id") for task in tasks])
    fields = next((task.mapping("field_spec") for task in tasks if task.get("field_spec").value), {})
    titles = {"text": fields.get("input"), "key": fields.get("target"), "options": fields.get("choices")}
    columns = ",".join(f"{ours}={theirs}" for ours, theirs in titles.items() if theirs)
    mapped = f" --map {columns}" if columns else ""
    return (
        f"{root.path}: describes a benchmark of Hugging Face ({names}) and has no scores; estimate what people would "
        f"score on its items: mensura baseline ITEMS{mapped} --people world --model NAME"
    )


# HELM: the totals of a run (stats.json) beside the run_spec.json that names model and scenario.


def is_helm(document: object) -> bool:
    """Tell whether a document is a run's ``stats.json``: totals with a name of several parts."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, Mapping) and isinstance(first.get("name"), Mapping) and "instance_id" not in first


HELM_METRICS = (
    *("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match"),
    *("final_number_exact_match", "math_equiv_chain_of_thought", "math_equiv", "ifeval_strict_accuracy"),
    *("chain_of_thought_correctness", "f1_score"),
)
"""Figures that stand for a run or an instance, the first that is there."""


def helm_run(path: Path) -> tuple[str, str]:
    """Return model and scenario of the run a file belongs to; the scenario without the model's part of its name."""
    spec = path.parent / "run_spec.json"
    if not spec.is_file():
        return "", path.resolve().parent.name
    run = _Field(parse_json(spec, "copy the run again"), spec)
    scenario, _, options = (run.text("name") or path.parent.name).partition(":")
    kept = [part for part in options.split(",") if part and not part.startswith("model=")]
    return run.get("adapter_spec").text("model") or "", ",".join([scenario, *kept])


def read_helm(document: Sequence[Any], path: Path) -> list[RecordRow]:
    """Return the known metrics of a run on its test split, without those of perturbed copies."""
    model, scenario = helm_run(path)
    if not model:
        raise MensuraError(f"{path}: no run_spec.json beside it names the model; copy the whole folder of the run")
    rows = []
    for stat in _Field(list(document), path).parts():
        name = stat.get("name")
        metric, split = name.required("name"), name.text("split")
        if metric not in HELM_METRICS or split not in (None, "test") or name.get("perturbation").value:
            continue
        count = stat.number("count") or 0.0
        if count:
            mean = stat.figure("sum") / count
            cells = {"model": model, "task": scenario, "score": mean, "unit": "fraction", "note": metric}
            rows.append(RecordRow(metric, cells))
    rows.sort(key=lambda row: HELM_METRICS.index(row.metric))
    if not rows:
        raise MensuraError(f"{path}: no known metric; expected one of {', '.join(HELM_METRICS)}")
    return rows
