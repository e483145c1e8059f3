"""Building the report: tables in, a folder of pages out."""

from __future__ import annotations

from pathlib import Path

import jinja2
import polars as pl

from mensura.evidence import Evidence, benchmark_coverage, source_coverage
from mensura.files import write_text
from mensura.site.leaders import leaders_beside_people


def build_report(evidence: Evidence, out: Path) -> pl.DataFrame:
    """Write the report to ``out/index.html`` and return its headline table."""
    headline = leaders_beside_people(evidence)
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("mensura.site"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    html = pages.get_template("index.html").render(
        evidence=evidence,
        headline=headline.to_dicts(),
        coverage=benchmark_coverage(evidence).to_dicts(),
        sources=source_coverage(evidence).filter(pl.col("scores") > 0).to_dicts(),
        calibration=list(evidence.calibration),
    )
    write_text(out / "index.html", html)
    return headline
