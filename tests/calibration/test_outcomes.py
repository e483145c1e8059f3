"""Outcomes lined up with demands: who solved which item, and what the item asks for."""

import json

import numpy as np
import pytest

from mensura.calibration import read_outcomes
from mensura.calibration.outcomes import line_up
from mensura.core.errors import MensuraError

TRUE = np.array([2.0, 3.0, 4.0])


def test_words_and_repeated_tries():
    told = {"subject": "a", "item": ["i", "i", "j"], "correct": ["TRUE", "I", "1"]}
    found = line_up(told, {"item": ["i", "j"], "KNn": [1, 2]})
    assert found.solved.tolist() == [0.5, 1.0]
    assert "averaged" in found.warnings[0]


def test_harness_samples_are_read_line_by_line(tmp_path):
    folder = tmp_path / "meta__llama"
    folder.mkdir()
    outcomes = [(0, "strict", 1.0), (0, "loose", 0.0), (1, "strict", 0.0)]
    lines = [{"doc_id": doc, "filter": how, "exact_match": value} for doc, how, value in outcomes]
    path = folder / "samples_gsm8k_2025-01-02T03-04-05.678.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read_outcomes(path).rows() == [("meta__llama", "gsm8k:0", 1.0), ("meta__llama", "gsm8k:1", 0.0)]
    assert read_outcomes(path, subject="mine")["subject"].unique().to_list() == ["mine"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.eval", "no archive", "not an Inspect log"),
        ("a.jsonl", "{", "line 1: not JSON"),
        ("a.jsonl", '{"id": 1}', "no doc_id"),
        ("a.jsonl", '{"doc_id": 1, "bleu": 3}', "no known sample metric"),
        ("a.jsonl", '{"doc_id": 1, "acc": 3}', "acc is 3"),
        ("a.jsonl", "", "check that the evaluation was scored"),
    ],
)
def test_broken_logs_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(MensuraError, match=message):
        read_outcomes(tmp_path / name)
