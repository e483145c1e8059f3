"""Published scores of people on known benchmarks."""

import json
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.baseline import find_known
from mensura.baseline.registry import (
    COLUMNS,
    _iq,
    _not_compared,
    _once,
    absent,
    published_means,
    read_own,
    registry,
    score_words,
)
from mensura.core.errors import MensuraError
from mensura.evidence.passing import why_not_comparable
from mensura.stitching import place_people

TESTS = ("agents_last_exam", "aime", "arc_agi_1", "critpt", "mcp_atlas", "swe_rebench")
"""Tests whose groups have ranges, numbers of people, scores of about zero, or the very score of the best model."""


def test_a_part_that_no_model_took_gives_no_warning(recwarn):
    find_known("gpqa", mensura.load())
    assert [str(one.message) for one in recwarn] == []


def test_what_was_judged_is_never_counted_as_measured():
    judged = find_known("swe_rebench", mensura.load())
    assert judged.heading == "SWE-rebench: no measured human scores, 2 judged without a test"
    assert judged.people["status"].to_list() == judged.passed["status"].to_list() == ["judged", "judged"]
    both = find_known("AIME", mensura.load())
    assert both.people["status"].to_list() == sorted(both.people["status"], key="judged".__eq__)


def test_a_benchmark_is_found_by_its_id():
    assert find_known("hle", mensura.load()).benchmark == "Humanity's Last Exam"


def test_a_score_that_two_sources_round_differently_stands_once_and_guessing_is_nobody():
    people = find_known("gpqa_diamond", mensura.load()).people
    assert people.filter(pl.col("score").is_between(81, 82)).height == 1
    assert not people["group"].str.contains("guess").any()


@pytest.mark.slow
def test_a_known_baseline_gives_the_chances_of_the_people_page():
    """One rule for who counts, what is known of people and models, and who is above whom."""
    evidence = mensura.load()
    page = place_people(mensura.stitch(evidence), evidence).tests
    compared = 0
    for there in page.filter(pl.col("benchmark").is_in(TESTS)).iter_rows(named=True):
        rows = find_known(there["benchmark"], evidence).passed.filter(group=there["group"])
        if there["reason"] is not None:
            assert rows.is_empty()
            continue
        here = rows.row(0, named=True)
        assert (here["passed_by"], here["of"], here["first"]) == (there["above"], there["models"], there["first"])
        assert here["best"] == there["best"]
        assert here["best_score"] == pytest.approx(100 * there["best_score"])
        assert here["chance"] == pytest.approx(there["chance"], abs=0.001)
        compared += 1
    assert compared == 10


@pytest.mark.parametrize(
    "name", ["hellaswag.jsonl", "hellaswag_val.jsonl", "HellaSwag-test-00000.parquet", "hellaswag"]
)
def test_a_file_is_known_by_the_name_of_its_benchmark(name):
    assert published_means(name) == published_means("HellaSwag") != []
    assert not published_means("my-hellaswag-like.csv")


@pytest.mark.parametrize("name", ["AIW", "PRMBench", "MultiChallenge", "LiveIdeaBench"])
def test_a_benchmark_that_nobody_measured_names_the_command_that_estimates(name):
    [warning] = mensura.baseline.find_known(name, mensura.load()).warnings
    assert "no study measured people" in warning and "mensura baseline ITEMS --people world" in warning


def own(tmp_path, text, name="mine.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_own(tmp_path / name)


def test_scores_of_ones_own_are_measured_and_in_percent_unless_all_are_shares(tmp_path):
    table = own(tmp_path, "benchmark,group,score,n\nGPQA,students,40,12\nGPQA,experts,0.9,\n")
    assert table.select("unit", "part", "status", "seen", "n").rows() == [
        ("percent", "all", "measured", "own", 12),
        ("percent", "all", "measured", "own", None),
    ]
    assert (
        own(tmp_path, "benchmark,group,score\nGPQA,students,0.4\nGPQA,experts,1\n")["unit"].to_list()
        == ["fraction"] * 2
    )
    (tmp_path / "more.csv").write_text("benchmark,group,score,status\nX,pupils,20,judged\n", encoding="utf-8")
    both = read_own([tmp_path / "mine.csv", tmp_path / "more.csv"])
    assert both["status"].to_list() == ["measured", "measured", "judged"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("benchmark,group,score\nA,x,\n", "A: no score; expected a number"),
        ("benchmark,group,score,unit\nA,x,5,points\n", "unit: 'points' is unknown; expected one of percent, fraction"),
        ("benchmark,group,score\nA,x,50\nB,y,101\n", "B, score: 101 is outside 0 to 100"),
        ("benchmark,group,score\nA,x,50\nB,y,-1\n", "B, score: -1 is outside 0 to 100"),
        ("benchmark,score\nA,50\n", "missing column 'group'"),
    ],
)
def test_impossible_scores_of_people_are_refused(tmp_path, text, words):
    with pytest.raises(MensuraError, match=words):
        own(tmp_path, text)


def test_a_score_is_written_with_its_unit_or_as_a_range():
    row = {"score": None, "low": 12.0, "high": 30.5, "unit": "minutes"}
    assert score_words(row) == "12 to 30.5 minutes"
    assert score_words({**row, "score": 20.0}) == "20 minutes"
    assert score_words({**row, "low": None}) == "30.5 minutes"
    assert score_words({**row, "low": None, "high": None}) == "not stated"
    assert score_words({**row, "score": 0.0}) == "0 minutes"


def people(*rows):
    usual = {
        "benchmark": "A",
        "part": "all",
        "group": "g",
        "score": 50.0,
        "unit": "percent",
        "status": "measured",
        "seen": "paper",
    }
    return pl.DataFrame([{**dict.fromkeys(COLUMNS), **usual, **row} for row in rows], schema=COLUMNS)


def test_what_the_registry_states_in_more_detail_is_left_out_of_the_evidence():
    """Two sources that differ by up to 0.15 points round one score; what was judged stays, at the end."""
    there = [{"score": score, "seen": "evidence"} for score in (50.15, 50.16, 49.9)]
    others = [{"score": 50.0, "seen": "evidence", **more} for more in ({"status": "judged"}, {"unit": "elo"})]
    rows = people({"score": 50.0}, *there, *others, {"score": 60.0, "seen": "own"})
    kept = _once(rows)
    assert kept.select("score", "seen", "status").rows() == [
        *((50.0, "paper", "measured"), (50.16, "evidence", "measured"), (50.0, "evidence", "measured")),
        *((60.0, "own", "measured"), (50.0, "evidence", "judged")),
    ]


def test_an_iq_is_read_off_the_ladder_between_its_rungs_and_nowhere_else():
    ladders = pl.DataFrame(
        {"benchmark": ["a", "b"], "iq90": [10.0, 10.0], "iq100": [20.0, 30.0], "iq130": [80.0, 25.0]}
    )
    evidence = SimpleNamespace(ladders=ladders)
    assert [_iq(score, "a", evidence) for score in (10, 15, 50, 80)] == [90.0, 95.0, 115.0, 130.0]
    assert [_iq(score, "a", evidence) for score in (9.9, 80.1)] == [None, None]
    assert _iq(20, "b", evidence) is None, "a ladder that does not rise says nothing"
    assert _iq(20, "c", evidence) is None


def test_an_unknown_benchmark_is_refused_with_near_names_and_an_absent_one_explained():
    evidence = mensura.load()
    with pytest.raises(MensuraError, match=r"no known human baseline, and no such file. Did you mean .*HellaSwag"):
        find_known("HellaSwagg", evidence)
    gone = find_known("MMLU-Pro", evidence)
    assert "MMLU-Pro: no study measured people" in gone.warnings[0]
    name, score = published_means("HellaSwag")[0]
    assert ", " in name and 0 < score <= 1


def test_groups_that_are_compared_with_no_model_stay_out_under_other_names():
    """The registry has other names for people whom the evidence compares with nobody: the score finds them."""
    (benchmark, group), *_ = why_not_comparable()
    rows = [(benchmark, group, 40.0), (benchmark, f"panel of {group}", 50.0), (benchmark, "others", 60.0)]
    people = pl.DataFrame(rows, ["benchmark", "group", "score"], orient="row")
    assert _not_compared(SimpleNamespace(human_references=people)) == {benchmark: [40.0]}


def test_a_registry_has_its_columns_and_an_absent_benchmark_its_reason():
    assert registry().columns == list(COLUMNS)
    assert registry()["benchmark"].null_count() == 0
    assert absent().columns[:2] == ["benchmark", "why"]


def test_logs_of_people_are_baselines_of_ones_own(tmp_path):
    log = {
        "status": "success",
        "eval": {"task": "gpqa_diamond", "model": "none/none", "run_id": "r", "metadata": {"population": "our team"}},
        "plan": {"steps": [{"solver": "human_cli"}]},
        "samples": [{"id": n, "scores": {"match": {"value": value}}} for n, value in enumerate("CCI")],
    }
    (tmp_path / "ann.json").write_text(json.dumps(log), encoding="utf-8")
    row = read_own(tmp_path / "ann.json").row(0, named=True)
    assert (row["benchmark"], row["status"], row["seen"], row["part"]) == ("gpqa_diamond", "measured", "own", "all")
    assert row["score"] == pytest.approx({"percent": 200 / 3, "fraction": 2 / 3}[row["unit"]])
