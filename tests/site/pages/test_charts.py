"""Pages of pictures: IQ, the stitched scale, cost, the ruler; and one page per picture, to link and to embed."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.calibration import chosen_lines
from mensura.charts.plot import draw_nothing
from mensura.core.results import set_computed
from mensura.evidence import slug
from mensura.site.pages import charts
from mensura.site.pages.charts import chart_page, cheapest_section
from mensura.site.pages.page import HEADS
from mensura.site.pictures import Figure
from mensura.study.headlines import cheapest_rows


@pytest.mark.parametrize("by", ["effective_cost", "sticker_price"])
def test_the_cheapest_model_at_an_iq_counts_by_one_basis_alone(study, by):
    rows, priced = cheapest_rows(study, by)
    assert [row["floor"] for row in rows][:3] == [90, 95, 100]
    scored = study.models.drop_nulls(["iq", by])
    for row in rows:
        able = scored.filter(pl.col("iq") >= row["floor"])
        assert row["cost"] == able[by].min()
        assert row["able"] == able.height
    assert priced == scored.height
    assert f"{priced} models have a" in cheapest_section(study, "cheapest-list", by)["about"]


def test_the_converter_reads_levels_with_the_calibration_asked_for(tmp_path, study):
    file = tmp_path / "bases.csv"
    file.write_text("dimension,slope,intercept\nstamina,0.5,0.25\n", encoding="utf-8")
    shown = charts.human(set_computed(copy(study), lines=chosen_lines(str(file)))).context["calibration"]
    assert [(line.dimension, line.slope, line.intercept) for line in shown] == [("stamina", 0.5, 0.25)]
    named = {line.dimension: line.source for line in charts.human(study).context["calibration"]}
    assert "Table 16" in named["volume"]


def figure_of(*rows, **columns):
    return Figure("name", "Title", "Shows.", draw_nothing("x"), "Found", tuple(rows), columns=columns)


def test_the_page_of_a_picture_has_its_table_with_names_first_and_no_empty_column():
    rows = [
        {"subject": "a", "value": 136.88, "name": "Ay", "none": None, "n": 3, "group": "g"},
        {"subject": "b", "value": 140.0, "name": "Bee", "none": None, "n": None, "group": "g"},
        {"subject": "c", "value": None, "name": "Cee", "none": None, "n": 5, "group": "h"},
    ]
    page = chart_page(figure_of(*rows, value="IQ points"))
    assert (page.file, page.listed) == ("charts/name.html", False)
    assert [(key, is_number) for key, _, is_number in page.context["columns"]] == [
        *(("name", False), ("value", True), ("n", False), ("group", False))
    ], "a key that says no more than the name is left out, one that several names share is not"
    heads = {key: head for key, head, _ in page.context["columns"]}
    assert heads["value"] == "IQ points" and heads["name"] == HEADS.get("name", "name")
    assert [address for address, _ in page.context["rows"]] == [f"models/{slug(name)}.html" for name in "abc"]
    assert [cells[1] for _, cells in page.context["rows"]] == [(136.88, "136.9"), (140.0, "140.0"), (None, "–")]
    assert [cells[2][1] for _, cells in page.context["rows"]] == [3, None, 5]
    plain = chart_page(replace(figure_of({"subject": "a"}), finding=""))
    assert "Title" in plain.summary and plain.context["columns"][0][0] == "subject"


def test_a_mark_leads_to_the_page_of_its_model_benchmark_or_people():
    for subject, page in (
        ("gpt-5", "models/gpt-5.html"),
        ("benchmark:hle", "benchmarks/hle.html"),
        ("people:experts", "people.html#people-table"),
        ("other:x", None),
        ("", None),
        (None, None),
    ):
        [(address, _)] = chart_page(figure_of({"subject": subject, "value": 1.0})).context["rows"]
        assert address == page


def test_the_cheapest_models_are_counted_beside_those_without_a_cost():
    models = pl.DataFrame(
        {"subject": list("abc"), "name": list("ABC"), "iq": [100, 120, 130], "effective_cost": [1.0, 3.0, None]}
        | {"sticker_price": [2.0, None, None], "iq_low": 90.0, "iq_high": 140.0}
    )
    study = SimpleNamespace(models=models)
    section = cheapest_section(study, "cheapest-at")
    assert "2 models have an effective cost, 1 have none" in section["about"]
    assert [(row["floor"], row["name"]) for row in section["table"]["rows"]] == [
        *((floor, "A") for floor in (90, 95, 100)),
        *((floor, "B") for floor in (105, 110, 115, 120)),
    ]
    listed = cheapest_section(study, "cheapest-list", "sticker_price")
    assert "1 models have a list price; 2 have none" in listed["about"]
