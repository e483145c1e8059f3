"""``mensura baseline``: what people score on a benchmark, known or estimated."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from mensura.cli.asking import Asking, AskingSettings, DryRun, MaxCost, Models
from mensura.cli.inputs import load_evidence
from mensura.cli.options import EvidencePath, ItemColumns, Json, Out, arg, infile, opt
from mensura.cli.output import console, emit, print_note, print_notes
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import print_table, show
from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import first_row, sort_highest

if TYPE_CHECKING:
    from mensura.baseline import Baseline, BaselineItems

PLAN, RECORDED, CHALLENGE = "plan", "recorded/", "challenge"
DIRECT = "direct"
LONGEST_ANSWER = 8192
"""Tokens an answer may have: 75 items with intervals take about 3,500, and some models reason before."""
USUAL_ANSWER = 3500
_WORDS = "[plan|challenge …] NAME|ITEMS"


@dataclass(frozen=True, kw_only=True)
class BaselineSettings(AskingSettings):
    """The rarer settings of ``mensura baseline``."""

    runs: Annotated[int, "How often each model is asked."] = 1
    mean: Annotated[float | None, "Known mean score of the people, 0 to 1; with n."] = None
    n: Annotated[int | None, "How many people are behind the known mean, or behind anchors without n."] = None
    kind: Annotated[str | None, "Kind of people: experts, pupils, students, crowd or people."] = None
    timed: Annotated[bool | None, "Whether the people answer under time pressure."] = None
    majority: Annotated[int | None, "People who vote on each answer, where estimates are of single people."] = None
    domain: Annotated[str | None, "Domain of items without one, such as mathematics."] = None
    pay: Annotated[float, "Pay per person and hour in US dollars (plan)."] = 12.0
    seconds: Annotated[float, "Seconds per answer (plan)."] = 45.0
    sample: Annotated[int | None, "Estimate a stratified sample of so many items."] = None
    seed: Annotated[int, "Seed of sample and draws."] = 0
    opens: Annotated[str | None, "Day on which a sealed pool opens (challenge seal), such as 2027-06-01."] = None


@takes(BaselineSettings)
def baseline(
    words: Annotated[list[str], arg("Benchmark with known human scores, or a source of items.", metavar=_WORDS)],
    people: Annotated[list[str] | None, opt("A population, country or sentence about people; repeatable.")] = None,
    estimates: Annotated[str | None, opt("Estimates that exist: item, rate, low, high (model, run).")] = None,
    estimator: Annotated[str | None, opt("Who made the estimates: a model or people.")] = None,
    anchors: Annotated[Path | None, infile("CSV of human rates on some items: item, rate, n.")] = None,
    scores: Annotated[Path | None, infile("CSV of models to place among the people: subject, score.")] = None,
    minutes: Annotated[bool, opt("Estimate the minutes that people need; --estimates has item, minutes.")] = False,
    columns: ItemColumns = None,
    model: Models = None,
    asking: Annotated[str, opt("How to ask: direct for rates, persons for simulated persons.")] = DIRECT,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    evidence: EvidencePath = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show known human scores of a benchmark, or estimate what described people would score on its items.

    ITEMS is a table, a log, the folder of a pool, or recorded/POOL. The word plan before it plans the panel of people
    that would halve the interval. The words challenge seal, submit or score before a pool run a test of estimators.
    """
    from mensura.baseline import KnownMean, estimate_baseline

    rare = read_settings(settings, BaselineSettings)
    if words[0] == CHALLENGE and not Path(CHALLENGE).exists():
        _take_part(words[1:], rare.opens, asking, estimates, estimator, out)
        return
    if (rare.mean is not None and rare.n is None) or (rare.n is not None and rare.mean is None and anchors is None):
        raise MensuraError("--set mean and --set n: give both, such as --set mean=0.345 --set n=60")
    planning, target = _target(words)
    if minutes and not people:
        judged = _estimate_minutes(estimates, estimator, anchors)
        _print_minutes(judged, target, columns, estimates, rare.pay if planning else None)
        return
    if not (people or estimates or model or target.startswith(RECORDED) or Path(target).exists()):
        _print_known(target, evidence)
        return
    items, described, source = _items(target, people, estimates, columns)
    if model and source is not None:
        raise MensuraError("--model and --estimates: give one of them. Estimates that exist need no model")
    if estimator is not None and source is None:
        raise MensuraError("--estimator: only with --estimates FILE, because a model that is asked has its name")
    work: dict[str, Any] = {
        "anchors": anchors,
        "anchor_people": rare.n if rare.mean is None else None,
        "estimator": estimator,
        "known_mean": None if rare.mean is None or rare.n is None else KnownMean(rare.mean, rare.n),
        "scores": None if scores is None else _read_scores(scores),
        "sample": rare.sample,
        **{name: getattr(rare, name) for name in ("domain", "kind", "timed", "majority", "seed")},
    }
    askings = Asking(model, max_cost, dry_run, rare).each(out, LONGEST_ANSWER)
    if asking != DIRECT and not model:
        raise MensuraError("--asking: only with --model, because nobody else is asked")
    if dry_run:
        _print_cost(items, described, askings, asking, rare)
        return
    if source is None:
        items = items.askable()
        work |= {"runs": rare.runs, "asking": asking}
    with ExitStack() as stack:
        if source is None:
            work["askers"] = [stack.enter_context(asking.open("estimating")) for asking in askings]
        result = estimate_baseline(items, described, estimates=source, **work)
    if minutes:
        result = result.with_minutes(_estimate_minutes(estimates, estimator))
    if planning:
        _print_plan(result, rare.pay, rare.seconds)
    else:
        _print(result)


def _estimate_minutes(estimates: str | None, estimator: str | None, anchors: Path | None = None) -> pl.DataFrame:
    """Return the minutes that a professional needs for each item: estimates corrected by their known bias and error."""
    from mensura.horizon import estimate_minutes
    from mensura.horizon.kinds import ESTIMATE, MODEL
    from mensura.intake.tables import as_frame

    if estimates is None:
        raise MensuraError("--minutes: --estimates is missing; expected a file of item, minutes. Give it")
    kind = ESTIMATE if (estimator or "").lower() in ("people", "experts") else MODEL
    table = as_frame(estimates, name=estimates)
    given: object = table.drop("low", "high", strict=False) if "rate" in table.columns else estimates
    return estimate_minutes(given, anchors, kind=kind)


def _print_minutes(
    judged: pl.DataFrame, target: str, columns: str | None, estimates: str | None, pay: float | None
) -> None:
    """Print the minutes that a professional needs for each item, and with ``pay`` the price of a person."""
    from mensura.baseline import read_items

    names = read_items(target, columns=columns).table.select(pl.col("item").cast(pl.String))
    table = names.join(judged, on="item", how="left", maintain_order="left")
    if (missing := table["minutes"].null_count()) == table.height:
        raise MensuraError(f"{estimates}: no item of {target}; expected the same names in a column item. Correct them")
    emit({"items": table})
    if missing:
        print_note(f"{missing} of {table.height} items have no estimate and get no minutes")
    show({"items": table}, "baseline minutes")
    if pay is not None:
        hours, low, high = (float(table[f"minutes{end}"].sum()) / 60 for end in ("", "_low", "_high"))
        console.print(
            f"One person needs {hours:.1f} hours for all items ({low:.1f} to {high:.1f}): ${hours * pay:,.0f} "
            f"(${low * pay:,.0f} to ${high * pay:,.0f})."
        )


def _target(words: list[str]) -> tuple[bool, str]:
    planning = words[0] == PLAN and not Path(PLAN).exists()
    rest = words[1:] if planning else words
    if len(rest) != 1:
        given = f"got {len(rest)}: {' '.join(rest)[:60]}" if rest else "got none"
        raise MensuraError(f"baseline: expected one NAME or ITEMS, {given}. Put a name of several words in quotes")
    return planning, rest[0]


def _items(
    target: str, people: list[str] | None, estimates: str | None, columns: str | None
) -> tuple[BaselineItems, list[str], pl.DataFrame | str | None]:
    """Return the items, the people and the estimates; a recorded pool brings all three."""
    from mensura.baseline import read_items, read_recorded

    if target.startswith(RECORDED):
        recorded = read_recorded(target.removeprefix(RECORDED))
        items = replace(read_items(recorded.unique("item", maintain_order=True)), name=target)
        own = recorded["population"].mode().sort()[0]
        return items, people or [own], (estimates or recorded.drop("population"))
    if not people:
        raise MensuraError(
            f"{target}: --people is missing; give a population (world), a country (DEU) or a sentence such as "
            "--people 'university students in Germany'"
        )
    return read_items(target, columns=columns), people, estimates


def _read_scores(path: Path) -> pl.DataFrame:
    """Read subject and score; percentages become shares."""
    from mensura.intake.own_scores import read_own_scores
    from mensura.intake.tables import read_table

    frame = read_own_scores(read_table(path).with_columns(benchmark=pl.lit("items")), name=str(path))
    scores = frame["score"].to_list() or [None]
    if wrong := [score for score in scores if score is None or not 0 <= score <= 100]:
        raise MensuraError(
            f"{path}, score: {'nothing' if wrong[0] is None else f'{wrong[0]:g}'} is missing or outside 0 to 100; "
            "expected shares or percentages such as 0.88, 88 or 88%. Correct it"
        )
    whole = 100 if max(scores) > 1 else 1
    if small := [score for score in scores if 0 < score < 1 < whole]:
        raise MensuraError(
            f"{path}, score: {small[0]:g} stands among percentages; expected one unit. Write all as shares, or all as "
            "percentages"
        )
    return frame.select(pl.col("subject").cast(pl.String), pl.col("score") / whole)


def _print_cost(
    items: BaselineItems, people: list[str], askings: list[Asking], way: str, rare: BaselineSettings
) -> None:
    from mensura.baseline import find_people, list_people, plan_questions
    from mensura.people import World

    if not askings:
        raise MensuraError("--dry-run: only with --model, because nobody else is asked")
    items = items.askable()
    print_notes(items.notes)
    world = World.load()
    chosen = items if rare.sample is None else items.sample(rare.sample, rare.seed)
    populations = [find_people(who, world) for who in list_people(people, world)]
    questions = plan_questions(chosen, populations, rare.runs, way)
    for asking in askings:
        asking.print_estimate(questions, USUAL_ANSWER)


def _print_known(name: str, evidence: Path | None) -> None:
    from mensura.baseline import find_known, known_markdown
    from mensura.baseline.registry import score_words
    from mensura.evidence.passing import GRADES
    from mensura.scale.ranking import say_chance

    registered = find_known(name, load_evidence(evidence))
    emit(registered, texts={"card.md": known_markdown(registered)}, benchmark=registered.benchmark)
    print_notes(registered.warnings)
    columns = ["grade", "part", "group", "score", "unit", "kind", "n", "conditions", "year", "source", "seen"]
    people = registered.people.select(columns)
    if people["score"].null_count():
        scores = pl.Series(map(score_words, registered.people.to_dicts()), dtype=pl.String)
        people = people.with_columns(score=scores).drop("unit")
    print_table(people, title=registered.heading, rows=30, spare=("seen", "year", "unit", "conditions"))
    for letter in people["grade"].drop_nulls().unique().sort():
        console.print(f"{letter}: {GRADES[letter]}", style="dim")
    if registered.passed.height:
        title = "Models above these people: how many, the first and when, the best and its chance to be above"
        spare = ("iq", "status", "best_score", "best", "score")
        passed = registered.passed.with_columns(pl.col("chance").map_elements(say_chance, return_dtype=pl.String))
        print_table(passed, title=title, rows=30, digits=2, keys=2, spare=spare)
        measured = registered.passed.filter(status="measured")
        top = sort_highest(measured if measured.height else registered.passed, "score").row(0, named=True)
        judged = "" if measured.height else ", judged, not measured"
        console.print(
            f"{top['passed_by']} of {top['of']} models passed {top['group']} ({top['score']:g}{judged}); "
            f"the best, {top['best']}, is above them with a chance of {say_chance(top['chance'])}."
        )
    else:
        unit = "minutes" if "minutes" in registered.people["unit"] else "percent"
        print_note(f"the evidence has no model scores on this benchmark in {unit}, so none can be compared")


def _print_plan(result: Baseline, pay: float, seconds: float) -> None:
    import math

    from mensura.baseline import PanelCost, plan_panel, shipped

    sd = math.exp(shipped()["persons"]["log_sd"])
    seconds = 60 * float(result.items["minutes"].mean()) if "minutes" in result.items.columns else seconds  # type: ignore[arg-type]
    panels = {part.who.name: plan_panel(part.estimate, sd, PanelCost(pay, seconds)) for part in result.parts}
    named = [panel.select(pl.lit(who).alias("population"), pl.all()) for who, panel in panels.items()]
    emit({"plan": pl.concat(named)})
    for who, panel in panels.items():
        show({"plan": panel}, "baseline plan", people=who)
        if best := first_row(panel.filter("halved")):
            console.print(
                f"{best['people']} people × {best['items']} items would halve the interval of the mean "
                f"({best['width_now']:.2f} to {best['width']:.2f}): {best['hours']:.0f} hours, ${best['cost']:,.0f}."
            )
        else:
            print_note("no panel of this table halves the interval; more people and items would be needed")


def _print(result: Baseline) -> None:
    from mensura.baseline.result import card_files, validated_on

    texts = card_files(result)
    read_as = {part.who.name: part.kind.read for part in result.parts}
    facts = {"benchmark": result.name, "status": "estimated", "read_as": read_as, "span": result.spans}
    tables = {name: result.tables()[name] for name in ("items", "baseline", "models")}
    emit(tables, texts=texts, **facts, warnings=list(result.warnings))
    console.print(result.heading)
    for who, kind in read_as.items():
        console.print(f"{who}, read as: {kind}. If that is wrong: --set kind=, --set timed=.")
    print_notes(result.warnings)
    items = result.items.drop("population") if len(result.parts) == 1 else result.items
    show(tables | {"items": items}, "baseline estimate")
    for row in result.baseline.iter_rows(named=True):
        mean, who = f"{row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%}, 90%)", row["population"]
        span = f"; items {result.spans[who]}" if who in result.spans else ""
        console.print(f"{who} would score {mean}{span}.")
    for checked in dict.fromkeys(map(validated_on, result.parts)):
        console.print(f"Can I trust this interval? Checked on {checked} (docs/trust.md).", style="dim")


STEPS = ("seal", "submit", "score")
SIMULATED = "simulated"
"""The pool that ships."""


def _take_part(
    words: list[str], opens: str | None, asking: str, estimates: str | None, estimator: str | None, out: Path | None
) -> None:
    """Run one step of the challenge; ``words`` are the step, the pool, and submissions to score."""
    from mensura.baseline import challenge

    step, *places = words or [""]
    check_choice("baseline challenge", step, STEPS)
    if not places:
        raise MensuraError(f"baseline challenge {step}: expected a {'table of rates' if step == 'seal' else 'pool'}")
    if step == "seal":
        if out is None:
            raise MensuraError("baseline challenge seal: --out is missing; give the folder of the new pool")
        pool = challenge.seal_pool(Path(places[0]), out, _day(opens))
        console.print(
            f"wrote {out}: {pool.items.height} items, sealed until {pool.opens}. Publish all but key.json, and keep "
            "that file apart until then."
        )
        return
    pool = challenge.read_sealed(challenge.SIMULATED if places[0] == SIMULATED else Path(places[0]))
    if step == "submit":
        if estimates is None or estimator is None or out is None:
            raise MensuraError("baseline challenge submit: give --estimates FILE, --estimator NAME and --out FOLDER")
        entry = challenge.write_submission(pool, estimates, out, method=asking, estimator=estimator, made=date.today())
        console.print(f"wrote {out / challenge.SUBMISSION}: {pool.items.height} estimates, hash {entry['hash'][:16]}.")
        return
    if len(places) == 1:
        raise MensuraError("baseline challenge score: expected submissions after the pool; give their folders")
    standing = challenge.score_submissions(pool, [Path(place) for place in places[1:]], date.today())
    emit({"standing": standing}, texts={"standing.md": challenge.standing_page(pool, standing)})
    show({"standing": standing}, "baseline challenge", pool=pool.name)
    best = standing.row(0, named=True)
    console.print(f"{best['method']} by {best['estimator']} has the smallest error: {best['error']:.3f}.")


def _day(text: str | None) -> date:
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        raise MensuraError(
            f"baseline challenge seal: --set opens={text or ''} is no day; expected one such as 2027-06-01"
        ) from None
