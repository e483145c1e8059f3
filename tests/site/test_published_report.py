"""A report by the published method: its own leader, its own statuses, and a banner that says so on every page."""

import json
from dataclasses import replace

import polars as pl
import pytest

from mensura.iq import score_iq
from mensura.scale.ranking import say_leader
from mensura.site import build_report, report
from mensura.site.pages.charts import iq
from mensura.site.pages.data import overview
from mensura.site.pages.models import model_list
from mensura.study import study as site_study
from mensura.study.study import PUBLISHED_SAID
from tests.few_models import of_models
from tests.site.test_one_truth import words

pytestmark = pytest.mark.slow

PARTS = ("groups", "pace", "watch")
"""What the pages of these reports ask for of a study's slow parts."""
FEW = ("hle", "gpqa_diamond", "aime", "arc_agi_1", "swe_bench_pro")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The evidence of a dozen models, one of which lost most of its scores, and its report."""
    few = of_models(12)
    thin = few.models["subject"][0]
    scores = few.scores.filter((pl.col("subject") != thin) | pl.col("benchmark").is_in(FEW))
    evidence = replace(few, scores=scores)
    folder = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_study, "SLOW_PARTS", PARTS)
        patch.setattr("mensura.site.page_writer.to_png", lambda svg, zoom: b"")
        patch.setattr(report.pages, "named_pages", lambda one, editions: [overview(one), model_list(one), iq(one)])
        build_report(evidence, folder, method="published")
    return evidence, thin, folder


def test_the_leader_is_that_of_the_published_method(published):
    evidence, _, folder = published
    found = score_iq(evidence, method="published", draws=1000)
    best = found.ranking.row(0, named=True)
    name = evidence.models.filter(subject=best["subject"])["name"][0]
    said = say_leader(name, [best["p_first"]], found.ranking.height)
    for page in ("index.html", "iq.html"):
        assert said in words((folder / page).read_text(encoding="utf-8")), page
    told = json.loads((folder / "api/v1/rankings.json").read_text(encoding="utf-8"))
    assert [row["subject"] for row in told["rankings"]] == found.ranking["subject"].to_list()
    assert told["scale"] == PUBLISHED_SAID


def test_who_has_few_scores_has_the_status_provisional_and_no_rank(published):
    evidence, thin, folder = published
    name = evidence.models.filter(subject=thin)["name"][0]
    row = next(
        row for row in (folder / "models/index.html").read_text(encoding="utf-8").split("<tr ") if f">{name}</a>" in row
    )
    assert 'data-status="provisional"' in row
    assert ">Provisional<" in row
    assert 'data-rank=""' in row
    found = score_iq(evidence, method="published")
    said = f"Every model with scores on {found.ranked_from} or more of the {len(found.matrix.benchmarks)} benchmarks"
    assert said in words((folder / "iq.html").read_text(encoding="utf-8"))


def test_every_page_says_which_method_it_shows(published):
    _, _, folder = published
    found = sorted(folder.rglob("*.html"))
    assert len(found) > 60
    for page in found:
        assert words(PUBLISHED_SAID.replace("'", "&#39;")) in words(page.read_text(encoding="utf-8")), page


def test_an_unknown_method_is_refused(mensura_command):
    for command in ("report", "serve", "figure"):
        told = " ".join(mensura_command(command, "--method", "mine").err.split())
        assert "got 'mine'; expected one of joint, published" in told, command
