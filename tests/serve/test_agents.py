"""Agents ask with the real client: over standard input and output, and in one process where a study is at hand."""

import asyncio
import json
import os
import sys

import pytest

import mensura

pytestmark = pytest.mark.usefixtures("needs_mcp")

TOOLS = [
    "list_names",
    "look_up_model",
    "look_up_benchmark",
    "look_up_people",
    "compare",
    "convert",
    "extrapolate_rate",
    "explain",
]


@pytest.fixture(scope="module")
def needs_mcp():
    """Import the client where it is used: the other processes of a test run need not."""
    pytest.importorskip("mcp", reason="mcp is not installed (extra: mcp)")


def converse(server, *questions):
    """Ask one question after another; return the tools and the answers."""
    from mcp import Client

    async def talk():
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            return tools, [await client.call_tool(name, arguments) for name, arguments in questions]

    return asyncio.run(asyncio.wait_for(talk(), 900))


@pytest.fixture(scope="module")
def server(needs_mcp, study):
    """A server that holds the study of all tests."""
    from mensura.serve.agents import Library, agent_server

    return agent_server(lambda: Library(mensura.load(), study))


@pytest.fixture(scope="module")
def ask(server):
    """Ask one question of that server; the answer must follow the tool's schema."""
    import jsonschema

    def put(tool, **arguments):
        tools, (answer,) = converse(server, (tool, arguments))
        if answer.is_error:
            return answer.content[0].text
        jsonschema.validate(answer.structured_content, tools[tool].output_schema)
        assert json.loads(answer.content[0].text) == answer.structured_content
        return answer.structured_content

    return put


def quantities(answer):
    """Every number of an answer that says how it came about."""
    if isinstance(answer, dict):
        if "status" in answer and "value" in answer:
            yield answer
        for part in answer.values():
            yield from quantities(part)
    elif isinstance(answer, list):
        for part in answer:
            yield from quantities(part)


def test_over_standard_input_and_output_every_tool_answers(evidence_folder, study):
    from mcp import StdioServerParameters

    surroundings = {"PYTHONPATH": ":".join(sys.path), "MENSURA_CACHE": os.environ["MENSURA_CACHE"]}
    arguments = ["-m", "mensura", "mcp", "--store", str(evidence_folder)]  # whose study is kept by now
    server = StdioServerParameters(command=sys.executable, args=arguments, env=surroundings)
    tools, answers = converse(
        server,
        ("list_names", {"kind": "benchmark", "contains": "gpqa"}),
        ("convert", {"value": 130, "unit": "iq"}),
        ("look_up_benchmark", {"name": "GPQA Diamond"}),
        ("look_up_people", {"group": "crowd workers"}),
        ("extrapolate_rate", {"rate": 0.19, "observed_in": "pisa", "domain": "mathematics"}),
        ("look_up_model", {"name": "gpt-5.5"}),
        ("compare", {"names": ["gpt-5.5", "claude-opus-4.8"]}),
        ("explain", {"model": "gpt-5.5", "part": "gpqa_diamond"}),
    )
    assert sorted(tools) == sorted(TOOLS)
    assert [answer.is_error for answer in answers] == [False] * 8
    for answer in answers[1:]:
        found = list(quantities(answer.structured_content))
        assert found and all(one["status"] and one["source"] for one in found)


def test_every_tool_is_read_only_and_says_what_it_takes_and_gives(server):
    from jsonschema import Draft202012Validator

    tools, _ = converse(server)
    assert sorted(tools) == sorted(TOOLS)
    for tool in tools.values():
        assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint
        assert len(tool.description) > 40
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)


def test_a_model_is_found_by_the_name_people_write(ask, study):
    found = ask("look_up_model", name="GPT 5.5")
    row = study.models.row(by_predicate=mensura_subject("gpt-5.5"), named=True)
    assert found["subject"] == "gpt-5.5"
    assert (found["iq"]["value"], found["rank"]["value"]) == (row["iq"], row["rank"])
    assert found["iq"]["low"] <= found["iq"]["value"] <= found["iq"]["high"]
    assert found["iq"]["interval"].startswith("90%")
    assert found["measured"] + found["estimated"] <= 32
    assert len(found["dimensions"]) == 7
    assert {score["benchmark"] for score in found["scores"] if score["primary"]} >= {"gpqa_diamond"}
    assert all(score["score"]["source"] for score in found["scores"])


def mensura_subject(subject):
    import polars as pl

    return pl.col("subject") == subject


def test_an_unknown_name_is_refused_with_the_nearest(ask):
    assert "did you mean gpt-5.5" in ask("look_up_model", name="gpt 55")
    assert "'nothing at all' is not in the evidence" in ask("look_up_benchmark", name="nothing at all")
    assert "crowd workers" in ask("look_up_people", group="crowd worker")


def test_a_benchmark_comes_with_its_ladder_leaders_and_people(ask):
    found = ask("look_up_benchmark", name="gpqa diamond")
    assert found["ladders"]["published"]["100"] == 34.0
    best = [score["score"]["value"] for score in found["best"]]
    assert best == sorted(best, reverse=True) and len(best) == 10
    assert any(score["score"]["status"] in ("measured", "judged") for score in found["people"])


def test_people_are_compared_on_the_tests_they_took(ask):
    found = ask("look_up_people", group="People: crowd workers")
    assert found["scores"][0]["score"] == {
        "value": 70.5,
        "low": 64.0,
        "high": 77.0,
        "interval": "range given by the source",
        "status": "measured",
        "source": "studies quoted by AI IQ",
    }
    assert found["best_models"][0]["benchmark"] == found["scores"][0]["benchmark"]


def test_a_comparison_says_how_surely_one_is_above(ask, study):
    found = ask("compare", names=["gpt-5.5", "gpt-5", "People: crowd workers"])
    assert [model["subject"] for model in found["models"]] == ["gpt-5.5", "gpt-5"]
    by_iq = next(one for one in found["chances"] if one["on"] == "IQ")
    assert by_iq["chance_first_above"]["value"] == study.iq.drawn.ahead("gpt-5.5", "gpt-5") > 0.9
    people = [one for one in found["chances"] if one["second"] == "People: crowd workers"]
    assert {one["on"] for one in people} == {"arc_agi_1"}
    counted = [row["benchmark"] for row in found["shared"]]
    assert all(counted.count(name) > 1 for name in counted)
    assert "2 to 5" in ask("compare", names=["gpt-5.5"])
    assert "2 to 5" in ask("compare", names=["gpt-5.5", "gpt-5.5"])


def test_the_ruler_turns_with_its_interval(ask):
    found = ask("convert", value=130, unit="iq", low=125, high=135)
    assert found["iq"]["status"] == "given" and found["rate"]["status"] == "converted"
    assert found["rate"]["value"] == pytest.approx(0.02275, abs=1e-5)
    assert found["rate"]["low"] < found["rate"]["value"] < found["rate"]["high"]
    assert found["one_in"]["value"] == pytest.approx(1 / found["rate"]["value"])
    level = ask("convert", value=2.3, unit="level", dimension="volume")
    assert level["scale"].startswith("Volume, base ")
    assert "expected a number" in ask("convert", value=7, unit="rate")
    assert "low" in ask("convert", value=130, unit="iq", low=140, high=150)


def test_a_rate_is_carried_with_what_it_hangs_on(ask):
    found = ask("extrapolate_rate", rate=0.19, observed_in="pisa", domain="mathematics")
    assert found["rate"]["status"] == "extrapolated"
    assert found["rate"]["low"] < found["rate"]["value"] < found["rate"]["high"] < 0.19
    assert found["hangs_on"] and len(found["regions"]) > 4
    assert "unknown population" in ask("extrapolate_rate", rate=0.19, observed_in="Atlantis")


def test_an_explanation_leads_down_to_scores_and_their_sources(ask):
    whole = ask("explain", model="gpt-5.5")
    assert len(whole["parts"]) == 7
    part = ask("explain", model="gpt-5.5", part="GPQA Diamond")
    assert part["label"] == "gpqa_diamond" and part["iq"]["status"] == "source"
    assert not part["iq"]["source"].startswith("Mensura")
    assert part in [leaf for dimension in whole["parts"] for leaf in dimension["parts"]]
    assert "no dimension or benchmark" in ask("explain", model="gpt-5.5", part="beauty")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("convert", {"value": "many", "unit": "iq"}),
        ("convert", {"value": 1, "unit": "furlong"}),
        ("look_up_model", {}),
        ("look_up_model", {"name": "x" * 10_000}),
        ("compare", {"names": ["a"] * 1000}),
        ("list_names", {"kind": "secret"}),
    ],
)
def test_arguments_outside_the_schema_are_refused(ask, tool, arguments):
    assert isinstance(ask(tool, **arguments), str)
