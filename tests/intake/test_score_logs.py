"""Evaluation logs as rows: lm-evaluation-harness, Inspect (``.json``, ``.eval``), HELM, and shared records."""

import json

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.score_logs import is_of_person, read_log
from tests.intake.messy import archive
from tests.responses.test_reading import packed_by_zstandard


def test_the_head_of_a_log_has_16_mebibytes(tmp_path):
    scores = [{"name": "match", "metrics": {"accuracy": {"value": 1}}}]
    head = {"eval": {"model": "a/b", "task": "owner/inspect/hle"}, "results": {"scores": scores}, "pad": ""}
    pad = "x" * (16 * 2**20 - len(json.dumps(head)))
    (tmp_path / "a.eval").write_bytes(archive({"header.json": json.dumps({**head, "pad": pad})}))
    assert read_log(tmp_path / "a.eval").rows == [("a/b", "hle", 1.0, "fraction", None, None)]
    (tmp_path / "a.eval").write_bytes(archive({"header.json": json.dumps({**head, "pad": f"{pad}x"})}))
    with pytest.raises(MensuraError, match=r"16,777,217 bytes; at most 16,777,216"):
        read_log(tmp_path / "a.eval")


@pytest.mark.parametrize(("value", "taken"), [(0, True), (1, True), (0.5, True), (-0.01, False), (1.01, False)])
def test_a_figure_of_an_inspect_log_is_a_share(value, taken, tmp_path):
    scores = [{"name": "match", "metrics": {"accuracy": {"value": value}, "mean": {"value": 0.25}}}]
    head = {"eval": {"model": "m", "task": "hle"}, "results": {"scores": scores, "completed_samples": 7}}
    (tmp_path / "a.json").write_text(json.dumps(head), encoding="utf-8")
    assert read_log(tmp_path / "a.json").rows == [("m", "hle", value if taken else 0.25, "fraction", 7, None)]


def test_a_log_packed_by_zstandard_is_read_and_a_damaged_one_refused(tmp_path):
    head = {"eval": {"model": "m", "task": "hle"}, "results": {"scores": [{"metrics": {"mean": {"value": 0.5}}}]}}
    log = tmp_path / "a.eval"
    log.write_bytes(archive({"header.json": json.dumps(head)}))
    packed_by_zstandard(log)
    assert read_log(log).rows == [("m", "hle", 0.5, "fraction", None, None)]
    log.write_bytes(archive({"header.json": json.dumps(head)}))
    packed_by_zstandard(log, damage=lambda told: told.replace(b"0.5", b"0.6"))
    with pytest.raises(MensuraError, match=r"header.json is damaged"):
        read_log(log)


def inspect(tmp_path, *, status="success", limit=None, epochs=None, samples=10, completed=None, scores=None):
    """Write an Inspect log of one evaluation."""
    log = {
        "status": status,
        "eval": {
            "model": "m",
            "task": "a/hle",
            "dataset": {"samples": samples},
            "config": {"limit": limit, "epochs": epochs},
        },
        "results": {"completed_samples": completed, "scores": scores or SCORES},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


SCORES = [{"name": "match", "metrics": {"accuracy": {"value": 0.8}, "stderr": {"value": 0.1}}}]


@pytest.mark.parametrize(
    ("run", "n", "note"),
    [
        ({}, 10, None),
        ({"completed": 10}, 10, None),
        ({"completed": 9}, 9, "hle: a partial run, 9 of 10 items"),
        ({"completed": 20, "epochs": 2}, 20, None),
        ({"completed": 16, "epochs": 2}, 8, "hle: a partial run, 8 of 10 items"),
        ({"completed": 1, "epochs": 2}, 1, "hle: a partial run, 1 of 10 items"),
        ({"limit": 10, "completed": 10}, 10, "hle: a partial run, 10 of 10 items"),
        ({"limit": 3}, None, None),
        ({"samples": None, "completed": 4}, 4, None),
        ({"samples": None, "completed": 4, "limit": 4}, 4, "hle: a partial run, 4 of its items"),
        ({"completed": 0}, 10, None),
        ({"samples": 1e9, "completed": 5}, 5, None),  # so large a count is none
        ({"samples": 1e9 - 1, "completed": 5}, 5, "hle: a partial run, 5 of 999999999 items"),
    ],
)
def test_each_item_of_a_partial_run_counts_once(run, n, note, tmp_path):
    read = read_log(inspect(tmp_path, **run))
    assert read.header == ("model", "task", "score", "unit", "n", "stderr")
    assert read.rows == [("m", "hle", 0.8, "fraction", n, 0.1)]
    assert read.notes == ("Inspect log: accuracy of the scorer match", *([note] if note else []))


@pytest.mark.parametrize(("error", "kept"), [(0, None), (0.5, 0.5), (0.51, None), ("x", None), (0.001, 0.001)])
def test_a_standard_error_of_a_share_is_above_0_and_at_most_a_half(error, kept, tmp_path):
    metrics = {"accuracy": {"value": 0.8}, "stderr": {"value": error}}
    assert read_log(inspect(tmp_path, scores=[{"name": "match", "metrics": metrics}])).rows[0][-1] == kept


def test_the_first_scorer_counts_and_the_metric_that_is_wanted(tmp_path):
    both = [*SCORES, {"name": "judge", "metrics": {"mean": {"value": 0.4}, "f1": {"value": 0.3}}}]
    path = inspect(tmp_path, scores=both)
    read = read_log(path)
    assert read.notes == ("Inspect log: accuracy of the scorer match", "other scorers left out: judge")
    only = read_log(path, "f1")
    assert (only.rows[0][2], only.rows[0][5], only.notes) == (0.3, None, ("Inspect log: f1 of the scorer judge",))
    with pytest.raises(MensuraError, match="no scorer with bleu; the log has accuracy, stderr, mean, f1"):
        read_log(path, "bleu")
    with pytest.raises(MensuraError, match="no scorer with accuracy or mean; add one to the evaluation"):
        read_log(inspect(tmp_path, scores=[{"name": "x", "metrics": {"f1": {"value": 1}}}]))
    with pytest.raises(MensuraError, match="the evaluation ended with status 'error'; run it to its end first"):
        read_log(inspect(tmp_path, status="error"))


def harness(tmp_path, results, **rest):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": results, **rest}), encoding="utf-8")
    return path


def test_tasks_of_the_harness_with_their_errors_and_counts(tmp_path):
    results = {
        "arc": {"acc_norm,none": 0.9, "acc,none": 0.8, "acc_stderr,none": 0.02},
        "gsm": {"exact_match,strict": 0.5, "exact_match,loose": 0.6, "exact_match_stderr,strict": 0.03},
        "notes": {"alias": "x"},
        "mmlu": {"acc": 0.7, "acc_stderr": 0},
        "mmlu_law": {"acc": 0.6},
        "mmlu_art": {"acc": 0.8},
    }
    counts = {
        "arc": {"original": 100, "effective": 40},
        "mmlu_law": {"original": 10, "effective": 10},
        "mmlu_art": {"original": 20, "effective": 20},
    }
    groups = {"mmlu": ["mmlu_law", "mmlu_art"], "arc": []}
    path = harness(tmp_path, results, **{"config": {"model": "c"}, "n-samples": counts, "group_subtasks": groups})
    read = read_log(path)
    assert read.rows == [
        ("c", "arc", 0.8, "fraction", 40, 0.02),
        ("c", "gsm", 0.5, "fraction", None, 0.03),
        ("c", "mmlu", 0.7, "fraction", 30, None),
    ]
    assert read.notes == (
        "lm-evaluation-harness: arc by acc, gsm by exact_match,strict, mmlu by acc",
        "arc: a partial run, 40 of 100 items",
        "2 parts of groups left out: they are in their groups' figures",
    )
    assert read_log(path, "acc_norm").rows == [("c", "arc", 0.9, "fraction", 40, None)]
    assert read_log(path, "exact_match,loose").rows == [("c", "gsm", 0.6, "fraction", None, None)]
    with pytest.raises(MensuraError, match="no task with a known metric; expected one of bleu"):
        read_log(path, "bleu")


def test_a_list_of_records_is_a_table_unless_it_is_answers_of_helm(tmp_path):
    (tmp_path / "a.json").write_text('[{"a": 1}, {"b": 2, "a": 3}]')
    assert read_log(tmp_path / "a.json") == (("a", "b"), [(1, None), (3, 2)], ())
    (tmp_path / "a.json").write_text('[{"instance_id": 1}]')
    with pytest.raises(MensuraError, match=r"answers of HELM, no total; give the stats\.json beside it"):
        read_log(tmp_path / "a.json")
    for nothing in ("[]", "[1]", "{}", '{"eval": 1}'):
        (tmp_path / "a.json").write_text(nothing)
        with pytest.raises(MensuraError, match=r"neither results of lm-evaluation-harness, nor an Inspect log, nor"):
            read_log(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("head", "sample", "of_person"),
    [
        ({"plan": {"steps": [{"solver": "generate"}, {"solver": "x/human_cli"}]}}, None, True),
        ({"eval": {"solver": "human_agent"}}, None, True),
        ({"plan": {"steps": "human_cli"}}, None, False),
        ({}, {"store": {"HumanAgentState:running": True}}, True),
        ({}, {"store": {"AgentState:running": True}}, False),
        ({}, {"store": {}, "output": {"model": "human_cli"}}, True),
        ({}, {"output": {"model": "acme/one"}}, False),
        ({}, None, False),
    ],
)
def test_a_person_is_known_by_the_solver_or_by_the_sample(head, sample, of_person):
    assert is_of_person(head, sample) is of_person
