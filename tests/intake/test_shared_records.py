"""Records that the field exchanges are read as scores, answers and human baselines."""

import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.horizon.reading import read_runs
from mensura.intake.answers import read_answers
from mensura.intake.people_logs import read_people_logs
from mensura.intake.samples import read_samples
from mensura.intake.score_logs import read_log
from mensura.intake.shared_records import (
    MOST_YAML,
    OtherKindError,
    is_helm,
    is_of_people,
    read_helm,
    read_hugging_face,
    read_record,
    read_yaml,
)
from mensura.intake.votes import read_votes
from tests.intake.every_eval import record, written

EVIDENCE = mensura.load()


def test_a_record_brings_its_score_with_source_size_error_and_who_measured(tmp_path):
    reading = EVIDENCE.read_scores(written(tmp_path, record()))
    row = reading.scores.row(0, named=True)
    assert (row["subject"], row["benchmark"], row["score"], row["unit"]) == (
        "gpt-4.1",
        "gpqa_diamond",
        "0.64",
        "fraction",
    )
    assert (row["n"], row["source"], row["measured_by"]) == ("198", "A board of 2026", "independent")
    assert float(row["stderr"]) == pytest.approx(0.066 / 1.96, abs=1e-4)
    assert row["date"] == "2025-06-15"


def test_a_metric_is_a_choice(tmp_path):
    document = record()
    other = json.loads(json.dumps(document["evaluation_results"][0]))
    other["metric_config"]["metric_id"], other["score_details"]["score"] = "pass_at_4", 0.81
    document["evaluation_results"].append(other)
    path = written(tmp_path, document)
    usual = EVIDENCE.read_scores(path)
    assert usual.scores["score"].to_list() == ["0.64"]
    assert any("pass_at_4" in note for note in usual.notes)
    assert EVIDENCE.read_scores(path, metric="pass_at_4").scores["score"].to_list() == ["0.81"]
    with pytest.raises(MensuraError, match=r"--metric.*'pass_at_9'.*accuracy, pass_at_4"):
        EVIDENCE.read_scores(path, metric="pass_at_9")


def test_harness_results_let_a_user_choose_the_metric(tmp_path):
    figures = {"acc,none": 0.5, "acc_stderr,none": 0.03, "acc_norm,none": 0.6, "acc_norm_stderr,none": 0.04}
    path = written(tmp_path, {"model_name": "gpt-4.1", "results": {"gpqa_diamond": figures}})
    assert read_log(path).rows[0][2] == 0.5
    assert read_log(path, "acc_norm").rows[0][2::3] == (0.6, 0.04)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            lambda one: one["evaluation_results"][0]["score_details"].update(score="high"),
            r"\[0\].score_details.score: 'high'",
        ),
        (lambda one: one["evaluation_results"][0]["score_details"].pop("score"), r"score_details.score: missing"),
        (lambda one: one["evaluation_results"][0].pop("evaluation_name"), r"\[0\].evaluation_name: missing"),
        (lambda one: one.update(evaluation_results={"a": 1}), "evaluation_results: .*expected a list"),
        (lambda one: one["evaluation_results"][0]["score_details"].update(score=float("inf")), "finite number"),
    ],
)
def test_a_broken_record_is_refused_with_the_field(tmp_path, change, place):
    document = record()
    change(document)
    with pytest.raises(MensuraError, match=place):
        EVIDENCE.read_scores(written(tmp_path, document))


def test_a_half_written_record_is_refused(tmp_path):
    with pytest.raises(MensuraError, match="not readable as JSON"):
        EVIDENCE.read_scores(written(tmp_path, json.dumps(record())[:-40]))


def test_a_folder_brings_what_is_known_and_counts_the_rest(tmp_path):
    written(tmp_path, record(), "data/a/openai/gpt/1.json")
    written(tmp_path, record("nobody/nothing-9"), "data/a/nobody/x/2.json")
    written(tmp_path, json.dumps(record())[:-9], "data/a/broken/x/3.json")
    reading = EVIDENCE.read_scores([str(tmp_path)], skip_unknown=True)
    assert reading.scores.height == 1
    assert reading.dropped["reason"].to_list() == ["unknown model"]
    assert any("left out 1 file" in note and "3.json" in note for note in reading.notes)


def test_of_several_sources_the_latest_date_counts(tmp_path):
    later = record(score=0.7)
    later["source_metadata"]["source_name"], later["retrieved_timestamp"] = "Another board", "1760000000"
    for name, document in (("a", later), ("b", record())):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    reading = EVIDENCE.read_scores([tmp_path])
    assert "several sources, of which the latest date counts: gpt-4.1 on gpqa_diamond" in reading.notes
    rows = EVIDENCE.add(reading).primary_scores.filter(subject="gpt-4.1", benchmark="gpqa_diamond")
    assert rows["source"].to_list() == ["Another board"]


def test_faults_of_several_files_name_the_file_and_its_row(tmp_path):
    good = written(tmp_path, "model,benchmark,score,unit\ngpt-4.1,gpqa_diamond,64,percent\n", "a.csv")
    bad = written(tmp_path, "model,benchmark,score,unit\ngpt-4.1,hle,5,percent\nnobody,hle,3,percent\n", "b.csv")
    with pytest.raises(MensuraError, match=r"b\.csv, row 3, column model: got 'nobody'"):
        EVIDENCE.read_scores([str(good), str(bad)])
    assert EVIDENCE.read_scores([str(good), str(good)]).scores.height == 1


def test_results_beside_a_model_and_its_card_are_scores(tmp_path):
    results = "- dataset:\n    id: Idavidrein/gpqa\n    task_id: diamond\n  value: 64.5\n  date: '2026-01-02'\n"
    path = written(tmp_path, results, "gpt-4.1/.eval_results/gpqa.yaml")
    row = EVIDENCE.read_scores(path).scores.row(0, named=True)
    assert (row["subject"], row["benchmark"], row["score"], row["date"]) == (
        "gpt-4.1",
        "gpqa_diamond",
        "64.5",
        "2026-01-02",
    )
    card = (
        "---\nmodel-index:\n- name: gpt-4.1\n  results:\n  - task: {type: text}\n"
        "    dataset: {type: x, name: GPQA Diamond}"
        "\n    metrics:\n    - {type: accuracy, value: 64.5}\n---\n# card\n"
    )
    assert EVIDENCE.read_scores(written(tmp_path, card, "README.md")).scores["score"].to_list() == ["64.5"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- dataset:\n    id: a/b\n  value: [1, 2]\n", r"\[0\].value: .*expected a finite number"),
        ("- value: 3\n", r"\[0\].dataset.id: missing"),
        ("a: &x [1]\nb: *x\n", "YAML aliases"),
        ("- dataset: {id: a\n", "not readable as YAML"),
        ("3\n", "expected a list"),
    ],
)
def test_broken_yaml_is_refused_with_the_field(tmp_path, text, message):
    with pytest.raises(MensuraError, match=message):
        read_log(written(tmp_path, text, "x.yaml"))


def test_totals_of_helm_are_scores(tmp_path):
    stats = [
        {"name": {"name": "exact_match", "split": "test"}, "count": 2, "sum": 1.0},
        {"name": {"name": "exact_match", "split": "test", "perturbation": {"name": "x"}}, "count": 2, "sum": 0.0},
    ]
    path = written(tmp_path, stats, "run/stats.json")
    spec = {"name": "gpqa_diamond:model=x", "adapter_spec": {"model": "openai/gpt-4.1"}}
    written(tmp_path, spec, "run/run_spec.json")
    assert read_log(path).rows == [("openai/gpt-4.1", "gpqa_diamond", 0.5, "fraction", "exact_match")]
    assert EVIDENCE.read_scores([str(path.parent)]).scores.height == 1


def test_tables_of_other_kinds_are_named_with_their_command(tmp_path):
    answers = written(tmp_path, "id,item,resp\np1,q1,1\n", "irw.csv")
    votes = written(tmp_path, "model_a,model_b,winner\nx,y,tie\n", "votes.csv")
    with pytest.raises(OtherKindError, match=r"Item Response Warehouse.*mensura responses fit"):
        EVIDENCE.read_scores(answers)
    with pytest.raises(OtherKindError, match=r"pairwise votes.*mensura stitch --votes"):
        EVIDENCE.read_scores(votes)


def test_every_example_of_a_format_is_read_or_led_to_its_command(shared):
    """Votes, answers and runs as they lie in the examples; descriptions of data are no scores."""
    formats = shared / "data" / "formats"
    votes = {path.name: read_votes(path)["outcome"].to_list() for path in (formats / "pairwise").iterdir()}
    assert votes == {
        "arena_100k.jsonl": [0, 3],
        "arena_140k.jsonl": [3, 2],
        "arena_55k.csv": [0, 2],
        "irw_competition.csv": [0, 2],
        "llmfao.csv": [2, 1],
        "versus_expert.csv": [0, 2, 1],
    }
    [answers] = read_answers(formats / "irw" / "tarn_items.csv")
    assert answers.select("item", "value").unique().height == 3
    runs = {path.name: read_runs(path, notes=[])[0]["trials"].sum() for path in (formats / "metr").glob("*.jsonl")}
    assert runs == {"lyptus_three_lines.jsonl": 3, "runs_synthetic.jsonl": 45}
    log = read_log(formats / "inspect" / "limit_and_epochs_log.json")
    assert log.rows[0][:5] == ("mockllm/model", "pick", 0.5, "fraction", 3)
    for path in (formats / "metadata").iterdir():
        with pytest.raises(MensuraError, match="neither results of lm-evaluation-harness"):
            read_log(path)


def test_the_real_examples_are_read(shared):
    formats = shared / "data" / "formats"
    real = sorted((formats / "eee" / "real").glob("*.json"))
    assert [len(read_log(path).rows) for path in real] == [1, 1, 6]
    [panel] = (formats / "eee" / "valid" / "data" / "tarn-panel").rglob("*_samples.jsonl")
    outcomes = list(read_samples(panel))
    assert [(one.subject, one.of_person, one.value) for one in outcomes] == [
        ("person_01", True, 1.0),
        ("person_01", True, 0.0),
    ]
    [log] = (formats / "inspect").glob("human*")
    [row] = read_people_logs([log])
    assert (row["benchmark"], row["score"], row["n"]) == ("tiny_sums", 0.5, 1)
    with pytest.raises(OtherKindError, match="--map text=question,key=answer,options=options"):
        read_log(formats / "hf" / "eval.yaml")
    assert read_log(formats / "hf" / "README_model_card.md").rows[0][:3] == ("example-model", "Tarn items", 81.5)
    [results] = (formats / "hf" / ".eval_results").glob("*.yaml")
    assert pl.DataFrame(read_log(results).rows, orient="row").height == 2


@pytest.mark.parametrize(
    ("name", "document", "message"),
    [
        ("h.json", '{"results": {"t": {"acc": 0.5}}, "n-samples": 3}', "n-samples: '3'; expected an object"),
        ("h.json", '{"results": {"t": {"acc": 0.5}}, "group_subtasks": [1]}', "group_subtasks: .*expected an object"),
        ("i.json", '{"eval": {}, "results": {"scores": [3]}}', "results.scores: .*expected a list of objects"),
        ("i.json", '{"eval": {}, "results": [3]}', "results: .*expected an object"),
        ("i.json", '{"eval": {}, "samples": 7}', "samples: '7'; expected a list of objects"),
        ("i.json", '{"eval": {}, "eval": {}}', "'eval' is there twice"),
        ("a.yaml", "- {value: 3, value: 4}\n", "'value' is there twice"),
        ("a.yaml", "a: &x [1]\nb: *x\n", "a.yaml: has YAML aliases"),
    ],
)
def test_logs_of_wrong_kinds_inside_are_refused_with_the_field(tmp_path, name, document, message):
    with pytest.raises(MensuraError, match=message):
        read_log(written(tmp_path, document, name))


def test_an_archive_whose_header_is_no_object_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "[1]")
    with pytest.raises(MensuraError, match=r"header\.json, eval: 'None'; expected an object"):
        read_log(tmp_path / "log.eval")


def result_of(**changes):
    """The cells of a record's result after changes of its parts: config, uncertainty, result or record."""
    document = record()
    (result,) = document["evaluation_results"]
    for name, part in (
        ("config", result["metric_config"]),
        ("scored", result["score_details"]),
        ("uncertainty", result["score_details"]["uncertainty"]),
        ("result", result),
        ("source", document["source_metadata"]),
        ("info", document["model_info"]),
        ("record", document),
    ):
        part.update(changes.get(name, {}))
    (row,) = read_record(document, Path("r.json"))
    return {"metric": row.metric, **row.cells}


@pytest.mark.parametrize(
    ("uncertainty", "error"),
    [
        ({"standard_error": {"value": 0.03}}, 0.03),
        ({"confidence_interval": {"lower": 0.5, "upper": 0.6}}, 0.05 / 1.959964),  # 95% where it states none
        ({"confidence_interval": {"lower": 0.5, "upper": 0.6, "confidence_level": 90}}, 0.05 / 1.644854),
        ({"confidence_interval": {"lower": 0.5, "upper": 0.6, "confidence_level": 0.5}}, 0.05 / 0.674490),
        ({"confidence_interval": {"lower": 0.6, "upper": 0.5}}, None),
        ({"confidence_interval": {"lower": 0.5, "upper": 0.5}}, None),
        ({"confidence_interval": {"lower": 0.5}}, None),
        ({"confidence_interval": {}, "standard_error": {"value": 0}}, None),
    ],
)
def test_an_error_is_stated_or_half_an_interval_by_its_level(uncertainty, error):
    cells = result_of(uncertainty=uncertainty)
    assert cells["stderr"] == (error if error is None else pytest.approx(error, abs=1e-6))


def test_a_record_of_version_2_has_its_interval_beside_the_score():
    scored = {"uncertainty": None, "confidence_interval": {"lower": 0.5, "upper": 0.6, "confidence_level": 0.9}}
    document = record()
    document["evaluation_results"][0]["score_details"].update(scored)
    (row,) = read_record(document, Path("r.json"))
    assert row.cells["stderr"] == pytest.approx(0.05 / 1.644854, abs=1e-6)
    assert (row.cells["low"], row.cells["high"], row.cells["n"]) == (0.5, 0.6, None)


def test_a_result_has_its_size_unit_day_and_metric():
    plain = result_of()
    assert (plain["metric"], plain["n"], plain["unit"], plain["date"]) == ("accuracy", 198, "fraction", "2025-06-15")
    assert (plain["model"], plain["display_name"], plain["provider"]) == ("openai/gpt-4.1", "GPT-4.1", "openai")
    assert (plain["source"], plain["measured_by"], plain["group"]) == ("A board of 2026", "independent", "GPT-4.1")
    ids = {"source_data": {"sample_ids": ["a", "b"]}}
    assert result_of(result=ids, uncertainty={"num_samples": None})["n"] == 2
    assert result_of(config={"max_score": 100})["unit"] == "percent"
    assert result_of(config={"max_score": 5})["unit"] is None
    assert result_of(config={"metric_unit": "%"})["unit"] == "percent"
    assert result_of(config={"metric_unit": "tokens"})["unit"] == "fraction", "its bounds say it"
    assert result_of(config={"metric_id": None, "metric_name": "f1"})["metric"] == "f1"
    assert result_of(config={"metric_id": None, "evaluation_description": "by hand"})["metric"] == "by hand"
    assert result_of(config={"metric_id": None})["metric"] == "score"
    assert result_of(result={"evaluation_timestamp": "2026-02-03T04:05:06"})["date"] == "2026-02-03"
    assert result_of(record={"evaluation_timestamp": "1700000000"})["date"] == "2023-11-14"
    assert result_of(record={"retrieved_timestamp": "some day"})["date"] is None
    named = {"source_name": None, "evaluator_relationship": "first_party"}
    assert (result_of(source=named)["source"], result_of(source=named)["measured_by"]) == ("A lab", "vendor")
    assert result_of(info={"id": None})["model"] == "GPT-4.1"
    details = {"details": {"unit": "elo", "note": "n", "conditions": "c", "persons": 12, "variant": "v"}}
    own = result_of(scored=details)
    assert (own["unit"], own["note"], own["conditions"], own["persons"]) == ("elo", "n", "c", 12)
    assert result_of(scored={"details": {"variant": "v"}})["note"] == "v"
    assert result_of(info={"additional_details": {"persons": "7", "population": "adults"}})["persons"] == 7


def test_where_lower_is_better_there_is_no_score(tmp_path):
    document = record()
    document["evaluation_results"][0]["metric_config"]["lower_is_better"] = True
    assert read_record(document, Path("r.json")) == []
    with pytest.raises(MensuraError, match="no score of which higher is better; expected at least one"):
        read_log(written(tmp_path, document))
    assert is_of_people({"model_info": {"additional_details": {"subject_kind": "people"}}})
    assert not is_of_people({"model_info": {"additional_details": {"subject_kind": "model"}}})
    assert not is_of_people({"model_info": "x"})


@pytest.mark.parametrize(
    ("dataset", "part", "task"),
    [
        ("Idavidrein/gpqa", "diamond", "gpqa diamond"),
        ("Idavidrein/gpqa", "gpqa_diamond", "gpqa_diamond"),
        ("a/hle", "Default", "hle"),
        ("a/hle", None, "hle"),
        ("hle", "test", "hle"),
    ],
)
def test_a_dataset_and_its_part_name_a_test(dataset, part, task, tmp_path):
    dataset = {"id": dataset, "config": part}
    entry = {"dataset": dataset, "value": "61.5%", "date": "2026-01-02", "notes": "n"}
    entry["source"] = {"url": "https://a.org/x"}
    path = written(tmp_path, json.dumps([entry]), "my-model/.eval_results/x.yaml")
    (row,) = read_hugging_face(path)
    assert row.cells == {
        "model": "my-model",
        "task": task,
        "score": 61.5,
        "date": "2026-01-02",
        "source": "https://a.org/x",
        "note": "n",
    }
    beside = read_hugging_face(written(tmp_path, json.dumps([entry]), "other/x.yml"))
    assert beside[0].cells["model"] == "other"


def test_a_card_without_an_index_and_a_description_of_a_benchmark_are_refused(tmp_path):
    for text in ("# card\n", "---\nlicense: mit\n---\n# card\n", "---\nmodel-index: []\n"):
        with pytest.raises(MensuraError, match="model-index: missing; expected a model card with its results"):
            read_hugging_face(written(tmp_path, text, "README.md"))
    fields = {"input": "question", "target": "answer", "choices": "options"}
    tasks = {"tasks": [{"id": "t1"}, {"id": "t2", "field_spec": fields}]}
    with pytest.raises(OtherKindError, match=r"\(t1, t2\) and has no scores.*--map text=question,key=answer,opti"):
        read_hugging_face(written(tmp_path, json.dumps(tasks), "eval.yaml"))
    with pytest.raises(OtherKindError, match="mensura baseline ITEMS --people world"):
        read_hugging_face(written(tmp_path, json.dumps({"tasks": [{"id": "t1"}]}), "eval.yaml"))
    monstrous = "a: " + "x" * MOST_YAML
    with pytest.raises(MensuraError, match=f"characters of YAML; expected at most {MOST_YAML:,}"):
        read_yaml(monstrous, tmp_path / "x.yaml")


def test_totals_of_helm_are_means_of_the_first_known_metric_on_the_test_split(tmp_path):
    def stat(metric, total, count=4, **name):
        return {"name": {"name": metric, **name}, "count": count, "sum": total}

    stats = [
        stat("f1_score", 3),
        stat("exact_match", 2, split="valid"),
        stat("quasi_exact_match", 1),
        stat("exact_match", 2, count=0),
        stat("bits_per_byte", 2),
    ]
    path = written(tmp_path, stats, "run/stats.json")
    with pytest.raises(MensuraError, match=r"no run_spec.json beside it names the model; copy the whole folder"):
        read_helm(stats, path)
    spec = {"name": "mmlu:subject=law,model=x,k=5", "adapter_spec": {"model": "a/b"}}
    written(tmp_path, spec, "run/run_spec.json")
    assert [(row.metric, row.cells["score"]) for row in read_helm(stats, path)] == [
        ("quasi_exact_match", 0.25),
        ("f1_score", 0.75),
    ]
    assert read_helm(stats, path)[0].cells == {
        "model": "a/b",
        "task": "mmlu,subject=law,k=5",
        "score": 0.25,
        "unit": "fraction",
        "note": "quasi_exact_match",
    }
    with pytest.raises(MensuraError, match="no known metric; expected one of exact_match, "):
        read_helm(stats[-1:], path)
    assert is_helm(stats) and not is_helm([]) and not is_helm([{"name": {}, "instance_id": 1}]) and not is_helm({})
