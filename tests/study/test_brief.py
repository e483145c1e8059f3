"""The half-page brief: numbers, intervals and commands that exist."""

import re
from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import polars as pl

import mensura
from mensura.cli.main import COMMANDS
from mensura.evidence.passing import say_passed
from mensura.study import brief
from mensura.study.brief import brief_sentences, write_brief


def test_every_sentence_names_a_command_that_exists(study):
    for *_, command in brief_sentences(study):
        program, name, *_ = command.split()
        assert program == "mensura" and name in COMMANDS


def test_every_claim_has_a_number_and_the_whole_fits_half_a_page(study):
    sentences = {head: text for head, text, *_ in brief_sentences(study)}
    for head in ("Who leads", "Which people were passed", "How long a task", "How fast", "What next", "What it costs"):
        assert re.search(r"\d|six|five|seven", sentences[head]), head
    assert len(write_brief(study).split()) < 400


def test_it_never_says_that_a_model_scores_as_a_person_with_its_iq_would(study):
    assert "average person" not in write_brief(study)


def passed(group, first, day):
    return SimpleNamespace(short=group, benchmark="quiz", verdict="passed", first=first and (first, day, 0.97))


def small_study(monkeypatch, groups):
    monkeypatch.setattr(brief, "passed_people", lambda _: groups)
    best = {"iq": 130.4, "iq_low": 125.4, "iq_high": 134.6, "measured": 9, "inherited": 1, "estimated": 22}
    models = pl.DataFrame({"subject": ["a"], "name": ["Ay"]})
    lead = SimpleNamespace(headline=lambda _: "Ay leads.", basis=lambda _: "By much.")
    return SimpleNamespace(
        lead=lead,
        ranked=pl.DataFrame([best]),
        evidence=SimpleNamespace(models=models),
        benchmark_names={"quiz": "The Quiz"},
        models=pl.DataFrame({"name": ["Ay"], "iq": [126], "effective_cost": [2.0]}),
    )


def test_the_leader_is_said_with_its_interval_and_how_many_tests_are_measured(monkeypatch):
    study = small_study(monkeypatch, [])
    assert brief._leads(study) == "Ay leads. Its IQ is 130 (125 to 135); 9 of its 32 tests are measured."
    study.lead = None
    assert brief._leads(study) == "No model is known well enough to be ranked."
    assert brief._costs(study).startswith("IQ 115 from $2 (Ay), 125 from $2 (Ay): effective cost of a million tokens")
    study.models = study.models.clear()
    assert brief._costs(study) == "Not known."


def test_the_three_latest_groups_are_named_with_model_and_month(monkeypatch):
    days = [date(2025, month, 1) for month in (1, 2, 3, 4)]
    groups = [passed(f"G{at}", "a", day) for at, day in enumerate(days)] + [passed("H", None, None)]
    said = brief._passed(small_study(monkeypatch, groups))
    latest = [f"G{at} on The Quiz by Ay in {days[at]:%B} 2025" for at in (1, 2, 3)]
    assert said.endswith(f"The latest: {'; '.join(latest)}.")
    assert brief._passed(small_study(monkeypatch, groups[4:])) == say_passed([])


def test_each_line_has_its_heading_its_command_and_a_source_unless_it_is_the_scores(monkeypatch):
    sentences = [("One", "Text.", brief._SCORES, "mensura iq"), ("Two", "More.", "a board", "mensura cost")]
    monkeypatch.setattr(brief, "brief_sentences", lambda _: sentences)
    study = SimpleNamespace(evidence=replace(mensura.load(), scores=mensura.load().scores.head(0)))
    assert write_brief(study).startswith("# AI and people, by evidence of no known day\n")
    assert write_brief(study).endswith(
        "- **One.** Text. `mensura iq`\n- **Two.** More. Source: a board. `mensura cost`\n"
    )
