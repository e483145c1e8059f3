"""What readers find and open: entries of the search box, and the cards of marks of people."""

import re
from datetime import date
from types import SimpleNamespace

import polars as pl

from mensura.baseline.registry import registry
from mensura.evidence import slug
from mensura.site.cards import _class_card, _group_card, people_cards, search_entries
from mensura.study.units import show, show_range


def test_every_group_of_the_evidence_has_a_card_with_source_and_date(study):
    cards = people_cards(study)
    dated = re.compile(r"(19|20)\d\d|date not given|no date: follows from")
    seen = 0
    for row in study.evidence.human_references.iter_rows(named=True):
        card = cards.get(f"people:{row['benchmark']}/{row['group']}")
        if card is None:
            continue  # in another unit than its benchmark's
        lines = {label: text for label, text, _ in card["lines"]}
        assert lines["Source"] == row["source"]
        assert dated.search(lines["Date"])
        seen += 1
    assert seen > 40


def small_study():
    """Return two models, a benchmark of one dimension and another test, and two groups of people on the first."""
    models = {"subject": ["m1", "m2"], "name": ["Best", "Second"], "provider": ["OpenAI", "Nobody"], "iq": [120, None]}
    tests = {"benchmark": ["big_test", "odd"], "name": ["Big Test", "Odd"], "dimension": ["fluid-reasoning", None]}
    people = [
        {"benchmark": "big_test", "group": "expert validators", "status": "measured"},
        {"benchmark": "big_test", "group": "tall people", "status": "judged"},
    ]
    alike = {"class": "experts", "reason": None}
    verdicts = [alike | {"passed": date(2026, 2, 3), "verdict": "passed"}, alike | {"passed": None, "verdict": None}]
    printed = {
        ("big_test", row["group"]): {"score": 81.25, "unit": "percent", "n": n}
        for row, n in zip(people, (1234, None), strict=True)
    }
    return SimpleNamespace(
        dimension_names={"fluid-reasoning": "Fluid Reasoning"},
        models=pl.DataFrame(models),
        benchmark_names={"big_test": "Big Test", "odd": "Odd"},
        evidence=SimpleNamespace(benchmarks=pl.DataFrame(tests)),
        rows=SimpleNamespace(tested_people=people, printed_people=printed),
        leaders=pl.DataFrame({"benchmark": ["big_test"], "model": ["Best"], "score": [92.0], "unit": ["percent"]}),
        people=SimpleNamespace(tests=pl.DataFrame([row | facts for row, facts in zip(people, verdicts, strict=True)])),
        class_names={"experts, measured": "experts on Big Test"},
    )


def test_models_makers_tests_and_people_are_found_by_their_names_and_lead_to_their_pages(monkeypatch):
    monkeypatch.setattr(
        "mensura.site.cards._SEARCHED",
        {
            "pages": [["Prices", "cost.html", "money"]],
            "dimensions": {"fluid": "puzzles", "math": "numbers"},
            "makers": {"OpenAI": "chatgpt"},
            "people": {"expert": "phd"},
            "work": [
                {"name": "nobodies", "stem": "no such people", "words": "none"},
                {"name": "students", "stem": "student", "words": "college", "tests": ["odd"], "exam": "LSAT"},
            ],
        },
    )
    found = {entry[0]: entry[1:] for entry in search_entries(small_study())}
    students = int(registry()["group"].fill_null("").str.to_lowercase().str.contains("student").sum())
    assert students > 1
    lsat = registry().filter(pl.col("part").str.contains("LSAT")).row(0, named=True)
    tested, expert, tall = "big test Fluid Reasoning benchmark test", show(81.25, "percent"), "judged, not known"
    assert found == {
        "Prices": ("page", "cost.html", "money", 8.0, "", ""),
        "Fluid Reasoning": ("page", "iq.html#iq-bell-fluid-reasoning", "puzzles", 9.0, "a kind of work", ""),
        "Best": ("model", "models/m1.html", "OpenAI m1", 5.0, "OpenAI", "IQ 120"),
        "Second": ("model", "models/m2.html", "Nobody m2", 2.5, "Nobody", ""),
        "OpenAI": ("model", f"makers/{slug('OpenAI')}.html", "provider lab company chatgpt", 10.0, "maker", "1 model"),
        "Nobody": ("model", f"makers/{slug('Nobody')}.html", "provider lab company ", 10.0, "maker", "1 model"),
        "No study measured nobodies on a test that an AI model took": (
            *("people", "people.html#registry", "nobodies none", 12.0, "nobodies", ""),
        ),
        f"Students: {students} results in the list of studies": (
            *("people", "people.html#registry", "students college", 12.0, "", ""),
        ),
        "Big Test": ("test", "benchmarks/big_test.html", tested, 4.0, "best Best", show(92.0, "percent")),
        "Odd": ("test", "benchmarks/odd.html", "odd  benchmark test students college", 4.0, "", ""),
        f"{lsat['group'].capitalize()}, {lsat['part']}": (
            *(
                "people",
                "people.html#registry",
                "students college",
                11.0,
                "not comparable",
                show(lsat["score"], lsat["unit"]),
            ),
        ),
        "Expert validators on Big Test": (
            *("people", "benchmarks/big_test.html#people", "expert validators phd", 9.0),
            *("passed in February 2026", expert),
        ),
        "Tall people on Big Test": (*("people", "benchmarks/big_test.html#people", "tall people ", 1.0, tall, expert),),
    }


def test_the_card_of_a_group_has_its_score_range_number_and_source():
    row = {"group": "experts", "unit": "percent", "score": 81.25, "low": 70.0, "high": 90.0, "status": "measured"}
    row |= {"n": 1234, "source": "https://a.org/x; a paper of 2024", "remark": "paid"}
    card = _group_card(small_study(), "big_test", row)
    lines = {label: (text, link) for label, text, link in card["lines"]}
    assert (card["name"], card["page"]) == ("experts", "benchmarks/big_test.html#people")
    assert lines["Test"] == ("Big Test", "benchmarks/big_test.html")
    assert [lines[name][0] for name in ("Score", "Range", "Their score is", "n", "To know")] == [
        *(show(81.25, "percent"), show_range(70.0, 90.0, "percent"), "measured", "1,234", "paid")
    ]
    assert lines["Source"] == (row["source"], "https://a.org/x")
    assert lines["Date"][0] == "2024"
    bare = _group_card(small_study(), "big_test", row | dict.fromkeys(("low", "high", "n", "source", "remark")))
    said = {label: text for label, text, _ in bare["lines"]}
    assert (said["Range"], said["n"], said["Source"]) == ("not given",) * 3 and "To know" not in said


def test_the_card_of_a_class_lists_the_tests_of_its_people_with_the_same_status():
    row = {"group": "experts, measured", "status": "measured", "capability": 1.234, "low": 1.0, "high": 1.5}
    card = _class_card(small_study(), row)
    assert (card["name"], card["page"]) == ("experts on Big Test", "people.html#people-table")
    score = show(81.25, "percent")
    assert card["lines"] == [
        ("Their scores are", "measured", None),
        ("Capability", show(1.234, "capability"), None),
        ("90% interval", show_range(1.0, 1.5, "capability"), None),
        ("Big Test", f"expert validators: {score}, measured, n 1,234", "benchmarks/big_test.html#people"),
    ]
