"""What Mensura writes for others is valid by their schemas and comes back as it was."""

import datetime
import json
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory

import jsonschema
import polars as pl
import pytest
from hypothesis import given, strategies as st

from mensura.core.errors import MensuraError
from mensura.horizon.reading import read_runs
from mensura.intake import shared_writing
from mensura.intake.answers import read_answers
from mensura.intake.samples import SampleOutcome
from mensura.intake.score_logs import read_log
from mensura.intake.shared_records import read_record
from mensura.intake.shared_writing import Description, describe_folder

SCHEMA = Path(shared_writing.__file__).parent / "data" / "every_eval_ever" / "eval.schema.json"
VALID = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text()))
NAMES = st.text("abcdefghijklmnop0123456789.-", min_size=1, max_size=20).filter(lambda text: text[0].isalpha())
WORDS = st.text("abc def-ghi(é)", min_size=1, max_size=30).map(lambda text: " ".join(text.split())).filter(bool)
DAYS = st.dates(min_value=datetime.date(2000, 1, 1)).map(str)
SCORES = st.fixed_dictionaries(
    {
        "subject": NAMES,
        "name": WORDS,
        "provider": NAMES,
        "open_weights": st.sampled_from([True, False, None]),
        "benchmark": NAMES,
        "score": st.floats(0, 1),
        "unit": st.sampled_from(["percent", "fraction", "elo", "index", "composite"]),
        "n": st.none() | st.integers(1, 10**6),
        "stderr": st.none() | st.floats(1e-6, 0.5),
        "source": NAMES,
        "date": st.none() | DAYS,
        "note": st.none() | WORDS,
        "measured_by": st.sampled_from(["vendor", "independent", None]),
    }
)


@given(SCORES)
def test_a_score_comes_back_from_a_record(row):
    [(path, record)] = shared_writing.score_records([row], "1").items()
    assert not list(VALID.iter_errors(record))
    assert path.startswith("data/") and len(Path(path).parts) == 5
    [back] = read_record(json.loads(shared_writing.to_json(record)), Path(path))
    kept = ("score", "unit", "n", "note", "measured_by")
    assert {name: back.cells[name] for name in kept} == {name: row[name] for name in kept}
    assert back.cells["model"].split("/", 1)[1] == row["subject"] and back.cells["task"] == row["benchmark"]
    assert back.cells["stderr"] == row["stderr"] and back.cells["display_name"] == row["name"]
    assert row["date"] is None or back.cells["date"] == row["date"]


def test_a_record_of_the_same_score_has_the_same_name_and_content():
    row = {"subject": "m", "benchmark": "b", "score": 1.0, "unit": "percent", "source": "con", "provider": None}
    assert shared_writing.score_records([row], "1") == shared_writing.score_records([row], "1")
    assert next(iter(shared_writing.score_records([row], "1"))).startswith("data/con_/unknown/m/")


@given(st.lists(st.tuples(NAMES, NAMES, st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=20))
def test_answers_come_back_from_the_item_response_warehouse(rows):
    columns = ["subject", "group", "item", "value"]
    long = pl.DataFrame([(who, "all", item, value) for who, item, value in rows], columns, orient="row")
    table = shared_writing.irw_table(long)
    keys = ["id", "item", *(["wave"] if "wave" in table.columns else [])]
    assert table.columns[:3] == ["id", "item", "resp"] and not table.select(keys).is_duplicated().any()
    [back] = read_answers(table)
    assert back.select("subject", "item", "value").rows() == long.select("subject", "item", "value").rows()


RESULT = {"benchmark": NAMES, "score": st.floats(-1e6, 1e6), "source": WORDS.filter(lambda text: text[0].isalpha())}
RESULTS = st.fixed_dictionaries(RESULT, optional={"date": DAYS, "url": st.just("https://x.org"), "note": WORDS})


@given(st.lists(RESULTS, min_size=1, max_size=5, unique_by=lambda row: row["benchmark"]))
def test_any_results_come_back_from_yaml(rows):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine" / ".eval_results" / "mensura.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(shared_writing.result_yaml(rows), encoding="utf-8")
        log = read_log(path)
    back = [dict(zip(log.header, row, strict=True)) for row in log.rows]
    assert [(one["model"], one["task"], one["score"]) for one in back] == [
        ("mine", row["benchmark"], row["score"]) for row in rows
    ]
    for one, row in zip(back, rows, strict=True):
        source = row["source"] if "url" in row else None  # a source without an address has no place in this format
        assert [one.get(name) for name in ("date", "source", "note")] == [row.get("date"), source, row.get("note")]


def test_results_of_a_model_come_back_from_yaml(tmp_path):
    rows = [
        {
            "benchmark": "gpqa_diamond",
            "score": 64.5,
            "date": "2026-01-02",
            "source": "a board",
            "url": "https://x.org",
            "note": "a: b",
        },
        {"benchmark": "hle", "score": 5.0},
    ]
    path = tmp_path / "gpt-4.1" / ".eval_results" / "mensura.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(shared_writing.result_yaml(rows))
    log = read_log(path)
    back = [dict(zip(log.header, row, strict=True)) for row in log.rows]
    assert [(one["model"], one["task"], one["score"]) for one in back] == [
        ("gpt-4.1", "gpqa_diamond", 64.5),
        ("gpt-4.1", "hle", 5.0),
    ]
    assert (back[0]["date"], back[0]["source"], back[0]["note"]) == ("2026-01-02", "a board", "a: b")


def test_runs_have_the_minutes_of_people_who_succeeded():
    samples = [
        SampleOutcome("ann", "sums:a", 1.0, "r", True, 120.0),
        SampleOutcome("bob", "sums:a", 1.0, "r", True, 480.0),
        SampleOutcome("cyd", "sums:a", 0.0, "r", True, 9.0),
        SampleOutcome("gpt-5", "sums:a", 0.5, "r"),
        SampleOutcome("gpt-5", "sums:b", 1.0, "r"),
    ]
    runs = shared_writing.metr_runs(samples)
    assert [run["alias"] for run in runs] == ["human", "human", "human", "gpt-5"]
    assert {run["human_minutes"] for run in runs} == {4.0}
    assert [run["score_binarized"] for run in runs] == [1, 1, 0, 0] and runs[3]["score_cont"] == 0.5


OUTCOMES = st.builds(
    SampleOutcome,
    subject=st.sampled_from(["ann", "gpt-5", "gpt-6"]),
    item=st.tuples(NAMES, NAMES).map(":".join),
    value=st.sampled_from([0.0, 0.25, 1.0]),
    run=st.just("r"),
    of_person=st.booleans(),
    seconds=st.floats(1.0, 1e6),
)


@pytest.mark.slow
@given(st.lists(OUTCOMES, min_size=1, max_size=12, unique_by=lambda one: (one.of_person, one.item)))
def test_any_runs_come_back_in_the_layout_of_metr(samples):
    samples = [replace_person(one) for one in samples]
    timed = {one.item for one in samples if one.of_person and one.value == 1.0}
    if not timed:
        with pytest.raises(MensuraError, match="METR's runs need people's minutes"):
            shared_writing.metr_runs(samples)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        path.write_text("\n".join(json.dumps(run) for run in shared_writing.metr_runs(samples)), encoding="utf-8")
        runs, times = read_runs(path, score="score_cont", notes=[])
    kept = [one for one in samples if one.item in timed]
    wanted = [("human" if one.of_person else one.subject, one.item.replace(":", "/"), one.value) for one in kept]
    assert sorted(runs.select("subject", "task", "score").rows()) == sorted(wanted)
    for task, minutes in times.select("task", "minutes").rows():
        own = [
            one.seconds / 60 for one in kept if one.item.replace(":", "/") == task and one.of_person and one.value == 1
        ]
        assert minutes == pytest.approx(geometric_mean(own), abs=1e-6)


def replace_person(one):
    """Models have no name of a person, and no working time."""
    return one._replace(subject="ann") if one.of_person else one._replace(subject="gpt-5", seconds=None)


def test_a_folder_is_described_for_machines(tmp_path):
    (tmp_path / "scores.csv").write_text("model,score\nx,1.5\n")
    about = "Scores of one invented model, written as an example of a folder."
    day = datetime.date(2026, 11, 18)
    plain = describe_folder(tmp_path, Description("x", about, day, "1"))
    assert sorted(plain) == ["croissant.json", "schema_org.json"]
    texts = describe_folder(tmp_path, Description("x", about, day, "1", "https://example.org/d/", "10.5072/x"))
    croissant, schema, datacite = (
        json.loads(texts[name]) for name in ("croissant.json", "schema_org.json", "datacite.json")
    )
    needed = {"@context", "@type", "conformsTo", "name", "description", "url", "license", "creator", "datePublished"}
    assert needed <= set(croissant) and croissant["distribution"][0]["contentUrl"] == "https://example.org/d/scores.csv"
    kinds = {field["name"]: field["dataType"] for field in croissant["recordSet"][0]["field"]}
    assert kinds == {"model": "sc:Text", "score": "sc:Float"}
    assert schema["identifier"] == "https://doi.org/10.5072/x" and 50 <= len(schema["description"]) <= 5000
    assert {"doi", "creators", "titles", "publisher", "publicationYear", "types"} <= set(datacite)
    assert json.loads(plain["croissant.json"])["distribution"][0]["contentUrl"] == "scores.csv"


ROW = {
    "source": "A board",
    "subject": "m-1",
    "name": "M 1",
    "provider": "Ac me",
    "open_weights": True,
    "ident": None,
    "benchmark": "hle",
    "score": 64.0,
    "unit": "percent",
    "n": 198,
    "stderr": 2.0,
    "low": 60,
    "high": 68,
    "level": 0.9,
    "date": "2026-03",
    "note": "x",
    "measured_by": "vendor",
    "organisation": None,
}


def record_of(*rows):
    ((path, record),) = shared_writing.score_records(rows, "1.2").items()
    return path, record


def test_a_record_says_who_measured_whom_and_when():
    path, record = record_of(ROW, ROW | {"benchmark": "gpqa", "date": "2026-05-02"})
    stamp = str(int(datetime.datetime(2026, 5, 2, tzinfo=datetime.UTC).timestamp()))
    assert record["retrieved_timestamp"] == stamp and record["evaluation_id"].endswith(f"/m-1/{stamp}")
    assert record["source_metadata"] == {
        "source_name": "A board",
        "source_type": "documentation",
        "source_organization_name": "unknown",
        "evaluator_relationship": "first_party",
    }
    assert record["eval_library"] == {"name": "mensura", "version": "1.2"}
    assert record["model_info"] == {
        "name": "M 1",
        "id": "ac-me/m-1",
        "developer": "ac-me",
        "additional_details": {"deployment_type": "unknown", "model_availability": "open_weights"},
    }
    assert [one["evaluation_result_id"] for one in record["evaluation_results"]] == ["hle.1", "gpqa.2"]
    assert path.endswith(".json") and "/ac-me/m-1/" in path
    assert record_of(ROW | {"open_weights": False})[1]["model_info"]["additional_details"]["model_availability"] == (
        "closed_weights"
    )
    assert record_of(ROW | {"measured_by": "ours"})[1]["source_metadata"]["evaluator_relationship"] == "other"
    people = record_of(ROW | {"persons": 12, "group": "adults"})[1]["model_info"]["additional_details"]
    assert (people["subject_kind"], people["population"]) == ("people", "adults")


@pytest.mark.parametrize(
    ("day", "first"), [("2026", (2026, 1, 1)), ("2026-03", (2026, 3, 1)), ("2026-03-04", (2026, 3, 4))]
)
def test_a_result_has_its_errors_bounds_and_day(day, first):
    (result,) = record_of(ROW | {"date": day})[1]["evaluation_results"]
    assert result["evaluation_timestamp"] == str(int(datetime.datetime(*first, tzinfo=datetime.UTC).timestamp()))
    assert result["score_details"] == {
        "score": 64.0,
        "details": {"unit": "percent", "note": "x"},
        "uncertainty": {
            "standard_error": {"value": 2.0},
            "confidence_interval": {"lower": 60.0, "upper": 68.0, "confidence_level": 0.9},
            "num_samples": 198,
        },
    }
    config = result["metric_config"]
    assert (config["metric_id"], config["metric_name"], config["lower_is_better"]) == ("accuracy", "accuracy", False)
    assert (float(config["min_score"]), float(config["max_score"])) == (0.0, 100.0)


@pytest.mark.parametrize(("score", "bounded"), [(100.0, True), (0.0, True), (100.1, False), (-0.1, False)])
def test_a_score_beyond_the_bounds_of_its_unit_has_none(score, bounded):
    (result,) = record_of(ROW | {"score": score})[1]["evaluation_results"]
    assert (float(result["metric_config"]["max_score"]) == 100.0) is bounded


def test_what_is_not_known_is_left_out_of_a_result():
    bare = dict.fromkeys(("n", "stderr", "low", "high", "level", "date", "note"))
    (result,) = record_of(ROW | bare | {"unit": "elo", "metric": None})[1]["evaluation_results"]
    assert "evaluation_timestamp" not in result and "uncertainty" not in result["score_details"]
    assert (result["metric_config"]["metric_id"], result["metric_config"]["metric_name"]) == ("mensura.elo", "elo")


def test_results_of_hugging_face_have_a_source_where_it_has_an_address():
    import yaml

    rows = [ROW | {"url": "https://a.org/x"}, ROW | {"date": None, "note": None}]
    first, second = yaml.safe_load(shared_writing.result_yaml(rows))
    assert first == {
        "dataset": {"id": "mensura/hle", "task_id": "hle"},
        "value": 64.0,
        "date": "2026-03",
        "notes": "x",
        "source": {"url": "https://a.org/x", "name": "A board"},
    }
    assert second == {"dataset": {"id": "mensura/hle", "task_id": "hle"}, "value": 64.0}
    described = yaml.safe_load(shared_writing.benchmark_yaml("n", "d", "t"))
    assert described["tasks"][0]["field_spec"] == {"input": "input", "target": "target"}
    assert (described["name"], described["description"], described["evaluation_framework"]) == ("n", "d", "inspect-ai")
