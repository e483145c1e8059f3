"""The errors Mensura raises on purpose; each message says what, where, what is allowed and what to do."""

from __future__ import annotations


class MensuraError(ValueError):
    """Input that cannot be used as it is. The command line prints the message without a traceback."""
