"""Agents can ask: the same numbers as tools of the Model Context Protocol, read-only."""

from mensura.serve.agents.library import Library
from mensura.serve.agents.server import agent_server

__all__ = ["Library", "agent_server"]
