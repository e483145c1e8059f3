"""Language model, statistical method, ensemble and identity on recorded part-to-whole estimates, per focal group.

``python -m benchmarks.llm_extrapolation``. The recordings hold a language model's estimates of a whole
sample's rates from one group's, with the truth; eight groups of three pools, one prompt of 45 items each. Corrections,
weights and priors are learned on the other pools only, so what is said here rests on three pools and one model: a
group counts as one observation of how a model misjudges groups, and only pools tell how that carries over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.optimize import nnls

from benchmarks import development_data, run
from benchmarks.extrapolation_pools import development_pools, priors_without
from benchmarks.measured import record
from benchmarks.simulated_model import ErrorShape, SimulatedModel
from mensura.core.arrays import Floats, expit, logit
from mensura.core.errors import MensuraError
from mensura.core.frames import text_table
from mensura.extrapolation import (
    Correction,
    Described,
    Prediction,
    Task,
    WholePool,
    cases_of,
    extrapolate,
    measure_distance,
)
from mensura.extrapolation.correction import NEAREST
from mensura.extrapolation.descriptions import read_description
from mensura.extrapolation.scoring import agreement
from mensura.llm import Answer, Question, Reader
from mensura.people import ItemPool
from tools.learn_correction import learn_correction

ONE_GROUP = "one-group-per-prompt"
LM, CORRECTED, LINE, MIXED, EVEN, PLAIN = "raw", "corrected", "described", "ensemble", "even_mix", "identity"
METHODS = (LM, CORRECTED, LINE, MIXED, EVEN, PLAIN)
MEMBERS = (CORRECTED, LINE)
SIMULATED = ErrorShape(item=0.044, prompt=0.02, repeat=0.024)
"""Errors as recorded: 0.054 in all, two thirds of its square shared by two prompts."""
SEEDS = 20
TIE = 1e3
"""How firmly the weights are held to a sum of 1, against errors of about 1 logit."""
Bounds = tuple[Floats, Floats, Floats]
"""Rates with lower and upper bounds."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One focal group: its task on the recorded items, the truth, the recorded answers, and who predicts what."""

    pool: str
    group: str
    task: Task
    truth: Floats
    records: pl.DataFrame
    found: dict[str, Bounds]

    def figures(self, name: str) -> dict[str, float]:
        """Return the mean absolute error and the coverage of one method."""
        rate, low, high = self.found[name]
        found = agreement(rate, self.truth, low, high)
        return {"mae": float(found["mae"]), "coverage": float(found["coverage"])}


def read_cells(records: pl.DataFrame, priors: Mapping[str, pl.DataFrame]) -> list[Cell]:
    """Return one cell per recorded focal group, with the answers as recorded, identity and the statistical method."""
    cells = []
    for (pool, group), table in records.group_by("pool", "group", maintain_order=True):
        folder = development_data("human", str(pool))
        case = next(c for c in cases_of(ItemPool.read(folder), read_description(folder)) if c.group == group)
        place = {item: k for k, item in enumerate(case.items)}
        keep = [place[item] for item in table["item"]]
        task, truth = narrow(case.task, keep), table["whole"].to_numpy()
        if np.abs(case.truth[keep] - truth).max() > 0.001:
            raise SystemExit(f"{pool}, {group}: the recorded truth is not that of the pool")
        line = Described(priors=priors[str(pool)]).predict(task)
        raw = tuple(table[name].to_numpy() for name in ("estimate", "low", "high"))
        found = {LM: raw, LINE: _first(line), PLAIN: (task.rate,) * 3}
        cells.append(Cell(str(pool), str(group), task, truth, table, found))
    return cells


def narrow(task: Task, keep: Sequence[int]) -> Task:
    """Return a task on some of its items."""
    arrays = {name: getattr(task, name)[list(keep)] for name in ("rate", "n", "links_n", "share")}
    offset = None if task.offset is None else task.offset[list(keep)]
    return replace(task, items=task.items[list(keep)], links=task.links[:, list(keep)], offset=offset, **arrays)


def add_learned(cells: Sequence[Cell]) -> dict[str, tuple[float, ...]]:
    """Add the corrected model and the mixtures to every cell, learned without its pool; return the weights."""
    weights = {}
    for pool in dict.fromkeys(cell.pool for cell in cells):
        others, own = ([c for c in cells if (c.pool == pool) == mine] for mine in (False, True))
        correction = learn_correction(pl.concat([cell.records for cell in others]))
        errors = np.concatenate([_errors(cell, corrected(cell, correction)) for cell in others], axis=1)
        weights[pool] = learn_weights(errors, [f"{cell.pool} {cell.group}" for cell in others for _ in cell.truth])
        for cell in own:
            cell.found[CORRECTED] = corrected(cell, correction)
            cell.found[MIXED] = _mixed(cell, weights[pool])
            cell.found[EVEN] = _mixed(cell, (0.5, 0.5))
    return weights


def learn_weights(errors: Floats, groups: Sequence[object]) -> tuple[float, ...]:
    """Return the weights of 0 or more, adding up to 1, with the least mean squared error on cells seen elsewhere.

    ``errors``: members × cells, prediction minus truth, in logits. ``groups``: the focal group of each cell; every
    group counts alike. Members' errors go together, since they start from the same rates: inverse squared errors,
    which overlook that, give a poor member too much. With covariance S of the errors this is the least of w'Sw (Bates
    and Granger, Operational Research Quarterly 20, 1969), held to 0 or more.
    """
    names, place = np.unique(np.array([repr(group) for group in groups]), return_inverse=True)
    share = 1 / (np.bincount(place)[place] * len(names))
    rows = np.vstack([(errors * np.sqrt(share)).T, np.full((1, len(errors)), TIE)])
    weights, _ = nnls(rows, np.append(np.zeros(errors.shape[1]), TIE))
    return tuple((weights / weights.sum()).tolist())


def corrected(cell: Cell, correction: Correction) -> Bounds:
    """Return the recorded answers, corrected."""
    rate, low, high = cell.found[LM]
    found = correction.apply(cell.task, rate, (_logits(high) - _logits(low)) / 2, 0.9)
    return found[0][0], found[1][0], found[2][0]


def _errors(cell: Cell, model: Bounds) -> Floats:
    """Return prediction minus truth in logits, members × items."""
    return np.stack([_logits(part[0]) - _logits(cell.truth) for part in (model, cell.found[LINE])])


def _mixed(cell: Cell, weights: Sequence[float]) -> Bounds:
    parts = [np.stack([_logits(part) for part in cell.found[name]]) for name in MEMBERS]
    rate, low, high = expit(np.tensordot(np.asarray(weights), np.stack(parts), axes=1))
    return rate, low, high


def _first(prediction: Prediction) -> Bounds:
    return prediction.rate[0], prediction.low[0], prediction.high[0]


def _logits(rate: Floats) -> Floats:
    return logit(np.clip(rate, NEAREST, 1 - NEAREST))


def report(cells: Sequence[Cell]) -> dict[str, object]:
    """Print errors and coverage per focal group and return their means."""
    errors = pl.DataFrame(
        [{"pool": c.pool, "group": c.group, **{m: c.figures(m)["mae"] for m in METHODS}} for c in cells]
    )
    kinds = [method for method in METHODS if method != PLAIN]
    cover = pl.DataFrame(
        [{"pool": c.pool, "group": c.group, **{m: c.figures(m)["coverage"] for m in kinds}} for c in cells]
    )
    print("Mean absolute error per focal group; corrected, ensemble and described learned without the group's pool")
    print(text_table(errors, rows=errors.height, digits=4))
    print("\nCoverage of 90% intervals")
    print(text_table(cover, rows=cover.height, digits=3))
    mae = {name: float(errors[name].to_numpy().mean()) for name in METHODS}
    covered = {name: cover[name].to_numpy() for name in kinds}
    best = min(mae[name] for name in (LM, *MEMBERS))
    print("\nmeans: " + ", ".join(f"{name} {value:.4f}" for name, value in mae.items()))
    return {
        "mae": mae,
        "coverage": {name: float(values.mean()) for name, values in covered.items()},
        "coverage_range": {name: [float(values.min()), float(values.max())] for name, values in covered.items()},
        "ensemble_against_best_member": mae[MIXED] / best - 1,
        "even_mix_against_best_member": mae[EVEN] / best - 1,
    }


def repeats(records: pl.DataFrame) -> dict[str, float]:
    """Return how alike the errors of two prompts are on the cells both have, and what their mean is worth."""
    keys = ["pool", "group", "item"]
    one, other = (records.filter((pl.col("design") == ONE_GROUP) == flag) for flag in (True, False))
    both = one.join(other.select(*keys, second="estimate"), on=keys)
    truth, first, second = (both[name].to_numpy() for name in ("whole", "estimate", "second"))
    figures = {
        "cells": both.height,
        "error_correlation": float(np.corrcoef(first - truth, second - truth)[0, 1]),
        "mae_45_items_one_group": float(np.abs(first - truth).mean()),
        "mae_10_items_several_groups": float(np.abs(second - truth).mean()),
        "mae_mean_of_both": float(np.abs((first + second) / 2 - truth).mean()),
    }
    print(
        f"\nTwo prompts on the same {both.height} cells (45 items of one group; about 10 of each of several groups): "
        f"errors correlate {figures['error_correlation']:.2f}; mean absolute errors "
        f"{figures['mae_45_items_one_group']:.4f} and {figures['mae_10_items_several_groups']:.4f}, of their mean "
        f"{figures['mae_mean_of_both']:.4f}. The second prompt also showed other groups of the pool, so this is no "
        "clean test of the chunk size."
    )
    return figures


def chunks(task: Task, truth: Floats) -> pl.DataFrame:
    """Return what chunk size and repeats give with a model that errs as the recorded one: prompts, length, error."""
    rows = []
    for chunk, times in ((1, 1), (5, 1), (15, 1), (45, 1), (45, 2), (45, 5), (15, 5)):
        found = []
        for seed in range(SEEDS):
            asker = Counting(SimulatedModel(dict(zip(task.names, truth, strict=True)), SIMULATED, seed=seed))
            rate = WholePool(asker, chunk=chunk, repeats=times).ask(task).rate
            found.append((np.abs(rate - truth).mean(), len(asker.lengths), sum(asker.lengths) / len(truth)))
        error, prompts, length = np.mean(found, axis=0)
        rows.append({"chunk": chunk, "repeats": times, "prompts": prompts, "characters_per_item": length, "mae": error})
    return pl.DataFrame(rows)


class Counting:
    """An asker that passes questions on and notes how long they are."""

    def __init__(self, inner: SimulatedModel) -> None:
        self.inner, self.model = inner, inner.model
        self.lengths: list[int] = []

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Pass questions on."""
        self.lengths += [len(question.system) + len(question.prompt) for question in questions]
        return self.inner.ask(questions, read)


def distances() -> pl.DataFrame:
    """Return the distance to the world of the recorded world estimates and of statistical ones on the same items."""
    items, world = (pl.read_csv(development_data("items", f"{name}.csv")) for name in ("items", "world_estimates"))
    parts = []
    for (pool,), table in items.group_by("pool", maintain_order=True):
        observed = table.select("item", "rate")
        estimates = {"language model": world.select("item", "rate"), **statistical(str(pool), table)}
        parts.append(measure_distance(observed, estimates).insert_column(0, pl.lit(str(pool)).alias("pool")))
    return pl.concat(parts)


def statistical(pool: str, table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return world estimates of the statistical methods, where the pool's own folder says who was tested."""
    folders = development_data("human").iterdir()
    folder = next((path for path in folders if path.name.split("_")[0].startswith(pool)), None)
    if folder is None:
        return {}
    found = {}
    for method in ("poststratification", "described"):
        try:
            result = extrapolate(folder, method=method)
        except MensuraError:
            continue
        keys = dict(zip((item.split(":", 1)[1] for item in table["item"]), table["item"], strict=True))
        rates = result.table.filter(pl.col("item").is_in(list(keys)))
        found[method] = rates.select(pl.col("item").replace_strict(keys), "rate")
    return {method: rates for method, rates in found.items() if rates.height}


def main() -> None:
    records = pl.read_csv(development_data("items", "part_to_whole.csv"))
    recorded = records.filter(pl.col("design") == ONE_GROUP)
    pools = development_pools()
    priors = {pool: priors_without(pools, pools[pool].family) for pool in recorded["pool"].unique()}
    cells = read_cells(recorded, priors)
    weights = add_learned(cells)
    figures = report(cells)
    print(f"weights of {', '.join(MEMBERS)} by pool left out: {weights}")
    figures |= {"weights": {pool: list(found) for pool, found in weights.items()}, "repeats": repeats(records)}
    sizes = chunks(cells[0].task, cells[0].truth)
    print("\nChunk size and repeats with a simulated model of the recorded errors (uncorrected)")
    print(text_table(sizes, rows=sizes.height, digits=4))
    table = distances()
    print(
        "\nDistance to the world: mean of |world estimate − observed rate|, no error (nobody knows the world's rates)"
    )
    print(text_table(table, rows=table.height, digits=3))
    missing = ["no recordings of one item per call", "one language model", f"{len(weights)} pools to leave out"]
    print("\nWhat is missing: " + "; ".join(missing) + ".")
    print(
        json.dumps(_rounded({**figures, "chunks": sizes.to_dicts(), "distance": table.to_dicts(), "missing": missing}))
    )
    record("asking.even_mix_loss", f"{figures['even_mix_against_best_member']:.0%}")
    record("asking.ensemble_loss", f"{figures['ensemble_against_best_member']:.1%}")


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    run(main)
