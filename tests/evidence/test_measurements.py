"""One measurement printed twice counts once; tries behind a score are items times repeats."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.evidence import (
    benchmark_coverage,
    distinct_scores,
    far_below_predecessor,
    load,
    require_subject,
    source_coverage,
    source_disagreement,
    trials,
    used_scores,
    with_tries,
)


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


def family(tmp_path, *scores, humans=()):
    """A model, its successor, a smaller successor and one of another line; the scores are of the source june."""
    evidence_with(tmp_path, "a,t,40,percent,yes,june,")
    (tmp_path / "models.csv").write_text(
        "subject,name,provider,released,reasoning,line,tier,predecessor\n"
        "a,A,Lab,2025-01-01,no,big,0,\nb,B,Lab,2026-01-01,no,big,0,a\n"
        "c,C,Lab,2026-02-01,no,big,-1,a\nd,D,Lab,2026-03-01,no,other,0,a\n",
        encoding="utf-8",
    )
    head = "subject,benchmark,score,unit,primary,source,note,n,stderr\n"
    (tmp_path / "scores.csv").write_text(head + "\n".join(scores) + "\n", encoding="utf-8")
    return load(tmp_path)


@pytest.mark.parametrize(
    ("score", "tries"),
    [
        ("a,t,50,percent,yes,june,,,", 132.0),
        ("a,t,50,percent,yes,june,,40,", 40.0),
        ("a,t,50,percent,yes,june,,,5", 100.0),
        ("a,t,50,percent,yes,june,,90,5", 90.0),
        ("a,t,50,percent,yes,june,,200,5", 100.0),
        ("a,t,50,percent,yes,june,,,0", 132.0),
        ("a,t,0,percent,yes,june,,,2", 50.0),  # nobody right: an error of 0.02 is one of 50
        ("a,f,0.2,fraction,yes,june,,,0.04", 100.0),
        ("a,e,1200,elo,yes,june,,,", None),
        ("a,e,1200,elo,yes,june,,,34.743559", 100.0),  # 4 · 400 / ln 10 points rise from 0 to 1: 0.05 at one half
    ],
)
def test_tries_are_the_fewer_of_what_number_and_error_tell(tmp_path, score, tries):
    loaded = family(tmp_path, score)
    (row,) = with_tries(loaded, loaded.scores).to_dicts()
    assert row["tries"] == (tries if tries is None else pytest.approx(tries, rel=1e-6))


def test_scores_without_a_primary_one_are_only_on_record(tmp_path):
    loaded = family(tmp_path, "a,t,50,percent,yes,june,,,", "a,t,60,percent,no,other,,,", "b,t,70,percent,no,other,,,")
    assert used_scores(loaded).select("subject", "source").rows() == [("a", "june"), ("a", "other")]


def test_coverage_counts_models_second_sources_and_releases(tmp_path):
    loaded = family(tmp_path, "a,t,50,percent,yes,june,,,", "b,t,60,percent,yes,june,,,", "a,t,52,percent,no,other,,,")
    rows = {row["benchmark"]: row for row in benchmark_coverage(loaded).to_dicts()}
    t = rows["t"]
    assert (t["models"], t["second_sources"], t["human_groups"], t["unit"]) == (2, 1, 0, "percent")
    assert (str(t["first"]), str(t["last"])) == ("2025-01-01", "2026-01-01")
    assert (rows["f"]["models"], rows["f"]["second_sources"], rows["f"]["first"]) == (0, 0, None)
    sources = {row["source"]: (row["scores"], row["primary"]) for row in source_coverage(loaded).to_dicts()}
    assert sources == {"june": (2, 2), "july": (0, 0), "index": (0, 0), "other": (1, 0)}


def test_sources_disagree_by_the_gap_from_the_primary_score(tmp_path):
    loaded = family(
        tmp_path,
        *("a,t,50,percent,yes,june,,,", "a,t,52.5,percent,no,other,,,", "a,t,50.05,percent,no,july,,,"),
        *("b,t,60,percent,yes,june,,,", "b,t,53,percent,no,other,,,", "a,f,0.5,fraction,yes,june,,,"),
        "a,f,0.6,fraction,no,other,,,",
    )
    assert source_disagreement(loaded).rows() == [
        ("t", 2, pytest.approx((2.5 + 7) / 2), pytest.approx(7.0), "percent"),
        ("f", 1, pytest.approx(0.1), pytest.approx(0.1), "fraction"),
    ], "the reading of july is that of june"


def test_a_model_eight_points_below_its_predecessor_is_looked_at_again(tmp_path):
    loaded = family(
        tmp_path,
        *("a,t,50,percent,yes,june,,,", "b,t,42,percent,yes,june,,,", "c,t,20,percent,yes,june,,,"),
        *("d,t,20,percent,yes,june,,,", "a,f,0.9,fraction,yes,june,,,", "b,f,0.6,fraction,yes,june,,,"),
        *("a,e,1500,elo,yes,june,,,", "b,e,900,elo,yes,june,,,"),
    )
    assert far_below_predecessor(loaded).rows() == [("b", "f", 0.6, "a", 0.9), ("b", "t", 42.0, "a", 50.0)]
    near = family(tmp_path, "a,t,50,percent,yes,june,,,", "b,t,42.1,percent,yes,june,,,")
    assert far_below_predecessor(near).is_empty()


def test_a_model_is_found_by_its_id_or_a_name_and_others_are_offered(tmp_path):
    loaded = family(tmp_path, "a,t,50,percent,yes,june,,,")
    assert require_subject(loaded, "b") == require_subject(loaded, "B") == "b"
    with pytest.raises(MensuraError, match=r"model: 'zzz' is not in the evidence \(mensura evidence summary --models"):
        require_subject(loaded, "zzz")
