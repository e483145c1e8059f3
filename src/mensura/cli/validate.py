"""``mensura validate``: how well the whole of a pool is predicted from its groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mensura.cli.asking import Asking, DryRun, MaxCost, Models
from mensura.cli.estimating import MethodSettings, choose_estimating, read_pool, stack_models
from mensura.cli.options import Json, Out, arg, opt
from mensura.cli.output import console, emit, print_notes, progress_bar
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import print_filled, print_table

if TYPE_CHECKING:
    import polars as pl

    from mensura.extrapolation import Validation


@dataclass(frozen=True, kw_only=True)
class ValidateSettings(MethodSettings):
    """The rarer settings of ``mensura validate``."""

    draws: Annotated[int | None, "Draws of linking items (linked; 200 when left out)."] = None
    seed: Annotated[int, "Seed of draws, folds and bootstrap."] = 0


@takes(ValidateSettings)
def validate(
    pool_folder: Annotated[Path, arg("Folder with items.csv and group_rates.csv (tidy form), or example.")],
    situation: Annotated[str, opt("What is known: described, linked or slices.")] = "described",
    links: Annotated[
        int | None, opt("Linking items with known reference rates (linked; 3 when left out).", min=1)
    ] = None,
    method: Annotated[str | None, opt("Method by name; the best of the situation when left out.")] = None,
    model: Models = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Hide the whole sample's rates, predict them from each group, and score the predictions."""
    from mensura.extrapolation import cases_of, score_answers, validate as run

    rare = read_settings(settings, ValidateSettings)
    pool, description = read_pool(pool_folder)
    estimating = choose_estimating(method, Asking(model, max_cost, dry_run, rare), out, rare, {})
    judge = partial(run, pool, situation, links=links, description=description, draws=rare.draws, seed=rare.seed)
    models = None
    if not estimating:
        with progress_bar("groups", pool.groups.height - 1) as advance:
            result = judge(method=method, advance=advance)
    else:
        cases = cases_of(pool, description)
        if dry_run:
            for one in estimating:
                one.print_estimate(lambda chosen: [chosen.predict(case.task) for case in cases])
            return
        by_model = {}
        for one in estimating:
            with one.open("estimating") as chosen:
                result, models = judge(method=chosen), score_answers(chosen, cases)
            by_model[one.asking.name] = {**result.tables(), "models": models}
        if len(by_model) > 1:
            _emit_models(by_model, result.pool, situation, out, as_json)
            return
    parts = result.tables() if models is None else {**result.tables(), "models": models}
    facts: dict[str, object] = {"pool": result.pool, "situation": situation, "method": result.method}
    facts["warnings"] = list(result.warnings)
    if models is not None:
        facts["variants"] = _variants(result)
    if emit(parts, out, as_json, **facts):
        return
    if models is not None:
        by = ", ".join(result.summary["covariate"].unique(maintain_order=True))
        console.print(f"Prompt variants per item: {_variants(result)}; errors by {by} are in 'By focal group'.")
        print_table(models, title="The model's own answers, as published: each, and the mean per item", digits=3)
    errors = ["groups", "mae", "rmse", "bias", "coverage", "mae_identity"]
    plain = ["mae_shift"] if situation == "linked" else []
    title = f"{result.pool}: {situation}, method {result.method}, {result.level:.0%} intervals"
    title += "; mae_identity: error of the unchanged rate"
    print_table(result.overall.select("covariate", *errors, *plain), title=title, digits=3)
    kinds = ["pearson_within", "pearson_pooled", "spearman_within", "spearman_pooled"]
    title = "Correlations within groups and pooled"
    print_table(result.overall.select("covariate", *kinds), title=title, digits=3, spare=("spearman_pooled",))
    print_table(result.summary, title="By focal group", rows=20, digits=3)
    if result.comparison.height:
        import polars as pl

        counted = result.comparison.drop("note").cast({"n": pl.Int64})
        print_table(counted, title="Beside the paper's models (other items and countries)", digits=3)
    title = "Countries by alignment (k-means on r and mean absolute error), with cluster means"
    print_filled(result.clusters, title=title, digits=3)
    title = "Change of error per step of cultural distance (country to country), 90% intervals"
    print_filled(result.distance_slopes, title=title, digits=4)
    print_filled(result.dif, title="Items that behave differently in a group (largest first)", rows=8)
    print_notes(result.warnings, "warning")
    row = result.overall.row(-1, named=True)  # all groups, or the only covariate
    sure = f"; {result.level:.0%} intervals contained {row['coverage']:.0%} of them" if row["coverage"] else ""
    console.print(f"Predictions missed the hidden rates by {row['mae']:.3f} on average{sure}.")


def _variants(result: Validation) -> int:
    """Return how many variants of the prompt a language model was asked in; whole pools have one."""
    settings = result.settings.get("method")
    return int(settings.get("variants", 1)) if isinstance(settings, dict) else 1


def _emit_models(
    by_model: dict[str, dict[str, pl.DataFrame]], pool: str, situation: str, out: Path | None, as_json: bool
) -> None:
    """Emit the validations of several models below each other."""
    parts = stack_models(by_model)
    if emit(parts, out, as_json, pool=pool, situation=situation, models_asked=list(by_model)):
        return
    columns = ["model", "covariate", "groups", "mae", "rmse", "bias", "coverage", "mae_identity"]
    title = f"{pool}: {situation}, {len(by_model)} models side by side"
    print_table(parts["overall"].select(columns), title=title, rows=40, digits=3)
    print_table(parts["models"], title="The models' own answers: each, and the mean per item", rows=40, digits=3)
