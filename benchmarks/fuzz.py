"""Call every public verb with wrong arguments, and count the errors that do not help: ``python -m benchmarks.fuzz``.

Each try starts from a call that works on a small table and replaces one or two arguments, or spoils cells of the table.
The methods of what verbs return are called too, under names such as ``stitch.bootstrap``, but none that writes files.
A try holds when the verb returns, or raises MensuraError, or TypeError for a keyword it does not have. ``--tries N``
(default 4000), ``--seed S``, ``--verb NAME`` for one verb.
"""

from __future__ import annotations

import argparse
import collections
import datetime as dt
import inspect
import signal
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from mensura.people import ItemPool

SECONDS = 20
"""A try that takes longer is stopped and counts as held: it is slow, not wrong."""
NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 10**30, -(10**30), 2**63, 0.0, 0.5, -0.5, 1.5, float("nan"), float("inf"),
    -float("inf"), "", "x", "many", "world", "DEU", "\ud800", "a\x00b", "n" * 100_000, "../../etc/passwd", "table.csv",
    b"bytes", [], [None], [1, "a", None], (), {}, {"x": 1}, {1: 2}, {"gpt-5": float("nan")}, set(), object(),
    dt.date.min, dt.date.max, dt.datetime(2025, 1, 1), Path("/"), Path("missing"), np.nan, np.array([]),
    np.zeros((2, 3)),
    np.array(["a", "b"]), pl.DataFrame(), pl.DataFrame({"x": [1]}), pl.Series("a", [1, 2]), range(3), iter([1]), 3 + 4j,
)  # fmt: skip
CELLS: tuple[Any, ...] = (None, "", "x", float("nan"), float("inf"), -1.0, 2.0, 1e308, "1e999", "\ud800", True, 10**30)


def scores() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        (
            f"m{i}",
            f"b{j}",
            float(1 / (1 + np.exp(-(i - j) / 3 + rng.normal() * 0.3))),
            f"202{3 + i // 4}-0{1 + i % 4 * 2}-01",
        )
        for i in range(12)
        for j in range(6)
        if (i + j) % 5
    ]
    return pl.DataFrame(rows, schema=["subject", "benchmark", "score", "released"], orient="row")


def capabilities() -> pl.DataFrame:
    days = [dt.date(2023, 1, 1) + dt.timedelta(days=60 * i) for i in range(14)]
    return pl.DataFrame({"subject": [f"m{i}" for i in range(14)], "released": days, "capability": np.arange(14) / 5})


def responses() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    right = rng.random((60, 8)) < 0.6
    table = pl.DataFrame({f"q{j}": right[:, j].astype(int) for j in range(8)})
    return table.with_columns(person=pl.Series([f"p{i}" for i in range(60)])).select("person", pl.exclude("person"))


def pool() -> ItemPool:
    """Return a pool of answers by people of two countries."""
    rng = np.random.default_rng(4)
    items = pl.DataFrame({"item": [f"q{j}" for j in range(8)], "text": [f"What is {j} + 2?" for j in range(8)]})
    persons = pl.DataFrame({"person": [f"p{i}" for i in range(60)], "country": ["DEU", "IND"] * 30})
    answers = responses().with_columns(pl.Series("q0", rng.integers(0, 2, 60)))
    return ItemPool.from_answers("fuzz", items, answers, persons)


def base_calls() -> dict[str, dict[str, Any]]:
    """Return for each verb the arguments of a call that works, by name."""
    rng = np.random.default_rng(3)
    items = [f"i{k}" for k in range(30)]
    rates = pl.DataFrame({"item": items, "rate": rng.uniform(0.1, 0.9, 30)})
    demands = pl.DataFrame({"item": items, "VO": rng.integers(0, 5, 30), "KN": rng.integers(0, 5, 30)})
    outcomes = pl.DataFrame({"subject": ["m"] * 30, "item": items, "correct": rng.integers(0, 2, 30)})
    estimates = pl.DataFrame(
        {"item": items, "rate": rates["rate"], "low": rates["rate"] * 0.8, "high": rates["rate"] ** 0.5}
    )
    texts = pl.DataFrame(
        {"item": items, "text": [f"What is {k} + 2?" for k in range(30)], "answer": [str(k + 2) for k in range(30)]}
    )
    few = mensura.load()
    result = mensura.score_iq(few)
    return {
        "calibrate": {"rates": rates, "demands": demands, "draws": 20},
        "compare_iq": {"before": result, "after": result},
        "estimate_baseline": {"items": texts, "people": "adults in Germany", "estimates": estimates},
        "fit_responses": {"responses": responses()},
        "forecast": {"capabilities": capabilities()},
        "load": {"path": None},
        "measure_progress": {"models": capabilities().with_columns(training_compute_flop=pl.lit(1e24))},
        "profile": {"outcomes": outcomes, "demands": demands, "draws": 20},
        "score_costs": {"evidence": few},
        "score_iq": {"evidence": few, "method": "published"},
        "stitch": {"scores": scores()},
        "extrapolate": {"pool": pool(), "draws": 20},
        "validate": {"pool": pool(), "draws": 20},
        "annotate": {"pool": texts, "model": "no-such-model"},
        "watch_acceleration": {"scores": scores(), "streams": 19},
    }


def public_verbs(calls: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return every verb and every public method of its result, each with the arguments of a call that works."""
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}
    for name, arguments in calls.items():
        verb = getattr(mensura, name)
        found[name] = verb, dict(arguments)
        try:
            result = verb(**arguments)
        except mensura.MensuraError:  # what asks a language model has none here
            continue
        for method in dir(type(result)):
            called = getattr(result, method) if callable(getattr(type(result), method)) else None
            if called is not None and not method.startswith(("_", "save")) and inspect.signature(called).parameters:
                found[f"{name}.{method}"] = called, {}
    return found


class TooSlowError(Exception):
    """The try took longer than it may."""


def spoil(table: pl.DataFrame, rng: np.random.Generator) -> Any:  # noqa: ANN401
    """Replace a few cells, drop or double a column, or empty the table."""
    kind = int(rng.integers(5))
    if kind == 0:
        return table.head(int(rng.integers(3)))
    if kind == 1:
        return table.drop(str(rng.choice(table.columns)))
    if kind == 2:
        return table.rename({str(rng.choice(table.columns)): str(rng.choice(["x", "", "subject ", "Score"]))})
    rows = table.to_dicts()
    for _ in range(int(rng.integers(1, 4))):
        rows[int(rng.integers(len(rows)))][str(rng.choice(table.columns))] = CELLS[int(rng.integers(len(CELLS)))]
    if kind == 3:
        return rows
    return pl.DataFrame({name: [str(row[name]).replace("\ud800", "?") for row in rows] for name in table.columns})


def spoiled(arguments: Mapping[str, Any], names: list[str], rng: np.random.Generator) -> dict[str, Any]:
    """Return the arguments with one or two of them wrong."""
    changed = dict(arguments)
    for name in rng.choice(names, size=min(len(names), int(rng.integers(1, 3))), replace=False):
        value = changed.get(name)
        if isinstance(value, pl.DataFrame) and rng.random() < 0.7:
            changed[name] = spoil(value, rng)
        else:
            changed[name] = NASTY[int(rng.integers(len(NASTY)))]
    return changed


def attempt(verb: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """Make one call; return where it went wrong, or None where it held."""
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = verb(**arguments)
            if hasattr(found, "warnings"):
                _ = found.heading, found.warnings
    except (mensura.MensuraError, TooSlowError):
        return None
    except TypeError as fault:
        if "unexpected keyword argument" in str(fault) or "required" in str(fault):
            return None
        return where(fault)
    except Exception as fault:
        return where(fault)
    finally:
        signal.alarm(0)
    return None


def where(fault: BaseException) -> str:
    """Say what an exception is and where in the package it came from."""
    last = [frame for frame in traceback.extract_tb(fault.__traceback__) if "mensura" in frame.filename]
    place = f"{Path(last[-1].filename).name}:{last[-1].lineno}" if last else "?"
    return f"{type(fault).__name__} at {place}: {str(fault)[:90]}"


def late(*_: object) -> None:
    """Stop a try that takes too long."""
    raise TooSlowError


def attack(tries: int, seed: int, only: str | None = None) -> int:
    """Make so many wrong calls; print each new fault and return how many calls failed."""
    signal.signal(signal.SIGALRM, late)
    rng, calls = np.random.default_rng(seed), public_verbs(base_calls())
    verbs = [name for name in sorted(calls) if only is None or name.startswith(only)]
    faults: collections.Counter[str] = collections.Counter()
    for turn in range(tries):
        name = verbs[turn % len(verbs)]
        verb, works = calls[name]
        keys = [one.name for one in inspect.signature(verb).parameters.values() if one.kind is not one.VAR_KEYWORD]
        given = spoiled(works, keys, rng)
        fault = attempt(verb, given)
        if fault:
            odd = {key: repr(value)[:40] for key, value in given.items() if value is not works.get(key)}
            faults[f"{name}: {fault}"] += 1
            if faults[f"{name}: {fault}"] == 1:
                print(ascii(f"{name}: {fault} with {odd}"), flush=True)
    return sum(faults.values())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verb")
    chosen = parser.parse_args()
    failed = attack(chosen.tries, chosen.seed, chosen.verb)
    print(f"tried {chosen.tries}, held {chosen.tries - failed}, failed {failed}")


if __name__ == "__main__":
    run(main)
