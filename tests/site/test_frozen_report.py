"""A report on a frozen scale: who is added finds a place, and nobody else moves on any page or in any file."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from mensura.evidence import Evidence
from mensura.evidence.store import FINGERPRINT_DIGITS, cells_of, fingerprint_of
from mensura.iq import frozen, score_iq
from mensura.site import build_report, pages, report
from mensura.stitching import stitch
from mensura.stitching.frozen import freeze
from mensura.study import Study, frozen as frozen_study, study as site_study
from tests.few_models import of_models
from tests.iq.test_frozen import OMEGA, ZETA, scores_of

pytestmark = pytest.mark.slow

MODELS = 8
PARTS = ("groups", "pace", "watch")
"""What the pages of these reports ask for of a study's slow parts."""


@dataclass(frozen=True)
class Reports:
    """The same small edition on its own, and with two models added on its frozen scale."""

    edition: Evidence
    study: Study
    alone: Path
    added: Path

    def read(self, name: str) -> tuple[dict, dict]:
        """One file of the interface, of both reports."""
        return tuple(
            json.loads((out / "api/v1" / name).read_text(encoding="utf-8")) for out in (self.alone, self.added)
        )


class _NoDrawings:
    """Takes orders and returns empty drawings: none of these tests looks at one."""

    def __init__(self, processes):
        pass

    def order(self, svg, scale):
        return ""

    def made(self, key):
        return b""

    def start(self):
        pass

    finish = start


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    edition, folder = of_models(MODELS), tmp_path_factory.mktemp("frozen")
    tables = {name: table for name, table in edition.tables().items() if name in frozen._TABLES}
    with pytest.MonkeyPatch.context() as patch:
        for module in (frozen_study, site_study):
            patch.setattr(module, "SLOW_PARTS", PARTS)
        study = Study.open(edition)
        patch.setattr(frozen, "load", lambda: edition)
        patch.setitem(frozen.IQ_SCALES, "2026-12", fingerprint_of(cells_of(tables))[:FINGERPRINT_DIGITS])
        patch.setattr(frozen_study, "load_scale", lambda name: freeze(study.fit, name, edition))
        patch.setattr(pages, "named_pages", lambda one, editions: [pages.overview(one), pages.method(one)])
        patch.setattr(report, "ShareCards", _NoDrawings)
        patch.setattr(pages, "benchmark_pages", lambda one: iter(()))
        build_report(edition, folder / "alone", scale="2026-12")
        known = edition.models["subject"][0]
        more = edition.add(scores_of(omega=OMEGA, zeta=ZETA, **{known: {"hle": 12}}))
        build_report(more, folder / "added", scale="2026-12")
    return Reports(edition, study, folder / "alone", folder / "added")


def test_the_records_of_no_other_model_moved(reports):
    alone, added = (
        {row["subject"]: row for row in told["models"] if row["subject"] not in ("zeta", "omega")}
        for told in reports.read("models.json")
    )
    assert len(alone) == MODELS
    assert added == alone
    assert all("On the frozen scale 2026-12" in told["scale"] for told in reports.read("models.json"))


def test_a_score_of_a_model_that_keeps_its_place_is_told_to_stay_out(reports):
    page = (reports.added / "index.html").read_text(encoding="utf-8")
    assert "2 more were placed on it, each by its own scores alone" in page
    assert "1 score stays out of the frozen scale: of models that keep their place on it." in page
    assert "out of the frozen scale" not in (reports.alone / "index.html").read_text(encoding="utf-8")


def test_ranks_stand_still_and_a_placed_model_is_ranked_among_the_edition(reports):
    alone, added = (told["rankings"] for told in reports.read("rankings.json"))
    placed = [row for row in added if row["subject"] in ("zeta", "omega")]
    assert [row for row in added if row not in placed] == alone
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in added)
    for row in placed:
        above = sum(other["iq"]["value"] > row["iq"]["value"] for other in alone)
        assert above <= row["rank"] - 1 <= above + sum(other["iq"]["value"] == row["iq"]["value"] for other in alone)


def test_pages_of_others_say_the_same_and_on_which_scale(reports):
    for subject in reports.edition.models["subject"]:
        before, after = (
            (out / pages.model_file(subject)).read_text(encoding="utf-8") for out in (reports.alone, reports.added)
        )
        for part in (
            r'<div class="cards three">.*?</div>\n',
            r'<div class="tree">.*?</div>',
            r'id="over-people".*?</table>',
        ):
            assert re.findall(part, after, re.DOTALL) == re.findall(part, before, re.DOTALL) != []
        assert "Stands where the frozen scale 2026-12 has it." in after
        assert "on the frozen scale 2026-12" in after.rpartition("<footer>")[2]
    own = (reports.added / "models/zeta.html").read_text(encoding="utf-8")
    assert "Placed on the frozen scale 2026-12 by its own scores alone; nobody moved for it." in own
    front, rules = ((reports.added / name).read_text(encoding="utf-8") for name in ("index.html", "method.html"))
    assert "2 more were placed on it, each by its own scores alone (omega, zeta)" in front
    assert 'id="frozen-scale"' in rules


def test_charts_of_others_hold_the_same_points(reports):
    names = [path.name for path in (reports.alone / "charts").glob("profile-*.csv")]
    assert len(names) == MODELS
    for name in names:
        assert (reports.added / "charts" / name).read_bytes() == (reports.alone / "charts" / name).read_bytes()


def test_without_the_scale_the_others_move(reports):
    """The frozen scale is worth its name: scored together, others move by more than pages round to."""
    together = reports.edition.add(scores_of(omega=OMEGA, zeta=ZETA))
    both = (
        reports.study.models.select("subject", "exact_iq", "capability")
        .join(score_iq(together).exact, on="subject")
        .join(stitch(together).capabilities, on="subject", suffix="_after")
    )
    assert (both["exact_iq"] - both["exact"]).abs().max() > 0.1
    assert (both["capability"] - both["capability_after"]).abs().max() > 0.01


def test_an_edition_alone_on_its_scale_is_the_edition(reports):
    assert pl.read_csv(reports.alone / "data/models.csv").height == MODELS
    told = {row["subject"]: row for row in reports.read("models.json")[0]["models"]}
    for subject, capability, iq in reports.study.models.select("subject", "capability", "iq").iter_rows():
        assert told[subject]["capability"]["value"] == pytest.approx(capability, rel=1e-5)
        assert told[subject]["iq"]["value"] == iq
