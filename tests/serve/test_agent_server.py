"""Agents ask with the real client: over standard input and output, and in one process where a study is at hand."""

import asyncio
import http.client
import json
import os
import subprocess
import sys
import time
from contextlib import closing
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.iq import Explanation
from mensura.people import World
from mensura.study.headlines import say_lead
from tests.cli.test_report import free_port

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
    "human_baseline",
    "horizon",
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
    from mensura.serve.agent_server import agent_server

    return agent_server(mensura.load, study)


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_model_is_found_by_the_name_people_write(ask, study):
    found = ask("look_up_model", name="GPT 5.5")
    row = study.models.row(by_predicate=mensura_subject("gpt-5.5"), named=True)
    assert found["subject"] == "gpt-5.5"
    assert (found["iq"]["value"], found["rank"]["value"]) == (row["iq"], row["rank"])
    assert found["iq"]["low"] <= found["iq"]["value"] <= found["iq"]["high"]
    assert found["iq"]["interval"].startswith("90%")
    assert found["measured"] + found["estimated"] <= 32
    assert len(found["dimensions"]) == 7
    assert "scores" not in found, "every score is there when asked for"
    assert found["leader"] == " ".join(say_lead(study))
    found = ask("look_up_model", name="GPT 5.5", detail="full")
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
    brief = ask("look_up_benchmark", name="gpqa diamond")
    found = ask("look_up_benchmark", name="gpqa diamond", detail="full")
    assert found["ladders"]["published"]["100"] == 34.0 and brief["ladders"].keys() == {"published"}
    assert brief["best"] == found["best"][:3]
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
    assert all(len(test["scores"]) > 1 for test in found["shared"])
    full = ask("compare", names=["gpt-5.5", "gpt-5", "People: crowd workers"], detail="full")
    told = {(test["benchmark"], who): score for test in found["shared"] for who, score in test["scores"].items()}
    assert {(row["benchmark"], row["who"]): row["score"]["value"] for row in full["sources"]} == told
    assert "2 to 5" in ask("compare", names=["gpt-5.5"])
    assert "2 to 5" in ask("compare", names=["gpt-5.5", "gpt-5.5"])


def test_a_group_that_is_not_comparable_gives_no_chance(ask, study):
    """Of ARC-AGI-3, where people's figure counts solved plays and models' actions, a chance was once given."""
    row = study.people.tests.filter(pl.col("verdict").is_null(), pl.col("status") == "measured").row(0, named=True)
    taker = study.evidence.primary_scores.filter(benchmark=row["benchmark"])["subject"][0]
    found = ask("compare", names=[taker, f"People: {row['group']}"])
    assert row["benchmark"] not in {one["on"] for one in found["chances"]}


def test_a_horizon_is_measured_or_marked_as_expected(ask):
    run = ask("horizon", name="claude opus 4")
    assert set(run["half_of_the_time"]) == {"security", "science", "software"}
    security = run["half_of_the_time"]["security"]
    assert security["low"] < security["value"] < security["high"]
    assert security["status"] == "judged times"
    assert "expected" not in run
    never = ask("horizon", name="gpt-6-astra")
    assert never["expected"]["status"] == "expected from the stitched scale"
    assert "no measurement" in never["words"]


@pytest.mark.slow
def test_a_human_baseline_is_known_with_its_grade_or_estimated(ask):
    known = ask("human_baseline", name="gpqa diamond")
    experts = next(row for row in known["people"] if row["people"].endswith("expert validators"))
    assert experts["score"]["value"] == 81.3
    assert experts["grade"] in "ABCDE"
    recorded = ask("human_baseline", name="recorded/spisa", detail="full")
    (people,) = recorded["people"]
    assert people["score"]["low"] < people["score"]["value"] < people["score"]["high"]
    assert people["score"]["status"] == "estimated, not measured"
    assert "Estimated, not measured" in recorded["card"]
    given = ask("human_baseline", name="mine", people="crowd workers", estimates={"a": 0.8, "b": 0.9})
    assert 0.6 < given["people"][0]["score"]["value"] < 1


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


@pytest.mark.slow
def test_a_rate_is_carried_with_what_it_hangs_on(ask):
    found = ask("extrapolate_rate", rate=0.19, observed_in="pisa", domain="mathematics", detail="full")
    brief = ask("extrapolate_rate", rate=0.19, observed_in="pisa", domain="mathematics")
    assert brief == {name: part for name, part in found.items() if name != "regions"}
    assert found["rate"]["status"] == "extrapolated"
    assert found["rate"]["low"] < found["rate"]["value"] < found["rate"]["high"] < 0.19
    assert found["hangs_on"] and len(found["regions"]) > 4
    assert "unknown population" in ask("extrapolate_rate", rate=0.19, observed_in="Atlantis")


def test_an_explanation_leads_down_to_scores_and_their_sources(ask):
    whole = ask("explain", model="gpt-5.5", detail="full")
    brief = ask("explain", model="gpt-5.5")
    assert [part["more_parts"] for part in brief["parts"]] == [len(part["parts"]) for part in whole["parts"]]
    assert len(whole["parts"]) == 7
    part = ask("explain", model="gpt-5.5", part="GPQA Diamond")
    assert part["label"] == "gpqa_diamond" and part["iq"]["status"] == "source"
    assert not part["iq"]["source"].startswith("Mensura")
    assert part in [leaf for dimension in whole["parts"] for leaf in dimension["parts"]]
    assert "no dimension or benchmark" in ask("explain", model="gpt-5.5", part="beauty")


HERE = {"rate": 0.19, "observed_in": "pisa"}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("convert", {"value": "many", "unit": "iq"}, "value: got 'many'; input should be a valid number"),
        ("convert", {"value": 1, "unit": "furlong"}, "unit: got 'furlong'; input should be 'rate', 'percentile'"),
        ("convert", {"value": 1, "unit": "iq", "dimension": "beauty"}, "dimension: 'beauty' has no calibrated line"),
        ("look_up_model", {}, "name: is missing. Id or name"),
        ("look_up_model", {"name": "x" * 10**6}, "(1,000,002 characters); string should have at most 200 characters"),
        ("look_up_model", {"name": "gpt 55"}, "(call list_names with kind model;"),
        ("look_up_model", {"name": "gpt-5.5", "detail": "all"}, "detail: got 'all'; input should be 'brief' or 'full'"),
        ("explain", {"model": "gpt-5.5", "part": "y" * 10**6}, "part: got 'yyyy"),
        ("compare", {"names": ["a"] * 1000}, "2 to 5 models or groups"),
        ("compare", {"names": ["gpt-5.5"]}, "names: got 1; give 2 to 5 different ones"),
        ("list_names", {"kind": "secret"}, "input should be 'model', 'benchmark', 'people' or 'population'"),
        ("extrapolate_rate", {**HERE, "n": 10**30}, "n: got 1000000000000000000000000000000; input should be less"),
        ("extrapolate_rate", {**HERE, "n": 0}, "People who answered, 1 or more."),
        ("extrapolate_rate", {**HERE, "options": 0}, "2 to 100; omit if open."),
        ("extrapolate_rate", {**HERE, "rate": 7}, "rate: got 7; input should be less than or equal to 1"),
        ("extrapolate_rate", {**HERE, "domain": "x" * 1000}, "string should have at most 100 characters"),
        ("extrapolate_rate", {**HERE, "wanted_in": "Narnia"}, "unknown population 'Narnia'; expected one of world,"),
    ],
)
def test_a_refusal_says_to_the_agent_what_is_wrong_and_what_is_expected(ask, tool, arguments, words):
    told = ask(tool, **arguments)
    assert isinstance(told, str) and words in told
    assert len(told) < 500
    assert "mensura " not in told and "--" not in told and "Error executing" not in told, "no command helps an agent"


@pytest.mark.parametrize(
    ("tool", "arguments", "most"),
    [
        ("compare", {"names": ["gpt-5.5", "gpt-5"]}, 8_000),
        ("look_up_model", {"name": "gpt-5.5"}, 6_000),
        ("look_up_benchmark", {"name": "gpqa_diamond"}, 4_000),
        ("explain", {"model": "gpt-5.5"}, 5_000),
        ("extrapolate_rate", HERE, 3_000),
    ],
)
@pytest.mark.slow
def test_an_answer_is_brief_unless_more_is_asked_for(server, tool, arguments, most):
    _, (brief, full) = converse(server, (tool, arguments), (tool, {**arguments, "detail": "full"}))
    assert len(brief.content[0].text) < most
    assert len(full.content[0].text) > 1.5 * len(brief.content[0].text)


@pytest.mark.slow
def test_populations_are_listed_and_each_can_be_asked_for(ask):
    found = ask("list_names", kind="population")
    assert {"world", "pisa"} <= set(found["names"]) and "country" in found["note"]
    assert found["names"] == ask("list_names", kind="population", contains="")["names"]
    world = World.load()
    assert all(world.population(name).name for name in found["names"])
    for name in (found["names"][0], found["names"][-1]):
        assert ask("extrapolate_rate", rate=0.5, observed_in=name)["rate"]["status"] == "extrapolated"


def test_resources_and_prompts_can_be_read(server):
    from mcp import Client

    async def talk():
        async with Client(server) as client:
            addresses = sorted(str(one.uri) for one in (await client.list_resources()).resources)
            texts = {at: (await client.read_resource(at)).contents[0].text for at in addresses}
            prompts = {one.name: one for one in (await client.list_prompts()).prompts}
            given = await client.get_prompt("compare_models", {"first": "gpt-5.5", "second": "gpt-5"})
            return texts, prompts, given.messages[0].content.text

    texts, prompts, question = asyncio.run(asyncio.wait_for(talk(), 900))
    kinds = ("benchmark", "model", "people", "population")
    assert list(texts) == ["mensura://guide", *(f"mensura://names/{kind}" for kind in kinds)]
    assert "gpt-5.5" in json.loads(texts["mensura://names/model"])["names"]
    assert "90% interval" in texts["mensura://guide"]
    assert sorted(prompts) == ["check_human_level", "compare_models", "place_model"]
    assert all(prompt.description for prompt in prompts.values())
    assert "'gpt-5.5' or 'gpt-5'" in question and "compare" in question


@pytest.mark.slow
def test_over_http_an_agent_of_this_machine_asks_and_a_foreign_page_does_not(evidence_folder):
    pytest.importorskip("httptools", reason="httptools is not installed (extra: serve)")
    port = free_port()
    command = [sys.executable, "-m", "mensura", "mcp", "--http", str(port), "--store", str(evidence_folder)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": ":".join(sys.path)}) as server:
        try:
            until = time.monotonic() + 300
            while True:
                try:
                    foreign = post(port, "evil.example")
                    break
                except ConnectionRefusedError:
                    assert server.poll() is None and time.monotonic() < until
                    time.sleep(0.1)
            tools, (answer,) = converse(f"http://127.0.0.1:{port}/mcp", ("convert", {"value": 130, "unit": "iq"}))
        finally:
            server.terminate()
    assert foreign == 421, "a page elsewhere that makes its name point here reads nothing"
    assert sorted(tools) == sorted(TOOLS)
    assert answer.structured_content["rate"]["value"] == pytest.approx(0.02275, abs=1e-5)


def post(port: int, host: str) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", "/mcp", body="{}", headers={"Host": host, "Content-Type": "application/json"})
        return connection.getresponse().status


def small_tools():
    """Return the tools on a study that knows two models, one of them without an IQ."""
    from mensura.serve.agent_server import AgentTools

    rows = [
        {"subject": name, "name": name.upper(), "provider": "OpenAI", "released": date(2026, 1, 1), "source": None}
        | {"iq": iq, "iq_low": 110.0, "iq_high": 130.0, "rank": rank, "rank_low": 1, "rank_high": 3, "p_first": 0.5}
        | {"capability": 2.0, "capability_low": 1.0, "capability_high": 3.0, "status": status, "eq": eq}
        | {"measured": measured, "estimated": None, "sticker_price": 5.0, "effective_cost": 7.0}
        | {"input_price": None, "output_price": None}
        for name, iq, rank, status, eq, measured in (
            ("gpt-5.5", 120, 2, "Full", 99, 9),
            ("gpt-5", None, None, None, None, None),
        )
    ]
    dimensions = pl.DataFrame(
        {
            "subject": ["gpt-5.5"],
            "dimension": ["math"],
            "iq": [125.0],
            "low": [115.0],
            "high": [135.0],
            "status": ["Full"],
        }
    )
    drawn = SimpleNamespace(subjects=("gpt-5.5", "gpt-5"), ahead=lambda one, other: 0.75)
    study = SimpleNamespace(
        models=pl.DataFrame(rows),
        dimensions=dimensions,
        dimension_names={"math": "Mathematics"},
        lead=None,
        iq=SimpleNamespace(drawn=drawn),
        over_people={("arc_agi_1", "crowd workers"): {"gpt-5.5": 0.9}, ("arc_agi_1", "others"): {"gpt-5.5": 0.8}},
    )
    return AgentTools(mensura.load, study)


def test_a_model_has_every_number_with_its_status_and_its_scores_only_in_full():
    tools = small_tools()
    brief, full = tools.look_up_model("gpt-5.5"), tools.look_up_model("gpt-5.5", "full")
    assert brief.scores == [] and len(full.scores) == mensura.load().scores.filter(subject="gpt-5.5").height
    assert (brief.iq.value, brief.iq.low, brief.iq.high, brief.iq.status) == (120, 110.0, 130.0, "Full")
    assert (brief.rank.value, brief.rank.low, brief.rank.high) == (2, 1, 3)
    assert (brief.capability.value, brief.capability.status) == (2.0, "estimated from every score")
    assert (brief.emotional.value, brief.emotional.status) == (99, "measured")
    assert (brief.measured, brief.estimated, brief.chance_of_being_first) == (9, 0, 0.5)
    assert {name: (one.value, one.status) for name, one in brief.prices.items()} == {
        "sticker_price": (5.0, "listed"),
        "effective_cost": (7.0, "derived"),
    }
    assert [(one.dimension, one.iq.value) for one in brief.dimensions] == [("Mathematics", 125.0)]
    assert brief.leader.startswith("No model is known well enough")
    unknown = tools.look_up_model("gpt-5")
    assert (unknown.iq.value, unknown.iq.status, unknown.rank.status) == (None, *["too little measured"] * 2)
    assert (unknown.emotional.status, unknown.measured) == ("missing", 0)


def test_two_models_and_a_group_are_compared_on_what_they_share():
    tools = small_tools()
    found = tools.compare(["gpt-5.5", "gpt-5", "crowd workers"])
    assert [(one.first, one.second, one.on, one.chance_first_above.value) for one in found.chances] == [
        ("gpt-5.5", "People: crowd workers", "arc_agi_1", 0.9)
    ], "a model without an IQ is above nobody in IQ"
    assert found.sources == [] and all(one.dimensions == [] and one.prices == {} for one in found.models)
    assert all(len(test.scores) > 1 for test in found.shared)
    assert [test.benchmark for test in found.shared] == sorted(test.benchmark for test in found.shared)
    full = tools.compare(["gpt-5.5", "gpt-5"], "full")
    assert full.models[0].dimensions and full.models[0].prices
    assert len(full.sources) == sum(len(test.scores) for test in full.shared)
    for names in (["gpt-5.5"], ["gpt-5.5", "gpt-5.5"], [f"m{at}" for at in range(6)]):
        with pytest.raises(mensura.MensuraError, match="give 2 to 5 different ones"):
            tools.compare(names)


def test_a_derivation_is_one_level_deep_and_names_the_source_of_a_score():
    from mensura.serve.agent_server import _explained, _find

    leaf = Explanation("hle", 120.0, 110.0, 130.0, "source", "5%")
    gap = Explanation("odd", 100.0, None, None, "joint", "")
    part = Explanation("Science", 110.0, 105.0, 115.0, "partly", "", (leaf, gap))
    whole = Explanation("M", 115.0, None, None, "Full", "mean", (part,))
    brief, full = (_explained(whole, {"hle": "a board"}, deep) for deep in (1, None))
    assert [(one.label, one.more_parts, one.parts) for one in brief.parts] == [("Science", 2, [])]
    assert (brief.iq.interval, brief.parts[0].iq.interval, brief.more_parts) == ("", "90%", 0)
    leaves = full.parts[0].parts
    assert [one.iq.source for one in leaves] == ["a board", "Mensura, from the scores listed"]
    assert _find(whole, {"science"}) is part and _find(whole, {"hle", "x"}) is leaf and _find(whole, {"y"}) is None


def test_published_people_of_a_benchmark_have_their_grade_and_number():
    found = small_tools().human_baseline("gpqa diamond")
    experts = next(row for row in found.people if row.people.endswith("expert validators"))
    assert (experts.score.value, experts.unit, experts.grade) == (81.3, "percent", "C")
    with pytest.raises(mensura.MensuraError, match="people: is missing; say whom the estimates are about"):
        small_tools().human_baseline("mine", estimates={"a": 0.5})
