"""Pictures of how long a task models do: open ends, who was never run, and how far judges are off."""

import re
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.charts.lengths import say_minutes
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


def test_a_mark_is_full_where_times_were_measured_and_leads_to_a_page_that_exists():
    full = horizon._mark(STUDY, ROW)
    assert (full.x, full.y, full.ends, full.status, full.subject) == (40.0, 10.0, (15.0, 130.0), "measured", "ay")
    assert full.label == "Ay, succeeds half of the time at 40 minutes, 90%: 15 minutes to 2.2 hours, measured times"
    assert full.detail == "40 minutes" and full.href.endswith("models/ay.html")
    judged = horizon._mark(STUDY, ROW | {"status": "judged times", "model": "bee"})
    assert (judged.status, judged.subject, judged.href) == ("estimated", "", "")
    assert horizon._mark(STUDY, ROW | {"status": "judged times", "domain": "science"}).status == "measured"
    assert horizon._mark(STUDY, ROW | {"p50": None}).x == 15.0
    assert horizon._mark(STUDY, ROW | {"p50": None, "p50_low": None}).x == 130.0
    assert horizon._mark(STUDY, ROW | {"p80": None}).y == 0.0


def test_a_kind_of_work_stands_at_its_middle_task_full_where_most_were_timed(monkeypatch):
    works = {"security": {"Shell": ["nl2bash"], "Both": ["cybench", "nl2bash"]}}
    monkeypatch.setattr(horizon, "picture_words", lambda: {"horizon": {"works": works}})
    lengths = pl.DataFrame(
        {"suite": ["nl2bash"] * 3 + ["cybench"] * 3, "minutes": [1.0, 4.0, 2.0, 30.0, 90.0, 60.0]}
        | {"timed": [True, False, True, False, False, True]}
    )
    monkeypatch.setattr(horizon, "task_horizons", lambda: SimpleNamespace(lengths=lengths))
    shell, both = horizon._pins("security")
    assert (shell.label, shell.value, shell.status, shell.note) == ("Shell", 2.0, "measured", "half under 2 minutes")
    assert (both.value, both.status) == (17.0, "measured"), "half of them timed"
    timed = lengths.with_columns(timed=pl.col("suite") == "none")
    monkeypatch.setattr(horizon, "task_horizons", lambda: SimpleNamespace(lengths=timed))
    assert horizon._pins("security")[0].note == "half under 2 minutes, as judged"
    assert horizon._pins("security")[0].status == "judged"


def test_a_curve_of_success_stands_beside_people(monkeypatch):
    own = {"subject": "ay", "minutes": [0.05, 1.0, 60.0, 9000.0], "rate": [0.99, 0.9, 0.4, 0.1]}
    curve = pl.DataFrame(own | {"low": [0.9, 0.8, 0.3, 0.0], "high": [1.0, 0.95, 0.5, 0.2], "n": None})
    people = pl.DataFrame({"subject": "people", "minutes": [15.0, 30.0], "rate": [0.75, None], "n": [12, 3]})
    people = people.with_columns(low=pl.lit(0.5), high=pl.lit(0.9))
    curves = pl.concat([curve.cast({"n": pl.Int64}), people.select(curve.columns)])
    monkeypatch.setattr(horizon, "fitted_horizons", lambda: SimpleNamespace(curves=curves))
    figure = horizon.horizon_curve(STUDY, "ay")
    assert figure.finding == "Ay solves half of the tasks of 40 minutes" and figure.name == "horizon-curve-ay"
    assert "people, 15 minutes: 75% of 12 attempts" in figure.drawing.wide
    assert [row["minutes"] for row in figure.points] == [0.05, 1.0, 60.0, 9000.0, 15.0]
    path = re.search(r'<path d="M([^"]+)" fill="none"', figure.drawing.wide)[1].split("L")
    assert len(path) == 2, "tasks beyond the axis are not drawn"


def test_a_model_is_cheaper_than_people_from_a_length_on(monkeypatch):
    bounds = pl.DataFrame(
        {"subject": ["ay", "bee", "cee"], "cheaper_from": [2.0, 90.0, None]}
        | {"cheaper_from_low": [1.0, 60.0, None], "cheaper_from_high": [4.0, None, None]}
    )
    lengths = pl.DataFrame(
        {"subject": ["ay", "bee", "cee", "ay"], "minutes": [60.0, 60.0, 60.0, 15.0], "cost": [1.0, 2.0, 3.0, 9.0]}
        | {"cost_low": [0.5, 1.0, 2.0, 9.0], "cost_high": [2.0, 4.0, 6.0, 9.0]}
    )
    monkeypatch.setattr(horizon, "price_tasks", lambda models, wage: (bounds, lengths) if wage == 45 else None)
    named = {name: {"name": name.title()} for name in ("ay", "bee", "cee")}
    study = SimpleNamespace(rows=SimpleNamespace(by_subject=named), evidence=SimpleNamespace(models=None))
    rows = horizon.task_rows(study)
    assert [(row["name"], row["from"], row["interval"], row["hour"]) for row in rows] == [
        ("Ay", "2 minutes", "1 minute to 4 minutes", "$1 ($0.50 to $2)"),
        ("Bee", say_minutes(90.0), f"{say_minutes(60.0)} or later", "$2 ($1 to $4)"),
        ("Cee", None, "–", "$3 ($2 to $6)"),
    ]
