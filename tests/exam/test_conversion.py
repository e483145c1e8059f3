"""Exams from pools and logs, and an exam as an Inspect task with the same scorer."""

import json
import subprocess
import sys
import zipfile

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam import read_exam
from mensura.exam.file import exam_from, new_exam
from mensura.exam.sitting import export_inspect


def test_a_new_exam_works_and_is_not_written_over(tmp_path):
    assert new_exam(tmp_path / "mine").digest == read_exam("example").digest
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "exam.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(MensuraError, match="was not written by mensura"):
        new_exam(tmp_path / "other")


def test_items_of_a_pool_become_an_exam_and_those_without_a_key_are_named(tmp_path):
    pool = tmp_path / "pool"
    pool.mkdir()
    rows = {"item": ["a 1", "b", "c"], "text": ["One?", "Two?", "Three?"], "options": ["x | y", None, "x | y"]}
    pl.DataFrame({**rows, "answer": ["y", "2", None]}).write_csv(pool / "items.csv")
    pl.DataFrame({"item": ["a 1"], "group": ["all"], "n": [10], "n_correct": [5]}).write_csv(pool / "group_rates.csv")
    exam, left = exam_from(pool, tmp_path / "exam")
    assert {item.item: (item.scoring, item.key) for item in exam.items} == {
        "a-1": ("choice", ("y",)),
        "b": ("text", ("2",)),
    }
    assert left == ["items.csv, row 4: key: empty; give the right answer"]


def test_samples_of_an_inspect_log_become_items(tmp_path):
    samples = [
        {"id": 1, "input": "Which?", "choices": ["red", "blue"], "target": "B"},
        {"id": 2, "input": [{"role": "user", "content": "Capital of Peru?"}], "choices": None, "target": ["Lima"]},
    ]
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    exam, left = exam_from(tmp_path / "log.eval", tmp_path / "exam")
    assert left == []
    assert exam.by_name["1"].right_options() == {1}
    assert exam.by_name["2"].text == "Capital of Peru?"


def test_samples_of_the_harness_become_items(tmp_path):
    lines = [
        {"doc_id": 0, "doc": {"question": "Which?", "choices": {"text": ["red", "blue"]}}, "target": "1", "acc": 1.0},
        {"doc_id": 1, "doc": {"question": "2 + 2?"}, "target": "4", "exact_match": 0.0},
    ]
    path = tmp_path / "samples_task.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    exam, _ = exam_from(path, tmp_path / "exam")
    assert exam.by_name["0"].right_options() == {1}
    assert exam.by_name["1"].key == ("4",)


def test_a_file_of_a_benchmark_becomes_an_exam_as_it_is(tmp_path):
    rows = {
        "question": ["Which?", "And now?"],
        "choices": [["red", "blue"]] * 2,
        "answer": [1, 0],
        "subject": ["s", "s"],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "test-00000.parquet")
    exam, left = exam_from(tmp_path / "test-00000.parquet", tmp_path / "exam")
    assert left == []
    assert [(item.text, item.key, item.domain) for item in exam.items] == [
        ("Which?", ("blue",), "s"),
        ("And now?", ("red",), "s"),
    ]


def test_unusual_columns_are_named(tmp_path):
    lines = [
        '{"blurb": "Which?", "picks": ["red", "blue"], "sol": 2}',
        '{"blurb": "And?", "picks": ["a", "b"], "sol": 1}',
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(MensuraError, match=r"it has blurb, picks, sol\. Say which: --map text=COLUMN"):
        exam_from(tmp_path / "own.jsonl", tmp_path / "exam")
    exam, _ = exam_from(tmp_path / "own.jsonl", tmp_path / "exam", "text=blurb,options=picks,key=sol:1")
    assert [(item.text, item.key) for item in exam.items] == [("Which?", ("blue",)), ("And?", ("a",))]


def test_a_slip_in_the_name_of_a_column_is_named_and_foreign_columns_are_left_out(tmp_path):
    new_exam(tmp_path / "mine")
    items = tmp_path / "mine" / "items.csv"
    items.write_text(items.read_text(encoding="utf-8").replace("tolerance", "remarks"), encoding="utf-8")
    assert read_exam(tmp_path / "mine").warnings == ("columns left out: remarks",)
    items.write_text(items.read_text(encoding="utf-8").replace("remarks", "tolerence"), encoding="utf-8")
    with pytest.raises(MensuraError, match="tolerence: unknown; remove it or correct its spelling"):
        read_exam(tmp_path / "mine")


def test_what_is_no_source_is_refused(tmp_path):
    (tmp_path / "x.txt").write_text("text", encoding="utf-8")
    with pytest.raises(MensuraError, match="no items"):
        exam_from(tmp_path / "x.txt", tmp_path / "exam")


RUN = """
import json, runpy, sys
import inspect_ai
from inspect_ai.model import ModelOutput, ModelUsage, get_model

folder, replies = sys.argv[1], json.loads(sys.argv[2])
task = runpy.run_path(folder + "/task/task.py")["exam"]()
outputs = [ModelOutput.from_content("mockllm", replies[sample.id]) for sample in task.dataset]
for output in outputs:
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
model = get_model("mockllm/model", custom_outputs=outputs)
(log,) = inspect_ai.eval(task, model=model, log_dir=folder + "/logs", display="none", max_samples=1)
print(json.dumps({sample.id: next(iter(sample.scores.values())).value for sample in log.samples}))
"""


@pytest.mark.slow
def test_the_inspect_task_scores_as_the_exam_does(exam, tmp_path):
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    export_inspect(exam, tmp_path / "task")
    replies = {
        "capital": "ANSWER: Nairobi",
        "primes": "ANSWER: 2",
        "half": "hm,\nI do not know",
        "poet": "ANSWER: goethe",
    }
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(tmp_path), json.dumps(replies)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout.splitlines()[-1]) == {"capital": 1.0, "primes": 0.5, "half": 0.0, "poet": 1.0}
