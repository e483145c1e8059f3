"""The reviewer's pages. Every change needs a session, the token of its form, and the site's own origin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from mensura.core.errors import MensuraError
from mensura.evidence.schema import TABLES
from mensura.ledger import POLICY_FIELDS, ConflictError, open_ledger, update_tables
from mensura.serve.metrics import Metrics
from mensura.serve.press import Press
from mensura.serve.review.changes import CHANGES, Change
from mensura.serve.review.effects import Effects
from mensura.serve.review.forms import Form, is_own, read_form
from mensura.serve.review.secret import Attempts, ReviewerSecret
from mensura.serve.review.sessions import COOKIE, ReviewSession, Sessions
from mensura.site.templating import Templates

HOME = "/review/"
_UNSTORED = {"cache-control": "no-store"}
_LONGEST_NAME = 100
_SHOWN_OF_CAPTURE = 256 * 1024  # bytes of a captured text on its page
_ASK_AGAIN = "3"  # seconds after which a page that waits for an effect is loaded again

Endpoint = Callable[[Request], Awaitable[Response]]
Facts = dict[str, Any]


class ReviewRooms:
    """The rooms of one store behind one secret."""

    def __init__(self, store: Path, secret: ReviewerSecret, press: Press, metrics: Metrics) -> None:
        self._store = store
        self._secret = secret
        self._press = press
        self._metrics = metrics
        self._sessions = Sessions()
        self._attempts = Attempts()
        self._effects = Effects(store)
        self._templates = Templates("mensura.serve")

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
            Route("/review/enter", self._enter, methods=["POST"]),
            Route("/review/leave", self._leave, methods=["POST"]),
        ]

    def _page(self, template: str, facts: Facts, status: int = 200) -> HTMLResponse:
        return HTMLResponse(self._templates.get_template(template).render(facts), status, headers=_UNSTORED)

    def _session(self, request: Request) -> ReviewSession | None:
        return self._sessions.find(request.cookies.get(COOKIE, ""))

    def _behind(self, page: Callable[[Request, ReviewSession], Awaitable[Response]]) -> Endpoint:
        """Show a page to reviewers, and the door to everybody else."""

        async def show(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return self._page("enter.html", {}, 401)
            try:
                return await page(request, session)
            except MensuraError as fault:
                return self._page("refused.html", {"session": session, "fault": str(fault)}, 404)

        return show

    async def _signed(self, request: Request) -> tuple[ReviewSession, Form] | None:
        """Return session and form of a request that may change something, else None."""
        session, form = self._session(request), await read_form(request)
        if session is None or form is None or not is_own(request) or not session.owns(form.get("token", "")):
            return None
        return session, form

    def _changing(self, change: Change) -> Endpoint:
        """Make a change on behalf of a reviewer, then look at the store and go home."""

        async def act(request: Request) -> Response:
            signed = await self._signed(request)
            if signed is None:
                return _refusal()
            session, form = signed
            asked = form | {name: str(value) for name, value in request.path_params.items()}
            now = datetime.now(UTC)
            try:
                done = await run_in_threadpool(lambda: change(open_ledger(self._store), asked, session.name, now))
            except MensuraError as fault:
                status = 409 if isinstance(fault, ConflictError) else 422
                return self._page("refused.html", {"session": session, "fault": str(fault)}, status)
            session.notes.append(done)
            self._press.nudge()
            return RedirectResponse(HOME, 303, headers=_UNSTORED)

        return act

    async def _enter(self, request: Request) -> Response:
        form = await read_form(request)
        if form is None or not is_own(request):
            return _refusal()
        visitor = request.client.host if request.client is not None else ""
        name = " ".join(form.get("name", "").split())[:_LONGEST_NAME]
        wait = self._attempts.wait(visitor)
        if wait > 0:
            late = self._page("enter.html", {"fault": "Too many wrong secrets; wait a while.", "name": name}, 429)
            late.headers["retry-after"] = str(int(wait) + 1)
            return late
        if not self._secret.is_it(form.get("secret", "").strip()):
            self._attempts.failed(visitor)
            self._metrics.refused_secrets.inc()
            return self._page("enter.html", {"fault": "That is not the secret.", "name": name}, 403)
        if not name or not name.isprintable():
            return self._page("enter.html", {"fault": "Give your name: it is kept with every change."}, 422)
        answer = RedirectResponse(HOME, 303, headers=_UNSTORED)
        over_tls = request.headers.get("origin", "").startswith("https:")
        token = self._sessions.open(name)
        answer.set_cookie(COOKIE, token, path="/review", httponly=True, samesite="strict", secure=over_tls)
        return answer

    async def _leave(self, request: Request) -> Response:
        if await self._signed(request) is None:
            return _refusal()
        self._sessions.close(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse(HOME, 303, headers=_UNSTORED)
        answer.delete_cookie(COOKIE, path="/review")
        return answer

    async def _home(self, _: Request, session: ReviewSession) -> Response:
        def read() -> Facts:
            ledger = open_ledger(self._store)
            pending, entries = ledger.pending().to_dicts(), ledger.entries().to_dicts()
            return {"pending": pending, "entries": entries, "version": ledger.version()}

        facts = await run_in_threadpool(read)
        notes, session.notes = session.notes, []
        return self._page("home.html", facts | {"session": session, "notes": notes, "shown": self._press.current})

    async def _update(self, request: Request, session: ReviewSession) -> Response:
        def read() -> Facts:
            ledger = open_ledger(self._store)
            update = ledger.update(request.path_params["update"])
            waiting = update.id in ledger.pending()["update"].to_list()
            tables = {name: table.to_dicts() for name, table in update_tables(update).items()}
            return {"update": update, "tables": tables, "waiting": waiting, "version": ledger.version()}

        facts = await run_in_threadpool(read)
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
        def read() -> Facts:
            ledger = open_ledger(self._store)
            return {"rows": ledger.policy().to_dicts(), "version": ledger.version()}

        facts = await run_in_threadpool(read)
        fields = {name: TABLES[table].column(name).one_of for name, table in POLICY_FIELDS.items()}
        return self._page("policy.html", facts | {"session": session, "fields": fields})


def _refusal() -> Response:
    return PlainTextResponse("Refused. Open /review/ and try again from there.\n", 403, headers=_UNSTORED)
