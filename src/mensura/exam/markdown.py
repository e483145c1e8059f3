"""Markdown of exams as HTML: the usual marks, tables and code; no HTML of the author's, no link out, no picture."""

from __future__ import annotations

from functools import cache, lru_cache

from markdown_it import MarkdownIt


@cache
def _parser() -> MarkdownIt:
    """Return the reader. Raw HTML is shown as text. Links and pictures are off: a taker stays in the exam."""
    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False})
        .enable("table")
        .disable(["link", "image", "autolink"])
    )


@lru_cache(maxsize=4096)
def render_markdown(text: str) -> str:
    """Return a text of the exam as safe HTML."""
    return str(_parser().render(text))


@lru_cache(maxsize=16_384)
def render_line(text: str) -> str:
    """Return a text of one line, such as an option, as safe HTML."""
    return str(_parser().renderInline(text))
