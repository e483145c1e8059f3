"""What changed since the last edition and why: the log of a store in the words of the page of changes."""

from dataclasses import replace
from datetime import date

import polars as pl
import pytest

from mensura.ledger import CellChange, init_ledger
from mensura.site.editions import editions_json, next_edition, parse_editions
from mensura.site.revisions import EvidenceLog, log_of, reason, revisions
from tests.ledger.small import ANN, new_score, score, small_ledger, update, write_small

DAY = date(2026, 11, 16)


@pytest.fixture
def ledger(tmp_path):
    return small_ledger(tmp_path / "evidence.db")


def test_an_entry_is_said_with_model_test_both_values_and_its_reason(ledger):
    ledger.apply(update(score("big-1", "hle", "30.5", "33.1", source="lab"), title="the lab corrected itself"), **ANN)
    ledger.apply(update(*new_score("small-1", "swe_marathon", "4"), title="board of Monday"), **ANN)
    ledger.apply(ledger.policy_edit("big-2", {"display": "hide"}, reason="withdrawn"), **ANN)
    ledger.undo(1, **ANN)
    undo, policy, new, moved = revisions(EvidenceLog.of(ledger).since(0), ledger.evidence())
    assert moved.title == "the lab corrected itself"
    assert (moved.day, moved.entry, moved.undone_by) == ("2026-11-15", 1, 4)
    assert moved.said == ("Big 1 on Humanity's Last Exam: 30.5% → 33.1% (A lab)",)
    assert new.said == ("Small 1 on SWE Marathon: new, 4% (The board)",)
    assert "withdrawn" in policy.title
    assert policy.said[0].startswith("Policy, Big 2: ")
    assert "display new, hide" in policy.said[0]
    assert undo.said == ("Big 1 on Humanity's Last Exam: 33.1% → 30.5% (A lab)",)


def test_many_rows_are_counted_and_nobody_is_named_who_signed(ledger):
    ledger.apply(
        update(
            *(cell for subject in ("big-2", "small-1") for cell in new_score(subject, "swe_marathon", "5")), title="x"
        ),
        **ANN,
    )
    (made,) = revisions(EvidenceLog.of(ledger).since(0), ledger.evidence())
    assert len(made.said) == 2
    assert "Ann" not in repr(made)


def test_the_log_ends_where_the_evidence_was_read(ledger):
    ledger.apply(update(score("big-1", "hle", "30.5", "33.1", source="lab"), title="first"), **ANN)
    ledger.apply(update(score("big-1", "hle", "33.1", "34", source="lab"), title="second"), **ANN)
    assert [one.title for one in revisions(EvidenceLog.of(ledger, 1).since(None), ledger.evidence(1))] == ["first"]
    assert EvidenceLog.of(ledger, 1).last == 1
    assert [one.title for one in revisions(EvidenceLog.of(ledger).since(1), ledger.evidence())] == ["second"]


def log_with(rows, entries=(1,)):
    """A log whose entries change so many rows each, two cells to a row."""
    made = [(entry, "2026-11-15T12:00", f"entry {entry}", None, "update") for entry in entries]
    cells = [
        (entry, "models", f"m{row}", field, None, "new", "https://a.example; and more")
        for entry in entries
        for row in range(rows)
        for field in ("name", "price_in")
    ]
    return EvidenceLog(
        pl.DataFrame(made, schema=["entry", "time", "title", "undone_by", "kind"], orient="row"),
        pl.DataFrame(cells, schema=["entry", "table", "row", "field", "old", "new", "address"], orient="row"),
    )


def test_six_rows_of_an_entry_are_told_one_by_one_and_more_are_counted(ledger):
    [six], [eight] = (revisions(log_with(rows), ledger.evidence()) for rows in (6, 8))
    assert len(six.said) == 6
    assert six.said[0] == "Models, m0: name new, new; price in new, new"
    assert eight.said == (*six.said, "2 more rows")
    assert six.address == "https://a.example"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ((3,), "entry 3 of the log"),
        ((2, 1), "entries 1 and 2 of the log"),
        ((1, 2, 3, 1), "entries 1, 2 and 3 of the log"),
    ],
)
def test_the_entries_behind_a_move_are_named(ledger, entries, said):
    assert reason(log_with(1, entries), "nobody", ledger.evidence()) == f"scores of other models ({said})"


def test_two_of_a_models_own_scores_are_named_and_more_are_counted(ledger):
    tests = ("hle", "swe_marathon", "another")
    cells = [(4, "scores", f"big-1 · {test} · lab", "score", "10", "20", None) for test in tests]
    log = log_with(0)
    own = EvidenceLog(log.entries, pl.DataFrame(cells, schema=log.cells.columns, orient="row"))
    assert reason(own, "big-1", ledger.evidence()) == (
        "Humanity's Last Exam: 10% → 20% (A lab); SWE Marathon: 10 → 20 (A lab) and 1 more (entry 4 of the log)"
    )


def test_a_removed_score_is_said_to_be_taken_out(ledger):
    row = ("big-1", "swe_marathon", "board")
    gone = [
        CellChange("scores", row, field, old, None)
        for field, old in (("score", "12"), ("unit", "percent"), ("primary", "yes"), ("date", "2026-01"))
    ]
    ledger.apply(update(*gone, title="taken back by the board"), **ANN)
    (made,) = revisions(EvidenceLog.of(ledger).since(0), ledger.evidence())
    assert made.said == ("Big 1 on SWE Marathon: taken out, was 12% (The board)",)


def test_only_a_store_with_a_history_has_a_log(ledger, tmp_path):
    assert log_of(None) is None
    assert log_of(write_small(tmp_path / "small")) is None
    assert log_of(ledger.path).last == 0


def test_an_edition_gives_the_reasons_of_the_log_and_remembers_them(study, tmp_path):
    ledger = init_ledger(tmp_path / "whole.db", study.evidence, **ANN)
    first = next_edition(study, [], DAY, log_of(ledger.path))
    assert (first[0].entry, first[0].revisions) == (0, ())
    assert next_edition(study, first, DAY, log_of(ledger.path)) == first, "nothing was written, nothing changed"
    old = study.evidence.primary_scores.filter(subject="gpt-5.5", benchmark="hle").row(0, named=True)
    change = score("gpt-5.5", "hle", _cell(ledger, old), "99", source=old["source"])
    ledger.apply(update(change, title="the lab corrected itself"), **ANN)
    lower = replace(first[0], iqs={**first[0].iqs, "gpt-5.5": 100.0, "gpt-5.4": 100.0})
    made = next_edition(study, [lower], DAY, log_of(ledger.path))[0]
    own = next(one for one in made.changes if one.startswith("GPT-5.5: IQ 100.0"))
    assert "because of Humanity's Last Exam: " in own
    assert own.endswith("→ 99% (AI IQ rankings API snapshot) (entry 1 of the log).")
    other = next(one for one in made.changes if one.startswith("GPT-5.4: IQ 100.0"))
    assert other.endswith("because of scores of other models (entry 1 of the log).")
    assert [one.title for one in made.revisions] == ["the lab corrected itself"]
    assert parse_editions(editions_json([made])) == [made]
    assert "Entry 1: the lab corrected itself." in made.text


def test_an_entry_that_moves_no_iq_is_an_edition_all_the_same(study, tmp_path):
    ledger = init_ledger(tmp_path / "whole.db", study.evidence, **ANN)
    first = next_edition(study, [], DAY, log_of(ledger.path))
    ledger.apply(ledger.policy_edit("gpt-5.5", {"display": "hide"}, reason="a test"), **ANN)
    made = next_edition(study, first, DAY, log_of(ledger.path))
    assert len(made) == 2
    assert made[0].changes == ()
    assert made[0].entry == 1


def test_editions_of_an_older_report_are_read():
    held = '[{"day":"2026-11-01","evidence_day":"2026-10","changes":["x"],"iqs":{},"scores":{}}]'
    assert parse_editions(held)[0].revisions == ()
    assert parse_editions("no json") == []


def _cell(ledger, row):
    return ledger.cells()["scores"][row["subject"], row["benchmark"], row["source"]]["score"]


def test_a_score_is_said_in_the_unit_its_source_prints(ledger):
    row = ("small-1", "hle", "lab")
    cells = [CellChange("scores", row, field, None, new) for field, new in (("score", "0.25"), ("unit", "fraction"))]
    ledger.apply(update(*cells, CellChange("scores", row, "primary", None, "yes"), title="as a share"), **ANN)
    ledger.apply(update(score(*row[:2], "0.25", "0.3", source="lab"), title="corrected"), **ANN)
    later, first = revisions(EvidenceLog.of(ledger).since(0), ledger.evidence())
    assert first.said == ("Small 1 on Humanity's Last Exam: new, 25% (A lab)",)
    assert later.said == ("Small 1 on Humanity's Last Exam: 25% → 30% (A lab)",)
