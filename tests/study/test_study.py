"""The study behind every page: run once per evidence."""

from dataclasses import replace

import pytest

import mensura
from mensura.calibration import chosen_lines
from mensura.iq.sampler import WHOLE_ROUNDS
from mensura.study import Study
from mensura.study.study import draws_for


def test_a_study_is_run_once_and_read_from_the_cache_afterwards(study, evidence, monkeypatch):
    def never(*_):
        raise AssertionError("run again")

    monkeypatch.setattr(Study, "_computed", never)
    again = Study.open(evidence)
    for name, table in study.tables().items():
        assert again.tables()[name].equals(table), name
    assert again.watch.heading == study.watch.heading
    Study.open(evidence, chosen_lines(published=evidence.calibration))  # as the report asks for it


def test_another_evidence_is_another_study():
    evidence = mensura.load()
    fewer = replace(evidence, scores=evidence.scores.head(500))
    assert fewer.fingerprint != evidence.fingerprint == replace(evidence, origin="elsewhere").fingerprint


@pytest.mark.parametrize(
    ("models", "draws"), [(0, 1000), (1, 1000), (500, 1000), (501, 980), (1000, 500), (2500, 200), (9000, 200)]
)
def test_half_a_million_values_are_drawn_at_most_and_200_of_each_model_at_least(models, draws):
    assert draws_for(models) == draws
    assert draws % WHOLE_ROUNDS == 0  # so that the scoring and its intervals share them
