"""Agents can ask: the same numbers as tools of the Model Context Protocol, read-only."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Annotated, Any, get_args

import polars as pl
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from mensura import __version__
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.iq import Explanation
from mensura.serve import agent_answers as shapes
from mensura.serve.agent_library import Library
from mensura.study.headlines import say_lead
from mensura.study.study import Study

INSTRUCTIONS = (
    "How good is this AI, compared with people? Models, benchmarks and groups of people on human-anchored scales. "
    "Every number carries an interval, a status (measured, estimated, judged, extrapolated …) and a source: pass them "
    "on with the number. Answers are brief unless detail is full; the resource mensura://guide says how to read them. "
    "Questions about models take some twenty seconds the first time. Nothing can be changed."
)
_SHOWN = 60  # characters of a refused value
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
LEAST_COMPARED, MOST_COMPARED = 2, 5
_OF_IQ = "90%: the composite that full measurement would give"
_OF_RANK = "90%: rank among the models measured enough"
_OF_CAPABILITY = "90%: position on the stitched scale"
_OF_DIMENSION = "90%: the dimension under full measurement"
_PRICES = ("input_price", "output_price", "sticker_price", "effective_cost")
_SOURCED = "source"  # status of a benchmark on which the model has a score of its own
_RECORDED = "recorded/"
_OURS = "Mensura, from the scores listed"
Scores = dict[str, shapes.ScoreFound]
"""Primary scores by benchmark."""


class AgentTools(Library):
    """Every question that an agent may ask; the names, arguments and docstrings of the tools are those of methods."""

    def look_up_model(self, name: shapes.Name, detail: shapes.Level = "brief") -> shapes.ModelFound:
        """Say where an AI model stands: IQ, rank, capability, dimensions, prices; in full every score."""
        subject = self.find("model", name)
        scores = self.scores_of(subject) if detail == "full" else []
        return self._model(subject).model_copy(update={"scores": scores, "leader": " ".join(say_lead(self.study))})

    def compare(
        self,
        names: Annotated[list[shapes.Name], Field(description="2 to 5 models or groups of people.", max_length=20)],
        detail: shapes.Level = "brief",
    ) -> shapes.Comparison:
        """Put two to five models or groups of people side by side, with how surely one stands above the other."""
        if not LEAST_COMPARED <= len(set(names)) <= MOST_COMPARED:
            raise MensuraError(f"names: got {len(set(names))}; give {LEAST_COMPARED} to {MOST_COMPARED} different ones")
        models: dict[str, Scores] = {}
        groups: dict[str, Scores] = {}
        for name in names:
            if name.startswith("People: ") or name in self.groups:
                group = self.find("people", name.removeprefix("People: "))
                groups[group] = {row.benchmark: row for row in self.people_scores(group=group)}
            else:
                model = self.find("model", name)
                models[model] = self._primary(model)
        taken = [*models.values(), *groups.values()]
        counts = Counter(benchmark for scores in taken for benchmark in scores)
        shared = [row for scores in taken for name, row in scores.items() if counts[name] > 1]
        short: dict[str, object] = {} if detail == "full" else {"dimensions": [], "prices": {}}
        return shapes.Comparison(
            models=[self._model(one).model_copy(update=short) for one in models],
            shared=_shared_tests(shared),
            sources=sorted(shared, key=lambda row: (row.benchmark, row.who)) if detail == "full" else [],
            chances=[*self._above_models(models), *self._above_people(models, groups)],
        )

    def explain(
        self,
        model: shapes.Name,
        part: Annotated[str | None, Field(description="Only this dimension or benchmark.", max_length=200)] = None,
        detail: shapes.Level = "brief",
    ) -> shapes.Explained:
        """Explain a model's IQ: dimensions, benchmarks, scores with their sources, and how each gap was filled."""
        subject = self.find("model", model)
        tree = self.study.iq.explain(subject)
        node: Explanation | None = tree
        if part is not None:
            wanted = {part.casefold()}
            with suppress(MensuraError):  # a dimension has no id
                wanted.add(self.find("benchmark", part).casefold())
            node = _find(tree, wanted)
        if node is None:
            parts = ", ".join(one.label for one in tree.parts)
            raise MensuraError(f"part: {part!r} is no dimension or benchmark of this IQ; expected one of {parts}")
        sources = {name: row.score.source for name, row in self._primary(subject).items()}
        return _explained(node, sources, None if detail == "full" else 1)

    def human_baseline(
        self,
        name: Annotated[str, Field(description="A benchmark, or recorded/POOL.", min_length=1, max_length=200)],
        people: Annotated[str | None, Field(description="Whom estimates are about.", max_length=500)] = None,
        estimates: Annotated[
            dict[str, float] | None, Field(description="Rate (0 to 1) per item that a model or person expects.")
        ] = None,
        detail: shapes.Level = "brief",
    ) -> shapes.BaselineFound:
        """Say what people score on a benchmark: published results, or an estimate from a recording or given rates."""
        from mensura.baseline import estimate_baseline, find_known, read_recorded

        if estimates is None and not name.startswith(_RECORDED):
            known = find_known(name, self.evidence)
            people_scores = [_published_score(row) for row in known.people.iter_rows(named=True)]
            return shapes.BaselineFound(benchmark=known.benchmark, people=people_scores, notes=list(known.warnings))
        if estimates is not None:
            if people is None:
                raise MensuraError("people: is missing; say whom the estimates are about, such as 'crowd workers'")
            items: Any = {"item": list(estimates)}
            table: Any = {"item": list(estimates), "rate": list(estimates.values())}
        else:
            table = read_recorded(name.removeprefix(_RECORDED))
            people, items = people or table["population"].mode().sort()[0], table.unique("item", maintain_order=True)
        made = estimate_baseline(items, people, estimates=table)
        about = {"interval": "90%: mean score of these people", "status": "estimated, not measured"}
        about["source"] = "Mensura, from estimates of each item"
        rows = made.baseline.iter_rows(named=True)
        scores = [(row["population"], shapes.quantity_of(row, "mean", **about)) for row in rows]
        scored = [shapes.PeopleScore(people=who, score=score, unit="fraction") for who, score in scores]
        card = made.card() if detail == "full" else ""
        return shapes.BaselineFound(benchmark=name, people=scored, notes=list(made.warnings), card=card)

    def _primary(self, subject: str) -> Scores:
        return {row.benchmark: row for row in self.scores_of(subject) if row.primary}

    def _model(self, subject: str) -> shapes.ModelFound:
        row = self.study.models.row(by_predicate=pl.col("subject") == subject, named=True)
        source = self.source(row["source"])
        return shapes.ModelFound(
            **{key: row[key] for key in ("subject", "name", "provider", "released")},
            iq=_quantity(row, "iq", _OF_IQ, row["status"] or "Unranked"),
            rank=_quantity(row, "rank", _OF_RANK, row["status"] or "Unranked"),
            chance_of_being_first=row["p_first"],
            capability=_quantity(row, "capability", _OF_CAPABILITY, "estimated from every score"),
            emotional=_ours(row["eq"], "missing" if row["eq"] is None else "measured"),
            measured=row["measured"] or 0,
            estimated=row["estimated"] or 0,
            dimensions=[self._dimension(one) for one in self.study.dimensions.filter(subject=subject).to_dicts()],
            prices={
                name: shapes.Quantity(
                    value=row[name], status="derived" if name == "effective_cost" else "listed", source=source
                )
                for name in _PRICES
                if row[name] is not None
            },
        )

    def _dimension(self, row: dict[str, Any]) -> shapes.DimensionFound:
        value = shapes.quantity_of(row, "iq", interval=_OF_DIMENSION, status=row["status"], source=_OURS)
        return shapes.DimensionFound(dimension=self.study.dimension_names[row["dimension"]], iq=value)

    def _above_models(self, models: Mapping[str, Scores]) -> Iterator[shapes.ChanceFound]:
        drawn = self.study.iq.drawn
        has_iq = set(self.study.models.drop_nulls("iq")["subject"]) & set(drawn.subjects)
        for first, second in combinations([model for model in models if model in has_iq], 2):
            yield _chance(first, second, "IQ", drawn.ahead(first, second))

    def _above_people(self, models: Mapping[str, Scores], groups: Mapping[str, Scores]) -> list[shapes.ChanceFound]:
        """Chances on tests that a model and a group both took, where the two are comparable."""
        return [
            _chance(model, f"People: {group}", benchmark, chances[model])
            for model in sorted(models)
            for (benchmark, group), chances in sorted(self.study.over_people.items())
            if group in groups and model in chances
        ]


def _published_score(row: dict[str, Any]) -> shapes.PeopleScore:
    """Return what people scored, as it was published."""
    about = "as published" if row["low"] is not None else ""
    score = shapes.quantity_of(row, "score", interval=about, status=row["status"], source=row["source"] or "")
    facts = {key: str(row[key] or "") for key in ("unit", "n", "conditions", "grade")}
    return shapes.PeopleScore(people=f"{row['part']}: {row['group']}", score=score, **facts)


def _chance(first: str, second: str, on: str, chance: float) -> shapes.ChanceFound:
    return shapes.ChanceFound(first=first, second=second, on=on, chance_first_above=_ours(chance, "estimated"))


def _ours(value: float | None, status: str) -> shapes.Quantity:
    """Return a number of Mensura's own without an interval."""
    return shapes.Quantity(value=value, status=status, source=_OURS)


def _shared_tests(rows: list[shapes.ScoreFound]) -> list[shapes.SharedTest]:
    tests: dict[str, list[shapes.ScoreFound]] = {}
    for row in rows:
        tests.setdefault(row.benchmark, []).append(row)
    return [
        shapes.SharedTest(
            benchmark=benchmark,
            unit=taken[0].unit,
            scores={row.who: row.score.value for row in taken},
            judged=[row.who for row in taken if row.score.status == "judged"],
        )
        for benchmark, taken in sorted(tests.items())
    ]


def _quantity(row: dict[str, Any], name: str, interval: str, status: str) -> shapes.Quantity:
    if row[name] is None:
        return _ours(None, "too little measured")
    about = {"interval": interval, "status": status, "source": _OURS}
    return shapes.quantity_of(row, name, f"{name}_low", f"{name}_high", **about)


def _find(node: Explanation, wanted: set[str]) -> Explanation | None:
    if node.label.casefold() in wanted:
        return node
    return next((match for part in node.parts if (match := _find(part, wanted)) is not None), None)


def _explained(node: Explanation, sources: Mapping[str, str], deep: int | None) -> shapes.Explained:
    """Return a node with its parts, so many levels deep; one that rests on a score names the source of that."""
    source = sources.get(node.label, _OURS) if node.status == _SOURCED else _OURS
    about = {"interval": "90%" if node.low is not None else "", "status": node.status, "source": source}
    value = shapes.quantity_of(vars(node), "iq", **about)
    if deep == 0:
        return shapes.Explained(label=node.label, iq=value, note=node.note, more_parts=len(node.parts))
    parts = [_explained(part, sources, None if deep is None else deep - 1) for part in node.parts]
    return shapes.Explained(label=node.label, iq=value, note=node.note, parts=parts)


def agent_server(open_evidence: Callable[[], Evidence], study: Study | None = None) -> MCPServer[object]:
    """Return the server; the evidence is opened with the first question, and ``study`` is one on it that was kept."""
    server = AgentServer(
        "mensura", title="Mensura", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    ask = AgentTools(open_evidence, study)
    for tool in (
        *(ask.list_names, ask.look_up_model, ask.look_up_benchmark, ask.look_up_people),
        *(ask.compare, ask.convert, ask.extrapolate_rate, ask.explain, ask.human_baseline, ask.horizon),
    ):
        server.add_tool(tool, annotations=_READ_ONLY, structured_output=True)

    guide = server.resource("mensura://guide", name="guide", title="How to read the numbers", mime_type="text/markdown")
    guide(lambda: shapes.GUIDE)
    for kind in get_args(shapes.Kind):
        about = f"Every {kind} that can be asked for."
        names = server.resource(f"mensura://names/{kind}", name=kind, description=about, mime_type="application/json")
        names(partial(lambda kind: ask.list_names(kind).model_dump_json(), kind))
    for prompt in shapes.PROMPTS:
        server.prompt()(prompt)
    return server


class AgentServer(MCPServer[object]):
    """A server whose refusals speak to an agent: argument, value, what is expected."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as fault:
            cause = fault.__cause__
            if isinstance(cause, ValidationError):
                schema = next(tool.input_schema for tool in await self.list_tools() if tool.name == name)
                raise ToolError("; ".join(_fault(schema["properties"], one) for one in cause.errors())) from fault
            if isinstance(cause, MensuraError):  # as the tool put it, without the package's own words before it
                raise ToolError(str(cause)) from fault
            raise


def _fault(properties: Mapping[str, Any], fault: Mapping[str, Any]) -> str:
    """Say what is wrong with an argument, and what the argument is."""
    argument = str(fault["loc"][0]) if fault["loc"] else "arguments"
    about = properties.get(argument, {}).get("description", "")
    if fault["type"] == "missing":
        return f"{argument}: is missing. {about}".strip()
    given = repr(fault["input"])
    shown = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}… ({len(given):,} characters)"
    return f"{argument}: got {shown}; {fault['msg'][0].lower()}{fault['msg'][1:]}. {about}".strip()
