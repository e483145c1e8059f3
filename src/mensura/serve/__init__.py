"""The live site: the pages of the report from memory, its review pages, exams, and tools for agents.

In: an evidence or a ledger that may change. Out: HTTP answers, review of pending updates, and answers to agents.
Read first: ``serving`` (the application and the server), ``renewal`` (notices new evidence and builds the next edition
in another process), ``edition`` (answers from memory), ``middleware`` (headers and counts), ``connections`` (limits),
``review`` (pages for reviewers), ``exam_app`` (exams), ``agent_server`` (the Model Context Protocol).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.serve.edition import LiveEdition as LiveEdition
    from mensura.serve.renewal import SiteRenewal as SiteRenewal, find_origin as find_origin
    from mensura.serve.serving import is_loopback as is_loopback, live_app as live_app, serve_site as serve_site
    from mensura.serve.sessions import ReviewerSecret as ReviewerSecret, is_open_to_others as is_open_to_others

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
