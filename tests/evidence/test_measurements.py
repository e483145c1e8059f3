"""One measurement printed twice counts once; tries behind a score are items times repeats."""

import polars as pl
import pytest

from mensura.evidence import distinct_scores, load, trials


def evidence_with(tmp_path, *scores):
    (tmp_path / "models.csv").write_text(
        "subject,name,provider,released,reasoning\na,A,Lab,2025-01-01,no\n", encoding="utf-8"
    )
    (tmp_path / "benchmarks.csv").write_text(
        "benchmark,name,kind,unit,in_composite,items,repeats\nt,T,tracked,percent,no,44,3\nf,F,tracked,fraction,no,50,\n"
        "e,E,tracked,elo,no,,\n",
        encoding="utf-8",
    )
    (tmp_path / "sources.csv").write_text(
        "source,name,evaluator\njune,Lab in June,Lab\njuly,Lab in July,Lab\nindex,An index,\nother,Another,\n",
        encoding="utf-8",
    )
    (tmp_path / "scores.csv").write_text(
        "subject,benchmark,score,unit,primary,source,note\n" + "\n".join(scores) + "\n", encoding="utf-8"
    )
    return load(tmp_path)


@pytest.mark.parametrize(
    ("second", "counted"),
    [
        ("a,t,40.25,percent,no,july,", 1),  # the same evaluator, .05 away
        ("a,t,40.28,percent,no,july,", 1),
        ("a,t,40.1,percent,no,july,", 1),  # 40.2 − 40.1 is a last bit above 0.1
        ("a,t,40.32,percent,no,july,", 2),  # .12 away: measured again
        ("a,t,0.4025,fraction,no,july,", 1),  # in another unit
        ("a,t,40,percent,no,index,upstream: Lab", 1),  # rounded by one who copies the evaluator
        ("a,t,41,percent,no,index,upstream: Lab", 2),
        ("a,t,40.2,percent,no,other,", 2),  # another evaluator who finds the same
        ("a,f,0.402,fraction,no,july,", 2),  # another benchmark
    ],
)
def test_a_second_reading_of_one_measurement_is_left_out(tmp_path, second, counted):
    loaded = evidence_with(tmp_path, "a,t,40.2,percent,yes,june,", second)
    kept = distinct_scores(loaded)
    assert kept.height == counted
    assert kept.columns == loaded.scores.columns
    assert kept["source"][0] == "june"


@pytest.mark.parametrize(("printed", "counted"), [("40", 1), ("41", 2), ("40.3", 1), ("40.2", 2)])
def test_a_whole_number_may_be_half_a_point_away(tmp_path, printed, counted):
    loaded = evidence_with(tmp_path, "a,t,40.39,percent,yes,june,", f"a,t,{printed},percent,no,july,")
    assert distinct_scores(loaded).height == counted


@pytest.mark.parametrize(("printed", "counted"), [("1500.4", 1), ("1500.6", 2)])
def test_a_rating_is_compared_in_its_own_points(tmp_path, printed, counted):
    loaded = evidence_with(tmp_path, "a,e,1500,elo,yes,june,", f"a,e,{printed},elo,no,july,")
    assert distinct_scores(loaded).height == counted


def test_the_primary_reading_stays_wherever_it_stands(tmp_path):
    loaded = evidence_with(tmp_path, "a,t,40.2,percent,no,june,", "a,t,40.2,percent,yes,july,")
    assert distinct_scores(loaded)["source"].to_list() == ["july"]


def test_what_the_embedded_sources_print_twice():
    evidence = load()
    kept = distinct_scores(evidence)
    assert kept.filter("primary").height == evidence.primary_scores.height
    pair = pl.col("source").is_in(["aa0409", "aa0710"])
    both = kept.filter(pair).group_by("subject", "benchmark").len().filter(pl.col("len") > 1)
    assert both.is_empty()  # the two printings of Artificial Analysis never differ by more than rounding


def test_tries_are_items_times_repeats(tmp_path):
    loaded = evidence_with(tmp_path, "a,t,40.2,percent,yes,june,")
    assert loaded.benchmarks.select("benchmark", trials()).rows() == [("t", 132), ("f", 50), ("e", None)]
