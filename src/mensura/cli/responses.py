"""``mensura responses``: evaluation logs and answers of people, item response models, adaptive testing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mensura.cli import adaptive
from mensura.cli.options import Ray, Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_input, check_inputs, check_output
from mensura.cli.response_design import CountSettings, Design, FitSettings
from mensura.cli.responses_out import SHOWN, few_beside_many, print_fit, print_placed, show_categories
from mensura.cli.tables import print_table

if TYPE_CHECKING:
    from mensura.core.results import Result

app = typer.Typer(
    help="Item by item: evaluation logs in, item response models at any size, the ruler, adaptive testing.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Files = Annotated[
    list[Path],
    typer.Argument(
        help="A table (CSV, Excel, SPSS, Stata, R, Parquet, JSON; long or wide), Inspect .eval/.json, harness samples "
        ".jsonl, HELM per_instance_stats.json, folders of logs, pools of people, a response store, or a folder of "
        "Parquet files (also s3://…).",
        callback=check_inputs,
    ),
]
By = Annotated[str | None, typer.Option(help="Column that makes groups: of a pool's persons, or of a table.")]
Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether a CSV names its columns; without, a row is one subject.")
]
Map = Annotated[
    str | None,
    typer.Option(
        "--map",
        help="Columns of the answers, where their names do not say it: subject=pupil,item=task,correct=points.",
        metavar="FIELD=COLUMN",
    ),
]
Folder = Annotated[Path, typer.Argument(help="Folder that mensura responses fit --out wrote.", callback=check_input)]


@app.command(
    epilog="Example: mensura responses read logs/*.eval answers.csv --out counts\n\n" + list_settings(CountSettings)
)
def read(
    files: Files,
    by: By = None,
    header: Header = True,
    columns: Map = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Write a response store (Parquet parts) for what exceeds memory.", callback=check_output),
    ] = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show what is understood of files: subjects, items, and what a rule decided."""
    from mensura.responses import read_responses, write_store

    how = read_settings(settings, CountSettings).reading(by, header, columns)
    if store is not None:
        written = write_store(list(files), store, **how)
        if not emit(
            {"log": written.log}, out=out, as_json=as_json, store=store, subjects=written.subjects, items=written.items
        ):
            console.print(
                f"wrote {written.subjects:,} subjects × {written.items:,} items to {store}, {len(written.parts)} parts"
            )
        return
    table = read_responses(list(files), **how)
    if emit(table.tables(), out=out, as_json=as_json):
        return
    print_table(table.subjects, title="Subjects", rows=SHOWN)
    print_table(table.items, title="Items", rows=10)
    if table.log.height:
        print_table(table.log, title="What rules decided")
    console.print(f"{table.heading}; {table.subjects['rate'].to_numpy().mean():.1%} right on average.")


@app.command(
    epilog="Example: mensura responses fit logs/*.eval --model 2pl --out fitted\n\n" + list_settings(FitSettings)
)
def fit(
    files: Files,
    by: By = None,
    header: Header = True,
    columns: Map = None,
    weights: Annotated[str | None, typer.Option(help="Column of survey weights.", metavar="COLUMN")] = None,
    regress: Annotated[
        list[str] | None,
        typer.Option(help="Column to regress abilities on; repeatable. Also draws plausible values.", metavar="COLUMN"),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(help="Table of subject and such columns, if the responses lack them.", callback=check_input),
    ] = None,
    explain: Annotated[
        Path | None,
        typer.Option(help="Table of item and numbers, such as demands: explains difficulties.", callback=check_input),
    ] = None,
    dimensions: Annotated[
        str | None,
        typer.Option(
            help="Several abilities (2pl, graded, partial-credit): 2 to 4, or a table of item and dimension.",
            metavar="N|FILE",
        ),
    ] = None,
    bifactor: Annotated[bool, typer.Option("--bifactor", help="All items also ask for a general ability.")] = False,
    model: Annotated[
        str, typer.Option(help="rasch, 2pl or 3pl; for several categories graded, partial-credit or nominal.")
    ] = "2pl",
    reference: Annotated[
        str | None, typer.Option(help="Group whose abilities have mean 0 and sd 1 (people, by default).")
    ] = None,
    ray: Ray = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Fit an item response model: abilities, items, groups, differences between them, checks."""
    from mensura.responses import FitOptions, fit_categories, fit_responses, read_responses
    from mensura.responses.categories import CATEGORY_MODELS
    from mensura.responses.store import is_store

    rare = read_settings(settings, FitSettings)
    design = Design(weights, regress, people, explain, dimensions, bifactor, rare)
    design.refuse_unused(model, {"--reference": reference is not None, "--ray": ray is not None})
    only = {"by": by, "header": header, "columns": columns}
    if model in CATEGORY_MODELS:
        rare.refuse_counting(model)
    if dimensions is not None:
        reading = only if model in CATEGORY_MODELS else rare.reading(by, header, columns)
        design.show_dimensions(list(files), model, reading, {"out": out, "as_json": as_json})
        return
    if model in CATEGORY_MODELS:
        rest, survey, about = design.taken(files, header, columns)
        how: dict[str, Any] = {**only, "reference": reference, "device": rare.device}
        of_categories = fit_categories(rest, model=model, survey=survey, **how)
        show_categories(of_categories, design.regressed(of_categories, None, about, survey), out, as_json)
        return
    options = FitOptions(device=rare.device, abilities=rare.abilities, seed=rare.seed)
    if len(files) == 1 and is_store(files[0]):
        design.refuse_regression()
        survey = design.taken(files, header, columns)[1]
        result = fit_responses(files[0], model=model, reference=reference, options=options, survey=survey, ray=ray)
        more: list[Result | None] = [design.item_explanation(result)]
    else:
        rest, survey, about = design.taken(files, header, columns)
        responses = read_responses(rest, **rare.reading(by, header, columns))
        result = fit_responses(responses, model=model, reference=reference, options=options, survey=survey, ray=ray)
        more = [design.regressed(result, responses, about, survey), design.item_explanation(result)]
    facts = {
        "model": model,
        "log_likelihood": result.log_likelihood,
        "passes": result.passes,
        "converged": result.converged,
    }
    tables = result.tables() | {name: one for found in more if found for name, one in found.tables().items()}
    if emit(tables, out=out, as_json=as_json, **facts, warnings=list(result.warnings)):
        return
    print_fit(result, more)


@app.command(epilog="Example: mensura responses surprises logs/*.eval --out odd\n\n" + list_settings(CountSettings))
def surprises(
    files: Files,
    by: By = None,
    header: Header = True,
    columns: Map = None,
    model: Annotated[str, typer.Option(help="rasch, 2pl or 3pl.")] = "2pl",
    rate: Annotated[float, typer.Option(help="False discovery rate of both lists.")] = 0.05,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List answers far above a subject's ability, and odd subjects."""
    from mensura.responses import find_surprises, read_responses

    table = read_responses(list(files), **read_settings(settings, CountSettings).reading(by, header, columns))
    found = find_surprises(table, model=model, rate=rate)
    if emit(found.tables(), out=out, as_json=as_json, rate=rate, warnings=list(found.warnings)):
        return
    print_table(found.answers, title="Answers far above ability (leaked items?)", rows=SHOWN)
    print_table(found.subjects, title="Subjects, the least expected first (q: false discovery rate)", rows=10)
    for warning in found.warnings:
        print_note(warning, kind="warning")
    console.print(found.heading)


@app.command(epilog="Example: mensura responses draw fitted --item task:12 --out pictures")
def draw(
    folder: Folder,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the pictures.", file_okay=False, callback=check_output)
    ],
    item: Annotated[
        list[str] | None, typer.Option(help="Item whose curve is drawn; by default the three that fit worst.")
    ] = None,
    ending: Annotated[str, typer.Option("--format", help="png, svg or pdf.")] = "png",
    width: Annotated[float, typer.Option(help="Width in millimetres.")] = 183.0,
) -> None:
    """Draw a fit: item map, information, curves of items with what was observed, differences between groups."""
    from mensura.charts.render import check_figure
    from mensura.cli.response_pictures import draw_fit
    from mensura.core.folders import whole_folder
    from mensura.responses.result import read_fit

    check_figure(Path(f"any.{ending}"), width)
    drawn = draw_fit(read_fit(folder), item)
    with whole_folder(out, "responses draw") as stage:
        for name, chart in drawn.items():
            chart.save(stage / f"{name}.{ending}", width_mm=width)
    console.print(f"wrote {', '.join(f'{name}.{ending}' for name in drawn)} to {out}")


@app.command(epilog="Example: mensura responses link form-b form-a --out linked")
def link(
    new: Folder,
    base: Annotated[Path, typer.Argument(help="Folder of the fit whose scale is kept.", callback=check_input)],
    method: Annotated[str, typer.Option(help="stocking-lord, haebara or mean-sigma.")] = "stocking-lord",
    seed: Annotated[int, typer.Option(help="Seed of the draws that give the errors.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Put a fit on the scale of another by common items."""
    from mensura.core.frames import sort_highest
    from mensura.responses import link_fits

    linked = link_fits(new, base, method=method, seed=seed)
    if emit(linked.tables(), out=out, as_json=as_json, warnings=list(linked.warnings)):
        return
    print_table(linked.items, title="Common items on the scale of the base", rows=10)
    print_table(
        sort_highest(linked.subjects, "ability", "subject"), title="Subjects on the scale of the base", rows=SHOWN
    )
    for warning in linked.warnings:
        print_note(warning, kind="warning")
    console.print(f"{linked.heading}.")


@app.command(epilog="Example: mensura responses place fitted new.csv --group class")
def place(
    folder: Folder,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Answers of new people or models to items of the fit; without any, its own subjects are placed.",
            callback=check_inputs,
        ),
    ] = None,
    group: Annotated[str | None, typer.Option(help="Group of people of the fit.")] = None,
    rates: Annotated[
        Path | None, typer.Option(help="Table of item, rate[, low, high or n] of a population.", callback=check_input)
    ] = None,
    name: Annotated[str, typer.Option(help="What to call the people of the rates.")] = "people of the rates",
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Place abilities among people: share with as much, percentile, IQ-equivalent, with intervals."""
    from mensura.responses import place_among, read_responses, score_new
    from mensura.responses.result import read_fit

    fitted = read_fit(folder)
    if files:
        fitted = score_new(fitted, read_responses(list(files)))
    placed = place_among(fitted, group=group, rates=rates, name=name, seed=seed)
    if emit(placed.tables(), out=out, as_json=as_json, warnings=list(placed.warnings)):
        return
    print_placed(placed, () if files else few_beside_many(fitted))


app.command(epilog="Example: mensura responses select fitted/items.csv --size 30")(adaptive.select)
app.command("next", epilog="Example: mensura responses next fitted/items.csv partial.eval")(adaptive.next_)
