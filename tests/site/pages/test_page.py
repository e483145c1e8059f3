"""What a page is: its words, its sections, its figures, and the way back to the folder of the report."""

from types import SimpleNamespace

import pytest

from mensura.site.pages.page import (
    HEADS,
    MORE,
    NAVIGATION,
    Page,
    Shared,
    leader_marks,
    page_of,
    section_of,
    shared_lead,
)


@pytest.mark.parametrize(("file", "root"), [("index.html", ""), ("models/a.html", "../"), ("a/b/c.html", "../../")])
def test_every_page_knows_the_way_back(file, root):
    assert Page(file, "t", "s", "x").root == root


def test_a_page_of_a_kind_has_its_own_name_and_the_facts_in_its_words():
    page = page_of("models/", of="gpt-9", name="GPT-9", provider="Nobody")
    assert page.file == "models/gpt-9.html" and page.root == "../"
    assert page.title == "GPT-9" and page.summary.startswith("GPT-9 of Nobody: ")
    assert page.listed and page.shared == Shared()


def test_a_section_has_a_table_where_it_has_columns():
    section = section_of("not-comparable", [{"test": "A"}], facts={"groups": 3}, pictures=["p"])
    assert section["id"] == "not-comparable" and section["pictures"] == ["p"]
    assert section["table"]["rows"] == [{"test": "A"}]
    assert all(len(column) == 3 for column in section["table"]["columns"])
    assert "{groups}" not in str(section)
    assert section_of("published-fit")["table"] is None


def test_figures_come_from_the_page_and_from_its_sections_in_order():
    page = Page("a.html", "t", "s", "x", {"pictures": [1, 2], "sections": [{"pictures": [3]}, {}, {"pictures": [4]}]})
    assert list(page.figures) == [1, 2, 3, 4]
    assert list(Page("a.html", "t", "s", "x").figures) == []


def test_the_menus_name_pages_once_each():
    files = [file for file, _ in (*NAVIGATION, *MORE)]
    assert len(set(files)) == len(files) and all(file.endswith(".html") for file in files)
    assert HEADS["iq"]


def test_three_leaders_stand_in_the_picture_of_a_shared_link():
    row = {"provider": None, "iq_low": 120, "iq_high": 140, "well_measured": True}
    rows = [{**row, "subject": f"m{k}", "name": f"M{k}", "exact_iq": 130.0 - k} for k in range(5)]
    study = SimpleNamespace(rows=SimpleNamespace(ranked_rows=rows))
    assert [(mark.name, mark.x) for mark in leader_marks(study)] == [("M0", 130.0), ("M1", 129.0), ("M2", 128.0)]


def test_the_shared_picture_of_the_lead_has_the_whole_range_of_its_chances_and_what_it_rests_on():
    row = {"provider": None, "iq_low": 120, "iq_high": 140, "well_measured": True, "measured": 11}
    rows = [{**row, "subject": "a", "name": "A", "exact_iq": 130.0}]
    lead = SimpleNamespace(
        chances={"joint": 0.4, "uncorrected": 0.6, "stitched": 0.3},
        headline=lambda _: "A may lead.",
        basis=lambda _: "",
    )
    iq = SimpleNamespace(matrix=SimpleNamespace(benchmarks=["x"] * 32))
    study = SimpleNamespace(rows=SimpleNamespace(ranked_rows=rows), lead=lead, iq=iq, evidence=None)
    card = shared_lead(study)
    assert (card.sentence, card.chances) == ("A may lead.", (0.3, 0.6))
    assert card.note == "11 of the leader’s 32 tests are measured"
    study.lead = None
    assert shared_lead(study).chances is None
