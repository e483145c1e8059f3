"""The study behind every page: run once per evidence."""

from dataclasses import replace

import mensura
from mensura.calibration import chosen_lines
from mensura.site import Study


def test_a_study_is_run_once_and_read_from_the_cache_afterwards(study, evidence, monkeypatch):
    def never(*_):
        raise AssertionError("run again")

    monkeypatch.setattr(Study, "run", never)
    again = Study.open(evidence)
    for name, table in study.tables().items():
        assert again.tables()[name].equals(table), name
    assert again.watch.heading == study.watch.heading
    Study.open(evidence, chosen_lines(published=evidence.calibration))  # as the report asks for it


def test_another_evidence_is_another_study():
    evidence = mensura.load()
    fewer = replace(evidence, scores=evidence.scores.head(500))
    assert fewer.fingerprint != evidence.fingerprint == replace(evidence, origin="elsewhere").fingerprint
