"""What ``mensura evidence cite`` prints is what the evidence is."""

import json
import re
from pathlib import Path

import mensura
from mensura.cli.llm import AUTHOR, TITLE

CITATION = Path(__file__).parents[2] / "CITATION.cff"


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
