"""Samples of lm-evaluation-harness: ``samples_TASK_TIME.jsonl``, read line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.evidence.intake.logs import HARNESS_METRICS
from mensura.evidence.samples.outcome import SampleOutcome, checked_value

_NAME = re.compile(r"^samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?$")


def read_lines(path: Path, subject: str | None) -> Iterator[SampleOutcome]:
    """Yield the outcomes of a sample file; of several answer filters the first one counts."""
    found = _NAME.match(path.stem)
    task = found["task"] if found else path.stem
    who = subject or path.resolve().parent.name
    chosen: tuple[str, object] | None = None
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            sample = _sample(line, path, number)
            if chosen is None:
                chosen = _metric(sample, path), sample.get("filter")
            if sample.get("filter") == chosen[1]:
                value = checked_value(sample.get(chosen[0]), f"{path}: line {number}: {chosen[0]}")
                yield SampleOutcome(who, f"{task}:{sample['doc_id']}", value, str(path))


def _sample(line: str, path: Path, number: int) -> Mapping[str, Any]:
    try:
        sample = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: line {number} is not JSON ({fault}); write the log again") from fault
    if not isinstance(sample, Mapping) or "doc_id" not in sample:
        raise MensuraError(f"{path}: line {number} has no doc_id; expected samples of lm-evaluation-harness")
    return sample


def _metric(sample: Mapping[str, Any], path: Path) -> str:
    for metric in HARNESS_METRICS:
        if isinstance(sample.get(metric), int | float):
            return metric
    raise MensuraError(f"{path}: no known sample metric; expected one of {', '.join(HARNESS_METRICS)}")
