"""What pages say of a benchmark, of a derivation and in the table of a picture, by hand."""

import re
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura.evidence.passing import comparable_people
from mensura.site.page_writer import csv_text
from mensura.site.pages.benchmarks import (
    _passed_said,
    _rungs,
    benchmark_facts,
    benchmark_list,
    benchmark_notes,
    benchmark_sentence,
    benchmark_validity,
    disagreements,
    people_rows,
)
from mensura.study.policy import PlainRows

FACTS = {
    "benchmark": "quiz",
    "description": "who knows what",
    "dimension": "common-sense",
    "items": 1200,
    "repeats": 4,
    "chance": 25.0,
    "ceiling": 100.0,
    "unit": "percent",
    "kind": "frontier",
    "difficulty": 1.234,
    "slope": 0.5,
}


def facts(score=None, **changed):
    study = SimpleNamespace(dimension_names={"known": "A known one"})
    return dict(benchmark_facts(study, FACTS | changed, None if score is None else {"score": score}))


def test_the_facts_of_a_benchmark_in_words():
    told = facts(96.3)
    assert told["What it asks"] == "Who knows what"
    assert told["Items"] == "1,200, 4 tries each"
    assert told["Dimension"] == "Common sense"
    assert told["Chance and ceiling"] == "25% by guessing, 100% at most"
    assert told["On the stitched scale"].startswith("difficulty 1.23, slope 0.50: a model of that capability")
    assert told["Frontier or saturating"] == (
        "frontier: hard for today's models. The best model has gone 95.1% of the way from chance to ceiling; "
        "little is left to tell models apart."
    )


def validity(residuals=(), **changed):
    table = pl.DataFrame({"benchmark": ["gpqa_diamond"] * len(residuals), "residual": list(residuals)})
    study = SimpleNamespace(evidence=mensura.load(), residuals=table)
    study.rows = PlainRows(study)
    return list(dict(benchmark_validity(study, {"benchmark": "gpqa_diamond"} | changed)).values())


def test_how_far_a_score_can_be_trusted_names_leaks_fit_and_who_measured_whom():
    heart, fit, models, people = validity([0.3, -0.4])
    assert heart.startswith("high: questions have been public since 2023")
    assert fit.startswith("scores differ by 35.4% of the range") and fit.endswith("(root mean square over 2 models)")
    assert re.fullmatch(r"\d+ by independent evaluators", models)
    assert people.endswith("; experts in the field (grade C)") and "guessing" not in people


def test_what_nobody_measured_is_said():
    heart, fit, models, people = validity(benchmark="quiz")
    assert (heart, fit, models) == ("not judged", "too few models took it to say", "nobody yet")
    assert people.startswith("nobody, as far as we know")


def test_every_ladder_says_why_its_steps_are_there():
    evidence = mensura.load()
    ladders = {*evidence.ladders["benchmark"], *evidence.eq_ladders["benchmark"]}
    assert ladders <= {name for name, note in benchmark_notes().items() if note["ladder"]}


def test_a_benchmark_opens_with_its_leader_and_when_measured_people_were_passed(study):
    said = benchmark_sentence(study, "arc_agi_2", "A leads.", has_people=True)
    assert said == "A leads. The general public (60%) were passed in February 2026, by Gemini 3.1 Pro Preview."
    told = benchmark_sentence(study, "aime", "A leads.", has_people=True)
    assert "Top 500 in US school maths (92.7%) cannot be told apart yet, with a chance of 78% that" in told
    nobody = benchmark_sentence(study, "critpt", "A leads.", has_people=False)
    assert nobody == "A leads. No model can be set beside people who were measured on it."


def test_what_is_not_known_of_a_benchmark_is_said_so():
    told = facts(items=None, repeats=None, description=None, dimension=None, chance=None, difficulty=None, kind="odd")
    assert told["What it asks"] == "No description"
    assert (told["Items"], told["Chance and ceiling"], told["Dimension"]) == ("not recorded", "not recorded", "none")
    assert told["Frontier or saturating"] == "odd."
    assert "On the stitched scale" not in told
    assert "Residuals" not in told
    assert facts(96.25)["Frontier or saturating"].endswith("95% of the way from chance to ceiling.")
    assert facts(repeats=None, dimension="known")["Items"] == "1,200"
    assert facts(dimension="known")["Dimension"] == "A known one"


def test_people_are_said_to_be_comparable_where_they_were_tested_or_judged():
    base = {"score": 50.0, "low": 40.0, "high": 60.0, "source": "A survey of 2024", "remark": None}
    rows = [
        {**base, "group": f"group {status}", "status": status, "n": n}
        for status, n in (("measured", 1234), ("judged", None), ("panel", 0))
    ]
    found = people_rows(rows, "quiz", "percent")
    assert [(row["comparable"], row["size"]) for row in found] == [("yes", "1,234"), ("yes", "not given"), ("no", "0")]
    assert (found[0]["shown"], found[0]["range"], found[0]["date"]) == ("50%", "40% to 60%", "2024")


def study_of(*rows):
    scores = pl.DataFrame(rows, schema=["subject", "source", "score"], orient="row").with_columns(
        benchmark=pl.lit("quiz")
    )
    sources = pl.DataFrame({"source": ["a"], "name": ["The board"], "url": ["https://a.example"]})
    models = pl.DataFrame({"subject": ["m", "n"], "name": ["M", "N"]})
    return SimpleNamespace(models=models, evidence=SimpleNamespace(scores=scores, sources=sources))


def test_sources_that_disagree_are_listed_by_their_gap():
    study = study_of(("m", "a", 50.0), ("m", "b", 53.0), ("n", "a", 40.0), ("n", "b", 45.0), ("n", "c", 41.0))
    found = disagreements(study, "quiz", "percent")
    assert [(row["name"], row["sources"], row["gap_shown"]) for row in found] == [("N", 3, "5%"), ("M", 2, "3%")]
    assert found[1]["said"] == "50% (The board); 53% (b)"
    level = study_of(("m", "a", 50.0), ("m", "b", 50.0), ("n", "a", 40.0), ("n", "b", 40.01))
    assert disagreements(level, "quiz", "percent") == []


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("", '""'),
        ("a,b", '"a,b"'),
        ('say "x"', '"say ""x"""'),
        (1 / 3, "0.333333"),
        (float("nan"), '""'),
        (7, "7"),
    ],
)
def test_a_cell_of_a_table_tells_nothing_from_an_empty_text(value, cell):
    assert csv_text(["a", "b"], [[value, 1]]) == f"a,b\n{cell},1\n"


def test_a_table_without_columns_is_an_empty_line():
    assert csv_text([], []) == "\n"


def test_a_count_of_items_that_differs_from_ai_iqs_is_said():
    assert facts(benchmark="hle", items=2500, repeats=None)["Items"] == (
        "2,500 (AI IQ counts the 3,000 of the first version)"
    )


class Ladder(SimpleNamespace):
    """A ladder from 10 at IQ 70 to 130 at IQ 160, straight."""

    def to_dict(self):
        return {"iq70": -5.0, "iq100": 50.0, "iq160": 130.0}

    def iq(self, score):
        return 70 + 0.75 * (score - 10)


def rungs(ladder=True, **changed):
    eq = pl.DataFrame({"benchmark": ["quiz", "quiz", "x"], "eq": [120.0, 80.5, 1.0], "score": [90.0, 40.0, 1.0]})
    ladders = [Ladder(benchmark="quiz")] if ladder else []
    study = SimpleNamespace(
        iq=SimpleNamespace(matrix=SimpleNamespace(ladders=ladders)), evidence=SimpleNamespace(eq_ladders=eq)
    )
    return _rungs(study, FACTS | {"ceiling": None} | changed)


def test_the_steps_of_a_ladder_say_what_no_score_can_show():
    told = rungs()
    assert (told["scale"], told["why"]) == ("IQ", "")
    assert told["scores"] == [("70", "below any score"), ("100", "50%"), ("160", "out of reach")]
    assert told["ceiling"] == "IQ 138 at 100%", "a percentage ends at 100"
    assert rungs(ceiling=130.0)["scores"][2] == ("160", "130%")
    assert rungs(unit="fraction")["ceiling"] == "IQ 63 at 100%"
    elo = rungs(unit="elo")
    assert elo["ceiling"] == "not bounded by the test" and elo["scores"][0][1] != "below any score"
    emotional = rungs(ladder=False)
    assert emotional["scale"] == "EQ" and emotional["scores"] == [("80.5", "40%"), ("120", "90%")]
    assert emotional["ceiling"] == "not bounded by the test"
    assert rungs(ladder=False, benchmark="none") is None


def test_the_list_of_benchmarks_names_leader_people_and_dimension():
    rows = [
        FACTS | {"name": "Quiz", "models": 2},
        FACTS | {"benchmark": "untaken", "name": "Untaken", "dimension": None},
    ]
    leaders = {"benchmark": ["quiz"], "model": ["Em"], "subject": ["m"], "score": [61.25], "unit": ["percent"]}
    study = SimpleNamespace(
        benchmarks=pl.DataFrame(rows),
        leaders=pl.DataFrame(leaders | {"people": ["experts"], "human_status": ["measured"]}),
        dimension_names={},
    )
    page = benchmark_list(study)
    first, second = page.context["rows"]
    assert (first["leader"], first["leader_score"], first["people"]) == ("Em", "61.2%", "experts, measured")
    assert (first["dimension_name"], first["gameability"], first["leader_subject"]) == (
        "Common sense",
        "not judged",
        "m",
    )
    assert (second["leader"], second["leader_score"], second["people"], second["dimension_name"]) == (
        None,
        "–",
        "",
        "–",
    )
    assert "Quiz is the hardest: the best model has 61.2%." in page.summary
    assert page.shared.sentence.startswith("2 benchmarks: ")
    alone = SimpleNamespace(benchmarks=study.benchmarks.tail(1), leaders=study.leaders.clear(), dimension_names={})
    assert "hardest: the best" not in benchmark_list(alone).summary
    people = study.leaders.with_columns(people=None)
    bare = benchmark_list(SimpleNamespace(benchmarks=study.benchmarks, leaders=people, dimension_names={}))
    assert bare.context["rows"][0]["people"] == ""


def test_a_group_that_a_reason_excludes_is_not_comparable():
    row = comparable_people().filter(~pl.col("comparable")).row(0, named=True)
    base = {"score": 50.0, "low": None, "high": None, "source": "", "remark": "odd", "n": 3, "status": "measured"}
    rows = [{**base, "group": row["group"]}, {**base, "group": "somebody else"}]
    excluded, other = people_rows(rows, row["benchmark"], "percent")
    assert (excluded["comparable"], excluded["why"]) == ("no", row["reason"])
    assert (other["comparable"], other["why"], other["range"]) == ("yes", "odd", "")


def test_groups_are_said_to_be_passed_ahead_or_not_yet_told_apart():
    def of(verdict, first=None, best=0.02):
        return SimpleNamespace(
            short="Nurses", score=50.0, unit="percent", verdict=verdict, first=first, best=("b", best)
        )

    study = SimpleNamespace(rows=SimpleNamespace(by_subject={"a": {"name": "Ay"}}))
    when = ("a", date(2026, 3, 5), 0.97)
    assert _passed_said(study, of("passed", when)) == "Nurses (50%) were passed in March 2026, by Ay."
    chance = "with a chance of 2% that the best model is above them."
    assert _passed_said(study, of("not passed")) == f"Nurses (50%) are still ahead, {chance}"
    assert _passed_said(study, of("cannot be told")) == f"Nurses (50%) cannot be told apart yet, {chance}"
    nobody = of("not passed")
    nobody.best = None
    assert _passed_said(study, nobody) == "Nurses (50%) are still ahead."


def test_three_groups_of_people_are_named_at_most(monkeypatch):
    def of(name):
        return SimpleNamespace(
            short=name, score=50.0, unit="percent", verdict="not passed", first=None, best=None, benchmark="quiz"
        )

    groups = [of(f"G{at}") for at in range(4)] + [SimpleNamespace(benchmark="else")]
    monkeypatch.setitem(benchmark_sentence.__globals__, "passed_people", lambda _: groups)
    said = benchmark_sentence(None, "quiz", "A leads.", has_people=True)
    assert said == "A leads. " + " ".join(f"G{at} (50%) are still ahead." for at in range(3))
    assert benchmark_sentence(None, "none", "A leads.", has_people=True).endswith("people who were measured on it.")
