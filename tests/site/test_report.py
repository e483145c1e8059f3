"""The report as files: pages, shared scripts, downloads, and the interface for programs with its schema."""

import json

import jsonschema
import polars as pl
import pytest

import mensura
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
    scored = mensura.score_iq(mensura.load()).composites
    assert {row["subject"]: row["iq"]["value"] for row in ranked} == dict(
        scored.drop_nulls("iq").select("subject", "iq").iter_rows()
    )


def test_no_page_asks_an_outside_host_for_anything(report):
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert 'rel="stylesheet" href="http' not in text


def test_report_command_runs_again_over_its_own_folder(report, mensura_command):
    run = mensura_command("report", "--out", report, "--json")
    assert run.code == 0, run.err
    printed = json.loads(run.out)
    assert printed["report"].endswith("index.html")
    ranked = json.loads((report / "api/v1/rankings.json").read_text(encoding="utf-8"))["rankings"]
    assert [row["rank"] for row in printed["headline"]] == [row["rank"] for row in ranked]
    assert not list(report.rglob("*.part"))
