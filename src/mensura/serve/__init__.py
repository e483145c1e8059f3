"""The live site: the pages of the report from memory, its review pages, and tools for agents.

In: an evidence or a ledger that may change. Out: HTTP answers, review of pending updates, and answers to agents.
Read first: ``app`` (routes), ``serving`` (the server), ``origin`` (where the evidence comes from), ``press`` (builds
the next edition in another process), ``reading`` (answers from memory), ``guard`` (limits and headers), ``review/``
(pages for reviewers), ``agents/`` (the Model Context Protocol).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.serve.app import live_app as live_app
    from mensura.serve.edition import LiveEdition as LiveEdition
    from mensura.serve.origin import find_origin as find_origin
    from mensura.serve.press import Press as Press
    from mensura.serve.review import ReviewerSecret as ReviewerSecret, is_open_to_others as is_open_to_others
    from mensura.serve.serving import is_loopback as is_loopback, serve_site as serve_site

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
