"""``mensura responses fit``, ``compare`` and ``compare-subjects``: item response models, and comparisons of fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mensura import responses
from mensura.cli.findings import interval, say_dimensions
from mensura.cli.options import Json, Out, inarg, infile, opt
from mensura.cli.output import console, emit, given_options, print_notes
from mensura.cli.responses import SHOWN, By, CountSettings, Files, Map, few_beside_many
from mensura.cli.settings import Settings, changed, read_settings, takes
from mensura.cli.tables import print_own_first, print_table, show
from mensura.core.errors import MensuraError, check_choice

if TYPE_CHECKING:
    from mensura.core.results import Result
    from mensura.responses import DimensionFit, ResponseFit


@dataclass(frozen=True, kw_only=True)
class FitSettings(CountSettings):
    """The rarer settings of ``mensura responses fit``."""

    density: Annotated[str, "Density of abilities: normal, or estimated (skewed, two humps)."] = "normal"
    replicates: Annotated[str | None, "Columns of replicate weights, such as W_FSTR*."] = None
    replication: Annotated[str, "Design of the replicates: fay (PISA), brr, jackknife1 or jackknife2 (TIMSS)."] = "fay"
    cluster: Annotated[str | None, "Column of the sampling unit, such as a school."] = None
    rotation: Annotated[str, "Of --dimensions N: varimax, oblimin or none."] = "varimax"
    device: Annotated[str, "numpy, or PyTorch on cpu or cuda."] = "numpy"
    ray: Annotated[str | None, "Run on Ray: local, or the address of a cluster."] = None
    fix: Annotated[Path | None, "items.csv of another fit: its items keep their parameters and set the scale."] = None
    rater: Annotated[str | None, "Column of who rated: severities, of rating-scale and partial-credit-rasch."] = None
    times: Annotated[str | None, "Column of seconds per answer in a long table, such as rt: times and speeds."] = None


@takes(FitSettings)
def fit(
    files: Files,
    by: By = None,
    map_: Map = None,
    weights: Annotated[str | None, opt("Column of survey weights.", metavar="COLUMN")] = None,
    regress: Annotated[list[str] | None, opt("Column to regress abilities on; repeatable.")] = None,
    people: Annotated[Path | None, infile("Table of subject and these columns, if the answers lack them.")] = None,
    explain: Annotated[Path | None, infile("Table of item and numbers that may explain difficulties.")] = None,
    dimensions: Annotated[str | None, opt("Several abilities: 2 to 4, or a table of item and dimension.")] = None,
    bifactor: Annotated[bool, opt("Add a general ability that all items measure.", "--bifactor")] = False,
    model: Annotated[
        str, opt("rasch, 2pl, 3pl; ratings: graded, partial-credit[-rasch], rating-scale, nominal.")
    ] = "2pl",
    prior: Annotated[
        str | None, opt("Of items: weak, none (maximum likelihood) or a file; default: by the data.")
    ] = None,
    abilities: Annotated[str, opt("Estimate of abilities: eap, map, wle or ml.")] = "eap",
    reference: Annotated[str | None, opt("Group whose abilities have mean 0 and sd 1 (default: people).")] = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Fit an item response model: abilities, items, groups, differences between them, checks."""
    from mensura.intake.tables import read_table
    from mensura.responses.categories import CATEGORY_MODELS
    from mensura.responses.irt.model import MODELS
    from mensura.responses.store import is_store

    rare = read_settings(settings, FitSettings)
    check_choice("model", model, (*MODELS, *CATEGORY_MODELS))
    is_rated = model in CATEGORY_MODELS
    _refuse_unused(is_rated, dimensions is not None, rare)
    is_stored = not is_rated and dimensions is None and len(files) == 1 and is_store(files[0])
    if is_stored and (regress or rare.times):
        option = "--regress" if regress else "--set times"
        raise MensuraError(f"{option}: a response store keeps answers on disk; give the files it was made of instead")
    columns = [name for name in (weights, rare.replicates, rare.cluster, *(regress or ())) if name is not None]
    rest: list[Any] = list(files)
    about = survey = None
    if columns:
        rest, about = responses.take_columns(rest, columns, people, header=rare.header, columns=map_)
        if weights or rare.replicates or rare.cluster:
            survey = responses.Survey(about, weights, rare.replicates, rare.cluster, rare.replication)
    reading = rare.rating(model, by, map_) if is_rated else {}
    table = None if is_rated or is_stored else responses.read_responses(rest, **rare.reading(by, map_))
    source: Any = files[0] if is_stored else rest if table is None else table
    result: ResponseFit | DimensionFit
    if dimensions is not None:
        how: dict[str, Any] = {"bifactor": bifactor, "rotation": rare.rotation, "prior": prior, "survey": survey}
        result = responses.fit_dimensions(source, dimensions, model=model, **how, **reading)
    elif is_rated:
        how = {"survey": survey, "reference": reference, "device": rare.device, "prior": prior, "abilities": abilities}
        result = responses.fit_categories(source, model=model, **how, **reading)
    else:
        options = responses.FitOptions(
            prior, device=rare.device, density=rare.density, abilities=abilities, fixed=rare.fix
        )
        how = {"options": options, "survey": survey, "ray": rare.ray}
        result = responses.fit_responses(source, model=model, reference=reference, **how)
    more: list[Result] = []
    if regress and about is not None:
        counts = None if dimensions is not None else table
        how = {"on": regress, "survey": survey}
        more.append(responses.regress_abilities(result, counts, about, **how))
    if rare.times is not None and not isinstance(result, responses.DimensionFit):
        from mensura.responses.times import read_times

        seconds = read_times(files, rare.times, header=rare.header, columns=map_)
        more.append(responses.fit_times(result, table, seconds))
    if explain is not None and isinstance(result, responses.ResponseFit):
        more.append(responses.explain_items(result, read_table(explain)))
    facts = {name: getattr(result, name) for name in ("estimation", "log_likelihood", "passes", "converged")}
    if not isinstance(result, responses.DimensionFit):
        facts["log_posterior"] = result.log_posterior
    if is_rated and dimensions is None:
        facts["reliability"] = result.reliability  # type: ignore[union-attr]
    tables = result.tables() | {name: one for part in more for name, one in part.tables().items()}
    emit(tables, model=model, **facts, warnings=list(result.warnings))
    if isinstance(result, responses.DimensionFit):
        _print_dimensions(result, more)
    else:
        _print_fit(result, more)


_OF_RIGHT = {"--explain", "--set density", "--set ray", "--set fix"}
_OF_ONE_ABILITY = {"--reference", "--abilities", "--set device"}


def _refuse_unused(is_rated: bool, several: bool, rare: FitSettings) -> None:
    """Refuse options that the fit would leave aside."""
    rarer = ("density", "replicates", "replication", "cluster", "rotation", "device", "ray", "fix", "rater", "times")
    given = {f"--{name}" for name in given_options()} | {f"--set {name}" for name in changed(rare, *rarer)}
    of_right = not (several or is_rated)
    has_columns = given & {"--weights", "--regress", "--set replicates", "--set cluster"}
    rules: tuple[tuple[bool, str, set[str]], ...] = (
        (several, "it needs a table of --dimensions", {"--bifactor", "--set rotation"}),
        (bool(has_columns), "it belongs to --regress, --weights or replicates", {"--people", "--set replication"}),
        (of_right, "it is for right and wrong answers in one dimension", _OF_RIGHT),
        (not several, "several abilities have one population and posterior means", _OF_ONE_ABILITY),
        (not several and rare.rater is None, "times belong to one ability and one rater", {"--set times"}),
        (is_rated and not several, "rating-scale and partial-credit-rasch have severities", {"--set rater"}),
    )
    for is_usable, because, names in rules:
        if not is_usable and (useless := given & names):
            raise MensuraError(f"{min(useless)}: of no use here, because {because}. Leave it out")


def _print_fit(result: ResponseFit, more: Sequence[Result]) -> None:
    """Print abilities, items, groups, the tables that were asked for beside them, checks, and the highest ability."""
    from mensura.core.frames import sort_highest

    unit, is_rated = result.reference, bool(result.categories.height)
    ranked = sort_highest(result.subjects, "ability", "subject")
    title = f"Abilities (90% intervals; unit: one sd of {unit}). {result.heading}"
    print_own_first(ranked, () if is_rated else few_beside_many(result), title=title, rows=SHOWN)
    one_group = ("groups",) if result.groups.height == 1 else ()
    show({name: table for name, table in result.tables().items() if name not in one_group}, "responses fit")
    for part in more:
        print_table(next(iter(part.tables().values())), title=part.heading, rows=SHOWN, digits=3)
    show({"flagged": result.dif.filter("flagged"), "log": result.log}, "responses checks")
    if not is_rated:
        print_notes(result.checks["said"], "check")
    print_notes(result.warnings, "warning")
    best = ranked.row(0, named=True)
    ability = f"{best['ability']:.2f} {interval(best)}, where 0 is the mean of {unit} and 1 their standard deviation"
    console.print(f"{best['subject']} has the highest ability: {ability}.")


def _print_dimensions(result: DimensionFit, more: Sequence[Result]) -> None:
    """Print items, correlations and abilities of a fit of several abilities, and their regression."""
    rated = {"categories": result.intercepts} if "category" in result.intercepts.columns else {}
    show(result.tables() | rated, "responses dimensions", heading=result.heading)
    effects = next(iter(more[0].tables().values())) if more else None
    if effects is not None:
        print_table(effects, title=more[0].heading, rows=SHOWN, digits=3)
    print_notes(result.warnings, "warning")
    console.print(say_dimensions(result.items, result.correlations, effects))


def compare(
    fits: Annotated[list[Path], inarg("Folders of fits, two or more; files of their answers cross-validate them.")],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare fits of the same answers: AIC, BIC, M2, likelihood-ratio tests of nested models."""
    files = [one for one in fits if one.is_file()]
    result = responses.compare_fits([one for one in fits if one not in files], files or None)
    emit(result)
    show(result, "responses compare")
    print_notes(result.warnings, "warning")
    console.print(f"{result.heading}.")


def compare_subjects(
    files: Annotated[list[Path], inarg("Answers: tables, logs or folders of logs.")],
    subject: Annotated[list[str] | None, opt("Subject to compare; repeatable (default: all, pair by pair).")] = None,
    items: Annotated[Path | None, infile("Table of item and the column of --cluster.")] = None,
    cluster: Annotated[str | None, opt("Column of what items have in common, such as a passage.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare subjects, such as two models, on the same items: paired difference, tests, items needed."""
    result = responses.compare_subjects(list(files), subject, items=items, cluster=cluster)
    emit(result)
    show(result, "responses compare-subjects")
    console.print(f"{result.heading}.")
