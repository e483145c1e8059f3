"""The reviewer's pages: what waits, its effect on the scores, applying, undoing, and the policy fields.

Every change needs a session, the token of its form, and the site's own origin.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from mensura.core.errors import MensuraError
from mensura.core.processes import run_apart
from mensura.evidence.schema import TABLES
from mensura.ledger import POLICY_FIELDS, ConflictError, Ledger, open_ledger, update_tables
from mensura.serve.renewal import SiteRenewal
from mensura.serve.sessions import UNSTORED, Entrance, Form, ReviewerSecret, ReviewSession
from mensura.site.templating import Templates
from mensura.study.preview import preview

HOME = "/review/"
COOKIE = "mensura_reviewer"
_SHOWN_OF_CAPTURE = 256 * 1024  # bytes of a captured text on its page
_ASK_AGAIN = "3"  # seconds after which a page that waits for an effect is loaded again
_ENTRY = re.compile("[0-9]{1,9}")  # more entries than a store will ever contain
_KEPT = 32  # effects in memory
_ROWS = 200  # of each table on the page; the largest changes come first

Endpoint = Callable[[Request], Awaitable[Response]]
Facts = dict[str, Any]
Tables = dict[str, list[dict[str, Any]]]
Change = Callable[[Ledger, Form, str, datetime], str]
"""Ledger, the form with the parts of its address, the reviewer's name, the time. ``expected`` in the form is the
fingerprint of the state the reviewer was looking at: where another change came first, this one is refused. Returns a
sentence on what was done."""


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


class ReviewPages:
    """The pages of one store behind one secret."""

    def __init__(self, store: Path, secret: ReviewerSecret, renewal: SiteRenewal) -> None:
        self._store = store
        self._renewal = renewal
        self._effects = Effects(store)
        self._templates = Templates("mensura.serve")
        self._entrance = Entrance(secret, HOME, COOKIE, lambda facts, at: self._page("enter.html", facts, at))

    def routes(self) -> list[Route]:
        """Return every address under ``/review``."""
        pages = {
            "/review": self._home,
            HOME: self._home,
            "/review/updates/{update}": self._update,
            "/review/captures/{capture}": self._capture,
            "/review/policy": self._policy,
        }
        return [
            *(Route(path, self._behind(page), methods=["GET"]) for path, page in pages.items()),
            *(Route(path, self._changing(change), methods=["POST"]) for path, change in CHANGES.items()),
            Route("/review/enter", self._entrance.enter, methods=["POST"]),
            Route("/review/leave", self._entrance.leave, methods=["POST"]),
        ]

    def _page(self, template: str, facts: Facts, status: int = 200) -> HTMLResponse:
        return HTMLResponse(self._templates.get_template(template).render(facts), status, headers=UNSTORED)

    def _behind(self, page: Callable[[Request, ReviewSession], Awaitable[Response]]) -> Endpoint:
        """Show a page to reviewers, and the form for the secret to everybody else."""

        async def show(request: Request) -> Response:
            session = self._entrance.session(request)
            if session is None:
                return self._page("enter.html", {}, 401)
            try:
                return await page(request, session)
            except MensuraError as fault:
                return self._page("refused.html", {"session": session, "fault": str(fault)}, 404)

        return show

    def _changing(self, change: Change) -> Endpoint:
        """Make a change on behalf of a reviewer, then look at the store and go home."""

        async def act(request: Request) -> Response:
            signed = await self._entrance.signed(request)
            if signed is None:
                return self._entrance.refusal()
            session, form = signed
            asked = form | {name: str(value) for name, value in request.path_params.items()}
            now = datetime.now(UTC)
            try:
                done = await run_in_threadpool(lambda: change(open_ledger(self._store), asked, session.name, now))
            except MensuraError as fault:
                status = 409 if isinstance(fault, ConflictError) else 422
                return self._page("refused.html", {"session": session, "fault": str(fault)}, status)
            session.notes.append(done)
            self._renewal.nudge()
            return RedirectResponse(HOME, 303, headers=UNSTORED)

        return act

    async def _read(self, read: Callable[[Ledger], Facts]) -> Facts:
        """Read from the store in another thread, with the version that pages show and forms expect."""

        def read_with_version() -> Facts:
            ledger = open_ledger(self._store)
            return read(ledger) | {"version": ledger.version()}

        return await run_in_threadpool(read_with_version)

    async def _home(self, _: Request, session: ReviewSession) -> Response:
        facts = await self._read(lambda it: {"pending": it.pending().to_dicts(), "entries": it.entries().to_dicts()})
        notes, session.notes = session.notes, []
        return self._page("home.html", facts | {"session": session, "notes": notes, "shown": self._renewal.current})

    async def _update(self, request: Request, session: ReviewSession) -> Response:
        def read(ledger: Ledger) -> Facts:
            update = ledger.update(request.path_params["update"])
            waiting = update.id in ledger.pending()["update"].to_list()
            tables = {name: table.to_dicts() for name, table in update_tables(update).items()}
            return {"update": update, "tables": tables, "waiting": waiting}

        facts = await self._read(read)
        effect = self._effects.ask(facts["version"].fingerprint, facts["update"].id) if facts["waiting"] else None
        answer = self._page("update.html", facts | {"session": session, "effect": effect})
        if facts["waiting"] and effect is None:
            answer.headers["refresh"] = _ASK_AGAIN
        return answer

    async def _capture(self, request: Request, session: ReviewSession) -> Response:
        capture = await run_in_threadpool(lambda: open_ledger(self._store).capture(request.path_params["capture"]))
        text = capture.data[:_SHOWN_OF_CAPTURE].decode("utf-8", errors="replace")
        cut = len(capture.data) > _SHOWN_OF_CAPTURE
        facts = {"session": session, "capture": capture, "lines": text.splitlines(), "cut": cut}
        return self._page("capture.html", facts)

    async def _policy(self, _: Request, session: ReviewSession) -> Response:
        facts = await self._read(lambda ledger: {"rows": ledger.policy().to_dicts()})
        fields = {name: TABLES[table].column(name).one_of for name, table in POLICY_FIELDS.items()}
        return self._page("policy.html", facts | {"session": session, "fields": fields})


def effect_of(store: Path, update: str) -> Tables:
    """Return the tables of the preview of a pending update."""
    ledger = open_ledger(store)
    changes = preview(ledger.evidence(), ledger.with_update(ledger.update(update)))
    return {name: frame.head(_ROWS).to_dicts() for name, frame in changes.tables().items()}


class Effects:
    """Effects on the scores by evidence version and update; one is computed at a time, beside the server."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._effects: dict[tuple[str, str], Tables | str] = {}
        self._working: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    def ask(self, fingerprint: str, update: str) -> Tables | str | None:
        """Return the effect, why there is none, or None while it is being computed."""
        key = fingerprint, update
        if key not in self._effects and key not in self._working:
            self._working[key] = asyncio.create_task(self._compute(key))
        return self._effects.get(key)

    async def _compute(self, key: tuple[str, str]) -> None:
        try:
            async with self._turn:
                effect: Tables | str = await run_apart(effect_of, self._store, key[1])
        except MensuraError as fault:
            effect = str(fault)
        finally:
            del self._working[key]
        while len(self._effects) >= _KEPT:
            del self._effects[next(iter(self._effects))]
        self._effects[key] = effect
