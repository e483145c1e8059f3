"""Results of people in evaluation logs and shared records."""

import json
from pathlib import Path

import pytest

import mensura
from mensura.baseline import read_own
from mensura.core.errors import MensuraError
from mensura.intake.people_logs import is_people_log, read_people_logs
from tests.intake.every_eval import record, written

EVIDENCE = mensura.load()


def human_log(folder: Path, person: str, solved: list[bool]) -> Path:
    """Write an Inspect log that a person took by hand."""
    samples = [
        {
            "id": f"t{place}",
            "epoch": 1,
            "scores": {"match": {"value": "C" if right else "I"}},
            "store": {"HumanAgentState:accumulated_time": 120.0 * (place + 1)},
        }
        for place, right in enumerate(solved)
    ]
    head = {"task": "gpqa_diamond", "model": "openai/gpt-4.1", "metadata": {"person": person}}
    log = {"status": "success", "eval": head, "plan": {"steps": [{"solver": "human_cli"}]}, "samples": samples}
    return written(folder, log, f"{person}.json")


def test_logs_of_people_become_a_group_with_size_time_and_conditions(tmp_path):
    logs = [human_log(tmp_path, "ann", [True, True]), human_log(tmp_path, "bob", [True, False])]
    assert all(map(is_people_log, logs))
    row = read_own(logs).row(0, named=True)
    assert (row["benchmark"], row["score"], row["n"], row["unit"]) == ("gpqa_diamond", 0.75, 2, "fraction")
    assert "3 minutes per task" in row["conditions"]
    with pytest.raises(MensuraError, match="people took this evaluation"):
        EVIDENCE.read_scores(logs[0])


def test_a_record_about_people_is_a_human_baseline(tmp_path):
    path = written(tmp_path, record("lab/panel", subject_kind="people", population="adults", persons="40"))
    row = read_own(path).row(0, named=True)
    assert (row["group"], row["n"], row["score"], row["low"]) == ("adults", 40, 0.64, 0.574)


def test_everybody_counts_once_however_many_tasks_they_did_and_nothing_handed_in_is_nothing_solved(tmp_path):
    """One who solves one of one and one who solves none of three score a half together, not a quarter."""
    logs = [human_log(tmp_path, "ann", [True]), human_log(tmp_path, "bob", [False, False, False])]
    [row] = read_people_logs(logs)
    assert (row["score"], row["n"]) == (0.5, 2)
    assert row["conditions"].startswith("3 tasks, 3 minutes per task (median)")
    log = json.loads(logs[0].read_text(encoding="utf-8"))
    log["samples"][0]["scores"] = {}
    [row] = read_people_logs([written(tmp_path, log, "nothing.json"), logs[0]])
    assert row["score"] < 1.0


def test_a_log_of_a_model_is_no_log_of_people_and_is_not_mixed_with_them(tmp_path):
    person = human_log(tmp_path, "ann", [True])
    log = json.loads(person.read_text(encoding="utf-8"))
    log["plan"]["steps"] = [{"solver": "generate"}]
    log["samples"][0].pop("store")
    model = written(tmp_path, log, "model.json")
    assert [is_people_log(path) for path in (person, model)] == [True, False]
    with pytest.raises(MensuraError, match="gpqa_diamond:t0 is of no person; give logs of people and models apart"):
        read_people_logs([person, model])


@pytest.mark.parametrize("text", ["subject_kind", '["subject_kind"]', '{"a": "subject_kind"}'])
def test_a_file_that_only_names_people_is_no_log_of_theirs(tmp_path, text):
    path = written(tmp_path, text, "other.json")
    if text.startswith(("[", "{")):
        assert not is_people_log(path)
    assert not is_people_log(path.with_suffix(".csv")) and not is_people_log(tmp_path / "none.json")


def test_a_record_says_its_year_or_none(tmp_path):
    details = {"subject_kind": "people", "population": "adults", "persons": "40"}
    document = record("lab/panel", **details)
    [dated] = read_people_logs([written(tmp_path, document)])
    assert dated["year"] == 2025, "of the day on which it was retrieved"
    del document["retrieved_timestamp"]
    [undated] = read_people_logs([written(tmp_path, document)])
    assert undated["year"] is None
