"""Human results for others: the shared form, records that come back, grades, and baselines of one's own."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import mensura
from mensura.baseline import registry
from mensura.baseline.human_results import (
    grade_references,
    graded_results,
    human_results_schema,
    known_markdown,
    markdown_cell,
    people_rows,
    to_human_results,
    with_people,
)
from mensura.baseline.registry import KnownBaseline
from mensura.evidence.passing import with_grades
from mensura.intake import shared_writing
from mensura.intake.people_logs import read_people_logs

SCHEMA = Path(shared_writing.__file__).parent / "data" / "every_eval_ever" / "eval.schema.json"


VALID = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text()))


def test_all_human_baselines_are_valid_records_that_come_back(tmp_path):
    from mensura.baseline.human_results import graded_results, people_rows

    rows = people_rows(graded_results())
    paths = []
    for name, record in shared_writing.score_records(rows, "1").items():
        assert not list(VALID.iter_errors(record)), name
        paths.append(tmp_path / f"{len(paths)}.json")
        paths[-1].write_text(json.dumps(record))
    back = read_people_logs(paths)
    columns = ("benchmark", "part", "group", "score", "unit", "n", "conditions", "metric", "status", "year", "seen")

    def facts(row, n):
        return (*(str(row[name]) for name in columns if name != "n"), str(row[n]))

    assert sorted(facts(row, "n") for row in back) == sorted(facts(row, "persons") for row in rows)


def test_every_row_of_the_registry_is_valid_in_the_shared_form_and_comes_back():
    documents = to_human_results(with_grades(registry()))
    check = jsonschema.Draft7Validator(human_results_schema())
    assert len(documents) == registry().height
    assert not [error.message for one in documents for error in check.iter_errors(one)]
    assert pl.DataFrame(map(registry_row, documents), schema=registry().schema).equals(registry())


def registry_row(document):
    """The row of the registry that a document was written from: nothing of it is lost."""
    benchmark, people, source = (document[part] for part in ("benchmark", "people", "source"))
    return {
        "benchmark": benchmark["name"],
        "part": benchmark["part"],
        "group": people["population"],
        "n": people["n"],
        "conditions": document["conditions"]["text"],
        **{key: document["result"][key] for key in ("score", "low", "high", "unit", "metric")},
        "status": document["quality"]["status"],
        "source": source["text"],
        "year": source["year"],
        "seen": source["seen"],
    }


def test_pass_marks_and_medals_have_no_letter_and_experts_one_number():
    graded = with_grades(registry())
    marks = graded.filter(kind="threshold")
    assert {"MedQA (USMLE)", "International Mathematical Olympiad"} <= set(marks["benchmark"])
    assert marks["grade"].null_count() == marks.height
    assert (
        mensura.baseline.find_known("MedQA (USMLE)", mensura.load())
        .passed.filter(group="pass mark of the exam")
        .is_empty()
    )
    experts = mensura.baseline.find_known("GPQA Diamond", mensura.load()).people.filter(group="expert validators")
    assert experts["score"].to_list() == [81.3]
    labels = graded.filter(benchmark="MMMU")["group"].to_list()
    assert [text.rpartition(", ")[2] for text in labels] == ["worst of three", "medium of three", "best of three"]
    solid = grade_references(mensura.load()).filter(benchmark="gpqa_diamond", group="experts in the field")
    assert solid["grade"].to_list() == ["C"]


def own(**cells):
    """One human baseline of one's own, as the registry has them."""
    row = {"benchmark": "GPQA Diamond", "group": "our experts", "score": 0.7, "unit": "fraction", "status": "measured"}
    known = registry()
    return pl.DataFrame({name: [(row | cells).get(name)] for name in known.columns}, schema=known.schema)


def test_a_baseline_of_ones_own_takes_the_unit_of_the_benchmark_and_replaces_its_group():
    before = mensura.load()
    for group, more in (("our experts", 1), ("experts in the field", 0)):
        evidence, left = with_people(before, own(group=group, low=0.6, high=None), "a study")
        found = evidence.human_references.filter(benchmark="gpqa_diamond", group=group).row(0, named=True)
        assert (found["score"], found["low"], found["high"], found["unit"]) == (
            pytest.approx(70.0),
            60.0,
            None,
            "percent",
        )
        assert found["source"] == "a study" and left.is_empty()
        assert evidence.human_references.height == before.human_references.height + more


@pytest.mark.parametrize("cells", [{"benchmark": "Nobody's Test"}, {"unit": "elo"}])
def test_a_baseline_whose_benchmark_or_unit_the_evidence_lacks_is_given_back(cells):
    before = mensura.load()
    evidence, left = with_people(before, own(**cells), "a study")
    assert left.height == 1 and evidence.human_references.equals(before.human_references)


def test_a_document_says_what_is_stated_and_what_is_not():
    [document] = to_human_results(with_grades(own(n=40, conditions=None, part="all", source="https://example.org/x")))
    assert document["checklist"]["n"] == "yes"
    assert {document["checklist"][name] for name in ("conditions", "items", "uncertainty")} == {"not stated"}
    assert document["source"]["url"] == "https://example.org/x"
    assert document["people"]["n"] == 40


def test_a_cell_of_markdown_breaks_no_table_and_runs_no_markup():
    assert markdown_cell("a | b\n<i>c</i>") == "a \\| b &lt;i&gt;c&lt;/i&gt;"


def test_results_that_only_this_evidence_has_are_graded_beside_the_registry():
    evidence, _ = with_people(mensura.load(), own(n=40), "a study")
    graded, known = graded_results(evidence), graded_results()
    assert graded.height == known.height + 1 == registry().height + 1
    assert graded.row(-1, named=True)["group"] == "our experts"


def test_the_card_of_a_known_baseline_names_who_passed_each_group_first():
    found = mensura.baseline.find_known("GPQA Diamond", mensura.load())
    row = found.passed.row(0, named=True)
    assert row["passed_by"] < row["of"] and row["chance"] > 0.95
    card = known_markdown(found)
    assert f"| {row['group']} | {row['passed_by']} of {row['of']} | {row['first']} | {row['date']} |" in card


def test_a_document_answers_the_checklist_by_what_is_stated():
    cells = {"n": 40, "low": 0.6, "high": 0.8, "conditions": "at home", "part": "law", "metric": "accuracy"}
    graded = with_grades(own(**cells, source="a paper", year=2024)).with_columns(grade=pl.lit("A"))
    [document] = to_human_results(graded)
    assert document["checklist"] == {
        "population": "partly",
        "n": "yes",
        "sampling": "not stated",
        "conditions": "partly",
        "items": "partly",
        "scoring": "yes",
        "uncertainty": "yes",
        "availability": "yes",
    }
    assert document["source"] == {"text": "a paper", "url": None, "year": 2024, "seen": None}
    [other] = to_human_results(graded.with_columns(grade=pl.lit("B"), metric=pl.lit(None, pl.String), high=None))
    assert {other["checklist"][name] for name in ("availability", "scoring", "uncertainty")} == {"not stated"}


def test_results_of_people_are_rows_of_records_under_a_name_of_their_own():
    graded = with_grades(pl.concat([own(n=40, year=2024, source="a paper"), own(score=None)]))
    [row] = people_rows(graded)
    assert (row["subject"], row["name"], row["provider"]) == ("gpqa-diamond-our-experts", "our experts", "people")
    assert (row["persons"], row["n"], row["date"], row["organisation"]) == (40, None, "2024", "a paper")
    assert people_rows(with_grades(own()))[0]["date"] is None


def test_a_row_of_the_registry_with_the_same_score_may_raise_a_grade():
    """A second-hand figure and the study behind it: the better letter counts, for scores within 0.15 points."""
    evidence = mensura.load()
    graded = grade_references(evidence)
    assert graded.columns == ["benchmark", "group", "kind", "grade"]
    assert graded.height == evidence.human_references.height
    plain = with_grades(evidence.human_references.with_columns(seen=pl.lit("evidence")))
    pairs = zip(graded["grade"], plain["grade"], strict=True)
    assert all(better is None or better <= letter for better, letter in pairs)
    assert graded["benchmark"].to_list() == evidence.human_references["benchmark"].to_list()


def test_the_card_of_a_known_baseline_lists_people_models_and_notes():
    people = with_grades(own(n=None, source="a | paper", conditions=None)).with_columns(n=pl.lit(None, pl.String))
    passed = {
        "part": ["all"],
        "group": ["our experts"],
        "status": ["measured"],
        "score": [70.0],
        "passed_by": [3],
        "of": [9],
        "first": ["m1"],
        "date": ["2026-01-02"],
        "best": ["m2"],
        "best_score": [90.0],
        "chance": [0.999],
        "iq": [None],
    }
    known = KnownBaseline("My | test", people, pl.DataFrame(passed), ("w",))
    lines = known_markdown(known).splitlines()
    assert lines[0] == r"## Human baseline: My \| test"
    assert r"| our experts | 0.7 fraction | " in lines[6] and lines[6].endswith(r"| not stated |  | a \| paper |")
    assert lines[-4] == "| our experts | 3 of 9 | m1 | 2026-01-02 | m2 | over 99% |"
    assert lines[-2] == "- Note: w" and lines[-1].startswith("- Made with Mensura ")
    nobody = known_markdown(KnownBaseline("T", people, pl.DataFrame(passed).clear()))
    assert "models above" not in nobody
