"""How long item response models take beside girth, every model that it has, on the same answers in one run.

girth 0.8.0 needs older libraries for some models, so it may have an environment of its own: ``python -m venv peer``,
``peer/bin/pip install girth "numpy<2" "scipy<1.12"``, then ``--python peer/bin/python``. Seconds are those of one
processor. Both get arrays. girth estimates the parameters of items, and Mensura also their standard errors. ``all`` is
the time of Mensura from a table to a result with abilities, checks and the fit of items. One function computes both log
likelihoods.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.irt_data import simulate
from benchmarks.irt_speed import evidence_of
from benchmarks.measured import record
from mensura.core.processes import ONE_THREAD
from mensura.responses import FitOptions, fit_categories, fit_dimensions, fit_responses
from mensura.responses.category_table import dimension_answers
from mensura.responses.irt.categories import CategoryCounts, fit_categories_held, height_and_gradient
from mensura.responses.irt.category_curves import CategoryItems, begin
from mensura.responses.irt.dimensions import fit_dimensions_held
from mensura.responses.irt.fitting import fit_held, start
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import Held, Shard

PEER = {
    "rasch": "onepl_mml",
    "2pl": "twopl_mml",
    "3pl": "threepl_mml",
    "graded": "grm_mml",
    "partial-credit": "pcm_mml",
    "2pl, 2 dimensions": "multidimensional_twopl_mml",
    "graded, 2 dimensions": "multidimensional_grm_mml",
}
CATEGORIES = 4
_SCRIPT = """
import json, sys, time
import numpy as np
import girth
answers, used = np.load(sys.argv[1]), []
for size in (500, len(answers)):  # what is imported or compiled on first use takes no part
    began = time.process_time()
    found = getattr(girth, sys.argv[2])(answers[:size].T.copy(), *map(int, sys.argv[3:]))
    used.append(time.process_time() - began)
values = [np.asarray(found[name]).tolist() for name in ("Discrimination", "Difficulty")]
print(json.dumps([used[-1], *values]))
"""


def draw_ratings(subjects: int, items: int, dimensions: int, categories: int) -> np.ndarray:
    """Return graded answers from 0 on (subjects × items) whose items ask for one ability each."""
    rng = np.random.default_rng(7)
    ability = rng.normal(size=(subjects, dimensions))[:, np.arange(items) % dimensions]
    slope, middle = np.exp(rng.normal(0.2, 0.25, items)), rng.normal(0.0, 0.6, items)
    steps = middle[:, None] + (np.linspace(-1.0, 1.0, categories - 1) if categories > 2 else np.zeros(1))
    logits = slope[:, None] * (ability[:, :, None] - steps)
    return np.sum(1.0 / (1.0 + np.exp(-logits)) > rng.random((subjects, items, 1)), axis=2)


def answers_for(name: str, subjects: int, items: int) -> np.ndarray:
    """Return simulated answers for a model."""
    if name in ("rasch", "2pl", "3pl"):
        return simulate(subjects, items, seed=3, guessing=0.2 if name == "3pl" else 0.0)[0].astype(int)
    return draw_ratings(subjects, items, 1 + ("," in name), 2 if name.startswith("2pl") else CATEGORIES)


def as_table(answers: np.ndarray) -> pl.DataFrame:
    """Return a wide table of answers."""
    columns = {f"i{at}": answers[:, at] for at in range(answers.shape[1])}
    return pl.DataFrame({"subject": [f"s{row}" for row in range(len(answers))], **columns})


def fit_whole(name: str, answers: np.ndarray) -> Any:  # noqa: ANN401
    """Fit a model as a user does."""
    model, table = name.partition(",")[0], as_table(answers)
    if "," in name:
        return fit_dimensions(table, 2, model=model)
    if model in ("graded", "partial-credit"):
        return fit_categories(table, model=model, prior="none")
    return fit_responses(table, model=model, options=FitOptions(None if model == "3pl" else "none"))


def prepared(name: str, answers: np.ndarray) -> Callable[[], Any]:
    """Return what fits the parameters of items, with their standard errors, to arrays."""
    model, kinds = name.partition(",")[0], np.eye(int(answers.max()) + 1)[answers]
    if "," in name:
        ready = dimension_answers(as_table(answers), model)
        return lambda: fit_dimensions_held(ready.answered, ready.exploratory(2))
    if model in ("graded", "partial-credit"):
        counts = [CategoryCounts(kinds.reshape(len(answers), -1).astype(np.float32), 0)]
        begin_at = begin(model, list(kinds.mean(axis=0)), 1)
        return lambda: fit_categories_held(namespace(), counts, begin_at, None)
    held = Held([Shard(answers.astype(np.uint8), None, 0)])
    priors = Priors(None, None) if model == "3pl" else Priors(None, None, None, None)
    return lambda: fit_held(namespace(), held, start(model, answers.mean(axis=0), 1), priors)


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds of some work, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def fit_theirs(python: str, name: str, answers: np.ndarray) -> list[Any] | str:
    """Return girth's seconds, slopes and difficulties, or the last line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "answers.npy", answers)
        words = [python, "-c", _SCRIPT, f"{folder}/answers.npy", PEER[name], *(["2"] if "," in name else [])]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=ONE_THREAD | {"PATH": ""})
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def evidence(name: str, answers: np.ndarray, slope: Any, steps: Any) -> float:  # noqa: ANN401
    """Return the log likelihood of girth's items."""
    slope, steps = np.broadcast_to(np.asarray(slope, float), (answers.shape[1],)), np.asarray(steps, dtype=float)
    if name in ("rasch", "2pl"):
        return evidence_of(answers.astype(np.uint8), slope, -slope * steps)
    values, most = np.column_stack([slope, -slope[:, None] * steps]), steps.shape[1] + 1
    items = CategoryItems(name, np.full(len(slope), most), values, np.zeros(1), np.ones(1))
    counts = np.eye(most)[answers].reshape(len(answers), -1)
    return height_and_gradient(namespace(double=True), [CategoryCounts(counts, 0)], items, None)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, default=5000, help="subjects of every table")
    parser.add_argument("--items", type=int, default=30, help="items of every table")
    parser.add_argument("--models", nargs="+", default=list(PEER), choices=PEER, help="which models; default: all")
    parser.add_argument("--python", default=sys.executable, help="Python of the environment that has girth")
    chosen = parser.parse_args()
    print(f"{chosen.subjects:,} × {chosen.items}, CPU s of one processor")
    print(f"{'model':>21} {'all':>8} {'Mensura':>8} {'girth':>8} {'times':>6} {'log likelihood above':>21}")
    rows = []
    for name in chosen.models:
        answers = answers_for(name, chosen.subjects, chosen.items)
        fit_whole(name, answers[:100])  # what is imported on first use takes no part
        whole, _ = seconds_of(partial(fit_whole, name, answers))
        ours, fit = seconds_of(prepared(name, answers))
        found = fit_theirs(chosen.python, name, answers)
        row = {"model": name, "all": whole, "ours": ours}
        line = f"{name:>21} {whole:>8.2f} {ours:>8.2f}"
        if isinstance(found, str):
            line += f"  girth stops: {found}"
        else:
            row["theirs"] = found[0]
            line += f" {found[0]:>8.2f} {found[0] / ours:>6.1f}"
            if "," not in name and name != "3pl":
                row["gap"] = fit.evidence - evidence(name, answers, *found[1:])
                line += f" {row['gap']:>21.2f}"
        print(line, flush=True)
        rows.append(row)
    print(json.dumps(rows))
    times = [row["theirs"] / row["ours"] for row in rows if "theirs" in row]
    record("irt.peers", f"{min(times):.0f} to {max(times):.0f} times")


if __name__ == "__main__":
    run(main)
