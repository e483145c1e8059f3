"""Every result says which evidence it was computed from."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest

import mensura
from mensura.ledger import init_ledger
from mensura.stitching import stitch


def test_equal_evidence_has_an_equal_fingerprint_wherever_it_lies(tmp_path):
    evidence = mensura.load()
    evidence.save(tmp_path / "copy")
    init_ledger(tmp_path / "copy.sqlite", by="Ann", when=datetime(2026, 11, 1, tzinfo=UTC))
    copies = [mensura.load(tmp_path / name) for name in ("copy", "copy.sqlite")]
    assert {copy.fingerprint for copy in copies} == {evidence.fingerprint}
    assert [copy.edition["edition"] for copy in copies] == [None, None]
    assert evidence.edition["edition"] == "2026-12"
    assert evidence.fingerprint in str(evidence)


def test_a_store_with_a_history_and_the_evidence_in_it_have_one_fingerprint(tmp_path):
    evidence = mensura.load()
    evidence.save(tmp_path / "copy")
    ledger = init_ledger(tmp_path / "store.sqlite", tmp_path / "copy", by="Ann", when=datetime(2026, 11, 1, tzinfo=UTC))
    assert ledger.version().fingerprint.startswith(evidence.fingerprint)
    assert ledger.evidence().fingerprint == evidence.fingerprint


def test_the_order_of_rows_is_no_part_of_the_evidence(tmp_path):
    evidence = mensura.load()
    evidence.save(tmp_path / "copy")
    file = tmp_path / "copy" / "scores.csv"
    head, *rows = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([head, *reversed(rows)]), encoding="utf-8")
    assert mensura.load(tmp_path / "copy").fingerprint == evidence.fingerprint


def test_one_changed_figure_changes_the_fingerprint():
    evidence = mensura.load()
    more = evidence.add(pl.DataFrame({"subject": ["gpt-5.5"], "benchmark": ["hle"], "score": ["41.6%"]}))
    assert more.fingerprint != evidence.fingerprint
    assert more.edition["edition"] == "2026-12"


@pytest.mark.slow
def test_results_carry_their_settings():
    evidence = mensura.load()
    settings = mensura.score_iq(evidence, method="published", draws=10, seed=7).settings
    assert settings["imputation"] == "waterfall"
    assert settings["ladders"] == "published"
    assert settings["seed"] == 7
    assert sum(settings["weights"].values()) == pytest.approx(1)
    assert settings["evidence"] == evidence.edition
    assert settings["mensura"] == mensura.__version__
    scores = {"model": ["a", "a", "b", "b"], "benchmark": ["x", "y"] * 2, "score": [0.1, 0.2, 0.3, 0.5]}
    assert stitch(scores).settings["evidence"] is None
    assert stitch(scores).settings["dimensions"] == 1


def test_json_of_a_command_without_evidence_says_so(mensura_command):
    about = json.loads(mensura_command("scale", "0.1", "--json").out)["provenance"]
    assert about["mensura"] == mensura.__version__
    assert about["command"] == "scale"
    assert about["evidence"] is None
    assert about["settings"]["rate"] == 0.1
