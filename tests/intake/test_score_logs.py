"""Evaluation logs as rows: lm-evaluation-harness, Inspect (``.json``, ``.eval``), HELM, and shared records."""

import json

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.score_logs import read_log
from tests.intake.messy import archive
from tests.responses.test_reading import packed_by_zstandard


def test_the_head_of_a_log_has_16_mebibytes(tmp_path):
    scores = [{"name": "match", "metrics": {"accuracy": {"value": 1}}}]
    head = {"eval": {"model": "a/b", "task": "owner/inspect/hle"}, "results": {"scores": scores}, "pad": ""}
    pad = "x" * (16 * 2**20 - len(json.dumps(head)))
    (tmp_path / "a.eval").write_bytes(archive({"header.json": json.dumps({**head, "pad": pad})}))
    assert read_log(tmp_path / "a.eval").rows == [("a/b", "hle", 1.0, "fraction", None, None)]
    (tmp_path / "a.eval").write_bytes(archive({"header.json": json.dumps({**head, "pad": f"{pad}x"})}))
    with pytest.raises(MensuraError, match=r"16,777,217 bytes; at most 16,777,216"):
        read_log(tmp_path / "a.eval")


@pytest.mark.parametrize(("value", "taken"), [(0, True), (1, True), (0.5, True), (-0.01, False), (1.01, False)])
def test_a_figure_of_an_inspect_log_is_a_share(value, taken, tmp_path):
    scores = [{"name": "match", "metrics": {"accuracy": {"value": value}, "mean": {"value": 0.25}}}]
    head = {"eval": {"model": "m", "task": "hle"}, "results": {"scores": scores, "completed_samples": 7}}
    (tmp_path / "a.json").write_text(json.dumps(head), encoding="utf-8")
    assert read_log(tmp_path / "a.json").rows == [("m", "hle", value if taken else 0.25, "fraction", 7, None)]


def test_a_log_packed_by_zstandard_is_read_and_a_damaged_one_refused(tmp_path):
    head = {"eval": {"model": "m", "task": "hle"}, "results": {"scores": [{"metrics": {"mean": {"value": 0.5}}}]}}
    log = tmp_path / "a.eval"
    log.write_bytes(archive({"header.json": json.dumps(head)}))
    packed_by_zstandard(log)
    assert read_log(log).rows == [("m", "hle", 0.5, "fraction", None, None)]
    log.write_bytes(archive({"header.json": json.dumps(head)}))
    packed_by_zstandard(log, damage=lambda told: told.replace(b"0.5", b"0.6"))
    with pytest.raises(MensuraError, match=r"header.json is damaged"):
        read_log(log)
