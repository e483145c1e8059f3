"""Compare fits of the same answers, and subjects on the same items."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy import special, stats

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.core.frames import require_columns, sort_highest
from mensura.core.results import Result
from mensura.intake.answers import AnswerLog
from mensura.intake.tables import as_frame, read_table
from mensura.responses.bank import answers_in_bank
from mensura.responses.categories import CATEGORY_MODELS, fit_categories
from mensura.responses.category_table import read_ratings
from mensura.responses.fit import FitOptions, fit_responses
from mensura.responses.irt.shards import dense
from mensura.responses.reading import only_items, read_responses
from mensura.responses.result import ResponseFit
from mensura.responses.table import ResponseTable

_NESTED = {
    *combinations(("rasch", "2pl", "3pl"), 2),
    *combinations(("rating-scale", "partial-credit-rasch", "partial-credit", "nominal"), 2),
}
"""Models of one dimension whose parameters are those of the other within bounds."""
_OF_WHOLE = ("m2", "m2_df", "m2_p", "rmsea", "cfi")
_SHOWN = ("parameters", "log_likelihood", "aic", "bic", "sabic", "cross_validated", *_OF_WHOLE)
_POWER, _PARTS = 0.8, 5
_LEAST_ITEMS = 5
"""Items that a comparison of two subjects needs."""


@dataclass(frozen=True, eq=False, repr=False)
class FitComparison(Result):
    """Show fits of the same answers, the one with the fewest parameters first.

    Attributes
    ----------
    fits
        fit, model, estimation, parameters, log_likelihood, aic, bic, sabic, cross_validated (where answers are given),
        m2 and its p, rmsea, cfi.
    tests
        fit, within: the larger fit; x2, df and p of the likelihood-ratio test. Guessing that may be 0, and correlations
        that may be 1, have a mixture of chi-square distributions. Where all slopes of an ability may be 0, as in a
        bifactor fit, a warning says that p is approximate.
    warnings
        What to know before using the numbers.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("fits", "tests")

    fits: pl.DataFrame
    tests: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Which fit has the lowest BIC."""
        best = sort_highest(self.fits, "bic", "fit").row(-1, named=True)
        return f"Lowest BIC: {best['fit']} ({best['model']}, {best['bic']:,.1f})"


def compare_fits(fits: Sequence[Any], answers: Any = None) -> FitComparison:
    """Compare fits of the same answers.

    Parameters
    ----------
    fits
        Two or more fits, or the folders that ``mensura responses fit --out`` wrote.
    answers
        The answers that were fitted, as whole numbers. The table then has ``cross_validated``: each model of one
        dimension is fitted to four fifths of the subjects, and this is the log likelihood of the others, five times.

    Returns
    -------
    FitComparison
        Information criteria, fit indices, and likelihood-ratio tests of nested models.

    Raises
    ------
    MensuraError
        If there are fewer than two fits, or they are of other subjects or items.

    Examples
    --------
    >>> from mensura.responses import compare_fits, fit_responses
    >>> right = {f"q{k}": [int(row * row % 13 > 3 * k) for row in range(40)] for k in range(4)}
    >>> table = {"subject": [f"p{k}" for k in range(40)], **right}
    >>> fits = [fit_responses(table, model=model) for model in ("rasch", "2pl")]
    >>> compare_fits(fits).fits["parameters"].to_list()
    [5, 8]

    """
    if len(fits) < 2:
        raise MensuraError(f"fits: got {len(fits)}; expected two or more. Name two folders of fits")
    rows = []
    for place, fit in enumerate(fits, start=1):
        if isinstance(fit, str | Path):
            path = Path(fit) / "quality.csv"
            if not path.is_file():
                raise MensuraError(f"{path}: not found; fit again with mensura responses fit … --out {fit}")
            rows.append(read_table(path).with_columns(fit=pl.lit(str(fit))))
        else:
            rows.append(fit.quality.with_columns(fit=pl.lit(f"{place}")))
    table = pl.concat(rows, how="diagonal_relaxed").sort("parameters", maintain_order=True)
    if table.select("subjects", "items").n_unique() > 1:
        sizes = " and ".join(f"{row[0]} × {row[1]}" for row in table.select("subjects", "items").unique().iter_rows())
        raise MensuraError(f"fits: their answers differ ({sizes}); expected the same subjects and items. Fit again")
    if answers is not None:
        names = read_table(Path(fits[0]) / "items.csv") if isinstance(fits[0], str | Path) else fits[0].items
        long = read_ratings(only_items(answers, names["item"]), AnswerLog()).rename({"value": "correct"})
        if long["item"].n_unique() < table["items"][0]:
            raise MensuraError("answers: fewer items than the fits have, or raters. Give the answers that were fitted")
        each = table.iter_rows(named=True)  # several dimensions have no reliability here
        held_out = [_held_out(row["model"], long) if row.get("reliability_marginal") else None for row in each]
        table = table.with_columns(cross_validated=pl.Series(held_out, dtype=pl.Float64))
    tests = [
        (small["fit"], large["fit"], *_likelihood_ratio(small, large))
        for small, large in combinations(table.iter_rows(named=True), 2)
        if _is_nested(small, large)
    ]
    schema = {"fit": pl.String, "within": pl.String, "x2": pl.Float64, "df": pl.Int64, "p": pl.Float64}
    kinds = table["estimation"].unique().to_list()
    differ = f"estimated differently ({', '.join(sorted(kinds))}): likelihoods with priors are below the maximum"
    within = {test[1] for test in tests}
    vanishing = [row["fit"] for row in table.iter_rows(named=True) if row.get("dimensions") and not row["correlations"]]
    rough = f"p against {listed_names(vanishing)} is approximate: without its further abilities their slopes are 0, "
    rough += "and the statistic has no chi-square distribution. Compare AIC or BIC"
    warnings = (differ,) * (len(kinds) > 1) + (rough,) * bool(within & set(vanishing))
    chosen = ("fit", "model", "estimation", *(name for name in _SHOWN if name in table.columns))
    ratios = pl.DataFrame(tests, schema=schema, orient="row")
    return FitComparison(table.select(chosen), ratios, warnings)


def _held_out(model: str, answers: pl.DataFrame) -> float:
    """Return the log likelihood of the subjects that a fit did not use, added over parts of them."""
    part, total = answers["subject"].rank("dense") % _PARTS, 0.0
    for one in range(_PARTS):
        train, own = answers.filter(part != one), answers.filter(part == one)
        fit: ResponseFit
        if model in CATEGORY_MODELS:
            fit = fit_categories(train, model=model)
        else:
            fit = fit_responses(train, model=model, options=FitOptions(dif=False, checks=False))
        who, right, trials = answers_in_bank(own, fit.bank)
        groups = who.join(fit.groups, on="group", maintain_order="left").select("mean", "sd").iter_rows()
        total += sum(fit.bank.evidence(*subject, *group) for *subject, group in zip(right, trials, groups, strict=True))
    return total


def _is_nested(small: dict[str, Any], large: dict[str, Any]) -> bool:
    """Return whether a fit is a case of another: by its model, or with one dimension in place of several."""
    if small.get("dimensions") or (small.get("groups") or 1) > (large.get("groups") or 1):
        return False
    return small["model"] == large["model"] if large.get("dimensions") else (small["model"], large["model"]) in _NESTED


def _likelihood_ratio(small: dict[str, Any], large: dict[str, Any]) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom and p; some parameters of the larger model are at their edge in the other.

    These are guessing of every item, which is 0 there, or correlations of dimensions, which are 1.
    """
    x2 = max(0.0, 2.0 * (large["log_likelihood"] - small["log_likelihood"]))
    df = int(large["parameters"] - small["parameters"])
    edges = large["items"] if large["model"] == "3pl" else large.get("correlations") or 0
    if not edges:
        return x2, df, float(special.chdtrc(df, x2))
    inside = np.arange(edges + 1)
    weights = stats.binom.pmf(inside, edges, 0.5)
    tails = [special.chdtrc(df - edges + one, x2) if df - edges + one else float(x2 <= 0) for one in inside]
    return x2, df, float(weights @ np.array(tails))


@dataclass(frozen=True, eq=False, repr=False)
class SubjectComparison(Result):
    """Show differences between subjects on the same items.

    Attributes
    ----------
    pairs
        subject, other, items (common), rate, rate_other, difference with low and high (90%), se, p (paired test),
        p_mcnemar (exact; blank with repeats or partial credit), p_holm (over all pairs), detectable (the difference
        that these items find with a power of 80% at 5%), items_needed (to find the one that was seen).

    """

    TABLES: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: pl.DataFrame

    @property
    def heading(self) -> str:
        """The first pair in words."""
        row = self.pairs.row(0, named=True)
        ends = f"({row['low']:+.1%} to {row['high']:+.1%}, 90%)"
        return f"{row['subject']} − {row['other']}: {row['difference']:+.1%} {ends} on {row['items']} items"


@check_arguments
def compare_subjects(
    responses: Any, subjects: Sequence[str] | None = None, *, items: Any = None, cluster: str | None = None
) -> SubjectComparison:
    """Compare subjects, such as two AI models, on the items that both took.

    Parameters
    ----------
    responses
        Whatever :func:`mensura.responses.read_responses` takes, or a :class:`ResponseTable`. Repeats of an item are
        averaged.
    subjects
        Whom to compare; by default all, pair by pair.
    items
        A table of ``item`` and the column ``cluster``.
    cluster
        Column of ``items``: what questions have in common, such as a passage. Errors are then those of clusters.

    Returns
    -------
    SubjectComparison
        Difference, interval, tests and the number of items that would be needed, per pair.

    Raises
    ------
    MensuraError
        If a name is unknown, or a pair has fewer than five common items.

    Examples
    --------
    >>> from mensura.responses import compare_subjects
    >>> answers = {"subject": ["a", "b"]} | {f"q{k}": [1, k % 2] for k in range(10)}
    >>> compare_subjects(answers).pairs["difference"].to_list()
    [0.5]

    """
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses)
    names = table.subjects["subject"].to_list()
    for name in subjects or ():
        check_choice("subject", name, names)
    chosen = list(dict.fromkeys(subjects or names))
    if len(chosen) < 2:
        raise MensuraError(f"subjects: got {len(chosen)}; expected two or more. Name two subjects")
    if (items is None) != (cluster is None):
        raise MensuraError("cluster: give a table of items and the name of its column, or neither")
    groups = np.arange(table.items.height) if items is None else _clusters(table.items["item"], items, str(cluster))
    right = dense(table.right).astype(np.float64)
    trials = np.ones_like(right) if table.trials is None else dense(table.trials).astype(np.float64)
    rows = []
    for one, other in combinations(chosen, 2):
        at = [names.index(one), names.index(other)]
        common = np.flatnonzero((trials[at] > 0).all(axis=0))
        if len(common) < _LEAST_ITEMS:
            sizes = f"{len(common)} common items; expected {_LEAST_ITEMS} or more"
            raise MensuraError(f"{one} and {other}: {sizes}. Add answers")
        rates = right[at][:, common] / trials[at][:, common]
        once = bool((trials[at][:, common] == 1).all() and (rates % 1.0 == 0.0).all())
        rows.append((one, other, *_paired(rates, groups[common], once)))
    numbers = dict.fromkeys(
        ("rate", "rate_other", "difference", "low", "high", "se", "p", "p_mcnemar", "detectable"), pl.Float64
    )
    schema = {"subject": pl.String, "other": pl.String, "items": pl.Int64, **numbers, "items_needed": pl.Int64}
    pairs = pl.DataFrame(rows, schema=schema, orient="row")
    order, p = np.argsort(pairs["p"].to_numpy(), kind="stable"), pairs["p"].to_numpy()
    holm = np.empty(len(p))
    holm[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return SubjectComparison(pairs.with_columns(p_holm=holm))


def _clusters(names: pl.Series, items: Any, cluster: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    frame = as_frame(items, name="items")
    require_columns(frame, ["item", cluster], name="items")
    of_item = dict(frame.select(pl.col("item", cluster).cast(pl.String)).unique("item").iter_rows())
    if missing := [name for name in names if of_item.get(name) is None]:
        raise MensuraError(f"items: {missing[0]!r} has no {cluster}; expected one for each item. Add a row")
    return np.unique([of_item[name] for name in names], return_inverse=True)[1].astype(np.int64)


def _paired(rates: Floats, clusters: np.ndarray[Any, np.dtype[np.int64]], once: bool) -> tuple[Any, ...]:
    """Return items, rates, difference, its ends and error, p, exact p of McNemar, what is detectable, items needed."""
    gap = rates[0] - rates[1]
    count, difference = len(gap), float(gap.mean())
    sums = np.bincount(np.unique(clusters, return_inverse=True)[1], weights=gap - difference)
    kinds = len(sums)
    variance = float(sums @ sums) / count**2 * kinds / max(kinds - 1, 1)
    se = float(np.sqrt(variance))
    same = min(1.0, 2.0 ** (1 - kinds)) if difference else 1.0  # where all differ alike: the test of signs
    p = float(2.0 * stats.t.sf(abs(difference) / se, max(kinds - 1, 1))) if se > 0 else same
    half = float(stats.t.ppf(0.95, max(kinds - 1, 1))) * se if se > 0 else 1.0 - 0.05 ** (1.0 / kinds)
    exact = None
    if once and kinds == count:
        up, down = int((gap > 0).sum()), int((gap < 0).sum())
        exact = float(stats.binomtest(up, up + down).pvalue) if up + down else 1.0
    z = float(special.ndtri(0.975) + special.ndtri(_POWER))
    needed = int(np.ceil(z**2 * variance * count / difference**2)) if difference and se > 0 else None
    ends = max(difference - half, -1.0), min(difference + half, 1.0)
    detectable = z * se if se > 0 else None
    return count, float(rates[0].mean()), float(rates[1].mean()), difference, *ends, se, p, exact, detectable, needed
