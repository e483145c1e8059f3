"""Small evidence for the IQ tests: a few models and the scores a test names, everything else as embedded."""

from dataclasses import replace
from datetime import date

import polars as pl
import pytest

from mensura.evidence import Evidence, load
from tests.few_models import of_models, of_named

SCORE_DEFAULTS = {"primary": True, "source": "aiiq", "date": "2026-06-26", "note": None}


def build_evidence(scores: dict[tuple[str, str], float], models: dict[str, dict] | None = None) -> Evidence:
    """Evidence with these scores; models named only in scores get a plain entry."""
    embedded = load()
    facts = {name: {} for name, _ in scores} | (models or {})
    plain = {"provider": "Acme", "released": date(2026, 1, 1), "reasoning": True, "tier": 0, "line": "acme"}
    rows = [{"subject": name, "name": name.title(), **plain, **given} for name, given in facts.items()]
    units = dict(embedded.benchmarks.select("benchmark", "unit").iter_rows())
    listed = [
        {
            "subject": subject,
            "benchmark": benchmark,
            "score": float(score),
            "unit": units[benchmark],
            "source_score": float(score),
            "source_unit": units[benchmark],
            **SCORE_DEFAULTS,
        }
        for (subject, benchmark), score in scores.items()
    ]
    return replace(
        embedded,
        models=pl.DataFrame(rows, schema=embedded.models.schema),
        scores=pl.DataFrame(listed, schema=embedded.scores.schema),
        origin="test",
    )


@pytest.fixture(scope="session")
def build():
    """Build evidence from scores (subject, benchmark) → score, and facts about models where they matter."""
    return build_evidence


@pytest.fixture
def few_draws(monkeypatch):
    """Points from fewer draws, where a test does not ask for their precision."""
    monkeypatch.setattr("mensura.iq.joint.POINT_DRAWS", 50)


@pytest.fixture(scope="session")
def scored():
    """The embedded evidence, scored once by the published method."""
    import mensura

    return mensura.score_iq(mensura.load(), method="published")


@pytest.fixture(scope="session")
def joint():
    """The embedded evidence, scored once by the default method, with intervals."""
    import mensura

    return mensura.score_iq(mensura.load(), draws=100)


@pytest.fixture(scope="session")
def few():
    """Fifteen embedded models: well measured ones, some with gaps, and one with two scores; scored quickly."""
    gaps = ("gpt-6-astra", "step-3.7-flash", "kimi-k2", "gemini-2.0-flash", "gpt-4.5", "claude-2")
    return of_named(*of_models(9).models["subject"], *gaps)


@pytest.fixture(scope="session")
def few_joint(few):
    """Fifteen models, scored by the default method with intervals."""
    import mensura

    return mensura.score_iq(few, draws=40)


@pytest.fixture(scope="session")
def drawn():
    """The embedded evidence, scored once by the published method with intervals."""
    import mensura

    return mensura.score_iq(mensura.load(), draws=100, method="published")
