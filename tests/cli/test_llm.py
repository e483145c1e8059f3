"""``mensura llm`` and ``mensura export`` read a journal; ``mensura evidence cite`` prints what the evidence is."""

import json
import re
from pathlib import Path

import pytest

import mensura
from mensura.cli.llm import AUTHOR, TITLE
from mensura.core.cache import keep_results

CITATION = Path(__file__).parents[2] / "CITATION.cff"


def test_status_counts_what_was_answered_read_failed_and_left(journal, mensura_command):
    told = json.loads(mensura_command("llm", "status", journal, "--json").out)
    first, second = told["models"]
    assert (first["model"], first["answered"], first["unreadable"], first["failed"]) == ("mine", 4, 1, 1)
    assert json.loads(second["settings"]) == {"max_tokens": 2048, "temperature": 0.5}
    assert (first["open"], first["batched"]) == (0, 0)
    assert "unreadable" in mensura_command("llm", "status", journal).out


def test_cost_sums_what_was_spent_and_prices_what_was_not(journal, mensura_command):
    told = json.loads(mensura_command("llm", "status", journal, "--json").out)
    first, second = told["models"]
    assert first["cost"] == pytest.approx((first["tokens_in"] + 10 * first["tokens_out"]) / 1e6)
    assert (second["cost"], second["unpriced"]) == (None, 1), "no price is known, so the cost is not 0"
    priced = json.loads(mensura_command("llm", "status", journal, "--json", "--price-in", 100, "--price-out", 0).out)
    assert priced["models"][0] == first
    assert priced["models"][1]["cost"] == pytest.approx(second["tokens_in"] * 1e-4)
    assert priced["total"] == pytest.approx(first["cost"] + second["tokens_in"] * 1e-4)
    assert mensura_command("llm", "status", journal, "--price-in", 1).code == 2
    assert "in all, without 1 answers of unknown price" in mensura_command("llm", "status", journal).out


def test_wrong_files_are_refused(journal, tmp_path, mensura_command):
    assert "no such file or folder" in mensura_command("llm", "status", tmp_path / "none.sqlite").err
    told = mensura_command("export", journal, "--to", "file", "--out", tmp_path / "audit.xlsx")
    assert told.code == 2
    assert ".csv, .parquet, .html" in told.err


def test_both_forms_name_version_edition_and_fingerprint(mensura_command):
    out = mensura_command("evidence", "cite").out
    evidence = mensura.load()
    said = f"evidence edition {evidence.edition['edition']}, fingerprint {evidence.fingerprint}"
    assert " ".join(out.split()).lower().count(said) == 3  # BibTeX, APA, and the line for people
    assert f"version = {{{mensura.__version__}}}" in out


def test_one_form_alone_is_a_file_of_references(mensura_command):
    out = mensura_command("evidence", "cite", "--format", "bibtex", width=40).out
    assert re.fullmatch(r"@software\{mensura,\n(  \w+ = \{.*\},?\n)+\}\n", out)


def test_evidence_of_ones_own_has_its_own_fingerprint(mensura_command, few_models):
    told = json.loads(mensura_command("evidence", "cite", "--evidence", few_models, "--json").out)
    assert told["fingerprint"] != mensura.load().fingerprint
    assert "Evidence of one's own" in told["apa"]


def test_an_unknown_form_is_refused(mensura_command):
    run = mensura_command("evidence", "cite", "--format", "mla")
    assert (run.code, "expected one of bibtex, apa" in run.err) == (2, True)


def test_the_citation_file_says_the_same():
    text = CITATION.read_text(encoding="utf-8")
    assert f'title: "{TITLE}"' in text
    assert f'- name: "{AUTHOR}"' in text
    assert f"version: {mensura.__version__}" in text


def test_what_is_kept_is_listed_and_cleared(mensura_command, monkeypatch, tmp_path):
    monkeypatch.setenv("MENSURA_CACHE", str(tmp_path / "kept"))
    keep_results("study", [(["a"], list(range(1000)))])
    cache = ("evidence", "cache")
    [row] = json.loads(mensura_command(*cache, "--json").out)["kept"]
    [file] = (path for path in (tmp_path / "kept").rglob("*") if path.name == row["file"])
    assert row["result"] == "study" and row["megabytes"] == pytest.approx(file.stat().st_size / 1e6)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", row["used"])
    assert mensura_command(*cache, "--clear").out.startswith("removed 1 result from ")
    assert json.loads(mensura_command(*cache, "--json").out)["kept"] == []
    monkeypatch.setenv("MENSURA_CACHE", "off")
    assert mensura_command(*cache).out == "Nothing is kept: MENSURA_CACHE is off.\n"
