"""One door to evaluation logs, told apart by name and content.

An item is called TASK:ID, after the task and the sample's id (harness: ``doc_id``; HELM: ``instance_id``). Samples
are read one at a time where the format allows it; only their outcomes are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.evidence.samples.harness_logs import read_lines
from mensura.evidence.samples.helm_logs import is_instances, read_instances
from mensura.evidence.samples.inspect_logs import read_archive, read_whole
from mensura.evidence.samples.outcome import SampleOutcome

SAMPLE_SUFFIXES = (".eval", ".jsonl", ".json")

__all__ = ["SAMPLE_SUFFIXES", "SampleOutcome", "is_sample_log", "read_samples"]


def is_sample_log(path: Path) -> bool:
    """Return whether a file's name is that of an evaluation log."""
    return path.suffix.lower() in SAMPLE_SUFFIXES


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
        return read_lines(path, subject)
    try:
        told = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not readable as JSON ({fault}); write the log again") from fault
    if isinstance(told, Mapping) and "eval" in told:
        return read_whole(told, path)
    if is_instances(told):
        return read_instances(told, path, subject)
    raise MensuraError(f"{path}: unknown log; expected an Inspect log with samples or HELM's per_instance_stats.json")
