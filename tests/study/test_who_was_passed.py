"""Who was passed: one rule, one list of groups, one date, on every page, in every command and for agents."""

import json

import polars as pl
import pytest

import mensura
from mensura.baseline.registry import find_known
from mensura.evidence.passing import SURELY, verdict_of, why_not_comparable
from mensura.serve.agent_library import Library
from mensura.site.pages.people import passing_rows
from mensura.site.pictures.passed import passed_words
from mensura.site.pictures.standing import people_rows
from mensura.study import Study, find_whereabouts
from mensura.study.headlines import passed_people


@pytest.fixture(scope="module")
def study():
    return Study.open(mensura.load())


@pytest.fixture(scope="module")
def groups(study):
    """The one table: every group that is compared, by test and group."""
    compared = study.people.tests.filter(pl.col("reason").is_null())
    return {(row["benchmark"], row["group"]): row for row in compared.iter_rows(named=True)}


def test_headlines_say_what_the_table_says(study, groups):
    """GPQA's experts were passed in March or July 2025, depending on the page."""
    said = {(one.benchmark, one.group): one for one in passed_people(study, ("measured", "judged"))}
    assert said.keys() == groups.keys()
    for key, one in said.items():
        assert one.verdict == groups[key]["verdict"], key
        assert (one.first[1] if one.first else None) == groups[key]["passed"], key
    experts = said["gpqa_diamond", "experts in the field"]
    assert (experts.verdict, experts.first[1].strftime("%Y-%m")) == ("passed", "2025-07")
    assert said["aime", "about the top 500 in the United States, above the USAMO cut"].verdict == "cannot be told"


def test_the_peoples_page_and_its_sentence_agree(study, groups):
    rows = passing_rows(study)
    assert {(row["benchmark"], row["group"]): row["verdict"] for row in rows if row["reason"] is None} == {
        key: row["verdict"] for key, row in groups.items()
    }
    measured = [row["verdict"] for row in groups.values() if row["status"] == "measured"]
    sentence, _ = passed_words(study, passed_people(study, ("measured", "panel")))
    assert (len(measured), measured.count("passed")) == (8, 6)
    assert sentence == "AI has passed six of the eight groups of people who were measured on a test it took too."


def test_a_models_page_and_its_command_list_the_same_groups(study, groups):
    """A model's page counted nine groups where the people's page had eight, and a quality of work was a group."""
    for subject in ("gpt-6-astra", "claude-opus-5.5", "gpt-5"):
        taken = set(study.rows.printed_scores[subject])
        here = {(row["benchmark"], row["group"]): row for row in people_rows(study, subject)}
        assert here.keys() == {key for key in groups if key[0] in taken}
        there = find_whereabouts(study, subject).people
        assert set(there.select("benchmark", "group").iter_rows()) == here.keys()
        for key, row in here.items():
            assert row["verdict"] == verdict_of(study.over_people[key].get(subject))
            assert row["verdict"] != "passed" or groups[key]["verdict"] == "passed", key
    first = [row["first"] for row in groups.values() if row["verdict"] == "passed"]
    for key, row in groups.items():
        if row["first"] is not None:
            assert study.over_people[key][row["first"]] >= SURELY
    assert len(first) > 6


def test_the_command_of_the_stitched_scale_agrees(groups, mensura_command):
    run = mensura_command("stitch", "--people", "--json")
    table = json.loads(run.out)["people"]
    assert {(row["benchmark"], row["group"]): row["verdict"] for row in table if row["reason"] is None} == {
        key: row["verdict"] for key, row in groups.items()
    }
    shown = mensura_command("stitch", "--people")
    assert "AI has passed six of the eight groups of people who were measured" in shown.out


def test_known_human_scores_have_the_same_date_and_figure(study, groups):
    known = find_known("GPQA Diamond", study.evidence)
    [experts] = known.passed.filter(group="expert validators").to_dicts()
    assert "non-expert validators with the open web" not in known.passed["group"]
    assert experts["score"] == 81.3
    assert experts["date"] == str(groups["gpqa_diamond", "experts in the field"]["passed"])


def test_agents_are_given_the_same_verdict_and_date(study, groups):
    library = Library(mensura.load, study)
    for (benchmark, group), row in groups.items():
        [found] = [one for one in library.look_up_people(group).passed if one.benchmark == benchmark]
        assert (found.verdict, found.first, found.reason) == (row["verdict"], row["first"], None), group
        assert found.since == (None if row["passed"] is None else str(row["passed"])), group


def test_groups_that_are_not_compared_are_named_with_the_reason(study):
    apart = study.people.tests.filter(pl.col("reason").is_not_null())
    reasons = why_not_comparable()
    for row in apart.iter_rows(named=True):
        assert row["reason"] == reasons[row["benchmark"], row["group"]]
        assert row["verdict"] is None or row["status"] == "panel"
    plays = apart.filter(benchmark="arc_agi_3", status="measured").row(0, named=True)
    assert "how few actions" in plays["reason"]
    assert ("arena_overall", "average social usability") in reasons
