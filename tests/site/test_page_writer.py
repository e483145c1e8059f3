"""What a report costs grows with its models, not with their square: counted in work, not in time."""

import base64
import gc
import json
import re
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from markupsafe import Markup, escape
from polars.testing import assert_frame_equal

import mensura
from mensura.charts import Mark, draw_share_card
from mensura.charts.plot import draw_nothing
from mensura.site.page_writer import PageWriter
from mensura.site.pages import Page, model_pages
from mensura.site.pages.data import missing
from mensura.site.pages.page import Shared
from mensura.site.pictures import Figure
from mensura.site.subjects import chance_layers
from mensura.study.study import Study

SHARED = {"address": "", "evidence_day": "2026-10-10"}


@pytest.fixture
def cards(monkeypatch):
    """The cards that would be drawn; nothing is drawn."""
    drawn = []
    monkeypatch.setattr("mensura.site.page_writer.recall", lambda name, inputs, draw: drawn.append(inputs[0]) or b"")
    return drawn


@pytest.mark.slow
def test_a_page_is_forgotten_once_it_is_written(study, tmp_path, cards):
    days = {"evidence_day": "2026-10-10", "today": "2026-11-17"}
    shared = {"navigation": (), "more": (), "evidence": study.evidence, "address": "", **days}
    writer = PageWriter(tmp_path, shared)
    pages = model_pages(study)
    written = []
    for _ in range(3):
        page = next(pages)
        writer.add(page)
        writer.write(page)
        assert escape(page.title) in (tmp_path / page.file).read_text(encoding="utf-8")
        written.append(weakref.ref(page))
        del page
    gc.collect()  # a template and what it was given hold each other
    assert [page() for page in written] == [None] * 3


def test_only_pages_with_a_sentence_to_share_have_a_picture_of_their_own_for_shared_links(tmp_path, cards):
    writer = PageWriter(tmp_path, SHARED)
    for number in range(4):
        shared = Shared("It is high." if number == 2 else "")
        page = Page(f"models/m{number}.html", f"M {number}", "one", "404.html", shared=shared, listed=number % 2 == 0)
        writer.add(page)
    assert len(cards) == 1
    assert writer.listed == ["models/m0.html", "models/m2.html"]


def test_the_picture_of_a_shared_link_has_the_leaders_and_where_given_the_chances_of_the_first(tmp_path, cards):
    leaders = (Mark("B", "Anthropic", 139.0), Mark("A", "OpenAI", 130.0))
    writer = PageWriter(tmp_path, SHARED, leaders=leaders)
    writer.add(Page("people.html", "People", "who was passed", "404.html", shared=Shared("Six of eight.")))
    lead = Shared("B may lead.", (0.3, 0.6), "2 of 3 tests")
    writer.add(Page("index.html", "IQ", "ranking", "404.html", shared=lead))
    own = (Mark("M", "Google", 120.0),)
    writer.add(Page("models/m.html", "M", "one", "404.html", shared=Shared("M is high.", None, "2 of 3 tests", own)))
    people, first, model = cards
    assert model == draw_share_card("2 of 3 tests", "M is high.", own, "10 October 2026, CC BY 4.0")
    assert people == draw_share_card("People", "Six of eight.", leaders, "10 October 2026, CC BY 4.0")
    assert first == draw_share_card("2 of 3 tests", "B may lead.", leaders, "10 October 2026, CC BY 4.0", (0.3, 0.6))


@pytest.mark.slow
def test_every_pair_has_the_share_of_draws_in_which_the_first_is_above(study):
    """Equal values, as at the ends of the scale, count for neither; 255 stands where one has no value."""
    drawn = study.iq.drawn
    packed = chance_layers(study)["layers"]
    for name, values in (("composite", drawn.composites), (study.iq.matrix.dimensions[0], drawn.dimensions[:, :, 0])):
        known = np.isfinite(values).all(axis=0)
        share = np.rint(100 * (values[:, :, None] > values[:, None, :]).sum(axis=0) / len(values))
        expected = np.where(known[:, None] & known, share, 255)[np.triu_indices(known.size, 1)]
        np.testing.assert_array_equal(np.frombuffer(base64.b64decode(packed[name]), dtype=np.uint8), expected)


@pytest.mark.slow
def test_a_study_computed_in_two_processes_is_the_same_study(few_models):
    both = Study.open(mensura.load(few_models))
    alone = Study.run(both.evidence, both.lines)
    assert {"pace", "watch", "groups", "abilities"} <= set(vars(both))
    assert_frame_equal(both.fit.capabilities, alone.fit.capabilities)
    assert_frame_equal(both.models, alone.models)
    assert_frame_equal(both.pace.forecast, alone.pace.forecast)
    assert_frame_equal(both.groups, alone.groups)


@pytest.mark.slow
def test_every_look_of_a_drawing_is_one_rule_of_the_style_sheet(report):
    sheet = (report / "static" / "style.css").read_text(encoding="utf-8")
    page = (report / "people.html").read_text(encoding="utf-8")
    rules = dict(re.findall(r":where\(\[data-s='(\d+)'\]\)\{((?:[\w-]+:[^;]+;)+)\}", sheet))
    names = set(re.findall(r' data-s="?(\d+)', page))
    assert len(names) > 20
    assert names <= set(rules)
    assert len(set(rules.values())) == len(rules)
    assert not re.search(r"font-size:[\d.]+;", sheet)  # a size without unit is no size for a style sheet
    assert not re.search(r' stroke="[^"]*" stroke-width="', page)


ROWS = SimpleNamespace(height=1200)
EVIDENCE = SimpleNamespace(models=ROWS, scores=ROWS, origin="own", warnings=(), edition={})


@pytest.fixture
def write_page(tmp_path, cards):
    """Write a page as a report with an address, or without one, does; return its text."""

    def written(page, address=""):
        links = {"navigation": (("people.html", "People"),), "more": (("data.html", "Data"),), "providers": []}
        days = {"evidence_day": "2026-10-10", "today": "2026-11-17", "version": "1", "address": address}
        look = {"banner": "", "published": False, "early": Markup("early()"), "sheet": Markup("main{}")}
        writer = PageWriter(tmp_path, {**links, **days, **look, "evidence": EVIDENCE})
        writer.add(page)
        writer.write(page)
        return (tmp_path / page.file).read_text(encoding="utf-8")

    return written


def test_the_page_for_a_missing_address_leads_home_from_any_folder_where_the_address_is_known(write_page):
    site = "https://example.org/r/"
    assert "https://example.org/r/people.html" in write_page(missing(), site)
    assert "href=people.html" in write_page(missing())
    deep = Page("models/deep.html", "Deep", "a page", "404.html", listed=False)
    assert "href=../people.html" in write_page(deep, site), "other pages work from a disk too"


def picture(name, paged):
    return Figure(
        name, "Title", "Shows this. And more.", draw_nothing("no rows"), "Found", ({"a": 1.5, "b": None},), paged=paged
    )


def test_a_picture_is_written_once_with_its_table_and_one_with_a_page_also_as_drawing_and_json(tmp_path, write_page):
    figures = [picture("own", True), picture("part", False), picture("own", True)]
    write_page(Page("x.html", "X", "a page", "404.html", {"pictures": figures}), "https://example.org/")
    names = sorted(
        path.relative_to(tmp_path).as_posix()
        for path in tmp_path.rglob("*")
        if "own" in path.name or "part" in path.name
    )
    assert names == ["api/v1/charts/own.json", "charts/own.csv", "charts/own.svg", "charts/part.csv"]
    assert (tmp_path / "charts" / "own.csv").read_text(encoding="utf-8") == "a,b\n1.5,\n"
    chart = json.loads((tmp_path / "api/v1/charts/own.json").read_text(encoding="utf-8"))
    assert chart == {
        "version": "v1",
        "name": "own",
        "title": "Title",
        "caption": "Shows this. And more.",
        "points": [{"a": 1.5, "b": None}],
    }
    framed = (tmp_path / "charts" / "own.svg").read_text(encoding="utf-8")
    for words in ("Found", "Shows this.", "10 October 2026", "CC BY 4.0", "https://example.org/charts/own.html"):
        assert words in framed, words


def test_pages_are_counted_but_for_those_of_single_pictures_and_share_one_style_sheet(tmp_path, cards):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "style.css").write_text("body{}\n")
    counted = []
    links = {"navigation": (), "more": (), "providers": [], "banner": "", "published": False, "version": "1"}
    shared = {**SHARED, **links, "today": "", "early": "", "sheet": "", "evidence": EVIDENCE}
    writer = PageWriter(tmp_path, shared, lambda: counted.append(1))
    for file, listed in (("a.html", True), ("charts/b.html", True), ("c.html", False)):
        page = Page(file, "T", "s", "404.html", shared=Shared("It is." if file == "a.html" else ""), listed=listed)
        writer.add(page)
        writer.write(page)
    assert (len(counted), len(cards)) == (2, 1)
    other = (["m.html"], ".rule{}\n", {"<svg/>": "static/other.svg"})
    assert writer.write_shared([other]) == ["a.html", "charts/b.html", "m.html"]
    sheet = (tmp_path / "static" / "style.css").read_text(encoding="utf-8")
    assert sheet.startswith("body{}\n") and sheet.endswith(".rule{}\n")
    assert (tmp_path / "static" / "other.svg").read_text(encoding="utf-8") == "<svg/>"
    assert "share/a.png" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "share/index.png" in (tmp_path / "charts" / "b.html").read_text(encoding="utf-8"), "the first page's"
