"""Questions of agents that one evidence or the ruler answers: names, benchmarks, people, units, populations."""

from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from mensura.calibration import chosen_lines
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.extrapolation import Extrapolation, PostStratification, extrapolate
from mensura.extrapolation.methods import single_item
from mensura.intake.names import KnownNames
from mensura.people import World
from mensura.scale import Position, Reading
from mensura.serve import agent_answers as shapes
from mensura.study.horizons import expected_horizon, say_lengths, task_horizons
from mensura.study.study import Study

BEST = {"brief": 3, "full": 10}
"""Models listed for a benchmark."""
MOST_NAMES = 500
"""Names in one answer: more than anybody reads."""
_MOST_PEOPLE = 10_000_000_000
_JUDGED = {"estimated": "judged"}  # of people: what nobody measured was judged
_LADDERS = "published"
_OF_LENGTH = "90%: counts errors of times, tasks and suites; an end without a number is open"
_RUNS = "mensura horizon, from public runs and human times"
_RULER = "Mensura's ruler: mean 100, standard deviation 15, of the population the rate was measured in"
_WHOSE = "A rate speaks of the population it was measured in or extrapolated to."
_COMMON = "common scale, base 10 (level 1 centred on 1 in √10 people)"
_PLACES = {
    "rate": Position,
    "percentile": Position.from_percentile,
    "one_in": Position.from_one_in,
    "iq": Position.from_iq,
    "level": Position.from_level,
}


class Library:
    """One evidence, opened with the first question, and the study on it. Safe to ask from several threads."""

    def __init__(self, open_evidence: Callable[[], Evidence], study: Study | None = None) -> None:
        self._open = open_evidence
        self._lock = Lock()
        self._study = study

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence."""
        return self._open()

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

    @cached_property
    def groups(self) -> list[str]:
        """Groups of people with a score that is not constructed from the scoring rule."""
        people = self.evidence.human_references.filter(pl.col("status") != "constructed")
        return people["group"].unique(maintain_order=True).to_list()

    def names_of(self, kind: str) -> list[tuple[str, str]]:
        """Return the ids of one kind, each with the name that people write."""
        if kind == "population":
            return World.load().populations.select("population", "prose").rows()
        if kind == "people":
            return [(group, group) for group in self.groups]
        table, key = (self.evidence.models, "subject") if kind == "model" else (self.evidence.benchmarks, "benchmark")
        return table.select(key, "name").rows()

    def find(self, kind: str, written: str) -> str:
        """Return the id of a name, else refuse with the nearest."""
        match = (self.evidence.names.get(kind) or KnownNames(self.names_of(kind))).match(written)
        if match.id is None:
            raise MensuraError(
                f"{kind}: {written!r} is not in the evidence{match.hint} "
                f"(call list_names with kind {kind}; use a name it lists)"
            )
        return match.id

    def list_names(
        self,
        kind: shapes.Kind,
        contains: Annotated[str, Field(description="Letters the name must contain.", max_length=200)] = "",
    ) -> shapes.NamesFound:
        """List the models, benchmarks, groups of people or populations that can be asked for."""
        wanted = contains.casefold()
        names = [key for key, name in self.names_of(kind) if wanted in key.casefold() or wanted in name.casefold()]
        note = "Any country is a population too, by its name." if kind == "population" else ""
        return shapes.NamesFound(kind=kind, names=names[:MOST_NAMES], total=len(names), note=note)

    def look_up_benchmark(self, name: shapes.Name, detail: shapes.Level = "brief") -> shapes.BenchmarkFound:
        """Describe a benchmark: what it measures, its ladder of IQs, who leads, which people took it."""
        ident = self.find("benchmark", name)
        row = self.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == ident, named=True)
        scores = self.evidence.primary_scores.filter(benchmark=ident).sort("score", "subject", descending=[True, False])
        ladders = self.evidence.ladders.filter(benchmark=ident).drop("benchmark")
        shown = ladders if detail == "full" else ladders.filter(set=_LADDERS)
        return shapes.BenchmarkFound(
            **{key: row[key] for key in ("benchmark", "name", "dimension", "unit", "chance")},
            description=row["description"] or "",
            ladders={
                one.pop("set"): {name.removeprefix("iq"): at for name, at in one.items()}
                for one in shown.iter_rows(named=True)
            },
            best=[self._score(one) for one in scores.head(BEST[detail]).iter_rows(named=True)],
            people=self.people_scores(benchmark=ident),
            models=scores.height,
        )

    def look_up_people(self, group: shapes.Name) -> shapes.GroupFound:
        """Give the scores of a group of people, the best model on each of the same tests, and whether AI passed it."""
        group = self.find("people", group.removeprefix("People: "))
        scores = self.people_scores(group=group)
        best = (
            self.evidence.primary_scores.filter(pl.col("benchmark").is_in([score.benchmark for score in scores]))
            .sort("score", "subject", descending=[True, False])
            .unique("benchmark", keep="first", maintain_order=True)
        )
        leaders = [self._score(row) for row in best.iter_rows(named=True)]
        passed = [
            shapes.PassedFound(
                since=None if row["passed"] is None else str(row["passed"]),
                **{name: row[name] for name in ("benchmark", "verdict", "first", "reason")},
            )
            for row in self.study.people.tests.filter(group=group).iter_rows(named=True)
        ]
        return shapes.GroupFound(group=group, scores=scores, best_models=leaders, passed=passed)

    def horizon(self, name: shapes.Name) -> shapes.HorizonFound:
        """Say how long a task a model does alone, by kind of work, in minutes of a professional."""
        subject = self.find("model", name)
        rows = task_horizons().by_model.get(subject, {})
        lengths = {
            level: {
                domain: shapes.quantity_of(
                    row, level, f"{level}_low", f"{level}_high", interval=_OF_LENGTH, status=row["status"], source=_RUNS
                )
                for domain, row in rows.items()
            }
            for level in ("p50", "p80")
        }
        expected = None
        if not rows and (guess := expected_horizon(self.study, subject)) is not None:
            about = {"interval": "90%: one more model", "status": "expected from the stitched scale"}
            about["source"] = f"a line through {guess['models']} models that were run"
            expected = shapes.quantity_of(guess, "expected", **about)
        half, often, words = lengths["p50"], lengths["p80"], say_lengths(self.study, subject)
        return shapes.HorizonFound(
            model=subject, half_of_the_time=half, four_times_in_five=often, expected=expected, words=words
        )

    def scores_of(self, subject: str) -> list[shapes.ScoreFound]:
        """Return the scores of a model."""
        return [self._score(row) for row in self.evidence.scores.filter(subject=subject).iter_rows(named=True)]

    def people_scores(self, **only: str) -> list[shapes.ScoreFound]:
        """Return scores of groups of people: of one ``group``, on one ``benchmark``."""
        rows = self.evidence.human_references.filter(pl.col("status") != "constructed", **only)
        return [self._group_score(row) for row in rows.iter_rows(named=True)]

    def _score(self, row: dict[str, Any]) -> shapes.ScoreFound:
        value = shapes.Quantity(value=row["score"], status="measured", source=self.source(row["source"]))
        return shapes.ScoreFound(
            who=row["subject"],
            score=value,
            date=None if row["date"] is None else str(row["date"]),
            note=row["note"] or "",
            **{key: row[key] for key in ("benchmark", "unit", "primary")},
        )

    def _group_score(self, row: dict[str, Any]) -> shapes.ScoreFound:
        about = "" if row["low"] is None else "range given by the source"
        status = _JUDGED.get(row["status"], row["status"])
        value = shapes.quantity_of(row, "score", interval=about, status=status, source=self.source(row["source"]))
        remark = row["remark"] or ""
        note = remark if row["n"] is None else f"{remark} (n = {row['n']})".strip()
        shared = {key: row[key] for key in ("benchmark", "unit")}
        return shapes.ScoreFound(who=f"People: {row['group']}", score=value, primary=True, note=note, **shared)

    def convert(
        self,
        value: float,
        unit: Annotated[shapes.Unit, Field(description="rate: 0 to 1; percentile; one_in: 1 in N people; iq; level.")],
        low: Annotated[float | None, Field(description="Low end of an interval, in the same unit.")] = None,
        high: Annotated[float | None, Field(description="High end of an interval, in the same unit.")] = None,
        dimension: Annotated[str | None, Field(description="Dimension, such as volume.", max_length=100)] = None,
    ) -> shapes.Converted:
        """Read a success rate as rarity, percentile, IQ-equivalent and level on the human ruler, and back."""
        line = None if dimension is None else chosen_lines(published=self.evidence.calibration)[dimension]
        if unit == "level" and line is not None:
            place = Position.from_dimension(line, value, low, high)
        else:
            place = _PLACES[unit](value, low, high)
        level = place.level() if line is None else place.annotated_level(line)
        outside = line.outside(level.value) if line is not None else None
        readings = {"rate": place.rate, "percentile": place.percentile, "one_in": place.one_in, "iq": place.iq}
        return shapes.Converted(
            **{name: _reading(reading, name == unit) for name, reading in (readings | {"level": level}).items()},
            scale=_COMMON if line is None else f"{line.name}, base {line.base:.3g} ({line.source})",
            notes=[*([outside] if outside else []), _WHOSE],
        )

    def extrapolate_rate(
        self,
        rate: Annotated[float, Field(description="Success rate on one item, 0 to 1.", ge=0, le=1)],
        observed_in: shapes.Population,
        wanted_in: shapes.Population = "world",
        n: Annotated[int | None, Field(description="People who answered, 1 or more.", ge=1, le=_MOST_PEOPLE)] = None,
        options: Annotated[
            int | None, Field(description="Answer options, 2 to 100; omit if open.", ge=2, le=100)
        ] = None,
        domain: Annotated[str | None, Field(description="Such as mathematics or reading.", max_length=100)] = None,
        detail: shapes.Level = "brief",
    ) -> shapes.Extrapolated:
        """Carry one item's success rate from the people observed to another population, with its interval."""
        world = World.load()
        pool, method = single_item(rate, n, options, domain), PostStratification(world=world)
        result = extrapolate(pool, to=wanted_in, focal=world.population(observed_in), method=method, world=world)
        regions = method.breakdown(result.task) if detail == "full" else pl.DataFrame()
        return shapes.Extrapolated(
            observed=shapes.Quantity(value=rate, status="given", source="the question"),
            focal=str(result.focal),
            reference=str(result.reference),
            rate=_carried(result.table.row(0, named=True), result),
            hangs_on=result.sensitivity["assumption"].to_list(),
            regions={one["region"]: _carried(one, result) for one in regions.iter_rows(named=True)},
            warnings=list(result.warnings),
        )


def _carried(row: dict[str, Any], result: Extrapolation) -> shapes.Quantity:
    about, source = f"{result.level:.0%}: {result.interval}", f"{result.method} over Mensura's world tables"
    return shapes.quantity_of(row, "rate", interval=about, status="extrapolated", source=source)


def _reading(reading: Reading, given: bool) -> shapes.Quantity:
    value, low, high = reading
    about = "" if low is None else "the interval given, converted end by end"
    status, source = ("given", "the question") if given else ("converted", _RULER)
    return shapes.Quantity(value=value, low=low, high=high, interval=about, status=status, source=source)
