"""Call every public verb with wrong arguments, and count the errors that do not help: ``python -m benchmarks.fuzz``.

:func:`fit_small_table` fits a small or extreme table of answers. It holds when a result of finite numbers comes, or a
MensuraError that names what is wrong.

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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

import mensura
from benchmarks import run
from mensura.exam.file import Exam
from mensura.exam.items import ExamItem
from mensura.exam.report import ExamReport, report_exam
from mensura.exam.settings import ExamSettings
from mensura.people import ItemPool
from mensura.responses import FitOptions, Survey, fit_categories, fit_dimensions, fit_responses, place_among
from mensura.responses.categories import CATEGORY_MODELS

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
        "validate": {"pool": pool(), "situation": "linked", "draws": 20},
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


FITS = (
    "rasch", "2pl", "3pl", "rasch in groups", "2pl in groups", "3pl in groups", "2pl of repeats", "rasch of shares",
    "2pl of a survey", "2pl with estimated abilities", "graded", "partial-credit", "nominal", "graded in groups",
    "2 dimensions", "2 dimensions of graded", "bifactor", "exam", "rating-scale", "partial-credit-rasch in groups",
    "graded of a survey", "nominal in groups", "2 dimensions of a survey", "bifactor of a survey", "3pl of a survey",
)  # fmt: skip
EXTREMES = (
    "ordinary", "all right", "all wrong", "all or nothing", "constant items", "duplicated items", "much missing",
    "one person", "one item", "ordered without error", "opposite items", "one right answer", "people alike",
    "missing block", "missing category", "extreme weights",
)  # fmt: skip


def small_answers(extreme: str, top: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return answers from 0 to ``top`` of a few people to a few items, one column per item."""
    people = 1 if extreme == "one person" else int(rng.choice([2, 3, 5, 8, 15, 27, 40, 80]))
    items = 1 if extreme == "one item" else int(rng.choice([2, 3, 4, 6, 10, 20]))
    ability = 1.2 * rng.normal(size=people)
    chance = 1.0 / (1.0 + np.exp(rng.normal(size=items) - ability[:, None]))
    given = rng.binomial(top, chance).astype(np.float64)
    above = (ability > 0.0)[:, None]
    if extreme in ("all right", "all wrong"):
        given[:] = top * (extreme == "all right")
    elif extreme == "all or nothing":
        given[:] = top * above
    elif extreme == "constant items":
        given[:, rng.random(items) < 0.6] = top * int(rng.integers(2))
    elif extreme == "duplicated items":
        given = given[:, rng.integers(0, items, items)]
    elif extreme == "much missing":
        given[rng.random(given.shape) < rng.uniform(0.3, 0.95)] = np.nan
    elif extreme == "ordered without error":
        given = 1.0 * top * (np.arange(people)[:, None] % (items + 1) > np.arange(items))
    elif extreme == "opposite items":
        given[:, ::2], given[:, 1::2] = top * above, top * ~above
    elif extreme == "one right answer":
        given[:], given[0, 0] = 0.0, top
    elif extreme == "people alike":
        given[:] = given[0]
    elif extreme == "missing block":
        given[: people // 2, : items // 2] = np.nan
    elif extreme == "missing category":
        given[given == 1] = top
    columns = {f"q{place}": given[:, place] for place in range(items)}
    return pl.DataFrame({"subject": [f"p{one}" for one in range(people)], **columns}, nan_to_null=True)


def fit_small(fit: str, answers: pl.DataFrame, rng: np.random.Generator, widest: float) -> Iterator[Any]:
    """Fit answers as ``fit`` names it; yield every result. Weights lie between 1/``widest`` and ``widest``."""
    model, groups = fit.split()[0], pl.Series("group", np.where(np.arange(answers.height) % 2, "b", "a"))
    if fit == "exam":
        yield report_on(answers)
        return
    answers = answers.with_columns(groups) if fit.endswith("in groups") else answers
    if fit.endswith("of repeats"):
        answers = pl.concat([answers, answers, answers.with_columns(cs.float() * rng.integers(0, 2))])
    elif fit.endswith("of shares"):
        answers = answers.with_columns(cs.float() * float(rng.random()))
    names = [name for name in answers.columns if name.startswith("q")]
    weights = answers.select("subject").unique(maintain_order=True)
    weights = weights.with_columns(weight=pl.Series(widest ** rng.uniform(-1.0, 1.0, weights.height)))
    survey = Survey(weights, weights="weight") if fit.endswith("survey") else None
    if model == "2":
        yield fit_dimensions(answers, 2, model="graded" if fit.endswith("of graded") else "2pl", survey=survey)
    elif model == "bifactor":
        pairs = {"item": names, "dimension": [("x", "y")[place % 2] for place in range(len(names))]}
        yield fit_dimensions(answers, pl.DataFrame(pairs), bifactor=True, survey=survey)
    elif model in CATEGORY_MODELS:
        yield fit_categories(answers, model=model, survey=survey)
    else:
        options = FitOptions(density="estimated" if fit.endswith("abilities") else "normal")
        result = fit_responses(answers, model=model, options=options, survey=survey)
        yield result
        yield from (place_among(result, group=group) for group in result.groups["group"])


def report_on(answers: pl.DataFrame) -> ExamReport:
    """Report on an exam that these subjects took: people, and one model in four."""
    kinds = pl.Series("kind", np.where(np.arange(answers.height) % 4 == 3, "models", "people"))
    names = [name for name in answers.columns if name != "subject"]
    items = tuple(ExamItem(item=name, text=name, options=("a", "b"), key=("a",), scoring="choice") for name in names)
    settings = ExamSettings(title="Small", instructions="Answer.", consent={"text": "We store your answers."})
    long = answers.with_columns(kinds).unpivot(index=["subject", "kind"], variable_name="item", value_name="score")
    right = pl.when(pl.col("score") > 0).then(pl.lit("right")).otherwise(pl.lit("wrong"))
    outcomes = long.drop_nulls("score").with_columns(
        repeat=0, outcome=right, seconds=10.0, cost=pl.lit(None, dtype=pl.Float64), answer=pl.lit("a")
    )
    takers = (
        answers.with_columns(kinds)
        .filter(pl.col("kind") == "people")
        .select(
            "subject",
            items=len(names),
            answered=len(names),
            late=0,
            finished=True,
            seconds=10.0,
            left=0,
            failed_checks=0,
        )
    )
    return report_exam(Exam(Path(), settings, items), outcomes, takers)


def fit_small_table(seed: int) -> str | None:
    """Fit the small table of a seed; return what went wrong, or None where it held."""
    rng = np.random.default_rng(seed)
    fit, extreme = FITS[seed % len(FITS)], EXTREMES[int(rng.integers(len(EXTREMES)))]
    categories = fit.split()[0] in CATEGORY_MODELS or fit.endswith("of graded")
    answers = small_answers(extreme, int(rng.integers(2, 5)) if categories else 1, rng)
    label = f"{fit}, {extreme}, {answers.height} people x {answers.width - 1} items, seed {seed}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for result in fit_small(fit, answers, rng, 1e6 if extreme == "extreme weights" else 3.0):
                str(result)
                for name, table in result.tables().items():
                    for column in table.select(cs.float()).iter_columns():
                        if not column.drop_nulls().is_finite().all():
                            return f"{label}: {name}.csv has an infinite {column.name}"
    except mensura.MensuraError as fault:
        return None if len(str(fault).split()) > 4 else f"{label}: {fault!r} helps nobody"
    except Exception as fault:
        return f"{label}: {where(fault)}"
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
