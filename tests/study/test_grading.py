"""Grades of the record of claims: calibration of chances, coverage of intervals, errors of forecasts, worst misses."""

from __future__ import annotations

import copy
import json

import pytest

from mensura.core.errors import MensuraError
from mensura.study import grading
from mensura.study.grading import seal, sealed_claims


def test_a_seal_breaks_with_a_single_sign(monkeypatch, tmp_path):
    sealed = sealed_claims()
    assert sealed and all(len(one["sha256"]) == 64 for one in sealed)
    changed = copy.deepcopy(sealed)
    changed[0]["claims"][0]["claim"] += "."
    assert seal(changed[0]["claims"], changed[0]["salt"]) != sealed[0]["sha256"]
    file = tmp_path / "sealed_claims.json"
    file.write_text(json.dumps(changed), encoding="utf-8")
    monkeypatch.setattr(grading, "SEALS", file)
    with pytest.raises(MensuraError, match="do not match their seal"):
        sealed_claims()


def test_the_order_of_keys_is_no_part_of_a_seal():
    assert seal([{"a": 1, "b": 2}], "s") == seal([{"b": 2, "a": 1}], "s") != seal([{"a": 1, "b": 2}], "t")
