"""Policy fields are cells of the evidence: edited with a reason, logged, undone like any other."""

import pytest

import mensura
from tests.ledger.small import ANN


def row(ledger, subject="big-1"):
    return ledger.policy().filter(subject=subject).row(0, named=True)


def test_an_edit_changes_the_fields_and_says_why(ledger):
    edit = ledger.policy_edit("Big 1", {"publication": "hidden", "tier": "1"}, reason="withdrawn by its lab")
    assert {(change.table, change.field, change.new) for change in edit.changes} == {
        ("policy", "publication", "hidden"),
        ("policy", "reason", "withdrawn by its lab"),
        ("models", "tier", "1"),
    }
    ledger.apply(edit, **ANN)
    assert row(ledger)["publication"] == "hidden" and row(ledger)["tier"] == 1
    assert ledger.evidence().models.filter(subject="big-1")["tier"].item() == 1
    ledger.undo(1, **ANN)
    assert row(ledger)["publication"] is None and row(ledger)["reason"] is None and row(ledger)["tier"] == 0


def test_clearing_the_last_field_leaves_no_row(ledger):
    ledger.apply(ledger.policy_edit("big-1", {"display": "show", "generation": "2"}, reason="why"), **ANN)
    ledger.apply(ledger.policy_edit("big-1", {"display": None}, reason="no longer"), **ANN)
    assert row(ledger)["generation"] == 2 and row(ledger)["reason"] == "no longer"
    ledger.apply(ledger.policy_edit("big-1", {"generation": ""}, reason="gone"), **ANN)
    assert ledger.evidence().policy.is_empty()


def test_rules_are_edited_and_checked(ledger):
    ledger.apply(ledger.policy_edit("chart_rules", {"per_chart": "5"}, reason="fewer labels"), **ANN)
    assert dict(ledger.evidence().chart_rules.select("setting", "value").iter_rows())["per_chart"] == "5"
    for value in ("many", None):
        with pytest.raises(mensura.MensuraError, match=r"a whole number|not an empty cell|every rule has one"):
            ledger.apply(ledger.policy_edit("chart_rules", {"per_chart": value}, reason="x"), **ANN)


@pytest.mark.parametrize(
    ("subject", "fields", "reason", "words"),
    [
        ("big-9", {"display": "hide"}, "x", "'big-9' is not in the evidence; did you mean big-"),
        ("big-1", {"colour": "red"}, "x", "got colour; expected some of publication, type, tier"),
        ("big-1", {"display": "hide"}, " ", "reason: empty"),
        ("big-1", {"tier": "0"}, "x", "already has these values"),
        ("chart_rules", {"display": "hide"}, "x", "got display; expected some of current_generations_flagship"),
    ],
)
def test_an_edit_that_means_nothing_is_refused(ledger, subject, fields, reason, words):
    with pytest.raises(mensura.MensuraError, match=words):
        ledger.policy_edit(subject, fields, reason=reason)


def test_a_value_that_no_field_has_is_refused_with_the_evidence(ledger):
    with pytest.raises(mensura.MensuraError, match="one of show, hide"):
        ledger.apply(ledger.policy_edit("big-1", {"display": "maybe"}, reason="x"), **ANN)
