"""The organiser's page behind a secret: how the exam is going; close, reopen, download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from mensura.core.frames import neutral_cells
from mensura.exam import AnswerStore, Exam
from mensura.exam.gathering import people_outcomes, people_takers, without_free_text
from mensura.exam.progress import summarise
from mensura.serve.metrics import Metrics
from mensura.serve.review import ReviewerSecret
from mensura.serve.review.forms import is_own, read_form
from mensura.serve.review.secret import Attempts
from mensura.serve.review.sessions import ReviewSession, Sessions
from mensura.site.inlined import EARLY
from mensura.site.templating import Templates

HOME = "/organiser"
COOKIE = "mensura_organiser"
_UNSTORED = {"cache-control": "no-store"}


class OrganiserPages:
    """The pages of one exam's organiser."""

    def __init__(self, exam: Exam, store: AnswerStore, secret: ReviewerSecret, metrics: Metrics) -> None:
        self._exam, self._store, self._secret, self._metrics = exam, store, secret, metrics
        self._sessions, self._attempts = Sessions(), Attempts()
        self._templates = Templates("mensura.serve.exams")

    def routes(self) -> list[Route]:
        """Return every address under ``/organiser``."""
        return [
            Route(HOME, self._home, methods=["GET"]),
            Route(f"{HOME}/enter", self._enter, methods=["POST"]),
            Route(f"{HOME}/leave", self._act(lambda: None, leaving=True), methods=["POST"]),
            Route(f"{HOME}/close", self._act(lambda: self._store.set_closed(True)), methods=["POST"]),
            Route(f"{HOME}/reopen", self._act(lambda: self._store.set_closed(False)), methods=["POST"]),
            Route(f"{HOME}/{{table}}.csv", self._download, methods=["GET"]),
        ]

    def _page(self, template: str, facts: dict[str, Any], status: int = 200) -> HTMLResponse:
        common = {"exam": self._exam.settings, "early": EARLY}
        return HTMLResponse(self._templates.get_template(template).render(common | facts), status, headers=_UNSTORED)

    def _session(self, request: Request) -> ReviewSession | None:
        return self._sessions.find(request.cookies.get(COOKIE, ""))

    async def _home(self, request: Request) -> Response:
        session = self._session(request)
        if session is None:
            return self._page("organiser_enter.html", {}, 401)
        progress = await run_in_threadpool(summarise, self._exam, self._store, self._store.now())
        tables = {name: getattr(progress, name).to_dicts() for name in ("items", "checks", "groups")}
        facts = {"session": session, "counts": progress.counts, "closed": self._store.is_closed}
        return self._page("organiser_home.html", facts | {"tables": tables})

    async def _enter(self, request: Request) -> Response:
        form = await read_form(request)
        if form is None or not is_own(request):
            return PlainTextResponse("This form did not come from this site.\n", 403)
        visitor = request.client.host if request.client is not None else ""
        wait = self._attempts.wait(visitor)
        if wait > 0:
            late = self._page("organiser_enter.html", {"fault": "Too many wrong secrets; wait a while."}, 429)
            late.headers["retry-after"] = str(int(wait) + 1)
            return late
        if not self._secret.is_it(form.get("secret", "").strip()):
            self._attempts.failed(visitor)
            self._metrics.refused_secrets.inc()
            return self._page("organiser_enter.html", {"fault": "That is not the secret."}, 403)
        answer = RedirectResponse(HOME, 303, headers=_UNSTORED)
        over_tls = request.headers.get("origin", "").startswith("https:")
        token = self._sessions.open("organiser")
        answer.set_cookie(COOKIE, token, path=HOME, httponly=True, samesite="strict", secure=over_tls)
        return answer

    def _act(self, change: Callable[[], None], *, leaving: bool = False) -> Any:  # noqa: ANN401
        async def act(request: Request) -> Response:
            session, form = self._session(request), await read_form(request)
            if session is None or form is None or not is_own(request) or not session.owns(form.get("token", "")):
                return PlainTextResponse("This needs the organiser's page.\n", 403)
            await run_in_threadpool(change)
            if leaving:
                self._sessions.close(request.cookies.get(COOKIE, ""))
            return RedirectResponse(HOME, 303, headers=_UNSTORED)

        return act

    async def _download(self, request: Request) -> Response:
        if self._session(request) is None:
            return self._page("organiser_enter.html", {}, 401)
        name = request.path_params["table"]
        if name not in ("takers", "answers"):
            return PlainTextResponse("There is no such table.\n", 404)

        def write() -> str:
            outcomes = people_outcomes(self._exam, self._store)
            table = people_takers(self._exam, self._store, outcomes)
            if name == "answers":
                table = without_free_text(self._exam, outcomes).drop("cost", "repeat")
            return neutral_cells(table.with_columns(pl.selectors.float().round(3))).write_csv()

        held = {"content-disposition": f'attachment; filename="{name}.csv"', **_UNSTORED}
        return Response(await run_in_threadpool(write), media_type="text/csv", headers=held)
