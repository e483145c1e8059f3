"""Building the report: evidence in, a folder of pages, data and JSON files out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import jinja2
import polars as pl

from mensura import __version__
from mensura.charts.theme import THEMES, config
from mensura.evidence import Evidence, slug
from mensura.folders import whole_folder
from mensura.iq import COUNTS
from mensura.site.api import SCHEMAS, VERSION, listing, ranged, to_json
from mensura.site.library import bundled_library
from mensura.site.method import method_parts
from mensura.site.openapi import openapi_document
from mensura.site.pages import NAVIGATION, Page, pages
from mensura.site.study import Study
from mensura.site.subjects import group_records, model_records

_STATIC = Path(__file__).parent / "static"
HEADLINE = (
    "rank",
    "name",
    "provider",
    "iq",
    "iq_low",
    "iq_high",
    "published",
    "measured",
    "inherited",
    "estimated",
    "scored_dimensions",
    "status",
    "capability",
    "released",
)


def build_report(evidence: Evidence, out: Path, *, advance: Callable[[], object] | None = None) -> pl.DataFrame:
    """Write the report to the folder ``out`` and return its headline table; ``advance`` is called once per page.

    The files appear together and replace those of an earlier report; other files in the folder stay as they are.
    """
    with whole_folder(out, "report", certain=["index.html"]) as stage, bundled_library(stage / "static" / "vega.js"):
        study = Study.run(evidence)
        _write_static(stage)
        _write_subjects(study, stage)
        _write_tables(study, stage)
        _write_api(study, stage)
        environment = _environment()
        shared = {
            "navigation": [{"file": file, "title": title} for file, title in NAVIGATION],
            "providers": study.providers,
            "evidence": evidence,
            "version": __version__,
        }
        for page in pages(study):
            _write_page(page, environment, shared, stage)
            if advance is not None:
                advance()
        charts = sorted(file.stem for file in (stage / "api" / VERSION / "charts").glob("*.json"))
        _write(to_json(openapi_document(charts)), stage, "api", VERSION, "openapi.json")
    return study.ranked.select(HEADLINE)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mensura.site"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["slug"] = slug
    return environment


def _write_page(page: Page, environment: jinja2.Environment, shared: dict[str, object], out: Path) -> None:
    html = environment.get_template(page.template).render(
        **shared,
        **page.context,
        title=page.title,
        summary=page.summary,
        root=page.root,
        current=page.file,
        scripts=page.scripts,
        charts=page.charts,
    )
    _write(html, out, page.file)
    for figure in page.figures:
        points = figure.spec.get("datasets", {}).get("points", [])
        chart = {"name": figure.name, "title": figure.title, "caption": figure.caption, "points": points}
        _write(to_json({"version": VERSION, **chart}), out, "api", VERSION, "charts", f"{figure.name}.json")


def _write_static(out: Path) -> None:
    """Copy style and scripts, and write the themes."""
    for file in _STATIC.iterdir():
        shutil.copyfile(file, _placed(out, "static", file.name))
    themes = {name: config(theme) for name, theme in THEMES.items()}
    _write(f"window.mensura.themes = {json.dumps(themes)};\n", out, "static", "themes.js")


def _write_subjects(study: Study, out: Path) -> None:
    _write(f"window.mensura.models = {to_json(model_records(study))};\n", out, "data", "models.js")
    _write(f"window.mensura.groups = {to_json(group_records(study))};\n", out, "static", "groups.js")


def _write_tables(study: Study, out: Path) -> None:
    """Offer every evidence table as CSV, Parquet and JSON."""
    for name, frame in study.evidence.tables().items():
        frame.write_csv(_placed(out, "data", f"{name}.csv"))
        frame.write_parquet(_placed(out, "data", f"{name}.parquet"))
        _write(to_json(frame.to_dicts()), out, "data", f"{name}.json")


def _write_api(study: Study, out: Path) -> None:
    ranked = study.ranked.iter_rows(named=True)
    ladders = {one.benchmark: one.to_dict() for one in study.iq.matrix.ladders}
    people = study.evidence.human_references
    files = {
        "models": listing("models", model_records(study).values()),
        "rankings": listing(
            "rankings",
            (
                {
                    **{key: row[key] for key in ("rank", "rank_low", "rank_high", "subject", "status", *COUNTS)},
                    "iq": ranged(row["iq"], row["iq_low"], row["iq_high"]),
                }
                for row in ranked
            ),
        ),
        "benchmarks": listing(
            "benchmarks",
            (
                {
                    **{
                        key: row[key]
                        for key in ("benchmark", "name", "dimension", "unit", "models", "difficulty", "slope")
                    },
                    "ladder": ladders.get(row["benchmark"]),
                    "human_references": people.filter(benchmark=row["benchmark"]).drop("benchmark").to_dicts(),
                }
                for row in study.benchmarks.iter_rows(named=True)
            ),
        ),
        "methodology": listing("parts", method_parts()),
        "schema": to_json(SCHEMAS),
    }
    for name, text in files.items():
        _write(text, out, "api", VERSION, f"{name}.json")


def _write(text: str, folder: Path, *parts: str) -> None:
    _placed(folder, *parts).write_text(text, encoding="utf-8")


def _placed(folder: Path, *parts: str) -> Path:
    """Return a path inside the folder, its own folder made."""
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
