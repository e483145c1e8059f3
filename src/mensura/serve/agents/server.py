"""The tools of the Model Context Protocol: names, schemas and descriptions; the answers come from the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from mensura import __version__
from mensura.core.errors import MensuraError
from mensura.serve.agents import ruler, standing
from mensura.serve.agents.answers import (
    BenchmarkFound,
    Comparison,
    Converted,
    Detail,
    Explained,
    Extrapolated,
    GroupFound,
    ModelFound,
    NamesFound,
    Unit,
)
from mensura.serve.agents.library import Library
from mensura.serve.agents.words import GUIDE, PROMPTS

INSTRUCTIONS = (
    "How good is this AI, compared with people? Models, benchmarks and groups of people on human-anchored scales. "
    "Every number carries an interval, a status (measured, estimated, judged, extrapolated …) and a source: pass them "
    "on with the number. Answers are brief unless detail is full; the resource mensura://guide says how to read them. "
    "Questions about models take some twenty seconds the first time. Nothing can be changed."
)
_KINDS = ("model", "benchmark", "people", "population")
_MOST_PEOPLE = 10_000_000_000
_MOST_OPTIONS = 100
_SHOWN = 60  # characters of a refused value
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Name = Annotated[
    str, Field(description="Id or name as people write it, 200 characters at most.", min_length=1, max_length=200)
]
Level = Annotated[Detail, Field(description='"brief", or "full" for every score, source, region and part.')]
Population = Annotated[
    str,
    Field(
        description='A population that list_names lists ("world", "pisa"), or a country.', min_length=1, max_length=100
    ),
]


def agent_server(open_library: Callable[[], Library]) -> MCPServer[object]:
    """Return the server; the library is opened with the first question."""
    server = AgentServer(
        "mensura", title="Mensura", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    library = cache(open_library)

    def list_names(
        kind: Literal["model", "benchmark", "people", "population"],
        contains: Annotated[str, Field(description="Letters the name must contain.", max_length=200)] = "",
    ) -> NamesFound:
        """List the models, benchmarks, groups of people or populations that can be asked for."""
        with _refusals():
            return library().names(kind, contains)

    def look_up_model(name: Name, detail: Level = "brief") -> ModelFound:
        """Say where an AI model stands: IQ, rank, capability, dimensions, prices; in full every score."""
        with _refusals():
            return standing.look_up_model(library(), name, detail)

    def look_up_benchmark(name: Name, detail: Level = "brief") -> BenchmarkFound:
        """Describe a benchmark: what it measures, its ladder of IQs, who leads, which people took it."""
        with _refusals():
            return library().look_up_benchmark(name, detail)

    def look_up_people(group: Name) -> GroupFound:
        """Give the scores of a group of people, with the best model on each of the same tests."""
        with _refusals():
            return library().look_up_people(group)

    def compare(
        names: Annotated[
            list[Name], Field(description="2 to 5 models, or groups as list_names lists them.", max_length=20)
        ],
        detail: Level = "brief",
    ) -> Comparison:
        """Put two to five models or groups of people side by side, with how surely one stands above the other."""
        with _refusals():
            return standing.compare(library(), names, detail)

    def convert(
        value: float,
        unit: Annotated[Unit, Field(description="rate: 0 to 1; percentile; one_in: 1 in N people; iq; level.")],
        low: Annotated[float | None, Field(description="Low end of an interval, in the same unit.")] = None,
        high: Annotated[float | None, Field(description="High end of an interval, in the same unit.")] = None,
        dimension: Annotated[
            str | None, Field(description="Calibrated dimension of the level, such as volume.", max_length=100)
        ] = None,
    ) -> Converted:
        """Read a success rate as rarity, percentile, IQ-equivalent and level on the human ruler, and back."""
        with _refusals():
            return ruler.convert(library().evidence, value, unit, low, high, dimension)

    def extrapolate_rate(
        rate: Annotated[float, Field(description="Success rate on one item, 0 to 1.", ge=0, le=1)],
        observed_in: Population,
        wanted_in: Population = "world",
        n: Annotated[
            int | None,
            Field(description="People who answered: from 1 to all there are.", ge=1, le=_MOST_PEOPLE),
        ] = None,
        options: Annotated[
            int | None,
            Field(
                description=f"Answer options of the item, 2 to {_MOST_OPTIONS}; leave it out where the answer is open.",
                ge=2,
                le=_MOST_OPTIONS,
            ),
        ] = None,
        domain: Annotated[
            str | None, Field(description="Such as mathematics, reading, reasoning.", max_length=100)
        ] = None,
        detail: Level = "brief",
    ) -> Extrapolated:
        """Carry one item's success rate from the people observed to another population, with its interval."""
        with _refusals():
            return ruler.extrapolate_rate(rate, observed_in, wanted_in, n, options, domain, detail)

    def explain(
        model: Name,
        part: Annotated[
            str | None, Field(description="Only this dimension or benchmark of it.", max_length=200)
        ] = None,
        detail: Level = "brief",
    ) -> Explained:
        """Explain a model's IQ: dimensions, benchmarks, scores with their sources, and how each gap was filled."""
        with _refusals():
            return standing.explain(library(), model, part, detail)

    def read_names(kind: str) -> str:
        return library().names(kind, "").model_dump_json()

    tools = (
        *(list_names, look_up_model, look_up_benchmark, look_up_people),
        *(compare, convert, extrapolate_rate, explain),
    )
    for tool in tools:
        server.add_tool(tool, annotations=_READ_ONLY, structured_output=True)
    guide = server.resource("mensura://guide", name="guide", title="How to read the numbers", mime_type="text/markdown")
    guide(lambda: GUIDE)
    for kind in _KINDS:
        about = f"Every {kind} that can be asked for."
        names = server.resource(f"mensura://names/{kind}", name=kind, description=about, mime_type="application/json")
        names(partial(read_names, kind))
    for prompt in PROMPTS:
        server.prompt()(prompt)
    return server


class AgentServer(MCPServer[object]):
    """A server whose refusals speak to an agent: argument, value, what is expected."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:  # noqa: ANN401
        """Call a tool."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as fault:
            cause = fault.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError("; ".join(self._fault(name, one) for one in cause.errors())) from fault
            if isinstance(cause, ToolError):  # as the tool put it, without the package's own words before it
                raise ToolError(str(cause)) from fault
            raise

    def _fault(self, tool: str, fault: Mapping[str, Any]) -> str:
        """Say what is wrong with an argument, and what the argument is."""
        argument = str(fault["loc"][0]) if fault["loc"] else "arguments"
        schemas = {one.name: one.parameters["properties"] for one in self._tool_manager.list_tools()}
        about = schemas[tool].get(argument, {}).get("description", "")
        if fault["type"] == "missing":
            return f"{argument}: is missing. {about}".strip()
        given = repr(fault["input"])
        shown = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}… ({len(given):,} characters)"
        return f"{argument}: got {shown}; {fault['msg'][0].lower()}{fault['msg'][1:]}. {about}".strip()


@contextmanager
def _refusals() -> Iterator[None]:
    """Tell the agent why a question was refused; the message says what to ask instead."""
    try:
        yield
    except MensuraError as fault:
        raise ToolError(str(fault)) from fault
