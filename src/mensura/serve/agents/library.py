"""What agents may ask, answered from one evidence; the study of all instruments is run once, when first needed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.intake.names import KnownNames
from mensura.people import World
from mensura.serve.agents.answers import BenchmarkFound, Detail, GroupFound, NamesFound, Quantity, ScoreFound
from mensura.study.study import Study

BEST = {"brief": 3, "full": 10}
"""Models listed for a benchmark."""
MOST_NAMES = 500
"""Names in one answer: more than anybody reads."""
_JUDGED = {"estimated": "judged"}  # of people: what nobody measured was judged
_LADDERS = "published"


class Library:
    """One evidence and, once asked for, the study on it. Safe to ask from several threads."""

    def __init__(self, evidence: Evidence, study: Study | None = None) -> None:
        self.evidence = evidence
        self._lock = Lock()
        self._study = study

    @property
    def study(self) -> Study:
        """Every instrument run on the evidence: some twenty seconds, unless it was run before and kept."""
        with self._lock:
            if self._study is None:
                self._study = Study.open(self.evidence)
            return self._study

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {
            source: f"{name} ({url})" if url else name
            for source, name, url in self.evidence.sources.select("source", "name", "url").iter_rows()
        }

    def source(self, key: str | None) -> str:
        """Return a source by name and address, or its key where it is not listed."""
        return self._sources.get(key or "", key or "not stated")

    def subject(self, written: str) -> str:
        """Return the id of a model."""
        return _known(self.evidence.models.select("subject", "name").iter_rows(), written, "model")

    def benchmark(self, written: str) -> str:
        """Return the id of a benchmark, given as such or by its name, else refuse with the nearest."""
        return _known(self.evidence.benchmarks.select("benchmark", "name").iter_rows(), written, "benchmark")

    def group(self, written: str) -> str:
        """Return a group of people by its name, "People: " before it or not, else refuse with the nearest."""
        return _known(((name, name) for name in self.groups), written.removeprefix("People: "), "people")

    @cached_property
    def groups(self) -> list[str]:
        """Groups of people with a score that is not constructed from the scoring rule."""
        people = self.evidence.human_references.filter(pl.col("status") != "constructed")
        return people["group"].unique(maintain_order=True).to_list()

    def names(self, kind: str, contains: str) -> NamesFound:
        """Return the names of one kind that contain some letters."""
        tables = {
            "model": self.evidence.models.select("subject", "name"),
            "benchmark": self.evidence.benchmarks.select("benchmark", "name"),
            "people": pl.DataFrame({"group": self.groups, "name": self.groups}),
            "population": World.load().populations.select("population", "prose"),
        }
        if kind not in tables:
            raise MensuraError(f"kind: got {kind!r}; expected one of {', '.join(tables)}")
        wanted = contains.casefold()
        found = [key for key, name in tables[kind].iter_rows() if wanted in key.casefold() or wanted in name.casefold()]
        note = "Any country is a population too, by its name." if kind == "population" else ""
        return NamesFound(kind=kind, names=found[:MOST_NAMES], total=len(found), note=note)

    def scores_of(self, subject: str, benchmarks: Iterable[str] | None = None) -> list[ScoreFound]:
        """Return the scores of a model, all or on some benchmarks."""
        rows = self.evidence.scores.filter(subject=subject)
        if benchmarks is not None:
            rows = rows.filter(pl.col("benchmark").is_in(list(benchmarks)), pl.col("primary"))
        return [self._score(row, subject) for row in rows.iter_rows(named=True)]

    def people_scores(self, **only: str) -> list[ScoreFound]:
        """Return scores of groups of people: of one ``group``, on one ``benchmark``."""
        rows = self.evidence.human_references.filter(pl.col("status") != "constructed", **only)
        return [self._group_score(row) for row in rows.iter_rows(named=True)]

    def look_up_benchmark(self, written: str, detail: Detail) -> BenchmarkFound:
        """Return what is known of a benchmark."""
        ident = self.benchmark(written)
        row = self.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == ident, named=True)
        scores = self.evidence.primary_scores.filter(benchmark=ident).sort("score", "subject", descending=[True, False])
        ladders = self.evidence.ladders.filter(benchmark=ident).drop("benchmark")
        shown = ladders if detail == "full" else ladders.filter(set=_LADDERS)
        return BenchmarkFound(
            benchmark=ident,
            name=row["name"],
            dimension=row["dimension"],
            unit=row["unit"],
            description=row["description"] or "",
            chance=row["chance"],
            ladders={
                one.pop("set"): {name.removeprefix("iq"): at for name, at in one.items()}
                for one in shown.iter_rows(named=True)
            },
            best=[self._score(one, one["subject"]) for one in scores.head(BEST[detail]).iter_rows(named=True)],
            people=self.people_scores(benchmark=ident),
            models=scores.height,
        )

    def look_up_people(self, written: str) -> GroupFound:
        """Return the scores of a group of people, and the best model on each of its tests."""
        group = self.group(written)
        scores = self.people_scores(group=group)
        taken = [score.benchmark for score in scores]
        best = (
            self.evidence.primary_scores.filter(pl.col("benchmark").is_in(taken))
            .sort("score", "subject", descending=[True, False])
            .unique("benchmark", keep="first", maintain_order=True)
        )
        leaders = [self._score(row, row["subject"]) for row in best.iter_rows(named=True)]
        return GroupFound(group=group, scores=scores, best_models=leaders)

    def _score(self, row: dict[str, Any], who: str) -> ScoreFound:
        value = Quantity(value=row["score"], status="measured", source=self.source(row["source"]))
        return ScoreFound(
            who=who,
            benchmark=row["benchmark"],
            score=value,
            unit=row["unit"],
            primary=row["primary"],
            date=None if row["date"] is None else str(row["date"]),
            note=row["note"] or "",
        )

    def _group_score(self, row: dict[str, Any]) -> ScoreFound:
        ranged = row["low"] is not None
        value = Quantity(
            value=row["score"],
            low=row["low"],
            high=row["high"],
            interval="range given by the source" if ranged else "",
            status=_JUDGED.get(row["status"], row["status"]),
            source=self.source(row["source"]),
        )
        remark = row["remark"] or ""
        note = remark if row["n"] is None else f"{remark} (n = {row['n']})".strip()
        return ScoreFound(
            who=f"People: {row['group']}",
            benchmark=row["benchmark"],
            score=value,
            unit=row["unit"],
            primary=True,
            note=note,
        )


def _known(rows: Iterable[tuple[str, str]], written: str, kind: str) -> str:
    found = KnownNames(rows).match(written)
    if found.id is None:
        hint = f"; did you mean {', '.join(found.near)}?" if found.near else ""
        raise MensuraError(
            f"{kind}: {written!r} is not in the evidence{hint} (call list_names with kind {kind}; use a name it lists)"
        )
    return found.id
