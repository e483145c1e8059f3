"""The live site: the same pages and files as the report, served from memory and renewed when the evidence changes.

Names are imported on first use: a process beside the server loads what its work needs, not the server.
"""

from typing import TYPE_CHECKING

from mensura.exports import on_first_use

if TYPE_CHECKING:
    from mensura.site.live.app import live_app
    from mensura.site.live.edition import LiveEdition
    from mensura.site.live.origin import find_origin
    from mensura.site.live.press import Press
    from mensura.site.live.review import ReviewerSecret, is_open_to_others
    from mensura.site.live.serving import is_loopback, serve_site

__all__ = [
    "LiveEdition",
    "Press",
    "ReviewerSecret",
    "find_origin",
    "is_loopback",
    "is_open_to_others",
    "live_app",
    "serve_site",
]

_HOMES = {
    "LiveEdition": "edition",
    "Press": "press",
    "ReviewerSecret": "review",
    "find_origin": "origin",
    "is_loopback": "serving",
    "is_open_to_others": "review",
    "live_app": "app",
    "serve_site": "serving",
}

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
