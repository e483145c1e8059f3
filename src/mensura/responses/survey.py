"""Surveys: weights, replicate weights and clusters of subjects, which come as columns beside their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.intake.tables import as_frame, read_noted
from mensura.people import ItemPool
from mensura.people.pool import is_pool
from mensura.responses.irt.categories import (
    CategoryCounts,
    CategoryFitted,
    CategoryPrior,
    fit_categories_held,
    subject_scores,
)
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import Priors
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.sandwich import (
    cluster_count,
    cluster_information,
    information_of_rows,
    replicate_factor,
    replicate_information,
    robust_information,
)
from mensura.responses.irt.shards import ShardSource
from mensura.responses.sources import TITLES
from mensura.responses.store import is_store


@dataclass(frozen=True)
class Survey:
    """Who was drawn and how: a table with ``subject`` and columns, and what the columns are.

    ``weights``: how many people a subject stands for. ``replicates``: columns of replicate weights, or a pattern such
    as ``W_FSTR*``; ``replication`` names their design. ``cluster``: what was drawn at once, such as a school.
    """

    people: pl.DataFrame
    weights: str | None = None
    replicates: str | None = None
    cluster: str | None = None
    replication: str = "fay"

    def __post_init__(self) -> None:
        replicate_factor(self.replication, 2)
        if self.replicates is not None and self.cluster is not None:
            raise MensuraError("survey: got replicates and cluster; replicate weights know the clusters. Leave out one")

    @property
    def replicate_columns(self) -> list[str]:
        """The columns of replicate weights."""
        if self.replicates is None:
            return []
        found = [name for name in self.people.columns if fnmatchcase(name, self.replicates)]
        if len(found) < 2:
            raise MensuraError(f"replicates: {len(found)} columns match {self.replicates!r}; expected at least 2")
        return found

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
            raise MensuraError(
                f"{name}: some weights are no numbers; expected numbers from 0 on. Correct them"
            ) from None
        if not (np.isfinite(values).all() and (values >= 0.0).all() and values.sum() > 0.0):
            raise MensuraError(
                f"{name}: weights must be finite, 0 or more, and not all 0; got {values.min():g} at least"
            )
        scaled: Floats = values / values.mean()
        return scaled

    def information(self, space: Namespace, source: ShardSource, fitted: Fitted, priors: Priors) -> Fitted:
        """Return a fit with the errors that the design gives; without one, those of weighted single subjects."""
        columns = self.replicate_columns
        if columns:
            weights = np.stack([self.column(name) for name in columns], axis=1)
            return replace(
                fitted, information=replicate_information(space, source, fitted, priors, weights, self.replication)
            )
        return replace(fitted, information=cluster_information(space, source, fitted, self.clusters))

    def category_information(
        self, space: Namespace, shards: Sequence[CategoryCounts], fitted: CategoryFitted, prior: CategoryPrior | None
    ) -> CategoryFitted:
        """Return the same for items with several categories."""
        columns = self.replicate_columns
        if not columns:
            scores = np.zeros((cluster_count(self.clusters), fitted.items.flat().size))
            np.add.at(scores, self.clusters, subject_scores(space, shards, fitted))
            return fitted._replace(information=robust_information(fitted.information, scores))
        rows = []
        for name in columns:
            again = fit_categories_held(space, self.weighed(shards, name), fitted.items, prior)
            rows.append(again.items.flat() - fitted.items.flat())
        scaled = np.sqrt(replicate_factor(self.replication, len(rows))) * np.array(rows)
        return fitted._replace(information=information_of_rows(scaled, fitted.information))

    def weighed(self, shards: Sequence[CategoryCounts], name: str) -> list[CategoryCounts]:
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
    def said(self) -> str:
        """What the errors are, in words."""
        if self.replicates is not None:
            return f"Errors come from {len(self.replicate_columns)} replicate weights ({self.replication})."
        if self.cluster is None:
            return "Errors are robust: they come from the scores of subjects, with their weights."
        clusters = self.people[self.cluster].n_unique()
        return f"Errors are robust: they come from the scores of {clusters} clusters ({self.cluster})."


def take_columns(
    sources: Any,  # noqa: ANN401
    wanted: Sequence[str],
    people: Path | None = None,
) -> tuple[list[Any], pl.DataFrame]:
    """Take columns about subjects out of tables of responses: return the rest, and subject with those columns.

    ``wanted``: names or patterns. ``people``: another table with them. Pools have them in their persons.
    """
    several = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    found: list[pl.DataFrame] = []
    rest: list[Any] = []
    if people is not None:
        found.append(_chosen(read_noted(people).frame, wanted, str(people)))
    for source in several:
        if is_store(source):
            rest.append(source)
            continue
        pool = ItemPool.read(Path(source)) if isinstance(source, str | Path) and is_pool(source) else source
        if isinstance(pool, ItemPool):
            if pool.persons is not None:
                found.append(_chosen(pool.persons.rename({"person": "subject"}), wanted, pool.name))
            rest.append(pool)
            continue
        table = _table_of(source)
        taken = [] if table is None else [name for name in table.columns if _is_wanted(name, wanted)]
        if table is None or not taken:
            rest.append(source)
            continue
        found.append(_chosen(table, wanted, str(source) if isinstance(source, str | Path) else "responses"))
        rest.append(table.drop(taken))
    known = {name for frame in found for name in frame.columns}
    for name in wanted:
        if not any(_is_wanted(one, [name]) for one in known):
            raise MensuraError(
                f"{name}: no table has this column; expected it beside the responses, in persons or in --people"
            )
    both = found[0]
    for frame in found[1:]:
        both = pl.concat([both, frame], how="diagonal_relaxed")
    return rest, both.group_by("subject", maintain_order=True).agg(pl.all().drop_nulls().first())


def _table_of(source: Any) -> pl.DataFrame | None:  # noqa: ANN401
    """Return a source as a table; None where it is none, such as an evaluation log."""
    if isinstance(source, str | Path):
        path = Path(source)
        return read_noted(path).frame if path.suffix.lower() in (".csv", ".parquet", ".tsv") else None
    return as_frame(source, name="responses")


def _is_wanted(name: str, wanted: Sequence[str]) -> bool:
    return any(fnmatchcase(name, one) for one in wanted)


def _chosen(table: pl.DataFrame, wanted: Sequence[str], name: str) -> pl.DataFrame:
    """Return subject and the wanted columns of a table, one row per subject."""
    titles = {title.strip().casefold(): title for title in table.columns}
    who = next((titles[known] for known in TITLES["subject"] if known in titles), None)
    if who is None:
        raise MensuraError(f"{name}: no column says who a row is about; expected one of {', '.join(TITLES['subject'])}")
    kept = [title for title in table.columns if title != who and _is_wanted(title, wanted)]
    rows = table.select(pl.col(who).cast(pl.String).alias("subject"), *kept).unique(maintain_order=True)
    if rows["subject"].n_unique() < rows.height:
        twice = rows.filter(rows["subject"].is_duplicated())["subject"][0]
        raise MensuraError(f"{name}: subject {twice!r} has two values in {', '.join(kept)}; expected one. Correct it")
    return rows
