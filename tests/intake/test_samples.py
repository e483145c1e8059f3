"""Evaluation logs, sample by sample: what is none is refused in words."""

import json

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.answers import read_answers
from mensura.intake.samples import read_samples
from mensura.intake.score_logs import read_log


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
