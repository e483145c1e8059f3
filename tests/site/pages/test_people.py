"""The page of people: bases in words, and which groups stand in which section."""

from types import SimpleNamespace

import polars as pl

from mensura.charts.theme import lab_colour
from mensura.evidence import slug
from mensura.site.pages.people import (
    ahead_section,
    base_rows,
    incomparable_section,
    passing_rows,
    people_section,
    registry_rows,
    untaken_section,
)


def test_a_benchmark_says_plainly_when_nobody_measured_people(report, study):
    """Against the tables themselves: the references with their status, and the registry of human results."""
    took = set(study.evidence.human_references.filter(pl.col("status").is_in(["measured", "panel"]))["benchmark"])
    registered = {row["key"] for row in registry_rows(study)}
    said = set()
    for benchmark in study.benchmarks["benchmark"]:
        page = (report / "benchmarks" / f"{slug(benchmark)}.html").read_text(encoding="utf-8")
        if "Nobody measured people on this test" in page:
            said.add(benchmark)
            assert "People who took it" not in page
    assert said == set(study.benchmarks["benchmark"]) - took - registered
    assert {"ifbench", "designarena_frontend", "eq_bench_3", "aa_omniscience"} <= said
    assert "gpqa_diamond" not in said


def row_of(chance=None, reason=None, status="measured, n = 40, grade B"):
    return {"chance": chance, "reason": reason, "status": status}


def test_groups_whom_the_best_model_is_likelier_below_come_surest_first():
    study = SimpleNamespace(models=pl.DataFrame({"name": ["Bee"], "provider": ["OpenAI"]}))
    facts = {"best": "Bee", "shown_href": "x", "benchmark": "quiz", "group": "tall people", "test": "Quiz"}
    tested = [row_of(chance) | facts for chance in (0.3, 0.9, 0.1, None)]
    rows = ahead_section(study, tested)["groups"]
    assert [row["chance"] for row in rows] == [0.1, 0.3]
    assert (rows[0]["group"], rows[0]["about"]) == ("Tall people", "Quiz, chance above 10%; best: Bee")
    assert rows[0]["ink"] == lab_colour("OpenAI") and tested[2]["group"] == "tall people", "the rows stay as they are"


def test_tests_that_no_model_took_show_counted_people_with_the_best_grade_and_most_of_them():
    row = {"page": None, "part": "", "group": "students", "size": "5", "score": 0.5, "low": None, "high": 0.75}
    row["unit"] = "fraction"
    rows = [
        {**row, "benchmark": f"Quiz {at % 10}", "grade": grade, "n": n}
        for at, (grade, n) in enumerate([("B", 9), ("A", 5), ("A", 50), ("C", 900), ("B", None)])
    ]
    others = [{**rows[2], "n": 999, "page": "benchmarks/quiz.html"}, {**rows[2], "n": 998, "unit": "minutes"}]
    shown = untaken_section([*rows, *others, {**rows[2], "n": 1}])["groups"]
    assert [(one["grade"], one["n"]) for one in shown] == [("A", 50), ("A", 5), ("B", 9), ("B", None)]
    assert (shown[0]["group"], shown[0]["about"]) == ("Quiz 2", "students; n = 5")
    assert shown[0]["spots"] == [50.0, None, 75.0]
    many = [{**rows[0], "benchmark": str(at)} for at in range(20)]
    assert len(untaken_section(many)["groups"]) == 8, "the registry has all"


def test_only_scores_that_look_comparable_are_listed_with_why_they_are_not():
    rows = [
        row_of(reason="other items"),
        row_of(),
        *(row_of(reason="x", status=f"{word}, grade E") for word in ("judged", "constructed", "panel")),
    ]
    assert incomparable_section(rows)["table"]["rows"] == rows[:1]


def test_a_base_has_its_interval_in_words():
    for row in base_rows():
        low, high = map(float, row["interval"].split("–"))
        assert (low, high) == (round(row["low"], 2), round(row["high"], 2))


def test_each_group_has_its_row_with_the_first_and_the_best_model_above_it():
    tests = [
        {"benchmark": "quiz", "group": "experts", "status": "measured", "bound": True, "first": "a", "best": "b"},
        {"benchmark": "quiz", "group": "pupils", "status": "judged", "bound": False, "first": None, "best": "c"},
    ]
    people = {"benchmark": "quiz", "group": ["experts", "pupils"], "score": [81.25, 40.0], "low": [70.0, None]}
    references = pl.DataFrame(people | {"high": [90.0, None], "n": [1200, None], "unit": "percent"})
    study = SimpleNamespace(
        models=pl.DataFrame({"subject": ["a", "b"], "name": ["Ay", "Bee"]}),
        rows=SimpleNamespace(
            human_grades={("quiz", "experts"): "B", ("quiz", "pupils"): None},
            printed_people={("quiz", row["group"]): row for row in references.iter_rows(named=True)},
            own_scores={"b": {"quiz": 95.0}},
        ),
        people=SimpleNamespace(tests=pl.DataFrame(tests)),
        benchmark_names={"quiz": "The Quiz"},
    )
    first, second = passing_rows(study)
    assert (first["spots"], second["spots"]) == ([81.25, 70.0, 90.0, 95.0], [40.0, None, None, None])
    assert (first["grade"], second["grade"]) == ("B", None)
    assert (first["test"], first["status"]) == ("The Quiz", "measured, n = 1,200, grade B")
    assert (first["shown"], first["first"], first["best"]) == ("at most 81.2% (70% to 90%)", "Ay", "Bee")
    assert (first["best_shown"], first["best_shown_href"]) == ("95%", "models/b.html#on-quiz")
    assert first["shown_href"] == "benchmarks/quiz.html#people"
    assert (second["status"], second["shown"], second["first"], second["best"]) == (
        *("judged, grade none", "40%", None),
        "c",
    )
    assert (second["best_shown"], second["best_shown_href"]) == ("expected from its level", None)


def test_a_published_result_stands_beside_the_best_model_on_the_same_test_and_unit(monkeypatch):
    rows = [
        {"benchmark": "The Quiz", "part": "all", "year": 2024, "source": "A paper, 2024", "score": 81.25, "n": 1200},
        {"benchmark": "The Quiz", "part": "hard", "year": 2023, "source": "A book", "score": 60.0, "n": None},
        {"benchmark": "Other", "part": None, "year": 2020, "source": None, "score": 1.0, "n": 3},
        {"benchmark": "The Quiz", "part": "", "year": 2020, "source": None, "score": 7.0, "n": 3, "unit": "minutes"},
        {"benchmark": "The Quiz", "part": "Gold set", "year": 2020, "source": None, "score": 9.0, "n": 3},
    ]
    table = pl.DataFrame([{"unit": "percent", "seen": None, **row} for row in rows])
    monkeypatch.setitem(registry_rows.__globals__, "registry", lambda: table)
    monkeypatch.setitem(registry_rows.__globals__, "with_grades", lambda frame: frame)
    leaders = {
        "benchmark": ["quiz", "quiz_gold"],
        "model": ["Bee", "Cee"],
        "subject": ["b", "c"],
        "score": [95.0, 50.0],
    }
    names = {"quiz": "the-quiz", "quiz_gold": "The Quiz Gold"}
    study = SimpleNamespace(benchmark_names=names, leaders=pl.DataFrame(leaders | {"unit": "percent"}))
    found = registry_rows(study)
    assert [(row["best"], row["part"], row["key"]) for row in found] == [
        *(("Bee 95%", "", "quiz"), ("Cee 50%", "Gold set", "quiz_gold"), ("", "hard", "quiz"), ("", "", None)),
        ("", "", "quiz"),
    ], "those with a model come first"
    whole = found[0]
    assert (whole["year"], whole["shown"], whole["size"], whole["page"]) == (
        *(None, "81.2%", "1,200"),
        "benchmarks/quiz.html",
    ), "the source has the year already"
    assert (found[2]["year"], found[2]["size"], found[2]["best_subject"]) == (2023, "not stated", None)
    assert found[3]["page"] is None and whole["best_subject"] == "b"


def test_classes_of_people_are_listed_with_their_tests_by_name():
    groups = {
        "group": ["experts, measured", "all"],
        "benchmarks": ["quiz, other", "quiz"],
        "low": [1.0, None],
        "high": 2.0,
    }
    study = SimpleNamespace(groups=pl.DataFrame(groups), benchmark_names={"quiz": "The Quiz"})
    rows = people_section(study)["table"]["rows"]
    assert [(row["group"], row["tests"], row["interval"]) for row in rows] == [
        *(("experts", "The Quiz, other", "1.00 to 2.00"), ("all", "The Quiz", ""))
    ]
