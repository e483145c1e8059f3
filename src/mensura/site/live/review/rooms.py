"""The reviewer's pages and what their forms do. Every change needs a session, its form token and the site's own origin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jinja2
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from mensura.errors import MensuraError
from mensura.evidence.ledger import Ledger, LedgerConflict, open_ledger
from mensura.site.live.metrics import Metrics
from mensura.site.live.press import Press
from mensura.site.live.review.effects import Effects
from mensura.site.live.review.secret import Attempts, ReviewerSecret
from mensura.site.live.review.sessions import COOKIE, ReviewSession, Sessions

HOME = "/review/"
_UNSTORED = {"cache-control": "no-store"}
_LONGEST_FORM = 64 * 1024  # bytes
_MOST_FIELDS = 32
_LONGEST_NAME = 100
_SHOWN_OF_CAPTURE = 256 * 1024  # bytes of a captured text on its page
_ASK_AGAIN = "3"  # seconds after which a page that waits for an effect is loaded again

Form = dict[str, str]
Change = Callable[[Ledger, Form, str, datetime], str]


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
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("mensura.site.live"), autoescape=True, trim_blocks=True, lstrip_blocks=True
        )

    def routes(self) -> list[Route]:
        """Return every address under ``/review``."""
        pages = {
            "/review": self._home,
            "/review/": self._home,
            "/review/updates/{update}": self._update,
            "/review/captures/{capture}": self._capture,
            "/review/policy": self._policy,
        }
        changes: dict[str, Change] = {
            "/review/updates/{update}/apply": _apply,
            "/review/updates/{update}/discard": _discard,
            "/review/entries/{entry}/undo": _undo,
            "/review/policy/{subject}/edit": _edit_policy,
        }
        return [
            *(Route(path, self._behind(page), methods=["GET"]) for path, page in pages.items()),
            *(Route(path, self._changing(change), methods=["POST"]) for path, change in changes.items()),
            Route("/review/enter", self._enter, methods=["POST"]),
            Route("/review/leave", self._leave, methods=["POST"]),
        ]

    def _page(self, template: str, status: int = 200, **context: object) -> HTMLResponse:
        html = self._templates.get_template(template).render(**context)
        return HTMLResponse(html, status, headers=_UNSTORED)

    def _session(self, request: Request) -> ReviewSession | None:
        return self._sessions.find(request.cookies.get(COOKIE, ""))

    def _behind(
        self, page: Callable[[Request, ReviewSession], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Show a page to reviewers, and the door to everybody else."""

        async def show(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return self._page("enter.html", 401)
            try:
                return await page(request, session)
            except MensuraError as fault:
                return self._page("refused.html", 404, session=session, fault=str(fault))

        return show

    def _changing(self, change: Change) -> Callable[[Request], Awaitable[Response]]:
        """Make a change on behalf of a reviewer, then look at the store and go home."""

        async def act(request: Request) -> Response:
            session = self._session(request)
            form = await _form(request)
            if session is None or form is None or not _is_own(request) or not session.owns(form.get("token", "")):
                return _refusal()
            now = datetime.now(UTC)
            asked = {**form, **{name: str(value) for name, value in request.path_params.items()}}
            try:
                ledger = open_ledger(self._store, writing=True)
                session.notes.append(await run_in_threadpool(change, ledger, asked, session.name, now))
            except MensuraError as fault:
                status = 409 if isinstance(fault, LedgerConflict) else 422
                return self._page("refused.html", status, session=session, fault=str(fault))
            self._press.nudge()
            return RedirectResponse(HOME, 303, headers=_UNSTORED)

        return act

    async def _enter(self, request: Request) -> Response:
        form = await _form(request)
        if form is None or not _is_own(request):
            return _refusal()
        visitor = request.client.host if request.client is not None else ""
        wait = self._attempts.wait(visitor)
        if wait > 0:
            answer = self._page("enter.html", 429, fault="Too many wrong secrets; wait a while.")
            answer.headers["retry-after"] = str(int(wait) + 1)
            return answer
        name = " ".join(form.get("name", "").split())[:_LONGEST_NAME]
        if not self._secret.is_it(form.get("secret", "").strip()):
            self._attempts.failed(visitor)
            self._metrics.refused_secrets += 1
            return self._page("enter.html", 403, fault="That is not the secret.", name=name)
        if not name.isprintable() or not name:
            return self._page("enter.html", 422, fault="Give your name: it is kept with every change you make.")
        answer = RedirectResponse(HOME, 303, headers=_UNSTORED)
        answer.set_cookie(
            COOKIE,
            self._sessions.open(name),
            path="/review",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https:"),
        )
        return answer

    async def _leave(self, request: Request) -> Response:
        session = self._session(request)
        form = await _form(request)
        if session is None or form is None or not _is_own(request) or not session.owns(form.get("token", "")):
            return _refusal()
        self._sessions.close(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse(HOME, 303, headers=_UNSTORED)
        answer.delete_cookie(COOKIE, path="/review")
        return answer

    async def _home(self, request: Request, session: ReviewSession) -> Response:
        def read() -> dict[str, object]:
            ledger = open_ledger(self._store)
            return {
                "pending": ledger.pending().to_dicts(),
                "entries": ledger.entries().to_dicts(),
                "version": ledger.version(),
            }

        found = await run_in_threadpool(read)
        notes, session.notes = session.notes, []
        return self._page("home.html", session=session, notes=notes, shown=self._press.current, **found)

    async def _update(self, request: Request, session: ReviewSession) -> Response:
        def read() -> dict[str, object]:
            ledger = open_ledger(self._store)
            update = ledger.update(request.path_params["update"])
            waiting = update.id in ledger.pending()["update"].to_list()
            return {"update": update, "waiting": waiting, "version": ledger.version()}

        found = await run_in_threadpool(read)
        effect = None
        if found["waiting"]:
            effect = self._effects.ask(found["version"].fingerprint, found["update"].id)  # type: ignore[attr-defined]
        answer = self._page("update.html", session=session, effect=effect, **found)
        if found["waiting"] and effect is None:
            answer.headers["refresh"] = _ASK_AGAIN
        return answer

    async def _capture(self, request: Request, session: ReviewSession) -> Response:
        capture = await run_in_threadpool(lambda: open_ledger(self._store).capture(request.path_params["capture"]))
        text = capture.data[:_SHOWN_OF_CAPTURE].decode("utf-8", errors="replace")
        cut = len(capture.data) > _SHOWN_OF_CAPTURE
        return self._page("capture.html", session=session, capture=capture, lines=text.splitlines(), cut=cut)

    async def _policy(self, request: Request, session: ReviewSession) -> Response:
        def read() -> dict[str, object]:
            ledger = open_ledger(self._store)
            return {"rows": ledger.policy().to_dicts(), "version": ledger.version()}

        return self._page("policy.html", session=session, **await run_in_threadpool(read))


def _apply(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    update = ledger.update(form["update"])
    version = ledger.apply(update, by=by, when=when, expected=form.get("expected"))
    return f"Applied: {update.title} (entry {version.entry})."


def _discard(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    title = ledger.update(form["update"]).title
    ledger.discard(form["update"])
    return f"Discarded: {title}."


def _undo(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    try:
        entry = int(form["entry"])
    except ValueError:
        raise MensuraError(f"entry: got {form['entry']!r}; give the number of an entry of the log") from None
    version = ledger.undo(entry, by=by, when=when, expected=form.get("expected"))
    return f"Undid entry {entry} (entry {version.entry})."


_FIELDS = ("publication", "type", "tier", "line", "generation", "display")


def _edit_policy(ledger: Ledger, form: Form, by: str, when: datetime) -> str:
    fields = {name: form[name].strip() or None for name in _FIELDS if name in form}
    update = ledger.policy_edit(form["subject"], fields, reason=form.get("reason", ""))
    ledger.apply(update, by=by, when=when, expected=form.get("expected"))
    return f"Changed: {update.title}."


async def _form(request: Request) -> Form | None:
    """Read a form, the first value of each field; None where it is no small form."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        return None
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST_FORM:
                return None
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except (ClientDisconnect, ValueError):
        return None
    return {name: values[0] for name, values in fields.items()}


def _is_own(request: Request) -> bool:
    """Return whether a form was sent from a page of this site, by the browser's word."""
    origin = request.headers.get("origin", "")
    if origin:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    return request.headers.get("sec-fetch-site") == "same-origin"


def _refusal() -> Response:
    return PlainTextResponse("Refused. Open /review/ and try again from there.\n", 403, headers=_UNSTORED)
