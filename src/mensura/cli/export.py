"""``mensura export``: evidence, scores, abilities, human baselines, exams, answers and journals in others' formats."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from mensura import __version__, exam as exams, ledger
from mensura.cli.inputs import load_evidence
from mensura.cli.options import AddedScores, EvidencePath, arg, opt, outfile
from mensura.cli.output import console, print_note
from mensura.core.errors import MensuraError, check_choice, counted, listed_names
from mensura.core.files import write_csv, write_text
from mensura.core.folders import whole_folder
from mensura.evidence import Evidence, require_subject
from mensura.intake.shared_writing import (
    Description,
    ability_rows,
    benchmark_yaml,
    describe_folder,
    irw_table,
    metr_runs,
    result_yaml,
    score_records,
    score_rows,
    to_json,
)

THINGS = ("scores", "abilities", "baselines", "evidence")
FILE, RECORDING = "file", "recording"


def export(
    thing: Annotated[
        str, arg("scores, abilities, baselines, evidence, a fit, an exam, answers or a journal.", metavar="THING")
    ],
    to: Annotated[str, opt("every-eval-ever, hugging-face, human-results, metr, inspect, irw, mirt, tam, csv, file.")],
    out: Annotated[Path, outfile("Folder to write; for --to file or recording the file.")],
    model: Annotated[str | None, opt("Only the scores of this model.")] = None,
    url: Annotated[str | None, opt("Address at which the folder will be offered, for its description.")] = None,
    doi: Annotated[str | None, opt("DOI of the folder; adds a description by DataCite.")] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
) -> None:
    """Write results in the formats of the field, with a description of the folder for machines.

    Scores, abilities and human baselines become records of Every Eval Ever, scores of one model also results of Hugging
    Face, human baselines also the shared form of human results. An exam becomes an Inspect task or the description of a
    dataset. The items of a fit become parameters and an R script for mirt or TAM. Answers (tables or logs) become a
    table of the Item Response Warehouse or METR's runs. The evidence is written to a folder or .sqlite file, a journal
    to a .csv, .parquet or .html file, or as a recording.
    """
    ways, day = _ways(thing, model, evidence, add)
    if to not in ways:
        check_choice(f"{thing}: --to", to, list(ways))
    title = f"{Path(thing).name} in the format {to}"
    if to in (FILE, RECORDING, "inspect"):
        ways[to](out)
        if not out.is_dir():
            return
        with whole_folder(out, "description") as stage:
            _describe(out, stage, Description(f"Mensura: {title}", title, day, __version__, url, doi))
    else:
        with whole_folder(out, "export") as stage:
            content = ways[to](stage)
            about = f"{content[:1].upper()}{content[1:]}, exported by Mensura from human-anchored scales of AI."
            _describe(stage, stage, Description(f"Mensura: {title}", about, day, __version__, url, doi))
        console.print(f"wrote {content} to {out}")
    if url is None:
        print_note("croissant.json has relative addresses; give --url for the place where the folder will be offered")


def _ways(
    thing: str, model: str | None, evidence: Path | None, add: list[Path] | None
) -> tuple[dict[str, Callable[[Path], Any]], date]:
    """Return what can be written of a thing, a function of the folder by format, and the day of the thing."""
    if thing in THINGS:
        if thing == "evidence":
            return {FILE: lambda path: _write_evidence(path, evidence, add)}, date.today()
        if thing == "baselines":
            from mensura.evidence.store import EMBEDDED_EDITION

            day = date.fromisoformat(f"{EMBEDDED_EDITION}-01")
            own = None if evidence is None and not add else load_evidence(evidence, add)
            return {
                "every-eval-ever": partial(_write_people, own),
                "human-results": partial(_write_human_results, own),
            }, day
        loaded = load_evidence(evidence, add)
        rows = _with_ids(_score_rows(loaded, model) if thing == "scores" else _ability_rows(loaded, model), loaded)
        ways: dict[str, Callable[[Path], Any]] = {"every-eval-ever": lambda folder: _write_records(rows, folder)}
        ways |= {"hugging-face": lambda folder: _write_yaml(rows, folder)} if thing == "scores" else {}
        return ways, loaded.newest
    path, today = Path(thing), date.today()
    if thing == "example" or path.name == "exam.toml" or (path / "exam.toml").is_file():
        return {
            "inspect": lambda folder: _write_task(thing, folder),
            "hugging-face": lambda out: _write_card(thing, out),
        }, today
    if not path.exists():
        raise MensuraError(f"{thing}: no such file; expected {', '.join(THINGS)}, an exam, answers or a journal")
    if (path / "items.csv").is_file() and (path / "subjects.csv").is_file():
        return {to: partial(_write_items, path, to) for to in ("mirt", "tam", "csv")}, today
    if path.is_file() and _begins_with(path, b"SQLite format"):
        return {
            FILE: lambda target: _write_journal(path, target, recording=False),
            RECORDING: lambda target: _write_journal(path, target, recording=True),
        }, today
    return {"irw": lambda folder: _write_irw(path, folder), "metr": lambda folder: _write_runs(path, folder)}, today


def _begins_with(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _describe(folder: Path, stage: Path, description: Description) -> None:
    for file, text in describe_folder(folder, description).items():
        write_text(stage / file, text)


def _score_rows(evidence: Evidence, model: str | None) -> list[dict[str, Any]]:
    only = None if model is None else require_subject(evidence, model)
    rows = score_rows(evidence.tables()["scores"], evidence.models, evidence.sources, only)
    if not rows:
        raise MensuraError(f"export: {model} has no score; mensura evidence summary --models all lists them")
    return rows


def _with_ids(rows: list[dict[str, Any]], evidence: Evidence) -> list[dict[str, Any]]:
    """Add the release to an id that the tables of names have for another model, so that records come back."""
    find, days = evidence.names["model"].ident, dict(evidence.models.select("subject", "released").iter_rows())
    subjects = {row["subject"]: f"{row['provider']}/{row['subject']}" for row in rows}
    other = [subject for subject, written in subjects.items() if find(written) not in (None, subject)]
    return [
        row | ({"ident": f"{row['subject']}-{days[row['subject']]}"} if row["subject"] in other else {}) for row in rows
    ]


def _ability_rows(evidence: Evidence, model: str | None) -> list[dict[str, Any]]:
    from mensura.iq import kept_scores

    only = None if model is None else require_subject(evidence, model)
    return ability_rows(kept_scores(500)(evidence).composites, evidence.models, __version__, only)


def _write_records(rows: list[Mapping[str, Any]] | list[dict[str, Any]], folder: Path) -> str:
    records = score_records(rows, __version__)
    for name, record in records.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, to_json(record))
    return f"{counted(len(rows), 'result')} in {counted(len(records), 'record')}"


def _write_yaml(rows: list[dict[str, Any]], folder: Path) -> str:
    subjects = list(dict.fromkeys(str(row["subject"]) for row in rows))
    if len(subjects) > 1:
        raise MensuraError(f"--to hugging-face: for one model; give --model NAME, such as {listed_names(subjects[:1])}")
    primary = [{**row, "url": (row["url"] or "").split(" ")[0]} for row in rows if row["primary"]]
    path = folder / ".eval_results" / "mensura.yaml"
    path.parent.mkdir()
    write_text(path, result_yaml(primary))
    return counted(len(primary), "result")


def _write_people(evidence: Evidence | None, folder: Path) -> str:
    from mensura.baseline.human_results import graded_results, people_rows

    return _write_records(people_rows(graded_results(evidence)), folder)


def _write_human_results(evidence: Evidence | None, folder: Path) -> str:
    from mensura.baseline.human_results import graded_results, human_results_schema, to_human_results
    from mensura.evidence.passing import count_grades

    graded = graded_results(evidence)
    lines = [json.dumps(one, ensure_ascii=False) for one in to_human_results(graded)]
    write_text(folder / "human_results.jsonl", "\n".join(lines) + "\n")
    write_text(folder / "human_results.schema.json", to_json(human_results_schema()))
    return f"{counted(len(lines), 'human result')} (grades {count_grades(graded)})"


def _write_evidence(path: Path, evidence: Path | None, add: list[Path] | None) -> None:
    """Write the evidence; a store with a history goes to a folder with all of it: entries, updates, captures."""
    if evidence is not None and ledger.has_history(evidence) and not add:
        book = ledger.open_ledger(evidence)
        ledger.export_ledger(book, path)
        console.print(f"wrote {path} with {book.version().entry + 1} entries of history")
        return
    loaded = load_evidence(evidence, add)
    loaded.save(path)
    console.print(f"wrote {loaded.scores.height} scores of {loaded.models.height} models to {path}")


def _write_journal(journal: Path, target: Path, *, recording: bool) -> None:
    from mensura import llm

    console.print(f"wrote {llm.write_audit(journal, target, recording=recording)} rows to {target}")


def _write_task(exam: str, folder: Path) -> None:
    from mensura.exam.sitting import export_inspect

    export_inspect(exams.read_exam(exam), folder)
    console.print(f"wrote {folder}. Run: inspect eval {folder}/task.py --model NAME")


def _write_card(exam: str, folder: Path) -> str:
    read = exams.read_exam(exam)
    about = f"{len(read.scored)} items that people and models take alike"
    write_text(folder / "eval.yaml", benchmark_yaml(read.settings.title, about, read.folder.name))
    return f"the description of {read.settings.title}"


def _write_items(fit: Path, to: str, folder: Path) -> str:
    from mensura.responses.exchange import item_parameters, script

    table = item_parameters(fit)
    lacking = [
        why
        for why, rows in (
            ("TAM has no graded model", pl.col("type") == "graded"),
            ("the script for TAM has no guessing", pl.col("type") == "3PL"),
            ("the script for TAM has one dimension", pl.col("name") == "a2"),
        )
        if table.filter(rows).height
    ]
    if to == "tam" and lacking:
        raise MensuraError(f"{fit}: {', and '.join(lacking)}. Use --to mirt")
    write_csv(table, folder / "parameters.csv")
    if to != "csv":
        write_text(folder / f"{to}.R", script(to))
    return f"the parameters of {counted(table.filter(pl.col('item') != 'GROUP')['item'].n_unique(), 'item')}"


def _write_irw(path: Path, folder: Path) -> str:
    from mensura.intake.answers import WideAnswers, read_answers

    pieces = [table for one in _files(path) for table in read_answers(one)]
    long = pl.concat([frame for one in pieces for frame in (one.long() if isinstance(one, WideAnswers) else [one])])
    table = irw_table(long)
    write_csv(table, folder / f"{path.stem}.csv")
    return counted(table.height, "answer")


def _write_runs(path: Path, folder: Path) -> str:
    from mensura.intake.samples import read_samples

    runs = metr_runs([sample for one in _files(path) for sample in read_samples(one)])
    write_text(folder / "runs.jsonl", "".join(f"{json.dumps(run)}\n" for run in runs))
    return counted(len(runs), "run")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(one for one in path.rglob("*") if one.suffix.lower() in (".eval", ".json", ".jsonl", ".csv"))
    if not files:
        raise MensuraError(f"{path}: no answers in this folder; expected logs or tables")
    return files
