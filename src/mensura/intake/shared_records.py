"""Scores in the field's exchange formats: Every Eval Ever records, results and model cards of Hugging Face, HELM."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
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
_LEVEL = 0.95  # of an interval that states none
MOST_YAML = 4 * 2**20


class OtherKindError(MensuraError):
    """A file that was recognised and has no scores of models; the message names the command that reads it."""


class RecordRow(NamedTuple):
    """One result, before it is known which metric of its test counts."""

    metric: str
    cells: Mapping[str, Any]


class _Field:
    """A place in a document, so that every message names it."""

    def __init__(self, value: object, place: str, path: Path) -> None:
        self.value, self.place, self.path = value, place, path

    def refuse(self, expected: str) -> MensuraError:
        shown = "missing" if self.value is None else f"{str(self.value)[:60]!r}"
        return MensuraError(f"{self.path}, {self.place or 'the document'}: {shown}; expected {expected}")

    def get(self, key: str) -> _Field:
        inside = self.value.get(key) if isinstance(self.value, Mapping) else None
        return _Field(inside, f"{self.place}.{key}".lstrip("."), self.path)

    def mapping(self) -> Mapping[str, Any]:
        if self.value is not None and not isinstance(self.value, Mapping):
            raise self.refuse("an object")
        return self.value or {}

    def parts(self) -> list[_Field]:
        if not isinstance(self.value, list):
            raise self.refuse("a list")
        return [_Field(one, f"{self.place}[{place}]", self.path) for place, one in enumerate(self.value)]

    def text(self) -> str | None:
        return str(self.value) if isinstance(self.value, str | int | float) and str(self.value).strip() else None

    def required(self) -> str:
        text = self.text()
        if text is None:
            raise self.refuse("a text")
        return text

    def number(self) -> float | None:
        """Return a number, None where there is none; words and infinities are refused."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, str):
            try:
                value = float(value.strip().removesuffix("%"))
            except ValueError:
                raise self.refuse("a number") from None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.refuse("a finite number")
        return float(value)

    def figure(self) -> float:
        number = self.number()
        if number is None:
            raise self.refuse("a number")
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
        order = {name: place for place, name in enumerate(PREFERRED)}
        first = min(those, key=lambda row: order.get(row.metric.casefold().rsplit(".", 1)[-1], len(order)))
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
    root = _Field(document, "", path)
    info, source = root.get("model_info"), root.get("source_metadata")
    details = info.get("additional_details")
    organisation = source.get("source_name").text() or source.get("source_organization_name").text()
    shared = {
        "model": info.get("id").text() or info.get("name").required(),
        "display_name": info.get("name").text(),
        "provider": info.get("developer").text(),
        "source": organisation and _plain(organisation),
        "measured_by": MEASURED_BY.get(source.get("evaluator_relationship").text() or ""),
        "group": details.get("population").text() or info.get("name").text(),
    }
    stamp = root.get("evaluation_timestamp").text() or root.get("retrieved_timestamp").text()
    rows = [_result(one, shared, stamp, details) for one in root.get("evaluation_results").parts()]
    return [row for row in rows if row is not None]


def _result(result: _Field, shared: Mapping[str, Any], stamp: str | None, details: _Field) -> RecordRow | None:
    config, scored = result.get("metric_config"), result.get("score_details")
    if config.get("lower_is_better").value is True:
        return None
    uncertainty = scored.get("uncertainty")
    interval = uncertainty.get("confidence_interval")
    interval = scored.get("confidence_interval") if interval.value is None else interval  # as version 0.2 has it
    low, high = interval.get("lower").number(), interval.get("upper").number()
    error = uncertainty.get("standard_error").get("value").number()
    if error is None and low is not None and high is not None and high > low:
        level = interval.get("confidence_level").number() or _LEVEL
        error = (high - low) / 2 / NormalDist().inv_cdf(0.5 + min(max(level, 0.01), 0.9999) / 2)
    ids = result.get("source_data").get("sample_ids").value
    own = scored.get("details")
    persons = own.get("persons").number() or details.get("persons").number()
    n = uncertainty.get("num_samples").number() or (float(len(ids)) if isinstance(ids, list) and ids else None)
    name = result.get("evaluation_name").required()
    metric = config.get("metric_id").text() or config.get("metric_name").text()
    metric = metric or config.get("evaluation_description").text() or "score"
    cells = {
        **shared,
        "task": name,
        "score": scored.get("score").figure(),
        "unit": own.get("unit").text() or _unit(config),
        "n": None if n is None else int(n),
        "stderr": error or None,
        "date": _day(result.get("evaluation_timestamp").text() or stamp),
        "note": own.get("note").text() or own.get("variant").text(),
        "conditions": own.get("conditions").text(),
        "low": low,
        "high": high,
        "persons": None if persons is None else int(persons),
        "details": own.mapping(),
    }
    return RecordRow(metric, cells)


def _plain(source: str) -> str | None:
    """Return the name of a source as an id: without signs that ids do not have."""
    text = "".join(sign if sign.isalnum() or sign in " ._-+:/()[],@=" else " " for sign in source)
    return " ".join(text.split()).lstrip(" ._-+:/()[],@=")[:100].strip() or None


def _unit(config: _Field) -> str | None:
    """Return the unit of a metric, as it says or as its bounds say; None where neither does."""
    stated = unit_word(config.get("metric_unit").text())
    if stated in RATE_UNITS:
        return stated
    bounds = [config.get(name).value for name in ("min_score", "max_score")]
    return {(0, 1): "fraction", (0, 100): "percent"}.get(tuple(bounds))  # type: ignore[arg-type]


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


def read_yaml(text: str, path: Path) -> Any:  # noqa: ANN401
    """Return what a YAML text contains; aliases, with which a small text unfolds to any size, are refused."""
    import yaml  # type: ignore[import-untyped]

    if len(text) > MOST_YAML:
        raise MensuraError(f"{path}: {len(text):,} characters of YAML; expected at most {MOST_YAML:,}")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise MensuraError(f"{path}: has YAML aliases (*name); expected plain values. Write them out")
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        reason = " ".join(str(fault).split())
        raise MensuraError(f"{path}: not readable as YAML ({reason}); check its indentation") from fault


def read_hugging_face(path: Path) -> list[RecordRow]:
    """Return the results of ``.eval_results/*.yaml`` or of the ``model-index`` of a model card."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if path.suffix.lower() == ".md":
        parts = text.split("\n---", 1)
        card = read_yaml(parts[0].removeprefix("---"), path) if text.startswith("---") and len(parts) == 2 else None
        if not isinstance(card, Mapping) or "model-index" not in card:
            raise MensuraError(f"{path}, model-index: missing; expected a model card with its results at the top")
        return list(_of_index(_Field(card["model-index"], "model-index", path)))
    document = read_yaml(text, path)
    if isinstance(document, Mapping) and "tasks" in document:
        raise OtherKindError(_say_benchmark(_Field(document, "", path)))
    return list(_of_results(_Field(document, "", path)))


def _of_results(entries: _Field) -> Iterator[RecordRow]:
    path = entries.path
    model = path.resolve().parent
    model = model.parent if model.name == ".eval_results" else model
    for entry in entries.parts():
        dataset, source = entry.get("dataset"), entry.get("source")
        part = dataset.get("task_id").text() or dataset.get("config").text()
        cells = {
            "model": model.name,
            "task": _task(dataset.get("id").required(), part),
            "score": entry.get("value").figure(),
            "date": _day(entry.get("date").text()),
            "source": _plain(source.get("name").text() or source.get("url").text() or ""),
            "note": entry.get("notes").text(),
        }
        yield RecordRow("value", cells)


def _of_index(index: _Field) -> Iterator[RecordRow]:
    for model in index.parts():
        for result in model.get("results").parts():
            dataset, source = result.get("dataset"), result.get("source")
            for metric in result.get("metrics").parts():
                cells = {
                    "model": model.get("name").required(),
                    "task": dataset.get("name").text() or dataset.get("type").required(),
                    "score": metric.get("value").figure(),
                    "source": _plain(source.get("name").text() or source.get("url").text() or ""),
                    "note": metric.get("name").text(),
                }
                yield RecordRow(metric.get("type").required(), cells)


def _task(dataset: str, part: str | None) -> str:
    """Return the name of a test: the dataset without its owner, with the part unless that repeats it."""
    name = dataset.rsplit("/", 1)[-1]
    plain = ["".join(filter(str.isalnum, text)).casefold() for text in (name, part or "")]
    if plain[1] in ("", "default", "test", "main", "all"):
        return name
    return str(part) if plain[0] in plain[1] else f"{name} {part}"


def _say_benchmark(root: _Field) -> str:
    tasks = root.get("tasks").parts()
    names = listed_names([task.get("id").required() for task in tasks])
    fields = next((task.get("field_spec").mapping() for task in tasks if task.get("field_spec").value), {})
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
    run = _Field(parse_json(spec, "copy the run again"), "", spec)
    scenario, _, options = (run.get("name").text() or path.parent.name).partition(":")
    kept = [part for part in options.split(",") if part and not part.startswith("model=")]
    return run.get("adapter_spec").get("model").text() or "", ",".join([scenario, *kept])


def read_helm(document: Sequence[Any], path: Path) -> list[RecordRow]:
    """Return the known metrics of a run on its test split, without those of perturbed copies."""
    model, scenario = helm_run(path)
    if not model:
        raise MensuraError(f"{path}: no run_spec.json beside it names the model; copy the whole folder of the run")
    rows = []
    for stat in _Field(list(document), "", path).parts():
        name = stat.get("name")
        metric, split = name.get("name").required(), name.get("split").text()
        if metric not in HELM_METRICS or split not in (None, "test") or name.get("perturbation").value:
            continue
        count = stat.get("count").number() or 0.0
        if count:
            mean = stat.get("sum").figure() / count
            cells = {"model": model, "task": scenario, "score": mean, "unit": "fraction", "note": metric}
            rows.append(RecordRow(metric, cells))
    rows.sort(key=lambda row: HELM_METRICS.index(row.metric))
    if not rows:
        raise MensuraError(f"{path}: no known metric; expected one of {', '.join(HELM_METRICS)}")
    return rows
