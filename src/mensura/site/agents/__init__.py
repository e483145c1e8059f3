"""Agents can ask: the same numbers as tools of the Model Context Protocol, read-only."""

from mensura.site.agents.library import Library
from mensura.site.agents.server import agent_server

__all__ = ["Library", "agent_server"]
