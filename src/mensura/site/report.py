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
from mensura.files import atomic_path, write_csv, write_text
from mensura.site.api import SCHEMAS, VERSION, listing, ranged, to_json
from mensura.site.library import Library
from mensura.site.method import method_parts
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
    "scored_dimensions",
    "status",
    "capability",
    "released",
)


def build_report(evidence: Evidence, out: Path, *, advance: Callable[[], object] | None = None) -> pl.DataFrame:
    """Write the report to the folder ``out`` and return its headline table; ``advance`` is called once per page."""
    library = Library(out / "static" / "vega.js")
    study = Study.run(evidence)
    _write_static(out)
    _write_subjects(study, out)
    _write_tables(study, out)
    _write_api(study, out)
    environment = _environment()
    shared = {
        "navigation": [{"file": file, "title": title} for file, title in NAVIGATION],
        "providers": study.providers,
        "evidence": evidence,
        "version": __version__,
    }
    for page in pages(study):
        _write_page(page, environment, shared, out)
        if advance is not None:
            advance()
    library.finish()
    return study.models.drop_nulls("iq").select(HEADLINE)


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
    write_text(out / page.file, html)
    for figure in page.figures:
        points = figure.spec.get("datasets", {}).get("points", [])
        chart = {"name": figure.name, "title": figure.title, "caption": figure.caption, "points": points}
        write_text(out / "api" / VERSION / "charts" / f"{figure.name}.json", to_json({"version": VERSION, **chart}))


def _write_static(out: Path) -> None:
    """Copy style and scripts, and write the themes."""
    for file in sorted(_STATIC.iterdir()):
        with atomic_path(out / "static" / file.name) as part:
            shutil.copyfile(file, part)
    themes = {name: config(theme) for name, theme in THEMES.items()}
    write_text(out / "static" / "themes.js", f"window.mensura.themes = {json.dumps(themes)};\n")


def _write_subjects(study: Study, out: Path) -> None:
    write_text(out / "data" / "models.js", f"window.mensura.models = {to_json(model_records(study))};\n")
    write_text(out / "static" / "groups.js", f"window.mensura.groups = {to_json(group_records(study))};\n")


def _write_tables(study: Study, out: Path) -> None:
    """Offer every evidence table as CSV, Parquet and JSON."""
    for name, frame in study.evidence.tables().items():
        write_csv(frame, out / "data" / f"{name}.csv")
        with atomic_path(out / "data" / f"{name}.parquet") as part:
            frame.write_parquet(part)
        write_text(out / "data" / f"{name}.json", to_json(frame.to_dicts()))


def _write_api(study: Study, out: Path) -> None:
    ranked = study.models.drop_nulls("iq").iter_rows(named=True)
    ladders = {
        row.pop("benchmark"): row for row in study.evidence.ladders.filter(set="published").drop("set").to_dicts()
    }
    people = study.evidence.human_references
    files = {
        "models": listing("models", model_records(study).values()),
        "rankings": listing(
            "rankings",
            (
                {
                    **{key: row[key] for key in ("rank", "rank_low", "rank_high", "subject", "status")},
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
        write_text(out / "api" / VERSION / f"{name}.json", text)
