"""How responses are counted, and what ``mensura responses fit`` knows of who answered and what was asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

    from mensura.responses import (
        AbilityRegression,
        CategoryFit,
        DimensionFit,
        ItemExplanation,
        ResponseFit,
        ResponseTable,
        Survey,
    )


@dataclass(frozen=True, kw_only=True)
class CountSettings:
    """How files become counts of right answers: the rarer settings of every command that reads them."""

    partial: Annotated[str, "Partial credit: share (kept), full (only 1 is right), half (from ½ on)."] = "share"
    missing: Annotated[str, "Blank outcomes: ignore (left out) or wrong."] = "ignore"
    duplicates: Annotated[str, "The same subject and item in several files: pool, first, last, refuse."] = "pool"
    repeats: Annotated[str, "Repeats of an item: count (k of n trials) or average (one trial)."] = "count"
    subject: Annotated[str | None, "Whose samples a log holds that does not say so itself."] = None

    def reading(self, by: str | None, header: bool, columns: str | None = None) -> dict[str, Any]:
        """Return the arguments of :func:`mensura.responses.read_responses` that say how to read."""
        from mensura.responses import CountRules

        rules = CountRules(self.partial, self.missing, self.duplicates, self.repeats)
        return {"rules": rules, "by": by, "subject": self.subject, "header": header, "columns": columns}

    def refuse_counting(self, model: str) -> None:
        """Refuse settings about right answers for a model whose outcomes are categories."""
        for name in ("partial", "missing", "duplicates", "repeats", "subject"):
            if getattr(self, name) != getattr(CountSettings, name):
                raise MensuraError(
                    f"--set {name}: of no use to --model {model}, whose outcomes are categories. Leave it out"
                )


@dataclass(frozen=True, kw_only=True)
class FitSettings(CountSettings):
    """The rarer settings of ``mensura responses fit``."""

    abilities: Annotated[str, "Density of abilities: normal, or estimated (skewed, two humps)."] = "normal"
    replicates: Annotated[str | None, "Columns of replicate weights, such as W_FSTR*."] = None
    replication: Annotated[str, "Design of the replicates: fay (PISA), brr, jackknife1 or jackknife2 (TIMSS)."] = "fay"
    cluster: Annotated[str | None, "Column of what was drawn at once, such as a school."] = None
    rotation: Annotated[str, "Of --dimensions N: varimax, oblimin or none."] = "varimax"
    device: Annotated[str, "Where it computes: numpy, or PyTorch on cpu or cuda."] = "numpy"
    seed: Annotated[int, "Seed of the samples that checks draw."] = 0


@dataclass(frozen=True)
class Design:
    """Columns about subjects, which are no items, and a table about items."""

    weights: str | None
    regress: list[str] | None
    people: Path | None
    explain: Path | None
    dimensions: str | None
    bifactor: bool
    rare: FitSettings

    @property
    def columns(self) -> list[str]:
        """The columns, or patterns of them, that are no items."""
        named = (self.weights, self.rare.replicates, self.rare.cluster, *(self.regress or ()))
        return [name for name in named if name is not None]

    def refuse_unused(self, model: str, others: dict[str, bool]) -> None:
        """Refuse options that the fit would leave aside; ``others``: further options, and whether each is given."""
        from mensura.responses.categories import CATEGORY_MODELS

        given = {f"--{one.name}": bool(getattr(self, one.name)) for one in fields(self)} | others
        rarer = ("abilities", "replicates", "replication", "cluster", "rotation", "device")
        given |= {f"--set {name}": getattr(self.rare, name) != getattr(FitSettings, name) for name in rarer}
        del given["--rare"]
        of_dimensions = ("--dimensions", "--set rotation", "--bifactor")
        if self.dimensions is not None and model == "nominal":
            unused = {"--dimensions"}
            because = "--model nominal would have a slope per category and dimension, which answers seldom tell apart"
        elif self.dimensions is not None:
            taken = {*of_dimensions, *(("--regress", "--people") if self.regress and not self.bifactor else ())}
            kind = "--bifactor" if self.bifactor else "--dimensions"
            unused, because = set(given) - taken, f"a fit with {kind} does not take it"
            if self.people is not None and not self.regress:
                unused, because = {"--people"}, "it belongs to --regress, which is not given"
        elif model in CATEGORY_MODELS:
            taken = {"--reference", "--set device", "--weights", "--people", "--regress"}
            taken |= {"--set replicates", "--set replication", "--set cluster"}
            unused, because = set(given) - taken, f"--model {model} does not take it"
        elif not self.columns:
            unused, because = (
                {*of_dimensions, "--people", "--set replication"},
                "it belongs to an option that is not given",
            )
        else:
            unused, because = set(of_dimensions), "it belongs to --dimensions, which is not given"
        for name in sorted(name for name in unused if given[name]):
            raise MensuraError(f"{name}: of no use here, because {because}. Leave it out")

    def refuse_regression(self) -> None:
        """Refuse a regression on a response store."""
        if self.regress:
            told = "--regress: a response store keeps its answers on disk; give the files it was made of instead"
            raise MensuraError(told)

    def taken(
        self, files: list[Path], header: bool, columns: str | None
    ) -> tuple[list[Any], Survey | None, pl.DataFrame | None]:
        """Return the responses without those columns, the survey, and the columns with their subjects."""
        from mensura.responses import Survey, take_columns

        if not self.columns:
            return list(files), None, None
        rest, people = take_columns(list(files), self.columns, self.people, header=header, columns=columns)
        rare = self.rare
        if self.weights or rare.replicates or rare.cluster:
            return rest, Survey(people, self.weights, rare.replicates, rare.cluster, rare.replication), people
        return rest, None, people

    def regressed(
        self,
        fit: ResponseFit | CategoryFit | DimensionFit,
        table: ResponseTable | None,
        people: pl.DataFrame | None,
        survey: Survey | None,
    ) -> AbilityRegression | None:
        """Regress abilities on the chosen columns."""
        from mensura.responses import regress_abilities

        if people is None or not self.regress:
            return None
        return regress_abilities(fit, table, people, on=self.regress, survey=survey, seed=self.rare.seed)

    def item_explanation(self, fit: ResponseFit) -> ItemExplanation | None:
        """Regress difficulties on the numbers of a table."""
        from mensura.intake.tables import read_table
        from mensura.responses import explain_items

        return None if self.explain is None else explain_items(fit, read_table(self.explain))

    def show_dimensions(self, files: list[Path], model: str, how: dict[str, Any], to: dict[str, Any]) -> None:
        """Fit several abilities to files, regress them, and show or write both; ``how``: how to read the files."""
        from mensura.cli.findings import say_dimensions
        from mensura.cli.output import console, emit, print_note
        from mensura.cli.tables import print_table
        from mensura.responses import fit_dimensions, read_responses
        from mensura.responses.categories import CATEGORY_MODELS

        rest, _, people = self.taken(files, how["header"], how["columns"])
        rated = model in CATEGORY_MODELS
        source, reading = (rest, how) if rated else (read_responses(rest, **how), {})
        fit = fit_dimensions(
            source, self.dimensions, model=model, bifactor=self.bifactor, rotation=self.rare.rotation, **reading
        )
        regression = self.regressed(fit, None, people, None)
        facts: dict[str, Any] = {"log_likelihood": fit.log_likelihood, "passes": fit.passes}
        tables = fit.tables() | (regression.tables() if regression else {})
        if emit(tables, **to, **facts, converged=fit.converged, warnings=list(fit.warnings)):
            return
        print_table(fit.items, title=f"Items. {fit.heading}", rows=20)
        if "category" in fit.intercepts.columns:
            print_table(fit.intercepts, title="Categories above the lowest", rows=20)
        print_table(fit.correlations, title="Correlations of abilities")
        print_table(fit.subjects, title="Abilities (90% intervals; mean 0, sd 1)", rows=20)
        if regression is not None:
            print_table(regression.regression, title=regression.heading, rows=20, digits=3)
        for warning in fit.warnings:
            print_note(warning, kind="warning")
        console.print(
            say_dimensions(fit.items, fit.correlations, None if regression is None else regression.regression)
        )
