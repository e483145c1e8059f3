"""The live site: the same pages and files as the report, served from memory and renewed when the evidence changes."""

from mensura.site.live.app import live_app
from mensura.site.live.edition import Edition
from mensura.site.live.press import Press
from mensura.site.live.serving import serve_site

__all__ = ["Edition", "Press", "live_app", "serve_site"]
