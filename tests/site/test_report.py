"""The report as files: pages, shared scripts, downloads, and the interface for programs with its schema."""

import json
import shutil
from dataclasses import replace

import jsonschema
import polars as pl
import pytest
from mensura.site.library import bundled_library

import mensura
from mensura.calibration import chosen_lines
from mensura.site import build_report, pages
from mensura.site.api import SCHEMAS

LISTINGS = ["models", "rankings", "benchmarks", "methodology"]


@pytest.mark.parametrize("name", LISTINGS)
def test_interface_files_follow_their_published_schema(report, name):
    payload = json.loads((report / f"api/v1/{name}.json").read_text(encoding="utf-8"))
    schema = json.loads((report / "api/v1/schema.json").read_text(encoding="utf-8"))[name]
    jsonschema.validate(payload, schema)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_chart_has_a_data_file(report):
    pages = [page.read_text(encoding="utf-8") for page in report.glob("*.html")]
    named = {part.split('"')[0] for text in pages for part in text.split('<figure data-chart="')[1:]}
    assert len(named) > 50
    for name in named:
        jsonschema.validate(
            json.loads((report / f"api/v1/charts/{name}.json").read_text(encoding="utf-8")), SCHEMAS["chart"]
        )


def test_every_model_has_a_page_and_every_link_leads_somewhere(report):
    for subject in mensura.load().models["subject"]:
        assert (report / f"models/{subject}.html").is_file()
    broken = set()
    for page in [*report.glob("*.html"), report / "models" / "gpt-5.5.html"]:
        text = page.read_text(encoding="utf-8")
        for part in text.split('href="')[1:]:
            target = part.split('"')[0].split("#")[0]
            if target and not target.startswith("data:") and not (page.parent / target).exists():
                broken.add((page.name, target))
    assert broken == set()


def test_downloads_are_the_evidence(report):
    for suffix, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        assert read(report / f"data/scores.{suffix}").height == mensura.load().scores.height
    assert len(json.loads((report / "data/models.json").read_text(encoding="utf-8"))) == 138


def test_rankings_are_the_composites(report):
    ranked = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["rankings"]
    assert [row["rank"] for row in ranked] == list(range(1, len(ranked) + 1))
    models = json.loads((report / "api/v1/models.json").read_text(encoding="utf-8"))["models"]
    scored = mensura.score_iq(mensura.load()).shown
    assert {row["subject"]: row["iq"]["value"] for row in ranked} == dict(scored.select("subject", "iq").iter_rows())
    overview = (report / "index.html").read_text(encoding="utf-8")
    left_out = sum(row["iq"] is not None and row["measured"] < 8 for row in models)
    assert f"{left_out} models were measured on less than 25% of the benchmarks and are not ranked" in overview
    assert {row["subject"]: row["measured"] for row in ranked} == dict(scored.select("subject", "measured").iter_rows())


def test_no_page_asks_an_outside_host_for_anything(report):
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert 'rel="stylesheet" href="http' not in text


def test_report_command_prints_the_headline_table(report, printed):
    assert printed["report"] == str(report / "index.html")
    ranked = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["rankings"]
    assert [row["rank"] for row in printed["headline"]] == [row["rank"] for row in ranked]


@pytest.fixture
def short(monkeypatch):
    """A report of two pages, which takes a moment to build."""
    monkeypatch.setattr("mensura.site.report.pages", lambda study: iter([pages.method(), pages.data(study)]))


def test_a_second_report_replaces_the_first_and_nothing_else(report, short, tmp_path):
    out = tmp_path / "report"
    shutil.copytree(report, out)
    (out / "models" / "notes.txt").write_text("mine", encoding="utf-8")
    build_report(mensura.load(), out)
    kept = {path.relative_to(out).as_posix() for path in out.rglob("*.html")}
    assert kept == {"method.html", "data.html"}
    assert (out / "models" / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (out / "static" / "vega.js").read_bytes() == (report / "static" / "vega.js").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_foreign_page_in_the_way_is_refused_and_kept(mensura_command, short, tmp_path):
    (tmp_path / "method.html").write_text("mine", encoding="utf-8")
    run = mensura_command("report", "--out", tmp_path)
    assert run.code == 2
    assert "method.html: exists and was not written by mensura" in run.err
    assert [path.name for path in tmp_path.iterdir()] == ["method.html"]


def test_a_build_that_fails_leaves_nothing_behind(monkeypatch, tmp_path):
    def fail(evidence):
        raise ZeroDivisionError

    monkeypatch.setattr("mensura.site.report.Study.open", fail)
    with pytest.raises(ZeroDivisionError):
        build_report(mensura.load(), tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


def test_a_library_that_cannot_be_bundled_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr("mensura.site.library._BUNDLE", "raise SystemExit('no such library')")
    with (
        pytest.raises(mensura.MensuraError, match="could not be bundled: no such library"),
        bundled_library(tmp_path / "vega.js"),
    ):
        pass


def test_the_converter_reads_levels_with_the_calibration_asked_for(tmp_path, study):
    file = tmp_path / "bases.csv"
    file.write_text("dimension,slope,intercept\nstamina,0.5,0.25\n", encoding="utf-8")
    shown = pages.human(replace(study, lines=chosen_lines(str(file)))).context["calibration"]
    assert [(line.dimension, line.slope, line.intercept) for line in shown] == [("stamina", 0.5, 0.25)]
    named = {line.dimension: line.source for line in pages.human(study).context["calibration"]}
    assert (named["MCt"], "Table 16" in named["volume"]) == ("open pool", True)
