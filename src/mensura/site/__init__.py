"""The report: pages built from the evidence, static and offline; and where one model stands."""

from mensura.site.pages import count_pages
from mensura.site.report import build_report
from mensura.site.study import Study
from mensura.site.whereabouts import Whereabouts, find_whereabouts

__all__ = ["Study", "Whereabouts", "build_report", "count_pages", "find_whereabouts"]
