"""What a reviewer may change: each function makes one change to the ledger and says in a sentence what it did."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from mensura.core.errors import MensuraError
from mensura.ledger import POLICY_FIELDS, Ledger
from mensura.serve.review.forms import Form

Change = Callable[[Ledger, Form, str, datetime], str]
"""Ledger, the form with the parts of its address, the reviewer's name, the time. ``expected`` in the form is the
fingerprint of the state the reviewer was looking at: where another change came first, this one is refused."""

_ENTRY = re.compile("[0-9]{1,9}")  # more entries than a store will ever hold


def apply_update(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    """Apply a pending update."""
    update = ledger.update(form["update"])
    version = ledger.apply(update, by=by, when=when, expected=form.get("expected"))
    return f"Applied: {update.title} (entry {version.entry})."


def discard_update(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    """Remove a pending update."""
    title = ledger.update(form["update"]).title
    ledger.discard(form["update"])
    return f"Discarded: {title}."


def undo_entry(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    """Take an entry of the log back and keep those after it."""
    if not _ENTRY.fullmatch(form["entry"]):
        raise MensuraError(f"entry: got {form['entry']!r}; give the number of an entry of the log")
    version = ledger.undo(int(form["entry"]), by=by, when=when, expected=form.get("expected"))
    return f"Undid entry {form['entry']} (entry {version.entry})."


def edit_policy(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    """Give a model other policy fields; an empty one follows the rule again."""
    fields = {name: form[name].strip() or None for name in POLICY_FIELDS if name in form}
    update = ledger.policy_edit(form["subject"], fields, reason=form.get("reason", ""))
    ledger.apply(update, by=by, when=when, expected=form.get("expected"))
    return f"Changed: {update.title}."


CHANGES: dict[str, Change] = {
    "/review/updates/{update}/apply": apply_update,
    "/review/updates/{update}/discard": discard_update,
    "/review/entries/{entry}/undo": undo_entry,
    "/review/policy/{subject}/edit": edit_policy,
}
"""The address of each change."""
