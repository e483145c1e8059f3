"""The site: pages made from a study, and the static build that writes them into a folder.

In: a :class:`~mensura.study.Study`. Out: HTML pages, pictures, CSV and JSON files that work offline.
Read first: ``report`` (the build), ``pages/`` (each page and its values), ``pictures/`` (each picture by name),
``data/pages.toml`` and ``data/pictures.toml`` (their words), ``page_writer`` (one page becomes its files), ``api`` (the
interface for programs), ``editions`` and ``revisions`` (changes since the last build).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.site.pages import count_pages as count_pages
    from mensura.site.pictures.registry import figure as figure
    from mensura.site.report import build_report as build_report
    from mensura.site.revisions import EvidenceLog as EvidenceLog, log_of as log_of

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
