"""Reading: every form of responses, and the rules for what is repeated, doubled, missing or half right."""

import json
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import polars as pl
import pytest
import zstandard

from mensura.core.errors import MensuraError
from mensura.people import ItemPool
from mensura.responses import CountRules, read_responses, write_store
from tests.responses.conftest import draw


def inspect_log(path, model, scores, run="r1"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": model, "task": "lab/quiz", "run_id": run}}))
        for number, (item, value) in enumerate(scores):
            said = {"scorer": {"value": value}} if value is not None else {}
            archive.writestr(f"samples/{number}.json", json.dumps({"id": item, "scores": said}))
    return path


def packed_by_zstandard(path, *, damage=bytes):
    """Pack an archive as Inspect does: Zstandard is method 93 of zip. Damage leaves the sums as they were."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, told in members.items():
            packed = zstandard.compress(damage(told))
            archive.writestr(name, packed)
            entry = archive.getinfo(name)
            entry.compress_type, entry.file_size, entry.CRC = 93, len(told), zlib.crc32(told)
    return path


def counts(table, subject):
    row = table.subjects["subject"].to_list().index(subject)
    trials = np.ones(table.right.shape) if table.trials is None else table.trials
    return {item: (float(table.right[row, at]), int(trials[row, at])) for at, item in enumerate(table.items["item"])}


def test_inspect_epochs_are_k_of_n_and_unscored_samples_are_left_out(tmp_path):
    log = inspect_log(
        tmp_path / "a.eval", "m1", [("x", "C"), ("x", "I"), ("x", "C"), ("y", "P"), ("z", None), ("w", "I")]
    )
    table = read_responses(log)
    assert counts(table, "m1") == {"quiz:x": (2.0, 3), "quiz:y": (0.5, 1), "quiz:w": (0.0, 1)}
    said = dict(table.log.select("what", "count").iter_rows())
    assert said == {"missing outcomes": 1, "outcomes with partial credit": 1, "items repeated by a subject": 1}
    wrong = read_responses(log, rules=CountRules(missing="wrong", partial="full"))
    assert counts(wrong, "m1")["quiz:z"] == (0.0, 1)
    assert counts(wrong, "m1")["quiz:y"] == (0.0, 1)
    assert counts(read_responses(log, rules=CountRules(partial="half")), "m1")["quiz:y"] == (1.0, 1)


def test_duplicate_runs_by_rule_and_copies_once(tmp_path):
    first = inspect_log(tmp_path / "a.eval", "m1", [("x", "C"), ("y", "I")])
    again = inspect_log(tmp_path / "b.eval", "m1", [("x", "I"), ("y", "I")], run="r2")
    copy = tmp_path / "c.eval"
    copy.write_bytes(first.read_bytes())
    pooled = read_responses([first, again, copy])
    assert counts(pooled, "m1") == {"quiz:x": (1.0, 2), "quiz:y": (0.0, 2)}
    assert "files with the same content as another" in pooled.log["what"].to_list()
    for rule, expected in (("first", 1.0), ("last", 0.0)):
        assert counts(read_responses([first, again], rules=CountRules(duplicates=rule)), "m1")["quiz:x"] == (
            expected,
            1,
        )
    with pytest.raises(MensuraError, match="2 outcomes are there in two runs"):
        read_responses([first, again], rules=CountRules(duplicates="refuse"))
    with pytest.raises(MensuraError, match="duplicates: got 'merge'; expected one of pool, first, last, refuse"):
        CountRules(duplicates="merge")


def test_harness_and_helm_files_and_a_folder_of_them(tmp_path):
    harness = tmp_path / "org__model-a" / "samples_arc_2026-01-02T03-04-05.jsonl"
    harness.parent.mkdir()
    harness.write_text("\n".join(json.dumps({"doc_id": i, "acc": float(i % 2)}) for i in range(4)), encoding="utf-8")
    helm = tmp_path / "mmlu" / "per_instance_stats.json"
    helm.parent.mkdir()
    stats = [{"name": {"name": "exact_match"}, "count": 1, "sum": 1.0}]
    told = [
        {"instance_id": "id1", "stats": stats},
        {"instance_id": "id1", "perturbation": {"name": "typos"}, "stats": stats},
    ]
    helm.write_text(json.dumps(told), encoding="utf-8")
    spec = {"name": "mmlu:subject=law,model=openai_gpt", "adapter_spec": {"model": "openai/gpt"}}
    (helm.parent / "run_spec.json").write_text(json.dumps(spec), encoding="utf-8")
    table = read_responses(tmp_path)
    assert set(table.subjects["subject"]) == {"org__model-a", "openai/gpt"}
    assert set(table.items["item"]) == {"arc:0", "arc:1", "arc:2", "arc:3", "mmlu,subject=law:id1"}
    assert table.subjects["group"].unique().to_list() == ["models"]


def test_people_come_first_and_logs_meet_their_items(tmp_path):
    truth = draw(60, 8, seed=1, name="p")
    items = pl.DataFrame({"item": [f"i{at}" for at in range(8)], "domain": "x"})
    persons = pl.DataFrame({"person": truth.wide["subject"], "grade": ["4"] * 30 + ["8"] * 30})
    pool = ItemPool.from_answers("school", items, truth.wide.rename({"subject": "person"}), persons)
    log = inspect_log(tmp_path / "a.eval", "m1", [(f"i{at}", "C") for at in range(8)])
    table = read_responses([log, pool])
    assert table.groups == ["school", "models"]
    assert table.items.height == 8
    assert read_responses([log, pool], by="grade").groups == ["school:4", "school:8", "models"]
    with pytest.raises(MensuraError, match="no column 'planet'"):
        read_responses(pool, by="planet")


def test_a_matrix_without_names_has_a_subject_per_row(tmp_path):
    """As psychometricians hand tables on: items alone, one row per person."""
    pandas = pytest.importorskip("pandas")
    right = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, np.nan, 0]])
    frame = pandas.DataFrame(right, columns=["q1", "q2", "q3"])
    frame.to_csv(tmp_path / "items.csv", index=False)
    for source in (right, frame, frame.assign(age=30), tmp_path / "items.csv"):
        table = read_responses(source)
        assert table.subjects["subject"].to_list() == ["1", "2", "3", "4"]
        assert table.items["rate"].to_list() == [3 / 4, 2 / 3, 1 / 2]
        assert (4, "no column names them: each row is one, by its number") in table.log.select("count", "rule").rows()


def test_outcomes_may_be_truth_values_and_an_item_nobody_took_is_missing():
    table = read_responses({"subject": ["a", "b"], "q1": [True, False], "q2": [True, None], "q3": [None, None]})
    assert table.items.select("item", "n", "rate").rows() == [("q1", 2, 0.5), ("q2", 1, 1.0)]


def test_row_1_of_two_sources_is_not_one_subject(tmp_path):
    right = np.array([[1, 0], [0, 1], [1, 1]])
    with pytest.raises(MensuraError, match="no column says who answered, nor in responses"):
        read_responses([right, right])
    (tmp_path / "a.csv").write_text("1,0\n0,1\n1,1\n")
    (tmp_path / "b.csv").write_text("1,1\n0,1\n1,0\n")
    with pytest.raises(MensuraError, match=r"b.csv: no column says who answered, nor in .*a.csv"):
        read_responses([tmp_path / "a.csv", tmp_path / "b.csv"], header=False)


def test_rows_are_not_numbered_where_a_column_may_name_them(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q1": [1, 0, 1], "q2": [0, 0, 1]})
    for source in (frame.assign(nr=[1, 2, 3]), frame.set_axis(["Ann", "Bob", "Cem"]), frame.assign(text=list("aba"))):
        with pytest.raises(MensuraError, match=r"no column says who answered.*it has .*Rename it to subject"):
            read_responses(source)


def test_tables_that_say_nothing_are_refused_with_what_is_expected():
    with pytest.raises(MensuraError, match="no column says who answered"):
        read_responses({"a": [1], "b": [0]})
    with pytest.raises(MensuraError, match="column 'text' holds no outcomes"):
        read_responses({"subject": ["a"], "text": ["hello"], "q": [1]})
    with pytest.raises(MensuraError, match="'a' has several rows"):
        read_responses({"subject": ["a", "a"], "q": [1, 0]})
    with pytest.raises(MensuraError, match="subject 'a' is in two groups"):
        read_responses({"subject": ["a", "a"], "item": ["x", "y"], "correct": [1, 0], "group": ["g", "h"]})
    with pytest.raises(MensuraError, match="counts below 1"):
        read_responses({"subject": ["a"], "item": ["x"], "correct": [1], "n": [0]})


def test_a_table_says_what_was_taken_and_how_often_right():
    long = {
        "subject": ["a", "a", "b", "c", None],
        "item": ["x", "y", "x", "z", "x"],
        "correct": [1, 0, 0, None, 1],
        "group": ["g", "g", "h", "g", "g"],
    }
    table = read_responses(long)
    assert table.subjects.rows() == [("a", "g", 2, 0.5), ("b", "h", 1, 0.0)]
    assert table.items.rows() == [("x", 2, 0.5), ("y", 1, 0.0)]
    assert table.heading == "3 responses: 2 subjects (1 g, 1 h) × 2 items"
    assert ("outcomes without subject or item", 1, "left out") in table.log.rows()
    turned = table.of_groups("h")
    assert (turned.groups, turned.subjects["subject"].to_list()) == (["h", "g"], ["b", "a"])
    assert counts(turned, "a") == counts(table, "a") == {"x": (1.0, 1), "y": (0.0, 1)}
    assert table.of_groups("g") is table
    with pytest.raises(MensuraError, match="reference: got 'i'; expected one of g, h"):
        table.of_groups("i")


def test_whoever_nothing_else_says_it_of_is_in_the_group_that_is_named():
    long = {"subject": ["a", "b"], "item": ["x", "x"], "correct": [1, 0]}
    assert read_responses(long).groups == ["all"]
    assert read_responses(long, group="pupils").groups == ["pupils"]
    assert read_responses(long | {"group": ["g", None]}, group="pupils").groups == ["g", "pupils"]
    assert read_responses(long | {"group": ["g", None]}).groups == ["g", "all"]
    assert read_responses(long | {"grade": ["4", "8"]}, by="grade").groups == ["4", "8"]
    wide = {"subject": ["a", "b"], "x": [1, 0], "group": ["g", None]}
    assert read_responses(wide, group="pupils").groups == ["g", "pupils"]
    assert read_responses({"subject": ["a", "b"], "x": [1, 0]}).groups == ["all"]


def test_archives_as_inspect_packs_them_today_are_read(tmp_path):
    """Inspect packs its archives by Zstandard, which Python's zipfile knows from 3.14 on only."""
    log = packed_by_zstandard(inspect_log(tmp_path / "a.eval", "m1", [("x", "C"), ("x", "I"), ("y", "C")]))
    assert counts(read_responses(log), "m1") == {"quiz:x": (1.0, 2), "quiz:y": (1.0, 1)}
    whole = log.read_bytes()
    at = whole.index(b"\x28\xb5\x2f\xfd") + 12
    log.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    with pytest.raises(MensuraError, match="not an Inspect log"):
        read_responses(log)


def test_a_folder_holds_the_logs_that_inspect_wrote_as_json(tmp_path):
    log = {"eval": {"model": "m1", "task": "quiz"}, "samples": [{"id": "x", "scores": {"match": {"value": "C"}}}]}
    name = "2026-11-15T23-58-44-00-00_quiz_NbUXJg6msNRCXR3w93N6QT.json"
    (tmp_path / name).write_text(json.dumps(log), encoding="utf-8")
    (tmp_path / "results_2026-11-15T23-58-44.json").write_text("{}", encoding="utf-8")
    assert counts(read_responses(tmp_path), "m1") == {"quiz:x": (1.0, 1)}


def test_not_a_number_is_a_missing_outcome_in_either_shape(tmp_path):
    gap = float("nan")
    long = read_responses(pl.DataFrame({"subject": ["a", "a", "b"], "item": ["x", "y", "x"], "correct": [1.0, gap, 0]}))
    assert counts(long, "a") == {"x": (1.0, 1)}
    wide = pl.DataFrame({"subject": ["a", "b"], "x": [1.0, gap], "y": [0.0, 1.0]})
    table = read_responses(wide)
    assert counts(table, "b") == {"x": (0.0, 0), "y": (1.0, 1)}
    assert table.right.dtype == np.uint8
    assert long.log.rows() == table.log.rows() == [("missing outcomes", 1, "left out")]
    store = write_store([wide], tmp_path / "store", parts=1)
    assert store.log.rows() == [("missing outcomes", 1, "left out")]


def test_words_for_outcomes_are_understood_or_named():
    said = read_responses({"subject": ["a", "b", "c"], "item": ["x", "x", "x"], "correct": ["1", "0.5", None]})
    assert (counts(said, "a")["x"], counts(said, "b")["x"]) == ((1.0, 1), (0.5, 1))
    with pytest.raises(MensuraError, match=r"correct: 2 outcomes are no numbers, such as 'yes'; expected 0 \(wrong\)"):
        read_responses({"subject": ["a", "b"], "item": ["x", "x"], "correct": ["yes", "no"]})
    with pytest.raises(MensuraError, match="n: 1 counts are no whole numbers, such as 'often'"):
        read_responses({"subject": ["a"], "item": ["x"], "correct": [1], "n": ["often"]})


@pytest.mark.parametrize("rows", [[], [("a", "x", None)]])
def test_tables_without_any_outcome_are_refused(rows, tmp_path):
    schema = {"subject": pl.String, "item": pl.String, "correct": pl.Float64}
    nothing = pl.DataFrame(rows, schema=schema, orient="row")
    for given in (nothing, [nothing, nothing]):
        with pytest.raises(MensuraError, match="no outcome; add at least one"):
            read_responses(given)
    with pytest.raises(MensuraError, match="no outcome; add at least one"):
        write_store([nothing], tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_store_keeps_what_memory_keeps(tmp_path):
    """A copy of a log is read once, a subject is in one group, and one who has no outcome leaves no empty part."""
    log = inspect_log(tmp_path / "a.eval", "m1", [("x", "C"), ("y", "I")])
    copy = tmp_path / "b.eval"
    copy.write_bytes(log.read_bytes())
    silent = inspect_log(tmp_path / "c.eval", "m2", [("x", None)])
    store = write_store([log, copy, silent], tmp_path / "store", parts=50)
    assert (store.subjects, store.complete) == (1, True)
    assert "files with the same content as another" in store.log["what"].to_list()
    twice = pl.DataFrame({"subject": ["a", "a"], "item": ["x", "y"], "correct": [1, 0], "group": ["g", "h"]})
    with pytest.raises(MensuraError, match="subject 'a' is in two groups"):
        write_store([twice], tmp_path / "twice")


@pytest.mark.slow
def test_logs_by_the_writer_of_inspect_itself(tmp_path):
    inspect = pytest.importorskip("inspect_ai.log")
    score = pytest.importorskip("inspect_ai.scorer").Score
    told = [("x", 1, "C"), ("x", 2, "I"), ("y", 1, 0.25), ("z", 1, None)]
    samples = [
        inspect.EvalSample(
            id=item, epoch=epoch, input="?", target="!", scores={"match": score(value=value)} if value else None
        )
        for item, epoch, value in told
    ]
    spec = inspect.EvalSpec(
        created="2026-11-15T12:00:00+00:00",
        task="quiz",
        model="lab/m1",
        dataset=inspect.EvalDataset(),
        config=inspect.EvalConfig(),
    )
    log = inspect.EvalLog(eval=spec, samples=samples, status="success")
    for ending in ("eval", "json"):
        path = tmp_path / f"log.{ending}"
        inspect.write_eval_log(log, str(path), format=ending)
        assert counts(read_responses(path), "lab/m1") == {"quiz:x": (1.0, 2), "quiz:y": (0.25, 1)}


def test_a_table_of_very_many_items_is_read_at_once_and_means_the_same(tmp_path, monkeypatch):
    """From 2,000 columns on, numbers are parsed into one array; subjects, groups and gaps stay what they are."""
    rng = np.random.default_rng(0)
    values = rng.choice(["1", "0", "", "0.5", "NA"], size=(4, 2_100))
    lines = [",".join(["id", *(f"q{at}" for at in range(2_100)), "group"])]
    lines += [",".join([f"m{row}", *values[row], "ab"[row % 2]]) for row in range(4)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr("mensura.intake.answers.read_noted", None)  # the general reader is not asked
    table = read_responses(path)
    monkeypatch.undo()
    other = read_responses(pl.read_csv(path, null_values=["NA"]))
    assert table.subjects.equals(other.subjects)
    assert table.items.equals(other.items)
    assert table.log.equals(other.log)
    assert np.array_equal(table.right, other.right)
    assert np.array_equal(table.trials, other.trials)


def test_many_items_without_names_of_columns_are_read_where_that_is_said(tmp_path):
    rows = [[f"m{row}", *(str((row + at) % 3 % 2) for at in range(2_100))] for row in range(5)]
    path = tmp_path / "m.csv"
    path.write_text("\n".join(map(",".join, rows)), encoding="utf-8")
    with pytest.raises(MensuraError, match=r"2,100 numbers .* say: mensura responses read .* --set header=false"):
        read_responses(path)
    table = read_responses(path, header=False)
    assert table.subjects["subject"].to_list() == [f"m{row}" for row in range(5)]
    assert table.right.tolist() == [[int(cell) for cell in row[1:]] for row in rows]
    path.write_text("\n".join(",".join(row[1:]) for row in rows), encoding="utf-8")
    assert read_responses(path, header=False).subjects["subject"].to_list() == ["1", "2", "3", "4", "5"]


def test_a_wide_table_grouped_by_a_column_leaves_out_rows_without_it(tmp_path):
    body = ",".join(["1", "0"] * 1_050)
    path = tmp_path / "m.csv"
    header = ",".join(["subject", "lab", *(f"q{at}" for at in range(2_100))])
    path.write_text(f"{header}\na,x,{body}\nb,,{body}\nc,y,{body}\n", encoding="utf-8")
    table = read_responses(path, by="lab")
    assert table.subjects.select("subject", "group").rows() == [("a", "x"), ("c", "y")]
    assert table.log.rows() == [("rows without lab", 1, "left out")]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MensuraError, match=r"missing\.csv: no such file; check the name"):
        read_responses(tmp_path / "missing.csv")


PEAK = """
import re, sys
import polars, scipy.sparse
from pathlib import Path
from mensura.responses import read_responses
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = peak()
read_responses(sys.argv[1])
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from Linux")
def test_reading_a_wide_table_keeps_no_second_copy_of_it(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"q{place}": rng.integers(0, 2, 20_000) for place in range(250)}
    path = tmp_path / "wide.parquet"
    pl.DataFrame({"subject": [f"s{row}" for row in range(20_000)], **columns}).write_parquet(path)
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    answers = 20_000 * 250  # 8 bytes in the file's table, 4 as an outcome, 2 as counts; the rest is room to work in
    assert int(done.stdout) * 1024 < 28 * answers
