"""``mensura responses``: files of answers, surprises, pictures, links and places of a fit, adaptive testing."""

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from itertools import chain, count as count_from
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from mensura import charts, responses
from mensura.cli.options import Json, Out, inarg, infile, opt, outfile
from mensura.cli.output import console, emit, print_notes
from mensura.cli.settings import Settings, changed, read_settings, takes
from mensura.cli.tables import print_own_first, show
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns, sort_highest

SHOWN = 20
"""Rows of subjects that a command prints."""
WORST = 3
"""Items whose curves are drawn where none is asked for: those that depart most from theirs."""
Files = Annotated[list[Path], inarg("Tables, logs, folders of them, pools, or a response store.")]
By = Annotated[str | None, opt("Column that makes groups: of a pool's persons, or of a table.")]
Map = Annotated[str | None, opt("Columns of the answers: subject=pupil,item=task,correct=points.", "--map")]
Folder = Annotated[Path, inarg("Folder that mensura responses fit --out wrote.")]
Items = Annotated[Path, inarg("items.csv of a fit, or the folder that holds it.")]
Mean = Annotated[float, opt("Mean ability of those to be placed, on the scale of the fit.")]
Sd = Annotated[float, opt("Standard deviation of their abilities.")]
Content = Annotated[str | None, opt("Column of items.csv, such as domain, whose shares stay the same.")]
Choice = Annotated[str, opt("spread (from hard to easy, by information) or best (most information).")]


@dataclass(frozen=True, kw_only=True)
class CountSettings:
    """How files become counts of right answers: the rarer settings of every command that reads them."""

    header: Annotated[bool, "Whether a CSV names its columns; without, a row is one subject."] = True
    partial: Annotated[str, "Partial credit: share (kept), full (only 1 is right), half (from ½ on)."] = "share"
    missing: Annotated[str, "Blank outcomes: ignore (left out) or wrong."] = "ignore"
    duplicates: Annotated[str, "The same subject and item in several files: pool, first, last, refuse."] = "pool"
    repeats: Annotated[str, "Repeats of an item: count (k of n trials) or average (one trial)."] = "count"
    subject: Annotated[str | None, "Subject of a log that does not name its own."] = None
    items: Annotated[str | None, "Columns that are items: q*, or names parted by commas."] = None
    absent: Annotated[str | None, "Outcomes that mean missing, such as 9,99."] = None
    key: Annotated[Path | None, "Table of item and key: an answer is right where it is the key."] = None

    @property
    def choice(self) -> responses.AnswerChoice | None:
        """The items, codes, key and raters that were chosen."""
        chosen = responses.AnswerChoice(self.items, self.absent, self.key, getattr(self, "rater", None))
        return None if chosen == responses.AnswerChoice() else chosen

    def rating(self, model: str, by: str | None, columns: str | None) -> dict[str, Any]:
        """Return the arguments of :func:`mensura.responses.fit_categories` that say how to read."""
        if chosen := changed(self, "partial", "missing", "duplicates", "repeats", "subject"):
            because = f"of no use to --model {model}, whose outcomes are categories. Leave it out"
            raise MensuraError(f"--set {next(iter(chosen))}: {because}")
        return self._shared(by, columns)

    def reading(self, by: str | None, columns: str | None = None) -> dict[str, Any]:
        """Return the arguments of :func:`mensura.responses.read_responses` that say how to read."""
        from mensura.responses import CountRules

        rules = CountRules(self.partial, self.missing, self.duplicates, self.repeats)
        return self._shared(by, columns) | {"rules": rules, "subject": self.subject}

    def _shared(self, by: str | None, columns: str | None) -> dict[str, Any]:
        return {"by": by, "header": self.header, "columns": columns, "choice": self.choice}


@takes(CountSettings)
def read(
    files: Files,
    by: By = None,
    columns: Map = None,
    store: Annotated[Path | None, outfile("Write a response store, for data that exceed memory.")] = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show how Mensura reads files of answers: subjects, items, and what a rule decided.

    Files are tables (CSV, Excel, SPSS, Stata, R, Parquet, JSON; long or wide), Inspect .eval or .json, harness
    samples .jsonl, HELM per_instance_stats.json, folders of such logs, pools of people, a response store, or a
    folder of Parquet files (also s3://…).
    """
    how = read_settings(settings, CountSettings).reading(by, columns)
    if store is not None:
        written = responses.write_store(list(files), store, **how)
        emit({"log": written.log}, store=store, subjects=written.subjects, items=written.items)
        size = f"{written.subjects:,} subjects × {written.items:,} items"
        console.print(f"wrote {size} to {store}, {len(written.parts)} parts")
        return
    table = responses.read_responses(list(files), **how)
    emit(table.tables())
    show(table, "responses read")
    console.print(f"{table.heading}; {table.subjects['rate'].to_numpy().mean():.1%} right on average.")


@takes(CountSettings)
def surprises(
    files: Files,
    by: By = None,
    columns: Map = None,
    model: Annotated[str, opt("As of mensura responses fit.")] = "2pl",
    rate: Annotated[float, opt("False discovery rate of both lists.")] = 0.05,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List answers far above a subject's ability, and odd subjects."""
    from mensura.responses.categories import CATEGORY_MODELS

    rare = read_settings(settings, CountSettings)
    if model in CATEGORY_MODELS:
        answers: Any = responses.fit_categories(list(files), model=model, **rare.rating(model, by, columns))
    else:
        answers = responses.read_responses(list(files), **rare.reading(by, columns))
    result = responses.find_surprises(answers, model=model, rate=rate)
    emit(result, rate=rate)
    show(result, "responses surprises")
    print_notes(result.warnings, "warning")
    console.print(result.heading)


def draw(
    folder: Folder,
    out: Annotated[Path, outfile("Folder for the pictures.", file_okay=False)],
    item: Annotated[list[str] | None, opt("Item to draw (default: the three that fit worst).")] = None,
    ending: Annotated[str, opt("png, svg or pdf.", "--format")] = "png",
    width: Annotated[float, opt("Width in millimetres.")] = 183.0,
) -> None:
    """Draw a fit: item map, information, curves of items with what was observed, differences between groups."""
    from mensura.charts.render import check_figure
    from mensura.core.folders import whole_folder
    from mensura.responses.result import read_fits

    check_figure(Path(f"any.{ending}"), width)
    fits = read_fits(folder)
    if unknown := [one for one in item or () if not any(one in fit.bank.items for fit in fits.values())]:
        raise MensuraError(f"item: got {unknown[0]!r}; expected an item of {folder / 'items.csv'}. Correct the name")
    drawn: dict[str, charts.Drawing] = {}
    for dimension, fit in fits.items():
        wanted = [one for one in item or () if one in fit.bank.items]
        named = draw_fit(fit, wanted or None).items()
        drawn |= {f"{dimension}-{name}" if dimension else name: chart for name, chart in named}
    with whole_folder(out, "responses draw") as stage:
        for name, chart in drawn.items():
            chart.save(stage / f"{name}.{ending}", width_mm=width)
    console.print(f"wrote {', '.join(f'{name}.{ending}' for name in drawn)} to {out}")


def draw_fit(fit: responses.ResponseFit, items: Sequence[str] | None) -> dict[str, charts.Drawing]:
    """Return charts by file name: item map, information, curves of items, differences of every group."""
    from mensura.evidence.checks import readable
    from mensura.responses.result import curve_points, difference_points, information_points, map_points

    if not fit.observed.width:
        raise MensuraError("the folder has no observed.csv; fit again with: mensura responses fit … --out FOLDER")
    bank = fit.bank
    measure = next((name for name in ("fit", "outfit") if name in fit.items.columns), "discrimination")
    worst = sort_highest(fit.items.unique("item"), measure, "item").head(WORST)["item"].to_list()
    drawn = {
        "item-map": charts.item_map(map_points(fit)),
        "information": charts.information_curve(information_points(bank)),
    }
    for item in items or worst:
        curve = curve_points(bank, item)
        observed = fit.observed.filter(fit.observed["item"] == item)
        drawn[_free_name(f"item-{readable(item)}", drawn)] = charts.item_characteristic(curve, observed)
    for group in fit.dif["group"].unique(maintain_order=True) if fit.dif.height else ():
        name = _free_name(f"differences-{readable(group)}", drawn)
        drawn[name] = charts.item_differences(difference_points(fit.dif, group))
    return drawn


def _free_name(name: str, taken: Container[str]) -> str:
    """Return the name, with a number behind it if another picture has it already."""
    numbered = (f"{name}-{number}" for number in count_from(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def link(
    new: Folder,
    base: Annotated[Path, inarg("Folder of the fit whose scale is kept.")],
    method: Annotated[str, opt("stocking-lord, haebara or mean-sigma.")] = "stocking-lord",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Put a fit on the scale of another by common items."""
    linked = responses.link_fits(new, base, method=method)
    emit(linked)
    show({"items": linked.items, "subjects": sort_highest(linked.subjects, "ability", "subject")}, "responses link")
    print_notes(linked.warnings, "warning")
    console.print(f"{linked.heading}.")


def place(
    folder: Folder,
    files: Annotated[list[Path] | None, inarg("Answers of new subjects; default: those of the fit.")] = None,
    group: Annotated[str | None, opt("Group of people of the fit.")] = None,
    rates: Annotated[Path | None, infile("Table of item, rate[, low, high or n] of a population.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Place abilities among people: share with as much, percentile, IQ-equivalent, with intervals."""
    from mensura.responses.result import read_fit

    fitted = read_fit(folder)
    if files:
        fitted = responses.score_new(fitted, list(files))
    placed = responses.place_among(fitted, group=group, rates=rates)
    emit(placed)
    _print_placed(placed, () if files else few_beside_many(fitted))


def _print_placed(placed: responses.AmongPeople, own: Collection[str]) -> None:
    """Print subjects among people, those of small groups first."""
    ranked = sort_highest(placed.subjects, "ability", "subject")
    spare = ("population", "status", "rate", "low", "high", "group")
    print_own_first(ranked, own, title=placed.heading, rows=SHOWN, spare=spare)
    print_notes(placed.warnings, "warning")
    first = next((row for row in ranked.iter_rows(named=True) if row["subject"] in own), ranked.row(0, named=True))
    if first["iq"] is None:
        return
    ends = f"({first['iq_low']:.0f} to {first['iq_high']:.0f}, 90%)"
    iq = f"{first['iq']:.0f} {ends}"
    if first["at_least"]:
        iq = f"at least {first['iq']:.0f}, as far as their number can tell,"
    console.print(f"{first['subject']}: IQ-equivalent {iq} among {first['population']}.")


def few_beside_many(result: responses.ResponseFit) -> list[str]:
    """Return the subjects of small groups beside a large one: a few models, whom a user looks for among many people."""
    sizes = result.subjects.group_by("group").len()
    small = sizes.filter((pl.col("group") != result.reference) & (pl.col("len") <= SHOWN))["group"]
    return result.subjects.filter(pl.col("group").is_in(small.implode()))["subject"].to_list()


def next_(
    items: Items,
    log: Annotated[Path | None, inarg("Answers so far: a log or table.")] = None,
    count: Annotated[int, opt("How many items to run next.", min=1)] = 5,
    form: Annotated[int | None, opt("Instead: a fixed short form of so many items.", min=1)] = None,
    within: Annotated[float, opt("Stop at this half width of the 90% interval.")] = 0.3,
    mean: Mean = 0.0,
    sd: Sd = 1.5,
    content: Content = None,
    choice: Choice = "spread",
    subject: Annotated[str | None, opt("Subject of a log that does not name its own.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show where a subject is after some answers, which items to run next, and when to stop.

    With --form: the items that place a group best, the same for everybody.
    """
    bank, contents = _bank(items, content)
    if form is not None:
        if log is not None:
            raise MensuraError("--form: a fixed form takes no answers; leave LOG out")
        chosen = responses.select_items(bank, form, aim=responses.Aim(mean, sd), content=contents, choice=choice)
        emit(chosen)
        show(chosen, "responses form")
        print_notes(chosen.warnings, "warning")
        console.print(f"{chosen.heading}.")
        return
    answers = {} if log is None else _answers(log, subject, bank)
    result = responses.next_items(
        bank, answers, count=count, aim=responses.Aim(mean, sd, within), content=contents, choice=choice
    )
    emit(result)
    if not result.standing["done"][0]:
        show(result, "responses next")
    print_notes(result.warnings, "warning")
    console.print(f"{result.heading}.")


def _bank(items: Path, content: str | None) -> tuple[responses.ItemBank, dict[str, str] | None]:
    from mensura.responses.bank import read_bank

    bank, table = read_bank(items)
    if content is None:
        return bank, None
    require_columns(table, [content], name="items")
    return bank, dict(zip(bank.items, map(str, table[content]), strict=True))


def _answers(log: Path, subject: str | None, bank: responses.ItemBank) -> dict[str, tuple[float, float]]:
    """Return item → (right, trials) of the one subject of a log, or the one that is named."""
    from mensura.responses.bank import answers_in_bank, foreign_items

    who, right, trials = answers_in_bank(log, bank, subject=subject)
    names = who["subject"].to_list()
    if len(names) > 1 and subject not in names:
        raise MensuraError(f"{log}: {len(names)} subjects; say with --subject whom to place, such as {names[0]!r}")
    row = names.index(subject) if subject in names else 0
    taken = zip(bank.items, right[row].tolist(), trials[row].tolist(), strict=True)
    answers = {item: (good, n) for item, good, n in taken if n > 0}
    if not answers:
        raise foreign_items(str(log), bank)
    return answers
