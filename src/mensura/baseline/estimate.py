"""``mensura.estimate_baseline``: what described people would score on a benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mensura.baseline.estimator import STUDY, PooledEstimates, PoolEstimate, estimate_pool, pool_estimates
from mensura.baseline.inputs import BaselineItems, read_items
from mensura.baseline.kinds import (
    FAR,
    PeopleKind,
    describe_people,
    find_people,
    kind_of_domain,
    kind_of_format,
    kind_of_report,
    list_people,
)
from mensura.baseline.origin import PartOrigin, PopulationPart, describe_memories, describe_models
from mensura.baseline.persons import PersonSpread, majority_rate, score_persons
from mensura.baseline.recordings import KnownMean, is_recorded, read_anchors, read_estimates, shipped, shipped_errors
from mensura.baseline.result import Baseline
from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.llm import Asker
from mensura.people import Population, World

DRAWS, FEWER = 400, 100
_MANY = 5000  # items, from which fewer draws are enough and memory is not
_CONTRADICTS = 4.0
_NEEDED = {
    "askers": "estimates that exist need no model",
    "runs": "only models in askers= are asked more than once",
    "asking": "only models in askers= are asked",
    "estimator": "a model that is asked has its name",
    "anchor_people": "there are no anchors",
}
"""Why an argument has no use, by its name."""


@check_arguments
def estimate_baseline(
    items: Any,
    people: str | Population | Sequence[str | Population],
    *,
    estimates: Any = None,
    estimator: str | None = None,
    askers: Sequence[Asker] = (),
    asking: str = "direct",
    runs: int = 1,
    anchors: Any = None,
    anchor_people: int | None = None,
    known_mean: KnownMean | None = None,
    scores: pl.DataFrame | None = None,
    domain: str | None = None,
    kind: str | None = None,
    timed: bool | None = None,
    majority: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    world: World | None = None,
) -> Baseline:
    """Estimate what described people would score on a benchmark's items.

    Parameters
    ----------
    items
        A file, table or pool (see :func:`read_items`).
    people : str, Population, or a sequence of them
        Named populations, countries or prose.
    estimates : optional
        Estimates of language models (see :func:`read_estimates`).
    estimator : str, optional
        Who made these estimates. The errors of a model that nobody recorded, and of people, are less well known.
    askers : sequence of Asker
        Models to ask instead.
    asking : str
        How to ask them: ``direct`` for rates, or ``persons`` for the answers of simulated persons, whose errors nobody
        has measured yet.
    runs : int
        How often each is asked.
    anchors : optional
        Human rates on some items: item, rate, n (number of people) and, where it differs, population.
    anchor_people : int, optional
        People behind anchors that state no n.
    known_mean : KnownMean, optional
        The mean that a group of people reached.
    scores : polars.DataFrame, optional
        subject and score (0 to 1) of models.
    domain : str, optional
        Of all items without one.
    kind, timed : str, bool, optional
        Replace the reading of ``people``: experts, pupils, students, crowd or people; under time pressure or not.
    majority : int, optional
        The estimates are of single people, and so many of them vote on each answer: compute the rate of the vote.
    sample : int, optional
        Estimate only so many items.
    seed : int
        Of the sample and the draws.
    world : World, optional
        World tables that replace the shipped ones.

    Returns
    -------
    Baseline
        Items, populations, and models among people.

    Raises
    ------
    MensuraError
        If nobody is to be asked, the people are not described, or items and estimates do not match.

    Examples
    --------
    >>> import mensura
    >>> import polars as pl
    >>> items = pl.DataFrame({"item": ["sum", "prime"], "question": ["2 + 2 = ?", "Is 91 a prime number?"]})
    >>> rates = pl.DataFrame({"item": ["sum", "prime"], "rate": [0.96, 0.41], "low": [0.9, 0.3], "high": [0.99, 0.55]})
    >>> card = mensura.estimate_baseline(items, people="world", estimates=rates)
    >>> card.shown.columns[:4]
    ['population', 'mean', 'low', 'high']

    """
    unused = {
        "askers": estimates is not None and bool(askers),
        "runs": estimates is not None and runs != 1,
        "asking": estimates is not None and asking != "direct",
        "estimator": estimates is None and estimator is not None,
        "anchor_people": anchors is None and anchor_people is not None,
    }
    if name := next((name for name, is_unused in unused.items() if is_unused), None):
        raise MensuraError(f"{name}: {_NEEDED[name]}; leave it out")
    if scores is not None:
        require_columns(scores, ["subject", "score"], name="scores")
    world = world or World.load()
    benchmark = read_items(items)
    if estimates is None and askers:
        benchmark = benchmark.askable()
    if sample is not None:
        benchmark = benchmark.sample(sample, seed)
    if majority is not None and majority < 2:
        raise MensuraError(f"majority must be at least 2 people, got {majority}")
    populations = [find_people(who, world) for who in list_people(people, world)]
    warnings: list[str] = [*benchmark.notes]
    if estimates is not None:
        table = read_estimates(estimates, estimator)
        warnings += benchmark.doubts()
    elif askers:
        from mensura.baseline.asking import ask_models

        table, remarks = ask_models(benchmark, populations, askers, runs, asking)
        warnings += remarks
    else:
        raise MensuraError(
            "baseline: nobody to ask; give estimates that exist (give --estimates FILE or --model NAME; in Python "
            "estimates= or askers=)"
        )
    human_rates = read_anchors(anchors, anchor_people) if anchors is not None else None
    parts = []
    for who in populations:
        one = _Estimating(benchmark, who, describe_people(who, world, kind=kind, timed=timed), domain, seed, majority)
        parts.append(one.part(table, human_rates, known_mean, warnings, single=len(populations) == 1))
    return Baseline.of(benchmark, parts, scores, tuple(dict.fromkeys(warnings)))


@dataclass(frozen=True, eq=False)
class _Estimating:
    """The work for one population."""

    items: BaselineItems
    who: Population
    kind: PeopleKind
    domain: str | None
    seed: int
    majority: int | None = None

    def part(
        self,
        table: pl.DataFrame,
        anchors: pl.DataFrame | None,
        known_mean: KnownMean | None,
        warnings: list[str],
        *,
        single: bool,
    ) -> PopulationPart:
        """Return the items, draws and facts of this population; ``warnings`` grow."""
        rows = self._own_rows(table, warnings, single)
        judged, flagged = _without_memory(rows, self.who.name, warnings)
        learned = shipped_errors()
        pooled = pool_estimates(judged, learned.usual_spread)
        unrecorded = sorted(name for name in judged["model"].unique() if not is_recorded(name))
        if unrecorded:
            warnings.append(
                f"the errors of {listed_names(unrecorded)} were never recorded, so the interval is wider; anchors "
                "would learn them"
            )
        share = len(unrecorded) / judged["model"].n_unique()
        estimate = estimate_pool(pooled, self._levels(pooled), self.kind.distance, learned, share, self._traits)
        anchored: dict[str, float] = {}
        if anchors is not None:
            estimate, anchored = self._anchor(estimate, pooled, anchors, warnings)
        if known_mean is not None:
            estimate = self._settle(estimate, known_mean, warnings)
        if self.kind.distance >= FAR:
            warnings.append(f"{self.who.name}: {self.kind.distance_words}")
        rng = np.random.default_rng(self.seed)
        drawn = estimate.draws(DRAWS if self.items.table.height <= _MANY else FEWER, rng)
        persons = score_persons(drawn, PersonSpread(**shipped()["persons"]), rng)
        rate, (low, high) = estimate.rate, estimate.interval()
        if self.majority is not None:
            rate, low, high, drawn = (majority_rate(rates, self.majority) for rates in (rate, low, high, drawn))
            agreed = float(np.mean(estimate.rate**2 + (1 - estimate.rate) ** 2))
            warnings.append(
                f"{self.who.name}: means and items are of a majority of {self.majority}, computed from single people, "
                f"of whom two agree on {agreed:.0%} of items; percentiles are of single people"
            )
        recalled = set(judged.filter("remembered")["item"])
        table = pl.DataFrame(
            {
                "item": pooled.items,
                "rate": rate,
                "low": low,
                "high": high,
                "status": [
                    "anchored" if item in anchored else "remembered" if item in recalled else "estimated"
                    for item in pooled.items
                ],
                "remembered": [item in flagged for item in pooled.items],
                "tested": [max(float(STUDY), anchored.get(item, 0.0)) for item in pooled.items],
            }
        )
        means = drawn.mean(axis=1) + self._sampling(drawn, rng)
        origin = PartOrigin(
            models=describe_models(judged),
            anchors=tuple(anchored.values()),
            known_mean=None if known_mean is None else (known_mean.mean, known_mean.n),
            published=describe_memories(rows, self.items.name),
        )
        return PopulationPart(self.who, self.kind, estimate, table, means, persons, origin)

    @property
    def _traits(self) -> tuple[str, ...]:
        """Traits of the people whose single answers, or whose vote, the estimates are about."""
        return tuple(trait for trait in self.kind.traits if self.majority is None or trait != "majority")

    def _own_rows(self, table: pl.DataFrame, warnings: list[str], single: bool) -> pl.DataFrame:
        """Return the estimates of these people and these items; warn of what is left over."""
        named = table["population"].drop_nulls()
        mine = table.filter(
            pl.col("population").is_null() | pl.col("population").is_in([self.who.name, self.who.prose])
        )
        if named.len() and not mine.height:
            if not single:
                names = ", ".join(named.unique().sort().head(5))
                raise MensuraError(f"estimates: none for population {self.who.name!r}; expected one of {names}")
            mine = table
        if not named.len() and not single:
            warnings.append(
                "the estimates name no population, so the same ones serve every population. Differences between "
                "populations then come from the correction alone; estimate each population to compare them"
            )
        ids = self.items.table["item"].implode()
        rows = mine.filter(pl.col("item").is_in(ids))
        others = mine.filter(~pl.col("item").is_in(ids))["item"].n_unique()
        if not rows.height:
            raise MensuraError(
                f"estimates: all {others} items are unknown to {self.items.name} (such as {mine['item'][0]}); "
                f"expected ids such as {self.items.table['item'][0]}. Use the same ids in both files"
            )
        if others and self.items.of == self.items.table.height:
            warnings.append(f"{others} items of the estimates are not in {self.items.name}; they were left out")
        without = self.items.table.height - rows["item"].n_unique()
        if without:
            warnings.append(f"{self.who.name}: {without} of {self.items.table.height} items have no estimate")
        return rows

    def _levels(self, pooled: PooledEstimates) -> dict[str, list[str]]:
        """Return the kinds of the items, in the order of the estimates."""
        table = self.items.table
        rows = zip(self.items.n_options, table["domain"], table["format"], strict=True)
        facts = dict(zip(table["item"], rows, strict=True))
        size = len(pooled.items)
        return {
            "people": [self.kind.kind] * size,
            "time": ["timed" if self.kind.timed else "untimed"] * size,
            "report": [kind_of_report(facts[item][2]) for item in pooled.items],
            "domain": [kind_of_domain(facts[item][1] or self.domain) for item in pooled.items],
            "format": [kind_of_format(facts[item][0]) for item in pooled.items],
        }

    def _anchor(
        self, estimate: PoolEstimate, pooled: PooledEstimates, anchors: pl.DataFrame, warnings: list[str]
    ) -> tuple[PoolEstimate, dict[str, float]]:
        """Return the estimate after the anchors, and how many people took each anchored item."""
        places = {item: place for place, item in enumerate(pooled.items)}
        mine = anchors.filter(
            pl.col("population").is_null() | pl.col("population").is_in([self.who.name, self.who.prose])
        )
        rows = mine.filter(pl.col("item").is_in(list(places)))
        if not rows.height:
            raise MensuraError(
                f"anchors: none of its {mine.height} items has an estimate in {self.items.name}; use the same ids"
            )
        if rows.height < mine.height:
            warnings.append(f"{mine.height - rows.height} anchors are of items without an estimate; they were left out")
        at = np.array([places[item] for item in rows["item"]])
        after = estimate.counted(at, rows["rate"].to_numpy(), rows["n"].to_numpy())
        return after, dict(rows.select("item", pl.col("n").cast(pl.Float64)).iter_rows())

    def _settle(self, estimate: PoolEstimate, given: KnownMean, warnings: list[str]) -> PoolEstimate:
        """Take a known mean into account; its error is that of n people who differ."""
        spread = float(np.exp(shipped()["persons"]["log_sd"])) * given.mean * (1 - given.mean)
        variance = spread**2 / given.n + given.mean * (1 - given.mean) / (given.n * estimate.own_mean.size)
        drawn = estimate.draws(FEWER, np.random.default_rng(self.seed)).mean(axis=1)
        if abs(given.mean - drawn.mean()) > _CONTRADICTS * np.sqrt(drawn.var() + variance):
            warnings.append(
                f"the known mean {given.mean:g} is far from the estimate {drawn.mean():.2f}; the known mean counts. "
                "Check that both are about the same people and items"
            )
        return estimate.with_mean(given.mean, variance)

    def _sampling(self, drawn: Floats, rng: np.random.Generator) -> Floats:
        """Return draws of the error of the mean that a sample of items adds."""
        size, whole = drawn.shape[1], self.items.of
        if size >= whole or size < 2:
            return np.zeros(drawn.shape[0])
        variance = drawn.var(axis=1, ddof=1) / size * (1 - size / whole)
        error: Floats = rng.standard_normal(drawn.shape[0]) * np.sqrt(variance)
        return error


def _without_memory(rows: pl.DataFrame, who: str, warnings: list[str]) -> tuple[pl.DataFrame, set[str]]:
    """Return the estimates, and the items whose published figure a model says it remembers.

    Memory errs, and nobody can check it. So a remembered figure gives way to an estimate of another run or model. If an
    item has no other, the figure counts as an estimate like all others: corrected, and with their full error.
    """
    recalled = pl.col("remembered").all().over("item")
    flagged = set(rows.filter("remembered")["item"])
    if flagged:
        warnings.append(
            f"{who}: models say that they remember published figures of {len(flagged)} of {rows['item'].n_unique()} "
            "items; these count as estimates, with the same error"
        )
    both = (
        rows.filter(pl.col("item").is_in(flagged), ~recalled).group_by("item", "remembered").agg(pl.col("rate").mean())
    )
    if both.height:
        gap = (
            both.pivot("remembered", index="item", values="rate").select(pl.col("false") - pl.col("true")).mean().item()
        )
        warnings.append(
            f"{both.height // 2} items were remembered in one run and estimated in another: the estimates are "
            f"{gap:+.2f} from the memories on average"
        )
    return rows.filter(~pl.col("remembered") | recalled), flagged
