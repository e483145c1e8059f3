"""The report: pages built from the evidence, static and offline."""

from mensura.site.pages import count_pages
from mensura.site.report import build_report

__all__ = ["build_report", "count_pages"]
