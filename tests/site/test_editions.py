"""Editions: which changes are told, what came in when, and the feeds, by hand."""

import re
from copy import copy
from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.core.results import set_computed
from mensura.site.editions import (
    SHIPPED,
    Edition,
    atom_feed,
    claims_of,
    editions_json,
    evidence_day,
    evidence_log,
    next_edition,
    parse_editions,
    shipped_editions,
    sitemap,
)

DAY = date(2026, 11, 16)


@pytest.fixture(autouse=True)
def stated_claims(monkeypatch):
    """Take the claims of a study by hand as it states them."""
    monkeypatch.setattr(
        "mensura.site.editions.claims_of",
        lambda study: study.claims if isinstance(study, SimpleNamespace) else claims_of(study),
    )


def study_of(scores, iqs=None, days=None, claims=None):
    """A study of models with so many scores and these IQs, all from one source; ``days``: of their scores."""
    rows = [(name, (days or {}).get(name, "2026-10"), "board") for name, count in scores.items() for _ in range(count)]
    table = pl.DataFrame(rows, schema=["subject", "date", "source"], orient="row")
    known = {name: (iqs or {}).get(name, 100.0) for name in scores}
    models = pl.DataFrame(
        {
            "subject": list(known),
            "name": [name.title() for name in known],
            "provider": "Acme",
            "exact_iq": list(known.values()),
            "iq": [None if iq is None else round(iq) for iq in known.values()],
            "measured": 7,
            "released": [date(2026, 1 + place % 9, 1) for place in range(len(known))],
        }
    )
    sources = pl.DataFrame({"source": ["board"], "name": ["The board"]})
    evidence = SimpleNamespace(scores=table, models=models, sources=sources)
    tests = pl.DataFrame({"benchmark": ["a", "b"]})
    return SimpleNamespace(models=models, evidence=evidence, benchmarks=tests, claims=claims or {})


def changes(before, after):
    """What the second of two editions tells."""
    first = next_edition(before, [], DAY)
    made = next_edition(after, first, DAY)
    return None if made is first else list(made[0].changes)


def test_the_first_edition_counts_what_it_has():
    [made] = next_edition(study_of({"a": 3, "b": 1200}), [], DAY)
    assert made.changes == ("First edition: 2 models, 2 benchmarks, 1,203 scores.",)
    assert (made.day, made.evidence_day, made.scores) == ("2026-11-16", "2026-10", {"a": 3, "b": 1200})


def test_models_that_come_and_go_are_named_with_their_scores():
    assert changes(study_of({"a": 3, "b": 2}), study_of({"a": 3, "c": 4})) == ["New: C, IQ 100, 4 scores.", "Gone: b."]


def test_an_iq_is_told_from_half_a_point_on_the_furthest_first():
    moved = changes(
        study_of(dict.fromkeys("abcd", 3)),
        study_of({"a": 3, "b": 4, "c": 3, "d": 1}, {"a": 100.49, "b": 100.5, "c": 97.0, "d": 101.0}),
    )
    assert moved == [
        "C: IQ 100.0 → 97.0, because of scores of other models, or of how they are read.",
        "D: IQ 100.0 → 101.0, because of 2 fewer scores of its own.",
        "B: IQ 100.0 → 100.5, because of 1 more score of its own.",
    ]


CLAIMS = {"version": "1.0", "lead": "A leads.", "passed": ["Experts on GPQA"]}


def claim_changes(now, after):
    """What a later edition says of its claims, beside one of two models with three scores each."""
    first = next_edition(study_of({"a": 3, "b": 3}, claims=CLAIMS), [], DAY)
    return list(next_edition(study_of(*after, claims=CLAIMS | now), first, DAY)[0].changes)


def test_claims_that_changed_stand_first_with_the_reason_as_far_as_it_can_be_told():
    more = {"a": 3, "b": 4}, {"b": 102.0}
    assert claim_changes({"lead": "B leads.", "passed": ["Crowd workers on ARC"]}, more)[:4] == [
        "Who leads. Before: A leads. Now: B leads. Why: new evidence.",
        "Now passed: Crowd workers on ARC. Why: new evidence.",
        "No longer passed: Experts on GPQA. Why: new evidence.",
        "IQs of 2 models in both editions moved by 1.0 points (median), at most by 2.0. Why: new evidence.",
    ]
    same = {"a": 3, "b": 3}, {"b": 102.0}
    assert claim_changes({"lead": "B leads.", "version": "1.1"}, same)[0].endswith("Why: a new version.")
    assert claim_changes({"lead": "B leads."}, same)[0].endswith("Why: the editions do not tell.")
    assert claim_changes({"lead": "B leads.", "version": "1.1"}, more)[0].endswith(
        "Why: new evidence and a new version; which of the two did it, the editions do not tell."
    )


def test_an_edition_that_kept_no_claims_is_not_compared_by_them():
    first = next_edition(study_of({"a": 3}), [], DAY)
    made = next_edition(study_of({"a": 4}, {"a": 103.0}, claims=CLAIMS), first, DAY)
    assert made[0].changes == ("A: IQ 100.0 → 103.0, because of 1 more score of its own.",)
    assert parse_editions(editions_json(made))[0].claims == CLAIMS


def test_the_claims_of_an_edition_are_the_leader_and_the_groups_passed(study):
    claims = claims_of(study)
    assert claims["lead"] == study.lead.headline(study.evidence)
    assert "PhD-level experts in the field on GPQA Diamond" in claims["passed"]
    assert set(parse_editions(SHIPPED.read_bytes())[0].claims) == set(claims)


def test_scores_that_move_nothing_are_counted_and_nothing_new_is_no_edition():
    before = study_of({"a": 3})
    assert changes(before, study_of({"a": 5})) == ["2 scores more; no IQ moved by 0.5 points."]
    assert changes(before, study_of({"a": 2})) == ["1 scores fewer; no IQ moved by 0.5 points."]
    assert changes(before, study_of({"a": 3})) is None


def test_eight_changes_are_told_one_by_one_and_forty_editions_are_kept():
    many = study_of({f"m{place}": 1 for place in range(9)})
    assert len(changes(study_of({}), study_of({f"m{place}": 1 for place in range(8)}))) == 8
    assert changes(study_of({}), many)[7:9] == ["New: M7, IQ 100, 1 score.", "1 more new models."]
    earlier = [Edition(f"day {place}", "", (), {}, {}) for place in range(40)]
    made = next_edition(study_of({"a": 1}), earlier, DAY)
    assert (len(made), made[-1].day) == (40, "day 38")


def test_the_first_build_of_the_embedded_evidence_is_compared_with_the_shipped_edition(study):
    study = set_computed(copy(study), evidence=replace(study.evidence, origin="embedded"))
    [shipped] = shipped_editions(study)
    made, before = next_edition(study, [shipped], DAY)
    assert before is shipped
    new = [one for one in made.scores if one not in shipped.scores]
    told = [line for line in made.changes if line.startswith("New: ")]
    more = [int(line.split()[0]) for line in made.changes if line.endswith(" more new models.")]
    assert len(told) + sum(more) == len(new) > 0
    assert any(" → " in line for line in made.changes)


def test_another_method_or_an_evidence_of_ones_own_is_not_compared_with_it():
    def like(origin, said):
        return SimpleNamespace(evidence=SimpleNamespace(origin=origin), scale_said=said)

    assert shipped_editions(like("embedded + mine.csv", "")) != []
    assert shipped_editions(like("mine", "")) == []
    assert shipped_editions(like("embedded", "You see the published method.")) == []


def test_the_evidence_is_logged_by_day_with_three_models_named():
    days = {"a": "2026-10", "b": "2026-10", "c": "2026-10", "d": "2026-10", "e": "2026-11-02"}
    newest, older = evidence_log(study_of(dict.fromkeys("abcde", 2), days=days).evidence)
    assert (newest["date"], newest["scores"], newest["models"], newest["said"]) == ("2026-11-02", 2, 1, "E")
    assert (older["scores"], older["models"], older["said"]) == (8, 4, "A, B, C …")
    three = study_of(dict.fromkeys("abc", 1)).evidence
    assert [row["said"] for row in evidence_log(three)] == ["A, B, C"]
    long = study_of({f"m{k}": 1 for k in range(31)}, days={f"m{k}": f"2025-01-{k + 1:02d}" for k in range(31)})
    assert len(evidence_log(long.evidence)) == 30
    assert evidence_day(long.evidence) == "2025-01-31"
    assert evidence_day(SimpleNamespace(scores=pl.DataFrame({"date": [None]}))) == "unknown"


def test_the_feed_tells_editions_and_holds_what_xml_allows():
    first = Edition("2026-10-01", "", ("First edition: 2 models.",), {}, {})
    second = Edition("2026-11-16", "", ("New: A & B\x07 of <Acme>.", "line one\n\ttwo"), {}, {})
    feed = atom_feed([second, first], "https://example.org/", DAY)
    assert "<title>Edition of 2026-11-16</title><updated>2026-11-16T00:00:00Z</updated>" in feed
    assert "<summary>New: A &amp; B of &lt;Acme&gt;. line one\n\ttwo</summary>" in feed
    assert 'href="https://example.org/changes.html"' in feed
    names = re.findall("<id>(.*?)</id>", feed)[1:]
    assert names[1:] == re.findall("<id>(.*?)</id>", atom_feed([first], "", DAY))[1:], "an entry keeps its name"
    assert "<loc>https://example.org/a&amp;b.html</loc><lastmod>2026-11-16</lastmod>" in sitemap(
        ["a&b.html"], "https://example.org/", DAY
    )
