"""``mensura exam``: one test for people in a browser and for models, and the report about both."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.asking import Asking, AskingSettings, BaseUrl, DryRun, MaxCost, Models
from mensura.cli.findings import say_comparison
from mensura.cli.options import Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, notices, print_note
from mensura.cli.paths import check_input, check_inputs, check_output
from mensura.cli.progress import waiting
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Give one exam to people and models; compare them."
)

ExamPath = Annotated[str, typer.Argument(help="Folder of the exam, its exam.toml, or 'example'.", metavar="EXAM")]
StorePath = Annotated[Path, typer.Option("--store", help="File with the answers of people.", callback=check_output)]
NewFolder = Annotated[Path, typer.Argument(help="Folder to write.", file_okay=False, callback=check_output)]


LONGEST_REPLY = 4096
"""Tokens that a model's reply to an item may have."""
_SHOWN = ("subject", "rate", "low", "high", "people_rate", "difference", "percentile", "one_in", "no_answer")
"""Columns of the comparison that are printed; --out and --json have all."""


@app.command(epilog="Example: mensura exam new myexam")
def new(folder: NewFolder) -> None:
    """Write a small working exam to start from."""
    from mensura.exam.file import new_exam

    exam = new_exam(folder)
    console.print(
        f"wrote {folder}: {len(exam.scored)} items. Edit exam.toml and items.csv, then: mensura exam check {folder}"
    )


@app.command(epilog="Example: mensura exam check myexam")
def check(exam: ExamPath) -> None:
    """Check an exam and report every error at once."""
    from mensura.exam import inspect_exam

    found, faults = inspect_exam(exam)
    if found is None:
        raise MensuraError("\n".join([f"{exam}: {len(faults)} errors. Correct them:", *faults]))
    settings = found.settings
    console.print(
        f"{settings.title}: {len(found.scored)} items, {found.per_person} per person. Attention checks: "
        f"{len(found.checks)}. Questions about the person: {len(settings.questions)}. No errors."
    )
    for warning in found.warnings:
        print_note(warning, kind="warning")


@app.command("from", epilog="Example: mensura exam from pools/mine myexam")
def from_(
    source: Annotated[
        Path, typer.Argument(help="Pool with texts, Inspect .eval or harness samples .jsonl.", callback=check_input)
    ],
    folder: NewFolder,
) -> None:
    """Make an exam from a pool or an evaluation log."""
    from mensura.exam.file import exam_from

    exam, left = exam_from(source, folder)
    console.print(f"wrote {folder}: {len(exam.scored)} items. Edit consent and instructions in exam.toml")
    for reason in left[:10]:
        print_note(f"left out: {reason}")
    if len(left) > 10:
        print_note(f"… and {len(left) - 10} more left out")


@app.command(epilog="Example: mensura exam export myexam --inspect task")
def export(
    exam: ExamPath,
    inspect: Annotated[
        Path, typer.Option("--inspect", help="Folder for the Inspect task.", file_okay=False, callback=check_output)
    ],
) -> None:
    """Write the exam as an Inspect task."""
    from mensura.exam import read_exam
    from mensura.exam.sitting import export_inspect

    export_inspect(read_exam(exam), inspect)
    console.print(f"wrote {inspect}. Run: inspect eval {inspect}/task.py --model NAME")


@app.command(epilog="Example: mensura exam serve myexam --store answers.db --organiser-secret-file secret.txt")
def serve(
    exam: ExamPath,
    store: StorePath,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; by default this machine only.")] = "127.0.0.1",
    organiser_secret_file: Annotated[
        Path | None,
        typer.Option(
            help="Open /organiser to whoever knows the secret in this file.", metavar="FILE", callback=check_input
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="Invitations, one per line; each lets one person in (?token=…).", callback=check_input),
    ] = None,
    name: Annotated[list[str] | None, typer.Option(help="A host name the site goes by; repeatable.")] = None,
) -> None:
    """Give the exam to people in a browser."""
    from mensura.exam import read_exam

    try:
        from mensura.serve import ReviewerSecret, is_loopback, is_open_to_others
        from mensura.serve.exam_app import serve_exam
    except ModuleNotFoundError as fault:
        raise MensuraError(f"exam serve: {fault.name} is not installed; run pip install 'mensura[serve]'") from fault

    secret = None if organiser_secret_file is None else ReviewerSecret.read(organiser_secret_file)
    if organiser_secret_file is not None and is_open_to_others(organiser_secret_file):
        notices.print(f"warning: others on this machine can read {organiser_secret_file}")
    if not is_loopback(host):
        notices.print("warning: without TLS before it, codes and answers cross the network unprotected")
    known = [] if tokens is None else [line.strip() for line in tokens.read_text(encoding="utf-8").splitlines()]
    invitations = [token for token in known if token]
    if tokens is not None and not invitations:
        raise MensuraError(f"{tokens}: no invitation in it; write one per line, or leave --tokens out")
    notices.print(f"http://{host}:{port}/ (Ctrl-C ends; answers are kept in {store})")
    with waiting.paused():
        serve_exam(read_exam(exam), store, secret=secret, host=host, port=port, names=name or [], tokens=invitations)


@app.command(
    epilog="Example: mensura exam sit example --model recorded/exam-example --repeats 2 --out runs/recorded\n\n"
    + list_settings(AskingSettings)
)
def sit(
    exam: ExamPath,
    repeats: Annotated[int, typer.Option(help="Sittings, each with its own order of items and options.", min=1)] = 1,
    pictures: Annotated[bool, typer.Option(help="The model takes pictures.")] = False,
    model: Models = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Let a model sit the exam: the same items, instructions and scorer."""
    from mensura.exam import read_exam
    from mensura.exam.sitting import questions_of, sit_exam

    read = read_exam(exam)
    rare = read_settings(settings, AskingSettings)
    asking = Asking(model, base_url, max_cost, dry_run, rare).one(out, LONGEST_REPLY)
    if asking.dry_run:
        asked = [question for *_, question in questions_of(read, repeats, pictures=pictures)]
        asking.print_estimate([question for question in asked if question is not None])
        return
    with asking.open("sitting") as asker:
        sat = sit_exam(read, asker, repeats=repeats, pictures=pictures)
    if emit(sat.tables(), out=out, as_json=as_json, warnings=list(sat.warnings)):
        return
    print_table(sat.outcomes, title=sat.heading)
    for warning in sat.warnings:
        print_note(warning, kind="warning")
    right = sum(sat.outcomes.filter(outcome="right")["n"])
    console.print(f"{sat.model} is right in {right} of {sum(sat.outcomes['n'])} answers.")


@app.command(epilog="Example: mensura exam report myexam answers.db runs --out report")
def report(
    exam: ExamPath,
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Store of people's answers (answers.db) and folders of models' sittings (runs/).",
            callback=check_inputs,
        ),
    ],
    margins: Annotated[
        Path | None,
        typer.Option(help="Table of question, answer, share: weight people to a population.", callback=check_input),
    ] = None,
    estimates: Annotated[
        Path | None, typer.Option(help="Table of item, rate: combine with estimates made before.", callback=check_input)
    ] = None,
    grader: Annotated[str | None, typer.Option(help="Language model that grades items with a rubric.")] = None,
    base_url: BaseUrl = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="File that records every call (default: journal.sqlite in --out).", callback=check_output),
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option("--pool", help="Also write a pool for mensura people.", file_okay=False, callback=check_output),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare people and models: rates, percentiles, items, errors, effort."""
    from mensura.cli.exam_out import gather, write_report
    from mensura.exam import read_exam
    from mensura.exam.report import report_exam
    from mensura.intake.tables import read_table

    read = read_exam(exam)
    outcomes, takers, notes = gather(read, sources)
    if grader is not None:
        from mensura.exam.scoring import grade

        grading = Asking([grader], base_url, rare=AskingSettings(journal=journal)).one(out, LONGEST_REPLY)
        with grading.open("grading") as asker:
            outcomes = grade(read, outcomes, asker)
    made = report_exam(
        read,
        outcomes,
        takers,
        margins=None if margins is None else read_table(margins),
        estimates=None if estimates is None else read_table(estimates),
        notes=notes,
    )
    if pool is not None:
        from mensura.exam.checklist import to_pool

        to_pool(made, takers).write(pool)
        notices.print(f"wrote a pool to {pool}", style="dim")
    if write_report(made, out=out, as_json=as_json):
        return
    print_table(made.comparison.select(*_SHOWN, "at_least"), title=made.heading, spare=("no_answer",))
    for warning in made.warnings:
        print_note(warning)
    console.print(say_comparison(made.comparison))


@app.command(epilog="Example: mensura exam plan myexam --precision 0.03 --pay-per-hour 12")
def plan(
    exam: ExamPath,
    precision: Annotated[float, typer.Option(help="Half of the 90% interval of people's mean rate.")] = 0.03,
    rates: Annotated[
        Path | None, typer.Option(help="Table of item, rate: estimates of people's rates.", callback=check_input)
    ] = None,
    seconds_per_item: Annotated[float, typer.Option(help="Seconds a person needs for an item.", min=1.0)] = 45.0,
    pay_per_hour: Annotated[float | None, typer.Option(help="Pay per hour; that of exam.toml where left out.")] = None,
    fee: Annotated[float, typer.Option(help="Fee of the panel as a share of the pay, such as 0.33.", min=0.0)] = 0.0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Plan how many people and items a precision takes, and the cost."""
    from mensura.core.frames import require_columns
    from mensura.exam import read_exam
    from mensura.exam.design import PlanTerms, plan_exam
    from mensura.intake.tables import read_table

    read = read_exam(exam)
    known = None
    if rates is not None:
        table = read_table(rates)
        require_columns(table, ["item", "rate"], name=str(rates))
        known = {str(item): float(rate) for item, rate in table.select("item", "rate").iter_rows()}
    pay = pay_per_hour if pay_per_hour is not None else read.settings.study.pay_per_hour
    made = plan_exam(read, PlanTerms(precision, seconds_per_item, pay, fee), known)
    if emit(made.tables(), out=out, as_json=as_json):
        return
    title = f"Designs that reach ±{precision:g} (90%), least time first"
    print_table(made.plan, title=title, rows=12, digits=2, spare=("items", "half_width", "answers_per_item"))
    console.print(f"{made.heading}.")


@app.command(epilog="Example: mensura exam forget ABCDEFGHJKLMNPQRSTUV --store answers.db")
def forget(code: Annotated[str, typer.Argument(help="The person's code.")], store: StorePath) -> None:
    """Delete everything about the person with this code."""
    from mensura.exam.records import forget_code

    is_complete = forget_code(store, code)
    console.print("deleted")
    if not is_complete:
        print_note(
            f"another program reads {store}, so the text is still in the file; close it and run mensura exam report"
        )
