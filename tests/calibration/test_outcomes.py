"""Outcomes lined up with demands: who solved which item, and what the item asks for."""

import json

import numpy as np
import polars as pl
import pytest

from mensura.calibration import read_outcomes
from mensura.calibration.outcomes import line_up, match_items, pick_subjects
from mensura.core.errors import MensuraError

TRUE = np.array([2.0, 3.0, 4.0])


def test_words_and_repeated_tries():
    told = {"subject": "a", "item": ["i", "i", "j"], "correct": ["TRUE", "I", "1"]}
    found = line_up(told, {"item": ["i", "j"], "KNn": [1, 2]})
    assert found.solved.tolist() == [0.5, 1.0]
    assert "averaged" in found.warnings[0]


def test_harness_samples_are_read_line_by_line(tmp_path):
    folder = tmp_path / "meta__llama"
    folder.mkdir()
    outcomes = [(0, "strict", 1.0), (0, "loose", 0.0), (1, "strict", 0.0)]
    lines = [{"doc_id": doc, "filter": how, "exact_match": value} for doc, how, value in outcomes]
    path = folder / "samples_gsm8k_2025-01-02T03-04-05.678.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read_outcomes(path).rows() == [("meta__llama", "gsm8k:0", 1.0), ("meta__llama", "gsm8k:1", 0.0)]
    assert read_outcomes(path, subject="mine")["subject"].unique().to_list() == ["mine"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.eval", "no archive", "not an Inspect log"),
        ("a.jsonl", "{", "line 1: not JSON"),
        ("a.jsonl", '{"id": 1}', "no doc_id"),
        ("a.jsonl", '{"doc_id": 1, "bleu": 3}', "no known sample metric"),
        ("a.jsonl", '{"doc_id": 1, "acc": 3}', "acc is 3"),
        ("a.jsonl", "", "check that the evaluation was scored"),
    ],
)
def test_broken_logs_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(MensuraError, match=message):
        read_outcomes(tmp_path / name)


DEMANDS = {"item": ["i", "j", "k"], "KNn": [1, 2, 5], "QLq": [0, 3, 5]}


def test_answers_are_sorted_by_subject_with_their_chance_to_guess():
    told = {"subject": ["b", "a", "b"], "item": ["j", "i", "i"], "correct": [1, 0, 0.25], "options": [4, None, 2]}
    found = line_up(told, DEMANDS)
    assert (found.subjects, found.items, found.dimensions) == (("b", "a"), ("i", "j", "k"), ("QLq", "KNn"))
    assert found.starts.tolist() == [0, 2, 3]
    assert [part.tolist() for part in found.of(0)] == [[0, 1], [0.25, 1.0], [0.5, 0.25]]
    assert [part.tolist() for part in found.of(1)] == [[0], [0.0], [0.0]]
    assert found.levels.tolist() == [[0, 1], [3, 2], [5, 5]]
    assert found.warnings == ()


def test_items_count_for_the_dimension_that_decides_them():
    told = {"subject": ["a"] * 3 + ["b"], "item": ["i", "j", "k", "j"], "correct": [1, 0.5, 1, 1]}
    tried, won = line_up(told, {"item": ["i", "j", "k"], "KNn": [1, 2, 0], "QLq": [0, 3, 4]}).counts()
    assert tried.shape == (2, 2, 5)
    assert tried[0].tolist() == [[0, 0, 1, 1, 0], [1, 0, 0, 0, 0]]
    assert won[0].tolist() == [[0, 0, 0.5, 1, 0], [1, 0, 0, 0, 0]]
    assert tried[1].sum() == won[1].sum() == 1


def test_a_demand_between_two_levels_counts_for_the_upper_nearest():
    told = {"subject": "a", "item": ["i", "j"], "correct": [1, 1]}
    tried, _ = line_up(told, {"item": ["i", "j"], "KNn": [2.5, 2.4]}).counts()
    assert tried[0, 0].tolist() == [0, 1, 1, 0, 0]


def test_items_without_demands_are_left_out_and_counted():
    told = {"subject": "a", "item": ["i", "y", "x", "x"], "correct": [1, 1, 0, 1]}
    found = line_up(told, DEMANDS)
    assert found.warnings == ("3 outcomes on 2 items without demands are left out (such as 'x')",)
    assert found.solved.tolist() == [1.0]
    with pytest.raises(MensuraError, match="no item has demands; ids must agree"):
        line_up({"subject": "a", "item": ["x"], "correct": [1]}, DEMANDS)
    with pytest.raises(MensuraError, match="subject 'b' has no item with demands"):
        line_up({"subject": ["a", "b"], "item": ["i", "x"], "correct": [1, 1]}, DEMANDS)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"correct": [1, 1.5]},
            r"correct of 'a' on item 'j' is 1.5; expected 0 or 1, true or false, or a share between \(1",
        ),
        ({"correct": [1, -0.1]}, "is -0.1"),
        ({"correct": ["1", "maybe"]}, "is 'maybe'"),
        ({"correct": [1, None]}, "is None"),
        ({"options": [4, 1]}, "options of item 'j' is 1; expected 2 or more"),
        ({"item": ["i", None]}, "a row lacks its subject or item"),
        ({"subject": ["a", None]}, "a row lacks its subject or item"),
    ],
)
def test_impossible_outcomes_are_refused(change, words):
    with pytest.raises(MensuraError, match=words):
        line_up({"subject": ["a", "a"], "item": ["i", "j"], "correct": [1, 0], **change}, DEMANDS)


def test_words_of_outcomes_are_read():
    words = ["C", "i", " P ", "n", "yes", "No", "0.3", "true"]
    items = {"item": [f"q{k}" for k in range(8)], "KNn": [1] * 8}
    found = line_up({"subject": "a", "item": items["item"], "correct": words}, items)
    assert found.solved.tolist() == [1, 0, 0.5, 0, 1, 0, 0.3, 1]


def test_subjects_are_picked_in_the_order_wanted():
    told = pl.DataFrame({"subject": ["gpt", "llama", "gpt"], "item": ["i", "i", "j"], "correct": [1, 0, 0]})
    assert pick_subjects(told, []).equals(told)
    assert pick_subjects(told, ["llama", "gpt", "llama"])["subject"].to_list() == ["llama", "gpt", "gpt"]
    with pytest.raises(MensuraError, match=r"'lama' has no outcomes here; did you mean llama\?"):
        pick_subjects(told, ["lama"])
    with pytest.raises(MensuraError, match="choose one of gpt, llama"):
        pick_subjects(told, ["zzz"])


def test_long_ids_are_shortened_where_the_demands_know_the_short_ones_alone():
    told = pl.DataFrame({"subject": "a", "item": ["t:1", "t:2"], "correct": [1, 0]})
    assert match_items(told, pl.Series(["1", "9"]))["item"].to_list() == ["1", "2"]
    assert match_items(told, pl.Series(["t:1", "1"])) is told
    assert match_items(told, pl.Series(["7"])) is told
    plain = told.with_columns(item=pl.Series(["t:1", "2"]))
    assert match_items(plain, pl.Series(["1"])) is plain
    with pytest.raises(MensuraError, match="several tasks, but the demands name items by id alone"):
        match_items(told.with_columns(item=pl.Series(["t:1", "u:1"])), pl.Series(["1"]))
