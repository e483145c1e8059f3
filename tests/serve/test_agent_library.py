"""Questions of agents that one evidence or the ruler answers, without the study."""

import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.serve import agent_library
from mensura.serve.agent_library import Library


@pytest.fixture(scope="module")
def library():
    return Library(mensura.load)


def test_the_evidence_is_opened_with_the_first_question_and_once():
    opened = []

    def open_evidence():
        opened.append(1)
        return mensura.load()

    asked = Library(open_evidence)
    assert opened == []
    assert asked.find("model", "GPT 5.5") == "gpt-5.5" and asked.find("benchmark", "gpqa diamond") == "gpqa_diamond"
    assert opened == [1]


def test_a_name_that_is_not_there_is_refused_with_the_nearest_and_the_question_that_lists_it(library):
    with pytest.raises(
        MensuraError, match=r"model: 'gpt 55' is not in the evidence.*did you mean gpt-5\.5.*list_names"
    ):
        library.find("model", "gpt 55")


def test_names_are_found_by_letters_of_id_or_name_whatever_their_case(library, monkeypatch):
    found = library.list_names("benchmark", "GPQA")
    assert "gpqa_diamond" in found.names and found.total == len(found.names) < len(library.names_of("benchmark"))
    assert library.list_names("benchmark", "gpqa DIA").names == ["gpqa_diamond"]
    assert "country" in library.list_names("population").note and not found.note
    monkeypatch.setattr(agent_library, "MOST_NAMES", 2)
    cut = library.list_names("model")
    assert len(cut.names) == 2 and cut.total == mensura.load().models.height


def test_people_who_were_never_asked_are_no_group(library):
    references = mensura.load().human_references
    constructed = set(references.filter(status="constructed")["group"]) - set(
        references.filter(status="measured")["group"]
    )
    assert constructed and not constructed & set(library.groups)
    scores = library.people_scores(group="crowd workers", benchmark="arc_agi_1")
    assert [score.who for score in scores] == ["People: crowd workers"]
    assert {score.score.status for score in library.people_scores()} == {"measured", "judged"}


def test_a_benchmark_comes_with_its_best_models_first_and_more_in_full(library):
    brief, full = (library.look_up_benchmark("hle", detail) for detail in ("brief", "full"))
    best = [score.score.value for score in full.best]
    assert best == sorted(best, reverse=True) and len(best) == 10
    assert [score.who for score in brief.best] == [score.who for score in full.best[:3]]
    assert brief.models == mensura.load().primary_scores.filter(benchmark="hle").height
    assert set(brief.ladders) == {"published"} <= set(full.ladders)


def test_a_place_on_the_ruler_is_given_in_one_unit_and_converted_to_the_others(library):
    found = library.convert(130, "iq", 115, 145)
    assert found.iq.status == "given" and found.iq.value == 130
    assert {quantity.status for quantity in (found.rate, found.percentile, found.one_in, found.level)} == {"converted"}
    assert (found.rate.value, found.percentile.value) == pytest.approx((0.02275, 97.725), abs=1e-3)
    assert (found.rate.low, found.rate.high) == pytest.approx((0.00135, 0.15866), abs=1e-4), "a rarer place has less"


def test_a_level_beyond_the_items_of_its_dimension_is_noted(library):
    inside, beyond = (library.convert(level, "level", dimension="volume") for level in (3.0, 9.0))
    assert inside.level.value == pytest.approx(3.0) and inside.scale.startswith("Volume, base 31.9")
    assert len(beyond.notes) == len(inside.notes) + 1


def test_a_source_is_named_with_its_address(library):
    key, name, url = mensura.load().sources.drop_nulls("url").select("source", "name", "url").row(0)
    assert library.source(key) == f"{name} ({url})"
    assert (library.source("unlisted"), library.source(None)) == ("unlisted", "not stated")
