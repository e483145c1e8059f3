"""The tools of the Model Context Protocol: names, schemas and descriptions; the answers come from the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from mensura import __version__
from mensura.core.errors import MensuraError
from mensura.serve.agents import ruler, standing
from mensura.serve.agents.answers import (
    BenchmarkFound,
    Comparison,
    Converted,
    Explained,
    Extrapolated,
    GroupFound,
    ModelFound,
    NamesFound,
    Unit,
)
from mensura.serve.agents.library import Library

INSTRUCTIONS = (
    "How good is this AI, compared with people? Models, benchmarks and groups of people on human-anchored scales. "
    "Every number carries an interval, a status (measured, estimated, judged, extrapolated …) and a source: pass them "
    "on with the number. Questions about models take some twenty seconds the first time. Nothing can be changed."
)
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Name = Annotated[str, Field(description="Id or name as people write it.", min_length=1, max_length=200)]
Population = Annotated[
    str, Field(description='A population by name ("world", "pisa") or a country.', min_length=1, max_length=100)
]


def agent_server(open_library: Callable[[], Library]) -> MCPServer[object]:
    """Return the server; the library is opened with the first question."""
    server: MCPServer[object] = MCPServer(
        "mensura", title="Mensura", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    library = cache(open_library)

    def list_names(
        kind: Literal["model", "benchmark", "people"],
        contains: Annotated[str, Field(description="Letters the name must contain.", max_length=200)] = "",
    ) -> NamesFound:
        """List the models, benchmarks or groups of people that can be asked for."""
        with _refusals():
            return library().names(kind, contains)

    def look_up_model(name: Name) -> ModelFound:
        """Say where an AI model stands: IQ, rank, capability, dimensions, every score, prices."""
        with _refusals():
            return standing.look_up_model(library(), name)

    def look_up_benchmark(name: Name) -> BenchmarkFound:
        """Describe a benchmark: what it measures, its ladder of IQs, who leads, which people took it."""
        with _refusals():
            return library().look_up_benchmark(name)

    def look_up_people(group: Name) -> GroupFound:
        """Give the scores of a group of people, with the best model on each of the same tests."""
        with _refusals():
            return library().look_up_people(group)

    def compare(
        names: Annotated[list[Name], Field(description="Models, or groups as listed by list_names.", max_length=20)],
    ) -> Comparison:
        """Put two to five models or groups of people side by side, with how surely one stands above the other."""
        with _refusals():
            return standing.compare(library(), names)

    def convert(
        value: float,
        unit: Annotated[Unit, Field(description="rate: 0 to 1; percentile; one_in: 1 in N people; iq; level.")],
        low: Annotated[float | None, Field(description="Low end of an interval, in the same unit.")] = None,
        high: Annotated[float | None, Field(description="High end of an interval, in the same unit.")] = None,
        dimension: Annotated[
            str | None, Field(description="Calibrated dimension of the level, such as volume.")
        ] = None,
    ) -> Converted:
        """Read a success rate as rarity, percentile, IQ-equivalent and level on the human ruler, and back."""
        with _refusals():
            return ruler.convert(library().evidence, value, unit, low, high, dimension)

    def extrapolate_rate(
        rate: Annotated[float, Field(description="Success rate on one item, 0 to 1.")],
        observed_in: Population,
        wanted_in: Population = "world",
        n: Annotated[int | None, Field(description="How many people answered.")] = None,
        options: Annotated[int | None, Field(description="Answer options of the item; null where open.")] = None,
        domain: Annotated[str | None, Field(description="Such as mathematics, reading, reasoning.")] = None,
    ) -> Extrapolated:
        """Carry one item's success rate from the people observed to another population, with its interval."""
        with _refusals():
            return ruler.extrapolate_rate(rate, observed_in, wanted_in, n, options, domain)

    def explain(
        model: Name,
        part: Annotated[str | None, Field(description="Only this dimension or benchmark of it.")] = None,
    ) -> Explained:
        """Explain a model's IQ: dimensions, benchmarks, scores with their sources, and how each gap was filled."""
        with _refusals():
            return standing.explain(library(), model, part)

    tools = (
        *(list_names, look_up_model, look_up_benchmark, look_up_people),
        *(compare, convert, extrapolate_rate, explain),
    )
    for tool in tools:
        server.add_tool(tool, annotations=_READ_ONLY, structured_output=True)
    return server


@contextmanager
def _refusals() -> Iterator[None]:
    """Tell the agent why a question was refused; the message says what to ask instead."""
    try:
        yield
    except MensuraError as fault:
        raise ToolError(str(fault)) from fault
