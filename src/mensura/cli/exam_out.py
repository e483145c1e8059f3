"""What ``mensura exam report`` reads and writes: answers of both kinds; tables, the checklist and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mensura.cli.output import notices, print_json, provenance, write_settings
from mensura.core.errors import MensuraError
from mensura.core.folders import whole_folder

if TYPE_CHECKING:
    import polars as pl

    from mensura.exam import Exam
    from mensura.exam.report import ExamReport

WRITER = "exam report"


def write_report(report: ExamReport, *, out: Path | None, as_json: bool) -> bool:
    """Write a report's folder where asked; true when JSON was printed."""
    from mensura.core.frames import neutral_cells
    from mensura.exam.checklist import checklist, checklist_text

    tables = {**report.tables(), "checklist": checklist(report)}
    if out is not None:
        from mensura.site.exam_page import exam_page

        with whole_folder(out, WRITER) as stage:
            for name, table in tables.items():
                neutral_cells(table).write_csv(stage / f"{name}.csv")
            neutral_cells(report.responses).write_csv(stage / "responses.csv")
            (stage / "checklist.md").write_text(checklist_text(report), encoding="utf-8")
            (stage / "report.html").write_text(exam_page(report), encoding="utf-8")
            write_settings(stage, WRITER)
        notices.print(
            f"wrote report.html, checklist.md, {', '.join(f'{name}.csv' for name in tables)} to {out}", style="dim"
        )
    if as_json:
        rows = {name: table.to_dicts() for name, table in tables.items()}
        print_json({**rows, "warnings": list(report.warnings), "provenance": provenance()})
    return as_json


def gather(exam: Exam, sources: list[Path]) -> tuple[pl.DataFrame, pl.DataFrame, tuple[str, ...]]:
    """Return the outcomes of people and models, the takers among people, and notes about the store."""
    import polars as pl

    from mensura.exam import AnswerStore
    from mensura.exam.gathering import OUTCOMES, TAKERS, model_outcomes, people_outcomes, people_takers

    stores = [source for source in sources if source.is_file() and source.suffix != ".csv"]
    if len(stores) > 1:
        raise MensuraError(f"exam report: {len(stores)} stores; give one store and any number of folders")
    names = [question.name for question in exam.settings.questions]
    notes: tuple[str, ...] = ()
    parts, takers = [pl.DataFrame(schema=OUTCOMES)], pl.DataFrame(schema=TAKERS | dict.fromkeys(names, pl.String))
    for store in stores:
        answers = AnswerStore(store, exam)
        parts.append(people_outcomes(exam, answers))
        takers = people_takers(exam, answers, parts[-1])
        notes = answers.notes
        answers.close()
    parts += [model_outcomes(exam, source) for source in sources if source not in stores]
    return pl.concat(parts), takers, notes
