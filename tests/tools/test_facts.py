"""The tool that fills the embedded evidence reads a folder of collected facts."""

import polars as pl
import pytest

import mensura
from mensura import load
from tools.facts import import_facts


def test_import_refuses_an_unknown_way_and_an_incomplete_folder(tmp_path):
    with pytest.raises(mensura.MensuraError, match="via: got hearsay; expected some of lookup"):
        import_facts(tmp_path, via=["hearsay"])
    with pytest.raises(mensura.MensuraError, match=r"models.csv: no such file"):
        import_facts(tmp_path)


def test_import_of_a_small_folder(facts):
    evidence = import_facts(facts)
    assert evidence.models["subject"].to_list() == ["new", "old"]  # a release by hearsay is none
    new, old = evidence.models.to_dicts()
    assert (new["input_price"], new["output_price"], new["context_tokens"]) == (3.0, 15.0, 1000)
    assert (new["predecessor"], new["line"], new["tier"], new["reasoning"]) == ("old", "acme", 0, True)
    assert new["source"] == "release: page A; price: page B; context: page C"
    assert (old["context_tokens"], old["source"]) == (None, "release: page D; price: page E")
    scores = dict(evidence.scores.select(pl.concat_str("subject", "benchmark", separator=" "), "score").iter_rows())
    assert scores == {"new hle": 41.5, "new critpt": 25.0, "old hle": 12.0, "old own": -20.0}
    rules = dict(evidence.benchmarks.select("benchmark", "missing_rule").iter_rows())
    assert rules == {"hle": "never", "critpt": "zero", "own": None}
    assert evidence.benchmarks.filter(benchmark="own").row(0, named=True)["description"] == (
        "ours (without a published ladder)"
    )
    assert (
        evidence.benchmarks.filter(benchmark="hle")["items"][0] == load().benchmarks.filter(benchmark="hle")["items"][0]
    )
    assert evidence.ladders.row(0)[:2] == ("published", "hle")
    assert evidence.costs["value"].to_list() == [12.5]
    assert evidence.sources.row(0, named=True)["licence"] == "facts"


def test_a_range_of_people_is_one_row_with_its_middle(facts):
    people = {row["group"]: row for row in import_facts(facts).human_references.iter_rows(named=True)}
    adults, physicists, guessers = people["adults"], people["physicists"], people["guessers"]
    assert (adults["low"], adults["score"], adults["high"], adults["remark"]) == (4.0, 5.0, 6.0, "4-6")
    assert [row["status"] for row in (adults, physicists, guessers)] == ["measured", "estimated", "constructed"]
    assert (physicists["low"], physicists["score"], physicists["source"]) == (None, 70.0, "AI IQ estimate")
    assert (guessers["n"], guessers["unit"]) == (30, "index")
    assert len(people) == 3


def test_only_figures_obtained_in_an_accepted_way_are_imported(facts):
    evidence = import_facts(facts, via=["lookup"])
    assert evidence.scores["score"].to_list() == [41.5, -20.0]
    assert evidence.models["input_price"].to_list() == [None, 1.0]


@pytest.mark.shared
def test_import_of_collected_facts(shared):
    everything = import_facts(shared / "data/models")
    assert everything.scores.height == 2860
    assert everything.primary_scores.height == 2016
    accepted = import_facts(shared / "data/models", via=["lookup", "seed"]).scores
    key = ["subject", "benchmark", "source", "score"]
    moved = accepted.join(load().scores, on=key, how="anti")
    assert set(moved["benchmark"]) == {
        "frontiermath_t1_3",
        "frontiermath_t4",
        "arc_agi_1",
        "arc_agi_2",
        "arc_agi_3",
    }  # corrected
    assert moved.height == 32
