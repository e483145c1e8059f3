"""The half-page brief: numbers, intervals and commands that exist."""

import re

from mensura.cli.main import COMMANDS
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
