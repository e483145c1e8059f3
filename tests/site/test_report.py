"""The report as files: pages, shared scripts, downloads, and the interface for programs with its schema."""

import html
import json
import pickle
import re
import shutil
from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import polars as pl
import pytest

import mensura
from mensura.charts.render import to_png
from mensura.core.frames import neutral_cells
from mensura.serve.middleware import POLICY
from mensura.site import build_report, count_pages, pages, report as building
from mensura.site.api import SCHEMAS, script_json
from mensura.site.editions import next_edition
from mensura.site.page_writer import PageWriter, csv_text
from mensura.site.pages import Page
from mensura.site.pages.models import derivation_html
from mensura.site.pages.page import Shared
from mensura.site.pages.where import where_context
from mensura.site.templating import policy_hash
from tests.site.hostile import RENAMED

LISTINGS = ["models", "rankings", "benchmarks", "methodology"]


@pytest.mark.parametrize("name", LISTINGS)
def test_interface_files_follow_their_published_schema(report, name):
    payload = json.loads((report / f"api/v1/{name}.json").read_text(encoding="utf-8"))
    schema = json.loads((report / "api/v1/schema.json").read_text(encoding="utf-8"))[name]
    jsonschema.validate(payload, schema)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_chart_has_a_data_file(report):
    pages = [page.read_text(encoding="utf-8") for page in report.rglob("*.html")]
    named = {part.split('"')[0] for text in pages for part in text.split('data-chart="')[1:]}
    assert len(named) > 200
    for name in named:
        assert (report / f"charts/{name}.csv").is_file()
        if (report / f"charts/{name}.html").is_file():  # the page itself frames the others
            assert (report / f"charts/{name}.svg").read_text(encoding="utf-8").startswith("<svg")
            chart = json.loads((report / f"api/v1/charts/{name}.json").read_text(encoding="utf-8"))
            jsonschema.validate(chart, SCHEMAS["chart"])


def test_a_ladder_shows_no_score_beyond_the_ceiling_of_its_test(report):
    """The ladder of GPQA goes on to 140% for IQ 160, which nobody can score."""
    page = (report / "benchmarks/gpqa_diamond.html").read_text(encoding="utf-8")
    cells = re.search(r"class=rungs>.*?</table>", page, re.DOTALL)[0]
    assert cells.endswith("<td class=n>100%<td class=n>out of reach</tbody></table>")
    aime = (report / "benchmarks/aime.html").read_text(encoding="utf-8")
    assert "<td class=n>below any score<td class=n>5%" in aime
    assert "Which score stands for which EQ" in (report / "benchmarks/attunebench.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_model_and_benchmark_has_a_page_and_every_link_leads_somewhere(report):
    evidence = mensura.load()
    for subject in set(evidence.models["subject"]) - set(RENAMED):
        assert (report / f"models/{subject}.html").is_file()
    for benchmark in evidence.benchmarks["benchmark"]:
        assert (report / f"benchmarks/{benchmark}.html").is_file()
    texts = {page: page.read_text(encoding="utf-8") for page in report.rglob("*.html")}
    places = {page: {html.unescape(one) for one in re.findall(r'\bid="([^"]*)"', text)} for page, text in texts.items()}
    broken = set()
    for page, text in texts.items():
        for link in {html.unescape(one) for one in re.findall(r'href="?([^"\s>]+)', text)}:
            address, _, place = unquote(link).partition("#")
            target = (page.parent / address.split("?")[0]).resolve() if address else page
            if link.startswith("http"):
                continue
            if not target.exists() or (place and place not in places.get(target, {place})):
                broken.add((page.name, link))
    assert broken == set()


def test_pages_are_counted_before_they_are_made(report, evidence):
    made = [page for page in report.rglob("*.html") if page.parent.name != "charts"]
    assert count_pages(evidence) == len(made)


def test_every_look_and_page_of_every_process_is_known(report):
    """Pages of models are written in another process, whose rules and names must reach style sheet and sitemap."""
    sheet = (report / "static/style.css").read_text(encoding="utf-8")
    ruled = set(re.findall(r"data-[st]='(\w+)'", sheet))
    assert {name[0] for name in ruled} <= set("abcd0123456789")
    listed = (report / "sitemap.xml").read_text(encoding="utf-8")
    for page in (*report.glob("models/*.html"), *report.glob("benchmarks/*.html")):
        named = set(re.findall(r'\bdata-[st]="?(\w+)', page.read_text(encoding="utf-8")))
        assert named
        assert named <= ruled
        assert f"{page.parent.name}/{page.name}".replace("index.html", "") in listed


def test_downloads_are_the_evidence(report):
    for suffix, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        assert read(report / f"data/scores.{suffix}").height == mensura.load().scores.height
    assert len(json.loads((report / "data/models.json").read_text(encoding="utf-8"))) == 166


@pytest.mark.slow
def test_rankings_are_the_composites(report, evidence):
    ranked = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["rankings"]
    assert [row["rank"] for row in ranked] == list(range(1, len(ranked) + 1))
    scored = mensura.score_iq(evidence, draws=1000).shown
    assert {row["subject"]: row["iq"]["value"] for row in ranked} == dict(scored.select("subject", "iq").iter_rows())
    assert "Too new to rank" in (report / "iq.html").read_text(encoding="utf-8")
    assert {row["subject"]: row["measured"] for row in ranked} == dict(scored.select("subject", "measured").iter_rows())


def test_no_page_asks_an_outside_host_for_anything_and_none_needs_a_lax_policy(report):
    """Scripts and styles come from files of the report or stand in pages; the policy of the live site names them.

    The first page alone has anything inline: the few lines that choose the theme, and the style sheet.
    """
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert 'rel="stylesheet" href="http' not in text
        inline = re.findall(r"<(script|style)>(.*?)</\1>", text, flags=re.DOTALL)
        assert [kind for kind, _ in inline] == (["style", "script"] if page == report / "index.html" else [])
        assert all(policy_hash(inside) in POLICY for kind, inside in inline if kind == "script"), page.name
        assert not re.search(r"<script(?![^>]* src=)(?!>\(\(\) => {)", text), page.name
        assert not re.search(r"<[^>]* style=", text), page.name
        assert not re.search(r"<[^>]* on[a-z]+=", re.sub(r'"[^"]*"', '""', text)), page.name


def test_every_drawing_that_a_page_offers_is_a_file_that_programs_read(report):
    drawings = sorted((report / "charts").glob("*.svg"))
    assert len(drawings) > 30
    for drawing in drawings:
        ElementTree.parse(drawing)
    models = [one for one in ElementTree.parse(report / "charts/jagged.svg").iter() if one.get("data-model")]
    assert [one.get("display") for one in models].count(None) == 1  # the others would be drawn over it


def test_the_shared_picture_of_a_chart_is_large_enough_to_read_it(report):
    for name, shared in (("charts/iq-time", "index"), ("charts/iq-price", "cost"), ("compare", "compare")):
        page = (report / f"{name}.html").read_text(encoding="utf-8")
        assert f'share/{shared}.png"' in page, "a chart has the picture of the page that explains it"
        picture = (report / f"share/{shared}.png").read_bytes()
        assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (1200, 630)


def test_the_table_of_a_picture_says_its_columns_in_words_and_one_number_of_decimals(report):
    text = (report / "charts/iq-bell.html").read_text(encoding="utf-8").partition('id="numbers"')[2]
    heads = re.findall(r"<th scope=col( class=n)?>(.*?)</th>", text)
    words = [head for _, head in heads]
    assert words == ["name", "provider", "IQ", "interval from", "to", "status"]
    assert [head for numeric, head in heads if numeric] == ["IQ", "interval from", "to"]
    cells = re.findall(r"<td class=n data-value=([\d.]+)>([\d.]+)<", text)
    assert len(cells) >= 3 * 20
    assert all(re.fullmatch(r"\d+\.\d", shown) for _, shown in cells)
    assert all(float(shown) == pytest.approx(float(value), abs=0.0501) for value, shown in cells)
    assert "interval from" not in (report / "charts/bases.html").read_text(encoding="utf-8")  # none is known


def test_the_table_of_a_picture_names_things_and_leaves_their_keys_out(report):
    def cells(name):
        text = (report / f"charts/{name}.html").read_text(encoding="utf-8").partition('id="numbers"')[2]
        return re.findall(r"<t[dh][^>]*>(?:<a[^>]*>)?([^<]+)", text)

    assert "Volume" in cells("bases") and not {"volume", "dimension"} & set(cells("bases"))
    assert "CAN" in cells("country-alignment") and "country=CAN" not in cells("country-alignment")
    assert cells("country-alignment")[0] == "name"
    assert "subject" not in cells("iq-bell")
    assert "benchmark" in cells("residual-profiles")  # many to a name: no key of it


def test_links_out_of_the_report_tell_the_other_side_nothing(report):
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert '<meta name="referrer" content="no-referrer">' in text
        assert not re.search(r"<a [^>]*target=.?_blank", text), page.name


def test_pages_say_names_in_full_and_no_keys(report, evidence):
    """On phones no common name is cut in a drawing; sources and dimensions are said by name."""
    names = [name for name in [*evidence.models["name"], *evidence.human_references["group"]] if len(name) < 30]
    for page in ("people.html", "models/gpt-5.5.html", "benchmarks/gpqa_diamond.html"):
        text = (report / page).read_text(encoding="utf-8")
        narrow = re.findall(r"<div class=only-narrow>(.*?)</svg>", text, flags=re.DOTALL)
        assert narrow
        cut = [html.unescape(words) for drawing in narrow for words in re.findall(r">([^<]+)…</text>", drawing)]
        assert not [words for words in cut if any(name.startswith(words) for name in names)]
        assert not re.search(r"\((aiiq|aa0409|aa0710|mdev)\)|>(KNs|CEc|MCt|QLq)<", text)


def test_every_page_names_its_build_its_evidence_and_its_shared_picture(report):
    built = date.fromtimestamp((report / "index.html").stat().st_mtime)
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert f"built {built.day} {built:%B %Y}" in text
        assert "newest score of 10 October 2026" in text
        root = "../" * (len(page.relative_to(report).parts) - 1)
        assert f'rel="canonical" href="{root}{page.relative_to(report).as_posix()}"' in text
        picture = re.search(r'property="og:image" content="([^"]+)"', text)[1]
        assert (page.parent / picture).read_bytes().startswith(b"\x89PNG")


def test_feed_and_sitemap_name_pages_that_are_there(report):
    atom = ElementTree.parse(report / "feed.xml").getroot()
    space = {"a": "http://www.w3.org/2005/Atom"}
    entries = atom.findall("a:entry", space)
    assert entries
    days = [entry.find("a:updated", space).text for entry in entries]
    assert days == sorted(days, reverse=True)
    assert any("Edition" in entry.find("a:title", space).text for entry in entries)
    for entry in entries:
        assert (report / entry.find("a:link", space).get("href")).is_file()
    listed = [one.text for one in ElementTree.parse(report / "sitemap.xml").getroot().iter() if one.tag.endswith("loc")]
    assert {"index.html", "people.html", "models/index.html", "benchmarks/gpqa_diamond.html"} <= set(listed)
    assert all((report / name).is_file() for name in listed)
    assert "404.html" not in listed


def test_report_command_prints_the_headline_table(report, printed):
    assert printed["report"] == str(report / "index.html")
    ranked = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["rankings"]
    assert [row["rank"] for row in printed["headline"]] == [row["rank"] for row in ranked]


@pytest.fixture
def short(monkeypatch):
    """A report of two pages, which takes a moment to build."""
    monkeypatch.setattr("mensura.site.report.FEW_MODELS", 10_000)  # this process writes all pages
    monkeypatch.setattr(
        "mensura.site.pages.named_pages", lambda study, editions: [pages.method(study), pages.data(study)]
    )
    monkeypatch.setattr("mensura.site.pages.benchmark_pages", lambda study: iter(()))
    monkeypatch.setattr("mensura.site.pages.model_pages", lambda study, own: iter(()))
    monkeypatch.setattr("mensura.site.pages.maker_pages", lambda study: iter(()))


@pytest.mark.slow
def test_a_second_report_replaces_the_first_and_nothing_else(report, evidence, short, tmp_path):
    out = tmp_path / "report"
    shutil.copytree(report, out)
    (out / "models" / "notes.txt").write_text("mine", encoding="utf-8")
    build_report(evidence, out)
    kept = {path.relative_to(out).as_posix() for path in out.rglob("*.html")}
    assert kept == {"method.html", "data.html"}
    assert (out / "models" / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (out / "static" / "card.js").read_bytes() == (report / "static" / "card.js").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.slow
def test_a_report_is_left_as_it_is_until_something_changes(evidence, short, tmp_path):
    def times():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}

    first = build_report(evidence, tmp_path / "report")
    before = times()
    assert build_report(evidence, tmp_path / "report").equals(first)
    assert times() == before
    (tmp_path / "report" / "method.html").unlink()
    build_report(evidence, tmp_path / "report")
    assert (tmp_path / "report" / "method.html").is_file()
    (tmp_path / "report" / "data.html").write_text("shorter", encoding="utf-8")
    build_report(evidence, tmp_path / "report")
    assert len((tmp_path / "report" / "data.html").read_text(encoding="utf-8")) > 1000
    build_report(evidence, tmp_path / "report", address="https://example.org/")
    assert "https://example.org/" in (tmp_path / "report" / "data.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_foreign_page_in_the_way_is_refused_and_kept(mensura_command, evidence_folder, short, tmp_path):
    (tmp_path / "method.html").write_text("mine", encoding="utf-8")
    run = mensura_command("report", "--out", tmp_path, "--evidence", evidence_folder)
    assert run.code == 2
    assert "method.html: exists and was not written by mensura" in run.err
    assert [path.name for path in tmp_path.iterdir()] == ["method.html"]


def test_a_build_that_fails_leaves_nothing_behind(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("mensura.site.report.Study.open", fail)
    with pytest.raises(ZeroDivisionError):
        build_report(mensura.load(), tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_that_fails_is_reported():
    with pytest.raises(mensura.MensuraError, match=r"not readable .*; expected names without control characters"):
        to_png('<svg width="4" height="4"><text>\x00</text></svg>', 1.0)


def test_data_for_scripts_reads_any_key_as_a_key():
    said = script_json({"__proto__": "it's \\ here", "n": 1 / 3})
    assert said == """JSON.parse('{"__proto__":"it\\'s \\\\\\\\ here","n":0.333333}')"""


def test_numbers_for_sorting_have_no_last_bits(report):
    values = {
        value
        for page in ("iq.html", "models/index.html", "benchmarks/hle.html")
        for value in re.findall(r'data-value="?([-\d.e+]+)', (report / page).read_text(encoding="utf-8"))
    }
    assert len(values) > 300
    assert max(len(re.sub(r"[-.]|e.*", "", value).lstrip("0")) for value in values) <= 8  # a date has eight


def test_a_drawing_is_made_once(monkeypatch, tmp_path):
    monkeypatch.setenv("MENSURA_CACHE", str(tmp_path / "cache"))
    shared = {"address": "", "evidence_day": "2026-10-10"}
    page = Page("people.html", "People", "who was passed", "404.html", shared=Shared("Six of eight."))
    for place, name in enumerate(("first", "again")):
        if place:
            monkeypatch.setattr("mensura.site.page_writer.to_png", None)  # it cannot draw
        PageWriter(tmp_path / name, shared).add(page)
    first, again = ((tmp_path / name / "share" / "people.png").read_bytes() for name in ("first", "again"))
    assert first == again
    assert first.startswith(b"\x89PNG")


def test_an_edition_says_what_changed_and_why(study):
    first = next_edition(study, [], date(2026, 11, 1))
    assert first[0].changes[0].startswith("First edition: 166 models")
    assert next_edition(study, first, date(2026, 11, 2)) == first, "a build without a change is no edition"
    fewer = replace(
        first[0],
        iqs={**first[0].iqs, "gpt-5.5": first[0].iqs["gpt-5.5"] - 2},
        scores={name: n - (name == "gpt-5.5") for name, n in first[0].scores.items() if name != "gpt-5.4"},
    )
    said = next_edition(study, [fewer], date(2026, 11, 2))[0].changes
    assert any(one.startswith("New: GPT-5.4,") for one in said)
    assert any(re.match(r"GPT-5\.5: IQ [\d.]+ → [\d.]+, because of 1 more score of its own", one) for one in said)


def test_an_address_that_is_none_is_refused(tmp_path):
    with pytest.raises(mensura.MensuraError, match="expected the address the report will stand at"):
        build_report(mensura.load(), tmp_path / "report", address="example.org")


def test_no_cell_of_a_picture_is_a_formula_to_a_spreadsheet():
    table = csv_text(["name", "value"], [["=1+1", -2.5], ["-20", None], ['a, "b"', 1.0], ["", 3.0]])
    assert table == 'name,value\n\'=1+1,-2.5\n-20,\n"a, ""b""",1\n"",3\n'


def test_no_cell_of_the_evidence_is_a_formula_to_a_spreadsheet(report):
    for file in (report / "data").glob("*.csv"):
        cells = pl.read_csv(file, infer_schema=False)
        assert cells.equals(neutral_cells(cells)), file.name


@pytest.mark.parametrize(("workers", "shares"), [(1, []), (2, [1750]), (4, [734, 734, 732])])
def test_other_processes_write_most_pages_of_thousands_of_models(monkeypatch, workers, shares):
    """One processor stays free for the report's own process, which writes the other pages and the models left over."""
    monkeypatch.setattr(building, "WORKERS", workers)
    study = SimpleNamespace(models=pl.DataFrame({"subject": [f"model-{place}" for place in range(2200)]}))
    places = [range(2200)[rows] for rows, *_ in building._shares(study)]
    assert list(map(len, places)) == shares
    assert [one for part in places for one in part] == list(range(sum(shares)))


def test_another_process_gets_what_pages_of_models_read_and_little_else(study):
    lean = building._lean(study)
    for row in study.models.head(3).to_dicts():
        assert where_context(lean, row) == where_context(study, row)
        trees = [derivation_html(one.iq.explain(row["subject"]), study.benchmark_names) for one in (study, lean)]
        assert trees[0] == trees[1]
    whole, less = (len(pickle.dumps((one.iq.drawn, one.fit, one.people))) for one in (study, lean))
    assert less < 0.75 * whole
