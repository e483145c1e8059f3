"""The development pools that extrapolation is learned and judged on: rates of groups of people on test items.

Two folders of the development data: ``human`` (tidy pools) and ``items/pools`` (released items of school assessments
and small studies), of which only those with rates of several groups are of use here. Nothing of them is committed but
the few priors that ``tools.embed_priors`` learns. Sources: NAEP (National Center for Education Statistics, by way of
mainlp/llm-psychometrics), ENEM (INEP microdata), pks (R package, GPL), IQ1 of openpsychometrics.org, thinking-skills
items of Jiang (194 students), syllogisms of Ragni 2016 (ccobra, MIT).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks import development_data
from mensura.core.arrays import Floats, expit
from mensura.extrapolation import Case, cases_of
from mensura.extrapolation.descriptions import read_description
from mensura.people import ItemPool
from tools.learn_priors import learn_priors

if TYPE_CHECKING:
    from collections.abc import Iterable

NAEP_SUBJECTS = ("mathematics", "science")
NAEP_N = 2000  # answers behind a published share; NAEP gives an item to some thousands of pupils and states no n
LOGITS_PER_PROBIT = 1.7
POINTS = np.linspace(-4.0, 4.0, 81)  # of ability, over which a rate is the mean of an item's curve
MOST_ITEMS = 200  # of a pool whose rates are implied by item curves; more would say the same again
ENEM_YEAR = 2020
PERCENTILES = (10, 25, 50, 75, 90)
RATE_COLUMNS = ("item", "covariate", "group", "n", "n_correct", "rate")
Row = tuple[str, str, str, float, float, float]


@dataclass(frozen=True, eq=False)
class DevelopmentPool:
    """A pool with what is said of it. ``family``: pools of one survey and wave, left out together."""

    pool: ItemPool
    description: str

    @property
    def name(self) -> str:
        """The pool's name."""
        return self.pool.name

    @property
    def family(self) -> str:
        """What the name begins with: the survey and its wave."""
        return self.name.split("_", 1)[0]

    @cached_property
    def cases(self) -> list[Case]:
        """One case per focal group."""
        return cases_of(self.pool, self.description)


def development_pools() -> dict[str, DevelopmentPool]:
    """Return every pool that has rates of groups, by name."""
    return human_pools(development_data("human")) | item_pools(development_data("items", "pools"))


def priors_without(pools: dict[str, DevelopmentPool], family: str) -> pl.DataFrame:
    """Return priors learned on all pools but those of one survey and wave, as a pool of it would meet them."""
    others = {name: found for name, found in pools.items() if found.family != family}
    return learn_priors({name: [case.revealed for case in found.cases] for name, found in others.items()})


def human_pools(human: Path) -> dict[str, DevelopmentPool]:
    folders = sorted(path for path in human.iterdir() if (path / "items.csv").is_file())
    return {path.name: DevelopmentPool(ItemPool.read(path), read_description(path)) for path in folders}


def item_pools(folder: Path) -> dict[str, DevelopmentPool]:
    """Return the pools made of ``items/pools``: grades, percentiles, and groups of adults and students."""
    naep, small = folder / "naep", folder / "rpkg_items" / "pks_probability_rates.csv"
    found = [_naep_published(naep, subject) for subject in ("history", "reading")]
    found += [_naep_implied(naep, subject) for subject in NAEP_SUBJECTS]
    found += [_enem(folder / "enem"), _probability(small), _matrices(folder / "openpsych_fsiq" / "iq1_matrices.csv")]
    found += [_thinking(folder / "critical_thinking_tsa" / "human_responses_wide.csv")]
    found += [_syllogisms(folder / "ccobra_reasoning" / "syllogisms_Ragni2016_responses.csv.gz")]
    return {pool.name: pool for pool in found}


def _pool(name: str, description: str, rows: Iterable[Row], domain: str | dict[str, str]) -> DevelopmentPool:
    rates = pl.DataFrame(list(rows), schema=list(RATE_COLUMNS), orient="row")
    names = rates["item"].unique(maintain_order=True)
    domains = [domain if isinstance(domain, str) else domain[item] for item in names]
    return DevelopmentPool(ItemPool.from_rates(name, {"item": names, "domain": domains}, rates), description)


def _graded(name: str, description: str, table: pl.DataFrame, domain: str) -> DevelopmentPool:
    """Return a pool of items given in several grades (item, grade, rate); the whole is the mean of an item's grades."""
    rows: list[Row] = []
    for (item,), part in table.group_by("item", maintain_order=True):
        grades = part.group_by("grade").agg(pl.col("rate").mean()).sort("grade")
        rows += [(item, "grade", f"grade={g}", NAEP_N, rate * NAEP_N, rate) for g, rate in grades.iter_rows()]
        whole, n = float(grades["rate"].to_numpy().mean()), NAEP_N * grades.height
        rows.append((item, "all", "all", n, whole * n, whole))
    return _pool(name, description, rows, domain)


def _naep_published(folder: Path, subject: str) -> DevelopmentPool:
    table = pl.read_csv(folder / "human_rates.csv").filter(pl.col("subject") == subject)
    several = table.filter(pl.col("grade").n_unique().over("item") > 1)
    return _graded(f"naep_{subject}", f"NAEP {subject}, items given in several grades", several, subject)


def _naep_implied(folder: Path, subject: str) -> DevelopmentPool:
    """Return the rates implied by NAEP's item curves, ability standard normal in each grade."""
    table = pl.read_csv(folder / "naep_irt_parameters_all.csv.gz", infer_schema_length=None)
    table = table.filter((pl.col("subject") == subject) & (pl.col("irt_model") == "3pl")).rename({"item_id": "item"})
    several = table.filter(pl.col("grade").n_unique().over("item") > 1).drop_nulls(["a", "b"])
    a, b, c = (several[column].fill_null(0.0).to_numpy() for column in ("a", "b", "c"))
    several = several.with_columns(
        rate=pl.Series(_share(LOGITS_PER_PROBIT * a, b, c, POINTS, np.exp(-(POINTS**2) / 2)))
    )
    kept = several["item"].unique().sort().head(MOST_ITEMS)
    return _graded(
        f"naep_{subject}",
        f"NAEP {subject}, items given in several grades",
        several.filter(pl.col("item").is_in(kept.implode())),
        subject,
    )


def _share(a: Floats, b: Floats, c: Floats, ability: Floats, weight: Floats) -> Floats:
    """Return c + (1 − c) times the mean logistic success over ability."""
    success = expit(a[:, None] * (ability - b[:, None])) @ (weight / weight.sum())
    share: Floats = c + (1 - c) * success
    return share


def _enem(folder: Path) -> DevelopmentPool:
    """Return what candidates at five percentiles of ability, and all of 2020, are expected to score."""
    people = pl.read_csv(folder / "score_distribution_2020.csv").drop_nulls(["score_mean", "n_people"])
    columns = ["a", "b", "c", *(f"p_at_p{p}" for p in PERCENTILES)]
    items = pl.read_csv(folder / "items.csv", infer_schema_length=None).filter(pl.col("year") == ENEM_YEAR)
    items = (
        items.drop_nulls(columns).sort("area", "co_item").group_by("area", maintain_order=True).head(MOST_ITEMS // 4)
    )
    rows: list[Row] = []
    domain: dict[str, str] = {}
    for (area,), part in items.group_by("area", maintain_order=True):
        scores = people.filter(pl.col("area") == area)
        ability, weight = (scores["score_mean"].to_numpy() - 500) / 100, scores["n_people"].to_numpy().astype(float)
        whole = _share(*(part[column].to_numpy() for column in ("a", "b", "c")), ability, weight)
        for row, rate in zip(part.iter_rows(named=True), whole, strict=True):
            item = str(row["co_item"])
            domain[item] = {"MT": "mathematics", "CN": "science", "LC": "reading"}.get(area, "knowledge")
            rows.append((item, "all", "all", weight.sum(), rate * weight.sum(), rate))
            for p in PERCENTILES:
                share = row[f"p_at_p{p}"]
                rows.append((item, "ability_percentile", f"ability_percentile=p{p}", NAEP_N, share * NAEP_N, share))
    return _pool("enem2020", "ENEM 2020, Brazil's secondary-school examination", rows, domain)


def _probability(path: Path) -> DevelopmentPool:
    table = pl.read_csv(path).with_columns(
        group=pl.when(pl.col("covariate") == "all").then("group").otherwise(pl.format("{}={}", "covariate", "group"))
    )
    levels = {"educat=1": "education=lower secondary", "educat=2": "education=upper secondary"}
    levels["educat=3"] = "education=university degree"
    table = table.with_columns(
        covariate=pl.col("covariate").replace({"educat": "education", "fos": "field_of_study"}),
        group=pl.col("group").replace(levels).str.replace("fos=", "field_of_study="),
    )
    rows = [
        (item, covariate, group, float(n), rate * n, rate)
        for item, covariate, group, n, rate in table.select("item", "covariate", "group", "n", "rate").iter_rows()
    ]
    return _pool("pks_probability", "Elementary probability problems, adults and students", rows, "probability")


def _matrices(path: Path) -> DevelopmentPool:
    """Return matrices by sex; how many men there are follows from the three rates."""
    table = pl.read_csv(path)
    rate, male, female = (table[name].to_numpy() for name in ("rate", "rate_male", "rate_female"))
    apart = male - female
    men = float(np.clip((apart @ (rate - female)) / (apart @ apart), 0.2, 0.8))
    rows: list[Row] = []
    for item, n, all_, m, f in table.select("item", "n", "rate", "rate_male", "rate_female").iter_rows():
        rows.append((item, "all", "all", n, all_ * n, all_))
        for sex, share, value in (("male", men, m), ("female", 1 - men, f)):
            count = float(round(n * share))
            rows.append((item, "sex", f"sex={sex}", count, value * count, value))
    return _pool("iq1_matrices", "Matrices, web users", rows, "reasoning")


def _thinking(path: Path) -> DevelopmentPool:
    table = pl.read_csv(path, infer_schema_length=None)
    answers = table.drop("gender", "age").with_columns(pl.all().exclude("person").cast(pl.Int8, strict=False))
    persons = table.select("person", sex="gender", age_band=pl.col("age").clip(18, 19).cast(pl.String))
    return _answered("tsa_thinking", "Thinking skills, students", answers, persons, "reasoning")


def _syllogisms(path: Path) -> DevelopmentPool:
    table = pl.read_csv(path)
    persons = table.select("person", sex="gender", age="age").unique("person", maintain_order=True)
    bands = pl.when(pl.col("age") < 30).then(pl.lit("18-29")).when(pl.col("age") < 45).then(pl.lit("30-44"))
    persons = persons.select("person", "sex", age_band=bands.otherwise(pl.lit("45+")))
    answers = table.select("person", "item", "correct")
    return _answered("ccobra_syllogisms", "Syllogisms, web workers", answers, persons, "reasoning")


def _answered(
    name: str, description: str, answers: pl.DataFrame, persons: pl.DataFrame, domain: str
) -> DevelopmentPool:
    names = answers["item"].unique().sort() if "item" in answers.columns else answers.columns[1:]
    items = pl.DataFrame({"item": names, "domain": [domain] * len(names)})
    return DevelopmentPool(ItemPool.from_answers(name, items, answers, persons), description)
