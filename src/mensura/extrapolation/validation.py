"""Validation: hide the reference, predict it from each focal group, compare.

Three situations, never mixed, because they know different things:

- ``described``: the focal group's rates with n, the descriptions of all groups, how many answers each group gave,
  and public facts; no rate of the reference or of any other group.
- ``linked``: the same, and the reference's rates on k items drawn at random; scored on the others, mean over draws.
- ``slices``: five item folds. On the other folds the rates of all groups and of the reference are known; on the
  fold to predict, the focal group's rates, and of each other group only its mean over the fold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.extrapolation.alignment import cluster_countries, differential_items
from mensura.extrapolation.cases import cases_of, pairs_of
from mensura.extrapolation.metrics import METRICS, interval, mean_correlation, pearson, spearman
from mensura.extrapolation.published import comparison
from mensura.extrapolation.registry import method_for, methods_of
from mensura.extrapolation.scoring import Scored
from mensura.frames import text_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mensura.extrapolation.line import Case, Mask
    from mensura.people import ItemPool

SITUATIONS = ("described", "linked", "slices")
SUMMARY = ("covariate", "group", "n_items", "mae", "rmse", "pearson", "spearman", "coverage")
FOLDS = 5
DRAWS = 200
FEWEST_LEFT = 3


@dataclass(frozen=True)
class Validation:
    """The result of one validation run.

    ``summary``: one row per focal group (covariate, group, n_items, mae, rmse, pearson, spearman, coverage).
    ``overall``: one row per covariate and one for all groups, with bias, correlations within groups and pooled, and
    the MAE of identity and of the undamped shift on the same items. ``intervals``: bootstrap intervals of the
    metrics over items. ``items``: error per item over groups. ``predictions``: every predicted rate.
    ``comparison``: the paper's language models beside ours, in the described situation. ``pairs``: country to
    country; ``clusters``: countries by alignment; ``dif``: items that behave differently in a group.
    """

    pool: str
    situation: str
    method: str
    summary: pl.DataFrame
    overall: pl.DataFrame
    intervals: pl.DataFrame
    items: pl.DataFrame
    predictions: pl.DataFrame
    pairs: pl.DataFrame
    clusters: pl.DataFrame
    dif: pl.DataFrame
    comparison: pl.DataFrame
    settings: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that have rows, by name; ``summary`` always."""
        names = ("summary", "overall", "intervals", "items", "predictions", "pairs", "clusters", "dif", "comparison")
        found = {name: getattr(self, name) for name in names}
        return {name: table for name, table in found.items() if table.height or name == "summary"}

    def __str__(self) -> str:
        lines = [
            f"{self.pool}, {self.situation}, {self.method}: {self.summary.height} focal groups",
            text_table(self.overall.select("covariate", "groups", "mae", "mae_identity", "pearson_within", "coverage")),
        ]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])

    def _repr_html_(self) -> str:
        return f"<p>{self.pool}, {self.situation}, {self.method}</p>{self.overall._repr_html_()}"


def validate(
    pool: ItemPool,
    situation: str = "described",
    *,
    links: int = 3,
    method: str | None = None,
    description: str = "",
    draws: int = DRAWS,
    seed: int = 0,
    priors: pl.DataFrame | None = None,
    advance: Callable[[], object] | None = None,
) -> Validation:
    """Predict the pool's whole sample from each of its groups, in one of the three situations, and score it.

    ``method``: one of :func:`~mensura.extrapolation.registry.methods_of` the situation; the best one when not
    given. ``description``: what the pool is, in words; its name when empty. ``priors`` replaces the shipped table
    (:func:`~mensura.extrapolation.priors.learn_priors`). ``advance`` is called per group.
    """
    if situation not in SITUATIONS:
        raise MensuraError(f"unknown situation {situation!r}; there are {', '.join(SITUATIONS)}")
    if links < 1:
        raise MensuraError(f"links must be 1 or more, got {links}")
    name = method or methods_of(situation)[0]
    cases = cases_of(pool, description, priors=priors)
    rng = np.random.default_rng(seed)
    folds = _folds(cases, rng)
    scored: list[Scored] = []
    warnings = list(pool.warnings)
    for case in cases:
        hidden = _hidden(situation, case, links, folds, draws, rng)
        if hidden is None:
            warnings.append(f"{case.group}: {len(case.items)} items are too few for {links} links; left out")
        else:
            result = Scored(case, method_for(name, situation, case, cases).carry(case, ~hidden), hidden)
            scored.append(result.flat() if situation == "slices" else result)
        if advance is not None:
            advance()
    if not scored:
        raise MensuraError(f"pool {pool.name!r}: no group has {links + FEWEST_LEFT} items or more for {links} links")
    summary = _summary(scored)
    overall = _overall(scored, summary, situation)
    known_as = (description or pool.name) if situation == "described" else ""
    predictions = pl.concat([result.table() for result in scored])
    return Validation(
        pool=pool.name,
        situation=situation,
        method=name,
        summary=summary.select(SUMMARY),
        overall=overall,
        intervals=_intervals(scored, summary, rng),
        items=_per_item(predictions),
        predictions=predictions,
        pairs=_pairs(pool, cases, description, name if situation == "described" else "described"),
        clusters=cluster_countries(cases, summary),
        dif=differential_items(cases),
        comparison=comparison(known_as, overall.row(-1, named=True), name, predictions.height),
        settings={
            "links": links,
            "draws": draws,
            "folds": FOLDS,
            "seed": seed,
            "description": description or pool.name,
        },
        warnings=tuple(warnings),
    )


def _hidden(
    situation: str, case: Case, links: int, folds: Mapping[str, int], draws: int, rng: np.random.Generator
) -> Mask | None:
    """Return which items are hidden, draws × items; None where too few would be left."""
    size = len(case.items)
    if situation == "described":
        return np.ones((1, size), dtype=np.bool_)
    if situation == "linked":
        if size < links + FEWEST_LEFT:
            return None
        return np.argsort(rng.random((draws, size)), axis=1) >= links
    fold = np.array([folds[item] for item in case.items])
    return np.stack([fold == k for k in range(FOLDS) if (fold == k).any()])


def _folds(cases: Sequence[Case], rng: np.random.Generator) -> dict[str, int]:
    """Deal the items of the pool into folds, the same for all groups."""
    items = sorted({item for case in cases for item in case.items})
    return dict(zip(items, rng.permutation(np.arange(len(items)) % FOLDS).tolist(), strict=True))


def _summary(scored: Sequence[Scored]) -> pl.DataFrame:
    rows = [
        {"covariate": s.case.covariate, "group": s.case.group, "n_items": len(s.case.items), **s.metrics()}
        for s in scored
    ]
    return pl.DataFrame(rows, infer_schema_length=None, nan_to_null=True)


def _overall(scored: Sequence[Scored], summary: pl.DataFrame, situation: str) -> pl.DataFrame:
    """Return the means per covariate and over all groups, plain methods beside, correlations of both kinds."""
    covariates = list(dict.fromkeys(s.case.covariate for s in scored))
    chosen = {c: [s for s in scored if s.case.covariate == c] for c in covariates}
    if len(covariates) > 1:
        chosen["(all groups)"] = list(scored)
    rows = []
    for covariate, group in chosen.items():
        mine = summary if len(group) == len(scored) else summary.filter(pl.col("covariate") == covariate)
        table = pl.concat([s.table() for s in group]).drop_nulls("rate")
        predicted, observed = table["rate"].to_numpy(), table["reference"].to_numpy()
        means = {name: float(mine[name].to_numpy().mean()) for name in ("mae", "rmse", "bias", "coverage")}
        rows.append(
            {
                "covariate": covariate,
                "groups": len(group),
                "n_items": len({item for s in group for item in s.case.items}),
                **means,
                "pearson_within": mean_correlation(mine["pearson"].drop_nulls().to_numpy()),
                "pearson_pooled": float(pearson(predicted, observed)),
                "spearman_within": mean_correlation(mine["spearman"].drop_nulls().to_numpy()),
                "spearman_pooled": float(spearman(predicted, observed)),
                "mae_identity": _plain(group, "identity", situation),
                "mae_shift": _plain(group, "shift", situation) if situation == "linked" else None,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"mae_shift": pl.Float64})


def _plain(group: Sequence[Scored], name: str, situation: str) -> float:
    """Return the mean MAE of a plain method on the same hidden items."""
    method = method_for(name, situation, group[0].case, [])
    found = [Scored(s.case, method.carry(s.case, ~s.hidden), s.hidden).metrics()["mae"] for s in group]
    return float(np.mean(found))


def _intervals(scored: Sequence[Scored], summary: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return 90% bootstrap intervals over items of each group's metrics."""
    rows = []
    for s, row in zip(scored, summary.iter_rows(named=True), strict=True):
        for name, values in s.resampled(rng).items():
            low, high = interval(values)
            where = {"covariate": row["covariate"], "group": row["group"], "metric": name}
            rows.append({**where, "value": row[name], "low": low, "high": high})
    return pl.DataFrame(rows)


def _per_item(predictions: pl.DataFrame) -> pl.DataFrame:
    """Return, per item, the error over all groups, largest first."""
    error = pl.col("rate") - pl.col("reference")
    table = (
        predictions.drop_nulls("rate")
        .group_by("item")
        .agg(groups=pl.len(), reference=pl.col("reference").first(), mae=error.abs().mean(), bias=error.mean())
    )
    return table.sort("mae", "item", descending=[True, False])


def _pairs(pool: ItemPool, cases: Sequence[Case], description: str, name: str) -> pl.DataFrame:
    """Return every country predicted from every other one, with identity beside."""
    rows = []
    for reference, case in pairs_of(pool, cases, description):
        nothing = np.zeros((1, len(case.items)), dtype=np.bool_)
        rates = method_for(name, "described", case, []).carry(case, nothing)
        found = Scored(case, rates, ~nothing).metrics()
        plain = float(np.abs(case.rate - case.reference).mean())
        kept = {key: found[key] for key in METRICS}
        rows.append(
            {"focal": case.group, "reference": reference, "n_items": len(case.items), **kept, "mae_identity": plain}
        )
    return pl.DataFrame(rows)
