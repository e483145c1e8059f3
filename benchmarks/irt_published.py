"""Compare item response results with the values that mirt 1.47 prints for the same answers.

The tables are development data and not part of the project. ``--small N`` also fits N small or
extreme tables, which must give finite numbers or a sentence.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import minimize
from scipy.special import logsumexp

from benchmarks import SHARED, run
from benchmarks.fuzz import fit_small_table
from benchmarks.measured import record
from mensura.responses import (
    FitOptions,
    Survey,
    fit_categories,
    fit_dimensions,
    fit_responses,
    read_responses,
    take_columns,
)
from mensura.responses.irt.differences import RightAnswers, _laid, _tested
from mensura.responses.irt.fitting import over, start
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import Grid
from mensura.responses.irt.priors import Priors, prior_terms
from mensura.responses.irt.shards import dense, of_matrix

FOLDER = SHARED / "data" / "psychometrics"
CASES = (
    ("lsat7", "rasch", "rasch"),
    ("lsat7", "2pl", "2pl"),
    ("lsat7", "3pl", "3plprior"),
    ("sat12", "rasch", "rasch"),
    ("sat12", "2pl", "2pl"),
    ("sat12", "3pl", "3plprior"),
    ("science", "graded", "graded"),
    ("science", "partial-credit", "gpcm"),
    ("science", "nominal", "nominal"),
    ("bfi10", "graded", "graded"),
    ("bfi10", "partial-credit", "gpcm"),
    ("bfi10", "nominal", "nominal"),
)


def printed_likelihood(name: str) -> float:
    """Return a log likelihood that mirt printed."""
    text = (FOLDER / "mirt/printed.txt").read_text()
    found = re.search(rf"^{name} LL (-[\d.]+)", text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def slopes(name: str, kind: str) -> pl.DataFrame:
    """Return slopes and their errors that mirt printed; those of Rasch are fixed."""
    table = pl.read_csv(FOLDER / f"mirt/R_{name}_{kind}_pars.csv", null_values="NA", infer_schema_length=None)
    return table.filter((pl.col("par") == "a1") & pl.col("se").is_not_null())


def compare_fit(name: str, model: str, kind: str) -> dict[str, Any]:
    """Fit one table and return the gaps to mirt's values."""
    path, began = FOLDER / f"responses/{name}.csv", time.process_time()
    fit: Any
    if model in ("rasch", "2pl", "3pl"):
        fit = fit_responses(path, model=model, options=FitOptions(checks=False))
    else:
        fit = fit_categories(path, model=model, prior="none" if model == "nominal" else None)
    row: dict[str, Any] = {"data": name, "model": model, "cpu_s": round(time.process_time() - began, 2)}
    gap = fit.log_likelihood - printed_likelihood(f"{name}_{kind}")
    row |= {"log_likelihood": round(fit.log_likelihood, 3), "gap": gap}
    theirs = slopes(name, kind)
    if theirs.height == fit.items.height and model != "nominal":
        ours, error = (fit.items[one].to_numpy() for one in ("discrimination", "se_discrimination"))
        row["slope_gap"] = float(np.max(np.abs(ours - theirs["est"].to_numpy())))
        row["error_ratio_gap"] = float(np.max(np.abs(error / theirs["se"].to_numpy() - 1.0)))
    return row


def compare_dimensions() -> list[dict[str, Any]]:
    """Fit the confirmatory and the bifactor table."""
    rows = []
    for name, bifactor in (("conf", False), ("bif", True)):
        began = time.process_time()
        paths = (FOLDER / f"responses/{name}{ending}.csv" for ending in ("", "_dim"))
        fit = fit_dimensions(*paths, bifactor=bifactor, prior="none")
        gap = fit.log_likelihood - printed_likelihood(name)
        row = {"data": name, "model": "bifactor" if bifactor else "confirmatory", "gap": gap}
        rows.append(row | {"cpu_s": round(time.process_time() - began, 2), "log_likelihood": fit.log_likelihood})
    return rows


def compare_populations() -> list[dict[str, Any]]:
    """Fit two groups, weighted subjects and a regression: log likelihoods, and the largest gap of mirt's estimates."""
    groups = fit_responses(FOLDER / "responses/mg.csv", options=FitOptions(checks=False, dif=False))
    other = groups.groups.row(1, named=True)
    gap = max(abs(other["mean"] + 0.44611), abs(other["sd"] ** 2 - 1.14065))
    rows = [{"data": "mg", "model": "two groups", "gap": groups.log_likelihood + 5504.66, "estimate_gap": gap}]
    path, text = FOLDER / "responses/wt.csv", (FOLDER / "mirt/printed.txt").read_text().split("wt LL")[1]
    answers, about = take_columns([path], ["wt"])
    fit = fit_responses(answers, survey=Survey(about, "wt"), options=FitOptions(checks=False))
    theirs = [float(one) for one in re.findall(r"^i\d+ ([\d.]+)", text, re.MULTILINE)]
    gap = float(np.max(np.abs(fit.items["discrimination"].to_numpy() - theirs[: fit.items.height])))
    rows.append({"data": "wt", "model": "2pl, weights", "gap": fit.log_likelihood + 3463.618, "estimate_gap": gap})
    return rows


def compare_guessing() -> list[tuple[float, float]]:
    """Return Mensura's and mirt's value of the slope of SAT12 that differs most, and of the log posterior.

    Then the highest log posterior and this slope by a plain optimiser that starts from mirt's estimates; last, how many
    slopes agree, and of how many.
    """
    printed = pl.read_csv(FOLDER / "mirt/R_sat12_3plprior_pars.csv", null_values="NA", infer_schema_length=None)
    a, d, g = (printed.filter(pl.col("par") == one)["est"].to_numpy() for one in ("a1", "d", "logit(g)"))
    table, space, priors = read_responses(FOLDER / "responses/sat12.csv"), namespace("numpy"), Priors(None, None)
    begin = replace(start("3pl", table.items["rate"].to_numpy(), 1), slope=a, intercept=d, guess=g)
    evidence = over(space, table.held())(begin, Grid.over(begin.mean, begin.sd), False).evidence
    theirs = evidence + prior_terms(begin, priors)[0]
    fit = fit_responses(table, model="3pl", options=FitOptions(priors, checks=False))
    ours = fit.items["discrimination"].to_numpy()
    item = int(np.argmax(np.abs(ours - a)))
    near = float(np.sum(np.abs(ours - a) < 0.005))
    highest = best_posterior(dense(table.right).astype(np.float64), np.concatenate([a, d, g]))
    return [
        (float(ours[item]), float(a[item])),
        (fit.log_posterior, theirs),
        (highest[0], highest[1][item]),
        (near, len(a)),
    ]


def best_posterior(right: np.ndarray, begin: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the highest log posterior of 3PL with a prior of guessing by a plain optimiser, and its slopes."""
    count, nodes = right.shape[1], np.linspace(-6.0, 6.0, 121)
    weight, prior = np.exp(-0.5 * nodes**2) / np.sum(np.exp(-0.5 * nodes**2)), Priors().guessing
    assert prior is not None

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        a, d, g = x.reshape(3, count, 1)
        c, rise = 1.0 / (1.0 + np.exp(-g)), 1.0 / (1.0 + np.exp(-(a * nodes + d)))
        chance = c + (1.0 - c) * rise
        joint = right @ np.log(chance) + (1.0 - right) @ np.log(1.0 - chance) + np.log(weight)
        evidence = logsumexp(joint, axis=1, keepdims=True)
        share = np.exp(joint - evidence)
        expected = right.T @ share
        gap = expected / chance - (share.sum(axis=0) - expected) / (1.0 - chance)
        by_logit, off = gap * (1.0 - c) * rise * (1.0 - rise), (g[:, 0] - prior.mean) / prior.sd
        of_guess = (gap * (1.0 - rise)).sum(axis=1) * (c * (1.0 - c))[:, 0] - off / prior.sd
        gradient = np.concatenate([by_logit @ nodes, by_logit.sum(axis=1), of_guess])
        return 0.5 * float(off @ off) - float(evidence.sum()), -gradient

    best = minimize(loss, begin, jac=True, method="BFGS", options={"gtol": 1e-4, "maxiter": 3000})
    return -float(best.fun), best.x[:count]


def compare_differences() -> list[float]:
    """Return p of item i01 in dif01 … dif10, divided by mirt's."""
    theirs = pl.read_csv(FOLDER / "mirt/dif_first_ten.csv")
    ratios = []
    for number, p in enumerate(theirs["p"], start=1):
        source = FOLDER / f"responses/dif{number:02d}.csv"
        fit = fit_responses(source, reference="ref", options=FitOptions(checks=False))
        ratios.append(float(fit.dif["p"][0]) / p)
    return ratios


def p_with_known_link(right: np.ndarray, focal: np.ndarray, item: int, link: list[int]) -> float:
    """Return p of an item where items that are known to be alike are the link: the most that a test can find."""
    own = right[:, [item, *link]]
    held = of_matrix(own.astype(np.uint8), None, focal.astype(int))
    answers = RightAnswers.some(namespace("numpy"), held, Priors(None, None, None, None))
    base = _laid(answers, start("2pl", own.mean(axis=0), 2), (), own.shape[1], 2)
    return _tested(answers, base, 0, 1, own.shape[1]).p


def compare_worlds(worlds: int) -> dict[str, float]:
    """Return how the test of items does in simulations: 400 + 400 people, 20 items, 4 of them easier for a group.

    ``power_of_known_link``: power of the same test where the 16 items that do not differ are known.
    """
    null, plain, biased, known = [], [], [], []
    for seed in range(worlds):
        rng = np.random.default_rng(10_000 + seed)
        slope, middle, focal = rng.uniform(0.8, 2.0, 20), rng.normal(0.0, 0.8, 20), np.arange(800) >= 400
        ability = np.where(focal, -0.5 + 1.2 * rng.normal(size=800), rng.normal(size=800))
        for bias in (0.0, 0.8):
            logit = slope * (ability[:, None] - middle) + bias * focal[:, None] * (np.arange(20) < 4)
            right = (rng.random((800, 20)) < 1.0 / (1.0 + np.exp(-logit))).astype(int)
            table = pl.DataFrame({"subject": np.arange(800).astype(str), "group": np.where(focal, "focal", "ref")})
            table = table.with_columns(pl.Series(f"i{item:02d}", right[:, item]) for item in range(20))
            dif = fit_responses(table, reference="ref", options=FitOptions(checks=False)).dif.sort("item")
            (plain if bias else null).append(dif[4:] if bias else dif)
            biased += [dif[:4]] if bias else []
            known += [p_with_known_link(right, focal, item, list(range(4, 20))) for item in range(4)] if bias else []
    others, shifted, alike = pl.concat(plain), pl.concat(biased), pl.concat(null)
    return {
        "null_rejected": float((alike["p"] < 0.05).mean()),
        "unbiased_rejected": float((others["p"] < 0.05).mean()),
        "unbiased_difference": float(others["difference"].mean()),
        "biased_difference": float(shifted["difference"].mean()),
        "power_at_0.01": float((shifted["p"] < 0.01).mean()),
        "power_of_known_link": float(np.mean(np.array(known) < 0.01)),
        "flagged": float(shifted["flagged"].mean()),
    }


def compare_item_fit() -> dict[str, float]:
    """Return the share of items whose S-X² is mirt's within 0.01, and the gaps of M2 and the reliability."""
    text = (FOLDER / "mirt/printed.txt").read_text().split("sat12_2pl")
    figures: dict[str, float] = {}
    for name, part in (("lsat7", text[0].split("lsat7_2pl")[1].split("lsat7_3pl")[0]), ("sat12", text[1])):
        theirs = {one[0]: float(one[1]) for one in re.findall(r"(Item\.\d+)\s+([\d.]+)\s+\d+ ", part)}
        fit = fit_responses(FOLDER / f"responses/{name}.csv")
        gaps = [abs(theirs[item] - x2) for item, x2 in fit.items.select("item", "s_x2").iter_rows()]
        m2 = re.search(r"stats\s+([\d.]+)", part)
        assert m2 is not None
        figures[f"{name}_s_x2_within_0.01"] = float(np.mean(np.array(gaps) < 0.01))
        figures[f"{name}_m2_gap"] = abs(float(fit.quality["m2"][0]) - float(m2[1]))
    return figures


def main() -> None:
    """Print the comparison, and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=0, help="small or extreme tables to fit")
    parser.add_argument("--worlds", type=int, default=0, help="simulations of items that differ between groups")
    chosen = parser.parse_args()
    if not FOLDER.is_dir():
        raise SystemExit(f"{FOLDER}: not here; the comparison needs the tables")
    rows = [compare_fit(*case) for case in CASES] + compare_dimensions() + compare_populations()
    for row in rows:
        print("  ".join(f"{key} {value:.4f}" if isinstance(value, float) else f"{value}" for key, value in row.items()))
    slope, posterior, highest, agree = compare_guessing()
    record("irt.sat12_slope", f"{slope[0]:.2f} against {slope[1]:.2f}")
    record("irt.sat12_highest", f"{highest[1]:.2f}")
    record("irt.sat12_agree", f"{agree[0]:.0f} of {agree[1]:.0f}")
    record("irt.sat12_posterior", f"{posterior[0]:,.4f} against {posterior[1]:,.4f}".replace("-", "−"))
    ratios, figures = compare_differences(), compare_item_fit()
    print(f"p of differences divided by mirt's: {min(ratios):.3f} to {max(ratios):.3f}")
    print(figures)
    if chosen.worlds:
        simulated = compare_worlds(chosen.worlds)
        figures |= simulated
        print(figures)
        record("irt.dif_null", f"{simulated['null_rejected']:.1%}")
        record("irt.dif_others", f"{simulated['unbiased_difference']:+.3f}".replace("-", "−"))
        record("irt.dif_power", f"{simulated['power_at_0.01']:.0%}")
        record("irt.dif_known", f"{simulated['power_of_known_link']:.0%}")
    failures = [text for seed in range(chosen.small) if (text := fit_small_table(seed)) is not None]
    for text in failures:
        print(text)
    worst = max(abs(row["gap"]) for row in rows if (row["data"], row["model"]) != ("bfi10", "nominal"))
    print(
        json.dumps(
            {"largest_gap": worst, "p_ratios": [min(ratios), max(ratios)], **figures, "small_failures": len(failures)}
        )
    )


if __name__ == "__main__":
    run(main)
