"""Outcomes of evaluation logs, sample by sample: Inspect, lm-evaluation-harness and HELM."""

from mensura.evidence.samples.reading import SAMPLE_SUFFIXES, SampleOutcome, is_sample_log, read_samples

__all__ = ["SAMPLE_SUFFIXES", "SampleOutcome", "is_sample_log", "read_samples"]
