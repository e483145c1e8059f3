"""Read evaluation logs; name and content show the kind of each.

An item is called TASK:ID, after the task and the sample's id (harness: ``doc_id``; HELM: ``instance_id``). Samples
are read one at a time where the format allows it; only their outcomes are kept.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.records import as_object, as_objects, inside, json_lines, open_inspect, parse_json
from mensura.intake.score_logs import HARNESS_METRICS, MOST_HEADER_BYTES, is_of_person
from mensura.intake.shared_records import HELM_METRICS, helm_run

# One sample of an evaluation: who, which item, how it ended.


class SampleOutcome(NamedTuple):
    """The outcome of one sample; ``value`` from 0 to 1, none where it was not scored; ``run`` names the evaluation.

    Of a person also the ``seconds`` of working time, and the ``group`` as the log or record names it.
    """

    subject: str
    item: str
    value: float | None
    run: str
    of_person: bool = False
    seconds: float | None = None
    group: str | None = None


def checked_value(value: Any, where: str) -> float:
    """Return an outcome as a number, or say where it is none."""
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MensuraError(f"{where} is {value!r}; expected a number from 0 to 1")
    return float(value)


# Samples of lm-evaluation-harness: ``samples_TASK_TIME.jsonl``, read line by line.

_NAME = re.compile(r"^samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?$")


def read_lines(path: Path, subject: str | None) -> Iterator[SampleOutcome]:
    """Yield the outcomes of a sample file; of several answer filters the first one counts."""
    named = _NAME.match(path.stem)
    task = named["task"] if named else path.stem
    who = subject or path.resolve().parent.name
    chosen: tuple[str, object] | None = None
    with path.open(encoding="utf-8") as lines:
        for number, sample in json_lines(lines, path):
            if "doc_id" not in sample:
                raise MensuraError(f"{path}, line {number}: no doc_id; expected samples of lm-evaluation-harness")
            chosen = chosen or (_metric(sample, path), sample.get("filter"))
            if sample.get("filter") == chosen[1]:
                value = checked_value(sample.get(chosen[0]), f"{path}, line {number}: {chosen[0]}")
                yield SampleOutcome(who, f"{task}:{sample['doc_id']}", value, str(path))


def _metric(sample: Mapping[str, Any], path: Path) -> str:
    for metric in HARNESS_METRICS:
        if isinstance(sample.get(metric), int | float):
            return metric
    raise MensuraError(f"{path}: no known sample metric; expected one of {', '.join(HARNESS_METRICS)}")


# Samples of Every Eval Ever: one line per item and metric, people by their number in the metadata.


def is_shared_sample(line: str) -> bool:
    """Tell whether a line begins a file of samples of Every Eval Ever."""
    return all(f'"{key}"' in line for key in ("evaluation_id", "model_id", "sample_id"))


def read_shared(path: Path, subject: str | None) -> Iterator[SampleOutcome]:
    """Yield the outcomes of a file of samples; of several metrics the first one counts."""
    chosen: dict[str, object] = {}
    with path.open(encoding="utf-8") as lines:
        for number, sample in json_lines(lines, path):
            where = f"{path}, line {number}"
            for field in ("model_id", "evaluation_name", "sample_id", "evaluation"):
                if not sample.get(field):
                    raise MensuraError(f"{where}, {field}: missing; expected a sample of Every Eval Ever")
            test, result = str(sample["evaluation_name"]), sample.get("evaluation_result_id")
            if chosen.setdefault(test, result) != result:
                continue
            yield _shared_outcome(sample, test, subject, where, str(sample.get("evaluation_id") or path))


def _shared_outcome(sample: Mapping[str, Any], test: str, subject: str | None, where: str, run: str) -> SampleOutcome:
    person = inside(sample, "metadata", "person")
    value = inside(sample, "evaluation", "score")
    value = inside(sample, "evaluation", "is_correct") if value is None else value
    value = checked_value(value, f"{where}, evaluation.score")
    item = f"{test}:{inside(sample, 'metadata', 'item') or sample['sample_id']}"
    who = str(person or subject or sample["model_id"])
    spent = inside(sample, "performance", "latency_ms")
    seconds = spent / 1000 if isinstance(spent, int | float) and person else None
    group = str(sample["model_id"]) if person else None
    return SampleOutcome(who, item, value, run, bool(person), seconds, group)


# Instances of HELM: ``per_instance_stats.json`` beside the ``run_spec.json`` that names model and scenario.


def read_instances(instances: Sequence[Any], path: Path, subject: str | None) -> Iterator[SampleOutcome]:
    """Yield the outcomes of instances as they were meant: perturbed copies of them are another test."""
    model, scenario = helm_run(path)
    who = subject or model
    if not who:
        raise MensuraError(f"{path}: no run_spec.json beside it names the model; give the subject")
    metric: str | None = None
    for number, one in enumerate(instances, start=1):
        instance = as_object(one, path, f"instance {number}")
        if instance.get("perturbation"):
            continue
        stats = [stat for stat in instance.get("stats") or [] if isinstance(stat, Mapping) and "sum" in stat]
        figures = {str(stat["name"]["name"]): stat for stat in stats if isinstance(stat.get("name"), Mapping)}
        metric = metric or next((name for name in HELM_METRICS if name in figures), None)
        if metric is None:
            raise MensuraError(f"{path}: no known metric; expected one of {', '.join(HELM_METRICS)}")
        stat = figures.get(metric)
        count = float(stat.get("count") or 0.0) if stat else 0.0
        share = None if not stat or not count else checked_value(stat["sum"] / count, f"{path}: instance {number}")
        yield SampleOutcome(who, f"{scenario}:{instance['instance_id']}", share, str(path))


# Samples of Inspect: the archive (.eval), one sample in memory at a time, or the log as one JSON file.

MOST_SAMPLE_BYTES = 256 * 2**20
"""Largest sample that is read: transcripts of agents can be long, beyond this one is no sample."""
_PERSON_KEYS = ("person", "participant", "subject", "annotator", "user")
INSPECT_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters: correct, incorrect, partial, no answer."""


def read_archive(path: Path) -> Iterator[SampleOutcome]:
    """Yield the outcomes of an archive; several epochs are several outcomes of one item."""
    with open_inspect(path) as log:
        head = as_object(log.read("header.json", MOST_HEADER_BYTES), path, "header.json")
        for name in log.samples:
            yield _outcome(head, log.read(name, MOST_SAMPLE_BYTES), path, name)


def _outcome(head: Mapping[str, Any], sample: object, path: Path, name: str) -> SampleOutcome:
    asked, sample = as_object(head.get("eval") or {}, path, "eval"), as_object(sample, path, name)
    of_person = is_of_person(head, sample)
    who = _stated(asked, _PERSON_KEYS) or path.stem if of_person else str(asked.get("model") or "")
    if not who:
        raise MensuraError(f"{path}: the header names no model; expected an Inspect log")
    if sample.get("id") in (None, ""):
        raise MensuraError(f"{path}: {name} has no id; expected a sample of Inspect. Write the log again")
    item = f"{str(asked.get('task') or '').rsplit('/', 1)[-1]}:{sample['id']}"
    run = str(asked.get("run_id") or asked.get("eval_id") or path)
    value = _value(sample.get("scores"), path, name)
    if not of_person:
        return SampleOutcome(who, item, value, run)
    group = _stated(asked, ("population", "group"))
    return SampleOutcome(who, item, value, run, True, working_seconds(sample), group)


def working_seconds(sample: Mapping[str, Any]) -> float | None:
    """Return how long a person worked on a sample of the human agent: the clock stands still in pauses."""
    spent = inside(sample, "store", "HumanAgentState:accumulated_time")
    return float(spent) if isinstance(spent, int | float) and spent > 0 else None


def _stated(asked: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return what the metadata of an evaluation say under the first of some keys that is there."""
    return next((str(text) for key in keys if (text := inside(asked, "metadata", key))), None)


def _value(scores: object, path: Path, name: str) -> float | None:
    """Return the outcome by the first scorer; none where the sample was not scored."""
    if not isinstance(scores, Mapping) or not scores:
        return None
    value = inside(next(iter(scores.values())), "value")
    if isinstance(value, str):
        value = INSPECT_VALUES.get(value.strip())
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MensuraError(f"{path}: {name} has an unknown score; expected C, I, P, N or a number from 0 to 1")
    return float(value)


SAMPLE_SUFFIXES = (".eval", ".jsonl", ".json")


def is_sample_log(path: Path, subjects: Collection[str] | None = None) -> bool:
    """Return whether a file is an evaluation log: by its name, a JSON file by its first bytes.

    ``subjects``: names of columns that say who answered. JSON lines with one of them are a table, and so are those
    without the samples' own id. Where nobody gives such names, only lines with an item and no such id are a table.
    """
    suffix = path.suffix.lower()
    if suffix not in SAMPLE_SUFFIXES or suffix == ".eval" or not path.is_file():
        return suffix == ".eval"
    with path.open("rb") as file:
        start = file.read(MOST_HEADER_BYTES if suffix == ".json" else 2**16).decode("utf-8-sig", errors="ignore")
    if suffix == ".json":
        return re.search(r'"(eval|instance_id)"\s*:', start) is not None
    line = start.lstrip().partition("\n")[0]
    if is_shared_sample(line):
        return True
    if subjects is None:
        return '"doc_id"' in line or '"item":' not in line
    return '"doc_id"' in line and not any(f'"{name}":' in line for name in subjects)


def read_samples(path: Path, *, subject: str | None = None) -> Iterator[SampleOutcome]:
    """Yield the outcomes of a log: Inspect (.eval, .json), harness samples (.jsonl), HELM's per_instance_stats.json.

    ``subject`` names whose samples a harness or HELM file holds; by default the folder a harness file lies in, as the
    harness writes it, and the model that HELM's run_spec.json names.
    """
    suffix = path.suffix.lower()
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the path")
    if suffix == ".eval":
        return read_archive(path)
    if suffix == ".jsonl":
        with path.open(encoding="utf-8", errors="replace") as file:
            shared = is_shared_sample(file.read(2**16))
        return read_shared(path, subject) if shared else read_lines(path, subject)
    log = parse_json(path)
    if isinstance(log, Mapping) and "eval" in log:
        samples = enumerate(as_objects(log.get("samples"), path, "samples"), start=1)
        return (_outcome(log, one, path, f"sample {number}") for number, one in samples)
    if isinstance(log, list) and log and isinstance(log[0], Mapping) and "instance_id" in log[0]:
        return read_instances(log, path, subject)
    raise MensuraError(f"{path}: unknown log; expected an Inspect log with samples or HELM's per_instance_stats.json")
