"""``mensura where`` and ``cost``: where one model is among models and people, and what capability costs."""

from typing import Annotated

import polars as pl

from mensura import study
from mensura.cli.findings import print_trust
from mensura.cli.inputs import load_evidence
from mensura.cli.options import AcceptedNames, AddedScores, EvidencePath, Json, Out, arg, opt
from mensura.cli.output import console, emit
from mensura.cli.tables import print_table, show
from mensura.core.cache import keep
from mensura.core.errors import listed_names
from mensura.core.frames import first_row
from mensura.evidence import Evidence, require_subject

_ROWS = 12  # of each table, the model itself always among them
_UNITS = {
    "sticker_price": "US dollars for a million tokens in and a million out",
    "effective_cost": "US dollars: list price times usage",
    "usage_multiplier": "tokens used, 1 is usual",
    "response_time": "seconds to an answer",
}


def where(
    model: Annotated[str, arg("The model, by its id or name.", metavar="MODEL")],
    evidence: EvidencePath = None,
    add: AddedScores = None,
    accept_near: AcceptedNames = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show where a model is: IQ and its basis, neighbours, people passed, price, what to measure next."""
    loaded = load_evidence(evidence, add, accept_near)
    subject = require_subject(loaded, model)
    result = study.find_whereabouts(study.Study.open(loaded), subject)
    tables = result.tables()
    emit(tables, heading=result.heading)
    row = result.standing.row(0, named=True)
    console.print(result.heading)
    if row["capability"] is not None:
        low, high = row["capability_low"], row["capability_high"]
        console.print(f"Capability on the stitched scale: {row['capability']:.2f} ({low:.2f} to {high:.2f})")
    if row["iq"] is None:
        needed = "one score on a benchmark that counts gives an IQ with a wide interval; more make it narrow enough"
        console.print(f"Needed: {needed} for a rank. mensura benchmarks lists them.")
    for use, names in _outside_composite(loaded, subject).items():
        console.print(f"No part of the IQ: its scores on {listed_names(names)}; they count for {use}")
    show({name: for_people(table, subject) for name, table in tables.items()}, "where")
    if tables["next"].height:
        best = tables["next"].row(0, named=True)
        share = f"{best['variance_explained']:.0%} of the variance of the IQ"
        console.print(f"The best next benchmark is {best['name']}: a score on it would remove {share}.")
    if row["iq"] is not None:
        print_trust("iq")


def _outside_composite(evidence: Evidence, subject: str) -> dict[str, list[str]]:
    """Return the scores of a model that are no part of the IQ by their use: who brought them looks for them."""
    from mensura.study.standing import CAPABILITY, FEW, NEITHER

    outside = evidence.benchmarks.filter(~pl.col("in_composite"))["benchmark"]
    mine = (pl.col("subject") == subject) & pl.col("benchmark").is_in(outside.implode())
    used = study.say_uses(evidence, evidence.primary_scores.filter(mine).select("subject", "benchmark"))
    words = {FEW: "the capability, and are read for the IQ", CAPABILITY: "the capability"}
    words[NEITHER] = "neither IQ nor capability"
    by_use = used.group_by("counts_for", maintain_order=True).agg("benchmark").select("counts_for", "benchmark")
    return {words[use]: names for use, names in by_use.iter_rows()}


def for_people(table: pl.DataFrame, subject: str) -> pl.DataFrame:
    """Return a table as people read it: chances in words, the model itself among the rows that are printed."""
    from mensura.study.units import chance

    if "chance_above" in table.columns:
        words = ["–" if value is None else chance(value) for value in table["chance_above"]]
        table = table.with_columns(chance_above=pl.Series(words))
    if "sticker_price" not in table.columns or subject in table["subject"].head(_ROWS):
        return table
    own = pl.col("subject") == subject
    return pl.concat([table.filter(~own).head(_ROWS - 1), table.filter(own), table.filter(~own).slice(_ROWS - 1)])


def cost(
    frontier: Annotated[bool, opt("Show the Pareto frontier of IQ against each cost.")] = False,
    at_least: Annotated[float | None, opt("Models with this IQ or more, cheapest first.", metavar="IQ")] = None,
    by: Annotated[str, opt("sticker_price, effective_cost, usage_multiplier or response_time.")] = "effective_cost",
    tasks: Annotated[bool, opt("Compare models with people's pay, by length of task.")] = False,
    wage: Annotated[str | None, opt("With --tasks: dollars an hour (default 45), or CSV of occupation, wage.")] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show list price, effective cost, task efficiency and response time of every model, beside its IQ."""
    from mensura import iq
    from mensura.iq.cost import require_axis

    require_axis(by)
    loaded = load_evidence(evidence, add)
    if tasks or wage is not None:
        _print_wages(loaded, wage or "45")
        return

    def compute() -> tuple[iq.CostResult, pl.DataFrame]:
        return iq.score_costs(loaded), iq.score_iq(loaded).composites.select("subject", "iq", *iq.COUNTS)

    costs, iqs = keep("costs", loaded, {}, compute)
    if frontier:
        tables = {f"frontier_{axis}": iq.frontier(iqs, costs.costs, axis) for axis in iq.COST_AXES}
    elif at_least is not None:
        tables = {"cheapest": iq.cheapest(iqs, costs.costs, at_least, by)}
    else:
        beside = costs.costs.join(iqs, on="subject", how="left", maintain_order="left")
        tables = {"costs": beside, "signals": costs.signals, "fits": costs.fits}
    emit(tables, note=iq.EFFECTIVE_COST_NOTE)
    if frontier:
        for axis in iq.COST_AXES:
            shown = tables[f"frontier_{axis}"].select("subject", "iq", axis)
            print_table(shown, title=f"No model is better for less {axis.replace('_', ' ')} ({_UNITS[axis]})")
    elif at_least is not None:
        words = f"{by.replace('_', ' ')} ({_UNITS[by]})"
        spare = ("basis", "inherited", "estimated", *(axis for axis in reversed(iq.COST_AXES) if axis != by))
        print_table(tables["cheapest"], title=f"IQ of at least {at_least:g}, lowest {words} first", spare=spare)
    else:
        prices = ("sticker_price", "usage_multiplier", "effective_cost", "response_time")
        shown = tables["costs"].select("subject", "iq", "measured", *prices, "status").sort(by, nulls_last=True)
        print_table(shown, title="Cost (US dollars for 1M tokens in and 1M out; seconds to an answer)")
    if not frontier:
        console.print(_finding(tables["cheapest"] if at_least is not None else shown, by))
    console.print(iq.EFFECTIVE_COST_NOTE, style="dim")


def _print_wages(evidence: Evidence, wage: str) -> None:
    """Print from which length of task a model is cheaper than people, and what a task costs."""
    from mensura.study.horizons import TASK_COST_NOTE, price_tasks

    bounds, lengths = price_tasks(evidence.models, wage)
    emit({"cheaper": bounds, "lengths": lengths}, note=TASK_COST_NOTE)
    show({"cheaper": bounds, "lengths": lengths.filter(minutes=60.0)}, "cost tasks")
    console.print(TASK_COST_NOTE, style="dim")


def _finding(sorted_by: pl.DataFrame, axis: str) -> str:
    """Say which model is the cheapest of the table."""
    first = first_row(sorted_by.drop_nulls(axis))
    if first is None:
        return "No model is as good as that." if sorted_by.is_empty() else f"No {axis.replace('_', ' ')} is known here."
    iq = "no IQ yet" if first["iq"] is None else f"an IQ of {first['iq']:.0f}"
    return f"{first['subject']} has the lowest {axis.replace('_', ' ')}: {first[axis]:.2f} ({_UNITS[axis]}), with {iq}."
