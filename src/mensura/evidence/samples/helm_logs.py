"""Instances of HELM: ``per_instance_stats.json`` beside the ``run_spec.json`` that names model and scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.evidence.samples.outcome import SampleOutcome, as_object, checked_value

HELM_METRICS = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "final_number_exact_match",
    "math_equiv_chain_of_thought",
    "math_equiv",
    "ifeval_strict_accuracy",
    "chain_of_thought_correctness",
    "f1_score",
)
"""Figures that stand for an instance, the first that is there."""


def is_instances(told: object) -> bool:
    """Return whether a JSON file lists the figures of instances."""
    return isinstance(told, list) and bool(told) and isinstance(told[0], Mapping) and "instance_id" in told[0]


def read_instances(told: Sequence[Any], path: Path, subject: str | None) -> Iterator[SampleOutcome]:
    """Yield the outcomes of instances as they were meant: perturbed copies of them are another test."""
    model, scenario = _run(path)
    who = subject or model
    if not who:
        raise MensuraError(f"{path}: no run_spec.json beside it names the model; give the subject")
    metric: str | None = None
    for number, found in enumerate(told, start=1):
        instance = as_object(found, path, f"instance {number}")
        if instance.get("perturbation"):
            continue
        figures = {str(stat["name"]["name"]): stat for stat in instance.get("stats") or [] if _is_stat(stat)}
        metric = metric or next((name for name in HELM_METRICS if name in figures), None)
        if metric is None:
            raise MensuraError(f"{path}: no known metric; expected one of {', '.join(HELM_METRICS)}")
        stat = figures.get(metric)
        count = float(stat.get("count") or 0.0) if stat else 0.0
        share = None if not stat or not count else checked_value(stat["sum"] / count, f"{path}: instance {number}")
        yield SampleOutcome(who, f"{scenario}:{instance['instance_id']}", share, str(path))


def _is_stat(stat: object) -> bool:
    return isinstance(stat, Mapping) and isinstance(stat.get("name"), Mapping) and "sum" in stat


def _run(path: Path) -> tuple[str, str]:
    """Return model and scenario of the run a file belongs to; the scenario without the model's part of its name."""
    spec = path.parent / "run_spec.json"
    if not spec.is_file():
        return "", path.resolve().parent.name
    try:
        told = as_object(json.loads(spec.read_text(encoding="utf-8")), spec, "the run")
    except (ValueError, RecursionError) as fault:
        raise MensuraError(f"{spec}: not readable as JSON ({fault}); copy the run again") from fault
    scenario, _, options = str(told.get("name") or path.parent.name).partition(":")
    kept = [part for part in options.split(",") if part and not part.startswith("model=")]
    adapter = told.get("adapter_spec")
    model = str(adapter.get("model") or "") if isinstance(adapter, Mapping) else ""
    return model, ",".join([scenario, *kept])
