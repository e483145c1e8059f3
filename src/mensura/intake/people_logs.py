"""Results of people in evaluation logs and shared records: each group with its size, times and conditions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from mensura.core.errors import MensuraError, listed_names
from mensura.intake.records import as_objects, open_inspect, parse_json
from mensura.intake.samples import SampleOutcome, read_samples
from mensura.intake.score_logs import HUMAN_SOLVERS, MOST_HEADER_BYTES, is_of_person
from mensura.intake.shared_records import is_of_people, is_record, read_record

_MARKS = (*(name.encode() for name in sorted(HUMAN_SOLVERS)), b"HumanAgentState", b"subject_kind")
GROUP = "people (Inspect's human agent)"


def is_people_log(path: Path) -> bool:
    """Tell whether a file is an Inspect log that people took, or a shared record about a group of people."""
    if path.suffix.lower() == ".eval" and path.is_file():
        with open_inspect(path) as log:
            head = log.read("header.json", MOST_HEADER_BYTES)
            return is_of_person(head) or (bool(log.samples) and is_of_person(head, log.read(log.samples[0])))
    if path.suffix.lower() != ".json" or not path.is_file() or not any(mark in path.read_bytes() for mark in _MARKS):
        return False
    log = parse_json(path)
    if not isinstance(log, Mapping):
        return False
    if is_record(log):
        return is_of_people(log)
    return isinstance(log.get("eval"), Mapping) and is_of_person(
        log, next(iter(as_objects(log.get("samples"), path, "samples")), None)
    )


def read_people_logs(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return one row per test and group: score, unit, n, conditions, source; several logs are several persons."""
    rows: list[dict[str, Any]] = []
    answers: dict[tuple[str, str], list[tuple[str, SampleOutcome]]] = {}
    for path in paths:
        document = None if path.suffix.lower() == ".eval" else parse_json(path)
        if isinstance(document, Mapping) and is_record(document):
            rows += [_of_record(row.cells) for row in read_record(document, path)]
            continue
        for sample in read_samples(path):
            if not sample.of_person:
                raise MensuraError(f"{path}: {sample.item} is of no person; give logs of people and models apart")
            test = sample.item.rsplit(":", 1)[0]
            answers.setdefault((test, sample.group or GROUP), []).append((path.name, sample))
    return [*rows, *(_of_answers(*key, those) for key, those in answers.items())]


def _of_record(cells: Mapping[str, Any]) -> dict[str, Any]:
    details = cells["details"]
    year = str(details.get("year") or cells["date"] or "")[:4]
    return {
        **{column: cells[column] for column in ("score", "unit", "conditions", "low", "high", "source")},
        **{column: details.get(column) for column in ("part", "metric", "status", "seen")},
        "benchmark": cells["task"],
        "group": cells["group"],
        "n": cells["persons"],
        "year": int(year) if year.isdigit() else None,
    }


def _of_answers(test: str, group: str, answers: Sequence[tuple[str, SampleOutcome]]) -> dict[str, Any]:
    """Sum up the answers of some people: the mean of their own rates, and their median working time."""
    persons: dict[str, list[float]] = {}
    for _, one in answers:
        persons.setdefault(one.subject, []).append(one.value or 0.0)  # nothing handed in is nothing solved
    rates = [sum(values) / len(values) for values in persons.values()]
    seconds = [one.seconds for _, one in answers if one.seconds is not None]
    time = f", {median(seconds) / 60:.3g} minutes per task (median)" if seconds else ""
    return {
        "benchmark": test,
        "part": "all",
        "group": group,
        "score": sum(rates) / len(rates),
        "unit": "fraction",
        "n": len(persons),
        "conditions": f"{len({one.item for _, one in answers})} tasks{time}; Inspect's human agent",
        "source": f"Inspect logs: {listed_names(list(dict.fromkeys(file for file, _ in answers)))}",
    }
