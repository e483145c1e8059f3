"""Building the report: evidence in, a folder of pages, data and JSON files out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import jinja2
import polars as pl
from markupsafe import Markup

from mensura import __version__
from mensura.charts.theme import LABS, THEMES, config
from mensura.errors import MensuraError
from mensura.evidence import Evidence, slug
from mensura.folders import whole_folder
from mensura.iq import COUNTS
from mensura.scale import Calibration
from mensura.site import units
from mensura.site.api import SCHEMAS, VERSION, listing, ranged, script_json, to_json
from mensura.site.drawing import draw_share_card, resolve
from mensura.site.drawing.canvas import palette_css
from mensura.site.editions import (
    FILE,
    Edition,
    atom_feed,
    editions_json,
    evidence_day,
    feed_entries,
    json_feed,
    next_edition,
    read_editions,
    sitemap,
)
from mensura.site.links import first_link
from mensura.site.method import method_parts
from mensura.site.openapi import openapi_document
from mensura.site.pages import MORE, NAVIGATION, Page, pages
from mensura.site.pages.data import snapshot_sentence
from mensura.site.pictures import Figure
from mensura.site.policy import policy_part
from mensura.site.revisions import EvidenceLog
from mensura.site.studio import SHARE_SCALE, Studio, open_studio, page_svg, static_job
from mensura.site.study import Study
from mensura.site.subjects import chance_layers, comparison_records, model_records, score_rows

_STATIC = Path(__file__).parent / "static"
MOST_CARDS = 500
"""Pages that have a picture of their own for shared links, the first ones; a further page has that of the first."""
HEADLINE = (
    *("rank", "name", "provider", "iq", "iq_low", "iq_high", "published", "measured", "inherited", "estimated"),
    *("scored_dimensions", "status", "capability", "released"),
)


def build_report(
    evidence: Evidence,
    out: Path,
    *,
    lines: Calibration | None = None,
    advance: Callable[[], object] | None = None,
    address: str = "",
    today: date | None = None,
    log: EvidenceLog | None = None,
    earlier: Sequence[Edition] | None = None,
) -> pl.DataFrame:
    """Write the report to the folder ``out`` and return its headline table; ``advance`` is called once per page.

    ``lines``: the calibration that levels are read with, as :meth:`Study.run` takes it.

    The files appear together and replace those of an earlier report; other files in the folder stay as they are.
    ``address``: where the report will stand (``https://…/``), for canonical links, feeds, sitemap and shared pictures;
    without it they are relative. ``today``: the day of the edition, the clock's when not given. ``log``: the log of the
    store the evidence was read from, which says why things changed. ``earlier``: the editions before this one, newest
    first; those that the folder remembers when not given.
    """
    if address and not address.startswith(("https://", "http://")):
        raise MensuraError(
            f"address: {address!r}; expected the address the report will stand at, such as https://example.org/"
        )
    address = address and address.rstrip("/") + "/"
    day = today or date.today()
    with whole_folder(out, "report", certain=["index.html"]) as stage, open_studio() as studio:
        library = studio.order({"kind": "bundle"}, ".js")
        study = Study.open(evidence, lines)
        editions = next_edition(study, read_editions(out) if earlier is None else list(earlier), day, log)
        made = list(pages(study, editions))
        drawn = _order_drawings(made, studio)
        cards = {page.file: _order_card(page, studio) for page in made[:MOST_CARDS]}
        _write_static(stage)
        _write_subjects(study, stage)
        _write_tables(study, stage)
        _write_api(study, stage)
        _write_feeds(study, editions, made, stage, address, day)
        shared = {
            "navigation": NAVIGATION,
            "more": MORE,
            "providers": study.providers,
            "evidence": evidence,
            "evidence_day": evidence_day(evidence),
            "today": day.isoformat(),
            "address": address,
            "version": __version__,
        }
        studio.finish()
        svgs = {name: page_svg(file.read_text(encoding="utf-8")) for name, file in drawn.items()}
        environment = _environment(svgs)
        written: set[str] = set()
        for page in made:
            _write_page(page, environment, shared, stage, _card_path(page if page.file in cards else made[0]))
            if page.file in cards:
                shutil.copyfile(cards[page.file], _placed(stage, *_card_path(page).split("/")))
            for figure in page.figures:
                if figure.name not in written:
                    _write_figure(figure, svgs, stage)
                    written.add(figure.name)
            if advance is not None and not page.file.startswith("charts/"):
                advance()
        shutil.copyfile(library, _placed(stage, "static", "vega.js"))
        charts = sorted(file.stem for file in (stage / "api" / VERSION / "charts").glob("*.json"))
        _write(to_json(openapi_document(charts)), stage, "api", VERSION, "openapi.json")
    return study.ranked.select(HEADLINE)


def _order_drawings(made: list[Page], studio: Studio) -> dict[str, Path]:
    """Order the static drawing of every chart, and return where each will lie."""
    figures = {figure.name: figure for page in made for figure in page.figures if figure.spec is not None}
    return {name: studio.order(static_job(figure.spec or {}, figure.width), ".svg") for name, figure in figures.items()}


def _order_card(page: Page, studio: Studio) -> Path:
    """Order the picture that stands for a page where its link is shared."""
    figure, lines = page.shared
    svg = draw_share_card(page.title, figure, lines or (page.summary,))
    return studio.order({"kind": "png", "svg": svg, "scale": SHARE_SCALE}, ".png")


def _card_path(page: Page) -> str:
    return f"share/{page.file.removesuffix('.html')}.png"


def _environment(svgs: dict[str, str]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mensura.site"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        slug=slug,
        digits=units.digits,
        show=units.show,
        show_range=units.show_range,
        dollars=units.dollars,
        rarity=units.rarity,
    )
    environment.globals["drawing_of"] = lambda figure: _drawing(figure, svgs)
    environment.filters["first_link"] = first_link
    return environment


def _drawing(figure: Figure, svgs: dict[str, str]) -> Markup:
    """Return the picture as it stands in the page before any script runs."""
    if figure.drawing is not None:
        return figure.drawing.html
    return Markup(svgs.get(figure.name, ""))


def _write_page(page: Page, environment: jinja2.Environment, shared: dict[str, object], out: Path, card: str) -> None:
    html = environment.get_template(page.template).render(
        **shared,
        **page.context,
        page=page,
        title=page.title,
        summary=page.summary,
        root=(str(shared["address"]) or page.root) if page.file == "404.html" else page.root,
        current=page.file,
        scripts=page.scripts,
        card=card,
    )
    _write(html, out, page.file)


def _write_figure(figure: Figure, svgs: dict[str, str], out: Path) -> None:
    """Write what the frame of a picture offers: SVG, CSV, JSON, and the specification for the drawing library."""
    chart = {"name": figure.name, "title": figure.title, "caption": figure.caption, "points": figure.points}
    _write(to_json({"version": VERSION, **chart}), out, "api", VERSION, "charts", f"{figure.name}.json")
    columns, rows = figure.table
    _write(_csv(columns, rows), out, "charts", f"{figure.name}.csv")
    svg = svgs.get(figure.name) if figure.drawing is None else str(figure.drawing.wide)
    if svg:
        _write(resolve(svg), out, "charts", f"{figure.name}.svg")
    if figure.spec is not None:
        given = ",".join(script_json(part) for part in (figure.name, figure.spec, figure.shown_columns, figure.rows))
        _write(f"mensura.define({given});\n", out, "charts", f"{figure.name}.js")


def _csv(columns: list[str], rows: list[list[object]]) -> str:
    if not columns:
        return "\n"
    cells = [[_cell(cell) for cell in row] for row in rows]
    return pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String), orient="row").write_csv()


def _cell(value: object) -> str | None:
    """Return a value of a picture's table as text, numbers to six digits."""
    return units.digits(value) if isinstance(value, float) else None if value is None else str(value)


def _write_static(out: Path) -> None:
    """Copy style and scripts, and write the themes."""
    for file in _STATIC.iterdir():
        shutil.copyfile(file, _placed(out, "static", file.name))
    themes = {name: config(theme) for name, theme in THEMES.items()}
    labs = {name: theme.labs for name, theme in THEMES.items()}
    _write(
        f"mensura.themes = {json.dumps(themes)};\nmensura.labs = {json.dumps([list(LABS), labs])};\n",
        out,
        "static",
        "themes.js",
    )
    sheet = _placed(out, "static", "style.css")
    sheet.write_text(palette_css() + sheet.read_text(encoding="utf-8"), encoding="utf-8")


def _write_subjects(study: Study, out: Path) -> None:
    """Write what scripts read on demand, as scripts: a page opened from a folder may load nothing else."""
    parts = {
        "models": model_records(study),
        "compare": comparison_records(study),
        "chances": chance_layers(study),
        "scores": score_rows(study),
    }
    for name, payload in parts.items():
        _write(f"mensura.{name} = {script_json(payload)};\n", out, "data", f"{name}.js")


def _write_tables(study: Study, out: Path) -> None:
    """Offer every evidence table as CSV, Parquet and JSON."""
    for name, frame in study.evidence.tables().items():
        frame.write_csv(_placed(out, "data", f"{name}.csv"))
        frame.write_parquet(_placed(out, "data", f"{name}.parquet"))
        _write(to_json(frame.to_dicts()), out, "data", f"{name}.json")


def _write_feeds(
    study: Study,
    editions: list[Edition],
    made: list[Page],
    out: Path,
    address: str,
    day: date,
) -> None:
    entries = feed_entries(study, editions)
    _write(atom_feed(entries, address, day), out, "feed.xml")
    _write(json_feed(entries, address), out, "feed.json")
    _write(sitemap([page.file for page in made if page.listed], address, day), out, "sitemap.xml")
    _write(editions_json(editions), out, "data", FILE)


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
                    "measured_rank": row["measured_rank"],
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
        "methodology": listing("parts", method_parts(snapshot_sentence(study), policy_part(study.evidence))),
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
