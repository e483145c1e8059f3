"""Outcomes of evaluation logs, sample by sample: Inspect archives and sample files of lm-evaluation-harness.

Samples are read one at a time; a log larger than memory is no matter, only its outcomes are kept. An item is called
TASK:ID, after the task and the sample's id (harness: ``doc_id``).
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from mensura.errors import MensuraError
from mensura.evidence.intake.logs import HARNESS_METRICS, MOST_HEADER_BYTES
from mensura.frames import read_frame

MOST_SAMPLE_BYTES = 256 * 2**20
"""Largest sample that is read: transcripts of agents can be long, beyond this one is no sample."""
INSPECT_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters: correct, incorrect, partial, no answer."""
_HARNESS_NAME = re.compile(r"^samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?$")
_COLUMNS = {"subject": pl.String, "item": pl.String, "correct": pl.Float64}


def read_outcomes(path: str | Path, *, subject: str | None = None) -> pl.DataFrame:
    """Return subject, item, correct of a table (CSV, Parquet), an Inspect log (.eval) or harness samples (.jsonl).

    ``subject`` names whose samples a harness file holds; by default the folder it lies in, as the harness writes it.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in {".eval", ".jsonl"}:
        return read_frame(path)
    if not path.is_file():
        raise MensuraError(f"{path}: no such file")
    rows = list(_inspect(path) if suffix == ".eval" else _harness(path, subject))
    if not rows:
        raise MensuraError(f"{path}: no sample with an outcome; there is nothing to take")
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def match_items(outcomes: pl.DataFrame, items: pl.Series) -> pl.DataFrame:
    """Return outcomes whose TASK:ID is shortened to ID, where the demands know none of the long ids but short ones."""
    if (
        "item" not in outcomes.columns
        or outcomes.schema["item"] != pl.String
        or outcomes["item"].is_in(items.implode()).any()
    ):
        return outcomes
    short = outcomes["item"].str.split_exact(":", 1).struct.field("field_1")
    if short.null_count() or not short.is_in(items.implode()).any():
        return outcomes
    if outcomes["item"].str.split_exact(":", 1).struct.field("field_0").n_unique() > 1:
        raise MensuraError("outcomes: several tasks, but the demands name items by id alone; name them TASK:ID there")
    return outcomes.with_columns(item=short)


def _inspect(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the outcomes of an archive; several epochs are several rows."""
    try:
        with zipfile.ZipFile(path) as archive:
            asked = _member(archive, "header.json", path, MOST_HEADER_BYTES).get("eval") or {}
            model, task = str(asked.get("model") or ""), str(asked.get("task") or "").rsplit("/", 1)[-1]
            if not model:
                raise MensuraError(f"{path}: the header names no model; this is no Inspect log")
            for name in archive.namelist():
                if name.startswith("samples/") and name.endswith(".json"):
                    sample = _member(archive, name, path, MOST_SAMPLE_BYTES)
                    value = _inspect_value(sample.get("scores"), path, name)
                    if value is not None:
                        yield model, f"{task}:{sample.get('id')}", value
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); was the evaluation finished?") from fault


def _member(archive: zipfile.ZipFile, name: str, path: Path, most: int) -> Mapping[str, Any]:
    size = archive.getinfo(name).file_size
    if size > most:
        raise MensuraError(f"{path}: {name} has {size:,} bytes; at most {most:,} are read")
    told = json.loads(archive.read(name))
    if not isinstance(told, Mapping):
        raise MensuraError(f"{path}: {name} is not an object; this is no Inspect log")
    return told


def _inspect_value(scores: object, path: Path, name: str) -> float | None:
    """Return the outcome by the first scorer; none where the sample was not scored."""
    if not isinstance(scores, Mapping) or not scores:
        return None
    first = next(iter(scores.values()))
    value = first.get("value") if isinstance(first, Mapping) else None
    if isinstance(value, str):
        value = INSPECT_VALUES.get(value.strip())
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MensuraError(f"{path}: {name} has a score that is neither C, I, P, N nor a number from 0 to 1")
    return float(value)


def _harness(path: Path, subject: str | None) -> Iterator[tuple[str, str, float]]:
    """Yield the outcomes of a sample file line by line; of several answer filters the first one counts."""
    found = _HARNESS_NAME.match(path.stem)
    task = found["task"] if found else path.stem
    who = subject or path.resolve().parent.name
    chosen: tuple[str, object] | None = None
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                sample = json.loads(line)
            except (ValueError, RecursionError) as fault:
                raise MensuraError(f"{path}: line {number} is not JSON ({fault})") from fault
            if not isinstance(sample, Mapping) or "doc_id" not in sample:
                raise MensuraError(f"{path}: line {number} has no doc_id; expected samples of lm-evaluation-harness")
            if chosen is None:
                chosen = _metric(sample, path), sample.get("filter")
            if sample.get("filter") != chosen[1]:
                continue
            value = sample.get(chosen[0])
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise MensuraError(f"{path}: line {number}: {chosen[0]} is {value!r}; expected a number from 0 to 1")
            yield who, f"{task}:{sample['doc_id']}", float(value)


def _metric(sample: Mapping[str, Any], path: Path) -> str:
    for metric in HARNESS_METRICS:
        if isinstance(sample.get(metric), int | float):
            return metric
    raise MensuraError(f"{path}: no sample metric among {', '.join(HARNESS_METRICS)}; there is nothing to take")
