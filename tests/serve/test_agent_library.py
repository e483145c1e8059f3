"""Questions of agents that one evidence or the ruler answers, without the study."""

from datetime import date
from types import SimpleNamespace

import polars as pl
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


def test_a_rate_is_carried_with_its_regions_only_in_full(library, monkeypatch):
    asked = []
    table = pl.DataFrame({"rate": [0.2], "low": [0.1], "high": [0.4]})
    result = SimpleNamespace(
        focal="pisa",
        reference="world",
        table=table,
        task="task",
        level=0.9,
        interval="assumptions",
        method="by strata",
        sensitivity=pl.DataFrame({"assumption": ["schooling", "age"]}),
        warnings=("careful",),
    )
    regions = pl.DataFrame({"region": ["Asia"], "rate": [0.3], "low": [0.25], "high": [0.35]})
    method = SimpleNamespace(breakdown=lambda task: regions if task == "task" else None)
    monkeypatch.setattr(agent_library, "PostStratification", lambda **_: method)
    monkeypatch.setattr(agent_library, "extrapolate", lambda pool, **how: asked.append((pool, how)) or result)
    brief = library.extrapolate_rate(0.19, "pisa", "world", 100, 4, "reading")
    pool, how = asked[0]
    assert pool.rates_of("all").select("rate", "n").row(0) == (0.19, 100)
    assert (how["to"], how["focal"].name, how["method"]) == ("world", "pisa", method)
    assert brief.model_dump() == {
        "observed": {"value": 0.19, "status": "given", "source": "the question"},
        "focal": "pisa",
        "reference": "world",
        "hangs_on": ["schooling", "age"],
        "warnings": ["careful"],
        "rate": {
            "value": 0.2,
            "low": 0.1,
            "high": 0.4,
            "interval": "90%: assumptions",
            "status": "extrapolated",
            "source": "by strata over Mensura's world tables",
        },
    }
    full = library.extrapolate_rate(0.19, "pisa", detail="full")
    assert full.regions["Asia"].value == 0.3 and full.regions["Asia"].status == "extrapolated"


def test_a_group_comes_with_the_best_model_on_each_of_its_tests_and_whether_it_was_passed():
    tests = pl.DataFrame(
        {"group": ["crowd workers", "others"], "benchmark": ["arc_agi_1", "x"], "verdict": "passed", "reason": None}
        | {"first": ["m", "n"], "passed": [date(2025, 1, 2), None]}
    )
    asked = Library(mensura.load, SimpleNamespace(people=SimpleNamespace(tests=tests)))
    found = asked.look_up_people("People: crowd workers")
    assert found.group == "crowd workers"
    assert [one.model_dump() for one in found.passed] == [
        {"benchmark": "arc_agi_1", "verdict": "passed", "first": "m", "since": "2025-01-02", "reason": None}
    ]
    scores = mensura.load().primary_scores
    for best in found.best_models:
        assert best.score.value == scores.filter(benchmark=best.benchmark)["score"].max()
    tests_taken = {score.benchmark for score in found.scores}
    assert {best.benchmark for best in found.best_models} <= tests_taken and len(found.best_models) > 0
    crowd = next(score for score in found.scores if score.benchmark == "arc_agi_1")
    assert crowd.primary and crowd.score.interval == "range given by the source"


def test_the_unit_of_a_place_decides_what_is_given(library):
    for unit, value in (("rate", 0.25), ("percentile", 75.0), ("one_in", 4.0), ("level", 1.2)):
        found = library.convert(value, unit)
        given = {name: getattr(found, name) for name in ("rate", "percentile", "one_in", "iq", "level")}
        assert [name for name, one in given.items() if one.status == "given"] == [unit]
        assert given[unit].value == pytest.approx(value) and given[unit].interval == ""
    assert found.scale.startswith("common scale, base 10") and len(found.notes) == 1
    volume = library.convert(0.25, "rate", dimension="volume")
    assert volume.level.value != pytest.approx(library.convert(0.25, "rate").level.value)


def test_every_score_of_a_model_says_when_and_where_it_was_read(library):
    rows = {(one.benchmark, one.primary): one for one in library.scores_of("gpt-5.5")}
    table = mensura.load().scores.filter(subject="gpt-5.5")
    assert len(library.scores_of("gpt-5.5")) == table.height
    row = table.filter(primary=True, benchmark="gpqa_diamond").row(0, named=True)
    found = rows["gpqa_diamond", True]
    assert (found.who, found.unit, found.score.value, found.score.status) == (
        *("gpt-5.5", row["unit"], row["score"]),
        "measured",
    )
    assert found.date == row["date"] and found.score.source == library.source(row["source"])
