"""The answers of people: one transaction per answer, durable before it is acknowledged."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from mensura.exam import records
from mensura.exam.design import ExamForm, deadline, first_form, grown_form, make_form
from mensura.exam.records import OvertakenError, RefusedError, Sitting, StoredAnswer, code_from, hash_of, new_code
from mensura.exam.scoring import Given, is_blank, score
from mensura.exam.storage import SHARED, AnswerFile

STALE = 2 * 3600.0
"""Seconds after which an unfinished sitting counts for its answers alone when forms are balanced."""
GRACE = 5.0
"""Seconds that an answer may travel after its time limit."""
_COUNT_EVERY = 60.0  # seconds after which the answers are counted again; in between new forms are added
_COMPLETION = 8
CODES = ("id", "code", "state", "begun", "finished")
"""Columns of the table of codes."""


class AnswerStore(AnswerFile):
    """Store the answers of people to one exam (its parameters: :class:`mensura.exam.storage.AnswerFile`)."""

    # The taker

    def begin(
        self, *, token: str | None = None, panel: str | None = None, language: str | None = None
    ) -> tuple[str, Sitting]:
        """Open a sitting and return its secret code; a token lets one person in once.

        A panel's id has one sitting: the second time, the person goes on with it.
        """
        code = new_code() if panel is None else self.code_of(panel)
        with self._writing() as db:
            self._refuse_closed()
            if panel is not None and (begun := self.find(code)) is not None:
                return code, begun
            now = self._note_jump()
            self._write_visits(db)
            if token is not None:
                if db.execute("SELECT 1 FROM tokens WHERE token = ?", (hash_of(token),)).fetchone():
                    raise RefusedError("invitation_used", 403)
                db.execute("INSERT INTO tokens VALUES (?, ?)", (hash_of(token), now))
            last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'sittings'").fetchone()
            number = 1 + (last[0] if last else 0)
            if now - self._counted > _COUNT_EVERY:
                self._forms, self._counted = self._taken(now), now
            is_adaptive = self._exam.is_adaptive
            form = first_form(self._exam, number) if is_adaptive else make_form(self._exam, number, self._forms)
            self._forms.append(form.items)
            completion = self._exam.settings.completion_code or new_code(_COMPLETION)
            person = f"person-{secrets.token_hex(5)}"
            db.execute(
                "INSERT INTO sittings (number, person, code, panel, form, begun, completion, language) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, person, hash_of(code), panel, json.dumps(asdict(form)), now, completion, language),
            )
        return code, Sitting(number, person, form, now, None, None, None, completion, language)

    def code_of(self, panel: str) -> str:
        """Return the code of the sitting of a panel's id; the key that makes it never leaves the store."""
        with self._lock:
            return code_from(bytes.fromhex(self._fact("pepper")), panel)

    def earned_code(self, sitting: Sitting) -> str | None:
        """Return the completion code of a finished sitting whose items all have an answer or ran out of time."""
        if sitting.finished is None or sitting.started is None:
            return None
        shown, given = self.shown(sitting), self.answered(sitting)
        is_open = (
            name not in given and deadline(self._exam, sitting.started, shown, name) > sitting.finished
            for name in sitting.form.items
        )
        return None if not given or any(is_open) else sitting.completion

    def answered(self, sitting: Sitting) -> set[str]:
        """Return the items that have an answer which is not blank."""
        return {name for name, stored in self.answers(sitting).items() if not is_blank(stored.given)}

    def codes(self) -> pl.DataFrame:
        """Return id, code, state, begun and finished of every sitting, to match a panel's submissions with."""
        with self._lock:
            sittings = self._db.execute(f"SELECT panel, {SHARED['sittings']}, completion FROM sittings").fetchall()
        rows = []
        for row in sittings:
            sitting = _sitting_of({name: row[name] for name in row.keys() if name != "panel"})  # noqa: SIM118
            code, stopped = self.earned_code(sitting), self.now() - sitting.begun > STALE
            ended = "finished without all answers" if code is None else "complete"
            state = ended if sitting.finished is not None else "stopped" if stopped else "at work"
            times = [
                None if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}Z"
                for at in (sitting.begun, sitting.finished)
            ]
            rows.append((row["panel"], code, state, *times))
        return pl.DataFrame(rows, schema=dict.fromkeys(CODES, pl.String), orient="row")

    def _taken(self, now: float) -> list[Sequence[str]]:
        """Return the items that each sitting has answered, or is likely to."""
        answered: dict[int, list[str]] = {}
        for number, item in self._db.execute("SELECT number, item FROM answers"):
            answered.setdefault(number, []).append(item)
        return [
            answered.get(row["number"], [])
            if row["finished"] is not None or now - row["begun"] > STALE
            else json.loads(row["form"])["items"]
            for row in self._db.execute("SELECT number, form, begun, finished FROM sittings")
        ]

    def find(self, code: str) -> Sitting | None:
        """Return the sitting of a code."""
        return self._sitting("code", hash_of(records.plain_code(code)))

    def _sitting(self, column: str, value: object) -> Sitting | None:
        query = f"SELECT {SHARED['sittings']}, completion FROM sittings WHERE {column} = ?"
        with self._lock:
            row = self._db.execute(query, (value,)).fetchone()
        return None if row is None else _sitting_of(dict(row))

    def grow(self, sitting: Sitting) -> Sitting:
        """Return an adaptive sitting with the items that follow the given ones; they are stored once and stay."""
        if not self._exam.is_adaptive:
            return sitting
        with self._writing() as db:
            stored = self._sitting("number", sitting.number) or sitting  # somebody may have deleted it meanwhile
            if len(stored.form.items) > len(sitting.form.items) or stored.finished is not None:
                return stored  # another device was first
            earned = {
                name: 0.0 if answer.late or is_blank(answer.given) else score(self._exam.by_name[name], answer.given)
                for name, answer in self.answers(stored).items()
            }
            form = grown_form(self._exam, stored.form, {name: credit or 0.0 for name, credit in earned.items()})
            db.execute("UPDATE sittings SET form = ? WHERE number = ?", (json.dumps(asdict(form)), sitting.number))
        return replace(stored, form=form)

    def describe(self, sitting: Sitting, about: dict[str, str]) -> None:
        """Store the answers about the person; only known questions and their options."""
        asked = {question.name: question.options for question in self._exam.settings.questions}
        kept = {name: answer for name, answer in about.items() if answer in asked.get(name, ())}
        self._set(sitting, "about", json.dumps(kept))

    def start(self, sitting: Sitting) -> None:
        """Start the clock; a second start changes nothing."""
        self._set(sitting, "started", self.now())

    def finish(self, sitting: Sitting) -> None:
        """End the sitting."""
        self._set(sitting, "finished", self.now())

    def _set(self, sitting: Sitting, column: str, value: object) -> None:
        change = f"UPDATE sittings SET {column} = ? WHERE number = ? AND {column} IS NULL AND finished IS NULL"
        with self._writing() as db:
            self._refuse_closed()
            db.execute(change, (value, sitting.number))

    def show(self, sitting: Sitting, item: str) -> float:
        """Note when an item was first shown, and return that time."""
        if item not in self.shown(sitting):
            with self._writing() as db:
                place = (sitting.number, item, self._note_jump())
                db.execute("INSERT OR IGNORE INTO shown (number, item, at) VALUES (?, ?, ?)", place)
        return self.shown(sitting)[item]

    def shown(self, sitting: Sitting) -> dict[str, float]:
        """Return when each item was first shown."""
        with self._lock:
            return dict(self._db.execute("SELECT item, at FROM shown WHERE number = ?", (sitting.number,)).fetchall())

    def answers(self, sitting: Sitting) -> dict[str, StoredAnswer]:
        """Return the answers of a sitting by item."""
        query = "SELECT item, answer, edit, at, seconds, late FROM answers WHERE number = ?"
        with self._lock:
            rows = self._db.execute(query, (sitting.number,)).fetchall()
        return {
            item: StoredAnswer(json.loads(given), edit, at, seconds, bool(late))
            for item, given, edit, at, seconds, late in rows
        }

    def answer(
        self,
        sitting: Sitting,
        item: str,
        given: Given,
        *,
        seconds: float,
        left: int = 0,
        after: int | None = None,
        made: float | None = None,
    ) -> StoredAnswer:
        """Store one answer as the next version, and return what is stored.

        ``after``: the stored version that the page knows; where another is stored, this answer is not
        (:class:`OvertakenError`). None: the answer replaces any other. ``made``: when the person made the change, in
        the time of the store; None for now. ``seconds`` that the item was in view are the page's word, but never more
        than have passed. ``left``: times the page was left.
        """
        records.refuse_foreign(self._exam, sitting, item, given)
        self.show(sitting, item)
        with self._writing() as db:
            self._refuse_closed()
            row = db.execute("SELECT started, finished FROM sittings WHERE number = ?", (sitting.number,)).fetchone()
            if row is None or row[0] is None or row[1] is not None:
                raise RefusedError("not_running")
            now, opened, stored = self._note_jump(), self.shown(sitting), self.answers(sitting).get(item)
            late = now > deadline(self._exam, row[0], opened, item) + GRACE
            passed = now - opened[item]
            spent = min(seconds, passed) if seconds > 0 else passed  # a page without scripts sends 0
            version = 1 if stored is None else stored.edit + 1
            at = now if made is None else min(max(made, opened[item]), now)
            new = StoredAnswer(given, version, at, spent, late)
            if stored is None and is_blank(given):
                return replace(new, edit=0)  # nothing to store: the item was passed over
            if stored is not None and (after not in (None, stored.edit) or late > stored.late):
                is_same = given == stored.given
                if is_same and (late > stored.late or at <= stored.at):
                    return stored
                if late > stored.late:
                    raise RefusedError("too_late", 410)
                if not is_same:
                    raise OvertakenError(stored, is_newer=stored.at > at)
            row = (sitting.number, item, json.dumps(given), version, at, spent, late)
            db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            away = (min(left, 10_000), sitting.number, item)
            db.execute("UPDATE shown SET left = max(left, ?) WHERE number = ? AND item = ?", away)
        return new

    def forget(self, code: str) -> bool:
        """Delete everything about the sitting of a code; False where there is none.

        Its text leaves the file at once, or when no other program reads the file (``is_purged``).
        """
        with self._lock:
            is_deleted = records.forget_in(self._db, code)
            if is_deleted and self.is_purged:
                self._purge()
        return is_deleted


def _sitting_of(row: dict[str, Any]) -> Sitting:
    """Return the sitting of a row of the store."""
    form = json.loads(row["form"])
    drawn = ExamForm(tuple(form["seed"]), tuple(form["items"]), form["options"])
    return Sitting(**{**row, "form": drawn, "about": None if row["about"] is None else json.loads(row["about"])})
