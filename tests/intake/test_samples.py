"""Evaluation logs, sample by sample: what is none is refused in words."""

import json

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.answers import read_answers
from mensura.intake.samples import is_sample_log, read_samples
from mensura.intake.score_logs import read_log
from tests.intake.messy import archive


@pytest.mark.parametrize("told", [{}, {"results": {"acc": 0.5}}, [], ["eval"], 7])
def test_json_that_is_no_log_is_refused_in_words(tmp_path, told):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(MensuraError, match=r"log\.json: unknown log; expected an Inspect log with samples or HELM's"):
        list(read_samples(path))


def log_by_hand(solver=None, model="acme/strong", store=None, output="acme/strong", **metadata):
    """Return an Inspect log of two tasks, the first solved."""
    samples = [
        {"id": name, "scores": {"match": {"value": value}}, "output": {"model": output}, "store": store or {}}
        for name, value in (("t1", "C"), ("t2", "I"))
    ]
    return {
        "status": "success",
        "eval": {"task": "gpqa_diamond", "model": model, "run_id": "r", "metadata": metadata},
        "plan": {"steps": [{"solver": solver}] if solver else []},
        "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}}}]},
        "samples": samples,
    }


BY_HAND = [
    log_by_hand("human_cli"),
    log_by_hand("inspect_ai/human_agent", model="none/none"),
    log_by_hand(store={"HumanAgentState:accumulated_time": 512.5}),
    log_by_hand(output="human_agent"),
]


@pytest.mark.parametrize("log", BY_HAND)
def test_what_people_took_by_hand_is_no_models(tmp_path, log):
    """Institutes collect people's results with Inspect's human agent; they once counted as those of the model named."""
    path = tmp_path / "ann.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    answers = pl.concat(read_answers(path))
    assert set(answers.select("subject", "group").iter_rows()) == {("ann", "people")}
    assert answers["value"].to_list() == [1.0, 0.0]
    with pytest.raises(MensuraError, match=r"people took this evaluation .* its score is no model's"):
        read_log(path)


def test_a_person_is_named_as_the_log_names_them_and_models_stay_models(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(log_by_hand("human_cli", participant="P7")), encoding="utf-8")
    assert set(pl.concat(read_answers(path))["subject"]) == {"P7"}
    path.write_text(json.dumps(log_by_hand("generate", model="none/none")), encoding="utf-8")
    assert set(pl.concat(read_answers(path)).select("subject", "group").iter_rows()) == {("none/none", "models")}
    assert read_log(path).rows[0][0] == "none/none"


def test_a_sample_without_an_id_is_refused(tmp_path):
    log = log_by_hand("generate", model="none/none")
    del log["samples"][0]["id"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(MensuraError, match=r"run.json: sample 1 has no id; expected a sample of Inspect"):
        list(read_answers(path))


def lines(path, *samples):
    """Write samples line by line."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, samples)), encoding="utf-8")
    return path


def test_harness_samples_of_the_first_filter_and_metric_count(tmp_path):
    samples = [
        {"doc_id": 0, "filter": "strict", "acc": 1.0, "acc_norm": 0.0},
        {"doc_id": 0, "filter": "loose", "acc": 0.0, "acc_norm": 0.0},
        {"doc_id": 1, "filter": "strict", "acc": 0.25, "acc_norm": 1.0},
    ]
    path = lines(tmp_path / "lab__m" / "samples_arc_easy_2026-11-01T10-20-30.5.jsonl", *samples)
    assert list(read_samples(path)) == [
        ("lab__m", "arc_easy:0", 1.0, str(path), False, None, None),
        ("lab__m", "arc_easy:1", 0.25, str(path), False, None, None),
    ]
    other = lines(tmp_path / "mine.jsonl", {"doc_id": 3, "acc_norm": 1})
    assert [sample[:3] for sample in read_samples(other, subject="me")] == [("me", "mine:3", 1.0)]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"acc": 1}, r"line 1: no doc_id; expected samples of lm-evaluation-harness"),
        ({"doc_id": 1, "accuracy": 1}, r"no known sample metric; expected one of exact_match, acc, "),
        ({"doc_id": 1, "acc": 1.01}, r"line 1: acc is 1\.01; expected a number from 0 to 1"),
        ({"doc_id": 1, "acc": -0.01}, r"line 1: acc is -0\.01; expected a number"),
    ],
)
def test_harness_samples_that_are_none_are_refused(sample, message, tmp_path):
    with pytest.raises(MensuraError, match=message):
        list(read_samples(lines(tmp_path / "samples_arc.jsonl", sample)))


def shared_sample(number, score, result="r1", **rest):
    sample = {"evaluation_id": "e", "model_id": "lab/m", "evaluation_name": "arc", "sample_id": number}
    return sample | {"evaluation_result_id": result, "evaluation": {"score": score}} | rest


def test_shared_samples_count_by_the_first_metric_and_may_be_of_people(tmp_path):
    person = {"person": "p1", "item": "river"}
    samples = [
        shared_sample("1", 1),
        shared_sample("1", 0, "r2"),
        shared_sample("2", None, evaluation={"is_correct": True}, performance={"latency_ms": 900}),
        shared_sample("3", 0.5, metadata=person, performance={"latency_ms": 1500}),
        shared_sample("4", 0, "r9", evaluation_name="hle"),
        shared_sample("5", 0, metadata=person),
    ]
    path = lines(tmp_path / "a.jsonl", *samples)
    assert list(read_samples(path)) == [
        ("lab/m", "arc:1", 1.0, "e", False, None, None),
        ("lab/m", "arc:2", 1.0, "e", False, None, None),
        ("p1", "arc:river", 0.5, "e", True, 1.5, "lab/m"),
        ("lab/m", "hle:4", 0.0, "e", False, None, None),
        ("p1", "arc:river", 0.0, "e", True, None, "lab/m"),
    ]
    assert {sample.subject for sample in read_samples(path, subject="me")} == {"me", "p1"}
    lines(path, shared_sample("1", 1) | {"evaluation_name": ""})
    with pytest.raises(MensuraError, match="line 1, evaluation_name: missing; expected a sample of Every Eval Ever"):
        list(read_samples(path))
    lines(path, shared_sample("1", 2))
    with pytest.raises(MensuraError, match=r"line 1, evaluation\.score is 2; expected"):
        list(read_samples(path))


def helm_instances(folder, *instances, spec=True):
    path = folder / "per_instance_stats.json"
    path.write_text(json.dumps(instances), encoding="utf-8")
    if spec:
        run = {"name": "mmlu:subject=law,model=acme_one", "adapter_spec": {"model": "acme/one"}}
        (folder / "run_spec.json").write_text(json.dumps(run), encoding="utf-8")
    return path


def helm_instance(number, total, count=1, name="exact_match", **rest):
    return {"instance_id": number, "stats": [{"name": {"name": name}, "sum": total, "count": count}], **rest}


def test_helm_instances_are_means_without_perturbed_copies(tmp_path):
    path = helm_instances(
        tmp_path,
        helm_instance("id1", 3, 4),
        helm_instance("id1", 0, perturbation={"name": "typos"}),
        helm_instance("id2", 1, name="quasi_exact_match"),
        helm_instance("id3", 0, 0),
        {"instance_id": "id4"},
    )
    samples = list(read_samples(path))
    assert [(sample.subject, sample.value, sample.run) for sample in samples] == [
        ("acme/one", value, str(path)) for value in (0.75, None, None, None)
    ]
    assert [sample.item.rsplit(":", 1)[-1] for sample in samples] == ["id1", "id2", "id3", "id4"]
    assert {sample.item.partition(":")[0] for sample in samples} == {"mmlu,subject=law"}
    assert next(read_samples(path, subject="me")).subject == "me"


def test_helm_instances_without_a_model_or_a_metric_are_refused(tmp_path):
    path = helm_instances(tmp_path, helm_instance("id1", 1), spec=False)
    with pytest.raises(MensuraError, match=r"no run_spec.json beside it names the model; give the subject"):
        list(read_samples(path))
    path = helm_instances(tmp_path, helm_instance("id1", 1, name="bits_per_byte"))
    with pytest.raises(MensuraError, match="no known metric; expected one of "):
        list(read_samples(path))
    path = helm_instances(tmp_path, helm_instance("id1", 3, 2))
    with pytest.raises(MensuraError, match=r"instance 1 is 1\.5; expected a number from 0 to 1"):
        list(read_samples(path))


@pytest.mark.parametrize(
    ("value", "outcome"), [("C", 1), ("I", 0), (" P ", 0.5), ("N", 0), (1, 1), (0, 0), (True, 1), (0.3, 0.3)]
)
def test_letters_and_shares_of_inspect_are_outcomes(value, outcome, tmp_path):
    log = log_by_hand("generate")
    log["samples"][0]["scores"] = {"first": {"value": value}, "second": {"value": "I"}}
    log["samples"][1]["scores"] = {}
    (tmp_path / "run.json").write_text(json.dumps(log), encoding="utf-8")
    (tmp_path / "run.eval").write_bytes(
        archive(
            {"header.json": json.dumps({name: part for name, part in log.items() if name != "samples"})}
            | {f"samples/{one['id']}_epoch_1.json": json.dumps(one) for one in log["samples"]}
        )
    )
    expected = [("acme/strong", "gpqa_diamond:t1", outcome, "r"), ("acme/strong", "gpqa_diamond:t2", None, "r")]
    for name in ("run.json", "run.eval"):
        assert [sample[:4] for sample in read_samples(tmp_path / name)] == expected


@pytest.mark.parametrize("value", ["X", 1.01, -0.01, None, [1]])
def test_other_scores_of_inspect_are_refused(value, tmp_path):
    log = log_by_hand("generate")
    log["samples"][1]["scores"]["match"]["value"] = value
    (tmp_path / "run.json").write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(MensuraError, match="sample 2 has an unknown score; expected C, I, P, N or a number"):
        list(read_samples(tmp_path / "run.json"))


def test_of_people_the_working_time_and_the_population_are_kept(tmp_path):
    worked = {"HumanAgentState:accumulated_time": 512.5}
    path = tmp_path / "ann.json"
    path.write_text(json.dumps(log_by_hand("human_cli", store=worked, population="experts")), encoding="utf-8")
    assert next(read_samples(path)) == ("ann", "gpqa_diamond:t1", 1.0, "r", True, 512.5, "experts")
    worked["HumanAgentState:accumulated_time"] = 0
    path.write_text(json.dumps(log_by_hand("human_cli", store=worked, group="adults")), encoding="utf-8")
    assert next(read_samples(path))[5:] == (None, "adults")
    path.write_text(json.dumps(log_by_hand("generate", model="", store={})), encoding="utf-8")
    with pytest.raises(MensuraError, match="the header names no model; expected an Inspect log"):
        next(read_samples(path))


@pytest.mark.parametrize(
    ("name", "text", "subjects", "is_log"),
    [
        ("a.eval", "", None, True),
        ("a.csv", "", None, False),
        ("a.json", '{"eval" : {}}', None, True),
        ("a.json", '[{"instance_id": 1}]', None, True),
        ("a.json", '{"evaluation": {}}', None, False),
        ("a.jsonl", '{"doc_id": 1}', None, True),
        ("a.jsonl", '{"doc_id": 1, "model": "m"}', ("model",), False),
        ("a.jsonl", '{"doc_id": 1, "model": "m"}', ("subject",), True),
        ("a.jsonl", '{"item": 1}', ("subject",), False),
        ("a.jsonl", '{"item": 1}', None, False),
        ("a.jsonl", '{"item": 1, "doc_id": 2}', None, True),
        ("a.jsonl", '{"question": 1}', None, True),
        ("a.jsonl", '\n {"question": 1}\n{"doc_id": 1}', ("subject",), False),
        ("a.jsonl", '{"evaluation_id": 1, "model_id": 2, "sample_id": 3, "item": 1}', ("model_id",), True),
        ("a.jsonl", '{"evaluation_id": 1, "model_id": 2, "item": 1}', None, False),
    ],
)
def test_logs_are_known_by_their_name_and_first_line(name, text, subjects, is_log, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert is_sample_log(tmp_path / name, subjects) is is_log


def test_a_log_that_is_not_there_or_empty(tmp_path):
    with pytest.raises(MensuraError, match="no such file; check the path"):
        read_samples(tmp_path / "a.eval")
    assert is_sample_log(tmp_path / "a.eval")
    assert not is_sample_log(tmp_path / "a.json")
    (tmp_path / "a.json").write_text(json.dumps(log_by_hand() | {"samples": []}), encoding="utf-8")
    with pytest.raises(MensuraError, match="no sample with an outcome; check that the evaluation was scored"):
        list(read_answers(tmp_path / "a.json"))
