"""Surveys: weights, replicate weights and clusters of subjects, which come as columns beside their answers.

Errors do not trust the model. With H the information and sᵢ the weighted score of cluster i, the covariance of the
parameters is H⁻¹ (Σ sᵢ sᵢᵀ) H⁻¹ (Huber 1967; Liang and Zeger 1986). With replicate weights it is the spread of the
parameters that they give, times the factor of the design. Both are sums of squares of columns, which is the form that
:class:`Information` has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.intake.answers import read_answer_table, subject_column
from mensura.intake.tables import read_noted
from mensura.people import ItemPool
from mensura.people.pool import is_pool
from mensura.responses.irt import categories as rated
from mensura.responses.irt.fitting import Effort, Fitted, climb, over
from mensura.responses.irt.information import Information, information_of_columns, score_means
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import Grid, NodeTables, shard_posteriors
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import Shard, ShardSource, chunks, dense, weighed
from mensura.responses.store import is_store

FAY = 0.5
"""By how much Fay's method lowers the weights of the half that is left out."""


def replicate_factor(replication: str, count: int) -> float:
    """Return what squared deviations of replicates are multiplied with before they are added.

    Designs: Fay's half samples (PISA), half samples, one group left out, one of a pair left out.
    """
    factors = {
        "fay": 1.0 / (count * (1.0 - FAY) ** 2),
        "brr": 1.0 / count,
        "jackknife1": (count - 1.0) / count,
        "jackknife2": 1.0,
    }
    check_choice("replication", replication, factors)
    return factors[replication]


def robust_information(model: Information, scores: Floats) -> Information:
    """Return H⁻¹ (Σ s sᵀ) H⁻¹ from the inverse information of the model and the scores of clusters (one per row)."""
    fewer = np.asarray(np.linalg.qr(scores, mode="r"), dtype=np.float64)  # no more rows than parameters
    columns = np.array([model.step(one) for one in fewer]).T
    return information_of_columns(columns, len(model.item_columns), len(model.group_columns))


def sandwich(inverse: Floats, scores: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Return H⁻¹ (Σ s sᵀ) H⁻¹ from an inverse information and the scores of subjects, summed over clusters."""
    columns = inverse @ cluster_scores([scores], clusters).T
    return np.asarray(columns @ columns.T, dtype=np.float64)


def cluster_scores(scores: Iterable[Floats], clusters: NDArray[np.int64]) -> Floats:
    """Return the scores of clusters less their mean, scaled for few clusters; one has no spread.

    ``scores``: of subjects in parts, in the order of ``clusters``; no more than one part is held.
    """
    if (count := int(clusters.max()) + 1) < 2:
        raise MensuraError("cluster: one subject or cluster has no spread; expected at least two. Choose another one")
    sums, start = np.zeros((count, 0)), 0
    for part in scores:
        sums = sums if start else np.zeros((count, part.shape[1]))
        np.add.at(sums, clusters[start : start + len(part)], part)
        start += len(part)
    return np.asarray(np.sqrt(count / (count - 1.0)) * (sums - sums.mean(axis=0)))


def subject_scores(space: Namespace, shard: Shard, p: Parameters, grid: Grid) -> Floats:
    """Return the weighted gradient of every subject's log likelihood (subjects × parameters)."""
    posterior = shard_posteriors(space, shard, NodeTables(space, p, grid))
    scores = score_means(p, grid, shard)(slice(None))(space.get(posterior.weights))
    return scores if shard.weights is None else scores * dense(shard.weights)[:, None]


@dataclass(frozen=True)
class Survey:
    """State who was drawn and how.

    Parameters
    ----------
    people
        A table with ``subject`` and the columns below.
    weights
        Column: how many people a subject stands for.
    replicates
        Columns of replicate weights, as a pattern such as ``W_FSTR*``.
    cluster
        Column: what was drawn at once, such as a school.
    replication
        Design of the replicates: ``fay``, ``brr``, ``jackknife1`` or ``jackknife2``.

    """

    people: pl.DataFrame
    weights: str | None = None
    replicates: str | None = None
    cluster: str | None = None
    replication: str = "fay"

    def __post_init__(self) -> None:
        replicate_factor(self.replication, 2)
        if self.replicates is None and self.replication != "fay":
            raise MensuraError("replication: of no use without replicates; name their columns, or leave it out")
        if self.replicates is not None and self.cluster is not None:
            raise MensuraError("survey: got replicates and cluster; replicate weights know the clusters. Leave out one")

    @property
    def replicate_columns(self) -> list[str]:
        """The columns of replicate weights."""
        if self.replicates is None:
            return []
        matches = [name for name in self.people.columns if fnmatchcase(name, self.replicates)]
        if len(matches) < 2:
            raise MensuraError(f"replicates: {len(matches)} columns match {self.replicates!r}; expected at least 2")
        return matches

    def of(self, subjects: pl.Series) -> Survey:
        """Return the survey with its rows in the order of subjects."""
        rows = pl.DataFrame({"subject": subjects}).join(self.people, on="subject", how="left", maintain_order="left")
        for name in (self.weights, *self.replicate_columns, self.cluster):
            if name is not None and rows[name].null_count():
                lacking = listed_names(rows.filter(pl.col(name).is_null())["subject"].to_list())
                raise MensuraError(
                    f"{name}: {rows[name].null_count()} subjects have no value ({lacking}); fill it in or drop them"
                )
        return replace(self, people=rows)

    def column(self, name: str) -> Floats:
        """Return a column of weights in units of its mean."""
        try:
            values = self.people[name].cast(pl.Float64).to_numpy()
        except pl.exceptions.InvalidOperationError:
            raise MensuraError(f"{name}: some weights are no numbers; expected 0 or more. Correct them") from None
        if not (np.isfinite(values).all() and (values >= 0.0).all() and values.sum() > 0.0):
            raise MensuraError(f"{name}: weights must be finite, 0 or more, not all 0; got {values.min():g} at least")
        scaled: Floats = values / values.mean()
        return scaled

    def information(self, space: Namespace, source: ShardSource, fitted: Fitted, priors: Priors) -> Fitted:
        """Return a fit with the errors that the design gives; without one, those of weighted single subjects."""
        p, grid = fitted.parameters, fitted.grid

        def refit(name: str) -> Floats:
            return climb(over(space, weighed(source, self.column(name))), p, priors, Effort(0.005)).parameters.flat()

        pieces = (chunk for shard in source.shards() for chunk in chunks(space, shard))
        scores = (subject_scores(space, chunk, p, grid) for chunk in pieces)
        return replace(fitted, information=self._of_design(fitted.information, p.flat(), refit, scores))

    def category_information(
        self,
        space: Namespace,
        shards: Sequence[rated.CategoryCounts],
        fitted: rated.CategoryFitted,
        prior: rated.CategoryPrior | None,
    ) -> rated.CategoryFitted:
        """Return the same for items with several categories."""

        def refit(name: str) -> Floats:
            again = rated.fit_categories_held(space, self.weighed(shards, name), fitted.parameters, prior, near=True)
            return again.parameters.flat()

        scores = (rated.subject_scores(space, [shard], fitted) for shard in shards)
        flat = fitted.parameters.flat()
        return fitted._replace(information=self._of_design(fitted.information, flat, refit, scores))

    def _of_design(
        self, model: Information, flat: Floats, refit: Callable[[str], Floats], scores: Iterable[Floats]
    ) -> Information:
        """Return the covariance from refits with replicate weights, or from scores of subjects summed over clusters."""
        if self.replicate_columns:
            columns = self.replicated(refit, flat).T
            return information_of_columns(columns, len(model.item_columns), len(model.group_columns))
        return robust_information(model, cluster_scores(scores, self.clusters))

    def replicated(self, refit: Callable[[str], Floats], values: Floats) -> Floats:
        """Return columns whose squares add up to the covariance: changes of values with each replicate weight."""
        columns = self.replicate_columns
        changes = np.array([refit(name) for name in columns]) - values
        return np.asarray(np.sqrt(replicate_factor(self.replication, len(columns))) * changes)

    def covariance(self, refit: Callable[[str], Floats], values: Floats, inverse: Floats, scores: Floats) -> Floats:
        """Return the covariance from refits with replicate weights, or from scores of subjects."""
        if not self.replicate_columns:
            return sandwich(inverse, scores, self.clusters)
        columns = self.replicated(refit, values)
        return np.asarray(columns.T @ columns)

    def weighed(self, shards: Sequence[rated.CategoryCounts], name: str) -> list[rated.CategoryCounts]:
        """Return answers in categories with the weights of a column."""
        ends = np.cumsum([len(shard) for shard in shards])[:-1]
        return [
            replace(shard, weights=one) for shard, one in zip(shards, np.split(self.column(name), ends), strict=True)
        ]

    @property
    def clusters(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The number of every subject's cluster; without clusters, of the subject."""
        if self.cluster is None:
            return np.arange(self.people.height)
        return self.people[self.cluster].cast(pl.String).rank("dense").to_numpy().astype(np.int64) - 1

    @property
    def summary(self) -> str:
        """What the errors are, in words."""
        if self.replicates is not None:
            return f"Errors come from {len(self.replicate_columns)} replicate weights ({self.replication})."
        if self.cluster is None:
            return "Errors are robust: they come from the scores of subjects, with their weights."
        clusters = self.people[self.cluster].n_unique()
        return f"Errors are robust: they come from the scores of {clusters} clusters ({self.cluster})."


def take_columns(
    sources: Any, wanted: Sequence[str], people: Path | None = None, *, header: bool = True, columns: str | None = None
) -> tuple[list[Any], pl.DataFrame]:
    """Take columns about subjects out of tables of responses.

    Parameters
    ----------
    sources
        What :func:`mensura.responses.read_responses` takes. Pools have such columns in their persons.
    wanted
        Names of columns, or patterns such as ``W_FSTR*``.
    people
        Another table with them.
    header, columns
        How to read tables; see :func:`mensura.responses.read_responses`.

    Returns
    -------
    tuple
        The sources without these columns, and a table of ``subject`` and these columns.

    Raises
    ------
    MensuraError
        If no table has a wanted column, or a subject has two values of it.

    Examples
    --------
    >>> from mensura.responses import take_columns
    >>> _, people = take_columns([{"subject": ["a", "b"], "q1": [1, 0], "weight": [1.5, 0.5]}], ["weight"])
    >>> people["weight"].to_list()
    [1.5, 0.5]

    """
    several = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    matches: list[pl.DataFrame] = []
    rest: list[Any] = []
    if people is not None:
        matches.append(_chosen(read_noted(people).frame, wanted, str(people), None))
    for source in several:
        if is_store(source):
            rest.append(source)
            continue
        pool = ItemPool.read(Path(source)) if isinstance(source, str | Path) and is_pool(source) else source
        if isinstance(pool, ItemPool):
            if pool.persons is not None:
                matches.append(_chosen(pool.persons.rename({"person": "subject"}), wanted, pool.name, None))
            rest.append(pool)
            continue
        table = read_answer_table(source, header=header)
        taken = [] if table is None else [name for name in table.frame.columns if _is_wanted(name, wanted)]
        if table is None or not taken:
            rest.append(source)
            continue
        name = str(source) if isinstance(source, str | Path) else "responses"
        matches.append(_chosen(table.frame, wanted, name, columns))
        rest.append(replace(table, frame=table.frame.drop(taken)))
    titles = {title for frame in matches for title in frame.columns}
    for name in wanted:
        if not any(_is_wanted(title, [name]) for title in titles):
            raise MensuraError(f"{name}: no such column; expected it beside the responses, in persons or in --people")
    both = pl.concat(matches, how="diagonal_relaxed")
    return rest, both.group_by("subject", maintain_order=True).agg(pl.all().drop_nulls().first())


def _is_wanted(name: str, wanted: Sequence[str]) -> bool:
    return any(fnmatchcase(name, one) for one in wanted)


def _chosen(table: pl.DataFrame, wanted: Sequence[str], name: str, columns: str | None) -> pl.DataFrame:
    """Return subject and the wanted columns of a table, one row per subject."""
    who = subject_column(table.columns, name, columns)
    kept = [title for title in table.columns if title != who and _is_wanted(title, wanted)]
    rows = table.select(pl.col(who).cast(pl.String).alias("subject"), *kept).unique(maintain_order=True)
    if rows["subject"].n_unique() < rows.height:
        twice = rows.filter(rows["subject"].is_duplicated())["subject"][0]
        raise MensuraError(f"{name}: subject {twice!r} has two values in {', '.join(kept)}; expected one. Correct it")
    return rows
