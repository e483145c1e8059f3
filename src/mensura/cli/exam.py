"""``mensura exam``: one test for people in a browser and for models, and the report about both."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl

from mensura import exam as exams
from mensura.cli.asking import Asking, AskingSettings, DryRun, MaxCost, Models
from mensura.cli.findings import say_comparison
from mensura.cli.options import ItemColumns, Json, Out, arg, check_output, inarg, infile, opt, outfile
from mensura.cli.output import console, emit, given_options, notices, print_note, print_notes, waiting
from mensura.cli.report import Host, HostNames, Port, read_secret
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError
from mensura.intake.tables import read_table

if TYPE_CHECKING:
    from mensura.exam.report import ExamReport

ExamPath = Annotated[str, arg("Folder of the exam, its exam.toml, or 'example'.", metavar="EXAM")]
StorePath = Annotated[Path, outfile("File with the answers of people.", "--store")]
NewFolder = Annotated[Path, arg("Folder to write.", file_okay=False, callback=check_output)]


LONGEST_REPLY = 4096
"""Tokens that a model's reply to an item may have."""


def new(
    folder: NewFolder,
    source: Annotated[
        Path | None, infile("Make it from a pool with texts, an Inspect .eval or harness .jsonl.", "--from")
    ] = None,
    columns: ItemColumns = None,
) -> None:
    """Write a small working exam to start from, or make one from items that exist."""
    from mensura.exam.file import exam_from, new_exam

    if source is None:
        if columns is not None:
            raise MensuraError("--map: needs --from SOURCE, whose columns it names")
        exam = new_exam(folder)
        then = f"Edit exam.toml and items.csv, then: mensura exam check {folder}"
        console.print(f"wrote {folder}: {len(exam.scored)} items. {then}")
        return
    exam, left = exam_from(source, folder, columns)
    console.print(f"wrote {folder}: {len(exam.scored)} items. Edit consent and instructions in exam.toml")
    print_notes(f"left out: {reason}" for reason in left[:10])
    if len(left) > 10:
        print_note(f"… and {len(left) - 10} more left out")


def check(exam: ExamPath) -> None:
    """Check an exam and report every error at once."""
    read, faults = exams.inspect_exam(exam)
    if read is None:
        raise MensuraError("\n".join([f"{exam}: {len(faults)} errors. Correct them:", *faults]))
    console.print(
        f"{read.settings.title}: {len(read.scored)} items, {read.per_person} per person. Attention checks: "
        f"{len(read.checks)}. Questions about the person: {len(read.settings.questions)}. No errors."
    )
    print_notes(read.warnings, "warning")


def serve(
    exam: ExamPath,
    store: StorePath,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    organiser_secret_file: Annotated[Path | None, infile("File with the secret that opens /organiser.")] = None,
    tokens: Annotated[Path | None, infile("Invitations, one per line; each lets one person in (?token=…).")] = None,
    names: HostNames = None,
    trusted_proxy: Annotated[
        list[str] | None, opt("Address or network of a proxy whose X-Forwarded-For is believed; repeatable.")
    ] = None,
) -> None:
    """Give the exam to people in a browser."""
    secret = read_secret("exam serve", host, names, organiser_secret_file)
    from mensura.serve.exam_app import serve_exam

    lines = [] if tokens is None else tokens.read_text(encoding="utf-8").splitlines()
    invitations = [line.strip() for line in lines if line.strip()]
    if tokens is not None and not invitations:
        raise MensuraError(f"{tokens}: no invitation in it; write one per line, or leave --tokens out")
    notices.print(f"http://{host}:{port}/ (Ctrl-C ends; answers are kept in {store})")
    with waiting.paused():
        access = {"secret": secret, "tokens": invitations, "proxies": trusted_proxy or []}
        serve_exam(exams.read_exam(exam), store, host=host, port=port, names=names or [], **access)


@takes(AskingSettings)
def sit(
    exam: ExamPath,
    repeats: Annotated[int, opt("Sittings, each with its own order of items and options.", min=1)] = 1,
    pictures: Annotated[bool, opt("The model takes pictures.")] = False,
    model: Models = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Let a model sit the exam: the same items, instructions and scorer."""
    from mensura.exam.sitting import questions_of, sit_exam

    read = exams.read_exam(exam)
    rare = read_settings(settings, AskingSettings)
    asking = Asking(model, max_cost, dry_run, rare).one(out, LONGEST_REPLY)
    if asking.dry_run:
        asked = [question for *_, question in questions_of(read, repeats, pictures=pictures)]
        asking.print_estimate([question for question in asked if question is not None])
        return
    with asking.open("sitting") as asker:
        sat = sit_exam(read, asker, repeats=repeats, pictures=pictures)
    emit(sat)
    show(sat, "exam sit", heading=sat.heading)
    print_notes(sat.warnings, "warning")
    right = sum(sat.outcomes.filter(outcome="right")["n"])
    console.print(f"{sat.model} is right in {right} of {sum(sat.outcomes['n'])} answers.")


@takes(AskingSettings)
def report(
    exam: ExamPath,
    sources: Annotated[list[Path], inarg("Store of people's answers; folders of sittings; Inspect logs.")],
    margins: Annotated[Path | None, infile("Table of question, answer, share: weight people to a population.")] = None,
    estimates: Annotated[Path | None, infile("Table of item, rate: combine with estimates made before.")] = None,
    grader: Annotated[str | None, opt("Language model that grades items with a rubric.")] = None,
    pool: Annotated[Path | None, outfile("Also write a pool for mensura people.", "--pool", file_okay=False)] = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare people and models: rates, percentiles, items, errors, effort."""
    from mensura.exam.report import report_exam

    rare = read_settings(settings, AskingSettings)
    read = exams.read_exam(exam)
    outcomes, takers, steps, notes = _gather(read, sources)
    if grader is not None:
        from mensura.exam.scoring import grade

        grading = Asking([grader], rare=rare).one(out, LONGEST_REPLY)
        with grading.open("grading") as asker:
            outcomes = grade(read, outcomes, asker)
    weights, before = (None if path is None else read_table(path) for path in (margins, estimates))
    made = report_exam(read, outcomes, takers, margins=weights, estimates=before, steps=steps, notes=notes)
    stores = [source for source in sources if source.is_file() and source.suffix != ".csv"]
    with _permissions_of(stores, out, pool):
        if pool is not None:
            from mensura.exam.checklist import to_pool

            to_pool(made, takers).write(pool)
            notices.print(f"wrote a pool to {pool}", style="dim")
        _write_report(made, out, outcomes)
    show(made, "exam report", heading=made.heading)
    print_notes(made.warnings)
    console.print(say_comparison(made.comparison))


def plan(
    exam: ExamPath,
    precision: Annotated[float, opt("Wanted half width of the 90% interval of people's mean rate.")] = 0.03,
    rates: Annotated[Path | None, infile("Table of item, rate: estimates of people's rates.")] = None,
    seconds_per_item: Annotated[float, opt("Seconds a person needs for an item.", min=1.0)] = 45.0,
    pay_per_hour: Annotated[float | None, opt("Pay per hour; that of exam.toml where left out.")] = None,
    fee: Annotated[float, opt("Fee of the panel as a share of the pay, such as 0.33.", min=0.0)] = 0.0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Plan how many people and items a precision takes, and the cost.

    Of an adaptive exam: how many items it saves, at which error, by simulated takers.
    """
    from mensura.core.frames import require_columns
    from mensura.exam.adaptive import AdaptivePlan, plan_adaptive
    from mensura.exam.design import ExamPlan, PlanTerms, plan_exam

    read = exams.read_exam(exam)
    unused = [f"--{name.replace('_', '-')}" for name in given_options() if name not in ("exam", "out", "as_json")]
    if read.is_adaptive and unused:
        raise MensuraError(
            f"{', '.join(unused)}: not with an adaptive exam, whose rules are in exam.toml. Leave it out"
        )
    by_item = None
    if rates is not None:
        table = read_table(rates)
        require_columns(table, ["item", "rate"], name=str(rates))
        by_item = {str(item): float(rate) for item, rate in table.select("item", "rate").iter_rows()}
    pay = pay_per_hour if pay_per_hour is not None else read.settings.study.pay_per_hour
    terms = PlanTerms(precision, seconds_per_item, pay, fee)
    made: AdaptivePlan | ExamPlan = plan_adaptive(read) if read.is_adaptive else plan_exam(read, terms, by_item)
    emit(made.tables())
    show(made, "exam adaptive" if read.is_adaptive else "exam plan", precision=precision)
    console.print(f"{made.heading}.")


def codes(exam: ExamPath, store: StorePath, out: Out = None, as_json: Json = False) -> None:
    """List the panel's ids with their completion codes and states."""
    if not store.is_file():
        raise MensuraError(f"{store}: no such file; give the store of mensura exam serve")
    answers = exams.AnswerStore(store, exams.read_exam(exam))
    table = answers.codes()
    answers.close()
    with _permissions_of([store], out):
        emit({"codes": table})
    show({"codes": table}, "exam codes")
    complete = table.filter(state="complete").height
    console.print(f"{complete} of {table.height} sittings are complete; the panel can be paid for them.")


def repair(store: Annotated[Path, inarg("Damaged store of people's answers.")]) -> None:
    """Repair a damaged store; the old file is kept."""
    from mensura.exam.records import repair_store

    console.print(repair_store(store))


def forget(code: Annotated[str, arg("The person's code.")], store: StorePath) -> None:
    """Delete everything about the person with this code."""
    from mensura.exam.records import forget_code

    is_complete = forget_code(store, code)
    console.print("deleted")
    if not is_complete:
        print_note(
            f"another program reads {store}, so the text is still in the file; close it and run mensura exam report"
        )


@contextmanager
def _permissions_of(stores: list[Path], *folders: Path | None) -> Iterator[None]:
    """Give the tables that the block writes the permissions of the store: who may not read it may not read them."""
    try:
        yield
    finally:
        mode = min((stat.S_IMODE(store.stat().st_mode) for store in stores), default=0o777)
        for folder in (folder for folder in folders if stores and folder is not None and folder.is_dir()):
            for path in folder.rglob("*"):
                path.chmod(path.stat().st_mode & (mode | 0o111 * path.is_dir() | 0o200))
            folder.chmod(folder.stat().st_mode & (mode | (mode & 0o444) >> 2))


def _write_report(report: ExamReport, out: Path | None, outcomes: pl.DataFrame) -> None:
    """Write a report's folder where asked, or print JSON and end the command."""
    from mensura.exam.checklist import checklist, checklist_text
    from mensura.exam.scoring import answers_to_grade

    tables = {**report.tables(), "checklist": checklist(report)}
    texts: dict[str, str] = {}
    if out is not None:
        from mensura.site.exam_page import exam_page

        texts = {"checklist.md": checklist_text(report), "report.html": exam_page(report)}
        tables["responses"] = report.responses
        if report.exam.settings.grading_sample:
            tables["to_grade"] = answers_to_grade(report.exam, outcomes, report.exam.settings.grading_sample)
    emit(tables, texts=texts, warnings=list(report.warnings))


def _gather(
    exam: exams.Exam, sources: list[Path]
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int], tuple[str, ...]]:
    """Return the outcomes of people and models, the takers among people, their steps, and notes about the store."""
    from mensura.exam.file import TAKERS

    logs = [source for source in sources if source.suffix.lower() in (".eval", ".json")]
    stores = [source for source in sources if source.is_file() and source.suffix != ".csv" and source not in logs]
    if len(stores) > 1:
        raise MensuraError(f"exam report: {len(stores)} stores; give one store and any number of folders")
    names = [question.name for question in exam.settings.questions]
    notes: tuple[str, ...] = ()
    steps: dict[str, int] = {}
    parts = [pl.DataFrame(schema=exams.gathering.OUTCOMES)]
    takers = pl.DataFrame(schema=TAKERS | dict.fromkeys(names, pl.String))
    for store in stores:
        answers = exams.AnswerStore(store, exam)
        parts.append(exams.gathering.people_outcomes(exam, answers))
        takers = exams.gathering.people_takers(exam, answers, parts[-1])
        steps, notes = exams.gathering.count_steps(answers), answers.notes
        answers.close()
    parts += [exams.gathering.model_outcomes(exam, source) for source in sources if source not in (*stores, *logs)]
    for path in logs:
        outcomes, people = exams.gathering.log_outcomes(exam, path)
        parts.append(outcomes)
        takers = pl.concat([takers, people.filter(~pl.col("subject").is_in(takers["subject"].implode()))])
    return pl.concat(parts), takers, steps, notes
