"""Building the report: evidence in, a folder of pages, data and JSON files out."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path

import polars as pl
from markupsafe import Markup

from mensura import __version__
from mensura.charts.theme import LABS, OTHER, THEMES, shape_of
from mensura.core.cache import find_kept, keep_results
from mensura.core.errors import MensuraError
from mensura.core.folders import whole_folder, written_state
from mensura.core.frames import neutral_cells
from mensura.core.processes import WORKERS, Processes
from mensura.core.results import set_computed
from mensura.evidence import Evidence
from mensura.intake.shared_writing import Description, describe_folder
from mensura.iq import COUNTS
from mensura.scale import Calibration
from mensura.site import api, editions as editing, pages
from mensura.site.cards import people_cards, search_entries
from mensura.site.compact import compact_inline
from mensura.site.page_writer import PageWriter, SharedParts, placed, write
from mensura.site.pages.data import study_parts
from mensura.site.pages.page import leader_marks
from mensura.site.pictures.first_screen import FirstScreen, screen_of
from mensura.site.revisions import EvidenceLog
from mensura.site.subjects import chance_layers, comparison_records, model_records, score_rows
from mensura.site.templating import EARLY, STATIC, page_sheet, style_sheet
from mensura.study.study import Study

Records = dict[str, api.JsonText]
_FOLDERS = tuple(f"{name}/" for name in ("api", "benchmarks", "charts", "data", "makers", "models", "share", "static"))
FEW_MODELS, MODELS_AT_ONCE, MOST_MODELS = 50, 200, 1750
"""Models below which no other process writes their pages, how many are worth a process of their own, and how many one
writes at most: this process, done with all other pages, writes the rest."""
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
    earlier: Sequence[editing.Edition] | None = None,
    method: str | None = None,
) -> pl.DataFrame:
    """Write the report to a folder and return its headline table.

    The files appear together and replace those of an earlier report; other files in the folder stay as they are.

    Parameters
    ----------
    evidence : Evidence
        What the report is about.
    out : Path
        The folder.
    lines : Calibration, optional
        The calibration that levels are read with, as :meth:`Study.run` takes it.
    advance : callable, optional
        Called once per page.
    address : str, optional
        Where the report will stand (``https://…/``), for canonical links, feeds, sitemap and shared pictures;
        without it they are relative.
    today : date, optional
        The day of the edition, the clock's when not given.
    log : EvidenceLog, optional
        The log of the store the evidence was read from, which says why things changed.
    earlier : sequence of Edition, optional
        The editions before this one, newest first; those that the folder remembers when not given.
    method : str, optional
        How IQs are scored (:func:`mensura.score_iq`); a banner on every page names another method than the
        default.

    Returns
    -------
    polars.DataFrame
        The ranked models with IQ, interval and capability.

    Raises
    ------
    MensuraError
        If the address is not one of the web, or the folder holds something else than a report.

    Examples
    --------
    >>> import mensura
    >>> from pathlib import Path
    >>> from mensura.site import build_report
    >>> build_report(mensura.load(), Path("report")).columns[:2]  # doctest: +SKIP
    ['rank', 'name']

    """
    if address and not address.startswith(("https://", "http://")):
        raise MensuraError(
            f"address: {address!r}; expected the address the report will stand at, such as https://example.org/"
        )
    address = address and address.rstrip("/") + "/"
    day = today or date.today()
    inputs = _inputs(evidence, lines, out, address, day, log, method)
    if earlier is None and (kept := find_kept("report", inputs)) and kept[0][0] == written_state(out, "report"):
        headline: pl.DataFrame = kept[0][1]  # nothing changed since this folder was written
        return headline
    with whole_folder(out, "report", certain=["index.html", *_FOLDERS]) as stage:
        _write_static(stage)  # first: a full disk is noticed before any work
        study = Study.open(evidence, lines, method, led=True)
        shared = {
            "navigation": pages.NAVIGATION,
            "more": pages.MORE,
            "providers": study.providers,
            "evidence": evidence,
        }
        shared |= {"evidence_day": editing.evidence_day(evidence), "today": day.isoformat(), "version": __version__}
        shared |= {"banner": study.scale_said, "published": study.iq.method == "published", "address": address}
        shared |= {"early": Markup(EARLY), "sheet": Markup(page_sheet())}
        with Processes() as processes:
            shares = _shares(study)
            lean = _lean(study) if shares else study
            own = slice(shares[-1][0].stop if shares else 0, None)
            models = [processes.submit(_write_models, lean, stage, shared, *share) for share in shares]
            writer = PageWriter(stage, shared, advance, leader_marks(study))
            before = editing.read_editions(out) if earlier is None else list(earlier)
            editions = editing.next_edition(study, before or editing.shipped_editions(study), day, log)
            named = list(pages.named_pages(study, editions))
            screen = screen_of(study)
            records = {subject: api.to_json(record) for subject, record in model_records(study).items()}
            _write_subjects(study, screen, records, stage)
            _write_tables(study, stage, address, day)
            _write_api(study, screen, records, stage)
            for page in sorted(named, key=lambda page: page.file != "index.html"):
                writer.add(page)
            single = pages.benchmark_pages(study), pages.maker_pages(study), pages.picture_pages(named)
            for page in chain(pages.model_pages(study, own), *single):
                writer.add(page)
                writer.write(page)  # made, written, forgotten
            for page in named:
                writer.write(page)
            others = [one.result() for one in models]
        if advance is not None:
            for _ in chain(*(listed for listed, *_ in others)):
                advance()
        write(editing.atom_feed(editions, address, day), stage, "feed.xml")
        write(editing.sitemap(writer.write_shared(others), address, day), stage, "sitemap.xml")
        write(editing.editions_json(editions), stage, "data", editing.FILE)
        charts = sorted(file.stem for file in (stage / "api" / api.VERSION / "charts").glob("*.json"))
        write(api.to_json(api.openapi_document(charts)), stage, "api", api.VERSION, "openapi.json")
    headline = study.ranked.select(HEADLINE)
    keep_results("report", [(inputs, (written_state(out, "report"), headline))])
    return headline


def _shares(study: Study) -> list[tuple[slice, str]]:
    """Return which models' pages each other process writes, and how names of its rules begin.

    One processor stays for this process, which writes all other pages meanwhile. None where so few models are quicker
    written here.
    """
    count = study.models.height
    if WORKERS == 1 or count < FEW_MODELS:
        return []
    others = min(WORKERS - 1, -(-count // MODELS_AT_ONCE))
    step = min(-(-count // others), MOST_MODELS)
    return [(slice(at, at + step), "abc"[at // step]) for at in range(0, count, step)][:others]


def _lean(study: Study) -> Study:
    """Return what pages of models read: without most draws, which take more memory than all else.

    What is made of the draws comes along. Draws of capability can be drawn again, as they are kept for speed alone.
    """
    _ = study.over_people, study.iq.trail
    drawn = replace(study.iq.drawn, dimensions=study.iq.drawn.dimensions[:0], below=None, above=None)
    lean, fit = copy(study), copy(study.fit)
    vars(fit).pop("own_draws", None)
    people = replace(study.people, fit=fit, draws=fit.laplace)
    return set_computed(lean, iq=set_computed(copy(study.iq), drawn=drawn), fit=fit, people=people)


def _write_models(study: Study, stage: Path, shared: Mapping[str, object], rows: slice, part: str) -> SharedParts:
    """Write the pages of some models, in another process."""
    writer = PageWriter(stage, shared, part=part)
    for page in pages.model_pages(study, rows):
        writer.add(page)
        writer.write(page)
    return writer.shared()


def _inputs(evidence: Evidence, lines: Calibration | None, out: Path, *settings: object) -> list[str]:
    """Return everything that a report depends on, for the cache."""
    parts = [repr(one.last if isinstance(one, EvidenceLog) else one) for one in (out.resolve(), *settings)]
    return [evidence.fingerprint, evidence.origin, *evidence.warnings, *map(repr, lines or ()), *parts]


def _write_static(out: Path) -> None:
    """Copy style, scripts and fonts, and write the colours of the makers."""
    for file in sorted(STATIC.rglob("*")):
        if file.is_file():
            shutil.copyfile(file, placed(out, "static", *file.relative_to(STATIC).parts))
    labs = {name: theme.labs for name, theme in THEMES.items()}
    shapes = [shape_of(lab) for lab in (*LABS, OTHER)]
    write(f"mensura.labs = {json.dumps([list(LABS), labs, shapes])};\n", out, "static", "themes.js")
    write(style_sheet("fonts/"), out, "static", "style.css")
    write(EARLY, out, "static", "early.js")


def _write_subjects(study: Study, screen: FirstScreen, records: Records, out: Path) -> None:
    """Write what scripts read on demand, as scripts: a page opened from a folder may load nothing else."""
    parts: dict[str, Callable[[Study], object]] = {
        "models": lambda _: api.mapping_json(records),
        "compare": comparison_records,
        "chances": chance_layers,
        "scores": score_rows,
        "people": people_cards,
        "search": search_entries,
        "months": lambda _: screen.record(),
        "jagged": lambda _: {name: compact_inline(drawn) for name, drawn in screen.jagged.record().items()},
    }
    for name, payload in parts.items():  # one after the other: the largest has every pair of models
        write(f"mensura.{name} = {api.script_json(payload(study))};\n", out, "data", f"{name}.js")


def _write_tables(study: Study, out: Path, address: str, day: date) -> None:
    """Offer every evidence table as CSV, Parquet and JSON, and describe them for machines."""
    for name, frame in study.evidence.tables().items():
        neutral_cells(frame).write_csv(placed(out, "data", f"{name}.csv"))
        frame.write_parquet(placed(out, "data", f"{name}.parquet"))
        write(api.to_json(frame.to_dicts()), out, "data", f"{name}.json")
    about = "Scores of AI models and groups of people on benchmarks, each with its source, and the tables beside them."
    url = f"{address}data" if address else None
    described = Description("Mensura evidence", about, day, __version__, url)
    for name, text in describe_folder(out / "data", described).items():
        write(text, out, "data", name)


def _write_api(study: Study, screen: FirstScreen, records: Records, out: Path) -> None:
    lead = None if study.lead is None else study.lead.to_dict(study.evidence)
    ladders = {one.benchmark: one.to_dict() for one in study.iq.matrix.ladders}
    people = study.evidence.human_references
    places = ("rank", "rank_low", "rank_high", "subject", "status", *COUNTS)
    facts = ("benchmark", "name", "dimension", "unit", "models", "difficulty", "slope")
    rankings = (
        {name: row[name] for name in places}
        | {"iq": api.ranged(row["iq"], row["iq_low"], row["iq_high"])}
        | {name: row[name] for name in ("p_first", "well_measured")}
        for row in study.ranked.iter_rows(named=True)
    )
    benchmarks = (
        {name: row[name] for name in facts}
        | {"ladder": ladders.get(row["benchmark"])}
        | {"human_references": people.filter(benchmark=row["benchmark"]).drop("benchmark").to_dicts()}
        for row in study.benchmarks.iter_rows(named=True)
    )
    months = (
        {"month": f"{month.start:%Y-%m}", "ranked": len(month.subjects), "leader": month.subjects[0]}
        | {"p_first": {subject: chance for subject, chance in month.by_chance if chance > 0}}
        for month in screen.months
        if month.subjects
    )
    files = {
        "models": api.listing("models", records.values(), study.scale_said),
        "rankings": api.listing("rankings", rankings, study.scale_said, lead=lead),
        "benchmarks": api.listing("benchmarks", benchmarks),
        "months": api.listing("months", months, study.scale_said),
        "methodology": api.listing("parts", study_parts(study)),
        "schema": api.to_json(api.SCHEMAS),
    }
    for name, text in files.items():
        write(text, out, "api", api.VERSION, f"{name}.json")
