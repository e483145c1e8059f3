"""Samples of Inspect: the archive (.eval), one sample in memory at a time, or the log as one JSON file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.evidence.intake.logs import MOST_HEADER_BYTES
from mensura.evidence.samples.outcome import SampleOutcome, as_object
from mensura.intake.packed import read_member

MOST_SAMPLE_BYTES = 256 * 2**20
"""Largest sample that is read: transcripts of agents can be long, beyond this one is no sample."""
INSPECT_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters: correct, incorrect, partial, no answer."""


def read_archive(path: Path) -> Iterator[SampleOutcome]:
    """Yield the outcomes of an archive; several epochs are several outcomes of one item."""
    try:
        with zipfile.ZipFile(path) as archive:
            asked = _member(archive, "header.json", path, MOST_HEADER_BYTES).get("eval") or {}
            for name in archive.namelist():
                if name.startswith("samples/") and name.endswith(".json"):
                    yield _outcome(asked, _member(archive, name, path, MOST_SAMPLE_BYTES), path, name)
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); check that the evaluation was finished") from fault


def read_whole(told: Mapping[str, Any], path: Path) -> Iterator[SampleOutcome]:
    """Yield the outcomes of a log that is one JSON file."""
    for number, sample in enumerate(told.get("samples") or [], start=1):
        yield _outcome(told.get("eval") or {}, as_object(sample, path, f"sample {number}"), path, f"sample {number}")


def _outcome(asked: Mapping[str, Any], sample: Mapping[str, Any], path: Path, name: str) -> SampleOutcome:
    model, task = str(asked.get("model") or ""), str(asked.get("task") or "").rsplit("/", 1)[-1]
    if not model:
        raise MensuraError(f"{path}: the header names no model; expected an Inspect log")
    run = str(asked.get("run_id") or asked.get("eval_id") or path)
    return SampleOutcome(model, f"{task}:{sample.get('id')}", _value(sample.get("scores"), path, name), run)


def _member(archive: zipfile.ZipFile, name: str, path: Path, most: int) -> Mapping[str, Any]:
    return as_object(json.loads(read_member(archive, name, most)), path, name)


def _value(scores: object, path: Path, name: str) -> float | None:
    """Return the outcome by the first scorer; none where the sample was not scored."""
    if not isinstance(scores, Mapping) or not scores:
        return None
    first = next(iter(scores.values()))
    value = first.get("value") if isinstance(first, Mapping) else None
    if isinstance(value, str):
        value = INSPECT_VALUES.get(value.strip())
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MensuraError(f"{path}: {name} has an unknown score; expected C, I, P, N or a number from 0 to 1")
    return float(value)
