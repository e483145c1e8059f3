"""Pictures of how long a task models do: open ends, who was never run, and how far judges are off."""

from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.site.pictures import horizon
from mensura.study.horizons import DOMAINS

ROW = {
    "domain": "security",
    "subject": "ay",
    "model": "ay",
    "name": "Ay",
    "provider": "OpenAI",
    "released": date(2026, 1, 1),
    "p50": 40.0,
    "p50_low": 15.0,
    "p50_high": 130.0,
    "p80": 10.0,
    "p80_low": 4.0,
    "p80_high": 20.0,
    "status": "measured times",
    "p50_minutes": 42.0,
    "tasks": 12,
}
OPEN = ROW | {
    "model": None,
    "name": "Bee",
    "released": None,
    "p50": 600.0,
    "p50_high": None,
    "p80": None,
    "p50_minutes": None,
}
STUDY = SimpleNamespace(rows=SimpleNamespace(by_subject={"ay": {"name": "Ay"}}))
"""A study of one model, which has a page."""


@pytest.fixture(autouse=True)
def small_horizons(monkeypatch):
    """Two systems with security runs, one of which is a model of the study, and one of each other kind of work."""
    others = [OPEN | {"domain": domain, "released": date(2025, 6, 1)} for domain in DOMAINS if domain != "security"]
    rows = pl.DataFrame([ROW, OPEN, *others])
    held = SimpleNamespace(rows=rows, by_model={"ay": {"security": ROW}}, best=lambda domain: ROW | {"domain": domain})
    monkeypatch.setattr(horizon, "task_horizons", lambda: held)
    monkeypatch.setattr(horizon, "say_lengths", lambda study, subject: f"{subject} in words")


def test_the_table_says_lengths_in_words_and_leads_to_models_that_have_a_page():
    ay, bee, *others = horizon.table_rows(STUDY)
    assert len(others) == len(DOMAINS) - 1
    assert (ay["half"], ay["interval"], ay["most"], ay["own"]) == (
        "40 minutes",
        "15 minutes to 2.2 hours",
        "10 minutes",
        "42 minutes",
    )
    assert (ay["kind"], ay["since"], ay["name_href"]) == (DOMAINS["security"], "January 2026", "models/ay.html")
    assert (bee["half"], bee["since"], bee["own"], bee["name_href"]) == ("over 15 minutes", "not known", "", None)


def test_the_best_of_each_kind_is_listed_with_its_month_and_interval():
    rows = horizon.best_rows(STUDY)
    assert [row["title"] for row in rows] == list(DOMAINS.values())
    assert {row["length"] for row in rows} == {"40 minutes"}
    assert rows[0]["about"] == "Ay, January 2026; 90%: 15 minutes to 2.2 hours"


def test_a_model_that_was_never_run_has_no_picture_of_its_lengths():
    assert horizon.task_length(STUDY, {"subject": "nobody", "name": "Nobody"}) is None
    figure = horizon.task_length(STUDY, {"subject": "ay", "name": "Ay"})
    assert figure.finding == "ay in words"
    with pytest.raises(
        MensuraError, match="figure: nobody has no security runs; expected a model that mensura horizon"
    ):
        horizon.horizon_curve(STUDY, "nobody")
    assert horizon.horizon_keys(None) == [("ay", "Ay")]


def test_judges_are_off_by_the_middle_factor_whichever_way(monkeypatch):
    """Errors in doublings: a half and a double are both off by 2, and 2 doublings by 4."""
    told = {"expert who saw the solution": [1.0, -1.0, -1.0], "language model": [-2.0, 2.0, -3.0]}
    monkeypatch.setattr(horizon, "judged_errors", lambda: told)
    assert horizon.horizon_judged(STUDY).finding == "A judged time is off by a factor of 2 to 4"
